//! Memory cache of search index blocks and document keys. Segments are immutable, so entries never become stale.
//! The cache saves reads because many searches contain the same frequent words.

use std::fmt;
use std::sync::Arc;

use candor_domain::access::Tenant;
use candor_port_storage::Storage;
use candor_port_storage::error::Read;
use candor_port_storage::search_index::WantedBlocks;
use candor_search_index::{Block, DocumentKey, KeyRange, keys};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

/// Maximum size of the cache in bytes.
const MOST_BYTES: u64 = 40 * 1024 * 1024;
/// Expected number of entries. The cache also remembers the keys of half as many evicted entries: if such an entry is
/// read again, it stays longer.
const ENTRIES: usize = 8_192;
/// Number of parts of the cache, each with a lock of its own.
const SHARDS: usize = 4;
/// Estimated overhead of a cache entry in bytes.
const ENTRY_BYTES: usize = 128;

type SegmentId = [u8; 16];

/// Part of a segment that is cached as one entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Part {
    Blocks(KeyRange),
    Keys(u32),
}

/// Contents of a cached part.
#[derive(Debug, Clone)]
enum Contents {
    Blocks(Arc<[Block]>),
    Keys(Arc<[DocumentKey]>),
}

/// Tenant, segment and part of an entry.
type EntryKey = (Tenant, SegmentId, Part);

/// Weighs entries by their bytes.
#[derive(Debug, Clone)]
struct Bytes;

impl Weighter<EntryKey, Contents> for Bytes {
    fn weight(&self, (_, _, part): &EntryKey, contents: &Contents) -> u64 {
        weight(part, contents)
    }
}

/// Cache of blocks and keys, shared by all tenants.
///
/// Evicts entries that were read only once, then the least recently read ones. Eviction by frequency of use alone would
/// let a tenant who has searched much keep out the entries of other tenants. Eviction by last use alone would evict
/// every entry of a repeated scan over more entries than fit.
pub(crate) struct IndexCache(Cache<EntryKey, Contents, Bytes>);

impl fmt::Debug for IndexCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexCache").field("bytes", &self.0.weight()).finish()
    }
}

impl Default for IndexCache {
    fn default() -> Self {
        Self::of_size(MOST_BYTES, SHARDS)
    }
}

impl IndexCache {
    fn of_size(bytes: u64, shards: usize) -> Self {
        let mut options = OptionsBuilder::new();
        options.estimated_items_capacity(ENTRIES).weight_capacity(bytes).shards(shards);
        let cache_of = |options| {
            Cache::with_options(options, Bytes, DefaultHashBuilder::default(), DefaultLifecycle::default())
        };
        // The options are complete, so they are never refused.
        Self(options.build().map_or_else(|_| Cache::with_weighter(ENTRIES, bytes, Bytes), cache_of))
    }

    /// Returns the blocks of each wanted range, reading missing ones from the store.
    pub(crate) async fn blocks(
        &self,
        (store, tenant): (&dyn Storage, Tenant),
        wanted: &[WantedBlocks],
    ) -> Read<Vec<Arc<[Block]>>> {
        let key = |wanted_blocks: &WantedBlocks| {
            (tenant, wanted_blocks.segment, Part::Blocks(wanted_blocks.range.clone()))
        };
        let cached_blocks = |candidate| {
            if let Some(Contents::Blocks(candidate)) = self.0.get(&key(candidate)) {
                Some(candidate)
            } else {
                None
            }
        };
        let mut block_lists: Vec<_> = wanted.iter().map(cached_blocks).collect();
        let missing: Vec<_> = wanted
            .iter()
            .zip(&block_lists)
            .filter(|(_, blocks)| blocks.is_none())
            .map(|(wanted, _)| wanted.clone())
            .collect();
        if !missing.is_empty() {
            let read = store.index_blocks(tenant, &missing).await?;
            let places = block_lists.iter_mut().filter(|contents| contents.is_none());
            for ((place, it), blocks) in places.zip(&missing).zip(read) {
                let blocks = Arc::from(blocks);
                self.0.insert(key(it), Contents::Blocks(Arc::clone(&blocks)));
                *place = Some(blocks);
            }
        }
        Ok(block_lists.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// Returns the document keys of each wanted chunk, reading missing ones from the store.
    pub(crate) async fn keys(
        &self,
        (store, tenant): (&dyn Storage, Tenant),
        wanted: &[(SegmentId, u32)],
    ) -> Read<Vec<Arc<[DocumentKey]>>> {
        let key = |(segment, number): &(SegmentId, u32)| (tenant, *segment, Part::Keys(*number));
        let cached_keys = |candidate| {
            if let Some(Contents::Keys(candidate)) = self.0.get(&key(candidate)) { Some(candidate) } else { None }
        };
        let mut key_lists: Vec<_> = wanted.iter().map(cached_keys).collect();
        let missing: Vec<_> = wanted
            .iter()
            .zip(&key_lists)
            .filter(|(_, contents)| contents.is_none())
            .map(|(key, _)| *key)
            .collect();
        if !missing.is_empty() {
            let read = store.index_chunks(tenant, &missing).await?;
            let places = key_lists.iter_mut().filter(|contents| contents.is_none());
            for ((place, it), chunk) in places.zip(&missing).zip(read) {
                let keys = Arc::from(keys(&chunk));
                self.0.insert(key(it), Contents::Keys(Arc::clone(&keys)));
                *place = Some(keys);
            }
        }
        Ok(key_lists.into_iter().map(Option::unwrap_or_default).collect())
    }
}

fn weight(part: &Part, contents: &Contents) -> u64 {
    let of_part = match part {
        Part::Blocks(range) => range.from.len() + range.to.len(),
        Part::Keys(_) => 0,
    };
    let of_block = |block: &Block| block.first.len() + block.body.len() + size_of::<Block>();
    let of_contents = match contents {
        Contents::Blocks(blocks) => blocks.iter().map(of_block).sum(),
        Contents::Keys(keys) => size_of_val(&**keys),
    };
    (of_part + of_contents + ENTRY_BYTES) as u64
}

#[cfg(test)]
mod tests {
    use candor_domain::id::Id;
    use candor_domain::time::Timestamp;
    use candor_port_storage::search_index::{IndexChange, SearchIndex};
    use candor_search_index::{Document, SegmentContents};
    use candor_store_sqlite::SqliteStore;

    use super::*;

    const AT: Timestamp = Timestamp::from_millis(1_000);
    const LATER: Timestamp = Timestamp::from_millis(2_000);

    fn tenant(of: u128) -> Tenant {
        Tenant::live(Id::from_bytes(of.to_be_bytes()))
    }

    fn segment(id: u8) -> SegmentContents {
        let key = DocumentKey { created_at: AT, id: [id; 16] };
        SegmentContents::build([id; 16], vec![Document { key, terms: vec!["calm".to_owned()] }]).unwrap()
    }

    async fn change(store: &dyn Storage, change: IndexChange) {
        assert!(store.change_index(tenant(1), "observations", change).await.unwrap());
    }

    #[tokio::test]
    async fn cached_blocks_are_not_read_again_and_belong_to_one_tenant() {
        let (store, cache, it) = (SqliteStore::in_memory().unwrap(), IndexCache::default(), segment(1));
        change(&store, IndexChange { segment: Some(it.clone()), ..IndexChange::created_at(AT) }).await;
        let blocks_to_read = [WantedBlocks { segment: it.segment.id, range: KeyRange::whole("calm") }];
        let chunk = [(it.segment.id, 0)];
        let first = cache.blocks((&store, tenant(1)), &blocks_to_read).await.unwrap();
        assert_eq!(first[0][..], it.blocks);
        let keys = cache.keys((&store, tenant(1)), &chunk).await.unwrap();
        assert_eq!(keys[0][..], [DocumentKey { created_at: AT, id: [1; 16] }]);

        change(&store, IndexChange { replaced: vec![it.segment.id], ..IndexChange::created_at(AT) }).await;
        assert_eq!(store.remove_replaced(LATER, 10).await.unwrap(), 1);
        assert!(store.index_blocks(tenant(1), &blocks_to_read).await.unwrap()[0].is_empty());
        assert_eq!(cache.blocks((&store, tenant(1)), &blocks_to_read).await.unwrap(), first);
        assert_eq!(cache.keys((&store, tenant(1)), &chunk).await.unwrap(), keys);
        assert!(cache.blocks((&store, tenant(2)), &blocks_to_read).await.unwrap()[0].is_empty());
        assert!(cache.keys((&store, tenant(2)), &chunk).await.unwrap()[0].is_empty());
    }

    #[tokio::test]
    async fn cached_and_uncached_blocks_are_read_together() {
        let (store, cache) = (SqliteStore::in_memory().unwrap(), IndexCache::default());
        for id in 1..=3 {
            change(&store, IndexChange { segment: Some(segment(id)), ..IndexChange::created_at(AT) }).await;
        }
        let blocks_to_read = [1, 2, 3].map(|id| WantedBlocks { segment: [id; 16], range: KeyRange::all() });
        let second = cache.blocks((&store, tenant(1)), &blocks_to_read[1..2]).await.unwrap();
        let all = cache.blocks((&store, tenant(1)), &blocks_to_read).await.unwrap();
        assert_eq!(all[1], second[0]);
        assert_eq!(
            all.iter().map(|keys| keys.to_vec()).collect::<Vec<_>>(),
            [1, 2, 3].map(|keys| segment(keys).blocks)
        );
        let chunks = [1, 2, 3].map(|id| ([id; 16], 0));
        let last = cache.keys((&store, tenant(1)), &chunks[2..]).await.unwrap();
        let all = cache.keys((&store, tenant(1)), &chunks).await.unwrap();
        assert_eq!((all[0][0].id, all[1][0].id, &all[2]), ([1; 16], [2; 16], &last[0]));
    }

    #[tokio::test]
    async fn full_cache_takes_entries_of_a_second_tenant() {
        let (store, cache, it) = (SqliteStore::in_memory().unwrap(), IndexCache::of_size(10_000, 1), segment(1));
        change(&store, IndexChange { segment: Some(it.clone()), ..IndexChange::created_at(AT) }).await;
        for round in 0..20 {
            for number in 0..60 {
                let blocks_to_read =
                    [WantedBlocks { segment: [9; 16], range: KeyRange::whole(&format!("word{number}")) }];
                cache.blocks((&store, tenant(2)), &blocks_to_read).await.unwrap();
            }
            assert!(cache.0.weight() > 8_000, "the cache is full, round {round}");
        }
        let blocks_of_first = [WantedBlocks { segment: it.segment.id, range: KeyRange::whole("calm") }];
        let first = cache.blocks((&store, tenant(1)), &blocks_of_first).await.unwrap();
        change(&store, IndexChange { replaced: vec![it.segment.id], ..IndexChange::created_at(AT) }).await;
        assert_eq!(store.remove_replaced(LATER, 10).await.unwrap(), 1);
        assert_eq!(
            cache.blocks((&store, tenant(1)), &blocks_of_first).await.unwrap(),
            first,
            "the cache keeps it"
        );
    }

    #[tokio::test]
    async fn cache_stays_within_its_size() {
        let (store, cache) = (SqliteStore::in_memory().unwrap(), IndexCache::of_size(10_000, 1));
        for number in 0..1_000 {
            let word = KeyRange::whole(&format!("word{number}"));
            let blocks_to_read = [WantedBlocks { segment: [1; 16], range: word }];
            cache.blocks((&store, tenant(1)), &blocks_to_read).await.unwrap();
            cache.keys((&store, tenant(1)), &[([1; 16], number)]).await.unwrap();
        }
        assert!((1..=10_000).contains(&cache.0.weight()), "{}", cache.0.weight());
    }
}

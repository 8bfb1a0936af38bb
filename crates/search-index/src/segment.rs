//! Segments: documents that were indexed together, numbered from the newest to the oldest, with their terms.
//!
//! A segment is immutable. Small segments are merged into larger ones, up to a size that is still written in
//! one piece. A search for the newest documents starts with the newest segment.

use std::collections::{BTreeMap, HashSet};

use candor_domain::time::Timestamp;

use crate::block::{Block, BlockWriter, each_term};

/// Number of documents in a chunk of keys.
pub const CHUNK: u32 = 64;
/// Number of documents per fence: the header of a segment stores the key of every 1,024th document.
const FENCE: u32 = 1_024;
/// Size classes of segments: upper bound of documents, and number of segments from which a class is merged.
/// Larger segments are never merged.
const SIZES: [(u32, usize); 3] = [(256, 8), (2_048, 8), (16_384, 4)];
/// Maximum number of documents of a merged segment. A segment is written in one piece, and a search for a short
/// prefix reads all of it.
const LARGEST: u32 = 32_768;
const KEY_BYTES: usize = 24;

/// Sort key of documents: creation time and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentKey {
    /// Creation time of the document.
    pub created_at: Timestamp,
    /// Bytes of the document's id.
    pub id: [u8; 16],
}

impl DocumentKey {
    fn bytes(self) -> [u8; KEY_BYTES] {
        let mut bytes = [0; KEY_BYTES];
        bytes[..8].copy_from_slice(&self.created_at.millis().to_be_bytes());
        bytes[8..].copy_from_slice(&self.id);
        bytes
    }

    fn build(bytes: &[u8; KEY_BYTES]) -> Self {
        let (mut millis, mut id) = ([0; 8], [0; 16]);
        millis.copy_from_slice(&bytes[..8]);
        id.copy_from_slice(&bytes[8..]);
        Self { created_at: Timestamp::from_millis(i64::from_be_bytes(millis)), id }
    }
}

/// Decodes the keys of a chunk.
#[must_use]
pub fn keys(chunk: &[u8]) -> Vec<DocumentKey> {
    chunk.as_chunks::<KEY_BYTES>().0.iter().map(DocumentKey::build).collect()
}

fn chunk(keys: &[DocumentKey]) -> Vec<u8> {
    keys.iter().flat_map(|key| key.bytes()).collect()
}

/// A document and its terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Sort key of the document.
    pub key: DocumentKey,
    /// Terms of the document, without duplicates.
    pub terms: Vec<String>,
}

/// Header of a segment, which is known without reading its terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Id of the segment.
    pub id: [u8; 16],
    /// Number of documents in the segment.
    pub documents: u32,
    /// Creation time of the newest document.
    pub newest: Timestamp,
    /// Creation time of the oldest document.
    pub oldest: Timestamp,
    /// Keys of every 1,024th document, to estimate the number of a document by its key.
    pub fences: Vec<u8>,
}

/// A segment with its terms and keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentContents {
    /// Header of the segment.
    pub segment: Segment,
    /// Terms in sorted blocks.
    pub blocks: Vec<Block>,
    /// Keys of the documents by number, [`CHUNK`] in each.
    pub chunks: Vec<Vec<u8>>,
}

impl Segment {
    /// Returns a lower bound for the numbers of the documents that are older than this key.
    #[must_use]
    pub fn first_behind(&self, place: &DocumentKey) -> u32 {
        let fences = keys(&self.fences);
        let first_fence = fences.partition_point(|fence| fence >= place);
        u32::try_from(first_fence.saturating_sub(1)).unwrap_or(0) * FENCE
    }

    fn size(&self) -> Option<usize> {
        SIZES.iter().position(|(most, _)| self.documents < *most)
    }
}

impl SegmentContents {
    /// Builds a segment, or `None` if no document has terms. The last of several documents with one key wins.
    #[must_use]
    pub fn build(id: [u8; 16], documents: Vec<Document>) -> Option<Self> {
        let mut newest: BTreeMap<_, _> =
            documents.into_iter().map(|document| (document.key, document.terms)).collect();
        newest.retain(|_, terms| !terms.is_empty());
        let keys: Vec<_> = newest.keys().rev().copied().collect();
        let mut terms: BTreeMap<&[u8], Vec<u32>> = BTreeMap::new();
        for (number, its) in (0..).zip(newest.values().rev()) {
            for term in its {
                let numbers = terms.entry(term.as_bytes()).or_default();
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            }
        }
        let mut blocks = BlockWriter::default();
        terms.iter().for_each(|(term, numbers)| blocks.add(term, numbers));
        Self::make_segment(id, &keys, blocks)
    }

    fn make_segment(id: [u8; 16], keys: &[DocumentKey], blocks: BlockWriter) -> Option<Self> {
        let (newest, oldest) = (keys.first()?.created_at, keys.last()?.created_at);
        let fences: Vec<_> = keys.iter().step_by(FENCE as usize).copied().collect();
        let documents = u32::try_from(keys.len()).ok()?;
        let segment = Segment { id, documents, newest, oldest, fences: chunk(&fences) };
        let chunks = keys.chunks(CHUNK as usize).map(chunk).collect();
        Some(Self { segment, blocks: blocks.finish(), chunks })
    }

    /// Returns a new segment without the documents in `gone`, or `None` if no document is left.
    #[must_use]
    pub fn remove_documents(&self, id: [u8; 16], gone: &HashSet<[u8; 16]>) -> Option<Self> {
        let (mut kept, mut numbers) = (vec![], vec![]);
        for key in self.chunks.iter().flat_map(|chunk| keys(chunk)) {
            let is_gone = gone.contains(&key.id);
            numbers.push(if is_gone { None } else { u32::try_from(kept.len()).ok() });
            if !is_gone {
                kept.push(key);
            }
        }
        let mut terms: BTreeMap<Vec<u8>, Vec<u32>> = BTreeMap::new();
        for block in &self.blocks {
            each_term(&block.body, |term, old| {
                let remaining_numbers =
                    old.iter().filter_map(|number| numbers.get(*number as usize).copied().flatten());
                terms.entry(term.to_vec()).or_default().extend(remaining_numbers);
            });
        }
        let mut blocks = BlockWriter::default();
        for (term, numbers) in terms.iter().filter(|(_, numbers)| !numbers.is_empty()) {
            blocks.add(term, numbers);
        }
        Self::make_segment(id, &kept, blocks)
    }

    /// Merges segments; returns `None` if they have no documents. A document that is in several segments gets the
    /// terms of all: the order of the segments is unknown, and every hit is checked anyway.
    #[must_use]
    pub fn merge(id: [u8; 16], several: &[Self]) -> Option<Self> {
        let mut places: Vec<(DocumentKey, usize, usize)> = vec![];
        for (at, it) in several.iter().enumerate() {
            let keys = it.chunks.iter().flat_map(|chunk| keys(chunk));
            places.extend(keys.enumerate().map(|(number, key)| (key, at, number)));
        }
        places.sort_unstable_by(|a, b| b.cmp(a));
        let mut numbers: Vec<Vec<u32>> =
            several.iter().map(|contents| vec![0; contents.segment.documents as usize]).collect();
        let mut all: Vec<DocumentKey> = vec![];
        for (key, at, number) in places {
            if all.last() != Some(&key) {
                all.push(key);
            }
            if let Some(it) = numbers.get_mut(at).and_then(|numbers| numbers.get_mut(number)) {
                *it = u32::try_from(all.len() - 1).ok()?;
            }
        }
        let mut terms: BTreeMap<Vec<u8>, Vec<u32>> = BTreeMap::new();
        for (it, new) in several.iter().zip(&numbers) {
            for block in &it.blocks {
                each_term(&block.body, |term, old| {
                    let own = old.iter().filter_map(|number| new.get(*number as usize).copied());
                    match terms.get_mut(term) {
                        Some(all) => all.extend(own),
                        None => drop(terms.insert(term.to_vec(), own.collect())),
                    }
                });
            }
        }
        let mut blocks = BlockWriter::default();
        for (term, mut numbers) in terms {
            numbers.sort_unstable();
            numbers.dedup();
            blocks.add(&term, &numbers);
        }
        Self::make_segment(id, &all, blocks)
    }
}

/// Returns the segments to merge next: the oldest segments of the smallest size class that has too many, with at
/// most `LARGEST` documents in total. Empty if no class has too many segments.
#[must_use]
pub fn to_merge(segments: &[Segment]) -> Vec<&Segment> {
    for (size, (_, merged)) in SIZES.iter().enumerate() {
        let mut alike: Vec<_> = segments.iter().filter(|segment| segment.size() == Some(size)).collect();
        if alike.len() < *merged {
            continue;
        }
        alike.sort_by_key(|segment| (segment.newest, segment.id));
        let mut documents = 0;
        let fits = |segment: &&Segment| {
            documents += segment.documents;
            documents <= LARGEST
        };
        return alike.into_iter().take_while(fits).collect();
    }
    vec![]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{KeyRange, numbers_within};

    fn key(at: i64, id: u8) -> DocumentKey {
        DocumentKey { created_at: Timestamp::from_millis(at), id: [id; 16] }
    }

    fn document(at: i64, id: u8, terms: &[&str]) -> Document {
        Document { key: key(at, id), terms: terms.iter().map(|term| (*term).to_owned()).collect() }
    }

    fn keys_with_term(contents: &SegmentContents, term: &str) -> Vec<DocumentKey> {
        let all: Vec<_> = contents.chunks.iter().flat_map(|chunk| keys(chunk)).collect();
        let mut numbers = vec![];
        let range = KeyRange::whole(term);
        contents.blocks.iter().for_each(|block| numbers_within(&block.body, &range, &mut numbers));
        numbers.into_iter().map(|number| all[number as usize]).collect()
    }

    #[test]
    fn documents_are_numbered_from_the_newest() {
        let it = SegmentContents::build(
            [1; 16],
            vec![
                document(5, 1, &["a", "b"]),
                document(9, 2, &["a"]),
                document(9, 3, &["b", "b"]),
                document(7, 4, &[]),
            ],
        );
        let it = it.unwrap();
        assert_eq!((it.segment.documents, it.segment.newest.millis(), it.segment.oldest.millis()), (3, 9, 5));
        assert_eq!(keys_with_term(&it, "a"), [key(9, 2), key(5, 1)]);
        assert_eq!(keys_with_term(&it, "b"), [key(9, 3), key(5, 1)]);
        assert_eq!(SegmentContents::build([1; 16], vec![document(1, 1, &[])]), None);
    }

    #[test]
    fn merged_segment_has_each_document_once_with_all_terms() {
        let segment_of = |id: u8, documents| SegmentContents::build([id; 16], documents).unwrap();
        let early = segment_of(1, vec![document(5, 1, &["a"]), document(6, 2, &["a", "gone"])]);
        let late = segment_of(2, vec![document(6, 2, &["b"]), document(1, 3, &["a"])]);
        for order in [[early.clone(), late.clone()], [late.clone(), early.clone()]] {
            let it = SegmentContents::merge([3; 16], &order).unwrap();
            assert_eq!(it.segment.documents, 3);
            assert_eq!(keys_with_term(&it, "a"), [key(6, 2), key(5, 1), key(1, 3)]);
            assert_eq!(
                (keys_with_term(&it, "b"), keys_with_term(&it, "gone")),
                (vec![key(6, 2)], vec![key(6, 2)])
            );
        }
    }

    #[test]
    fn segment_after_removal_equals_segment_of_remaining_documents() {
        let all: Vec<_> = (0..300)
            .map(|number| {
                document(number, (number % 200) as u8, &["all", if number % 3 == 0 { "rare" } else { "b" }])
            })
            .collect();
        let whole = SegmentContents::build([1; 16], all.clone()).unwrap();
        let removed_ids = HashSet::from([[7; 16], [9; 16], [199; 16]]);
        let remaining_documents: Vec<_> =
            all.into_iter().filter(|document| !removed_ids.contains(&document.key.id)).collect();
        assert_eq!(
            whole.remove_documents([2; 16], &removed_ids),
            SegmentContents::build([2; 16], remaining_documents)
        );
        let everything = (0..=u8::MAX).map(|id| [id; 16]).collect();
        assert_eq!(whole.remove_documents([2; 16], &everything), None);
    }

    #[test]
    fn merged_segment_equals_the_segment_of_all_documents() {
        let document = |number: i64| {
            document(number % 700, (number % 251) as u8, &["all", if number % 3 == 0 { "third" } else { "other" }])
        };
        let all: Vec<_> = (0..5_000).map(document).collect();
        let several =
            (0..).zip(all.chunks(900)).map(|(id, part)| SegmentContents::build([id; 16], part.to_vec()).unwrap());
        let merged_segment = SegmentContents::merge([9; 16], &several.collect::<Vec<_>>()).unwrap();
        assert_eq!(merged_segment, SegmentContents::build([9; 16], all).unwrap());
    }

    #[test]
    fn document_position_is_found_by_the_fences() {
        let all: Vec<_> = (0..5_000).map(|number| document(number, 1, &["a"])).collect();
        let it = SegmentContents::build([1; 16], all).unwrap().segment;
        // Document 0 was created at 4,999, document 1,024 at 3,975.
        for (at, first) in [(9_999, 0), (4_999, 0), (3_976, 0), (3_975, 1_024), (3_000, 1_024), (0, 4_096)] {
            assert_eq!(it.first_behind(&key(at, 1)), first, "{at}");
        }
    }

    #[test]
    fn small_segments_are_merged_until_large() {
        let segment = |id: u8, documents| Segment {
            id: [id; 16],
            documents,
            newest: Timestamp::from_millis(id.into()),
            oldest: Timestamp::from_millis(0),
            fences: vec![],
        };
        let merges_of = |documents: &[u32]| {
            let all: Vec<_> = (0..).zip(documents).map(|(id, size)| segment(id, *size)).collect();
            to_merge(&all).into_iter().map(|segment| segment.documents).collect::<Vec<_>>()
        };
        assert!(merges_of(&[1; 7]).is_empty());
        assert_eq!(merges_of(&[1; 8]), [1; 8]);
        assert_eq!(merges_of(&[300, 1, 1, 1, 1, 1, 1, 1, 1]), [1; 8]);
        assert_eq!(merges_of(&[8_000; 6]), [8_000; 4], "no more than the largest");
        assert_eq!(merges_of(&[16_000; 4]), [16_000; 2], "no more than the largest");
        assert!(merges_of(&[16_000; 3]).is_empty());
        assert!(merges_of(&[16_384; 20]).is_empty());
    }
}

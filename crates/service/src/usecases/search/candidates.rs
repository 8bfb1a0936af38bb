//! Documents that match a query according to the search index, newest first and read on demand.

use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;

use candor_domain::access::Tenant;
use candor_domain::params::Bounds;
use candor_domain::time::Timestamp;
use candor_port_storage::Storage;
use candor_port_storage::error::Read;
use candor_port_storage::search_index::WantedBlocks;
use candor_search_index::{
    Block, CHUNK, DocumentKey, IndexQuery, KeyRange, PrefixTerm, Segment, Term, VisibleTerms, with_all,
};

use crate::context::search_cache::IndexCache;

/// Number of documents in the segments that are read first. Each further step reads four times as many, or all
/// if matches are rare.
const FIRST_DOCUMENTS: u32 = 16_384;
/// Number of matching documents up to which their texts are checked instead of reading all words with a prefix.
const FEW: usize = 8;

/// Blocks that a search has read, by segment and range.
pub(super) type Blocks = HashMap<[u8; 16], Vec<(KeyRange, Arc<[Block]>)>>;

/// The index of a tenant with its memory cache.
#[derive(Clone, Copy)]
pub(super) struct Index<'a> {
    pub(super) store: &'a dyn Storage,
    pub(super) tenant: Tenant,
    pub(super) cache: &'a IndexCache,
}

/// A segment with the numbers of its matching documents; `None` for all documents.
type NumberedSegment<'s> = (&'s Segment, Option<Vec<u32>>);

fn has_any(numbered: &NumberedSegment<'_>) -> bool {
    numbered.1.as_ref().is_some_and(|numbers| !numbers.is_empty())
}

/// Iterator state over the matching documents of an index.
pub(super) struct Candidates<'a> {
    index: Index<'a>,
    query: &'a IndexQuery,
    visible: Option<&'a VisibleTerms>,
    blocks: &'a mut Blocks,
    behind: Option<DocumentKey>,
    not_before: Option<Timestamp>,
    /// Segments not read yet, the newest first.
    unopened: VecDeque<&'a Segment>,
    documents: u32,
    opened: Vec<OpenedSegment>,
    known: BinaryHeap<DocumentKey>,
    last: Option<DocumentKey>,
}

/// A segment whose terms were read.
struct OpenedSegment {
    segment: [u8; 16],
    /// Numbers of its matching documents, newest first.
    numbers: Vec<u32>,
    /// Number of documents whose keys were read.
    read: usize,
    /// The last key read.
    last: Option<DocumentKey>,
}

impl OpenedSegment {
    /// Returns `true` if the segment may have unread documents that come before `key`.
    fn may_precede(&self, key: Option<&DocumentKey>) -> bool {
        self.read < self.numbers.len() && self.last.is_none_or(|last| key.is_none_or(|key| last > *key))
    }
}

impl<'a> Candidates<'a> {
    /// Creates candidates of all documents in these segments that match the query.
    pub(super) fn new(
        index: Index<'a>,
        query: &'a IndexQuery,
        segments: &'a [Segment],
        blocks: &'a mut Blocks,
    ) -> Self {
        let mut closed_segments: Vec<_> = segments.iter().collect();
        closed_segments.sort_by_key(|segment| std::cmp::Reverse(segment.newest));
        Self {
            index,
            query,
            visible: None,
            blocks,
            behind: None,
            not_before: None,
            unopened: closed_segments.into(),
            documents: FIRST_DOCUMENTS,
            opened: vec![],
            known: BinaryHeap::new(),
            last: None,
        }
    }

    /// Restricts the result to documents that a bound key may see. `look_up_visible` finds them before the words
    /// of the query are read, so that hidden documents influence neither the reads nor their number.
    pub(super) const fn restrict_to_visible(mut self, visible: Option<&'a VisibleTerms>) -> Self {
        self.visible = visible;
        self
    }

    /// Restricts the result to documents that come after `place` in the order of the list.
    pub(super) fn restrict_to_after(mut self, place: Option<DocumentKey>) -> Self {
        self.behind = self.behind.min(place).or(self.behind).or(place);
        if let Some(place) = self.behind {
            self.unopened.retain(|segment| segment.oldest <= place.created_at);
        }
        self
    }

    /// Restricts the result to documents created within these bounds.
    pub(super) fn restrict_to_bounds(mut self, bounds: Bounds<Timestamp>) -> Self {
        self.not_before = bounds.gte;
        self.unopened.retain(|segment| bounds.gte.is_none_or(|from| segment.newest >= from));
        // No document created at the upper bound has a greater id than this.
        self.restrict_to_after(bounds.lte.map(|time| DocumentKey { created_at: time, id: [u8::MAX; 16] }))
    }

    /// Returns the next `count` documents, or fewer at the end.
    pub(super) async fn next(&mut self, count: usize) -> Read<Vec<DocumentKey>> {
        let mut some = vec![];
        loop {
            while some.len() < count
                && let Some(key) = self.peek_next()
            {
                self.known.pop();
                // A document that was written again is in two segments.
                if self.last != Some(key) {
                    some.push(key);
                }
                self.last = Some(key);
            }
            if some.len() >= count || !self.go_on(count).await? {
                return Ok(some);
            }
        }
    }

    /// Returns the newest known document, if no document that is still unread can come before it.
    fn peek_next(&self) -> Option<DocumentKey> {
        let key = *self.known.peek()?;
        let is_first = !self.opened.iter().any(|segment| segment.may_precede(Some(&key)));
        (is_first && self.unopened.front().is_none_or(|segment| segment.newest < key.created_at)).then_some(key)
    }

    /// Reads more keys or segments; returns `false` if nothing was left to read.
    async fn go_on(&mut self, count: usize) -> Read<bool> {
        let first = self.known.peek().copied();
        if self.opened.iter().any(|segment| segment.may_precede(first.as_ref())) {
            self.read_keys(count, first.as_ref()).await?;
            return Ok(true);
        }
        if self.unopened.is_empty() {
            return Ok(false);
        }
        self.open(count).await?;
        Ok(true)
    }

    /// Reads the terms of the next segments until they give `count` matching documents.
    async fn open(&mut self, count: usize) -> Read<()> {
        let mut candidate_count = 0;
        while candidate_count < count && !self.unopened.is_empty() {
            let mut segments = self.of_next_segments();
            if let Some(visible) = self.visible {
                segments = self.look_up_visible(segments, visible).await?;
            }
            for terms in self.query.steps() {
                segments = self.look_up(segments, terms).await?;
            }
            if let Some(prefix) = self.query.prefix() {
                // Checking the texts of a few documents is faster than reading all words with the prefix.
                let is_few = |numbered: &NumberedSegment<'_>| {
                    !prefix.is_long && numbered.1.as_ref().is_some_and(|numbered| numbered.len() <= FEW)
                };
                let (few, many) = segments.into_iter().partition(is_few);
                segments = self.look_up_prefix(many, prefix).await?;
                segments.extend(few);
            }
            let count_before = candidate_count;
            for (segment, numbers) in segments {
                let mut numbers = numbers.unwrap_or_default();
                let from = self.behind.map_or(0, |key| segment.first_behind(&key));
                numbers.drain(..numbers.partition_point(|number| *number < from));
                candidate_count += numbers.len();
                self.opened.push(OpenedSegment { segment: segment.id, numbers, read: 0, last: None });
            }
            // Rare matches are looked up in all remaining segments at once.
            let is_rare = (candidate_count - count_before) * 4 < count;
            self.documents = if is_rare { u32::MAX } else { self.documents.saturating_mul(4) };
        }
        Ok(())
    }

    fn of_next_segments(&mut self) -> Vec<NumberedSegment<'a>> {
        let (mut segments, mut documents) = (vec![], 0_u32);
        while documents < self.documents
            && let Some(it) = self.unopened.pop_front()
        {
            documents = documents.saturating_add(it.documents);
            segments.push((it, None));
        }
        segments
    }

    /// Returns the visible documents of each segment; drops segments without any.
    async fn look_up_visible<'s>(
        &mut self,
        segments: Vec<NumberedSegment<'s>>,
        visible: &VisibleTerms,
    ) -> Read<Vec<NumberedSegment<'s>>> {
        self.read_blocks(segments.iter().map(|(segment, _)| segment.id), visible.terms()).await?;
        let numbers_in = |(segment, _): NumberedSegment<'s>| {
            (segment, Some(visible.numbers(|term| self.blocks_of(segment, term))))
        };
        Ok(segments.into_iter().map(numbers_in).filter(has_any).collect())
    }

    /// Returns the documents of each segment that have all terms, restricted to the given numbers. Drops
    /// segments without any.
    async fn look_up<'s>(
        &mut self,
        segments: Vec<NumberedSegment<'s>>,
        terms: &[Term],
    ) -> Read<Vec<NumberedSegment<'s>>> {
        self.read_blocks(segments.iter().map(|(segment, _)| segment.id), terms).await?;
        let lookups = segments.into_iter().map(|(segment, among)| {
            let blocks = terms.iter().map(|term| (term, self.blocks_of(segment, term)));
            (segment, Some(with_all(among, blocks)))
        });
        Ok(lookups.filter(has_any).collect())
    }

    /// Returns the documents of each segment that have a longer word with the prefix, but not the prefix as a word;
    /// see [`PrefixTerm::find_extensions_only`]. Restricted to the given numbers. Drops segments without any.
    async fn look_up_prefix<'s>(
        &mut self,
        segments: Vec<NumberedSegment<'s>>,
        prefix: &PrefixTerm,
    ) -> Read<Vec<NumberedSegment<'s>>> {
        self.read_blocks(segments.iter().map(|(segment, _)| segment.id), &prefix.terms).await?;
        let lookups = segments.into_iter().map(|(segment, among)| {
            let blocks = prefix.terms.each_ref().map(|term| self.blocks_of(segment, term));
            (segment, Some(prefix.find_extensions_only(among.as_deref(), blocks)))
        });
        Ok(lookups.filter(has_any).collect())
    }

    fn blocks_of(&self, segment: &Segment, term: &Term) -> &[Block] {
        let read =
            self.blocks.get(&segment.id).and_then(|blocks| blocks.iter().find(|(range, _)| *range == term.read));
        read.map_or(&[], |(_, blocks)| blocks)
    }

    /// Reads the blocks of these terms that were not read before.
    async fn read_blocks<'t>(
        &mut self,
        segments: impl Iterator<Item = [u8; 16]>,
        terms: impl IntoIterator<Item = &'t Term> + Clone,
    ) -> Read<()> {
        let mut blocks_to_read = vec![];
        for segment in segments {
            let read = self.blocks.get(&segment).map_or(&[][..], Vec::as_slice);
            let missing =
                terms.clone().into_iter().filter(|term| read.iter().all(|(range, _)| *range != term.read));
            blocks_to_read.extend(missing.map(|term| WantedBlocks { segment, range: term.read.clone() }));
        }
        if !blocks_to_read.is_empty() {
            let Index { store, tenant, cache } = self.index;
            let block_lists = cache.blocks((store, tenant), &blocks_to_read).await?;
            for (it, blocks) in blocks_to_read.into_iter().zip(block_lists) {
                self.blocks.entry(it.segment).or_default().push((it.range, blocks));
            }
        }
        Ok(())
    }

    /// Reads the keys of the next documents of each segment that may have documents before `before`.
    async fn read_keys(&mut self, count: usize, before: Option<&DocumentKey>) -> Read<()> {
        let next =
            |opened: &OpenedSegment| opened.numbers[opened.read..].iter().take(count).copied().collect::<Vec<_>>();
        let next_segments: Vec<_> =
            (0..).zip(&self.opened).filter(|(_, segment)| segment.may_precede(before)).collect();
        let next_numbers: Vec<(usize, Vec<u32>)> =
            next_segments.into_iter().map(|(at, segment)| (at, next(segment))).collect();
        let mut keys_to_read: Vec<([u8; 16], u32)> = vec![];
        for (at, numbers) in &next_numbers {
            let chunks = numbers.iter().map(|number| (self.opened[*at].segment, number / CHUNK));
            chunks.for_each(|chunk| {
                if keys_to_read.last() != Some(&chunk) {
                    keys_to_read.push(chunk)
                }
            });
        }
        let Index { store, tenant, cache } = self.index;
        let chunks = cache.keys((store, tenant), &keys_to_read).await?;
        let mut chunks = keys_to_read.iter().zip(&chunks).peekable();
        for (at, numbers) in next_numbers {
            let open_segment = &mut self.opened[at];
            for number in &numbers {
                let key_chunk = (open_segment.segment, number / CHUNK);
                while chunks.next_if(|(chunk, _)| **chunk != key_chunk).is_some() {}
                let key = chunks.peek().and_then(|(_, keys)| keys.get((number % CHUNK) as usize));
                open_segment.last = key.copied().or(open_segment.last);
                self.known.extend(key.filter(|key| {
                    self.behind.is_none_or(|behind| **key < behind)
                        && self.not_before.is_none_or(|from| key.created_at >= from)
                }));
            }
            open_segment.read += numbers.len();
        }
        Ok(())
    }
}

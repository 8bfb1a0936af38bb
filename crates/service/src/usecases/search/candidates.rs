//! The documents that the index of words names for a query, newest first, read as far as they are asked for.

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

/// Segments with about so many documents are looked at first, and four times as many next; all, where these have hardly any.
const FIRST_DOCUMENTS: u32 = 16_384;
/// So few documents of a segment are looked at themselves before the beginnings of words are looked up.
const FEW: usize = 8;

/// The blocks that a search has read, by their segment and what was wanted.
pub(super) type Blocks = HashMap<[u8; 16], Vec<(KeyRange, Arc<[Block]>)>>;

/// The index of a tenant, and what is kept of it in memory.
#[derive(Clone, Copy)]
pub(super) struct Index<'a> {
    pub(super) store: &'a dyn Storage,
    pub(super) tenant: Tenant,
    pub(super) cache: &'a IndexCache,
}

/// A segment, and the numbers of its documents that are left of all.
type Numbered<'s> = (&'s Segment, Option<Vec<u32>>);

fn has_any(it: &Numbered<'_>) -> bool {
    it.1.as_ref().is_some_and(|blocks| !blocks.is_empty())
}

/// What the index names, and how far it is read.
pub(super) struct Candidates<'a> {
    index: Index<'a>,
    query: &'a IndexQuery,
    visible: Option<&'a VisibleTerms>,
    blocks: &'a mut Blocks,
    behind: Option<DocumentKey>,
    not_before: Option<Timestamp>,
    /// The newest first.
    unopened: VecDeque<&'a Segment>,
    documents: u32,
    opened: Vec<Opened>,
    known: BinaryHeap<DocumentKey>,
    last: Option<DocumentKey>,
}

/// A segment whose terms were looked up.
struct Opened {
    segment: [u8; 16],
    /// Its documents that are named, newest first.
    numbers: Vec<u32>,
    /// Of how many of them the keys are known, …
    read: usize,
    /// … and the last of these keys.
    last: Option<DocumentKey>,
}

impl Opened {
    /// Whether it may have documents that come before this one, or that nobody knows yet.
    fn may_precede(&self, key: Option<&DocumentKey>) -> bool {
        self.read < self.numbers.len() && self.last.is_none_or(|last| key.is_none_or(|key| last > *key))
    }
}

impl<'a> Candidates<'a> {
    /// All that some segments name.
    pub(super) fn new(
        index: Index<'a>,
        query: &'a IndexQuery,
        segments: &'a [Segment],
        blocks: &'a mut Blocks,
    ) -> Self {
        let mut unopened: Vec<_> = segments.iter().collect();
        unopened.sort_by_key(|segment| std::cmp::Reverse(segment.newest));
        Self {
            index,
            query,
            visible: None,
            blocks,
            behind: None,
            not_before: None,
            unopened: unopened.into(),
            documents: FIRST_DOCUMENTS,
            opened: vec![],
            known: BinaryHeap::new(),
            last: None,
        }
    }

    /// Only documents that a bound key may see. They are looked up before the words, so that hidden documents decide
    /// neither what is read nor how often the store is asked.
    pub(super) const fn visible(mut self, visible: Option<&'a VisibleTerms>) -> Self {
        self.visible = visible;
        self
    }

    /// Only what comes behind a place.
    pub(super) fn behind(mut self, place: Option<DocumentKey>) -> Self {
        self.behind = self.behind.min(place).or(self.behind).or(place);
        if let Some(place) = self.behind {
            self.unopened.retain(|segment| segment.oldest <= place.created_at);
        }
        self
    }

    /// Only what was created between these times.
    pub(super) fn within(mut self, bounds: Bounds<Timestamp>) -> Self {
        self.not_before = bounds.gte;
        self.unopened.retain(|segment| bounds.gte.is_none_or(|from| segment.newest >= from));
        // What was created at the last moment has no greater id than this.
        self.behind(bounds.lte.map(|time| DocumentKey { created_at: time, id: [u8::MAX; 16] }))
    }

    /// The next ones, so many unless there are fewer left.
    pub(super) async fn next(&mut self, count: usize) -> Read<Vec<DocumentKey>> {
        let mut some = vec![];
        loop {
            while some.len() < count
                && let Some(key) = self.certain()
            {
                self.known.pop();
                // A document is in two segments if it was written anew.
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

    /// The newest one of which the key is known, if none that is not known can come before it.
    fn certain(&self) -> Option<DocumentKey> {
        let key = *self.known.peek()?;
        let is_first = !self.opened.iter().any(|segment| segment.may_precede(Some(&key)));
        (is_first && self.unopened.front().is_none_or(|segment| segment.newest < key.created_at)).then_some(key)
    }

    /// Reads more; says whether there was anything left.
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

    /// Looks up the terms in the next segments, until they name so many documents.
    async fn open(&mut self, count: usize) -> Read<()> {
        let mut found = 0;
        while found < count && !self.unopened.is_empty() {
            let mut segments = self.of_next_segments();
            if let Some(visible) = self.visible {
                segments = self.look_up_visible(segments, visible).await?;
            }
            for terms in self.query.steps() {
                segments = self.look_up(segments, terms).await?;
            }
            if let Some(prefix) = self.query.prefix() {
                // Few documents are looked at themselves sooner than all words that begin so.
                let is_few = |numbered: &Numbered<'_>| {
                    !prefix.is_long && numbered.1.as_ref().is_some_and(|numbered| numbered.len() <= FEW)
                };
                let (few, many) = segments.into_iter().partition(is_few);
                segments = self.look_up_prefix(many, prefix).await?;
                segments.extend(few);
            }
            let before = found;
            for (segment, numbers) in segments {
                let mut numbers = numbers.unwrap_or_default();
                let from = self.behind.map_or(0, |key| segment.first_behind(&key));
                numbers.drain(..numbers.partition_point(|number| *number < from));
                found += numbers.len();
                self.opened.push(Opened { segment: segment.id, numbers, read: 0, last: None });
            }
            // What is rare is looked for everywhere at once.
            let is_rare = (found - before) * 4 < count;
            self.documents = if is_rare { u32::MAX } else { self.documents.saturating_mul(4) };
        }
        Ok(())
    }

    fn of_next_segments(&mut self) -> Vec<Numbered<'a>> {
        let (mut segments, mut documents) = (vec![], 0_u32);
        while documents < self.documents
            && let Some(it) = self.unopened.pop_front()
        {
            documents = documents.saturating_add(it.documents);
            segments.push((it, None));
        }
        segments
    }

    /// The visible documents of each of these segments; without the segments that have none.
    async fn look_up_visible<'s>(
        &mut self,
        segments: Vec<Numbered<'s>>,
        visible: &VisibleTerms,
    ) -> Read<Vec<Numbered<'s>>> {
        self.read_blocks(segments.iter().map(|(segment, _)| segment.id), visible.terms()).await?;
        let numbered =
            |(segment, _): Numbered<'s>| (segment, Some(visible.numbers(|term| self.blocks_of(segment, term))));
        Ok(segments.into_iter().map(numbered).filter(has_any).collect())
    }

    /// The documents of each of these segments that have all terms, of these numbers if they are given; without the segments
    /// that have none.
    async fn look_up<'s>(&mut self, segments: Vec<Numbered<'s>>, terms: &[Term]) -> Read<Vec<Numbered<'s>>> {
        self.read_blocks(segments.iter().map(|(segment, _)| segment.id), terms).await?;
        let found = segments.into_iter().map(|(segment, among)| {
            let blocks = terms.iter().map(|term| (term, self.blocks_of(segment, term)));
            (segment, Some(with_all(among, blocks)))
        });
        Ok(found.filter(has_any).collect())
    }

    /// The same of words that only begin like the last one.
    async fn look_up_prefix<'s>(
        &mut self,
        segments: Vec<Numbered<'s>>,
        prefix: &PrefixTerm,
    ) -> Read<Vec<Numbered<'s>>> {
        self.read_blocks(segments.iter().map(|(segment, _)| segment.id), &prefix.terms).await?;
        let found = segments.into_iter().map(|(segment, among)| {
            let blocks = prefix.terms.each_ref().map(|term| self.blocks_of(segment, term));
            (segment, Some(prefix.among(among.as_deref(), blocks)))
        });
        Ok(found.filter(has_any).collect())
    }

    fn blocks_of(&self, segment: &Segment, term: &Term) -> &[Block] {
        let read = self.blocks.get(&segment.id).and_then(|block| block.iter().find(|(range, _)| *range == term.read));
        read.map_or(&[], |(_, blocks)| blocks)
    }

    /// Reads the blocks for some terms that were not read before.
    async fn read_blocks<'t>(
        &mut self,
        segments: impl Iterator<Item = [u8; 16]>,
        terms: impl IntoIterator<Item = &'t Term> + Clone,
    ) -> Read<()> {
        let mut wanted = vec![];
        for segment in segments {
            let read = self.blocks.get(&segment).map_or(&[][..], Vec::as_slice);
            let missing = terms.clone().into_iter().filter(|term| read.iter().all(|(range, _)| *range != term.read));
            wanted.extend(missing.map(|range| WantedBlocks { segment, range: range.read.clone() }));
        }
        if !wanted.is_empty() {
            let Index { store, tenant, cache } = self.index;
            let found = cache.blocks((store, tenant), &wanted).await?;
            for (it, blocks) in wanted.into_iter().zip(found) {
                self.blocks.entry(it.segment).or_default().push((it.range, blocks));
            }
        }
        Ok(())
    }

    /// Reads the keys of the next documents of each segment that may have some that come before this one.
    async fn read_keys(&mut self, count: usize, before: Option<&DocumentKey>) -> Read<()> {
        let next = |opened: &Opened| opened.numbers[opened.read..].iter().take(count).copied().collect::<Vec<_>>();
        let of: Vec<_> = (0..).zip(&self.opened).filter(|(_, segment)| segment.may_precede(before)).collect();
        let of: Vec<(usize, Vec<u32>)> = of.into_iter().map(|(at, segment)| (at, next(segment))).collect();
        let mut wanted: Vec<([u8; 16], u32)> = vec![];
        for (at, numbers) in &of {
            let chunks = numbers.iter().map(|number| (self.opened[*at].segment, number / CHUNK));
            chunks.for_each(|chunk| {
                if wanted.last() != Some(&chunk) {
                    wanted.push(chunk)
                }
            });
        }
        let Index { store, tenant, cache } = self.index;
        let chunks = cache.keys((store, tenant), &wanted).await?;
        let mut chunks = wanted.iter().zip(&chunks).peekable();
        for (at, numbers) in of {
            let opened = &mut self.opened[at];
            for number in &numbers {
                let of = (opened.segment, number / CHUNK);
                while chunks.next_if(|(chunk, _)| **chunk != of).is_some() {}
                let key = chunks.peek().and_then(|(_, keys)| keys.get((number % CHUNK) as usize));
                opened.last = key.copied().or(opened.last);
                self.known.extend(key.filter(|key| {
                    self.behind.is_none_or(|behind| **key < behind)
                        && self.not_before.is_none_or(|from| key.created_at >= from)
                }));
            }
            opened.read += numbers.len();
        }
        Ok(())
    }
}

//! Full-text search in the resources that the caller may see (decision G, "Search").
//!
//! Rows with every word come before rows that have the last word only as a prefix; within each group the newest
//! come first. The index returns candidate rows, newest first. The store reads those that the caller may see;
//! the domain matches their texts, scores them and builds the excerpts. Rows that are not indexed yet are all
//! read.

mod candidates;

use std::collections::HashSet;
use std::sync::Arc;

use candor_domain::page::{Key, Page, Position};
use candor_domain::params::Params;
use candor_domain::search::{SearchHit, SearchRequest, Searchable, Type, required_permissions};
use candor_fair_share::large_work::PIECE_BYTES;
use candor_port_storage::StorageExt;
use candor_search_index::{DocumentKey, IndexQuery, Segment, VisibleTerms};
use candor_search_words::{Score, SearchQuery, WordLookup};
use candor_tables::flat::Stored;
use candor_tables::listing::TypedListing;
use candor_tables::rows::search as rows;
use tokio::time::timeout;

use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::search_index::{MOST_WAITING, table};
use crate::context::{list, visible};
use candidates::{Blocks, Candidates, Index};

/// `GET /search`: searches resources that the caller may see.
///
/// # Errors
/// A type that the key may not read, invalid parameters, an index that is still being built; see [`Error`].
pub async fn search(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    for permission in required_permissions(&params) {
        context.caller.require(permission)?;
    }
    let request = SearchRequest::parse(params)?;
    context.authorize()?;
    context
        .services
        .search_index
        .require_complete(&context.services, context.caller.tenant, &request.types)
        .await?;
    let query = Arc::new(request.query.clone());
    let hits =
        timeout(context.services.settings.search_deadline, Search { context, request: &request, query }.hits())
            .await
            .map_err(|_| too_slow())??;
    list::page_by(
        context,
        &request.list,
        Page::from_items(hits, request.list.page.limit),
        |hit| hit.place,
        |hit, out| list::write(out, hit),
    )
    .await
}

fn too_slow() -> Error {
    let message = "The search took too long. Search for more or longer words, or narrow the search by a filter.";
    Error::TooSlow(message.to_owned())
}

/// Maximum number of rows read per query, before filters.
const MOST_AT_ONCE: usize = 1_000;
/// Number of rows of the first read, when the length of their texts is unknown.
const FIRST_AT_ONCE: usize = 100;
/// Target size in bytes of the texts read at once, so that one search does not monopolize a connection or the
/// memory.
const BYTES_AT_ONCE: usize = 1024 * 1024;

/// Hits among some rows, and the total bytes of the texts of these rows.
struct MatchedRows {
    hits: Vec<SearchHit>,
    bytes: usize,
}

fn text_bytes(resource: &impl Searchable) -> usize {
    resource.texts().iter().map(|(_, text)| text.len()).sum()
}

/// Splits rows into pieces whose texts have about [`PIECE_BYTES`].
fn pieces<T>(rows: Vec<(usize, T)>) -> Vec<Vec<T>> {
    let (mut pieces, mut room) = (Vec::<Vec<T>>::new(), 0);
    for (bytes, row) in rows {
        match pieces.last_mut().filter(|_| bytes <= room) {
            Some(piece) => piece.push(row),
            None => {
                pieces.push(vec![row]);
                room = PIECE_BYTES;
            }
        }
        room = room.saturating_sub(bytes);
    }
    pieces
}

struct Search<'a> {
    context: &'a RequestContext,
    request: &'a SearchRequest,
    /// Query of the request, shared with matching work on other threads.
    query: Arc<SearchQuery>,
}

/// Hits of one score after a position.
struct ScoreTier {
    score: Score,
    words: WordLookup,
    behind: Option<DocumentKey>,
}

/// State of the search in one type.
struct Part {
    kind: Type,
    segments: Vec<Segment>,
    /// Rows that are not indexed, or have changed since.
    waiting: HashSet<[u8; 16]>,
    /// Hits among the rows in `waiting`.
    hits: Vec<SearchHit>,
    /// Blocks read from the segments.
    blocks: Blocks,
}

fn place(hit: &SearchHit) -> DocumentKey {
    DocumentKey { created_at: hit.created_at, id: hit.place }
}

impl Search<'_> {
    /// Returns the first hits after the cursor: at least a page and one more, if there are that many.
    async fn hits(&self) -> Result<Vec<SearchHit>, Error> {
        let visible = self.visible_terms().await?;
        let mut parts = vec![];
        for kind in &self.request.types {
            parts.push(self.part(*kind).await?);
        }
        let mut hits = vec![];
        for tier in Score::ALL.into_iter().filter_map(|score| self.tier(score)) {
            let mut search_hits = vec![];
            for it in &mut parts {
                let visible = visible.as_ref().filter(|_| it.kind.is_narrowed());
                search_hits.extend(self.read_tier(it, &tier, visible).await?);
            }
            search_hits.sort_by_key(|hit| std::cmp::Reverse(place(hit)));
            hits.extend(search_hits);
            if hits.len() > self.request.list.page.limit.into() {
                break;
            }
        }
        Ok(hits)
    }

    /// Returns the terms of the documents that the caller may see; `None` if the caller may see all documents. With a
    /// filter by one person, the terms need to find only documents about that person.
    async fn visible_terms(&self) -> Result<Option<VisibleTerms>, Error> {
        let Some(person) = self.context.caller.viewer().person() else { return Ok(None) };
        if !self.request.types.iter().any(|kind| kind.is_narrowed()) {
            return Ok(None);
        }
        let (store, tenant) = (&self.context.services.store, self.context.caller.tenant);
        let team = match self.request.list.filter.employee_id {
            None => store.people_below(tenant, person).await?,
            Some(subject) if subject == person => vec![],
            Some(subject) if store.read_reporting(tenant, person, subject).await?.is_below => vec![subject],
            Some(_) => vec![],
        };
        Ok(Some(VisibleTerms::new(person, &team)))
    }

    /// Returns the tier of a score; `None` if it cannot have hits after the cursor.
    fn tier(&self, score: Score) -> Option<ScoreTier> {
        let last_key = match &self.request.list.page.after {
            Some(Position { key: Key::Scored(last, _), .. }) if score > *last => return None,
            Some(Position { key: Key::Scored(last, created_at), id }) if score == *last => {
                Some(DocumentKey { created_at: *created_at, id: *id })
            }
            Some(_) | None => None,
        };
        Some(ScoreTier { score, words: self.request.query.lookup(score)?, behind: last_key })
    }

    async fn part(&self, kind: Type) -> Result<Part, Error> {
        let state =
            self.context.services.store.index_state(self.context.caller.tenant, table(kind), MOST_WAITING).await?;
        if state.pending.len() >= MOST_WAITING.into() {
            return Err(Error::NotIndexed);
        }
        let ids: Vec<_> = state.pending.iter().map(|document| document.id).collect();
        let mut hits = vec![];
        hits.extend(self.read_hits(kind, &ids).await?);
        Ok(Part {
            kind,
            segments: state.segments,
            waiting: ids.into_iter().collect(),
            hits,
            blocks: Blocks::new(),
        })
    }

    /// Returns the hits of one score: all hits among unindexed rows, and of the hits among indexed rows at least a page
    /// and one more, if there are that many.
    async fn read_tier(
        &self,
        part: &mut Part,
        tier: &ScoreTier,
        visible: Option<&VisibleTerms>,
    ) -> Result<Vec<SearchHit>, Error> {
        let filter = &self.request.list.filter;
        let limit = usize::from(self.request.list.page.limit) + 1;
        let is_wanted = |search_hit: &SearchHit| {
            search_hit.score == tier.score && tier.behind.is_none_or(|behind| place(search_hit) < behind)
        };
        let query = IndexQuery::new(&tier.words, filter.employee_id);
        let (store, tenant) = (&*self.context.services.store, self.context.caller.tenant);
        let index = Index { store, tenant, cache: &self.context.services.search_index.cache };
        let candidates = Candidates::new(index, &query, &part.segments, &mut part.blocks);
        let mut candidates = candidates
            .restrict_to_visible(visible)
            .restrict_to_after(tier.behind)
            .restrict_to_bounds(filter.created_at);
        let (mut hits, mut count) = (vec![], limit);
        while hits.len() < limit {
            let some = candidates.next(count).await?;
            if some.is_empty() {
                break;
            }
            let ids: Vec<_> =
                some.iter().map(|document| document.id).filter(|id| !part.waiting.contains(id)).collect();
            hits.extend(self.read_hits(part.kind, &ids).await?.into_iter().filter(is_wanted));
            count = (count * 2).min(MOST_AT_ONCE);
        }
        hits.extend(part.hits.iter().filter(|hit| is_wanted(hit)).cloned());
        Ok(hits)
    }

    /// Returns the hits among the rows with these ids, read in batches of limited size.
    async fn read_hits(&self, kind: Type, ids: &[[u8; 16]]) -> Result<Vec<SearchHit>, Error> {
        let (mut hits, mut rest, mut at_once) = (vec![], ids, FIRST_AT_ONCE);
        while !rest.is_empty() {
            let (some, behind) = rest.split_at(at_once.min(rest.len()));
            let MatchedRows { hits: found, bytes } = self.matching_of_few(kind, some).await?;
            hits.extend(found);
            rest = behind;
            at_once = (BYTES_AT_ONCE * some.len() / bytes.max(1)).clamp(1, MOST_AT_ONCE);
        }
        Ok(hits)
    }

    async fn matching_of_few(&self, kind: Type, ids: &[[u8; 16]]) -> Result<MatchedRows, Error> {
        let (filter, caller) = (&self.request.list.filter, &self.context.caller);
        match kind {
            Type::Observations => self.read(rows::observations(filter, ids, caller.viewer())).await,
            Type::Objectives => self.read(rows::objectives(filter, ids, caller.viewer())).await,
            Type::Employees => self.read(rows::employees(filter, ids)).await,
            Type::Summaries => self.read(rows::summaries(filter, ids, caller.viewer())).await,
        }
    }

    /// Reads rows and matches them. Long texts are matched piece by piece on other threads, with a permit for
    /// large work: other requests run meanwhile, and the deadline can end the search between two pieces.
    async fn read<T: Searchable + Stored>(&self, list: TypedListing<T>) -> Result<MatchedRows, Error> {
        let tenant = self.context.caller.tenant;
        let rows = self.context.services.store.entries(tenant, list).await?;
        let mut resources: Vec<_> = rows.into_iter().map(|row| row.value).collect();
        visible::narrow(self.context, &mut resources).await?;
        let rows: Vec<_> = resources.into_iter().map(|row| (text_bytes(&row), row)).collect();
        let bytes = rows.iter().map(|(bytes, _)| bytes).sum();
        if bytes <= PIECE_BYTES {
            let hits =
                rows.into_iter().filter_map(|(_, row)| SearchHit::from_resource(&self.query, row)).collect();
            return Ok(MatchedRows { hits, bytes });
        }
        let mut hits = vec![];
        for piece in pieces(rows) {
            let query = Arc::clone(&self.query);
            let matching = move || {
                piece.into_iter().filter_map(|row| SearchHit::from_resource(&query, row)).collect::<Vec<_>>()
            };
            hits.extend(self.context.services.large_work.run(tenant, matching).await?);
        }
        Ok(MatchedRows { hits, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_split_into_pieces_of_bounded_bytes() {
        let rows = vec![(PIECE_BYTES / 2, 1), (PIECE_BYTES / 2, 2), (1, 3), (3 * PIECE_BYTES, 4), (1, 5), (1, 6)];
        assert_eq!(pieces(rows), [vec![1, 2], vec![3], vec![4], vec![5, 6]]);
        assert_eq!(pieces::<u8>(vec![]), Vec::<Vec<u8>>::new());
    }
}

//! Search: what has the words, of what the caller may see (decision G, "Search").
//!
//! What has every word comes before what has the last one only as a beginning, and the newest first within each. A store
//! answers both as lists that end with the page; the domain reads the texts again, scores them and shows the words.

use std::time::Duration;

use candor_domain::objective::Sight;
use candor_domain::page::{Key, Page, PageRequest, Position};
use candor_domain::params::Params;
use candor_domain::search::{
    Filter, Score, SearchHit, SearchRequest, Searchable, Type, WantedWords, required_permissions,
};
use candor_port_storage::StorageExt;
use candor_port_storage::flat::Stored;
use candor_port_storage::listing::TypedListing;
use candor_port_storage::rows::search as rows;
use tokio::time::timeout;

use crate::reply::Reply;
use crate::{Call, Error, Shell, list};

/// `GET /search`
///
/// # Errors
/// A type that the key may not read, invalid parameters, texts that are not indexed yet; see [`Error`].
pub async fn search(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    for permission in required_permissions(&params) {
        call.caller.require(permission)?;
    }
    let request = SearchRequest::parse(params)?;
    call.authorize()?;
    shell.search_index.require_complete(shell, call.caller.tenant, &request.types).await?;
    let hits = timeout(shell.settings.search_deadline, Search { shell, call, request: &request }.hits())
        .await
        .map_err(|_| too_slow())??;
    list::page_by(&request.list, &Page::of(hits, request.list.page.limit), |it| it.place, |it| it)
}

fn too_slow() -> Error {
    let message = "The search took too long. Ask for more words or longer ones, or narrow it by a filter.";
    Error::TooSlow(message.to_owned())
}

/// Where an index gathers all words that begin alike, the first rows with the whole words are looked at before, which is
/// all of them where these are rare, and a page of hits where the beginning is that of many words.
const CANDIDATES: u16 = 128;
/// The longest that a search takes unless a test says otherwise.
pub(crate) const DEADLINE: Duration = Duration::from_secs(2);

struct Search<'a> {
    shell: &'a Shell,
    call: &'a Call,
    request: &'a SearchRequest,
}

/// What has one score, from a place on.
struct Tier {
    score: Score,
    words: WantedWords,
    after: Option<Position>,
}

/// What a page of a list came to.
struct Found {
    hits: Vec<SearchHit>,
    /// The place of the last row that was looked at.
    last: Option<Position>,
    /// Whether that was the last one of the list.
    is_end: bool,
}

impl Search<'_> {
    /// The first hits behind the cursor: as many as the page has, and one more if there is one.
    async fn hits(&self) -> Result<Vec<SearchHit>, Error> {
        let mut hits = vec![];
        for tier in Score::ALL.into_iter().filter_map(|it| self.tier(it)) {
            let mut found = vec![];
            for kind in &self.request.types {
                found.extend(self.of_type(*kind, &tier).await?);
            }
            found.sort_by_key(|it| std::cmp::Reverse((it.created_at, it.place)));
            hits.extend(found);
            if hits.len() > self.request.list.page.limit.into() {
                break;
            }
        }
        Ok(hits)
    }

    /// The hits of a score that are behind the cursor; none where all of them are before it.
    fn tier(&self, score: Score) -> Option<Tier> {
        let after = match &self.request.list.page.after {
            Some(Position { key: Key::Scored(last, _), .. }) if score > *last => return None,
            Some(Position { key: Key::Scored(last, at), id }) if score == *last => {
                Some(Position { key: Key::Time(*at), id: *id })
            }
            Some(_) | None => None,
        };
        Some(Tier { score, words: self.request.query.wanted(score)?, after })
    }

    async fn of_type(&self, kind: Type, tier: &Tier) -> Result<Vec<SearchHit>, Error> {
        let (filter, caller) = (&self.request.list.filter, &self.call.caller);
        match kind {
            Type::Observations => self.matching(tier, |words, page| rows::observations(filter, words, page)).await,
            Type::Objectives => {
                let sight = Sight::of(caller);
                self.matching(tier, |words, page| rows::objectives(filter, words, sight, page)).await
            }
            Type::Employees => self.matching(tier, |words, page| rows::employees(filter, words, page)).await,
            Type::Summaries => {
                self.matching(tier, |words, page| rows::summaries(filter, words, caller.acts_for(), page)).await
            }
        }
    }

    /// The hits in a list, until there are enough for a page.
    async fn matching<T: Searchable + Stored>(
        &self,
        tier: &Tier,
        list: impl Fn(&WantedWords, &PageRequest) -> TypedListing<T>,
    ) -> Result<Vec<SearchHit>, Error> {
        let limit = self.request.list.page.limit + 1;
        let is_quick = |it: &WantedWords| !it.all.is_empty() || (T::TYPE == Type::Observations && self.is_unfiltered());
        let is_slow = self.shell.store.gathers_beginnings();
        if let Some(words) = tier.words.whole_only().filter(|it| is_slow && is_quick(it)) {
            let page = PageRequest { limit: limit.max(CANDIDATES), after: tier.after.clone() };
            let found = self.found(tier, list(&words, &page)).await?;
            if found.is_end || found.hits.len() >= limit.into() {
                return Ok(found.hits);
            }
        }
        let mut page = PageRequest { limit, after: tier.after.clone() };
        let mut hits = vec![];
        loop {
            let found = self.found(tier, list(&tier.words, &page)).await?;
            hits.extend(found.hits);
            if found.is_end || hits.len() >= limit.into() {
                return Ok(hits);
            }
            page.after = found.last;
        }
    }

    /// Whether the list without words has an index for its order.
    fn is_unfiltered(&self) -> bool {
        let Filter { employee_id, manager_id, kind, created_at: _ } = &self.request.list.filter;
        employee_id.is_none() && manager_id.is_none() && kind.is_none()
    }

    /// What in a page of a list has the score.
    async fn found<T: Searchable + Stored>(&self, tier: &Tier, list: TypedListing<T>) -> Result<Found, Error> {
        let limit = usize::from(list.limit());
        let rows = self.shell.store.entries(self.call.caller.tenant, list).await?;
        let place = |it: &T| Position { key: Key::Time(it.created_at()), id: it.key().to_bytes() };
        let is_end = rows.is_empty() || rows.len() < limit;
        let last = rows.last().map(|it| place(&it.value));
        let hits = rows.into_iter().filter_map(|it| SearchHit::of(&self.request.query, it.value));
        Ok(Found { hits: hits.filter(|it| it.score == tier.score).collect(), last, is_end })
    }
}

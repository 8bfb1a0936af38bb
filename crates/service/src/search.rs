//! Search: what has the words, of what the caller may see (decision G, "Search").
//!
//! What has every word comes before what has the last one only as a beginning, and the newest first within each. A store
//! answers both as lists that end with the page; the domain reads the texts again, scores them and shows the words.

use std::time::Duration;

use candor_domain::objective::Sight;
use candor_domain::page::{Key, Page, PageRequest, Position};
use candor_domain::params::Params;
use candor_domain::search::{Score, SearchHit, SearchRequest, Searchable, Type, WantedWords, required_permissions};
use candor_port_storage::StorageExt;
use candor_port_storage::flat::Stored;
use candor_port_storage::listing::TypedListing;
use candor_port_storage::rows::search as rows;
use tokio::time::timeout;

use crate::reply::Reply;
use crate::{Call, Error, Shell, list};

/// The longest that a search takes (decision A17).
const DEADLINE: Duration = Duration::from_secs(2);

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
    let hits = timeout(DEADLINE, Search { shell, call, request: &request }.hits()).await.map_err(|_| too_slow())??;
    list::page_by(&request.list, &Page::of(hits, request.list.page.limit), |it| it.place, |it| it)
}

fn too_slow() -> Error {
    let message = "The search took too long. Ask for more words or longer ones, or narrow it by a filter.";
    Error::TooSlow(message.to_owned())
}

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
        let (filter, caller, words) = (&self.request.list.filter, &self.call.caller, &tier.words);
        match kind {
            Type::Observations => self.matching(tier, |page| rows::observations(filter, words, page)).await,
            Type::Objectives => {
                self.matching(tier, |page| rows::objectives(filter, words, Sight::of(caller), page)).await
            }
            Type::Employees => self.matching(tier, |page| rows::employees(filter, words, page)).await,
            Type::Summaries => {
                self.matching(tier, |page| rows::summaries(filter, words, caller.acts_for(), page)).await
            }
        }
    }

    /// The hits in a list, until there are enough for a page. An index may answer more than what matches.
    async fn matching<T: Searchable + Stored>(
        &self,
        tier: &Tier,
        list: impl Fn(&PageRequest) -> TypedListing<T>,
    ) -> Result<Vec<SearchHit>, Error> {
        let limit = self.request.list.page.limit + 1;
        let mut page = PageRequest { limit, after: tier.after.clone() };
        let mut hits = vec![];
        loop {
            let rows = self.shell.store.entries(self.call.caller.tenant, list(&page)).await?;
            let is_end = rows.len() < limit.into();
            page.after =
                rows.last().map(|it| Position { key: Key::Time(it.value.created_at()), id: it.value.key().to_bytes() });
            let found = rows.into_iter().filter_map(|it| SearchHit::of(&self.request.query, it.value));
            hits.extend(found.filter(|it| it.score == tier.score));
            if is_end || hits.len() >= limit.into() {
                return Ok(hits);
            }
        }
    }
}

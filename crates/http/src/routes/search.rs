//! Search (decision G).

use candor_domain::access::Access;
use candor_domain::decision::Resource;
use candor_domain::objective::Objective;
use candor_domain::observation::Observation;
use candor_domain::people::Employee;
use candor_domain::search::{self, SearchHit, SearchRequest};
use candor_domain::summary::Summary;
use candor_service::usecases::search as use_case;
use serde_json::{Value, json};

use super::observations;
use crate::contract::route::{Query, Route, RouteGroup, handlers};
use crate::contract::schema::shapes::Member;
use crate::contract::schema::words::{enum_member, enumeration};
use crate::contract::schema::{Schema, list, list_example, response_of};

const ROUTES: &[Route] = &[Route::get("/search", Access::READS_TYPES, search)
    .with_name("search", "Search")
    .description(
        "Finds resources that contain all words. The beginning of the last word is enough. Case and accents are \
         ignored. Resources with all words come first, then those with the beginning of the last word, each \
         newest first. Archived resources and deactivated people are not found. A key that acts for a person \
         finds only what that person sees. Changes are searchable at once.",
    )
    .with(Query::list(|input| drop(SearchRequest::read(input))))
    .answers(&SEARCH_HITS)];

/// The single route of searches.
pub(crate) const GROUP: RouteGroup = RouteGroup::new("Search", "Full-text search.", ROUTES).words(words);

handlers! {
    search => use_case::search(params);
}

const SEARCH_HITS: Schema = Schema::new("SearchHitList", || list(SEARCH_HIT.name))
    .example(|| list_example(example()))
    .outcome("A page of results, best matches first.")
    .refers_to(&[&SEARCH_HIT]);
const SEARCH_HIT: Schema = Schema::new("SearchHit", response_of::<SearchHit>);

/// Name of the enumeration of searchable resource types.
const HIT_TYPES: &str = SearchHit::TYPES_NAME;
const FOUND: [&str; 4] = [Observation::NAME, Objective::NAME, Employee::NAME, Summary::NAME];

fn words() -> Vec<Member> {
    vec![
        enum_member::<search::Type>("Types that can be searched."),
        enumeration(HIT_TYPES, &FOUND, "Kinds of resources that a search finds."),
    ]
}

fn example() -> Value {
    let snippet = "Explained the outage to the customer calmly and completely.";
    json!({
        "type": "observation", "id": observations::example()["id"], "score": 0.5,
        "highlights": [{"field": "observation", "snippet": snippet, "ranges": [[28, 36], [37, 43]]}],
        "resource": observations::example(),
    })
}

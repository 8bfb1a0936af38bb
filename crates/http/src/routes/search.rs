//! Search (decision G).

use candor_domain::decision::Resource;
use candor_domain::objective::Objective;
use candor_domain::observation::Observation;
use candor_domain::people::Employee;
use candor_domain::search::{self, Score, SearchRequest};
use candor_domain::summary::Summary;
use candor_service::Shell;
use candor_service::usecases::search as use_case;
use serde_json::{Value, json};

use super::observations;
use crate::exchange::AuthenticatedRequest;
use crate::schema::shapes::{Member, answer, array, field, named, plain};
use crate::schema::words::{enumeration, of, open};
use crate::schema::{Schema, list, listed};
use crate::table::Access::ReadsTypes;
use crate::table::{Query, Route, RouteGroup, Work};

const ROUTES: &[Route] = &[Route::get("/search", ReadsTypes, search)
    .named("search", "Find what was written by its words")
    .about(
        "Finds what has all of the words, of the last one at least the beginning, without regard to case and \
         accents: first what has them all whole, then the rest, each with the newest first. What is archived is not \
         found, nor people who have left. A key that acts for a person finds what that person sees. What was written \
         is found by the next request.",
    )
    .with(Query::list(|it| drop(SearchRequest::read(it))))
    .answers(&SEARCH_HITS)];

/// The one route of searches.
pub(crate) const GROUP: RouteGroup = RouteGroup::new("Search", "What was written, by its words.", ROUTES).words(words);

fn search<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { use_case::search(shell, &it.call, it.params).await })
}

const SEARCH_HITS: Schema = Schema::new("SearchHitList", || list(SEARCH_HIT.name))
    .example(|| listed(example()))
    .outcome("A page of what was found, the best first.")
    .refers_to(&[&SEARCH_HIT]);
const SEARCH_HIT: Schema = Schema::new("SearchHit", hit).refers_to(&[&HIGHLIGHT]);
const HIGHLIGHT: Schema = Schema::new("Highlight", highlight);

/// The kinds of resources that a search finds.
const HIT_TYPES: &str = "SearchHitType";
const FOUND: [&str; 4] = [Observation::NAME, Objective::NAME, Employee::NAME, Summary::NAME];

fn words() -> Vec<Member> {
    vec![
        of::<search::Type>("What can be searched."),
        enumeration(HIT_TYPES, &FOUND, "What kinds of resources a search finds."),
    ]
}

fn hit() -> Value {
    let [best, least] = Score::ALL.map(Score::value);
    let score = json!({"type": "number", "minimum": 0, "maximum": best});
    let score_about = format!(
        "How well it matches: {best:.1} where it has every word, {least:.1} where the last word is only the beginning of one."
    );
    let resources = ["Observation", "Objective", "Employee", "Summary"].map(named);
    let members = vec![
        field("type", open(HIT_TYPES), "What kind of resource it is."),
        field("id", plain(), "The resource's id."),
        field("score", score, &score_about),
        field("highlights", array(&named("Highlight")), "Where the words stand, text by text."),
        field("resource", json!({"anyOf": resources}), "The resource as GET answers it, with nothing inlined."),
    ];
    answer(members, vec![])
}

fn highlight() -> Value {
    let number = json!({"type": "integer", "minimum": 0});
    let range = json!({"type": "array", "items": number, "minItems": 2, "maxItems": 2});
    let members = vec![
        field("field", plain(), "The member of the resource that has the text."),
        field(
            "snippet",
            plain(),
            "The text, or some 200 characters of it around the first word that was found, as it is stored.",
        ),
        field(
            "ranges",
            array(&range),
            "The words in the snippet, each from its first character to behind its last, counted from 0 in Unicode scalar \
             values.",
        ),
    ];
    answer(members, vec![])
}

fn example() -> Value {
    let snippet = "Explained the outage to the customer calmly and completely.";
    json!({
        "type": "observation", "id": observations::example()["id"], "score": 0.5,
        "highlights": [{"field": "observation", "snippet": snippet, "ranges": [[28, 36], [37, 43]]}],
        "resource": observations::example(),
    })
}

//! Attention: what waits for the caller (decision A21).

use candor_attention::{Attention, AttentionKind};
use candor_domain::access::Access;
use candor_service::usecases::attention;
use serde_json::json;

use crate::contract::route::{Route, RouteGroup, handlers};
use crate::contract::schema::shapes::Member;
use crate::contract::schema::words::enum_member;
use crate::contract::schema::{AT, EMPLOYEE_ID, OBJECTIVE_ID, Schema, response_of};

const ROUTES: &[Route] = &[Route::get("/attention", Access::ANY_READER, get)
    .with_name("getAttention", "Get what waits for you")
    .description(
        "Returns the resources that wait for the caller, the most urgent first, at most 20 of each kind: failing \
         subscriptions and connectors, keys that expire, reviews, overdue assignments, and objectives without a \
         check-in of the last 14 days. A key that acts for a person also gets what waits for that person. `kinds` has \
         the kinds whose resources the key may read.",
    )
    .answers(&ATTENTION)];

/// The single route of attention.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::new("Attention", "Everything that waits for the caller.", ROUTES).words(words);

handlers! {
    get => attention::get();
}

const ATTENTION: Schema = Schema::new("Attention", response_of::<Attention>)
    .example(|| {
        json!({
            "data": [{
                "kind": "objective_in_review", "id": OBJECTIVE_ID, "path": format!("/employee-objectives/{OBJECTIVE_ID}"),
                "title": "Answer within a day", "employee_id": EMPLOYEE_ID, "employee_name": "Ada Moreau", "at": AT,
                "due_date": null, "reason": null,
            }],
            "kinds": [
                {"kind": "objective_in_review", "count": 1, "has_more": false},
                {"kind": "objective_quiet", "count": 0, "has_more": false},
            ],
        })
    })
    .outcome("What waits for the caller.");

fn words() -> Vec<Member> {
    vec![enum_member::<AttentionKind>("Reason why a resource waits.")]
}

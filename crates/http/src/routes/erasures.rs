//! Erasures of people and their receipts (decision H4).

use candor_domain::access::{Access, Permission};
use candor_domain::erasure::{self, Erasure, ErasureDraft, ErasureStatus};
use candor_domain::event::EventData;
use candor_domain::id::{EmployeeKind, ErasureKind, Kind};
use candor_service::usecases::erasures;
use serde_json::{Value, json};

use crate::contract::route::{EventFamily, Route, RouteGroup, handlers};
use crate::contract::schema::words::{enum_member, sort};
use crate::contract::schema::{AT, EMPLOYEE_ID, KEY_ID, Schema, body_of, response_of};

const ACCESS: Access = Access::organization_admin(Permission::EmployeesErase).live_only();

const OF_PERSON: &[Route] = &[Route::post("/employees/{id}/erasure", ACCESS, create)
    .with_name("eraseEmployee", "Erase the data of a person")
    .description(
        "Replaces a deactivated person by the pseudonym `Former employee` and removes the data about them in the \
         background: observations, objectives, summaries and assignments about them, their invitations, \
         notifications and accounts. Their messages become `[erased]`. Texts that they wrote about others stay \
         under the pseudonym. The id stays, so that references hold. This cannot be undone. 409 if the person is \
         not deactivated, is on legal hold, or was erased before.",
    )
    .may_take(&ERASURE_REQUEST)
    .accepts(&ERASURE)];

const ROUTES: &[Route] = &[
    Route::get("/erasures", ACCESS, list)
        .with_name("listErasures", "List erasures")
        .description("Lists erasures with their receipts, newest first. Receipts contain no personal data.")
        .lists(&ERASURE, |input| drop(erasure::Filter::read(input))),
    Route::get("/erasures/{id}", ACCESS, get)
        .with_name("getErasure", "Get an erasure")
        .description("Returns an erasure. Its receipt is final once the status is `completed`.")
        .answers(&ERASURE),
];

/// The route of erasures below a person.
pub(crate) const PEOPLE: RouteGroup = RouteGroup::under_tag("Erasures", OF_PERSON).id(EmployeeKind::PREFIX);

/// The routes of erasures.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::new("Erasures", "Removal of the data about people, with receipts.", ROUTES)
        .id(ErasureKind::PREFIX)
        .words(words)
        .events(&[EventFamily {
            carried: EventData::Erasure,
            name: "ErasureEvent",
            data: &ERASURE,
            about: "An erasure was completed.",
        }]);

handlers! {
    create => erasures::create(id, body);
    list => erasures::list(params);
    get => erasures::get(id);
}

const ERASURE: Schema =
    Schema::new("Erasure", response_of::<Erasure>).outcome("The erasure with its receipt.").example(example);
const ERASURE_REQUEST: Schema = Schema::new("ErasureRequest", || body_of::<Erasure, _>(ErasureDraft::read))
    .example(|| json!({"reason": "Request of 2 March"}));

fn words() -> Vec<crate::contract::schema::shapes::Member> {
    vec![enum_member::<ErasureStatus>("Status of an erasure."), sort::<Erasure>()]
}

fn example() -> Value {
    json!({
        "id": "era_01KJPWD6M24DF9HWRAYHFSFV52", "employee_id": EMPLOYEE_ID, "status": "completed",
        "requested_at": AT, "completed_at": AT, "requested_by": {"type": "api_key", "id": KEY_ID},
        "counts": {"observations": 12, "messages": 3}, "kept_by_hold": 0, "out_of_reach": ["backups", "webhook_receivers"],
        "tables_to_rewrite": [],
    })
}

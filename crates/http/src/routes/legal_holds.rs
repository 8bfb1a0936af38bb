//! Legal holds on the data of people (decision H3).

use candor_domain::access::Access;
use candor_domain::id::{EmployeeKind, Kind};
use candor_domain::people::{HoldDraft, LegalHold};
use candor_service::usecases::employees;
use serde_json::json;

use crate::contract::route::{Route, RouteGroup, handlers};
use crate::contract::schema::{AT, EMPLOYEE_ID, Schema, body_of, response_of};

const ACCESS: Access = LegalHold::ACCESS;

const ROUTES: &[Route] = &[
    Route::get("/employees/{id}/legal-hold", ACCESS, get)
        .with_name("getLegalHold", "Get the legal hold of a person")
        .description("Returns the legal hold on the data of a person. 404 if there is none.")
        .answers(&LEGAL_HOLD),
    Route::put("/employees/{id}/legal-hold", ACCESS, put)
        .with_name("setLegalHold", "Set the legal hold of a person")
        .description(
            "Forbids an erasure of the person until the hold ends. If the person is on hold already, changes the \
             reason. Only this resource shows the reason. The audit log and the data about the person do not.",
        )
        .takes(&LEGAL_HOLD_SET)
        .answers(&LEGAL_HOLD),
    Route::delete("/employees/{id}/legal-hold", ACCESS, delete)
        .with_name("releaseLegalHold", "End the legal hold of a person")
        .description("Ends the legal hold on the data of a person. 404 if there is none."),
];

/// The routes of legal holds, under the tag of employees.
pub(crate) const GROUP: RouteGroup = RouteGroup::under_tag("Employees", ROUTES).id(EmployeeKind::PREFIX);

handlers! {
    get => employees::hold::get(id);
    put => employees::hold::put(id, body);
    delete => employees::hold::delete(id);
}

const LEGAL_HOLD: Schema = Schema::new("LegalHold", response_of::<LegalHold>)
    .outcome("The legal hold.")
    .example(|| json!({"employee_id": EMPLOYEE_ID, "reason": "Case 2026-14", "held_at": AT}));
const LEGAL_HOLD_SET: Schema = Schema::new("LegalHoldSet", || body_of::<LegalHold, _>(HoldDraft::read))
    .example(|| json!({"reason": "Case 2026-14"}));

//! Enumerations that several resources share.

use candor_domain::params::Archived;
use candor_domain::problem::Code;
use serde_json::json;

use crate::contract::schema::shapes::Member;
use crate::contract::schema::words::{FIELD_CODES, enum_member};
use crate::response::error_response::ErrorCode;
use crate::routes::GROUPS;

fn field_codes() -> Member {
    let about = "Kind of field error. Status 422: `not_found_in_organization`, `field_managed_externally`, \
                 `reporting_cycle`, `invalid_state`, `limit_reached`, `not_a_participant`, `not_a_reviewer`. All \
                 others have status 400.";
    (FIELD_CODES, json!({"type": "string", "enum": Code::ALL, "description": about}))
}

/// Returns every enumeration, by name.
pub(super) fn schemas() -> Vec<Member> {
    let mut all = vec![
        enum_member::<Archived>(
            "Filter by archive state: `false` for entries in use, `true` for archived entries, `all` for both.",
        ),
        enum_member::<ErrorCode>("Stable error codes. Branch on the code; messages may change."),
        field_codes(),
    ];
    all.extend(GROUPS.iter().flat_map(|group| (group.words)()));
    all
}

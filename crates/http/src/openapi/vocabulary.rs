//! The enumerations that belong to no resource alone.

use candor_domain::params::Archived;
use candor_domain::problem::Code;
use serde_json::json;

use crate::error_response::ErrorCode;
use crate::schema::shapes::Member;
use crate::schema::words::{FIELD_CODES, of};
use crate::table::GROUPS;

fn field_codes() -> Member {
    let about = "What is wrong with a field. The first six come with 400, as do `unknown_field` and `read_only`; the \
                 others with 422.";
    (FIELD_CODES, json!({"type": "string", "enum": Code::ALL, "description": about}))
}

/// Every enumeration, by name.
pub(super) fn schemas() -> Vec<Member> {
    let mut all = vec![
        of::<Archived>("Which entries are wanted: `false` those in use, `true` those that are archived, or `all`."),
        of::<ErrorCode>("The stable codes of errors. Branch on these; messages may change."),
        field_codes(),
    ];
    all.extend(GROUPS.iter().flat_map(|it| (it.words)()));
    all
}

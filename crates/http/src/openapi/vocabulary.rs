//! Enumerations that several resources share.

use candor_domain::params::Archived;
use candor_domain::problem::Code;
use serde_json::json;

use crate::error_response::ErrorCode;
use crate::routes::GROUPS;
use crate::schema::shapes::Member;
use crate::schema::words::{FIELD_CODES, enum_member};

fn field_codes() -> Member {
    let about = "Kind of field error. The first six, `unknown_field` and `read_only` have status 400. The \
                 others have status 422.";
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

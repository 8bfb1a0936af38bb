//! Mapping of erasures, and their lists.

use candor_domain::erasure::{Erasure, Requester};
use candor_domain::id::ErasureKind;
use candor_domain::page::{PageRequest, Sort};

use crate::flat::{Index, Table, Type};
use crate::listing::{Listing, TypedListing};
use crate::read::LookupColumn;
use crate::stored::stored;

stored! {
    Erasure, id: ErasureKind, row: erasure;
    columns {
        id: IdColumn,
        employee_id: IdColumn,
        status: OneOfColumn,
        requested_at: Time,
        completed_at: Option<Time>,
        requester_type: TextColumn = erasure.requested_by.kind,
        requester_id: TextColumn = erasure.requested_by.id,
        counts: Json,
        out_of_reach: Json,
        tables_to_rewrite: Json,
        sealed_email: Option<Bytes>,
        index_clean_at: Option<Time>,
        kept_by_hold: Option<Int> = Some(erasure.kept_by_hold),
        resumes_at: Option<Time>,
    }
    derived { running_since: Option<Time> = erasure.continues_at() }
    fields {
        kept_by_hold: kept_by_hold.unwrap_or_default(),
        requested_by: Requester { kind: requester_type, id: requester_id },
    }
    table Table {
        indexes: &[Index::of_columns(&["requested_at", "id"])],
        ..Table::with_name("erasures")
    };
}

/// Lookup of the running erasures of all tenants, by the time from which they are continued.
pub const RUNNING: LookupColumn<Erasure> = LookupColumn::column("running_since", Type::Time);

/// List of `GET /erasures` (decision H4).
#[must_use]
pub fn list(sort: Sort, page: &PageRequest) -> TypedListing<Erasure> {
    Listing::new::<Erasure>(sort, page).into_list()
}

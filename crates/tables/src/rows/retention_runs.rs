//! Mapping of retention runs and their receipts, and their lists.

use candor_domain::id::RetentionRunKind;
use candor_domain::page::{PageRequest, Sort};
use candor_domain::retention::RetentionRun;

use crate::flat::{Index, Table};
use crate::listing::{Listing, TypedListing};
use crate::stored::stored;

stored! {
    RetentionRun, id: RetentionRunKind, row: run;
    columns {
        id: IdColumn,
        status: OneOfColumn,
        started_at: Time,
        completed_at: Option<Time>,
        applied: Json,
        counts: Json,
        out_of_reach: Json,
        tables_to_rewrite: Json,
        index_clean_at: Option<Time>,
    }
    table Table {
        indexes: &[Index::of_columns(&["started_at", "id"])],
        ..Table::with_name("retention_runs")
    };
}

/// List of `GET /retention/runs` (decision H5).
#[must_use]
pub fn list(sort: Sort, page: &PageRequest) -> TypedListing<RetentionRun> {
    Listing::new::<RetentionRun>(sort, page).into_list()
}

//! Pages of exported rows, rendered as lines.

use candor_domain::access::Tenant;
use candor_domain::assignment::Assignment;
use candor_domain::catalog::{Attribute, Department};
use candor_domain::conversation::{Conversation, Message};
use candor_domain::decision::Resource;
use candor_domain::export::{ExportPlace, ExportedResource};
use candor_domain::objective::{CheckIn, Family, Objective};
use candor_domain::observation::Observation;
use candor_domain::people::Employee;
use candor_domain::summary::Summary;
use candor_fair_share::large_work::PIECE_BYTES;
use candor_port_storage::StorageExt;
use candor_tables::flat::Stored;
use candor_tables::listing::TypedListing;
use tokio::task::yield_now;

use crate::context::error::Error;
use crate::context::list;
use crate::context::services::Services;

/// Number of rows of the first page of a resource, while the size of its rows is unknown.
pub(super) const FIRST_PAGE_ROWS: u16 = 250;
/// Maximum number of rows of a page: some milliseconds of work for a store.
const MAX_PAGE_ROWS: u16 = 2_000;
/// Size in bytes at which a page ends: a client that takes it slowly keeps no more in memory. Pages of larger rows have
/// fewer rows, so that two exports need less than 24 MB.
const PAGE_BYTES: usize = 2 * 1024 * 1024;

/// A page of rows as lines.
pub(super) struct RowPage {
    /// Lines of JSON, each with its line break.
    pub(super) text: Vec<u8>,
    /// Number of lines in `text`.
    pub(super) rows: u64,
    /// Number of rows that were read, including those of the other family of objectives.
    pub(super) read: u16,
    /// `true` if the page ends at [`PAGE_BYTES`], before its rows.
    pub(super) is_cut: bool,
    /// Id of the last row that was read.
    pub(super) last: Option<[u8; 16]>,
}

impl RowPage {
    /// Returns the maximum number of rows of the next page, by the size of the rows of this page. `most` is the limit
    /// by which this page was read, and `planned` the limit that the page before it gave.
    pub(super) fn next_page_rows(&self, most: u16, planned: u16) -> u16 {
        let Some(row_bytes) = u64::try_from(self.text.len()).unwrap_or(u64::MAX).checked_div(self.rows) else {
            return planned;
        };
        let fitting = PAGE_BYTES / usize::try_from(row_bytes).unwrap_or(usize::MAX).max(1);
        // At most doubled: the next rows may be larger.
        let most_next = planned.max(most).saturating_mul(2).min(MAX_PAGE_ROWS);
        u16::try_from(fitting).unwrap_or(MAX_PAGE_ROWS).clamp(1, most_next)
    }
}

/// Reads the rows behind a place, at most `most`, in a transaction of their own.
pub(super) async fn read(
    services: &Services,
    tenant: Tenant,
    place: ExportPlace,
    most: u16,
) -> Result<RowPage, Error> {
    let (at, in_family) = ((tenant, place, most), |family: Family| {
        move |objective: &Objective| family.scopes().contains(&objective.scope)
    });
    match place.resource {
        ExportedResource::Employees => page::<Employee>(services, at, |_| true).await,
        ExportedResource::Observations => page::<Observation>(services, at, |_| true).await,
        ExportedResource::EmployeeObjectives => page(services, at, in_family(Family::Employees)).await,
        ExportedResource::ManagerObjectives => page(services, at, in_family(Family::Managers)).await,
        ExportedResource::CheckIns => page::<CheckIn>(services, at, |_| true).await,
        ExportedResource::Summaries => page::<Summary>(services, at, |_| true).await,
        ExportedResource::Conversations => page::<Conversation>(services, at, |_| true).await,
        ExportedResource::Messages => page::<Message>(services, at, |_| true).await,
        ExportedResource::Assignments => page::<Assignment>(services, at, |_| true).await,
        ExportedResource::Departments => page::<Department>(services, at, |_| true).await,
        ExportedResource::Attributes => page::<Attribute>(services, at, |_| true).await,
    }
}

/// Reads rows of a table and renders the wanted ones. Like the rendering of a large page of a list, it waits for
/// the tenant's turn, and other requests of the thread run between its pieces.
async fn page<T: Resource + Stored>(
    services: &Services,
    (tenant, place, most): (Tenant, ExportPlace, u16),
    is_wanted: impl Fn(&T) -> bool,
) -> Result<RowPage, Error> {
    let rows = services.store.entries::<T>(tenant, TypedListing::after_id(place.id, most)).await?;
    let start = format!(r#"{{"type":"{}","data":"#, place.resource.line_type());
    let mut page = RowPage { text: Vec::with_capacity(PIECE_BYTES), rows: 0, read: 0, is_cut: false, last: None };
    let (mut piece_begins, mut turn) = (0, None);
    for row in rows {
        if page.text.len() >= PAGE_BYTES {
            page.is_cut = true;
            break;
        }
        page.read += 1;
        page.last = Some(row.value.key().to_bytes());
        if !is_wanted(&row.value) {
            continue;
        }
        page.rows += 1;
        page.text.extend_from_slice(start.as_bytes());
        list::write(&mut page.text, &row.value)?;
        page.text.extend_from_slice(b"}\n");
        if page.text.len() - piece_begins >= PIECE_BYTES {
            piece_begins = page.text.len();
            if turn.is_none() {
                turn = Some(services.large_work.turn(tenant).await?);
            }
            yield_now().await;
        }
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_of(rows: u64, bytes: usize) -> RowPage {
        RowPage { text: vec![b' '; bytes], rows, read: 250, is_cut: false, last: None }
    }

    #[test]
    fn pages_of_small_rows_grow_and_pages_of_large_rows_shrink() {
        assert_eq!(page_of(250, 250 * 500).next_page_rows(250, 250), 500);
        assert_eq!(page_of(1_500, 1_500 * 500).next_page_rows(1_500, 1_500), MAX_PAGE_ROWS);
        assert_eq!(page_of(250, 250 * 80_000).next_page_rows(250, 250), 26);
        assert_eq!(page_of(1, PAGE_BYTES * 2).next_page_rows(1, 1), 1);
        assert_eq!(page_of(0, 0).next_page_rows(250, 700), 700, "rows of the other family have no size");
    }
}

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

/// Maximum number of rows that one statement reads. The size of the next rows is unknown, and a person may have 140 KB.
pub(super) const MAX_READ_ROWS: u16 = 100;
/// Maximum number of rows of a page: some milliseconds of work for a store.
pub(super) const MAX_PAGE_ROWS: u16 = 2_000;
/// Size in bytes at which a page ends: a client that takes it slowly keeps no more in memory.
const PAGE_BYTES: usize = 2 * 1024 * 1024;

/// A page of rows as lines.
pub(super) struct RowPage {
    /// Lines of JSON, each with its line break.
    pub(super) text: Vec<u8>,
    /// Number of lines in `text`.
    pub(super) rows: u64,
    /// Number of rows that were read, including those of the other family of objectives.
    pub(super) read: u16,
    /// `true` if no row follows.
    pub(super) is_last: bool,
    /// Id of the last row that was read.
    pub(super) last: Option<[u8; 16]>,
    /// Maximum number of rows of the next statement, by the size of the rows so far.
    pub(super) next_read: u16,
}

impl RowPage {
    /// Returns the number of rows that fill the page, by the size of its rows, and at least 1.
    fn rows_to_fill(&self) -> u16 {
        let text_bytes = u64::try_from(self.text.len()).unwrap_or(u64::MAX);
        let Some(row_bytes) = text_bytes.checked_div(self.rows) else { return MAX_READ_ROWS };
        let fitting = PAGE_BYTES / usize::try_from(row_bytes).unwrap_or(usize::MAX).max(1);
        u16::try_from(fitting).unwrap_or(MAX_READ_ROWS).clamp(1, MAX_READ_ROWS)
    }
}

/// Reads the rows behind a place: at most `most`, and no more once their lines have [`PAGE_BYTES`]. A statement reads at
/// most `next_read` rows, or more after smaller ones.
pub(super) async fn read(
    services: &Services,
    tenant: Tenant,
    place: ExportPlace,
    (most, next_read): (u16, u16),
) -> Result<RowPage, Error> {
    let (at, in_family) = ((tenant, place, most, next_read), |family: Family| {
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
    (tenant, place, most, next_read): (Tenant, ExportPlace, u16, u16),
    is_wanted: impl Fn(&T) -> bool,
) -> Result<RowPage, Error> {
    let start = format!(r#"{{"type":"{}","data":"#, place.resource.line_type());
    let text = Vec::with_capacity(PIECE_BYTES);
    let mut page = RowPage { text, rows: 0, read: 0, is_last: false, last: None, next_read };
    let (mut piece_begins, mut turn) = (0, None);
    while page.read < most {
        let limit = page.next_read.min(most - page.read);
        let last_id = page.last.unwrap_or(place.id);
        let rows = services.store.entries::<T>(tenant, TypedListing::after_id(last_id, limit)).await?;
        page.is_last = rows.len() < usize::from(limit);
        for row in rows {
            if page.text.len() >= PAGE_BYTES {
                page.is_last = false;
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
        page.next_read = page.rows_to_fill();
        if page.is_last || page.text.len() >= PAGE_BYTES {
            break;
        }
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_reads_few_large_rows_and_a_hundred_small_ones() {
        let rows_to_fill = |rows, bytes| {
            let text = vec![b' '; bytes];
            RowPage { text, rows, read: 0, is_last: false, last: None, next_read: 0 }.rows_to_fill()
        };
        assert_eq!(rows_to_fill(100, 100 * 500), MAX_READ_ROWS);
        assert_eq!(rows_to_fill(26, 26 * 80_000), 26);
        assert_eq!(rows_to_fill(1, PAGE_BYTES * 2), 1);
        assert_eq!(rows_to_fill(0, 0), MAX_READ_ROWS, "rows of the other family have no size");
    }
}

//! Exports: every resource of a data set as lines, in parts that a cursor continues (decision H1).
//!
//! An export holds no transaction: each page of rows is read on its own, along the primary key. The position of
//! the feed is read first. A row that changes later has an event behind that position.

mod rows;
mod sealed_cursor;

use std::sync::Arc;

use bytes::Bytes;
use candor_domain::access::{Permission, Tenant};
use candor_domain::audit::{AuditDraft, Change};
use candor_domain::event::{FeedFilter, FeedStart, oldest_in_feed};
use candor_domain::export::{
    ExportCheckpoint, ExportCounts, ExportCursor, ExportEnd, ExportHeader, ExportPlace, ExportRequest,
    ExportedResource,
};
use candor_domain::fields::StringEnum;
use candor_domain::id::RequestId;
use candor_domain::params::Params;
use candor_domain::time::Timestamp;
use candor_port_storage::ChangeSet;
use metrics::counter;
use serde::Serialize;

use crate::context::error::Error;
use crate::context::export_permits::ExportPermit;
use crate::context::line_key::LineKey;
use crate::context::list;
use crate::context::request::RequestContext;
use crate::context::services::Services;
use crate::usecases::{events, organization};

/// Counter metric of the exported rows.
const ROWS: &str = "candor_export_rows_total";
/// Counter metric of the ended exports.
const ENDED: &str = "candor_exports_total";

/// A running export. Its lines are read as the client takes them.
pub struct Export {
    services: Arc<Services>,
    tenant: Tenant,
    request: RequestId,
    key: LineKey,
    resources: Vec<ExportedResource>,
    /// The point behind the lines that were returned.
    cursor: ExportCursor,
    counts: ExportCounts,
    stage: Stage,
    /// Number of rows read since the last checkpoint. Includes objectives that were read and left out because they are of
    /// another family than the exported one.
    unmarked: u16,
    /// Maximum number of rows that the next statement reads.
    next_read: u16,
    permit: ExportPermit,
}

/// The next lines of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Header,
    Rows,
    Complete,
}

/// `GET /exports`: begins an export, or continues one from a checkpoint.
///
/// # Errors
/// Invalid parameters, no admin-level key of the organization, too many running exports; see [`Error`].
pub async fn begin(context: &RequestContext, params: Params) -> Result<Export, Error> {
    let request = read(context, params)?;
    let tenant = context.caller.tenant;
    let permit = context.services.export_permits.take(tenant.organization).ok_or(Error::TooManyExports)?;
    let is_continued = request.from.is_some();
    let action = if is_continued { "organization.continue_export" } else { "organization.export" };
    let started_at = record(context, &request.resources, action).await?;
    let cursor = match request.from {
        Some(cursor) => cursor,
        None => first_cursor(&context.services, tenant, &request.resources, started_at).await?,
    };
    Ok(Export {
        services: Arc::clone(&context.services),
        tenant,
        request: context.request,
        key: LineKey::new(context, &[Permission::ExportsRead]),
        counts: ExportCounts::zero(&request.resources),
        resources: request.resources,
        cursor,
        stage: Stage::Header,
        unmarked: 0,
        next_read: rows::MAX_READ_ROWS,
        permit,
    })
}

/// `HEAD /exports`: checks a request for an export without beginning one.
///
/// # Errors
/// Invalid parameters, no admin-level key of the organization; see [`Error`].
pub fn check(context: &RequestContext, params: Params) -> Result<(), Error> {
    read(context, params).map(drop)
}

fn read(context: &RequestContext, params: Params) -> Result<ExportRequest, Error> {
    let tenant = context.caller.tenant;
    let open = |text: &str| sealed_cursor::open(&context.services, tenant, text);
    let request =
        params.parse(|params| ExportRequest::read(params, tenant, context.services.clock.now(), open))?;
    context.authorize()?;
    Ok(request)
}

/// Records the beginning or the continuation of an export in the audit log, and returns the time of the entry.
async fn record(
    context: &RequestContext,
    resources: &[ExportedResource],
    action: &'static str,
) -> Result<Timestamp, Error> {
    let tenant = context.caller.tenant;
    let now = context.services.clock.now();
    let organization = organization::load(context).await?.value;
    let mut audit = AuditDraft::new(&organization, action);
    let words: Vec<_> = resources.iter().map(|resource| resource.word()).collect();
    audit.changes.insert("resources".to_owned(), Change::from_null(&words));
    let change = ChangeSet::new(context.audit(context.services.id(now), audit, now));
    context.services.save(tenant, change).await?;
    Ok(now)
}

/// Returns the point before the first row of a new export.
async fn first_cursor(
    services: &Services,
    tenant: Tenant,
    resources: &[ExportedResource],
    at: Timestamp,
) -> Result<ExportCursor, Error> {
    // Read from the primary, as the rows are: a standby could be behind this position.
    let page = services.store.feed(tenant, &FeedFilter::default(), oldest_in_feed(at), &FeedStart::Now, 1).await?;
    let events = page.next.unwrap_or(events::START);
    let first = resources.first().copied().unwrap_or(ExportedResource::Employees);
    Ok(ExportCursor { started_at: at, events, place: ExportPlace::start_of(first) })
}

impl Export {
    /// Returns the next whole lines; `None` after the last line.
    ///
    /// # Errors
    /// [`Error::Refused`] if the key was revoked, has expired or lost its rights. Errors of the store: a client
    /// can then continue from a checkpoint. In both cases the export ends without its last line.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        match self.stage {
            Stage::Header => {
                self.stage = Stage::Rows;
                let mut text = vec![];
                line(&mut text, &ExportHeader::new(&self.cursor, &self.resources))?;
                Ok(Some(text.into()))
            }
            Stage::Rows => self.page().await.map(Some),
            Stage::Complete => Ok(None),
        }
    }

    /// Reads the next page of rows. A checkpoint follows the rows if one is due; the last line follows the last page.
    async fn page(&mut self) -> Result<Bytes, Error> {
        self.key.check(&self.services).await?;
        let checkpoint_rows = self.services.settings.export_checkpoint_rows;
        let most = checkpoint_rows.saturating_sub(self.unmarked).clamp(1, rows::MAX_PAGE_ROWS);
        let place = self.cursor.place;
        // Ends with the page: a client that takes the page slowly keeps no turn.
        let _turn = self.permit.read_turn().await?;
        let mut page = rows::read(&self.services, self.tenant, place, (most, self.next_read)).await?;
        self.counts.add(place.resource, page.rows);
        counter!(ROWS).increment(page.rows);
        self.unmarked = self.unmarked.saturating_add(page.read);
        self.next_read = page.next_read;
        if let Some(id) = page.last {
            self.cursor.place.id = id;
        }
        if page.is_last {
            let Some(next) = self.resource_after(place.resource) else {
                self.stage = Stage::Complete;
                line(&mut page.text, &ExportEnd::new(self.counts.clone()))?;
                return Ok(page.text.into());
            };
            self.cursor.place = ExportPlace::start_of(next);
            self.next_read = rows::MAX_READ_ROWS;
        }
        if self.unmarked >= checkpoint_rows {
            self.unmarked = 0;
            let text = self.cursor.to_text(self.tenant, &self.resources);
            let sealed_text = sealed_cursor::seal(&self.services, self.tenant, &text)?;
            line(&mut page.text, &ExportCheckpoint::new(sealed_text))?;
        }
        Ok(page.text.into())
    }

    fn resource_after(&self, resource: ExportedResource) -> Option<ExportedResource> {
        self.resources.iter().copied().find(|next| *next > resource)
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        let outcome = if self.stage == Stage::Complete { "complete" } else { "cut" };
        counter!(ENDED, "outcome" => outcome).increment(1);
        let (rows, organization) = (self.counts.total(), self.tenant.organization);
        tracing::info!(request_id = %self.request, organization_id = %organization, rows, outcome, "an export ended");
    }
}

/// Appends a value as a line of JSON.
fn line(out: &mut Vec<u8>, value: &impl Serialize) -> Result<(), Error> {
    list::write(out, value)?;
    out.push(b'\n');
    Ok(())
}

//! Exports of whole data sets (decision H1).

use candor_domain::access::{Access, Permission, QuotaClass, Tenant};
use candor_domain::export::{ExportLine, ExportRequest, ExportRow, ExportedResource};
use candor_domain::id::OrganizationId;
use candor_domain::time::Timestamp;
use candor_service::usecases::exports;
use candor_service::usecases::line_stream::LineStream;

use crate::contract::request::AuthenticatedRequest;
use crate::contract::route::{LineWork, Query, Route, RouteGroup};
use crate::contract::schema::shapes::Member;
use crate::contract::schema::words::{enum_member, enumeration};
use crate::contract::schema::{Schema, response_of};

const ROUTES: &[Route] =
    &[Route::lines("/exports", Access::organization_admin(Permission::ExportsRead).live_only(), begin)
        .with_name("exportData", "Export all resources as NDJSON")
        .description(
            "Returns every resource of the organization, archived ones included, as lines of JSON (NDJSON). \
             The first line is a `header` with `events_cursor`, the position of `GET /events` before the first \
             row. A line for each row follows, ordered by resource and id, and a `checkpoint` after every \
             10,000 rows. The last line is `end`, with the number of rows; without it the export is not \
             complete. If a response is interrupted, send the request again with the `cursor` of the last \
             checkpoint. The rows, and then every event from `events_cursor` on, result in the current data. \
             Two exports of an organization can run at the same time. A client that reads less than 64 kB in \
             10 seconds is disconnected.",
        )
        .with(Query::one(|input| {
            drop(ExportRequest::read(input, Tenant::live(OrganizationId::from_bytes([0; 16])), AT, |_| None));
        }))
        .counts_as(QuotaClass::Export)
        .answers_lines(&EXPORT_LINE)];

/// The single route of exports.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::new("Exports", "Whole data sets, for copies in other systems.", ROUTES).words(words);

/// Time for the parser that is run only to describe its parameters, which do not depend on the clock.
const AT: Timestamp = Timestamp::from_millis(0);

const EXPORT_LINE: Schema = Schema::new("ExportLine", response_of::<ExportLine>).outcome(
    "Lines of JSON. The schema describes one line. Ignore lines of other types, which later versions may have.",
);

fn begin(request: AuthenticatedRequest<'_>, is_head: bool) -> LineWork<'_> {
    Box::pin(async move {
        if is_head {
            exports::check(&request.context, request.params)?;
            return Ok(None);
        }
        exports::begin(&request.context, request.params)
            .await
            .map(|export| Some(LineStream::Export(Box::new(export))))
    })
}

fn words() -> Vec<Member> {
    vec![
        enum_member::<ExportedResource>("Resources that an export can contain."),
        enumeration(ExportRow::TYPES_NAME, &ExportRow::types(), "Types of the rows of an export."),
    ]
}

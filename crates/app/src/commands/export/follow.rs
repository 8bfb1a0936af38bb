//! Keeps the files of a complete export current: appends the state of each changed resource.

use std::path::Path;
use std::time::Duration;

use candor_client::{Candor, Method};
use candor_domain::export::ExportedResource;
use candor_domain::id::{
    AssignmentKind, AttributeKind, ConversationKind, DepartmentKind, EmployeeKind, Kind, MessageKind,
    ObjectiveKind, ObservationKind, SummaryKind,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::failure::ExportFailure;
use super::files::ExportFiles;
use super::manifest::Manifest;
use crate::error::Error;
use crate::remote::RemoteFailure;

/// Pause after a page that ended with the newest event.
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);
/// Upper bound of the pauses while no event happens or the service fails.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Maximum number of events of one page.
const PAGE: &str = "100";

/// A page of the feed, with the resources as they arrived.
#[derive(Deserialize)]
struct Page {
    data: Vec<Event>,
    next_cursor: Option<String>,
    has_more: bool,
}

#[derive(Deserialize)]
struct Event {
    data: Box<RawValue>,
}

/// The members of a resource that tell its type.
#[derive(Deserialize)]
struct Subject<'a> {
    #[serde(borrow)]
    id: Option<&'a str>,
    #[serde(borrow)]
    scope: Option<&'a str>,
}

/// Follows the feed from the cursor of the manifest, without an end.
///
/// # Errors
/// A service that refuses, such as a cursor that is older than the feed; files that cannot be written.
pub(super) async fn run(candor: &Candor, folder: &Path, mut manifest: Manifest) -> Result<(), Error> {
    let mut files = ExportFiles::open(folder, &manifest, false)?;
    let mut pause = Duration::ZERO;
    loop {
        let request =
            candor.request(Method::GET, "/events").query("limit", PAGE).query("cursor", &*manifest.cursor);
        match request.send().await {
            Ok(response) => {
                let page: Page = serde_json::from_slice(&response.data).map_err(ExportFailure::unreadable)?;
                pause = match (page.has_more, page.data.is_empty()) {
                    (true, _) => Duration::ZERO,
                    (false, false) => SHORTEST_PAUSE,
                    (false, true) => grown(pause),
                };
                for event in &page.data {
                    if let Some(resource) = resource(&event.data) {
                        files.append(resource.line_type(), &event.data)?;
                    }
                }
                if let Some(cursor) = page.next_cursor.filter(|cursor| *cursor != manifest.cursor) {
                    manifest.cursor = cursor;
                    files.save(&mut manifest)?;
                    manifest.write(folder)?;
                }
            }
            Err(error) if error.is_transient() => pause = grown(pause),
            Err(error) => return Err(RemoteFailure::calling("follow the events")(error).into()),
        }
        tokio::time::sleep(pause).await;
    }
}

fn grown(pause: Duration) -> Duration {
    (pause * 2).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
}

/// Returns the exported resource that the data of an event is, or `None` if exports do not have it.
fn resource(data: &RawValue) -> Option<ExportedResource> {
    let subject: Subject<'_> = serde_json::from_str(data.get()).ok()?;
    let prefix = subject.id?.split('_').next()?;
    let is_of = |other: &str| prefix == other;
    Some(match prefix {
        _ if is_of(EmployeeKind::PREFIX) => ExportedResource::Employees,
        _ if is_of(ObservationKind::PREFIX) => ExportedResource::Observations,
        _ if is_of(ObjectiveKind::PREFIX) && subject.scope == Some("employee") => {
            ExportedResource::EmployeeObjectives
        }
        _ if is_of(ObjectiveKind::PREFIX) => ExportedResource::ManagerObjectives,
        _ if is_of(SummaryKind::PREFIX) => ExportedResource::Summaries,
        _ if is_of(ConversationKind::PREFIX) => ExportedResource::Conversations,
        _ if is_of(MessageKind::PREFIX) => ExportedResource::Messages,
        _ if is_of(AssignmentKind::PREFIX) => ExportedResource::Assignments,
        _ if is_of(DepartmentKind::PREFIX) => ExportedResource::Departments,
        _ if is_of(AttributeKind::PREFIX) => ExportedResource::Attributes,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_of_an_event_follows_from_its_id_and_scope() {
        let of = |text: &str| resource(&RawValue::from_string(text.to_owned()).unwrap());
        assert_eq!(of(r#"{"id":"msg_1"}"#), Some(ExportedResource::Messages));
        assert_eq!(of(r#"{"id":"obj_1","scope":"employee"}"#), Some(ExportedResource::EmployeeObjectives));
        assert_eq!(of(r#"{"id":"obj_1","scope":"org"}"#), Some(ExportedResource::ManagerObjectives));
        assert_eq!(of(r#"{"id":"whk_1"}"#), None);
        assert_eq!(of(r#"{"message":"a test"}"#), None);
    }
}

//! Managers who arrive after the people that they manage.

use super::document::UserDocument;
use super::matching::UserIdentity;
use super::provision::reference;
use crate::decision::Decision;
use crate::id::EmployeeId;
use crate::people::connector::{IssueDraft, IssueKind, ScimLink};
use crate::people::{Employee, Patch, References, ReportingLine, Status};
use crate::time::Timestamp;

/// The change of a person whose manager arrives.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedManager {
    /// The new manager; `None` if the stored manager stays.
    pub decision: Option<Decision<Employee>>,
    /// The link without the pending reference.
    pub link: ScimLink,
    /// The issue of a manager who reports to the person.
    pub issue: Option<IssueDraft>,
}

/// Sets the manager of a person who waits for them.
#[must_use]
pub fn resolve_manager(
    person: &Employee,
    link: &ScimLink,
    manager: EmployeeId,
    is_below: bool,
    at: Timestamp,
) -> ResolvedManager {
    let updated_at = at.strictly_after(link.updated_at);
    let mut link = ScimLink { manager_ref: None, updated_at, ..link.clone() };
    if is_below {
        let message = format!("The manager {manager} reports to the person. The stored manager stays.");
        let issue = UserIdentity::from_link(&link).issue(IssueKind::ReportingCycle, message);
        return ResolvedManager { decision: None, link, issue: Some(issue) };
    }
    let kept = UserDocument::from_stored(std::mem::take(&mut link.extra)).without(&[], &["manager"]);
    link.extra = kept.to_object();
    let patch = Patch { manager: Some(Some(reference(manager))), ..Patch::default() };
    let found = References {
        manager: Some(ReportingLine { status: Status::Active, is_below: false }),
        acting: person.connector_id,
        ..References::default()
    };
    let decision = person.update(&patch, &found, at).ok().flatten();
    ResolvedManager { decision, link, issue: None }
}

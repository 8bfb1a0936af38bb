//! Managers who arrive after the people that they manage.

use candor_domain::decision::Decision;
use candor_domain::id::EmployeeId;
use candor_domain::people::MAX_REPORTING_DEPTH;
use candor_domain::people::{Employee, Patch, References, ReportingLine, Status};
use candor_domain::time::Timestamp;
use candor_scim::UserDocument;

use super::matching::UserIdentity;
use super::provision::reference;
use crate::connector::{ExtraAttributes, IssueDraft, IssueKind, ScimLink};

/// The change of a person whose manager arrives.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedManager {
    /// The change that sets the person's manager; `None` if the stored manager stays.
    pub decision: Option<Decision<Employee>>,
    /// The link without the pending reference.
    pub link: ScimLink,
    /// The issue of a manager who is not set, because they report to the person or would put too many managers above a
    /// person.
    pub issue: Option<IssueDraft>,
}

/// Sets the manager of a person whose link waits for this manager. `depth` is as in [`ReportingLine::depth`].
#[must_use]
pub fn resolve_manager(
    person: &Employee,
    link: &ScimLink,
    manager: EmployeeId,
    is_below: bool,
    depth: u32,
    at: Timestamp,
) -> ResolvedManager {
    let updated_at = at.strictly_after(link.updated_at);
    let mut link = ScimLink { manager_ref: None, updated_at, ..link.clone() };
    let refusal = if is_below {
        Some((IssueKind::ReportingCycle, format!("The manager {manager} reports to the person.")))
    } else if depth > MAX_REPORTING_DEPTH {
        let problem =
            format!("The manager {manager} would put more than {MAX_REPORTING_DEPTH} managers above a person.");
        Some((IssueKind::TooDeep, problem))
    } else {
        None
    };
    if let Some((kind, problem)) = refusal {
        let message = format!("{problem} The stored manager stays.");
        let issue = UserIdentity::from_link(&link).issue(kind, message);
        return ResolvedManager { decision: None, link, issue: Some(issue) };
    }
    if let ExtraAttributes::Known(attributes) = link.extra {
        link.extra = UserDocument::from_stored(attributes).without_attributes(&[], &["manager"]).into();
    }
    let patch = Patch { manager: Some(Some(reference(manager))), ..Patch::default() };
    let references = References {
        manager: Some(ReportingLine { status: Status::Active, is_below: false, depth: 1 }),
        acting: person.connector_id,
        ..References::default()
    };
    let decision = person.update(&patch, &references, at).ok().flatten();
    ResolvedManager { decision, link, issue: None }
}

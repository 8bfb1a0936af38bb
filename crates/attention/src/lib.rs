//! Attention: resources that wait for a person, each with the reason (decision A21).

mod matters;

pub use matters::{
    EXPIRES_WITHIN_DAYS, QUIET_DAYS, bound_ends, filter_awaited, filter_quiet, find_return_reasons, of_assignment,
    of_connector, of_key, of_objective, of_returned_draft, of_returned_objective, of_shared_summary, of_summary,
    of_webhook,
};

use std::collections::BTreeMap;
use std::fmt::Display;

use candor_domain::access::{Access, Caller, Permission};
use candor_domain::fields::string_enum;
use candor_domain::id::EmployeeId;
use candor_domain::time::{Date, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

/// Maximum number of matters of one kind. A person who has more looks at the list of the resource.
pub const MAX_OF_KIND: u16 = 20;

/// The reason why a resource waits for a person. The order is that of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum AttentionKind {
    /// A subscription is inactive.
    WebhookInactive,
    /// The newest delivery of a subscription failed.
    WebhookFailing,
    /// The brake paused a connector.
    ConnectorPaused,
    /// Rows of the newest sync of a connector were not applied.
    ConnectorFailing,
    /// An API key expires within [`EXPIRES_WITHIN_DAYS`].
    ApiKeyExpiring,
    /// An objective of the caller's person was sent back.
    ObjectiveReturned,
    /// A draft of the caller's person was sent back.
    SummaryReturned,
    /// An assignment asks the caller's person for feedback.
    FeedbackRequested,
    /// A summary was shared with the caller's person, who has not answered.
    SummaryShared,
    /// An objective waits for a review.
    ObjectiveInReview,
    /// A summary waits for a review.
    SummaryInReview,
    /// The due date of an open assignment has passed.
    AssignmentOverdue,
    /// An objective in progress has no check-in of the last [`QUIET_DAYS`].
    ObjectiveQuiet,
}

string_enum!(AttentionKind, "AttentionKind");

impl AttentionKind {
    /// Returns the access to the resources of this kind, which is that of their list.
    const fn access(self) -> Access {
        match self {
            Self::WebhookInactive | Self::WebhookFailing => Access::scope(Permission::WebhooksRead).full_sight(),
            Self::ConnectorPaused | Self::ConnectorFailing | Self::ApiKeyExpiring => {
                Access::settings_admin(Permission::SettingsRead).live_only()
            }
            Self::ObjectiveReturned | Self::ObjectiveInReview | Self::ObjectiveQuiet => {
                Access::scope(Permission::ObjectivesRead)
            }
            Self::SummaryReturned | Self::SummaryShared | Self::SummaryInReview => {
                Access::scope(Permission::SummariesRead)
            }
            Self::FeedbackRequested | Self::AssignmentOverdue => Access::scope(Permission::AssignmentsRead),
        }
    }

    /// Returns `true` if the kind is about the caller's own person.
    const fn is_personal(self) -> bool {
        match self {
            Self::ObjectiveReturned | Self::SummaryReturned | Self::FeedbackRequested | Self::SummaryShared => {
                true
            }
            Self::WebhookInactive
            | Self::WebhookFailing
            | Self::ConnectorPaused
            | Self::ConnectorFailing
            | Self::ApiKeyExpiring
            | Self::ObjectiveInReview
            | Self::SummaryInReview
            | Self::AssignmentOverdue
            | Self::ObjectiveQuiet => false,
        }
    }

    /// Returns `true` if the kind quotes the reason of a notification.
    const fn quotes_notification(self) -> bool {
        matches!(self, Self::ObjectiveReturned | Self::SummaryReturned)
    }

    /// Returns `true` if the caller gets matters of this kind: a caller who may read the list of the resources. Kinds
    /// about the caller's own person are for keys that act for a person.
    #[must_use]
    pub fn is_open_to(self, caller: &Caller) -> bool {
        let may_quote = !self.quotes_notification() || caller.scopes.has(Permission::NotificationsRead);
        self.access().check(caller).is_ok() && may_quote && (!self.is_personal() || caller.bound_to().is_some())
    }
}

/// A resource that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Matter {
    /// Reason why the resource waits.
    pub kind: AttentionKind,
    /// Id of the resource.
    pub id: String,
    /// Path of the resource below `/v1`, for example `/manager-objectives/obj_01KJPWD6M1B7H3XQ5T0C9R2EVA`.
    pub path: String,
    /// Title of the resource: the URL of a subscription, the name of a key or of an HR system.
    pub title: String,
    /// Person that the resource is about, or the owner of an objective. Null for other resources.
    pub employee_id: Option<EmployeeId>,
    /// First and last name of this person. Null without a person, and without `employees:read`.
    pub employee_name: Option<String>,
    /// Time of the delivery, sync, pause, submission, share or check-in, or the time at which a key expires. Null if there
    /// was none.
    pub at: Option<Timestamp>,
    /// Due date of an assignment. Null if there is none, and for other resources.
    pub due_date: Option<Date>,
    /// Reason with which a resource was sent back. Null for other kinds.
    pub reason: Option<String>,
}

impl Matter {
    /// Creates a matter of the resource with this id in this collection, such as `/webhooks`.
    pub fn new(kind: AttentionKind, id: impl Display, collection: &str, title: impl Into<String>) -> Self {
        Self {
            kind,
            path: format!("{collection}/{id}"),
            id: id.to_string(),
            title: title.into(),
            employee_id: None,
            employee_name: None,
            at: None,
            due_date: None,
            reason: None,
        }
    }

    /// Returns the matter with its time.
    #[must_use]
    pub fn with_time(self, at: Option<Timestamp>) -> Self {
        Self { at, ..self }
    }
}

/// The matters of some kinds, as far as they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartOfAttention {
    /// Kinds that were looked for.
    pub kinds: &'static [AttentionKind],
    /// The matters, the most urgent of each kind first.
    pub matters: Vec<Matter>,
    /// `true` if resources were left unread.
    pub has_more: bool,
}

/// Number of matters of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KindCount {
    /// AttentionKind of the matters.
    pub kind: AttentionKind,
    /// Number of matters of this kind in `data`: at most 20.
    pub count: usize,
    /// `true` if there may be more of them.
    pub has_more: bool,
}

/// Everything that waits for a caller, the most urgent first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Attention {
    /// The matters, in the order of `kinds`.
    pub data: Vec<Matter>,
    /// Each kind that the key may see, also those without a matter.
    pub kinds: Vec<KindCount>,
}

impl Attention {
    /// Joins parts: the first [`MAX_OF_KIND`] matters of each kind.
    #[must_use]
    pub fn from_parts(parts: Vec<PartOfAttention>) -> Self {
        let mut by_kind: BTreeMap<AttentionKind, (Vec<Matter>, bool)> = BTreeMap::new();
        for PartOfAttention { kinds, matters, has_more } in parts {
            for kind in kinds {
                by_kind.entry(*kind).or_default().1 |= has_more;
            }
            for matter in matters {
                by_kind.entry(matter.kind).or_default().0.push(matter);
            }
        }
        let mut attention = Self { data: vec![], kinds: vec![] };
        for (kind, (mut matters, mut has_more)) in by_kind {
            has_more |= matters.len() > MAX_OF_KIND.into();
            matters.truncate(MAX_OF_KIND.into());
            attention.kinds.push(KindCount { kind, count: matters.len(), has_more });
            attention.data.extend(matters);
        }
        attention
    }

    /// Adds the names of people.
    pub fn name_people(&mut self, name: impl Fn(EmployeeId) -> Option<String>) {
        for matter in &mut self.data {
            matter.employee_name = matter.employee_id.and_then(&name);
        }
    }
}

#[cfg(test)]
mod tests;

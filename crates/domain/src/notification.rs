//! Notifications in the application: their recipients, their texts, and the time of the first reading (decisions G).

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::access::{Caller, PermissionError};
use crate::audit::Target;
use crate::decision::Resource;
use crate::fields::{Fields, Reference, string_enum};
use crate::id::{EmployeeId, EmployeeKind, NotificationId, NotificationKind};
use crate::json::Object;
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::params::{self, ListRequest, Params};
use crate::problem::ValidationErrors;
use crate::rule::{self, Field};
use crate::time::Timestamp;

/// The reason for a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
pub enum Type {
    /// An objective waits for a review.
    #[strum(to_string = "objective.submitted")]
    ObjectiveSubmitted,
    /// An objective was approved.
    #[strum(to_string = "objective.approved")]
    ObjectiveApproved,
    /// An objective was sent back, with the reason.
    #[strum(to_string = "objective.rejected")]
    ObjectiveRejected,
    /// An approved objective was changed by a caller who may not approve it.
    #[strum(to_string = "objective.changed")]
    ObjectiveChanged,
    /// A reviewer was asked for feedback.
    #[strum(to_string = "assignment.requested")]
    AssignmentRequested,
    /// The required number of reviewers have submitted feedback.
    #[strum(to_string = "assignment.completed")]
    AssignmentCompleted,
    /// A participant wrote a message in a conversation.
    #[strum(to_string = "conversation.message")]
    ConversationMessage,
    /// A summary waits for a review.
    #[strum(to_string = "summary.pending_review")]
    SummaryPendingReview,
    /// A summary was changed during its review by a person, who may not approve it then.
    #[strum(to_string = "summary.changed")]
    SummaryChanged,
    /// A summary was sent back, with the reason.
    #[strum(to_string = "summary.returned")]
    SummaryReturned,
    /// A summary was shared with the person it is about.
    #[strum(to_string = "summary.shared")]
    SummaryShared,
    /// The person that a summary is about gave feedback on it.
    #[strum(to_string = "summary.feedback_submitted")]
    SummaryFeedbackSubmitted,
    /// A webhook subscription was disabled, because its deliveries kept failing or its receiver is gone.
    #[strum(to_string = "webhook.disabled")]
    WebhookDisabled,
    /// An API key expires soon.
    #[strum(to_string = "api_key.expiring")]
    ApiKeyExpiring,
    /// A sync of an HR system applied no row, or a request of an identity provider was refused.
    #[strum(to_string = "connector.sync_failed")]
    ConnectorSyncFailed,
    /// A connector was paused because its provider deactivated many people.
    #[strum(to_string = "connector.paused")]
    ConnectorPaused,
}

string_enum!(Type, "NotificationType");

impl Type {
    /// Returns `true` if the notification is about its recipient: about an objective that they own, or a summary about
    /// them.
    #[must_use]
    pub const fn is_about_recipient(self) -> bool {
        match self {
            Self::ObjectiveApproved | Self::ObjectiveRejected | Self::SummaryShared => true,
            Self::ObjectiveSubmitted
            | Self::ObjectiveChanged
            | Self::AssignmentRequested
            | Self::AssignmentCompleted
            | Self::ConversationMessage
            | Self::SummaryPendingReview
            | Self::SummaryChanged
            | Self::SummaryReturned
            | Self::SummaryFeedbackSubmitted
            | Self::WebhookDisabled
            | Self::ApiKeyExpiring
            | Self::ConnectorSyncFailed
            | Self::ConnectorPaused => false,
        }
    }
}

/// The recipients of a notice by role, resolved to people at commit time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recipients {
    /// One person, by id.
    Person(EmployeeId),
    /// The manager of this person; the org admins if there is no manager or the manager has left.
    ManagerOf(EmployeeId),
    /// Every active org admin.
    OrgAdmins,
}

/// A notice that a decision asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The reason for the notice.
    pub kind: Type,
    /// The recipients of the notice.
    pub to: Recipients,
    /// Text for display, in one line.
    pub title: String,
    /// Details, e.g. a reason.
    pub body: String,
    /// The resource that the notice is about.
    pub target: Target,
}

/// A notice sent to one person, as it is stored. Responses have [`VisibleNotification`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the members are those of a visible notification")]
pub struct Notification {
    pub id: NotificationId,
    pub recipient_id: EmployeeId,
    #[serde(rename = "type")]
    pub kind: Type,
    pub title: String,
    pub body: String,
    pub target: Target,
    pub created_at: Timestamp,
    pub read_at: Option<Timestamp>,
}

/// A notice sent to one person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Notification")]
pub struct VisibleNotification<'a> {
    /// Id of the notification, with the prefix `ntf_`.
    pub id: NotificationId,
    /// Recipient of the notification.
    pub recipient_id: EmployeeId,
    /// Type of the notification.
    #[serde(rename = "type")]
    pub kind: Type,
    /// One line of text, for display. Null for a key that may not read the target, or does not see it.
    pub title: Option<&'a str>,
    /// Further text, for example a reason. May be empty. Null for a key that may not read the target, or does not see it.
    pub body: Option<&'a str>,
    /// Resource that the notification links to.
    pub target: VisibleTarget<'a>,
    /// Time of the notification.
    pub created_at: Timestamp,
    /// Time at which the notification was first marked as read. Null if unread.
    pub read_at: Option<Timestamp>,
}

/// The resource that a notification links to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline, title = "NotificationTarget")]
pub struct VisibleTarget<'a> {
    /// Kind of resource, for example `objective`.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// Id of the resource. Null for a key that does not see the resource, or no longer sees it.
    pub id: Option<&'a str>,
}

/// Retention of a notification after it was read, in days.
pub const READ_DAYS: i64 = 90;
/// Default retention of an unread notification, in days.
pub const UNREAD_DAYS: i64 = 365;

/// Maximum length of an excerpt, in characters, without the ellipsis. Many notifications may quote one text, so
/// the limit bounds storage.
const EXCERPT_CHARS: usize = 200;
/// Maximum number of notifications that one `POST /notifications/read_all` marks as read, the oldest first.
pub const MAX_READ_AT_ONCE: u16 = 1_000;

/// Returns the beginning of a text, with an ellipsis if the text was truncated.
#[must_use]
pub fn excerpt(text: &str) -> String {
    let mut excerpt: String = text.chars().take(EXCERPT_CHARS).collect();
    if excerpt.len() < text.len() {
        excerpt.push('…');
    }
    excerpt
}

impl Notice {
    /// Creates the notification of one recipient.
    #[must_use]
    pub fn for_recipient(&self, id: NotificationId, recipient_id: EmployeeId, at: Timestamp) -> Notification {
        Notification {
            id,
            recipient_id,
            kind: self.kind,
            title: self.title.clone(),
            body: self.body.clone(),
            target: self.target.clone(),
            created_at: at,
            read_at: None,
        }
    }
}

impl Notification {
    /// Returns `true` if the caller sees the notification: a bound key sees only notifications of its person, also if
    /// the person is an org admin (decision B5).
    #[must_use]
    pub fn is_seen_by(&self, caller: &Caller) -> bool {
        caller.bound_to().is_none_or(|own| own == self.recipient_id)
    }

    /// Returns the notification as the caller sees it. `is_target_visible` is `false` if the caller is no reader of the
    /// target, for example because its person has a new manager. Such a caller gets neither the texts, which quote the
    /// target, nor its id. A caller who may not read the kind of the target gets no texts.
    #[must_use]
    pub fn shown_to(&self, caller: &Caller, is_target_visible: bool) -> VisibleNotification<'_> {
        let has_texts = is_target_visible && self.target.quote_access().check(caller).is_ok();
        VisibleNotification {
            id: self.id,
            recipient_id: self.recipient_id,
            kind: self.kind,
            title: has_texts.then_some(&*self.title),
            body: has_texts.then_some(&*self.body),
            target: VisibleTarget {
                kind: &self.target.kind,
                id: is_target_visible.then_some(self.target.id.as_str()),
            },
            created_at: self.created_at,
            read_at: self.read_at,
        }
    }

    /// Returns the notification marked as read, or `None` if it was read before.
    #[must_use]
    pub fn read(&self, at: Timestamp) -> Option<Self> {
        self.read_at.is_none().then(|| Self { read_at: Some(at), ..self.clone() })
    }
}

impl Resource for Notification {
    type Kind = NotificationKind;

    fn id(&self) -> NotificationId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.read_at.unwrap_or(self.created_at)
    }
}

/// The conditions of a list of notifications.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The person that the notifications were sent to.
    pub recipient_id: Option<EmployeeId>,
    /// `true` for unread notifications only, `false` for read ones only.
    pub unread: Option<bool>,
}

impl Filter {
    /// Declares and reads the parameters of `GET /notifications`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            recipient_id: params.one(&params::id("filter[recipient_id]", "Only notifications to this person.")),
            unread: params
                .one(&params::flag("filter[unread]", "`true` lists unread notifications, `false` read ones.")),
        };
        params.list::<Notification, _, _>("notifications", filter, vec![])
    }

    /// Narrows the filter to what the caller sees: a bound key sees only notifications of its person, also if the
    /// person is an org admin (decision B5). `None` if nothing remains.
    #[must_use]
    pub fn seen_by(self, caller: &Caller) -> Option<Self> {
        match (caller.bound_to(), self.recipient_id) {
            (Some(person), Some(other)) if other != person => None,
            (Some(person), _) => Some(Self { recipient_id: Some(person), ..self }),
            (None, _) => Some(self),
        }
    }
}

impl Sortable for Notification {
    const ORDERS_NAME: &'static str = "NotificationSort";
    const ORDERS: &'static [SortKey<Self>] =
        &[SortKey::descending_by(SortBy::CreatedAt, |notification| Key::Time(notification.created_at))];
}

/// Reads the recipient, the only field of `POST /notifications/read_all`; `own` is the person of a bound key.
pub fn read_read_all(fields: &mut Fields, own: Option<EmployeeId>) -> Option<Reference<EmployeeKind>> {
    let about = "Recipient of the notifications. A key that acts for a person may omit it; another person \
                 returns 403. Required for all other keys.";
    fields.required_or(&Field::with_about("recipient_id", rule::reference(), about), own.map(Reference::from))
}

/// Reads the recipient from the body of `POST /notifications/read_all`.
///
/// # Errors
/// Returns every invalid field.
pub fn parse_read_all(body: Object, caller: &Caller) -> Result<Reference<EmployeeKind>, ValidationErrors> {
    let mut fields = Fields::new(body);
    let recipient = read_read_all(&mut fields, caller.bound_to());
    fields.finish(recipient)
}

/// Checks that the caller may mark the notifications of this person as read (decision B5).
///
/// # Errors
/// Returns [`PermissionError::OtherPerson`] for a bound key of another person.
pub fn may_read_all(recipient: &Reference<EmployeeKind>, caller: &Caller) -> Result<(), PermissionError> {
    caller.may_write_as(recipient)
}

#[cfg(test)]
mod tests;

//! Notifications "in the application": who is told what, and whether they have read it (decisions G).

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::access::{Caller, Denied};
use crate::audit::Target;
use crate::decision::Resource;
use crate::fields::{Fields, Reference, Word, as_word};
use crate::id::{EmployeeId, EmployeeKind, NotificationId, NotificationKind};
use crate::json::Object;
use crate::page::{Key, Listed, Order, SortBy};
use crate::params::{self, ListRequest, Params};
use crate::problem::Problems;
use crate::rule::{self, Field};
use crate::time::Timestamp;

/// What it is about.
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
    /// Somebody asks a reviewer for feedback.
    #[strum(to_string = "assignment.requested")]
    AssignmentRequested,
    /// All the feedback that was asked for is there.
    #[strum(to_string = "assignment.completed")]
    AssignmentCompleted,
    /// Somebody wrote in a conversation.
    #[strum(to_string = "conversation.message")]
    ConversationMessage,
    /// A summary waits for a review.
    #[strum(to_string = "summary.pending_review")]
    SummaryPendingReview,
    /// A summary was sent back, with the reason.
    #[strum(to_string = "summary.returned")]
    SummaryReturned,
    /// A summary was shared with the person it is about.
    #[strum(to_string = "summary.shared")]
    SummaryShared,
    /// The person it is about gave feedback on a summary.
    #[strum(to_string = "summary.feedback_submitted")]
    SummaryFeedbackSubmitted,
    /// A webhook subscription was disabled because its deliveries kept failing.
    #[strum(to_string = "webhook.disabled")]
    WebhookDisabled,
    /// An API key ends soon.
    #[strum(to_string = "api_key.expiring")]
    ApiKeyExpiring,
    /// Nothing of what an HR system sent was applied.
    #[strum(to_string = "connector.sync_failed")]
    ConnectorSyncFailed,
}

impl Word for Type {
    const NAME: &'static str = "NotificationType";
}

/// Who is to be told, before it is known which people that are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// This person.
    Person(EmployeeId),
    /// This person's manager; the org admins if there is none, or if they have left.
    ManagerOf(EmployeeId),
    /// Every org admin who works there.
    OrgAdmins,
}

/// What a decision wants people to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What it is about.
    pub kind: Type,
    /// Who is to be told.
    pub to: Audience,
    /// One line.
    pub title: String,
    /// More, e.g. a reason.
    pub body: String,
    /// The resource it is about.
    pub target: Target,
}

/// A notice to one person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notification {
    /// Its id.
    pub id: NotificationId,
    /// Who is told.
    pub recipient_id: EmployeeId,
    /// What it is about.
    #[serde(rename = "type", serialize_with = "as_word")]
    pub kind: Type,
    /// One line.
    pub title: String,
    /// More, e.g. a reason.
    pub body: String,
    /// The resource it is about.
    pub target: Target,
    /// When it was sent.
    pub created_at: Timestamp,
    /// When it was read; null until then.
    pub read_at: Option<Timestamp>,
}

/// How long a notification is kept after it was read.
pub const READ_DAYS: i64 = 90;
/// How long one is kept that nobody has read, unless the operator says otherwise.
pub const UNREAD_DAYS: i64 = 365;

/// So much of a long text stands in notifications of it, of which there may be many.
const EXCERPT_CHARS: usize = 200;

/// The beginning of a text.
#[must_use]
pub fn excerpt(text: &str) -> String {
    let mut excerpt: String = text.chars().take(EXCERPT_CHARS).collect();
    if excerpt.len() < text.len() {
        excerpt.push('…');
    }
    excerpt
}

impl Notice {
    /// The notice to one person.
    #[must_use]
    pub fn to(&self, id: NotificationId, recipient_id: EmployeeId, at: Timestamp) -> Notification {
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
    /// Returns `true` if the caller sees it: a bound key sees its person's, also that of an org admin (decision
    /// B5).
    #[must_use]
    pub fn is_seen_by(&self, caller: &Caller) -> bool {
        caller.bound_to().is_none_or(|own| own == self.recipient_id)
    }

    /// Marks it as read; `None` if it was before.
    #[must_use]
    pub fn read(&self, at: Timestamp) -> Option<Self> {
        self.read_at.is_none().then(|| Self { read_at: Some(at), ..self.clone() })
    }
}

impl Resource for Notification {
    type Kind = NotificationKind;
    const NAME: &'static str = "notification";

    fn id(&self) -> NotificationId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.read_at.unwrap_or(self.created_at)
    }
}

/// Which notifications are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// To this person.
    pub recipient_id: Option<EmployeeId>,
    /// Only those that were not read, or only those that were.
    pub unread: Option<bool>,
}

impl Filter {
    /// The parameters of `GET /notifications`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            recipient_id: params.one(&params::id("filter[recipient_id]", "Only notifications to this person.")),
            unread: params
                .one(&params::flag("filter[unread]", "`true` lists unread notifications, `false` read ones.")),
        };
        params.list::<Notification, _, _>("notifications", filter, vec![])
    }

    /// Reads the parameters of `GET /notifications`.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(mut params: Params) -> Result<ListRequest<Self, ()>, Problems> {
        let request = Self::read(&mut params);
        params.finish(request)
    }

    /// The filter among what a caller sees: a bound key sees its person's, also that of an org admin (decision
    /// B5). `None` if that is nothing.
    #[must_use]
    pub fn seen_by(self, caller: &Caller) -> Option<Self> {
        match (caller.bound_to(), self.recipient_id) {
            (Some(person), Some(other)) if other != person => None,
            (Some(person), _) => Some(Self { recipient_id: Some(person), ..self }),
            (None, _) => Some(self),
        }
    }
}

impl Listed for Notification {
    const ORDERS_NAME: &'static str = "NotificationSort";
    const ORDERS: &'static [Order<Self>] =
        &[Order { by: SortBy::CreatedAt, key: |it| Key::Time(it.created_at), words: &["-created_at", "created_at"] }];
}

/// The fields of `POST /notifications/read_all`: the recipient; `own` is the person of a bound key.
pub fn read_read_all(fields: &mut Fields, own: Option<EmployeeId>) -> Option<Reference<EmployeeKind>> {
    let about = "Recipient of the notifications. A key that acts for a person may omit it; another person is a \
                 403. Required for all other keys.";
    fields.required_or(&Field::new("recipient_id", rule::reference("the person"), about), own.map(Reference::from))
}

/// Reads the body of `POST /notifications/read_all` of this caller: the recipient.
///
/// # Errors
/// Every field that is wrong.
pub fn parse_read_all(body: Object, caller: &Caller) -> Result<Reference<EmployeeKind>, Problems> {
    let mut fields = Fields::new(body);
    let recipient = read_read_all(&mut fields, caller.bound_to());
    fields.finish(recipient)
}

/// Requires that the caller may mark everything as read that this person was sent (decision B5).
///
/// # Errors
/// [`Denied::OtherPerson`].
pub fn may_read_all(recipient: &Reference<EmployeeKind>, caller: &Caller) -> Result<(), Denied> {
    caller.may_write_as(recipient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::AccessLevel;
    use crate::access::tests::{bound, unbound};
    use ulid::Ulid;

    #[test]
    fn a_notification_is_read_once() {
        let notice = Notice {
            kind: Type::ObjectiveRejected,
            to: Audience::Person(EmployeeId::from_ulid(Ulid(1))),
            title: "Objective sent back".to_owned(),
            body: "Too vague".to_owned(),
            target: Target { kind: "objective".to_owned(), id: "obj_1".to_owned() },
        };
        let at = Timestamp::from_millis(5);
        let unread = notice.to(NotificationId::from_ulid(Ulid(2)), EmployeeId::from_ulid(Ulid(1)), at);
        let read = unread.read(at).unwrap();
        assert_eq!(read.read_at, Some(at));
        assert_eq!(read.read(at), None);
    }

    #[test]
    fn bound_key_sees_notifications_of_its_person_only() {
        let [own, other] = [1, 2].map(|it| EmployeeId::from_ulid(Ulid(it)));
        let to = |recipient_id| Filter { recipient_id, unread: Some(true) };
        let table = [
            // the key's person, the filter, the filter among what is seen
            (None, None, Some(None)),
            (None, Some(other), Some(Some(other))),
            (Some(own), None, Some(Some(own))),
            (Some(own), Some(own), Some(Some(own))),
            (Some(own), Some(other), None),
        ];
        for (person, asked, gets) in table {
            for is_org_admin in [false, true] {
                let caller = person.map_or_else(|| unbound(AccessLevel::Admin), |person| bound(person, is_org_admin));
                assert_eq!(to(asked).seen_by(&caller), gets.map(to), "{person:?} {asked:?}");
            }
        }
    }
}

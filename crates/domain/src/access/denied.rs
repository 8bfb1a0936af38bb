//! Reasons why a caller may not do something (§7 `permission_denied`).

use super::Permission;

/// The reason why a caller may not do something (§7 `permission_denied`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub enum PermissionError {
    /// The key lacks this scope.
    MissingScope(Permission),
    /// The data needs an admin-level key that acts for no person, or a key that acts for an org admin (decision B5).
    AdminRequired,
    /// Keys and settings need a key whose own level is admin, whatever the role of its person (decision B5).
    AdminKeyRequired,
    /// The operation reads, counts or removes data that no single person may see as a whole. It needs an admin-level
    /// key that acts for no person (decision B5).
    OrganizationKeyRequired,
    /// The key of a connector serves SCIM requests and `GET /me` only (decision B3).
    ConnectorKey,
    /// SCIM requests need the key of a connector (decision B3).
    NoConnectorKey,
    /// The endpoint refuses test keys (decision B6).
    TestKey,
    /// The endpoint touches test data only and refuses live keys (decision B6).
    LiveKey,
    /// The key acts for a person who is not an org admin (decision B5).
    ActsForPerson,
    /// The key would grant, widen, prolong or rotate access that it lacks itself (decision B7).
    CannotGrant,
    /// The owner of an org-scoped objective is not an org admin (decision C6).
    OwnerNotAdmin,
    /// The bound key would write as another person than its own (decision B5).
    OtherPerson,
    /// Only its author and org admins may change an observation (decision B5).
    AuthorOnly,
    /// The bound key would set an objective for a person outside its own person's team (decision B5).
    NotBelow,
    /// The reviewer is the person whose objective or summary needs the review (decision B5).
    OwnReview,
    /// The reviewer changed the summary, and no other person has submitted it since (decision C10).
    OwnText,
    /// The subject of a summary would approve, return or share it (decision B5).
    AboutOneself,
    /// Only the subject of a summary may give feedback on it (decision B5).
    NotTheSubject,
    /// The caller's person sees the summary only because it was shared, and neither changes it nor reads its history
    /// (decision B5).
    OnlyShared,
    /// The person of the bound key did not request the assignment and therefore cannot cancel it (decision B5).
    NotTheRequester,
    /// The person of the bound key is not a participant of the conversation (decision B5).
    NotAmongParticipants,
    /// The bound key would remove another person than its own from a conversation (decision G).
    RemovesOthers,
    /// The key or its person lost rights after the request began (decision B4).
    RightsLost,
}

const OWN_TEXT: &str = "This organization requires reviews, and a person who changed a summary cannot approve it. \
    Return it and let another person submit it, or use an API key of another person who may review it.";
const RIGHTS_LOST: &str = "The API key or its person lost rights while this request waited, and the rest of the \
    request was not done. Send the request again to see which rights it needs.";
const ABOUT_ONESELF: &str = "The subject of a summary cannot approve, return or share it. Use an API key of another \
    person who may see the summary, or one that acts for no person.";
const REMOVES_OTHERS: &str = "A conversation belongs to those in it. An API key that acts for a person may add people \
    and remove that person only: keep the others in participant_ids.";

impl PermissionError {
    /// Returns the message of the error response.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::MissingScope(_) => "The API key lacks a scope that this request needs.",
            Self::AdminRequired => {
                "This request needs an admin-level API key of the organization, or one that acts for an org admin."
            }
            Self::AdminKeyRequired => "This request needs an API key whose own access level is admin.",
            Self::OrganizationKeyRequired => {
                "This request needs an admin-level API key of the organization: one that acts for no person."
            }
            Self::ConnectorKey => {
                "The API key of a connector is for /scim/v2 and GET /v1/me only. Use another API key."
            }
            Self::NoConnectorKey => {
                "SCIM requests need an API key with the scope scim. Create one with the id of a connector."
            }
            Self::TestKey => "Test keys cannot access this endpoint.",
            Self::LiveKey => "Only test keys can access this endpoint: it empties the test data.",
            Self::ActsForPerson => {
                "An API key that acts for a person cannot do this, unless that person is an org admin."
            }
            Self::CannotGrant => {
                "An API key cannot grant scopes, access levels, expiry dates or networks beyond its own; one that acts \
                 for a person manages keys of that person only."
            }
            Self::OwnerNotAdmin => "The owner of an org objective must have the role org_admin.",
            Self::OtherPerson => {
                "This API key writes as the person it acts for. Send the id of that person, or omit the field."
            }
            Self::AuthorOnly => {
                "Only the author and org admins may change this observation. Use an API key of one of them."
            }
            Self::NotBelow => {
                "The owner does not report to the person that the API key acts for. Set owner_id to the person of the \
                 key, or to someone who reports to that person."
            }
            Self::OwnReview => {
                "This organization requires reviews, and a review is never done by the owner or author. Use \
                 an API key of another person who may review it."
            }
            Self::OwnText => OWN_TEXT,
            Self::AboutOneself => ABOUT_ONESELF,
            Self::NotTheSubject => {
                "Feedback on a summary is given by the person it is about. Use that person's API key."
            }
            Self::OnlyShared => {
                "This summary is only shared with the person that the API key acts for, who can neither change it nor read its \
                 history."
            }
            Self::NotTheRequester => {
                "An assignment is cancelled by its requester or an org admin. Use an API key of one of them."
            }
            Self::NotAmongParticipants => {
                "The person that the API key acts for must take part. Add that person to participant_ids."
            }
            Self::RemovesOthers => REMOVES_OTHERS,
            Self::RightsLost => RIGHTS_LOST,
        }
    }
}

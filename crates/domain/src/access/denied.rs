//! Reasons why a caller may not do something (§7 `permission_denied`).

use super::Permission;

/// Why a caller may not do something (§7 `permission_denied`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// The key lacks this scope.
    MissingScope(Permission),
    /// Data that only admins change: needs an admin-level key, or one that acts for an org admin (decision B5).
    AdminRequired,
    /// Keys and settings: needs a key whose own level is admin, whatever the role of its person (decision B5).
    AdminKeyRequired,
    /// Test keys are refused on live-only endpoints (decision B6).
    TestKey,
    /// Live keys are refused where only test data may be touched (decision B6).
    LiveKey,
    /// Whoever acts for a person may not do this, unless that person is an org admin (decision B5).
    ActsForPerson,
    /// A key cannot grant, widen, prolong or rotate what it lacks itself (decision B7).
    CannotGrant,
    /// An org-scoped objective's owner must be an org admin (decision C6).
    OwnerNotAdmin,
    /// A bound key writes as its person only (decision B5).
    OtherPerson,
    /// An observation is changed by its author and org admins (decision B5).
    AuthorOnly,
    /// A bound key sets objectives for its person and for those below (decision B5).
    NotBelow,
    /// A required review is never done by the person whose objective or summary it is (decision B5).
    OwnReview,
    /// A summary is never approved, returned or shared by the person it is about (decision B5).
    AboutOneself,
    /// Feedback on a summary is given by the person it is about (decision B5).
    NotTheSubject,
    /// The caller's person sees the summary because it was shared, and leaves it as it is (decision B5).
    OnlyShared,
    /// An assignment is cancelled by its requester or an org admin (decision B5).
    NotTheRequester,
    /// A bound key begins conversations in which its person takes part (decision B5).
    NotAmongParticipants,
}

impl Denied {
    /// What the answer says to people.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::MissingScope(_) => "The API key lacks a scope that this request needs.",
            Self::AdminRequired => {
                "This request needs an admin-level API key of the organization, or one that acts for an org admin."
            }
            Self::AdminKeyRequired => "This request needs an API key whose own access level is admin.",
            Self::TestKey => "Test keys cannot access this endpoint.",
            Self::LiveKey => "Only test keys can access this endpoint: it empties the test data.",
            Self::ActsForPerson => {
                "An API key that acts for a person cannot do this, unless that person is an org admin."
            }
            Self::CannotGrant => {
                "An API key cannot grant scopes, access levels or expiry dates beyond its own; one that acts for a \
                 person manages keys of that person only."
            }
            Self::OwnerNotAdmin => "The owner of an org objective must have the role org_admin.",
            Self::OtherPerson => {
                "This API key writes as the person it acts for. Send the id of that person, or omit the field."
            }
            Self::AuthorOnly => "Only the author and org admins may change this observation.",
            Self::NotBelow => {
                "The owner does not report to the person that the API key acts for. Send that person, or one who reports \
                 to them."
            }
            Self::OwnReview => {
                "This organization requires reviews, and a review is never done by the owner or author. Use the API key \
                 of another reviewer."
            }
            Self::AboutOneself => {
                "A summary is not approved, returned or shared by the person it is about. Use the API key of another \
                 reviewer."
            }
            Self::NotTheSubject => {
                "Feedback on a summary is given by the person it is about. Use an API key of theirs."
            }
            Self::OnlyShared => {
                "This summary is only shared with the person that the API key acts for, who cannot change it."
            }
            Self::NotTheRequester => {
                "An assignment is cancelled by its requester or an org admin. Use an API key of one of them."
            }
            Self::NotAmongParticipants => {
                "The person that the API key acts for must take part. Add that person to participant_ids."
            }
        }
    }
}

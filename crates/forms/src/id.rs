//! Identifiers: a type prefix and a ULID, so that an id shows the kind of its resource (§1).
//!
//! ```
//! use candor_forms::id::{EmployeeId, ObservationId};
//!
//! let id: EmployeeId = "emp_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse()?;
//! assert_eq!(id.to_string(), "emp_01ARZ3NDEKTSV4RRFFQ69G5FAV");
//! assert!("emp_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse::<ObservationId>().is_err());
//! # Ok::<(), candor_forms::id::IdError>(())
//! ```

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use ulid::Ulid;

/// A kind of resource that ids name.
pub trait Kind: Copy + Ord + 'static {
    /// The part of an id before the underscore.
    const PREFIX: &'static str;
    /// Singular name of the resource in audit entries and search hits.
    const NAME: &'static str;
}

/// An identifier of one kind of resource.
pub struct Id<K> {
    ulid: Ulid,
    kind: PhantomData<fn() -> K>,
}

/// The error for a text that is not an id of the expected kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an identifier: expected `{prefix}_` and 26 characters")]
pub struct IdError {
    /// Prefix of the expected kind.
    pub prefix: &'static str,
}

impl<K: Kind> Id<K> {
    /// Creates the id with this ULID.
    #[must_use]
    pub const fn from_ulid(ulid: Ulid) -> Self {
        Self { ulid, kind: PhantomData }
    }

    /// Returns the ULID without the prefix.
    #[must_use]
    pub const fn ulid(self) -> Ulid {
        self.ulid
    }

    /// Returns the 16 bytes that stores keep. They sort in the order of the ids.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.ulid.0.to_be_bytes()
    }

    /// Creates the id from the result of [`Id::to_bytes`].
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self::from_ulid(Ulid(u128::from_be_bytes(bytes)))
    }
}

/// Length of a ULID's text, in characters.
const ULID_CHARS: usize = 26;

impl<K: Kind> FromStr for Id<K> {
    type Err = IdError;

    /// Accepts exactly one spelling per id: upper case, without surrounding white space.
    fn from_str(text: &str) -> Result<Self, IdError> {
        let error = IdError { prefix: K::PREFIX };
        let rest = text.strip_prefix(K::PREFIX).and_then(|rest| rest.strip_prefix('_')).ok_or(error)?;
        let canonical = rest.len() == ULID_CHARS
            && rest.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        if !canonical || rest.as_bytes()[0] > b'7' {
            return Err(error);
        }
        let ulid = Ulid::from_string(rest).map_err(|_| error)?;
        if rest.bytes().any(|byte| matches!(byte, b'I' | b'L' | b'O' | b'U')) {
            return Err(error);
        }
        Ok(Self::from_ulid(ulid))
    }
}

/// Buffer size for the longest prefix, the underscore and the ULID.
const TEXT_BYTES: usize = 40;

impl<K: Kind> Id<K> {
    /// Writes the text without a formatter, because a page of a list prints hundreds of ids.
    fn write<'b>(&self, buffer: &'b mut [u8; TEXT_BYTES]) -> Option<&'b str> {
        let mut ulid = [0; ULID_CHARS];
        self.ulid.array_to_str(&mut ulid);
        let (prefix, rest) = buffer.split_at_mut_checked(K::PREFIX.len())?;
        prefix.copy_from_slice(K::PREFIX.as_bytes());
        *rest.first_mut()? = b'_';
        rest.get_mut(1..=ULID_CHARS)?.copy_from_slice(&ulid);
        std::str::from_utf8(buffer.get(..K::PREFIX.len() + 1 + ULID_CHARS)?).ok()
    }
}

impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.write(&mut [0; TEXT_BYTES]).ok_or(fmt::Error)?)
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K: Kind> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut buffer = [0; TEXT_BYTES];
        let text = self.write(&mut buffer).ok_or_else(|| serde::ser::Error::custom("the prefix is too long"))?;
        serializer.serialize_str(text)
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.ulid == other.ulid
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.ulid.cmp(&other.ulid)
    }
}
impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ulid.hash(state);
    }
}

/// Declares the kinds of ids. A row has the type of the ids, the marker of their kind, the prefix, and the name of the
/// resource in audit entries and search hits.
macro_rules! kinds {
    ($($(#[$meta:meta])* $id:ident, $kind:ident: $prefix:literal, $name:literal;)*) => {
        $(
            #[doc = concat!("Kind of ids that begin with `", $prefix, "_`.")]
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
            pub enum $kind {}

            impl Kind for $kind {
                const PREFIX: &'static str = $prefix;
                const NAME: &'static str = $name;
            }

            $(#[$meta])*
            pub type $id = Id<$kind>;
        )*
    };
}

kinds! {
    /// Id of an observation (§2.1).
    ObservationId, ObservationKind: "obs", "observation";
    /// Id of an objective (§2.2).
    ObjectiveId, ObjectiveKind: "obj", "objective";
    /// Id of an employee (§2.3).
    EmployeeId, EmployeeKind: "emp", "employee";
    /// Id of a department.
    DepartmentId, DepartmentKind: "dep", "department";
    /// Id of an attribute in the organization's catalog.
    AttributeId, AttributeKind: "attr", "attribute";
    /// Id of a summary.
    SummaryId, SummaryKind: "sum", "summary";
    /// Id of a webhook subscription (§2.4).
    WebhookId, WebhookKind: "whk", "webhook";
    /// Id of an event (§6).
    EventId, EventKind: "evt", "event";
    /// Id of one attempt to deliver an event (§2.5).
    DeliveryId, DeliveryKind: "del", "delivery";
    /// Id of an organization.
    OrganizationId, OrganizationKind: "org", "organization";
    /// Id of one HTTP request.
    RequestId, RequestKind: "req", "request";
    /// Id of an API key (§5).
    KeyId, KeyKind: "key", "api_key";
    /// Id of an entry of the audit log.
    AuditId, AuditKind: "aud", "audit_entry";
    /// Id of a notification in the application.
    NotificationId, NotificationKind: "ntf", "notification";
    /// Id of an invitation.
    InvitationId, InvitationKind: "inv", "invitation";
    /// Id of a connector to an HR system.
    ConnectorId, ConnectorKind: "con", "connector";
    /// Id of an identity provider.
    IdentityProviderId, IdentityProviderKind: "idp", "identity_provider";
    /// Id of the proof of a domain, client id or audience: a digest, which no response shows.
    IdentityProofId, IdentityProofKind: "idv", "identity_proof";
    /// Id of a link between an account at an identity provider and a person: a digest, which no response shows.
    IdentityLinkId, IdentityLinkKind: "idl", "identity_link";
    /// Id of an issue of a connector.
    SyncIssueId, SyncIssueKind: "iss", "sync_issue";
    /// Id of an erasure.
    ErasureId, ErasureKind: "era", "erasure";
    /// Id of a retention run.
    RetentionRunId, RetentionRunKind: "ret", "retention_run";
    /// Id of a request for feedback about a person.
    AssignmentId, AssignmentKind: "asg", "assignment";
    /// Id of a conversation.
    ConversationId, ConversationKind: "cnv", "conversation";
    /// Id of a message in a conversation.
    MessageId, MessageKind: "msg", "message";
    /// Id of a key result of an objective.
    KeyResultId, KeyResultKind: "kr", "key_result";
    /// Id of a check-in of an objective.
    CheckInId, CheckInKind: "chk", "check_in";
}

#[cfg(test)]
mod tests;

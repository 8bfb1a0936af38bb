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

/// Marker of observation ids (§2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObservationKind {}
impl Kind for ObservationKind {
    const PREFIX: &'static str = "obs";
}
/// Id of an observation (§2.1).
pub type ObservationId = Id<ObservationKind>;

/// Marker of objective ids (§2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectiveKind {}
impl Kind for ObjectiveKind {
    const PREFIX: &'static str = "obj";
}
/// Id of an objective (§2.2).
pub type ObjectiveId = Id<ObjectiveKind>;

/// Marker of employee ids (§2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EmployeeKind {}
impl Kind for EmployeeKind {
    const PREFIX: &'static str = "emp";
}
/// Id of an employee (§2.3).
pub type EmployeeId = Id<EmployeeKind>;

/// Marker of department ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DepartmentKind {}
impl Kind for DepartmentKind {
    const PREFIX: &'static str = "dep";
}
/// Id of a department.
pub type DepartmentId = Id<DepartmentKind>;

/// Marker of attribute ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttributeKind {}
impl Kind for AttributeKind {
    const PREFIX: &'static str = "attr";
}
/// Id of an attribute in the organization's catalog.
pub type AttributeId = Id<AttributeKind>;

/// Marker of summary ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SummaryKind {}
impl Kind for SummaryKind {
    const PREFIX: &'static str = "sum";
}
/// Id of a summary.
pub type SummaryId = Id<SummaryKind>;

/// Marker of webhook subscription ids (§2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WebhookKind {}
impl Kind for WebhookKind {
    const PREFIX: &'static str = "whk";
}
/// Id of a webhook subscription (§2.4).
pub type WebhookId = Id<WebhookKind>;

/// Marker of event ids (§6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {}
impl Kind for EventKind {
    const PREFIX: &'static str = "evt";
}
/// Id of an event (§6).
pub type EventId = Id<EventKind>;

/// Marker of delivery attempt ids (§2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeliveryKind {}
impl Kind for DeliveryKind {
    const PREFIX: &'static str = "del";
}
/// Id of one attempt to deliver an event (§2.5).
pub type DeliveryId = Id<DeliveryKind>;

/// Marker of organization ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrganizationKind {}
impl Kind for OrganizationKind {
    const PREFIX: &'static str = "org";
}
/// Id of an organization.
pub type OrganizationId = Id<OrganizationKind>;

/// Marker of request ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestKind {}
impl Kind for RequestKind {
    const PREFIX: &'static str = "req";
}
/// Id of one HTTP request.
pub type RequestId = Id<RequestKind>;

/// Marker of API key ids (§5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyKind {}
impl Kind for KeyKind {
    const PREFIX: &'static str = "key";
}
/// Id of an API key (§5).
pub type KeyId = Id<KeyKind>;

/// Marker of audit entry ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AuditKind {}
impl Kind for AuditKind {
    const PREFIX: &'static str = "aud";
}
/// Id of an entry of the audit log.
pub type AuditId = Id<AuditKind>;

/// Marker of notification ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotificationKind {}
impl Kind for NotificationKind {
    const PREFIX: &'static str = "ntf";
}
/// Id of a notification in the application.
pub type NotificationId = Id<NotificationKind>;

/// Marker of invitation ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InvitationKind {}
impl Kind for InvitationKind {
    const PREFIX: &'static str = "inv";
}
/// Id of an invitation.
pub type InvitationId = Id<InvitationKind>;

/// Marker of connector ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConnectorKind {}
impl Kind for ConnectorKind {
    const PREFIX: &'static str = "con";
}
/// Id of a connector to an HR system.
pub type ConnectorId = Id<ConnectorKind>;

/// Marker of identity provider ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IdentityProviderKind {}
impl Kind for IdentityProviderKind {
    const PREFIX: &'static str = "idp";
}
/// Id of an identity provider.
pub type IdentityProviderId = Id<IdentityProviderKind>;

/// Marker of ids of identity proofs. These ids are digests, and no response shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IdentityProofKind {}
impl Kind for IdentityProofKind {
    const PREFIX: &'static str = "idv";
}
/// Id of the proof of a domain, client id or audience.
pub type IdentityProofId = Id<IdentityProofKind>;

/// Marker of ids of links between accounts and people. These ids are digests, and no response shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IdentityLinkKind {}
impl Kind for IdentityLinkKind {
    const PREFIX: &'static str = "idl";
}
/// Id of a link between an account at an identity provider and a person.
pub type IdentityLinkId = Id<IdentityLinkKind>;

/// Marker of ids of a connector's issues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SyncIssueKind {}
impl Kind for SyncIssueKind {
    const PREFIX: &'static str = "iss";
}
/// Id of an issue of a connector.
pub type SyncIssueId = Id<SyncIssueKind>;

/// Marker of erasure ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErasureKind {}
impl Kind for ErasureKind {
    const PREFIX: &'static str = "era";
}
/// Id of an erasure.
pub type ErasureId = Id<ErasureKind>;

/// Marker of ids of retention runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RetentionRunKind {}
impl Kind for RetentionRunKind {
    const PREFIX: &'static str = "ret";
}
/// Id of a retention run.
pub type RetentionRunId = Id<RetentionRunKind>;

/// Marker of assignment ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssignmentKind {}
impl Kind for AssignmentKind {
    const PREFIX: &'static str = "asg";
}
/// Id of a request for feedback about a person.
pub type AssignmentId = Id<AssignmentKind>;

/// Marker of conversation ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConversationKind {}
impl Kind for ConversationKind {
    const PREFIX: &'static str = "cnv";
}
/// Id of a conversation.
pub type ConversationId = Id<ConversationKind>;

/// Marker of message ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageKind {}
impl Kind for MessageKind {
    const PREFIX: &'static str = "msg";
}
/// Id of a message in a conversation.
pub type MessageId = Id<MessageKind>;

/// Marker of ids of key results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyResultKind {}
impl Kind for KeyResultKind {
    const PREFIX: &'static str = "kr";
}
/// Id of a key result of an objective.
pub type KeyResultId = Id<KeyResultKind>;

/// Marker of ids of check-ins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckInKind {}
impl Kind for CheckInKind {
    const PREFIX: &'static str = "chk";
}
/// Id of a check-in of an objective.
pub type CheckInId = Id<CheckInKind>;

#[cfg(test)]
mod tests;

//! Kinds of server failures, and one table of the signs that identify them.

use std::mem::discriminant;

use diesel::result::DatabaseErrorKind;
use tokio_postgres::error::SqlState;

use super::CHECK_PREFIX;

/// Kinds of server failures that callers distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Lost,
    Busy,
    TimedOut,
    Collided,
    Unique,
    Missing,
    Check,
    Forbidden,
    Redefined,
    Other,
}

/// One sign that identifies the kind of a failure.
#[derive(Debug)]
enum Sign {
    /// Kind that Diesel derives from the SQLSTATE, which Diesel does not expose.
    Diesel(DatabaseErrorKind),
    /// SQLSTATE, where the driver is used without Diesel.
    Code(SqlState),
    /// Prefix of the message. Connections set the language to English where the role may do so.
    Begins(&'static str),
    /// Text anywhere in the message. Details are never searched: they may quote stored data.
    Contains(&'static str),
}

/// Signs of each kind. The first match decides.
const KINDS: &[(Sign, Kind)] = &[
    (Sign::Diesel(DatabaseErrorKind::UniqueViolation), Kind::Unique),
    (Sign::Diesel(DatabaseErrorKind::ForeignKeyViolation), Kind::Missing),
    (Sign::Diesel(DatabaseErrorKind::SerializationFailure), Kind::Collided),
    (Sign::Diesel(DatabaseErrorKind::ReadOnlyTransaction), Kind::Busy),
    (Sign::Diesel(DatabaseErrorKind::UnableToSendCommand), Kind::Lost),
    (Sign::Diesel(DatabaseErrorKind::ClosedConnection), Kind::Lost),
    (Sign::Code(SqlState::ADMIN_SHUTDOWN), Kind::Lost),
    (Sign::Code(SqlState::CRASH_SHUTDOWN), Kind::Lost),
    (Sign::Code(SqlState::CANNOT_CONNECT_NOW), Kind::Lost),
    (Sign::Code(SqlState::TOO_MANY_CONNECTIONS), Kind::Busy),
    (Sign::Code(SqlState::INSUFFICIENT_PRIVILEGE), Kind::Forbidden),
    (Sign::Contains(CHECK_PREFIX), Kind::Check),
    (Sign::Begins("terminating connection"), Kind::Lost),
    (Sign::Begins("the database system is"), Kind::Lost),
    (Sign::Begins("canceling statement due to statement timeout"), Kind::TimedOut),
    (Sign::Begins("canceling statement due to"), Kind::Busy),
    (Sign::Begins("sorry, too many clients"), Kind::Busy),
    (Sign::Begins("too many connections for"), Kind::Busy),
    (Sign::Begins("remaining connection slots"), Kind::Busy),
    // Another node of a cluster is unavailable.
    (Sign::Begins("connection to the remote node"), Kind::Busy),
    (Sign::Begins("could not establish any connections to the node"), Kind::Busy),
    (Sign::Begins("failure on connection marked as essential"), Kind::Busy),
    (Sign::Begins("server closed the connection unexpectedly"), Kind::Busy),
    (Sign::Begins("deadlock detected"), Kind::Collided),
    // Deadlock of a transaction on several nodes.
    (Sign::Begins("canceling the transaction since it was involved in a distributed deadlock"), Kind::Collided),
    (Sign::Contains("permission denied"), Kind::Forbidden),
    (Sign::Contains("must be owner"), Kind::Forbidden),
    (Sign::Contains("operation is not allowed on this node"), Kind::Forbidden),
    (Sign::Contains("already exists"), Kind::Redefined),
    (Sign::Contains("already a partition"), Kind::Redefined),
    (Sign::Contains("does not exist"), Kind::Redefined),
    (Sign::Contains("would be violated"), Kind::Redefined),
];

/// Classifies a failure of the server by the known parts of its error.
pub(super) fn kind_of(diesel: Option<&DatabaseErrorKind>, code: Option<&SqlState>, message: &str) -> Kind {
    let fits = |sign: &Sign| match sign {
        Sign::Diesel(kind) => diesel.is_some_and(|other| discriminant(other) == discriminant(kind)),
        Sign::Code(state) => code == Some(state),
        Sign::Begins(words) => message.starts_with(words),
        Sign::Contains(words) => message.contains(words),
    };
    KINDS.iter().find(|(sign, _)| fits(sign)).map_or(Kind::Other, |(_, kind)| *kind)
}

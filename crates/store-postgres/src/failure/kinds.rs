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
    NoRoom,
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
enum ErrorPattern {
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
const KINDS: &[(ErrorPattern, Kind)] = &[
    (ErrorPattern::Diesel(DatabaseErrorKind::UniqueViolation), Kind::Unique),
    (ErrorPattern::Diesel(DatabaseErrorKind::ForeignKeyViolation), Kind::Missing),
    (ErrorPattern::Diesel(DatabaseErrorKind::SerializationFailure), Kind::Collided),
    (ErrorPattern::Diesel(DatabaseErrorKind::ReadOnlyTransaction), Kind::Busy),
    (ErrorPattern::Diesel(DatabaseErrorKind::UnableToSendCommand), Kind::Lost),
    (ErrorPattern::Diesel(DatabaseErrorKind::ClosedConnection), Kind::Lost),
    (ErrorPattern::Code(SqlState::ADMIN_SHUTDOWN), Kind::Lost),
    (ErrorPattern::Code(SqlState::CRASH_SHUTDOWN), Kind::Lost),
    (ErrorPattern::Code(SqlState::CANNOT_CONNECT_NOW), Kind::Lost),
    (ErrorPattern::Code(SqlState::TOO_MANY_CONNECTIONS), Kind::Busy),
    (ErrorPattern::Code(SqlState::INSUFFICIENT_PRIVILEGE), Kind::Forbidden),
    (ErrorPattern::Contains(CHECK_PREFIX), Kind::Check),
    (ErrorPattern::Begins("terminating connection"), Kind::Lost),
    (ErrorPattern::Begins("the database system is"), Kind::Lost),
    (ErrorPattern::Begins("canceling statement due to statement timeout"), Kind::TimedOut),
    (ErrorPattern::Begins("canceling statement due to"), Kind::Busy),
    (ErrorPattern::Begins("sorry, too many clients"), Kind::Busy),
    (ErrorPattern::Begins("too many connections for"), Kind::Busy),
    (ErrorPattern::Begins("remaining connection slots"), Kind::Busy),
    // Classes 53 and 58 of SQLSTATE: no room, no memory, a failing disk.
    (ErrorPattern::Contains("No space left on device"), Kind::NoRoom),
    (ErrorPattern::Contains("Disk quota exceeded"), Kind::NoRoom),
    (ErrorPattern::Contains("Input/output error"), Kind::NoRoom),
    (ErrorPattern::Begins("out of memory"), Kind::NoRoom),
    (ErrorPattern::Begins("out of shared memory"), Kind::NoRoom),
    (ErrorPattern::Begins("could not resize shared memory segment"), Kind::NoRoom),
    (ErrorPattern::Begins("temporary file size exceeds"), Kind::NoRoom),
    (ErrorPattern::Begins("could not extend file"), Kind::NoRoom),
    (ErrorPattern::Begins("could not write"), Kind::NoRoom),
    (ErrorPattern::Begins("could not read"), Kind::NoRoom),
    (ErrorPattern::Begins("could not open file"), Kind::NoRoom),
    (ErrorPattern::Begins("could not create file"), Kind::NoRoom),
    (ErrorPattern::Begins("could not create temporary file"), Kind::NoRoom),
    (ErrorPattern::Begins("could not access file"), Kind::NoRoom),
    (ErrorPattern::Begins("could not access status of transaction"), Kind::NoRoom),
    (ErrorPattern::Begins("could not fsync file"), Kind::NoRoom),
    (ErrorPattern::Begins("could not seek"), Kind::NoRoom),
    (ErrorPattern::Begins("could not truncate file"), Kind::NoRoom),
    // Another node of a cluster is unavailable.
    (ErrorPattern::Begins("connection to the remote node"), Kind::Busy),
    (ErrorPattern::Begins("could not establish any connections to the node"), Kind::Busy),
    (ErrorPattern::Begins("failure on connection marked as essential"), Kind::Busy),
    (ErrorPattern::Begins("server closed the connection unexpectedly"), Kind::Busy),
    (ErrorPattern::Begins("deadlock detected"), Kind::Collided),
    // Deadlock of a transaction on several nodes.
    (
        ErrorPattern::Begins("canceling the transaction since it was involved in a distributed deadlock"),
        Kind::Collided,
    ),
    (ErrorPattern::Contains("permission denied"), Kind::Forbidden),
    (ErrorPattern::Contains("must be owner"), Kind::Forbidden),
    (ErrorPattern::Contains("operation is not allowed on this node"), Kind::Forbidden),
    (ErrorPattern::Contains("already exists"), Kind::Redefined),
    (ErrorPattern::Contains("already a partition"), Kind::Redefined),
    (ErrorPattern::Contains("does not exist"), Kind::Redefined),
    (ErrorPattern::Contains("would be violated"), Kind::Redefined),
];

/// Classifies a failure of the server by the known parts of its error.
pub(super) fn kind_of(diesel: Option<&DatabaseErrorKind>, code: Option<&SqlState>, message: &str) -> Kind {
    if code.is_some_and(|state| matches!(state.code().get(..2), Some("53" | "58")) && !is_crowded(state)) {
        return Kind::NoRoom;
    }
    let fits = |sign: &ErrorPattern| match sign {
        ErrorPattern::Diesel(kind) => diesel.is_some_and(|other| discriminant(other) == discriminant(kind)),
        ErrorPattern::Code(state) => code == Some(state),
        ErrorPattern::Begins(words) => message.starts_with(words),
        ErrorPattern::Contains(words) => message.contains(words),
    };
    KINDS.iter().find(|(sign, _)| fits(sign)).map_or(Kind::Other, |(_, kind)| *kind)
}

/// Classifies a failure that Diesel passes on, without its SQLSTATE. If messages are translated, a failure without
/// a known sign may be a lock timeout, so it counts as temporary.
pub(super) fn kind_in_language(diesel: &DatabaseErrorKind, message: &str, is_translated: bool) -> Kind {
    let kind = kind_of(Some(diesel), None, message);
    let is_unknown = matches!(diesel, DatabaseErrorKind::Unknown) && kind == Kind::Other;
    if is_unknown && is_translated { Kind::Busy } else { kind }
}

/// Returns `true` for the code of class 53 that is no lack of room: too many connections.
fn is_crowded(state: &SqlState) -> bool {
    *state == SqlState::TOO_MANY_CONNECTIONS
}

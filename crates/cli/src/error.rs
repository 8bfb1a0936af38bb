//! Errors that the operator sees. Each states in one line the failure, its cause and the remedy.
//!
//! This module knows the failures that any command may have. A failure of one command or one part of the program
//! is declared beside it, as a [`CommandFailure`].

use std::error;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::ExitCode;

/// Last words of the operation in errors of writes to standard output. A broken pipe with these words means that
/// the reader closed standard output.
const STANDARD_OUTPUT: &str = "to standard output";
/// Exit status of most failures.
pub const FAILURE: u8 = 1;
/// Exit status for a wrong command line or flag.
pub const WRONG_USAGE: u8 = 2;

/// Failure of one command or one part of the program, which declares it.
pub trait CommandFailure: error::Error + Send + Sync + 'static {
    /// Returns the exit status, by which scripts distinguish failures.
    fn exit_status(&self) -> u8 {
        FAILURE
    }

    /// Returns the texts for standard error, one per problem.
    fn texts(&self) -> Vec<String> {
        vec![self.to_string()]
    }
}

/// Failure of a command.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// A file or socket operation failed.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The service rejected the operation of a command, for instance because a name is invalid.
    #[error("cannot {what}: {reason}; {remedy}")]
    Refused {
        /// The operation, as a verb and its object.
        what: String,
        /// Reason of the rejection.
        reason: String,
        /// Remedy, as an instruction to the operator.
        remedy: &'static str,
    },
    /// An argument has an invalid form.
    #[error("{argument} is {value:?}: {wanted}; see `candor help`")]
    Argument {
        /// Name of the argument.
        argument: &'static str,
        /// The invalid value, as written.
        value: String,
        /// The expected form of the value.
        wanted: String,
    },
    /// A failure that only a defect of the program can explain.
    #[error("cannot {what}: {reason}; this is a defect, please report it")]
    Defect {
        /// The operation, as a verb and its object.
        what: &'static str,
        /// Message of the unexpected failure.
        reason: String,
    },
    /// A failure that is specific to one command or one part of the program.
    #[error("{0}")]
    Specific(Box<dyn CommandFailure>),
}

/// Failure of a file or socket operation.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what}: {source}; {}", remedy(source.kind()))]
pub struct IoError {
    /// The operation, as a verb and its object.
    what: String,
    /// Error of the operating system.
    source: io::Error,
}

impl IoError {
    /// Converts an I/O error into one that names the operation: `verb`, then `path`.
    pub fn naming_operation(verb: &str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let what = format!("{verb} {}", path.as_ref().display());
        move |source| Self { what, source }
    }

    /// Returns `true` if the reader of standard output has closed it, as `head` does. That is the reader's choice, and
    /// no failure.
    fn is_closed_by_the_reader(&self) -> bool {
        self.source.kind() == ErrorKind::BrokenPipe && self.what.ends_with(STANDARD_OUTPUT)
    }
}

/// Remedies by kind of I/O error, as instructions to the operator.
const REMEDIES: [(ErrorKind, &str); 13] = [
    (ErrorKind::NotFound, "check that the path exists"),
    (ErrorKind::PermissionDenied, "check that this user may use it"),
    (ErrorKind::AlreadyExists, "choose another name, or remove what has this name"),
    (ErrorKind::IsADirectory, "name a file instead of a folder"),
    (ErrorKind::NotADirectory, "correct the path: a part of it that must be a folder is a file"),
    (ErrorKind::InvalidData, "the file has another format; restore the right file"),
    (ErrorKind::StorageFull, "free some disk space"),
    (ErrorKind::QuotaExceeded, "free some disk space"),
    (ErrorKind::ReadOnlyFilesystem, "choose a folder that can be written to"),
    (ErrorKind::AddrInUse, "stop the program that uses the address, or choose another one"),
    (ErrorKind::AddrNotAvailable, "choose an address of this machine"),
    (ErrorKind::ConnectionRefused, "check that the service runs and can be reached"),
    (ErrorKind::TimedOut, "check that the service runs and can be reached"),
];
/// Remedy for every other kind of I/O error.
const OTHER_REMEDY: &str = "look up this message of the operating system, and correct its cause";

fn remedy(kind: ErrorKind) -> &'static str {
    REMEDIES.iter().find(|(known, _)| *known == kind).map_or(OTHER_REMEDY, |(_, remedy)| remedy)
}

impl<F: CommandFailure> From<F> for CommandError {
    fn from(failure: F) -> Self {
        Self::Specific(Box::new(failure))
    }
}

impl CommandError {
    /// Converts an I/O error into one that names the operation: `verb`, then `path`.
    pub fn io(verb: &str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let failure = IoError::naming_operation(verb, path);
        move |source| Self::Io(failure(source))
    }

    fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Io(failure) if failure.is_closed_by_the_reader())
    }

    /// Returns the lines for standard error, one per problem; none if the reader has closed standard output. Line
    /// breaks in database messages are removed.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        if self.is_closed_pipe() {
            return vec![];
        }
        let texts = if let Self::Specific(failure) = self { failure.texts() } else { vec![self.to_string()] };
        texts.iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    /// Returns the exit status, by which scripts distinguish the errors.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        if self.is_closed_pipe() {
            return ExitCode::SUCCESS;
        }
        ExitCode::from(match self {
            Self::Specific(failure) => failure.exit_status(),
            Self::Argument { .. } => WRONG_USAGE,
            Self::Io(_) | Self::Refused { .. } | Self::Defect { .. } => FAILURE,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedy_of_an_io_failure_fits_its_kind() {
        let text = |kind: ErrorKind| CommandError::io("read", "/data/master.key")(kind.into()).lines().concat();
        assert!(text(ErrorKind::NotFound).ends_with("; check that the path exists"));
        assert!(text(ErrorKind::PermissionDenied).ends_with("; check that this user may use it"));
        for kind in [ErrorKind::StorageFull, ErrorKind::InvalidData, ErrorKind::AddrInUse, ErrorKind::Other] {
            assert!(!text(kind).contains("check that the path exists"), "{}", text(kind));
        }
    }

    #[test]
    fn reader_that_closes_standard_output_ends_the_command_silently() {
        let broken_pipe = CommandError::io("write", STANDARD_OUTPUT)(ErrorKind::BrokenPipe.into());
        assert_eq!((broken_pipe.lines(), broken_pipe.exit_code()), (vec![], ExitCode::SUCCESS));
        for (place, kind) in [(STANDARD_OUTPUT, ErrorKind::StorageFull), ("a socket", ErrorKind::BrokenPipe)] {
            let other_error = CommandError::io("write", place)(kind.into());
            assert_eq!(
                (other_error.lines().len(), other_error.exit_code()),
                (1, ExitCode::from(FAILURE)),
                "{place}"
            );
        }
    }
}

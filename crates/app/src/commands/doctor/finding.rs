//! Result of a check.

use std::error::Error;

use serde_json::{Value, json};

use crate::store;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The check found no problem.
    Good,
    /// The service works, but the operator should look at the finding.
    Warning,
    /// The service does not start, or loses work.
    Broken,
    /// The check could not be run.
    Skipped,
}

impl State {
    const fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Warning => "warning",
            Self::Broken => "broken",
            Self::Skipped => "skipped",
        }
    }
}

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) check: &'static str,
    pub(super) state: State,
    pub(super) says: String,
    /// Remedy of a problem; `None` if the check passed or was skipped, or if no remedy is known.
    pub(super) remedy: Option<String>,
}

impl Finding {
    pub(super) fn good(check: &'static str, says: impl Into<String>) -> Self {
        Self { check, state: State::Good, says: says.into(), remedy: None }
    }

    pub(super) fn warn(check: &'static str, says: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, state: State::Warning, says: says.into(), remedy: Some(remedy.into()) }
    }

    pub(super) fn report_fault(check: &'static str, says: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, state: State::Broken, says: says.into(), remedy: Some(remedy.into()) }
    }

    pub(super) fn skip(check: &'static str, why: impl Into<String>) -> Self {
        Self { check, state: State::Skipped, says: why.into(), remedy: None }
    }

    /// Creates a finding from an error. The text after the first semicolon of its message is the remedy; a message without
    /// one has that of its database, if it is known.
    pub(super) fn from_error(check: &'static str, error: &dyn Error) -> Self {
        let line = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        match line.split_once("; ") {
            Some((says, remedy)) => Self::report_fault(check, says, remedy),
            None => {
                let remedy = store::known_remedy(&line).map(ToOwned::to_owned);
                Self { check, state: State::Broken, says: line, remedy }
            }
        }
    }

    pub(super) fn object(&self) -> Value {
        json!({"check": self.check, "state": self.state.word(), "message": self.says, "remedy": self.remedy})
    }

    /// Returns the table rows of the finding: the result, then the remedy.
    pub(super) fn lines(&self) -> Vec<Vec<String>> {
        let first = vec![self.state.word().to_owned(), self.check.to_owned(), self.says.clone()];
        let remedy = self.remedy.iter().map(|remedy| vec![String::new(), String::new(), format!("→ {remedy}")]);
        std::iter::once(first).chain(remedy).collect()
    }
}

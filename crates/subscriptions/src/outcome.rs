//! The outcome of an attempt, and the step that follows it.

use candor_domain::attempt_failure::FailureReason;
use candor_domain::time::Timestamp;

use super::Status;

/// The outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptOutcome {
    /// The receiver responded with 2xx in time.
    Acknowledged,
    /// The attempt failed for this reason.
    Failed(FailureReason),
}

impl AttemptOutcome {
    /// Returns the outcome of a response in time (§6.3): any 2xx acknowledges.
    #[must_use]
    pub const fn from_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Acknowledged,
            300..=399 => Self::Failed(FailureReason::Redirect),
            410 => Self::Failed(FailureReason::Gone),
            _ => Self::Failed(FailureReason::Status),
        }
    }

    /// Returns the status of a test delivery in the log; a test is attempted once (decision F7).
    #[must_use]
    pub const fn test_status(self) -> Status {
        match self {
            Self::Acknowledged => Status::Success,
            Self::Failed(_) => Status::Failed,
        }
    }
}

/// The step after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// No step: the receiver acknowledged the delivery.
    Success,
    /// Another attempt follows after a delay.
    Retry {
        /// Time when the attempt is due.
        at: Timestamp,
    },
    /// The delivery is dropped: this was the last attempt.
    Dropped,
}

impl NextStep {
    /// Returns the status of the attempt in the delivery log (decision F2).
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::Success => Status::Success,
            Self::Retry { .. } => Status::Failed,
            Self::Dropped => Status::Dropped,
        }
    }

    /// Returns the time of the next attempt, if there is one.
    #[must_use]
    pub const fn next_attempt_at(self) -> Option<Timestamp> {
        match self {
            Self::Retry { at } => Some(at),
            Self::Success | Self::Dropped => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_2xx_status_acknowledges() {
        for status in 0..=999 {
            let outcome = AttemptOutcome::from_status(status);
            let expected_outcome = match status / 100 {
                2 => AttemptOutcome::Acknowledged,
                4 if status == 410 => AttemptOutcome::Failed(FailureReason::Gone),
                3 => AttemptOutcome::Failed(FailureReason::Redirect),
                _ => AttemptOutcome::Failed(FailureReason::Status),
            };
            assert_eq!(outcome, expected_outcome, "{status}");
            let test = if status / 100 == 2 { Status::Success } else { Status::Failed };
            assert_eq!(outcome.test_status(), test, "{status}");
        }
    }

    #[test]
    fn each_step_has_its_status_in_the_log() {
        let due = Timestamp::from_millis(9);
        let table = [
            (NextStep::Success, Status::Success, None),
            (NextStep::Retry { at: due }, Status::Failed, Some(due)),
            (NextStep::Dropped, Status::Dropped, None),
        ];
        for (next, status, at) in table {
            assert_eq!((next.status(), next.next_attempt_at()), (status, at));
        }
    }
}

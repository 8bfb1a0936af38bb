//! Receivers, each with its own way of answering.

use candor_domain::webhook::{AttemptOutcome, AttemptResponse, FailureReason};

use crate::random::Random;

const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600 * SECOND;
/// How long a receiver may take.
pub(crate) const TIMEOUT: i64 = 15 * SECOND;

/// How a receiver takes attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// It acknowledges within a tenth of a second.
    Prompt,
    /// It acknowledges after seconds.
    Slow,
    /// It never answers.
    Hanging,
    /// It answers with an error.
    Refusing,
    /// Nobody is there.
    Unreachable,
    /// It is prompt for so long and then hangs for so long, in turn.
    Flapping { up: i64, down: i64 },
}

impl Receiver {
    pub(crate) fn any(random: &mut Random) -> Self {
        match random.between(0, 100) {
            0..40 => Self::Prompt,
            40..55 => Self::Slow,
            55..70 => Self::Hanging,
            70..78 => Self::Refusing,
            78..85 => Self::Unreachable,
            _ => {
                let mut time = || random.between(5 * 60 * SECOND, 30 * HOUR);
                Self::Flapping { up: time(), down: time() }
            }
        }
    }

    /// What it answers to an attempt that begins now.
    pub(crate) fn answer(self, now: i64, random: &mut Random) -> AttemptResponse {
        let answer = |millis: i64, status: u16, outcome| {
            let duration_ms = u32::try_from(millis).unwrap_or(u32::MAX);
            AttemptResponse { status, duration_ms, outcome }
        };
        let acknowledged = |millis| answer(millis, 200, AttemptOutcome::Acknowledged);
        let silent = answer(TIMEOUT, 0, AttemptOutcome::Failed(FailureReason::Timeout));
        match self {
            Self::Prompt => acknowledged(random.between(1, 90)),
            Self::Slow if random.chance(100) => silent,
            Self::Slow => acknowledged(random.between(SECOND, TIMEOUT)),
            Self::Hanging => silent,
            Self::Refusing => answer(random.between(1, 200), 500, AttemptOutcome::Failed(FailureReason::Status)),
            Self::Unreachable => {
                answer(random.between(1, 3 * SECOND), 0, AttemptOutcome::Failed(FailureReason::Connect))
            }
            Self::Flapping { up, down } if now.rem_euclid(up + down) < up => acknowledged(random.between(1, 90)),
            Self::Flapping { .. } => silent,
        }
    }
}

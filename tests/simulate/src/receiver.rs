//! Receivers of different behaviour.

use crate::plan::{HOUR, MINUTE, SECOND};
use crate::random::Random;
use candor_domain::attempt_failure::FailureReason;
use candor_domain::time::Timestamp;
use candor_subscriptions::{AttemptOutcome, AttemptResponse, RequestedPause};

/// Timeout of an attempt.
const TIMEOUT: i64 = 15 * SECOND;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// Acknowledges within a tenth of a second.
    Prompt,
    /// Acknowledges after 1 to 15 seconds, or rarely never.
    Slow,
    /// Accepts requests and never responds.
    Hanging,
    /// Responds with an error.
    Refusing,
    /// Is prompt for `up` milliseconds and asks for pauses of at most `seconds` for `down` milliseconds, in turn.
    Busy { up: i64, down: i64, seconds: i64 },
    /// Is prompt until `at`, and ends its subscription then.
    Gone { at: i64 },
    /// Accepts no connection: attempts fail within three seconds.
    Unreachable,
    /// Is prompt for `up` milliseconds and hangs for `down` milliseconds, in turn.
    Flapping { up: i64, down: i64 },
}

impl Receiver {
    pub(crate) fn any(random: &mut Random) -> Self {
        match random.between(0, 100) {
            0..40 => Self::Prompt,
            40..55 => Self::Slow,
            55..70 => Self::Hanging,
            70..76 => Self::Refusing,
            76..81 => Self::Unreachable,
            81..88 => {
                let seconds = random.pick(&[10, 3_600, 50_000, 200_000]);
                Self::Busy { up: random.between(MINUTE, HOUR), down: random.between(MINUTE, 30 * HOUR), seconds }
            }
            88..92 => Self::Gone { at: random.between(0, 600 * HOUR) },
            _ => {
                let mut time = || random.between(5 * MINUTE, 30 * HOUR);
                Self::Flapping { up: time(), down: time() }
            }
        }
    }

    /// Returns the response to an attempt that starts now, at `wall` by the receiver's clock.
    pub(crate) fn respond(self, now: i64, wall: Timestamp, random: &mut Random) -> AttemptResponse {
        let response = |millis: i64, status: u16, outcome| {
            let duration_ms = u32::try_from(millis).unwrap_or(u32::MAX);
            AttemptResponse { status, duration_ms, outcome, retry_after: None }
        };
        let failure = |millis, status, reason| response(millis, status, AttemptOutcome::Failed(reason));
        let success = |millis| response(millis, 200, AttemptOutcome::Acknowledged);
        let silent = failure(TIMEOUT, 0, FailureReason::Timeout);
        match self {
            Self::Prompt => success(random.between(1, 90)),
            Self::Slow if random.chance(100) => silent,
            Self::Slow => success(random.between(SECOND, TIMEOUT)),
            Self::Hanging => silent,
            Self::Refusing => failure(random.between(1, 200), 500, FailureReason::Status),
            Self::Busy { up, down, .. } if now.rem_euclid(up + down) < up => success(random.between(1, 90)),
            Self::Busy { seconds, .. } => {
                let (seconds, status) = (random.between(seconds / 2, seconds), random.pick(&[429, 503]));
                let retry_after = if random.chance(500) {
                    RequestedPause::Seconds(seconds.unsigned_abs())
                } else {
                    RequestedPause::At(wall.plus_seconds(seconds))
                };
                let busy = failure(random.between(1, 200), status, FailureReason::Status);
                AttemptResponse { retry_after: Some(retry_after), ..busy }
            }
            Self::Gone { at } if now < at => success(random.between(1, 90)),
            Self::Gone { .. } => failure(random.between(1, 200), 410, FailureReason::Gone),
            Self::Unreachable => failure(random.between(1, 3 * SECOND), 0, FailureReason::Connect),
            Self::Flapping { up, down } if now.rem_euclid(up + down) < up => success(random.between(1, 90)),
            Self::Flapping { .. } => silent,
        }
    }
}

//! When a delivery is attempted again, and when it is given up (§6.4, decisions F2, F4).

use super::{AttemptOutcome, Status};
use crate::time::Timestamp;

/// The delays of §6.4, in seconds: before attempt 2, 3, …, 7.
const DEFAULT_DELAYS: [i64; 6] = [30, 120, 600, 3_600, 21_600, 86_400];
/// More retries than anybody wants to wait for; attempt numbers are stored in 16 bits.
pub const MAX_RETRIES: usize = 100;
/// No delay is longer than the log is kept.
const MAX_DELAY_SECONDS: i64 = super::LOG_DAYS * 86_400;

/// The delays between the attempts of one delivery.
///
/// ```
/// use candor_domain::webhook::Schedule;
///
/// assert_eq!(Schedule::parse("30s,2m,10m,1h,6h,24h"), Ok(Schedule::default()));
/// assert_eq!(Schedule::default().attempts(), 7);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    delays: Vec<i64>,
}

/// The text is not a retry schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected at most {MAX_RETRIES} delays of 1 second to 30 days, like `30s,2m,10m,1h,6h,24h`")]
pub struct NotASchedule;

/// What follows an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Nothing: it was acknowledged.
    Success,
    /// Another attempt.
    Retry {
        /// When it is due.
        at: Timestamp,
    },
    /// Nothing: it was the last one.
    Dropped,
}

/// What becomes of a queued retry when its subscription is active again (decision F4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumed {
    /// It is attempted.
    At(Timestamp),
    /// It is too late for it.
    Dropped,
}

impl Default for Schedule {
    fn default() -> Self {
        Self { delays: DEFAULT_DELAYS.to_vec() }
    }
}

impl Schedule {
    /// Reads delays like `30s,2m,10m,1h,6h,24h`; an empty text means one attempt and no retry.
    ///
    /// # Errors
    /// [`NotASchedule`].
    pub fn parse(text: &str) -> Result<Self, NotASchedule> {
        let parts: Vec<_> = text.split(',').map(str::trim).collect();
        let delays: Option<Vec<_>> =
            if parts == [""] { Some(vec![]) } else { parts.into_iter().map(seconds).collect() };
        delays.filter(|it| it.len() <= MAX_RETRIES).map(|delays| Self { delays }).ok_or(NotASchedule)
    }

    /// How often a delivery is attempted at most.
    #[must_use]
    pub fn attempts(&self) -> usize {
        self.delays.len() + 1
    }

    /// Seconds from the first attempt to the last one, when each fails at once (§6.4: about 31 hours).
    #[must_use]
    pub fn window_seconds(&self) -> i64 {
        self.delays.iter().sum()
    }

    /// What follows attempt number `attempt`, the first one being 1, that ended like this at this time.
    #[must_use]
    pub fn after(&self, attempt: u16, outcome: AttemptOutcome, now: Timestamp) -> Next {
        if outcome == AttemptOutcome::Acknowledged {
            return Next::Success;
        }
        match usize::from(attempt).checked_sub(1).and_then(|it| self.delays.get(it)) {
            Some(delay) => Next::Retry { at: now.plus_seconds(*delay) },
            None => Next::Dropped,
        }
    }

    /// What becomes of a retry whose delivery was first due at `first`, when its subscription is active again.
    ///
    /// `due` is when the retry was to be made; one that was missed is made now.
    #[must_use]
    pub fn resume(&self, first: Timestamp, due: Timestamp, now: Timestamp) -> Resumed {
        if now > first.plus_seconds(self.window_seconds()) { Resumed::Dropped } else { Resumed::At(due.max(now)) }
    }
}

impl Next {
    /// What the log says of the attempt (decision F2).
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::Success => Status::Success,
            Self::Retry { .. } => Status::Failed,
            Self::Dropped => Status::Dropped,
        }
    }

    /// When the next attempt is due, if there is one.
    #[must_use]
    pub const fn next_attempt_at(self) -> Option<Timestamp> {
        match self {
            Self::Retry { at } => Some(at),
            Self::Success | Self::Dropped => None,
        }
    }
}

fn seconds(text: &str) -> Option<i64> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    if !digits.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let seconds = digits.parse::<i64>().ok()?.checked_mul(unit)?;
    (1..=MAX_DELAY_SECONDS).contains(&seconds).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::super::FailureReason;
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_772_352_930_123);
    const FAILED: AttemptOutcome = AttemptOutcome::Failed(FailureReason::Timeout);

    #[test]
    fn seven_attempts_are_made_and_then_the_delivery_is_dropped() {
        let schedule = Schedule::default();
        let table: [(u16, i64, Option<i64>); 7] = [
            // attempt, seconds since the first one, delay to the next
            (1, 0, Some(30)),
            (2, 30, Some(120)),
            (3, 150, Some(600)),
            (4, 750, Some(3_600)),
            (5, 4_350, Some(21_600)),
            (6, 25_950, Some(86_400)),
            (7, 112_350, None),
        ];
        for (attempt, since, delay) in table {
            let now = START.plus_seconds(since);
            let wanted = delay.map_or(Next::Dropped, |it| Next::Retry { at: now.plus_seconds(it) });
            assert_eq!(schedule.after(attempt, FAILED, now), wanted, "attempt {attempt}");
            assert_eq!(schedule.after(attempt, AttemptOutcome::Acknowledged, now), Next::Success, "attempt {attempt}");
        }
        assert_eq!((schedule.attempts(), schedule.window_seconds()), (7, 112_350));
    }

    #[test]
    fn an_attempt_beyond_the_schedule_is_the_last_one() {
        for attempt in [0, 8, u16::MAX] {
            assert_eq!(Schedule::default().after(attempt, FAILED, START), Next::Dropped, "{attempt}");
        }
        assert_eq!(Schedule::parse("").unwrap().after(1, FAILED, START), Next::Dropped);
    }

    #[test]
    fn the_log_names_each_ending() {
        let table = [
            (Next::Success, Status::Success, None),
            (Next::Retry { at: START }, Status::Failed, Some(START)),
            (Next::Dropped, Status::Dropped, None),
        ];
        for (next, status, at) in table {
            assert_eq!((next.status(), next.next_attempt_at()), (status, at));
        }
    }

    #[test]
    fn a_retry_resumes_while_its_window_is_open() {
        let schedule = Schedule::default();
        let end = START.plus_seconds(112_350);
        let due = START.plus_seconds(150);
        let later = |it: Timestamp| Timestamp::from_millis(it.millis() + 1);
        let table = [
            (START, Resumed::At(due)),
            (due, Resumed::At(due)),
            (later(due), Resumed::At(later(due))),
            (end, Resumed::At(end)),
            (later(end), Resumed::Dropped),
        ];
        for (now, wanted) in table {
            assert_eq!(schedule.resume(START, due, now), wanted, "{now}");
        }
    }

    #[test]
    fn a_schedule_is_a_list_of_delays() {
        let delays = |text: &str| Schedule::parse(text).map(|it| it.delays);
        assert_eq!(delays("1s, 2m ,3h,4d"), Ok(vec![1, 120, 10_800, 345_600]));
        assert_eq!(delays("30d"), Ok(vec![2_592_000]));
        assert!(delays(&["1s"; MAX_RETRIES].join(",")).is_ok());
        for bad in
            ["0s", "31d", "1", "s", "1.5h", "-1s", "+1s", "1w", "1s,", ",", "1s;2s", "99999999999999999999s", "é"]
        {
            assert_eq!(delays(bad), Err(NotASchedule), "{bad}");
        }
        assert_eq!(delays(&["1s"; MAX_RETRIES + 1].join(",")), Err(NotASchedule));
    }
}

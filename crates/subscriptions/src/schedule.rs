//! The retry schedule of deliveries (§6.4, decisions F2, F4).

use candor_domain::time::Timestamp;

use super::{AttemptOutcome, NextStep, RequestedPause};

/// Default delays before attempts 2 to 7, in seconds (§6.4).
const DEFAULT_DELAYS: [i64; 6] = [30, 120, 600, 3_600, 21_600, 86_400];
/// Maximum number of delays of a schedule. Attempt numbers are stored in 16 bits, and longer schedules serve no
/// purpose.
pub const MAX_RETRIES: usize = 100;
/// Longest delay, in seconds: the time for which the delivery log is kept.
const MAX_DELAY_SECONDS: i64 = super::LOG_DAYS * 86_400;

/// The delays between the attempts of one delivery.
///
/// ```
/// use candor_subscriptions::Schedule;
///
/// assert_eq!(Schedule::parse("30s,2m,10m,1h,6h,24h"), Ok(Schedule::default()));
/// assert_eq!(Schedule::default().attempts(), 7);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    delays: Vec<i64>,
}

/// The error for a text that is not a retry schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected at most {MAX_RETRIES} delays of 1 second to 30 days, like `30s,2m,10m,1h,6h,24h`")]
pub struct ScheduleError;

/// The fate of a queued retry when its subscription becomes active again (decision F4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumedRetry {
    /// The retry is attempted at this time.
    At(Timestamp),
    /// The retry is dropped, because it is too late.
    Dropped,
}

impl Default for Schedule {
    fn default() -> Self {
        Self { delays: DEFAULT_DELAYS.to_vec() }
    }
}

impl Schedule {
    /// Parses delays like `30s,2m,10m,1h,6h,24h`; an empty text means one attempt without retries.
    ///
    /// # Errors
    /// Returns [`ScheduleError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, ScheduleError> {
        let parts: Vec<_> = text.split(',').map(str::trim).collect();
        let delays: Option<Vec<_>> =
            if parts == [""] { Some(vec![]) } else { parts.into_iter().map(seconds).collect() };
        delays.filter(|delays| delays.len() <= MAX_RETRIES).map(|delays| Self { delays }).ok_or(ScheduleError)
    }

    /// Returns the largest number of attempts of a delivery.
    #[must_use]
    pub fn attempts(&self) -> usize {
        self.delays.len() + 1
    }

    /// Returns the seconds between the first and the last attempt if each fails at once (§6.4: about 31 hours).
    #[must_use]
    pub fn window_seconds(&self) -> i64 {
        self.delays.iter().sum()
    }

    /// Returns the step after attempt number `attempt`, starting at 1, that ended with `outcome` at `now`.
    ///
    /// `requested` postpones a retry up to 24 hours. It never adds an attempt.
    #[must_use]
    pub fn next_step(
        &self,
        attempt: u16,
        outcome: AttemptOutcome,
        requested: Option<RequestedPause>,
        now: Timestamp,
    ) -> NextStep {
        if outcome == AttemptOutcome::Acknowledged {
            return NextStep::Success;
        }
        match usize::from(attempt).checked_sub(1).and_then(|index| self.delays.get(index)) {
            Some(delay) => {
                let own = now.plus_seconds(*delay);
                NextStep::Retry { at: requested.map_or(own, |requested| requested.next_attempt_at(own, now)) }
            }
            None => NextStep::Dropped,
        }
    }

    /// Decides about a retry when its subscription becomes active again. A retry whose time has passed is attempted
    /// now.
    ///
    /// `first` is the time when the first attempt of the delivery was due, `due` the planned time of the retry.
    #[must_use]
    pub fn resume(&self, first: Timestamp, due: Timestamp, now: Timestamp) -> ResumedRetry {
        if now > first.plus_seconds(self.window_seconds()) {
            ResumedRetry::Dropped
        } else {
            ResumedRetry::At(due.max(now))
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
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds = digits.parse::<i64>().ok()?.checked_mul(unit)?;
    (1..=MAX_DELAY_SECONDS).contains(&seconds).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::attempt_failure::FailureReason;

    const START: Timestamp = Timestamp::from_millis(1_772_352_930_123);
    const FAILED: AttemptOutcome = AttemptOutcome::Failed(FailureReason::Timeout);

    #[test]
    fn default_schedule_drops_a_delivery_after_seven_attempts() {
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
            let expected_step =
                delay.map_or(NextStep::Dropped, |seconds| NextStep::Retry { at: now.plus_seconds(seconds) });
            assert_eq!(schedule.next_step(attempt, FAILED, None, now), expected_step, "attempt {attempt}");
            assert_eq!(
                schedule.next_step(attempt, AttemptOutcome::Acknowledged, None, now),
                NextStep::Success,
                "attempt {attempt}"
            );
        }
        assert_eq!((schedule.attempts(), schedule.window_seconds()), (7, 112_350));
    }

    #[test]
    fn requested_delay_postpones_a_retry_and_adds_none() {
        let schedule = Schedule::default();
        let step_after = |attempt, seconds| {
            schedule.next_step(attempt, FAILED, Some(RequestedPause::Seconds(seconds)), START).next_attempt_at()
        };
        let table =
            [(1, 29, Some(30)), (1, 31, Some(31)), (3, 31, Some(600)), (6, 90_000, Some(86_400)), (7, 31, None)];
        for (attempt, seconds, delay) in table {
            assert_eq!(
                step_after(attempt, seconds),
                delay.map(|delay| START.plus_seconds(delay)),
                "{attempt}, {seconds}"
            );
        }
        let success = AttemptOutcome::Acknowledged;
        assert_eq!(schedule.next_step(1, success, Some(RequestedPause::Seconds(9)), START), NextStep::Success);
    }

    #[test]
    fn attempt_beyond_the_schedule_is_the_last_one() {
        for attempt in [0, 8, u16::MAX] {
            assert_eq!(
                Schedule::default().next_step(attempt, FAILED, None, START),
                NextStep::Dropped,
                "{attempt}"
            );
        }
        assert_eq!(Schedule::parse("").unwrap().next_step(1, FAILED, None, START), NextStep::Dropped);
    }

    #[test]
    fn retry_resumes_within_the_window_of_the_schedule() {
        let schedule = Schedule::default();
        let end = START.plus_seconds(112_350);
        let due = START.plus_seconds(150);
        let next_millisecond = |time: Timestamp| Timestamp::from_millis(time.millis() + 1);
        let table = [
            (START, ResumedRetry::At(due)),
            (due, ResumedRetry::At(due)),
            (next_millisecond(due), ResumedRetry::At(next_millisecond(due))),
            (end, ResumedRetry::At(end)),
            (next_millisecond(end), ResumedRetry::Dropped),
        ];
        for (now, wanted) in table {
            assert_eq!(schedule.resume(START, due, now), wanted, "{now}");
        }
    }

    #[test]
    fn schedule_is_parsed_from_a_list_of_delays() {
        let delays = |text: &str| Schedule::parse(text).map(|schedule| schedule.delays);
        assert_eq!(delays("1s, 2m ,3h,4d"), Ok(vec![1, 120, 10_800, 345_600]));
        assert_eq!(delays("30d"), Ok(vec![2_592_000]));
        assert!(delays(&["1s"; MAX_RETRIES].join(",")).is_ok());
        for bad in
            ["0s", "31d", "1", "s", "1.5h", "-1s", "+1s", "1w", "1s,", ",", "1s;2s", "99999999999999999999s", "é"]
        {
            assert_eq!(delays(bad), Err(ScheduleError), "{bad}");
        }
        assert_eq!(delays(&["1s"; MAX_RETRIES + 1].join(",")), Err(ScheduleError));
    }
}

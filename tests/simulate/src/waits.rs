//! The promise about progress: a delivery to a prompt receiver is attempted soon. If the receiver has a rate, the
//! attempt starts within the windows that the rate needs for the deliveries before it.

/// Time within which the first attempt for a prompt receiver starts, whatever other receivers do. A delivery to an
/// unknown receiver may have to wait until attempts for other receivers have timed out. A delivery that has waited
/// too long is claimed again after its lease. After a disturbance, the time counts from the end of the disturbance.
const SERVED_WITHIN_MILLIS: i64 = 120_000;
/// Milliseconds in which as many deliveries are sent as the rate of a receiver permits in a window of one second.
/// The lookup of an attempt and calls for the rate lease use a part of this time.
const MILLIS_PER_WINDOW: i64 = 2_000;

/// Wait of a delivery for its first attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    since: i64,
    /// Promised end of the wait in milliseconds after `since`, if there is no disturbance.
    served_within: i64,
    /// `true` if the receiver has a rate.
    is_rate_limited: bool,
}

impl Wait {
    /// Returns the wait for a prompt receiver. If it has a rate, `earlier` deliveries come before.
    pub(crate) fn new(since: i64, rate: Option<u16>, earlier: usize) -> Self {
        let windows = rate.map_or(0, |rate| earlier / usize::from(rate.max(1)) + 1);
        let windows = i64::try_from(windows).unwrap_or(i64::MAX / 10_000);
        let served_within = SERVED_WITHIN_MILLIS + windows * MILLIS_PER_WINDOW;
        Self { since, served_within, is_rate_limited: rate.is_some() }
    }

    /// Returns `true` if the receiver has a rate.
    pub(crate) const fn is_rate_limited(&self) -> bool {
        self.is_rate_limited
    }

    /// Returns the undisturbed milliseconds of the wait so far.
    pub(crate) fn waited(&self, calm_since: i64, now: i64) -> i64 {
        now - self.since.max(calm_since)
    }

    /// Returns the description of the broken promise, if the wait is too long.
    pub(crate) fn broken(&self, calm_since: i64, now: i64) -> Option<String> {
        let (waited, windows) =
            (self.waited(calm_since, now), (self.served_within - SERVED_WITHIN_MILLIS) / 1_000);
        let why = if self.is_rate_limited {
            format!("though {windows} seconds suffice for the rate of its receiver")
        } else {
            "though its receiver is prompt".to_owned()
        };
        (waited > self.served_within).then(|| format!("it has waited for {waited} ms, {why}: it is starved"))
    }
}

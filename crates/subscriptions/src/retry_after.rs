//! `Retry-After` of a receiver's response: the earliest time that the receiver wants for the next attempt (§6.4).

use std::time::UNIX_EPOCH;

use candor_domain::time::Timestamp;

/// Longest delay that a receiver can request, in seconds. Without this bound a receiver could keep deliveries in
/// the queue forever.
const MAX_SECONDS: i64 = 86_400;

/// The value of one `Retry-After` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedPause {
    /// Seconds after the response.
    Seconds(u64),
    /// Time at which the pause ends.
    At(Timestamp),
}

impl RequestedPause {
    /// Parses the values of all `Retry-After` headers of a response. Returns `None` for several headers, and for a
    /// value that is neither a whole number of seconds nor an HTTP date.
    ///
    /// ```
    /// use candor_subscriptions::RequestedPause;
    ///
    /// assert_eq!(RequestedPause::from_headers([b"120".as_slice()]), Some(RequestedPause::Seconds(120)));
    /// assert_eq!(RequestedPause::from_headers([b"soon".as_slice()]), None);
    /// assert_eq!(RequestedPause::from_headers([b"1".as_slice(), b"2".as_slice()]), None);
    /// ```
    pub fn from_headers<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Option<Self> {
        let mut values = values.into_iter();
        let (only, None) = (values.next()?, values.next()) else { return None };
        let text = std::str::from_utf8(only).ok()?.trim_matches([' ', '\t']);
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            // A number beyond 64 bits is still a valid request for a long delay.
            return Some(Self::Seconds(text.parse().unwrap_or(u64::MAX)));
        }
        let date = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self::At(Timestamp::from_millis(i64::try_from(date.as_millis()).ok()?)))
    }

    /// Returns the time of the next attempt after a response at `now`: the requested one, but not before the
    /// schedule's `own` time, and not more than 24 hours after the response unless the schedule waits longer.
    pub(super) fn next_attempt_at(self, own: Timestamp, now: Timestamp) -> Timestamp {
        let latest = now.plus_seconds(MAX_SECONDS);
        let resume_time = match self {
            Self::Seconds(seconds) => i64::try_from(seconds)
                .map_or(latest, |seconds| if seconds < MAX_SECONDS { now.plus_seconds(seconds) } else { latest }),
            Self::At(at) => at.min(latest),
        };
        resume_time.max(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time of the response in all tests: 2026-03-01T08:15:30.123Z.
    const NOW: Timestamp = Timestamp::from_millis(1_772_352_930_123);

    fn delay(text: &str, own: i64) -> Option<i64> {
        let pause = RequestedPause::from_headers([text.as_bytes()])?;
        Some(pause.next_attempt_at(NOW.plus_seconds(own), NOW).millis() - NOW.millis())
    }

    #[test]
    fn requested_delay_is_clamped_between_step_and_a_day() {
        let table = [
            ("0", 30, 30_000),
            ("29", 30, 30_000),
            ("31", 30, 31_000),
            (" 31\t", 30, 31_000),
            ("0031", 30, 31_000),
            ("86399", 30, 86_399_000),
            ("86400", 30, 86_400_000),
            ("86401", 30, 86_400_000),
            ("9223372036854775807", 30, 86_400_000),
            ("18446744073709551615", 30, 86_400_000),
            ("99999999999999999999999999999999999999999", 30, 86_400_000),
            ("3600", 172_800, 172_800_000),
            ("99999999999999999999", 172_800, 172_800_000),
        ];
        for (text, own, millis) in table {
            assert_eq!(delay(text, own), Some(millis), "{text:?} with a step of {own} s");
        }
    }

    #[test]
    fn date_in_any_http_form_is_clamped_alike() {
        let table = [
            ("Sun, 01 Mar 2026 08:25:31 GMT", 600_877),
            ("Sunday, 01-Mar-26 08:25:31 GMT", 600_877),
            ("Sun Mar  1 08:25:31 2026", 600_877),
            ("Sun, 01 Mar 2026 08:15:31 GMT", 30_000),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 30_000),
            ("Tue, 03 Mar 2026 08:15:31 GMT", 86_400_000),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400_000),
        ];
        for (text, millis) in table {
            assert_eq!(delay(text, 30), Some(millis), "{text:?}");
        }
    }

    #[test]
    fn value_that_is_no_delay_and_no_date_is_ignored() {
        let values = [
            "",
            " ",
            "-1",
            "+1",
            "1.5",
            "1e3",
            "0x10",
            "12 s",
            "1,2",
            "soon",
            "null",
            "١٢",
            "Sun, 32 Mar 2026 08:25:31 GMT",
            "Sun, 01 Mar 2026 08:25:31 +0200",
            "2026-03-01T08:25:31Z",
            "Thu, 01 Jan 1969 00:00:00 GMT",
        ];
        for text in values {
            assert_eq!(RequestedPause::from_headers([text.as_bytes()]), None, "{text:?}");
        }
        assert_eq!(RequestedPause::from_headers([b"\xff".as_slice()]), None);
        assert_eq!(RequestedPause::from_headers([]), None);
        assert_eq!(RequestedPause::from_headers([b"60".as_slice(), b"60".as_slice()]), None, "two headers");
    }
}

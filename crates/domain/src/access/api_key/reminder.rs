//! Reminders to the org admins before an API key ends (decisions G).

use super::ApiKey;
use crate::audit::Target;
use crate::decision::{Decision, Resource};
use crate::notification::{Notice, Recipients, Type};
use crate::time::Timestamp;

/// Days before the end at which a reminder is due.
const DAYS_BEFORE: [i64; 3] = [14, 3, 1];
const DAY_SECONDS: i64 = 86_400;
const DAY_MILLIS: u64 = 86_400_000;

/// Returns the due time of the first reminder after `now`, or `None` if no reminder is left or the key does not
/// end.
pub(super) fn next_due_time(end: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    let end = end?;
    DAYS_BEFORE.into_iter().map(|days| end.plus_seconds(-days * DAY_SECONDS)).find(|due| *due > now)
}

impl ApiKey {
    /// Reminds the org admins of the key's end. Returns `None` if no reminder is due. For a key that has already
    /// ended, the decision has no notice.
    #[must_use]
    pub fn remind(&self, at: Timestamp) -> Option<Decision<Self>> {
        self.remind_at.filter(|due| *due <= at)?;
        let state = Self { remind_at: next_due_time(self.expires_at, at), ..self.clone() };
        let notices = self.expires_at.filter(|end| *end > at).map(|end| self.expiry_notice(end, at));
        let decision = Decision::for_change(self, state, "api_key.remind", vec![]);
        Some(Decision { notices: notices.into_iter().collect(), ..decision })
    }

    fn expiry_notice(&self, end: Timestamp, at: Timestamp) -> Notice {
        let days_left = (end.millis() - at.millis()).unsigned_abs().div_ceil(DAY_MILLIS);
        let days = if days_left == 1 { "1 day".to_owned() } else { format!("{days_left} days") };
        Notice {
            kind: Type::ApiKeyExpiring,
            to: Recipients::OrgAdmins,
            title: format!("The API key \u{201c}{}\u{201d} ends within {days}", self.name),
            body: format!(
                "It ends at {end}. Requests with this key are refused from then on. Set a later expiry date to \
                 keep it."
            ),
            target: Target { kind: Self::NAME.to_owned(), id: self.id.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOW, key};
    use super::*;

    fn key_ending_at(end: Timestamp) -> ApiKey {
        ApiKey { expires_at: Some(end), remind_at: next_due_time(Some(end), NOW), ..key() }
    }

    fn days(count: i64) -> Timestamp {
        NOW.plus_seconds(count * DAY_SECONDS)
    }

    #[test]
    fn reminders_are_sent_14_3_and_1_days_before_the_end() {
        let mut key = key_ending_at(days(30));
        let mut reminded_hours = vec![];
        for hour in 0..31 * 24 {
            let now = NOW.plus_seconds(hour * 3600);
            if let Some(decision) = key.remind(now) {
                reminded_hours.extend(decision.notices.iter().map(|notice| (hour / 24, notice.title.clone())));
                key = decision.state;
            }
        }
        let title = |days: &str| format!("The API key \u{201c}Reporting\u{201d} ends within {days}");
        assert_eq!(reminded_hours, [(16, title("14 days")), (27, title("3 days")), (29, title("1 day"))]);
        assert_eq!(key.remind_at, None);
    }

    #[test]
    fn overdue_reminders_are_sent_once() {
        let key = key_ending_at(days(30));
        let late = key.remind(days(28)).unwrap();
        assert_eq!((late.notices.len(), late.state.remind_at), (1, Some(days(29))), "once for both that were due");
        for time in [days(30), days(31)] {
            let last_reminder = key.remind(time).unwrap();
            assert_eq!(
                (last_reminder.notices.len(), last_reminder.state.remind_at),
                (0, None),
                "the key has ended"
            );
        }
    }

    #[test]
    fn short_lived_key_skips_reminders_before_its_creation() {
        assert_eq!(next_due_time(Some(days(10)), NOW), Some(days(7)));
        assert_eq!(next_due_time(Some(days(1)), NOW), None);
        assert_eq!(next_due_time(None, NOW), None);
    }
}

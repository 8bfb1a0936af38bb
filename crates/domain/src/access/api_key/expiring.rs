//! The event that announces the end of an API key, or of the secret that a rotation has replaced (decision F9).

use super::ApiKey;
use crate::decision::Decision;
use crate::event::EventType;
use crate::time::Timestamp;

/// Time before the end at which the event is due, in milliseconds: 7 days.
const LEAD_MILLIS: i64 = 7 * 86_400_000;

/// Returns the due time of the event: 7 days before the end. If the end is at most 7 days after `now`, the event
/// is due when a quarter of the time from `now` to the end is left.
pub(super) fn due(end: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    let end = end?.millis();
    let remaining_millis = (end - now.millis()).max(0);
    let lead = if remaining_millis > LEAD_MILLIS { LEAD_MILLIS } else { remaining_millis / 4 };
    Some(Timestamp::from_millis(end - lead))
}

impl ApiKey {
    /// Fires one event `api_key.expiring` if it is due for the key, for the previous secret, or for both. Returns
    /// `None` if it is due for neither. An end that has already passed is no longer announced: the decision then only
    /// removes the due time.
    #[must_use]
    pub fn announce_end(&self, at: Timestamp) -> Option<Decision<Self>> {
        let is_due = |due: Option<Timestamp>| due.is_some_and(|due| due <= at);
        let (own, previous) = (is_due(self.expiring_due), is_due(self.previous_expiring_due));
        if !own && !previous {
            return None;
        }
        let state = Self {
            expiring_due: self.expiring_due.filter(|_| !own),
            previous_expiring_due: self.previous_expiring_due.filter(|_| !previous),
            ..self.clone()
        };
        let lasts = self.expires_at.is_none_or(|end| at < end);
        let ends = lasts && (own || self.previous.is_some_and(|(_, until)| at < until));
        let events = if ends { vec![EventType::ApiKeyExpiring] } else { vec![] };
        Some(Decision::for_change(self, state, "api_key.announce_end", events))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOW, key};
    use super::*;

    const DAY: i64 = 86_400;

    fn days(count: i64) -> Timestamp {
        NOW.plus_seconds(count * DAY)
    }

    fn fires(key: &ApiKey, at: Timestamp) -> Option<usize> {
        key.announce_end(at).map(|decision| decision.events.len())
    }

    #[test]
    fn event_is_due_7_days_before_the_end_or_a_quarter() {
        assert_eq!(due(None, NOW), None);
        assert_eq!(due(Some(days(30)), NOW), Some(days(23)));
        assert_eq!(due(Some(days(8)), NOW), Some(days(1)));
        assert_eq!(due(Some(days(7)), NOW), Some(days(7).plus_seconds(-DAY * 7 / 4)));
        assert_eq!(due(Some(days(4)), NOW), Some(days(3)));
        assert_eq!(due(Some(NOW), NOW), Some(NOW));
    }

    #[test]
    fn end_of_a_key_is_announced_once() {
        let ending = ApiKey { expires_at: Some(days(30)), expiring_due: Some(days(23)), ..key() };
        assert_eq!(fires(&ending, days(23).plus_seconds(-1)), None);
        assert_eq!(fires(&ending, days(23)), Some(1));
        assert_eq!(fires(&ending, days(29)), Some(1), "late");
        assert_eq!(fires(&ending, days(30)), Some(0), "the key has ended");
        let announcement = ending.announce_end(days(23)).unwrap().state;
        assert_eq!((fires(&announcement, days(29)), announcement.updated_at), (None, ending.updated_at));
    }

    #[test]
    fn end_of_the_previous_secret_is_announced() {
        let rotated_key =
            ApiKey { previous: Some((key().hash, days(4))), previous_expiring_due: Some(days(3)), ..key() };
        assert_eq!(fires(&rotated_key, days(2)), None);
        assert_eq!(fires(&rotated_key, days(3)), Some(1));
        assert_eq!(fires(&rotated_key, days(4)), Some(0), "the secret has ended");
        let both = ApiKey { expires_at: Some(days(5)), expiring_due: Some(days(3)), ..rotated_key };
        let announcement = both.announce_end(days(3)).unwrap();
        assert_eq!((announcement.events.len(), fires(&announcement.state, days(4))), (1, None));
    }
}

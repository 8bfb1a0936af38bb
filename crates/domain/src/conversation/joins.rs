//! Times from which participants who were added later see messages (decision G).

use std::collections::BTreeMap;
use std::str::FromStr;

use super::Conversation;
use crate::access::{Caller, PermissionDenied};
use crate::id::EmployeeId;
use crate::params::Bounds;
use crate::time::Timestamp;

/// Times from which people see messages. People without one see all messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Joins(BTreeMap<EmployeeId, Timestamp>);

impl Joins {
    /// Returns `true` if every participant sees all messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text that [`Joins::parse`] reads: `emp_…=1772366400000`, separated by spaces.
    #[must_use]
    pub fn text(&self) -> String {
        let entries = self.0.iter().map(|(person, at)| format!("{person}={}", at.millis()));
        entries.collect::<Vec<_>>().join(" ")
    }

    /// Reads a stored text. Returns `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let entry = |entry: &str| {
            let (person, millis) = entry.split_once('=')?;
            Some((EmployeeId::from_str(person).ok()?, Timestamp::from_millis(millis.parse().ok()?)))
        };
        text.split(' ').map(entry).collect::<Option<_>>().map(Self)
    }
}

impl Conversation {
    /// Sets the participants. A key that acts for a person adds people, who see messages from then on, and removes
    /// that person only. A key of the organization, or of an org admin, adds people who see everything.
    ///
    /// # Errors
    /// [`PermissionDenied::RemovesOthers`].
    pub(super) fn set_participants(
        &mut self,
        caller: &Caller,
        people: Vec<EmployeeId>,
        at: Timestamp,
    ) -> Result<(), PermissionDenied> {
        let own = caller.acts_for();
        let is_removed = |person: &&EmployeeId| !people.contains(person);
        if own.is_some() && self.participant_ids.iter().filter(is_removed).any(|person| own != Some(*person)) {
            return Err(PermissionDenied::RemovesOthers);
        }
        self.joins.0.retain(|person, _| people.contains(person));
        if own.is_some() {
            let added = people.iter().filter(|person| !self.participant_ids.contains(person));
            self.joins.0.extend(added.map(|person| (*person, at)));
        }
        self.participant_ids = people;
        Ok(())
    }

    /// Returns the time from which this caller sees messages, or `None` for all of them.
    #[must_use]
    pub fn seen_from(&self, caller: &Caller) -> Option<Timestamp> {
        caller.acts_for().and_then(|person| self.joins.0.get(&person)).copied()
    }

    /// Narrows bounds of the time of messages to those that this caller sees.
    #[must_use]
    pub fn narrow(&self, caller: &Caller, bounds: Bounds<Timestamp>) -> Bounds<Timestamp> {
        Bounds { gte: bounds.gte.max(self.seen_from(caller)), ..bounds }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOON, conversation};
    use super::*;
    use crate::access::AccessLevel;
    use crate::access::tests::{bound, unbound};
    use ulid::Ulid;

    fn person(number: u128) -> EmployeeId {
        EmployeeId::from_ulid(Ulid(number))
    }

    #[test]
    fn bound_key_adds_people_from_now_on_and_removes_only_itself() {
        let (member, later) = (bound(person(2), false), NOON.plus_seconds(60));
        let mut talk = conversation();
        talk.set_participants(&member, vec![person(2), person(3), person(4)], later).unwrap();
        let seen = |talk: &Conversation, number| talk.seen_from(&bound(person(number), false));
        assert_eq!([2, 3, 4].map(|number| seen(&talk, number)), [None, None, Some(later)]);
        assert_eq!(talk.seen_from(&bound(person(4), true)), None, "org admins see everything");
        assert_eq!(Joins::parse(&talk.joins.text()), Some(talk.joins.clone()));
        for kept in [vec![person(2), person(4)], vec![person(2)]] {
            let refused = talk.clone().set_participants(&member, kept, later);
            assert_eq!(refused, Err(PermissionDenied::RemovesOthers));
        }
        talk.set_participants(&member, vec![person(3), person(4)], later).unwrap();
        assert_eq!(talk.participant_ids, [person(3), person(4)]);
        // The person who left does not bring back what was written before.
        talk.set_participants(&bound(person(3), false), vec![person(2), person(3)], later).unwrap_err();
        let back = later.plus_seconds(1);
        talk.set_participants(&bound(person(3), false), vec![person(2), person(3), person(4)], back).unwrap();
        assert_eq!([2, 3, 4].map(|number| seen(&talk, number)), [Some(back), None, Some(later)]);
        // A key of the organization decides otherwise.
        let admin = unbound(AccessLevel::Standard);
        talk.set_participants(&admin, vec![person(3), person(5)], back).unwrap();
        assert_eq!([3, 5].map(|number| seen(&talk, number)), [None, None]);
        assert!(talk.joins.is_empty());
        assert_eq!(Joins::parse("emp_x=1"), None);
    }

    #[test]
    fn bounds_of_messages_begin_with_the_join_or_later() {
        let mut talk = conversation();
        let later = NOON.plus_seconds(60);
        talk.set_participants(&bound(person(2), false), vec![person(2), person(3), person(4)], later).unwrap();
        let bounds = |gte| Bounds { gte, lte: None };
        let (new, old) = (bound(person(4), false), bound(person(3), false));
        assert_eq!(talk.narrow(&new, bounds(None)).gte, Some(later));
        assert_eq!(talk.narrow(&new, bounds(Some(NOON))).gte, Some(later));
        assert_eq!(talk.narrow(&new, bounds(Some(later.plus_seconds(1)))).gte, Some(later.plus_seconds(1)));
        assert_eq!(talk.narrow(&old, bounds(None)).gte, None);
    }
}

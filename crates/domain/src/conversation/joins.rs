//! Times from which participants who were added later see messages (decision G).

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use super::{About, Conversation};
use crate::access::{Caller, PermissionError};
use crate::id::EmployeeId;
use crate::params::Bounds;
use crate::problem::{Code, ValueError};
use crate::refusal::DomainError;
use crate::time::Timestamp;

/// Maximum number of people who take part in a conversation over time.
const MOST_PEOPLE: usize = 500;

/// Times from which people see messages, by person. People without a time see all messages. People who left have a
/// time too, so that their part in the conversation is known as long as the conversation exists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Joins(BTreeMap<EmployeeId, Timestamp>);

impl Joins {
    /// Returns `true` if no person has a time: every participant sees all messages, and no one has left.
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
    /// Sets the participants. A key that acts for a person without the role org admin may add people, who see messages
    /// from then on, and may remove only its own person. All other keys may remove every participant, and people
    /// that they add see all messages.
    ///
    /// # Errors
    /// [`PermissionError::RemovesOthers`]; `too_long` if more than [`MOST_PEOPLE`] people took part over time,
    /// the person that the conversation is about included.
    pub(super) fn set_participants(
        &mut self,
        caller: &Caller,
        people: Vec<EmployeeId>,
        at: Timestamp,
    ) -> Result<(), DomainError> {
        let own = caller.acts_for();
        let leaving_people: Vec<_> =
            self.participant_ids.iter().copied().filter(|person| !people.contains(person)).collect();
        if own.is_some() && leaving_people.iter().any(|person| own != Some(*person)) {
            return Err(PermissionError::RemovesOthers.into());
        }
        let joining_people = people.iter().copied().filter(|person| !self.participant_ids.contains(person));
        for person in joining_people {
            if own.is_some() {
                self.joins.0.insert(person, at);
            } else {
                self.joins.0.remove(&person);
            }
        }
        self.joins.0.extend(leaving_people.into_iter().map(|person| (person, at)));
        self.participant_ids = people;
        if self.everyone().len() > MOST_PEOPLE {
            let flaw = format!(
                "must not bring the number of people who took part in the conversation above {MOST_PEOPLE}; create \
                 a new conversation"
            );
            return Err(DomainError::unprocessable("participant_ids", ValueError::new(Code::TooLong, flaw)));
        }
        Ok(())
    }

    /// Returns all people who take part or took part, and the person that the conversation is about.
    #[must_use]
    pub fn everyone(&self) -> BTreeSet<EmployeeId> {
        let about = match self.about {
            Some(About::Employee(person)) => Some(person),
            _ => None,
        };
        self.participant_ids.iter().chain(self.joins.0.keys()).copied().chain(about).collect()
    }

    /// Returns the time from which this caller sees messages, or `None` for all of them.
    #[must_use]
    pub fn seen_from(&self, caller: &Caller) -> Option<Timestamp> {
        caller.acts_for().and_then(|person| self.joins.0.get(&person)).copied()
    }

    /// Returns `true` if this caller sees a message of this time, as far as the caller's join decides.
    #[must_use]
    pub fn shows(&self, caller: &Caller, message_time: Timestamp) -> bool {
        self.seen_from(caller).is_none_or(|join_time| message_time >= join_time)
    }

    /// Narrows bounds of time so that they contain only messages that this caller sees.
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
    use crate::access::tests::{bound_caller, unbound};
    use ulid::Ulid;

    fn person(number: u128) -> EmployeeId {
        EmployeeId::from_ulid(Ulid(number))
    }

    #[test]
    fn bound_key_adds_people_from_now_on_and_removes_only_itself() {
        let (member, later) = (bound_caller(person(2), false), NOON.plus_seconds(60));
        let mut talk = conversation();
        talk.set_participants(&member, vec![person(2), person(3), person(4)], later).unwrap();
        let bounds_seen = |talk: &Conversation, number| talk.seen_from(&bound_caller(person(number), false));
        assert_eq!([2, 3, 4].map(|number| bounds_seen(&talk, number)), [None, None, Some(later)]);
        assert_eq!(talk.seen_from(&bound_caller(person(4), true)), None, "org admins see everything");
        assert_eq!(Joins::parse(&talk.joins.text()), Some(talk.joins.clone()));
        for kept in [vec![person(2), person(4)], vec![person(2)]] {
            let error = talk.clone().set_participants(&member, kept, later);
            assert_eq!(error, Err(PermissionError::RemovesOthers.into()));
        }
        talk.set_participants(&member, vec![person(3), person(4)], later).unwrap();
        assert_eq!(talk.participant_ids, [person(3), person(4)]);
        talk.set_participants(&bound_caller(person(3), false), vec![person(2), person(3)], later).unwrap_err();
        // A person who left and is added again sees messages from the return on.
        let return_time = later.plus_seconds(1);
        talk.set_participants(&bound_caller(person(3), false), vec![person(2), person(3), person(4)], return_time)
            .unwrap();
        assert_eq!([2, 3, 4].map(|number| bounds_seen(&talk, number)), [Some(return_time), None, Some(later)]);
        // A person added by a key of the organization sees all messages.
        let admin = unbound(AccessLevel::Standard);
        talk.set_participants(&admin, vec![person(3), person(5)], return_time).unwrap();
        assert_eq!([3, 5].map(|number| bounds_seen(&talk, number)), [None, None]);
        assert_eq!(talk.everyone(), BTreeSet::from([2, 3, 4, 5].map(person)), "people who left are known");
        assert_eq!(Joins::parse("emp_x=1"), None);
    }

    #[test]
    fn number_of_people_over_time_is_bounded() {
        let (admin, mut talk) = (unbound(AccessLevel::Standard), conversation());
        let mut next = 10_u128;
        let error = loop {
            let people = (next..next + 20).map(person).collect();
            if let Err(refused) = talk.clone().set_participants(&admin, people, NOON) {
                break refused;
            }
            talk.set_participants(&admin, (next..next + 20).map(person).collect(), NOON).unwrap();
            next += 20;
        };
        assert!(matches!(error, DomainError::Unprocessable(_)), "{error:?}");
        let room = u128::try_from(MOST_PEOPLE - talk.everyone().len()).unwrap();
        for (count, is_accepted) in [(room, true), (room + 1, false)] {
            let people = (next..next + count).map(person).collect();
            assert_eq!(talk.clone().set_participants(&admin, people, NOON).is_ok(), is_accepted, "{count}");
        }
    }

    #[test]
    fn bounds_of_messages_begin_with_the_join_or_later() {
        let mut talk = conversation();
        let later_time = NOON.plus_seconds(60);
        talk.set_participants(&bound_caller(person(2), false), vec![person(2), person(3), person(4)], later_time)
            .unwrap();
        let bounds = |gte| Bounds { gte, lte: None };
        let (new, old) = (bound_caller(person(4), false), bound_caller(person(3), false));
        assert_eq!(talk.narrow(&new, bounds(None)).gte, Some(later_time));
        assert_eq!(talk.narrow(&new, bounds(Some(NOON))).gte, Some(later_time));
        assert_eq!(
            talk.narrow(&new, bounds(Some(later_time.plus_seconds(1)))).gte,
            Some(later_time.plus_seconds(1))
        );
        assert_eq!(talk.narrow(&old, bounds(None)).gte, None);
    }
}

//! Legal hold: the data of a person cannot be erased until the hold ends (decision H3).

use schemars::JsonSchema;
use serde::Serialize;

use super::Employee;
use crate::access::{Access, Permission};
use crate::audit::Change;
use crate::decision::Decision;
use crate::event::EventType;
use crate::fields::Fields;
use crate::id::EmployeeId;
use crate::refusal::DomainError;
use crate::rule::{self, Field, Text};
use crate::time::Timestamp;
use crate::update::parse_new;

/// Length of the longest reason, in characters.
const REASON_CHARS: usize = 2000;
const REASON: Field<Text> = Field::with_about("reason", rule::text(1..=REASON_CHARS), "Do not name people in it.");

/// Action of the audit entry about the end of a hold.
pub const RELEASE: &str = "employee.release_hold";

/// The hold on the data of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields named after their meaning")]
pub struct Hold {
    pub reason: String,
    pub held_at: Timestamp,
}

/// Knowledge of a database or a ledger about the legal holds on a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownHold {
    /// The hold on the person, if there is one.
    pub hold: Option<Hold>,
    /// Time at which a hold on the person ended last.
    pub released_at: Option<Timestamp>,
}

impl KnownHold {
    /// Returns the hold of this side if it is in force: the other side has a hold with the same beginning, or knows no
    /// release after this beginning that is new to this side.
    fn in_force(&self, other: &Self) -> Option<&Hold> {
        let hold = self.hold.as_ref()?;
        let is_common = other.hold.as_ref().is_some_and(|known| known.held_at == hold.held_at);
        let is_released_since = other.released_at.is_some_and(|released_at| hold.held_at < released_at);
        let is_news = other.released_at > self.released_at;
        (is_common || !(is_released_since && is_news)).then_some(hold)
    }

    /// Returns the hold that is in force according to a database (`self`) and a ledger, of which either may be newer.
    /// If the holds of both are in force, returns the later one.
    fn merge(&self, ledger: &Self) -> Option<Hold> {
        let holds = [ledger.in_force(self), self.in_force(ledger)];
        holds.into_iter().flatten().max_by_key(|hold| hold.held_at).cloned()
    }
}

/// The body of a request that sets a hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, decision H3")]
pub struct HoldDraft {
    pub reason: String,
}

/// A legal hold, as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LegalHold {
    /// Id of the person, with the prefix `emp_`.
    pub employee_id: EmployeeId,
    /// Reason for the hold.
    pub reason: String,
    /// Time at which the hold began. A new reason does not change it.
    pub held_at: Timestamp,
}

impl LegalHold {
    /// The callers that read, set and release holds (decision H3).
    pub const ACCESS: Access = Access::organization_admin(Permission::EmployeesErase);
}

impl HoldDraft {
    /// Declares and reads the fields of the body.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { reason: fields.required(&REASON)? })
    }
}

parse_new!(HoldDraft, &["employee_id", "held_at"]);

impl Employee {
    /// Returns the legal hold on the person's data; `None` if there is none.
    #[must_use]
    pub fn legal_hold(&self) -> Option<LegalHold> {
        let hold = self.hold.as_ref()?;
        Some(LegalHold { employee_id: self.id, reason: hold.reason.clone(), held_at: hold.held_at })
    }

    /// Sets a legal hold or gives it another reason. Returns `None` if the hold has this reason already.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the person was erased.
    pub fn set_hold(&self, draft: HoldDraft, at: Timestamp) -> Result<Option<Decision<Self>>, DomainError> {
        self.must_exist("hold")?;
        let held_at = match &self.hold {
            Some(hold) if hold.reason == draft.reason => return Ok(None),
            Some(hold) => hold.held_at,
            None => at,
        };
        Ok(Some(self.change_hold(Some(Hold { reason: draft.reason, held_at }), "employee.hold")))
    }

    /// Sets or ends the hold in a restored database according to the ledger. `released_at` is the time at which a
    /// hold on the person last ended in this database. Returns `None` if the person is erased, or the hold needs no
    /// change.
    #[must_use]
    pub fn hold_again(&self, ledger: &KnownHold, released_at: Option<Timestamp>) -> Option<Decision<Self>> {
        let hold = KnownHold { hold: self.hold.clone(), released_at }.merge(ledger);
        if self.erased_at.is_some() || hold == self.hold {
            return None;
        }
        let action = if hold.is_some() { "employee.hold" } else { RELEASE };
        Some(self.change_hold(hold, action))
    }

    /// Ends the legal hold.
    ///
    /// # Errors
    /// [`DomainError::NotFound`] if there is no hold.
    pub fn release_hold(&self) -> Result<Decision<Self>, DomainError> {
        if self.hold.is_none() {
            return Err(DomainError::NotFound);
        }
        Ok(self.change_hold(None, RELEASE))
    }

    /// Replaces the hold. The audit entry tells that there is a hold, but not the reason: more people may read the
    /// audit log than holds. `updated_at` and the version in the `ETag` stay, because they would show the hold to all who
    /// read the person.
    fn change_hold(&self, hold: Option<Hold>, action: &'static str) -> Decision<Self> {
        let hold_before = self.hold.is_some().then_some("set");
        let hold_after = match (&self.hold, &hold) {
            (_, None) => None,
            (None, Some(_)) => Some("set"),
            (Some(_), Some(_)) => Some("changed"),
        };
        let change = Change::new(&hold_before, &hold_after);
        let state = Self { hold, hold_changes: self.hold_changes.saturating_add(1), ..self.clone() };
        let mut decision = Decision::for_change(self, state, action, vec![EventType::EmployeeHoldChanged]);
        decision.audit.changes.insert("legal_hold".to_owned(), change);
        decision
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::employee;
    use super::*;
    use crate::decision::Resource;

    fn draft(reason: &str) -> HoldDraft {
        HoldDraft { reason: reason.to_owned() }
    }

    #[test]
    fn hold_keeps_its_beginning_until_the_release() {
        let (at, later) = (Timestamp::from_millis(5_000), Timestamp::from_millis(6_000));
        let first_hold = employee(1).set_hold(draft("Lawsuit"), at).unwrap().unwrap();
        assert_eq!(
            (first_hold.events.as_slice(), first_hold.audit.action),
            (&[EventType::EmployeeHoldChanged][..], "employee.hold")
        );
        assert_eq!(first_hold.audit.changes["legal_hold"], Change::from_null(&"set"));
        assert_eq!(first_hold.state.set_hold(draft("Lawsuit"), later), Ok(None));
        let second_hold = first_hold.state.set_hold(draft("Appeal"), later).unwrap().unwrap();
        let hold = second_hold.state.legal_hold().unwrap();
        assert_eq!((hold.reason.as_str(), hold.held_at), ("Appeal", at));
        let hold_release = second_hold.state.release_hold().unwrap();
        assert_eq!(hold_release.state.legal_hold(), None);
        assert_eq!(hold_release.state.release_hold().unwrap_err(), DomainError::NotFound);
    }

    #[test]
    fn hold_in_force_is_the_later_one_without_a_known_end() {
        let known_hold = |held_at: i64, released_at: i64| {
            let time = |millis: i64| Some(Timestamp::from_millis(millis)).filter(|_| millis > 0);
            let hold = time(held_at).map(|held_at| Hold { reason: "Lawsuit".to_owned(), held_at });
            KnownHold { hold, released_at: time(released_at) }
        };
        // Each line: hold and last release of the database, of the ledger, and the beginning of the hold in force. Zero is
        // none.
        for (database, ledger, expected) in [
            ((0, 0), (0, 0), 0),
            ((10, 0), (0, 0), 10),
            ((0, 0), (10, 0), 10),
            // The end is known to one side.
            ((10, 0), (0, 20), 0),
            ((0, 20), (10, 0), 0),
            // The person was held again.
            ((10, 0), (30, 20), 30),
            ((30, 20), (10, 0), 30),
            ((30, 20), (0, 20), 30),
            ((0, 20), (30, 20), 30),
            ((30, 0), (0, 20), 30),
            ((30, 20), (0, 40), 0),
            ((0, 40), (30, 20), 0),
            // A release whose clock was ahead does not end a later hold.
            ((10, 90), (10, 90), 10),
            ((0, 90), (10, 90), 10),
            ((10, 90), (0, 90), 10),
            ((30, 0), (10, 90), 10),
            // A ledger without releases, of an earlier version.
            ((10, 0), (30, 0), 30),
            // A hold and a release in the same millisecond: the hold may be the later one, so it stays in force.
            ((10, 0), (0, 10), 10),
        ] {
            let [database, ledger] =
                [database, ledger].map(|(held_at, released_at)| known_hold(held_at, released_at));
            let expected_hold = known_hold(expected, 0).hold;
            assert_eq!(database.merge(&ledger), expected_hold, "{database:?} {ledger:?}");
            let person = Employee { hold: database.hold.clone(), ..employee(1) };
            let decision = person.hold_again(&ledger, database.released_at);
            assert_eq!(decision.is_some(), expected_hold != database.hold, "{database:?} {ledger:?}");
            let hold = decision.map_or(database.hold.clone(), |decision| decision.state.hold);
            assert_eq!(hold, expected_hold, "{database:?} {ledger:?}");
        }
    }

    #[test]
    fn hold_changes_nothing_in_the_json_of_a_person() {
        let form = |person: &Employee| serde_json::to_string(person).unwrap();
        let held_person = employee(1).set_hold(draft("Lawsuit"), Timestamp::from_millis(5_000)).unwrap().unwrap();
        let unheld_person = held_person.state.release_hold().unwrap();
        for person in [&held_person.state, &unheld_person.state] {
            assert_eq!(form(person), form(&employee(1)));
            // Each change is one version of the row.
            assert_eq!(person.unseen_changes(), if person.hold.is_some() { 1 } else { 2 });
        }
    }
}

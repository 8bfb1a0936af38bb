//! Whom each row is about: by external id, else by address, else somebody new (decision D10).

use std::collections::{BTreeMap, HashMap};

use ulid::Ulid;

use super::columns::Column;
use super::report::RowOutcome;
use super::row_problem::Rejection;
use super::{CsvRow, File, Known};
use crate::id::EmployeeId;
use crate::people::Employee;
use crate::problem::{Flaw, Problems};
use crate::text::{self, folded};

/// Whom a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Target {
    /// A person who is stored, by place.
    Stored(usize),
    /// A person to be recorded.
    New(EmployeeId),
}

/// Finds people who are stored.
pub(super) struct Index<'a> {
    people: &'a [Employee],
    by_email: HashMap<String, usize>,
    by_external_id: HashMap<&'a str, usize>,
}

impl<'a> Index<'a> {
    pub(super) fn of(known: &'a Known) -> Self {
        let mut index = Self {
            people: &known.people,
            by_email: HashMap::with_capacity(known.people.len()),
            by_external_id: HashMap::new(),
        };
        for (at, person) in known.people.iter().enumerate() {
            index.by_email.insert(folded(&person.email), at);
            if let Some(external_id) = &person.external_id {
                index.by_external_id.insert(external_id, at);
            }
        }
        index
    }

    pub(super) fn by_email(&self, key: &str) -> Option<usize> {
        self.by_email.get(key).copied()
    }

    /// Returns the stored person that a row is about: by external id, else by address.
    pub(super) fn person_of(&self, file: &File, row: &CsvRow) -> Option<usize> {
        let external_id = file.cell(row, &Column::EXTERNAL_ID);
        let found = external_id.and_then(|external_id| self.by_external_id.get(external_id).copied());
        found.or_else(|| self.by_email(&row.email_key))
    }

    /// Whether the row gives the person another address.
    pub(super) fn is_renamed(&self, at: usize, row: &CsvRow) -> bool {
        self.by_email(&row.email_key) != Some(at)
    }

    /// The address that a person has, as compared.
    pub(super) fn key_of(&self, at: usize) -> String {
        folded(&self.people[at].email)
    }
}

/// Matches the rows that have no outcome yet; those that name nobody, or the same person, get one.
pub(super) fn targets(
    file: &File,
    index: &Index<'_>,
    outcomes: &mut [Option<RowOutcome>],
    ids: &mut dyn FnMut() -> Ulid,
) -> Vec<Option<Target>> {
    earlier_duplicates(file, outcomes);
    let mut targets = vec![None; file.rows.len()];
    for (at, row) in file.rows.iter().enumerate().filter(|(at, _)| outcomes[*at].is_none()).collect::<Vec<_>>() {
        if let Err(rejection) = well_formed(row) {
            outcomes[at] = Some(RowOutcome::Reject(rejection));
            continue;
        }
        let stored = index.person_of(file, row);
        targets[at] = Some(stored.map_or_else(|| Target::New(EmployeeId::from_ulid(ids())), Target::Stored));
    }
    same_person(file, &targets, outcomes);
    taken_addresses(file, index, &targets, outcomes);
    targets
}

/// The last row of an address wins (decision E1).
fn earlier_duplicates(file: &File, outcomes: &mut [Option<RowOutcome>]) {
    let mut seen = std::collections::HashSet::new();
    for (row, outcome) in file.rows.iter().zip(outcomes).rev() {
        if !row.email_key.is_empty() && !seen.insert(&row.email_key) && outcome.is_none() {
            *outcome = Some(RowOutcome::Duplicate);
        }
    }
}

fn well_formed(row: &CsvRow) -> Result<(), Rejection> {
    let mut problems = Problems::none();
    if let Some(flaw) = &row.flaw {
        problems.add("row", flaw.clone());
    }
    if row.email.is_empty() {
        problems.add("email", Flaw::required());
    } else if let Err(flaw) = text::email(&row.email) {
        problems.add("email", flaw);
    }
    problems.or(()).map_err(|it| Rejection::of(&it))
}

/// Two rows about one person, found by different keys, contradict each other: nobody can say which is meant.
fn same_person(file: &File, targets: &[Option<Target>], outcomes: &mut [Option<RowOutcome>]) {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    enum Person<'a> {
        Stored(usize),
        Named(&'a str),
    }
    let mut rows: BTreeMap<Person<'_>, Vec<usize>> = BTreeMap::new();
    for (at, row) in file.rows.iter().enumerate().filter(|(at, _)| outcomes[*at].is_none()) {
        let stored =
            targets[at].and_then(|it| if let Target::Stored(it) = it { Some(Person::Stored(it)) } else { None });
        // Rows with one external id are about one person also where that person does not have it yet.
        let named = file.cell(row, &Column::EXTERNAL_ID).map(Person::Named);
        for person in stored.into_iter().chain(named) {
            rows.entry(person).or_default().push(at);
        }
    }
    for several in rows.into_values().filter(|it| it.len() > 1) {
        let numbers: Vec<_> = several.iter().take(10).map(|it| file.rows[*it].number.to_string()).collect();
        let message = format!("rows {} are about one person", numbers.join(", "));
        for at in several {
            outcomes[at] = Some(RowOutcome::Reject(Rejection::conflict(message.clone())));
        }
    }
}

/// An address that somebody has cannot be given to another person, and who has it cannot give it up in the same file:
/// otherwise a file would have to be applied twice to have its whole effect.
fn taken_addresses(file: &File, index: &Index<'_>, targets: &[Option<Target>], outcomes: &mut [Option<RowOutcome>]) {
    let row_of: HashMap<usize, usize> = targets
        .iter()
        .enumerate()
        .filter_map(|(at, it)| if let Some(Target::Stored(person)) = it { Some((*person, at)) } else { None })
        .collect();
    for (at, row) in file.rows.iter().enumerate() {
        let (Some(Target::Stored(person)), true) = (targets[at], outcomes[at].is_none()) else { continue };
        let Some(holder) = index.by_email(&row.email_key).filter(|it| *it != person) else { continue };
        outcomes[at] = Some(RowOutcome::Reject(Rejection::taken_email("another person has this email")));
        let Some(other) = row_of.get(&holder).copied() else { continue };
        if outcomes[other].is_none() && index.is_renamed(holder, &file.rows[other]) {
            let message =
                format!("row {} wants the email that this row gives up; change one after the other", row.number);
            outcomes[other] = Some(RowOutcome::Reject(Rejection::taken_email(message)));
        }
    }
}

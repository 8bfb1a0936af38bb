//! Matches each row to a person: by external id, else by address, else a new person (decision D10).

use std::collections::{BTreeMap, HashMap};

use candor_domain::id::EmployeeId;
use candor_domain::people::Employee;
use candor_domain::problem::{ValidationErrors, ValueError};
use candor_domain::text::{self, address_key};
use candor_domain::ulid::Ulid;

use super::decide::{is_error_word, spreadsheet_error};
use super::report::RowOutcome;
use super::row_problem::UploadRowError;
use super::{CellCounter, CsvRow, File, StoredRows};

/// The person that a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Target {
    /// A stored person, by index in [`StoredRows::people`].
    Stored(usize),
    /// A person to create, with the new id.
    New(EmployeeId),
}

/// An index of stored people by address and external id.
pub(super) struct Index<'a> {
    people: &'a [Employee],
    by_email: HashMap<String, usize>,
    by_external_id: HashMap<&'a str, usize>,
}

impl<'a> Index<'a> {
    pub(super) fn new(known: &'a StoredRows) -> Self {
        let mut index = Self {
            people: &known.people,
            by_email: HashMap::with_capacity(known.people.len()),
            by_external_id: HashMap::new(),
        };
        for (at, person) in known.people.iter().enumerate() {
            if !person.is_twin {
                index.by_email.insert(address_key(&person.email), at);
            }
            if let Some(external_id) = &person.external_id {
                index.by_external_id.insert(external_id, at);
            }
        }
        index
    }

    pub(super) fn by_email(&self, key: &str) -> Option<usize> {
        self.by_email.get(key).copied()
    }

    /// Returns the index of the stored person that a row is about: by external id, else by address.
    pub(super) fn person_of(&self, file: &File, row: &CsvRow) -> Option<usize> {
        let external_id = file.external_id(row);
        let id_owner = external_id.and_then(|external_id| self.by_external_id.get(external_id).copied());
        id_owner.or_else(|| self.by_email(&row.email_key))
    }

    /// Returns `true` if the row gives the person the address of another mailbox.
    pub(super) fn is_renamed(&self, at: usize, row: &CsvRow) -> bool {
        self.by_email(&row.email_key) != Some(at) && self.key_of(at) != row.email_key
    }

    /// Returns the key of a person's stored address.
    pub(super) fn key_of(&self, at: usize) -> String {
        address_key(&self.people[at].email)
    }
}

/// Matches the rows without an outcome to people. Skips duplicates, and rejects malformed rows, rows about the
/// same person, and rows that take another person's address.
pub(super) fn match_rows(
    file: &File,
    index: &Index<'_>,
    outcomes: &mut [Option<RowOutcome>],
    ids: &mut dyn FnMut() -> Ulid,
    progress: &mut CellCounter<'_>,
) -> Vec<Option<Target>> {
    skip_duplicates(file, outcomes);
    let mut targets = vec![None; file.rows.len()];
    for (at, row) in file.rows.iter().enumerate().filter(|(at, _)| outcomes[*at].is_none()).collect::<Vec<_>>() {
        progress(file.row_cells(row));
        if let Err(rejection) = check_form(row) {
            outcomes[at] = Some(RowOutcome::Reject(rejection));
            continue;
        }
        let person_index = index.person_of(file, row);
        targets[at] = Some(person_index.map_or_else(|| Target::New(EmployeeId::from_ulid(ids())), Target::Stored));
    }
    reject_same_person(file, &targets, outcomes);
    reject_taken_addresses(file, index, &targets, outcomes);
    targets
}

/// Marks each row as a duplicate if a later row has the same address: the last row of an address wins (decision
/// E1).
fn skip_duplicates(file: &File, outcomes: &mut [Option<RowOutcome>]) {
    let mut addresses = std::collections::HashSet::new();
    for (row, outcome) in file.rows.iter().zip(outcomes).rev() {
        if !row.email_key.is_empty() && !addresses.insert(&row.email_key) && outcome.is_none() {
            *outcome = Some(RowOutcome::Duplicate);
        }
    }
}

fn check_form(row: &CsvRow) -> Result<(), UploadRowError> {
    let mut problems = ValidationErrors::none();
    if let Some(flaw) = &row.flaw {
        problems.add("row", flaw.clone());
    }
    if row.email.is_empty() {
        problems.add("email", ValueError::required());
    } else if is_error_word(&row.email) {
        problems.add("email", spreadsheet_error());
    } else if let Err(flaw) = text::email(&row.email) {
        problems.add("email", flaw);
    }
    problems.or(()).map_err(|problems| UploadRowError::from_problems(&problems))
}

/// Rejects rows with different addresses that are about one person, because the rows contradict each other.
fn reject_same_person(file: &File, targets: &[Option<Target>], outcomes: &mut [Option<RowOutcome>]) {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    enum Person<'a> {
        Stored(usize),
        Named(&'a str),
    }
    let mut rows: BTreeMap<Person<'_>, Vec<usize>> = BTreeMap::new();
    for (at, row) in file.rows.iter().enumerate().filter(|(at, _)| outcomes[*at].is_none()) {
        let stored_person = targets[at]
            .and_then(|target| if let Target::Stored(at) = target { Some(Person::Stored(at)) } else { None });
        // Rows with one external id are about one person, even if that person does not have the id yet.
        let person_by_id = file.external_id(row).map(Person::Named);
        for person in stored_person.into_iter().chain(person_by_id) {
            rows.entry(person).or_default().push(at);
        }
    }
    for rows_of_person in rows.into_values().filter(|rows| rows.len() > 1) {
        let numbers: Vec<_> = rows_of_person.iter().take(10).map(|at| file.rows[*at].number.to_string()).collect();
        let message = format!("rows {} are about one person", numbers.join(", "));
        for at in rows_of_person {
            outcomes[at] = Some(RowOutcome::Reject(UploadRowError::conflict(message.clone())));
        }
    }
}

/// Rejects each row that takes the address of another stored person. Also rejects the row of this holder if that
/// row gives the address up: otherwise the same file would change further people when it is applied again.
fn reject_taken_addresses(
    file: &File,
    index: &Index<'_>,
    targets: &[Option<Target>],
    outcomes: &mut [Option<RowOutcome>],
) {
    let row_of: HashMap<usize, usize> = targets
        .iter()
        .enumerate()
        .filter_map(
            |(at, target)| if let Some(Target::Stored(person)) = target { Some((*person, at)) } else { None },
        )
        .collect();
    for (at, row) in file.rows.iter().enumerate() {
        let (Some(Target::Stored(person)), true) = (targets[at], outcomes[at].is_none()) else { continue };
        let Some(holder) = index.by_email(&row.email_key).filter(|_| index.is_renamed(person, row)) else {
            continue;
        };
        outcomes[at] = Some(RowOutcome::Reject(UploadRowError::taken_email("another person has this email")));
        let Some(other) = row_of.get(&holder).copied() else { continue };
        if outcomes[other].is_none() && index.is_renamed(holder, &file.rows[other]) {
            let message =
                format!("row {} wants the email that this row gives up; upload this row first, alone", row.number);
            outcomes[other] = Some(RowOutcome::Reject(UploadRowError::taken_email(message)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::{Plan, PlanOptions, plan};
    use super::*;
    use candor_domain::people::{Draft, References};
    use candor_domain::time::Timestamp;

    fn employee(number: u128) -> Employee {
        let body = format!(r#"{{"email": "p{number}@example.com", "first_name": "Ada", "last_name": "Example"}}"#);
        let draft = Draft::parse(serde_json::from_str(&body).unwrap()).unwrap();
        let id = EmployeeId::from_ulid(Ulid(number));
        Employee::create(id, draft, &References::default(), Timestamp::from_millis(1_000)).unwrap().state
    }

    #[test]
    fn row_of_a_mailbox_is_about_its_holder_and_an_id_finds_a_twin() {
        let holder = Employee { email: "anna@xn--mller-kva.example".to_owned(), ..employee(1) };
        let twin = Employee {
            email: "anna@müller.example".to_owned(),
            external_id: Some("7".to_owned()),
            is_twin: true,
            ..employee(2)
        };
        let stored_rows = StoredRows { people: vec![holder, twin], ..StoredRows::default() };
        let now = Timestamp::from_millis(9_000);
        let options = PlanOptions { clear_empty: false, is_admin: false, connector: None, at: now };
        let change_of = |row: &str| {
            let file = File::read(format!("email,external_id,job_title\n{row},Analyst\n").as_bytes()).unwrap();
            let plan = plan(&file, &stored_rows, &HashSet::new(), &options, &mut || Ulid(3));
            let step = plan.steps.first().unwrap_or_else(|| panic!("{row}: {:?}", plan.outcomes));
            let state_after = Plan::decisions(&file, &stored_rows, &options, step).unwrap().pop().unwrap().state;
            (step.before, state_after.email, state_after.is_twin)
        };
        assert_eq!(change_of("Anna@Müller.example,"), (Some(0), "anna@xn--mller-kva.example".to_owned(), false));
        assert_eq!(change_of("anna@müller.example,7"), (Some(1), "anna@müller.example".to_owned(), true));
        assert_eq!(change_of("bo@example.com,7"), (Some(1), "bo@example.com".to_owned(), false));
    }
}

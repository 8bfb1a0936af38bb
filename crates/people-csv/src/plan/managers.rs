//! Managers of the rows, and the rows that fail because the row of their manager fails.

use candor_domain::id::EmployeeId;
use candor_domain::problem::{Code, ValidationErrors, ValueError};

use super::super::columns::Column;
use super::super::decide::ReferenceChange;
use super::super::matching::Target;
use super::super::row_problem::UploadRowError;
use super::{Planner, RowOutcome};

impl Planner<'_> {
    /// Resolves the manager of each row, among stored people and people of the file, by the addresses after the
    /// upload (decision E4).
    pub(super) fn resolve_managers(&mut self) {
        let open_rows = self.open_rows();
        for at in &open_rows {
            let row = &self.file.rows[*at];
            match self.targets[*at] {
                Some(Target::New(_)) => {
                    self.providers.insert(row.email_key.clone(), *at);
                }
                Some(Target::Stored(person)) if self.index.is_renamed(person, row) => {
                    self.providers.insert(row.email_key.clone(), *at);
                    self.given_up.insert(self.index.key_of(person));
                }
                _ => {}
            }
        }
        let mut missing = Vec::new();
        for at in open_rows {
            self.count_row(at);
            let row = &self.file.rows[at];
            if self.file.cell(row, &Column::ManagerEmail).is_none() {
                let clears = self.options.clear_empty && self.file.is_empty(row, &Column::ManagerEmail);
                if let (true, Some(wanted)) = (clears, &mut self.wanted[at]) {
                    wanted.manager = ReferenceChange::Clear;
                }
                continue;
            }
            let Some(key) = self.file.manager_key(row) else {
                missing.push(at);
                continue;
            };
            match (self.find_manager(key), &mut self.wanted[at]) {
                (Some(id), Some(wanted)) => wanted.manager = ReferenceChange::Set(id),
                _ => missing.push(at),
            }
            self.dependents.entry(key.to_owned()).or_default().push(at);
        }
        let missing = missing.into_iter().map(|at| (at, self.missing_manager(at))).collect();
        self.reject(missing);
    }

    /// Returns the person with this address after the upload, among stored people and people of the file.
    pub(super) fn find_manager(&self, key: &str) -> Option<EmployeeId> {
        let is_rejected = |row: usize| matches!(self.outcomes[row], Some(RowOutcome::Reject(_)));
        let new_manager =
            self.providers.get(key).filter(|row| !is_rejected(**row)).and_then(|row| self.person(*row));
        let stored_manager = self.index.by_email(key).filter(|_| !self.given_up.contains(key));
        new_manager.or_else(|| stored_manager.map(|person| self.known.people[person].id))
    }

    /// Returns the rejection of a row whose manager is missing: no person has the address, or the row of the manager
    /// is rejected. In the second case, the rejection names the row that caused the manager's rejection, or the
    /// manager's row if that has a problem of its own.
    pub(super) fn missing_manager(&self, at: usize) -> UploadRowError {
        let row = &self.file.rows[at];
        let cell = self.file.cell(row, &Column::ManagerEmail).unwrap_or_default();
        let of_manager = self.file.manager_key(row).and_then(|key| self.rows_by_address.get(key)).copied();
        match of_manager.map(|row| (row, self.outcomes[row].as_ref())) {
            Some((row, Some(RowOutcome::Reject(rejection)))) if row != at => {
                let number = self.file.rows[row].number;
                UploadRowError::without_manager(cell, number, rejection.cause().unwrap_or(number))
            }
            _ => {
                UploadRowError::from_problems(&ValidationErrors::one("manager_email", ValueError::not_found(cell)))
            }
        }
    }

    /// Returns the rejection of a row that would close a cycle of reporting lines.
    pub(super) fn reporting_cycle(&self, at: usize) -> UploadRowError {
        let is_own = self.person(at).is_some() && self.moves_to(at).flatten() == self.person(at);
        let message = if is_own {
            "is the person's own address; leave the cell of the top person empty"
        } else {
            "would make the person their own manager, through others"
        };
        let flaw = ValueError::new(Code::ReportingCycle, message);
        UploadRowError::from_problems(&ValidationErrors::one("manager_email", flaw))
    }

    /// Rejects `rows` and, in turn, every row whose `manager_email` only a rejected row would have given to a person.
    /// Returns all rejected rows.
    pub(super) fn reject(&mut self, rows: Vec<(usize, UploadRowError)>) -> Vec<usize> {
        let mut rejected_rows = Vec::new();
        let mut next = rows;
        while !next.is_empty() {
            let mut rows_without_manager = Vec::new();
            for (at, rejection) in next {
                if self.outcomes[at].is_some() {
                    continue;
                }
                self.outcomes[at] = Some(RowOutcome::Reject(rejection));
                self.decided[at] = None;
                rejected_rows.push(at);
                let key = &self.file.rows[at].email_key;
                if self.providers.get(key) == Some(&at) {
                    rows_without_manager.extend(self.dependents.get(key).into_iter().flatten().copied());
                }
            }
            next = rows_without_manager.into_iter().map(|at| (at, self.missing_manager(at))).collect();
        }
        rejected_rows
    }
}

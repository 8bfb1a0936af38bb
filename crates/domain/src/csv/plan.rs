//! Decides all rows of a file together.

mod complete;
mod departments;

use std::collections::{HashMap, HashSet};

use ulid::Ulid;

use super::columns::Column;
use super::decide::{self, Judge, Wanted, Wish};
use super::graph::{self, Lines};
use super::matching::{self, Index, Target};
use super::report::RowOutcome;
use super::row_problem::Rejection;
use super::{File, Known, Step};
use crate::decision::Decision;
use crate::id::{DepartmentId, EmployeeId};
use crate::library::Department;
use crate::people::{Connector, Employee};
use crate::problem::{Code, Flaw, Problems};
use crate::text::folded;
use crate::time::Timestamp;
use departments::DepartmentCell;

/// How a file is applied.
#[derive(Debug, Clone, Copy)]
pub struct PlanOptions<'a> {
    /// Whether empty cells clear what is stored.
    pub clear_empty: bool,
    /// Whether departments that are missing may be created (decision E6).
    pub is_admin: bool,
    /// The connector that uploads.
    pub connector: Option<&'a Connector>,
    /// Now.
    pub at: Timestamp,
}

/// What becomes of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// What is to be done, managers before their reports: applied in this order, piece by piece, no piece refers to
    /// somebody who is not there, and none closes a cycle, because everybody above has their final line already.
    pub steps: Vec<Step>,
    /// What becomes of each row.
    pub outcomes: Vec<RowOutcome>,
    /// Departments to be created before anybody joins them.
    pub departments: HashMap<DepartmentId, Decision<Department>>,
}

/// Decides what becomes of the rows of a file. Rows that were `applied` before, in an earlier piece of the same
/// upload, are left alone. Applied twice, a file changes nothing the second time.
#[must_use]
pub fn plan(
    file: &File,
    known: &Known,
    applied: &HashSet<usize>,
    options: &PlanOptions<'_>,
    ids: &mut dyn FnMut() -> Ulid,
) -> Plan {
    let index = Index::of(known);
    let mut outcomes: Vec<Option<RowOutcome>> = vec![None; file.rows.len()];
    for at in applied {
        outcomes[*at] = Some(RowOutcome::Unchanged);
    }
    let targets = matching::targets(file, &index, &mut outcomes, ids);
    let departments = known.departments.iter();
    let mut planner = Planner {
        file,
        known,
        options,
        index,
        targets,
        outcomes,
        wanted: vec![None; file.rows.len()],
        decided: vec![None; file.rows.len()],
        departments: HashMap::new(),
        departments_by_name: departments.map(|department| (folded(department.name.trim()), department)).collect(),
        providers: HashMap::new(),
        given_up: HashSet::new(),
        dependents: HashMap::new(),
    };
    planner.read(ids);
    planner.resolve_managers();
    planner.decide();
    planner.break_cycles();
    planner.complete_rejections();
    planner.finish()
}

/// What is kept of the decisions of a row until all rows are decided.
#[derive(Debug, Clone)]
struct Decided {
    outcome: RowOutcome,
    manager: Option<EmployeeId>,
    department: Option<DepartmentId>,
}

struct Planner<'a> {
    file: &'a File,
    known: &'a Known,
    options: &'a PlanOptions<'a>,
    index: Index<'a>,
    targets: Vec<Option<Target>>,
    outcomes: Vec<Option<RowOutcome>>,
    wanted: Vec<Option<Wanted>>,
    decided: Vec<Option<Decided>>,
    departments: HashMap<String, (DepartmentId, Decision<Department>)>,
    departments_by_name: HashMap<String, &'a Department>,
    /// The rows through which an address comes to be somebody's.
    providers: HashMap<String, usize>,
    /// The addresses of stored people whom the file renames.
    given_up: HashSet<String>,
    /// The rows whose manager has an address.
    dependents: HashMap<String, Vec<usize>>,
}

impl Planner<'_> {
    fn open(&self) -> Vec<usize> {
        (0..self.outcomes.len()).filter(|at| self.outcomes[*at].is_none()).collect()
    }

    fn stored(&self, row: usize) -> Option<&Employee> {
        if let Some(Target::Stored(at)) = self.targets[row] { self.known.people.get(at) } else { None }
    }

    fn person(&self, row: usize) -> Option<EmployeeId> {
        match self.targets[row]? {
            Target::Stored(at) => Some(self.known.people[at].id),
            Target::New(id) => Some(id),
        }
    }

    /// Reads the cells of every row, and finds its department.
    fn read(&mut self, ids: &mut dyn FnMut() -> Ulid) {
        let file = self.file;
        for at in self.open() {
            let row = &file.rows[at];
            let stored = self.stored(at);
            let mut problems = Problems::none();
            let parsed = decide::parse(self.file, row, stored, self.options.clear_empty);
            drop(parsed.map_err(|it| problems.extend(it)));
            problems.take("status", decide::status(self.file, row, stored));
            let department = self.department(row, stored);
            if !problems.is_empty() {
                self.outcomes[at] = Some(RowOutcome::Reject(Rejection::of(&problems)));
                continue;
            }
            match department {
                Ok(DepartmentCell::Known(department)) => {
                    self.wanted[at] = Some(Wanted { manager: Wish::Keep, department });
                }
                Ok(DepartmentCell::Missing(name)) => {
                    let department = Wish::Set(self.new_department(name, ids));
                    self.wanted[at] = Some(Wanted { manager: Wish::Keep, department });
                }
                Err(rejection) => self.outcomes[at] = Some(RowOutcome::Reject(rejection)),
            }
        }
    }

    /// Finds everybody's manager, among those who are stored and those whom the file brings, by the addresses that
    /// they will have (decision E4).
    fn resolve_managers(&mut self) {
        let open = self.open();
        for at in &open {
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
        for at in open {
            let row = &self.file.rows[at];
            let Some(cell) = self.file.cell(row, &Column::ManagerEmail) else {
                let clears = self.options.clear_empty && self.file.is_empty(row, &Column::ManagerEmail);
                if let (true, Some(wanted)) = (clears, &mut self.wanted[at]) {
                    wanted.manager = Wish::Clear;
                }
                continue;
            };
            let key = folded(cell.trim());
            match (self.find_manager(&key), &mut self.wanted[at]) {
                (Some(id), Some(wanted)) => wanted.manager = Wish::Set(id),
                _ => missing.push(at),
            }
            self.dependents.entry(key).or_default().push(at);
        }
        let missing = missing.into_iter().map(|it| (it, self.no_manager(it))).collect();
        self.reject(missing);
    }

    /// Returns the person who will have this address, among those who are stored and those whom the file brings.
    fn find_manager(&self, key: &str) -> Option<EmployeeId> {
        let is_rejected = |row: usize| matches!(self.outcomes[row], Some(RowOutcome::Reject(_)));
        let provided = self.providers.get(key).filter(|row| !is_rejected(**row)).and_then(|row| self.person(*row));
        let stored = self.index.by_email(key).filter(|_| !self.given_up.contains(key));
        provided.or_else(|| stored.map(|person| self.known.people[person].id))
    }

    fn no_manager(&self, at: usize) -> Rejection {
        let cell = self.file.cell(&self.file.rows[at], &Column::ManagerEmail).unwrap_or_default();
        Rejection::of(&Problems::one("manager_email", Flaw::not_found(cell)))
    }

    /// Rejects rows, and every row whose manager they would have brought; answers all of them.
    fn reject(&mut self, rows: Vec<(usize, Rejection)>) -> Vec<usize> {
        let mut rejected = Vec::new();
        let mut next = rows;
        while !next.is_empty() {
            let mut bereft = Vec::new();
            for (at, rejection) in next {
                if self.outcomes[at].is_some() {
                    continue;
                }
                self.outcomes[at] = Some(RowOutcome::Reject(rejection));
                self.decided[at] = None;
                rejected.push(at);
                let key = &self.file.rows[at].email_key;
                if self.providers.get(key) == Some(&at) {
                    bereft.extend(self.dependents.get(key).into_iter().flatten().copied());
                }
            }
            next = bereft.into_iter().map(|it| (it, self.no_manager(it))).collect();
        }
        rejected
    }

    fn decide(&mut self) {
        let judge = Judge { file: self.file, known: self.known, options: self.options };
        for at in self.open() {
            let (Some(id), Some(wanted)) = (self.person(at), self.wanted[at]) else { continue };
            let stored = self.stored(at);
            match judge.decide(&self.file.rows[at], id, stored, wanted) {
                Ok(decisions) => self.decided[at] = Some(Decided::of(stored, &decisions)),
                Err(rejection) => drop(self.reject(vec![(at, rejection)])),
            }
        }
        // A row whose manager was rejected after it had been decided is out as well.
        for at in 0..self.outcomes.len() {
            if self.outcomes[at].is_some() {
                self.decided[at] = None;
            }
        }
    }

    /// The manager that a row would give its person, if it changes.
    fn moves_to(&self, at: usize) -> Option<Option<EmployeeId>> {
        let after = self.decided[at].as_ref()?.manager;
        let before = self.stored(at).and_then(|it| it.manager_id);
        (after != before).then_some(after)
    }

    /// Rejects the rows that lie on a cycle, until there is none (decision E3). A line that is taken back may close
    /// another one.
    fn break_cycles(&mut self) {
        let mut lines = self.known.lines.clone();
        let mut row_of: HashMap<EmployeeId, usize> = HashMap::new();
        let mut changed = Vec::new();
        for at in self.open() {
            let (Some(person), Some(manager)) = (self.person(at), self.moves_to(at)) else { continue };
            put(&mut lines, person, manager);
            row_of.insert(person, at);
            changed.push(person);
        }
        while !changed.is_empty() {
            let cycles = graph::on_cycles(&lines, changed.drain(..));
            let mut on_cycle: Vec<usize> = cycles.iter().filter_map(|it| row_of.get(it).copied()).collect();
            on_cycle.sort_unstable();
            for gone in self.reject(on_cycle.into_iter().map(|it| (it, on_a_cycle())).collect()) {
                let Some(person) = self.person(gone) else { continue };
                put(&mut lines, person, self.known.lines.get(&person).copied());
                changed.push(person);
            }
        }
    }

    /// The lines as they will be.
    fn final_lines(&self) -> Lines {
        let mut lines = self.known.lines.clone();
        for at in self.open() {
            if let (Some(person), Some(manager)) = (self.person(at), self.moves_to(at)) {
                put(&mut lines, person, manager);
            }
        }
        lines
    }

    fn finish(mut self) -> Plan {
        let open = self.open();
        let lines = self.final_lines();
        let depths = graph::depths(&lines, open.iter().filter_map(|it| self.person(*it)));
        let (mut steps, mut joined) = (Vec::with_capacity(open.len()), HashSet::new());
        for at in open {
            let Some(Decided { outcome, department, .. }) = self.decided[at].take() else { continue };
            if let (true, Some(id), Some(wanted)) = (outcome != RowOutcome::Unchanged, self.person(at), self.wanted[at])
            {
                let before = if let Some(Target::Stored(it)) = self.targets[at] { Some(it) } else { None };
                steps.push((depths.get(&id).copied().unwrap_or_default(), Step { row: at, before, id, wanted }));
                joined.extend(department);
            }
            self.outcomes[at] = Some(outcome);
        }
        steps.sort_unstable_by_key(|(depth, step)| (*depth, step.row));
        let steps = steps.into_iter().map(|(_, it)| it).collect();
        let departments = self.departments.into_values().filter(|(id, _)| joined.contains(id)).collect();
        let outcomes = self.outcomes.into_iter().map(|it| it.unwrap_or(RowOutcome::Unchanged)).collect();
        Plan { steps, outcomes, departments }
    }
}

fn on_a_cycle() -> Rejection {
    let message = "would make the person their own manager, directly or through others";
    Rejection::of(&Problems::one("manager_email", Flaw::new(Code::ReportingCycle, message)))
}

fn put(lines: &mut Lines, person: EmployeeId, manager: Option<EmployeeId>) {
    match manager {
        Some(manager) => lines.insert(person, manager),
        None => lines.remove(&person),
    };
}

impl Decided {
    fn of(stored: Option<&Employee>, decisions: &[Decision<Employee>]) -> Self {
        let did = |action: &str| decisions.iter().any(|it| it.audit.action == action);
        let outcome = match decisions {
            [] => RowOutcome::Unchanged,
            _ if stored.is_none() => RowOutcome::Create,
            _ if did("employee.deactivate") => RowOutcome::Deactivate,
            _ if did("employee.reactivate") => RowOutcome::Reactivate,
            _ => RowOutcome::Update,
        };
        let after = decisions.last().map(|it| &it.state).or(stored);
        let (manager, department) = (after.and_then(|it| it.manager_id), after.and_then(|it| it.department_id));
        Self { outcome, manager, department }
    }
}

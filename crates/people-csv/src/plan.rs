//! Planner of a file, which decides all rows together.

mod complete;
mod departments;
mod managers;
mod steps;

use std::collections::{BTreeMap, HashMap, HashSet};

use candor_domain::catalog::Department;
use candor_domain::decision::Decision;
use candor_domain::id::{DepartmentId, EmployeeId};
use candor_domain::people::{Employee, MAX_REPORTING_DEPTH, reporting_too_deep};
use candor_domain::problem::ValidationErrors;
use candor_domain::ulid::Ulid;

use super::decide::{self, ReferenceChange, ResolvedReferences, RowContext, keep_an_admin};
use super::graph::{self, Lines};
use super::matching::{self, Index, Target};
use super::report::{RowOutcome, Warning};
use super::row_problem::UploadRowError;
use super::{CellCounter, File, PlanOptions, StoredRows};
use departments::DepartmentCell;
pub use steps::{PlanDisplay, PlannedStep};

/// Maximum number of rounds of rejecting rows for their reporting lines.
const MAX_ROUNDS: usize = 8;

/// The planned changes of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Changes to apply, managers before their reports. They may be applied in pieces, in this order: no piece refers
    /// to a missing person or closes a cycle, because all managers above a person already have their final reporting
    /// lines.
    pub steps: Vec<PlannedStep>,
    /// One outcome per row of the file.
    pub outcomes: Vec<RowOutcome>,
    /// Departments to create before people join them.
    pub departments: HashMap<DepartmentId, Decision<Department>>,
    /// Columns in which stored numbers or booleans become texts.
    pub warnings: Vec<Warning>,
}

/// Decides the outcome of each row of a file. Rows that were `applied` in an earlier piece of the same upload are
/// skipped. A file that is applied twice changes nothing the second time.
#[must_use]
pub fn plan(
    file: &File,
    known: &StoredRows,
    applied: &HashSet<usize>,
    options: &PlanOptions<'_>,
    ids: &mut dyn FnMut() -> Ulid,
) -> Plan {
    plan_in_pieces(file, known, applied, options, ids, &mut |_| {})
}

/// Decides as [`plan`] does, and reports the work on rows to `progress`, in cells.
#[must_use]
pub fn plan_in_pieces(
    file: &File,
    known: &StoredRows,
    applied: &HashSet<usize>,
    options: &PlanOptions<'_>,
    ids: &mut dyn FnMut() -> Ulid,
    progress: &mut CellCounter<'_>,
) -> Plan {
    let index = Index::new(known);
    let mut outcomes: Vec<Option<RowOutcome>> = vec![None; file.rows.len()];
    for at in applied {
        outcomes[*at] = Some(RowOutcome::Unchanged);
    }
    let targets = matching::match_rows(file, &index, &mut outcomes, ids, progress);
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
        departments_by_name: departments.map(|department| (department.name_key(), department)).collect(),
        providers: HashMap::new(),
        given_up: HashSet::new(),
        dependents: HashMap::new(),
        rows_by_address: file.rows.iter().enumerate().map(|(at, row)| (row.email_key.as_str(), at)).collect(),
        progress,
    };
    planner.read(ids);
    planner.resolve_managers();
    planner.decide();
    planner.break_lines();
    planner.complete_rejections();
    planner.finish()
}

/// The summary of a row's decisions, kept until all rows are decided.
#[derive(Debug, Clone)]
struct RowSummary {
    outcome: RowOutcome,
    manager: Option<EmployeeId>,
    department: Option<DepartmentId>,
}

struct Planner<'a> {
    file: &'a File,
    known: &'a StoredRows,
    options: &'a PlanOptions<'a>,
    index: Index<'a>,
    targets: Vec<Option<Target>>,
    outcomes: Vec<Option<RowOutcome>>,
    wanted: Vec<Option<ResolvedReferences>>,
    decided: Vec<Option<RowSummary>>,
    departments: HashMap<String, (DepartmentId, Decision<Department>)>,
    departments_by_name: HashMap<String, &'a Department>,
    /// Row that gives a new or stored person an address that this person does not have yet, by the address.
    providers: HashMap<String, usize>,
    /// Current addresses of the stored people that get another address from the file.
    given_up: HashSet<String>,
    /// Rows by the address of their manager.
    dependents: HashMap<String, Vec<usize>>,
    /// Last row of each address in the file, which replaces the earlier rows of the address.
    rows_by_address: HashMap<&'a str, usize>,
    progress: &'a mut CellCounter<'a>,
}

impl Planner<'_> {
    fn open_rows(&self) -> Vec<usize> {
        (0..self.outcomes.len()).filter(|at| self.outcomes[*at].is_none()).collect()
    }

    fn stored_employee(&self, row: usize) -> Option<&Employee> {
        if let Some(Target::Stored(at)) = self.targets[row] { self.known.people.get(at) } else { None }
    }

    fn person(&self, row: usize) -> Option<EmployeeId> {
        match self.targets[row]? {
            Target::Stored(at) => Some(self.known.people[at].id),
            Target::New(id) => Some(id),
        }
    }

    /// Reports the work on a row, in cells: the lookups of its cells, and the copy of the stored person.
    fn count_row(&mut self, at: usize) {
        let stored_fields = self.stored_employee(at).map_or(0, |person| person.custom_fields.0.len());
        (self.progress)(self.file.row_cells(&self.file.rows[at]) + stored_fields);
    }

    /// Parses the cells of every row, and resolves its department.
    fn read(&mut self, ids: &mut dyn FnMut() -> Ulid) {
        let file = self.file;
        for at in self.open_rows() {
            self.count_row(at);
            let row = &file.rows[at];
            let person_before = self.stored_employee(at);
            let problems = decide::check_cells(self.file, row, person_before, self.options.clear_empty);
            let department = self.department(row, person_before);
            if !problems.is_empty() {
                self.outcomes[at] = Some(RowOutcome::Reject(UploadRowError::from_problems(&problems)));
                continue;
            }
            match department {
                Ok(DepartmentCell::Known(department)) => {
                    self.wanted[at] = Some(ResolvedReferences { manager: ReferenceChange::Keep, department });
                }
                Ok(DepartmentCell::Missing { name, key }) => {
                    let department = ReferenceChange::Set(self.new_department(name, key, ids));
                    self.wanted[at] = Some(ResolvedReferences { manager: ReferenceChange::Keep, department });
                }
                Err(rejection) => self.outcomes[at] = Some(RowOutcome::Reject(rejection)),
            }
        }
    }

    fn decide(&mut self) {
        let judge = RowContext { file: self.file, known: self.known, options: self.options };
        let mut admins = self.known.org_admins.clone();
        for at in self.open_rows() {
            self.count_row(at);
            let (Some(id), Some(wanted)) = (self.person(at), self.wanted[at]) else { continue };
            let person_before = self.stored_employee(at);
            let decision = judge.decide(&self.file.rows[at], id, person_before, wanted);
            match decision.and_then(|decisions| keep_an_admin(&mut admins, person_before, decisions)) {
                Ok(decisions) => self.decided[at] = Some(RowSummary::from_decisions(person_before, &decisions)),
                Err(rejection) => drop(self.reject(vec![(at, rejection)])),
            }
        }
        // The rejection of a manager's row also rejects the rows of reports. Decisions about such rows may exist
        // already: they are dropped.
        for at in 0..self.outcomes.len() {
            if self.outcomes[at].is_some() {
                self.decided[at] = None;
            }
        }
    }

    /// Returns the new manager of a row's person: `Some(None)` if the person has no manager any more, `None` if
    /// the manager does not change or the row is not decided.
    fn moves_to(&self, at: usize) -> Option<Option<EmployeeId>> {
        let manager_after = self.decided[at].as_ref()?.manager;
        let manager_before = self.stored_employee(at).and_then(|person| person.manager_id);
        (manager_after != manager_before).then_some(manager_after)
    }

    /// Rejects rows on a cycle and rows that put too many managers above a person. A rejected row restores the stored
    /// reporting line, which may cause either problem again. The commit checks the depth too, so the rounds may be
    /// bounded.
    fn break_lines(&mut self) {
        for _ in 0..MAX_ROUNDS {
            (self.progress)(self.outcomes.len());
            self.break_cycles();
            (self.progress)(self.outcomes.len());
            let lines = self.final_lines();
            let line_of = |at: usize| Some((at, self.person(at)?, self.moves_to(at)??));
            let new_lines: Vec<_> = self.open_rows().into_iter().filter_map(line_of).collect();
            let depths = graph::depths(&lines, new_lines.iter().map(|(_, person, _)| *person));
            let depth = |person: &EmployeeId| {
                let height = self.known.heights.get(person).copied().unwrap_or(0) as usize;
                depths.get(person).copied().unwrap_or(0) + height
            };
            let deep = new_lines.iter().filter(|(_, person, _)| depth(person) > MAX_REPORTING_DEPTH as usize);
            let deep: Vec<_> = deep.map(|(at, ..)| (*at, too_deep())).collect();
            if self.reject(deep).is_empty() {
                return;
            }
        }
        self.break_cycles();
    }

    /// Rejects the rows on a cycle, until no cycle is left (decision E3). Reverting one line may close another
    /// cycle.
    fn break_cycles(&mut self) {
        let mut lines = self.known.lines.clone();
        let mut row_of: HashMap<EmployeeId, usize> = HashMap::new();
        let mut changed_rows = Vec::new();
        for at in self.open_rows() {
            let (Some(person), Some(manager)) = (self.person(at), self.moves_to(at)) else { continue };
            set_manager(&mut lines, person, manager);
            row_of.insert(person, at);
            changed_rows.push(person);
        }
        while !changed_rows.is_empty() {
            let cycles = graph::find_cycles(&lines, changed_rows.drain(..));
            let mut on_cycle: Vec<usize> =
                cycles.iter().filter_map(|person| row_of.get(person).copied()).collect();
            on_cycle.sort_unstable();
            (self.progress)(self.outcomes.len());
            let on_cycle = on_cycle.into_iter().map(|at| (at, self.reporting_cycle(at))).collect();
            for rejected_row in self.reject(on_cycle) {
                let Some(person) = self.person(rejected_row) else { continue };
                set_manager(&mut lines, person, self.known.lines.get(&person).copied());
                changed_rows.push(person);
            }
        }
    }

    /// Returns the reporting lines after the upload.
    fn final_lines(&self) -> Lines {
        let mut lines = self.known.lines.clone();
        for at in self.open_rows() {
            if let (Some(person), Some(manager)) = (self.person(at), self.moves_to(at)) {
                set_manager(&mut lines, person, manager);
            }
        }
        lines
    }

    fn finish(mut self) -> Plan {
        let open_rows = self.open_rows();
        let lines = self.final_lines();
        let depths = graph::depths(&lines, open_rows.iter().filter_map(|at| self.person(*at)));
        let (mut steps, mut joined) = (Vec::with_capacity(open_rows.len()), HashSet::new());
        let mut lost_types: BTreeMap<usize, (u32, usize)> = BTreeMap::new();
        for at in open_rows {
            self.count_row(at);
            let Some(RowSummary { outcome, department, .. }) = self.decided[at].take() else { continue };
            if let (true, Some(id), Some(wanted)) =
                (outcome != RowOutcome::Unchanged, self.person(at), self.wanted[at])
            {
                let stored_index = if let Some(Target::Stored(at)) = self.targets[at] { Some(at) } else { None };
                steps.push((
                    depths.get(&id).copied().unwrap_or_default(),
                    PlannedStep { row: at, before: stored_index, id, wanted },
                ));
                joined.extend(department);
            }
            if let Some(person_before) = self.stored_employee(at) {
                let row = &self.file.rows[at];
                for column in decide::lost_types(self.file, row, person_before) {
                    lost_types.entry(column).or_insert((row.number, 0)).1 += 1;
                }
            }
            self.outcomes[at] = Some(outcome);
        }
        let warnings = lost_types
            .into_iter()
            .map(|(column, (row, count))| Warning::of_lost_type(&self.file.columns[column].label(), row, count));
        let warnings = warnings.collect();
        steps.sort_unstable_by_key(|(depth, step)| (*depth, step.row));
        let steps = steps.into_iter().map(|(_, step)| step).collect();
        let departments = self.departments.into_values().filter(|(id, _)| joined.contains(id)).collect();
        let outcomes = self.outcomes.into_iter().map(|outcome| outcome.unwrap_or(RowOutcome::Unchanged)).collect();
        Plan { steps, outcomes, departments, warnings }
    }
}

fn too_deep() -> UploadRowError {
    UploadRowError::from_problems(&ValidationErrors::one("manager_email", reporting_too_deep()))
}

fn set_manager(lines: &mut Lines, person: EmployeeId, manager: Option<EmployeeId>) {
    match manager {
        Some(manager) => lines.insert(person, manager),
        None => lines.remove(&person),
    };
}

impl RowSummary {
    fn from_decisions(stored: Option<&Employee>, decisions: &[Decision<Employee>]) -> Self {
        let has_action = |action: &str| decisions.iter().any(|decision| decision.audit.action == action);
        let outcome = match decisions {
            [] => RowOutcome::Unchanged,
            _ if stored.is_none() => RowOutcome::Create,
            _ if has_action("employee.deactivate") => RowOutcome::Deactivate,
            _ if has_action("employee.reactivate") => RowOutcome::Reactivate,
            _ => RowOutcome::Update,
        };
        let state_after = decisions.last().map(|decision| &decision.state).or(stored);
        let (manager, department) = (
            state_after.and_then(|person| person.manager_id),
            state_after.and_then(|person| person.department_id),
        );
        Self { outcome, manager, department }
    }
}

//! What one row does to one person, with the rules and the parsers of single writes.

use super::columns::{Column, normalized};
use super::row_problem::Rejection;
use super::{CsvRow, File, Known, PlanOptions};
use crate::decision::{Decision, Resource};
use crate::fields::{Reference, Word};
use crate::id::{DepartmentId, EmployeeId, Id, Kind};
use crate::json::{Object, Value};
use crate::people::{Custom, Draft, Employee, Patch, ROLE, References, ReportingLine, Status};
use crate::problem::{Flaw, Problems};
use crate::text::folded;

/// What a cell wants of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish<T> {
    /// As it is.
    Keep,
    /// None.
    Clear,
    /// This one.
    Set(T),
}

impl<K: Kind> Wish<Id<K>> {
    fn reference(self) -> Option<Option<Reference<K>>> {
        match self {
            Self::Keep => None,
            Self::Clear => Some(None),
            Self::Set(id) => Some(Some(Reference { text: id.to_string(), id: Some(id) })),
        }
    }
}

/// The cells of a row, read.
pub(super) enum Parsed {
    New(Box<Draft>),
    Change(Box<Patch>),
}

/// Reads the cells of a row about this person, or about somebody new.
pub(super) fn parse(file: &File, row: &CsvRow, stored: Option<&Employee>, clear: bool) -> Result<Parsed, Problems> {
    let body = body(file, row, stored, clear);
    match stored {
        Some(stored) => Patch::parse(body, stored).map(|it| Parsed::Change(Box::new(it))),
        None => Draft::parse(body).map(|it| Parsed::New(Box::new(it))),
    }
}

/// The row as the body of a single write would say it; references come later.
fn body(file: &File, row: &CsvRow, stored: Option<&Employee>, clear: bool) -> Object {
    let (mut body, mut custom) = (Object::new(), Object::new());
    let mut text = |name: &str, it: &str| body.push(name, Value::Text(it.to_owned()));
    if stored.is_none_or(|it| folded(&it.email) != row.email_key) {
        text("email", &row.email);
    }
    for (at, cell) in &row.cells {
        let Some(column) = file.columns.get(usize::from(*at)) else { continue };
        match column {
            // Spreadsheets have `Manager` and `Org Admin`.
            Column::Member { name, .. } if *name == ROLE.name => text(name, &normalized(cell)),
            Column::Member { name, .. } => text(name, cell),
            Column::Custom(key) => {
                let before = stored.and_then(|it| it.custom_fields.0.get(key));
                custom.push(key, typed(before, cell));
            }
            Column::Email | Column::ManagerEmail | Column::DepartmentName | Column::Status | Column::Unknown => {}
        }
    }
    if clear {
        for column in file.columns.iter().filter(|it| file.is_empty(row, it)) {
            match column {
                Column::Member { name, is_optional: true } => body.push(*name, Value::Null),
                Column::Custom(key) => custom.push(key, Value::Null),
                Column::Member { is_optional: false, .. }
                | Column::Email
                | Column::ManagerEmail
                | Column::DepartmentName
                | Column::Status
                | Column::Unknown => {}
            }
        }
    }
    if !custom.is_empty() {
        body.push("custom_fields", Value::Object(custom));
    }
    body
}

/// A stored number or boolean keeps its type when the text can be read as one (decision E7).
fn typed(before: Option<&Custom>, cell: &str) -> Value {
    match before {
        Some(Custom::Number(_)) => serde_json::from_str(cell).ok().map(Value::Number),
        // Spreadsheets write them in capitals.
        Some(Custom::Flag(_)) if cell.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        Some(Custom::Flag(_)) if cell.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        _ => None,
    }
    .unwrap_or_else(|| Value::Text(cell.to_owned()))
}

/// The status that a row wants; `None` for no change (decision E5).
pub(super) fn status(file: &File, row: &CsvRow, stored: Option<&Employee>) -> Result<Option<Status>, Flaw> {
    let Some(cell) = file.cell(row, &Column::Status) else { return Ok(None) };
    let status = Status::from_word(&normalized(cell)).ok();
    let now = stored.map_or(Status::Active, |it| it.status);
    match status {
        Some(it) if stored.is_some() && it == now => Ok(None),
        Some(it @ (Status::Active | Status::Deactivated)) => Ok(Some(it).filter(|it| *it != now)),
        _ => Err(Flaw::one_of(&[Status::Active.word(), Status::Deactivated.word()])),
    }
}

/// What a row's references came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) manager: Wish<EmployeeId>,
    pub(super) department: Wish<DepartmentId>,
}

/// Everything that decisions about single rows rely upon.
#[derive(Clone, Copy)]
pub(super) struct Judge<'a> {
    pub(super) file: &'a File,
    pub(super) known: &'a Known,
    pub(super) options: &'a PlanOptions<'a>,
}

impl Judge<'_> {
    /// The decisions of a row, in order; none if everything is as it says.
    pub(super) fn decide(
        self,
        row: &CsvRow,
        id: EmployeeId,
        stored: Option<&Employee>,
        wanted: Wanted,
    ) -> Result<Vec<Decision<Employee>>, Rejection> {
        let parsed = parse(self.file, row, stored, self.options.clear_empty).map_err(|it| Rejection::of(&it))?;
        let mut decisions = match (parsed, stored) {
            (Parsed::New(draft), _) => vec![create(self.options, id, *draft, wanted)?],
            (Parsed::Change(patch), Some(stored)) => change(self, stored, *patch, wanted)?,
            (Parsed::Change(_), None) => vec![],
        };
        let Some(now) = decisions.last().map(|it| &it.state).or(stored) else { return Ok(decisions) };
        let at = self.options.at;
        let wanted = status(self.file, row, stored);
        let status = wanted.map_err(|it| Rejection::of(&Problems::one("status", it)))?;
        let moved = match (status, now.status) {
            (Some(Status::Deactivated), _) => Some(now.deactivate(at)?),
            (Some(Status::Active), Status::Deactivated) => Some(now.reactivate(at)?),
            (Some(Status::Active), Status::PendingInvite) => Some(now.accept_invitation(at)?),
            _ => None,
        };
        decisions.extend(moved);
        Ok(decisions)
    }
}

/// The references were resolved, and judged as they will be in the end: they hold.
fn resolved() -> References {
    let manager = Some(ReportingLine { status: Status::Active, is_below: false });
    References { manager, department_archived: Some(false), ..References::default() }
}

fn create(
    options: &PlanOptions<'_>,
    id: EmployeeId,
    mut draft: Draft,
    wanted: Wanted,
) -> Result<Decision<Employee>, Rejection> {
    draft.manager = wanted.manager.reference().flatten();
    draft.department = wanted.department.reference().flatten();
    let mut decision = Employee::create(id, draft, &resolved(), options.at)?;
    if let Some(connector) = options.connector {
        decision.state = connector.in_charge_of(decision.state);
    }
    Ok(decision)
}

fn change(
    judge: Judge<'_>,
    stored: &Employee,
    patch: Patch,
    wanted: Wanted,
) -> Result<Vec<Decision<Employee>>, Rejection> {
    let Judge { known, options, .. } = judge;
    let mut decisions = Vec::new();
    let free = options.connector.filter(|_| stored.connector_id.is_none());
    decisions.extend(free.and_then(|it| it.manage(stored, options.at)));
    let patch = Patch { manager: wanted.manager.reference(), department: wanted.department.reference(), ..patch };
    let managed_keys = stored.connector_id.and_then(|it| known.managed_keys.get(&it)).cloned().unwrap_or_default();
    let acting = options.connector.map(Resource::id);
    let found = References { managed_keys, acting, ..resolved() };
    let now = decisions.last().map_or(stored, |it| &it.state);
    if let Some(update) = now.update(&patch, &found, options.at)? {
        // One change of the record is one event, whoever took charge of it at the same time.
        if let Some(first) = decisions.first_mut() {
            first.events.clear();
        }
        decisions.push(update);
    }
    Ok(decisions)
}

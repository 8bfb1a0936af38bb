//! Decides the change of one person by one row, with the rules and parsers of single writes.

use std::collections::BTreeSet;

use candor_domain::decision::{Decision, Resource};
use candor_domain::fields::{Reference, StringEnum};
use candor_domain::id::{DepartmentId, EmployeeId, Id, Kind};
use candor_domain::json::{Object, Value};
use candor_domain::people::{Custom, Draft, Employee, Patch, References, ReportingLine, Status};
use candor_domain::problem::{ValidationErrors, ValueError};
use candor_domain::text::address_key;
use serde_json::Number;

use super::columns::{Column, ROLE, normalize_header};
use super::row_problem::UploadRowError;
use super::{CsvRow, File, PlanOptions, StoredRows};

/// The change of a reference that a cell asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReferenceChange<T> {
    /// The reference stays as stored.
    Keep,
    /// The reference is removed.
    Clear,
    /// The reference is set to this id.
    Set(T),
}

impl<K: Kind> ReferenceChange<Id<K>> {
    fn reference(self) -> Option<Option<Reference<K>>> {
        match self {
            Self::Keep => None,
            Self::Clear => Some(None),
            Self::Set(id) => Some(Some(Reference { text: id.to_string(), id: Some(id) })),
        }
    }
}

/// The parsed cells of a row.
pub(super) enum ParsedRow {
    New(Box<Draft>),
    Change(Box<Patch>),
}

/// Parses the cells of a row about a stored person, or about a new one.
pub(super) fn parse(
    file: &File,
    row: &CsvRow,
    stored: Option<&Employee>,
    clear: bool,
) -> Result<ParsedRow, ValidationErrors> {
    let body = body(file, row, stored, clear);
    match stored {
        Some(stored) => Patch::parse(body).resolve_with(stored).map(|patch| ParsedRow::Change(Box::new(patch))),
        None => Draft::parse(body).map(|draft| ParsedRow::New(Box::new(draft))),
    }
}

/// Returns the problems of a row's cells.
pub(super) fn check_cells(file: &File, row: &CsvRow, stored: Option<&Employee>, clear: bool) -> ValidationErrors {
    let mut problems = ValidationErrors::none();
    for (at, _) in row.cells.iter().filter(|(_, cell)| is_error_word(cell)) {
        let field = match file.columns.get(usize::from(at)) {
            Some(Column::Custom(key)) => format!("custom_fields.{key}"),
            Some(column) => column.label().into_owned(),
            None => continue,
        };
        problems.add(field, spreadsheet_error());
    }
    let is_known = |field: &str| problems.as_slice().iter().any(|problem| problem.field == field);
    let mut others = ValidationErrors::none();
    if let Err(found) = parse(file, row, stored, clear) {
        others.extend(found);
    }
    others.take("status", status(file, row, stored));
    let others = others.except(is_known);
    problems.extend(others);
    problems
}

/// Words that spreadsheets show in place of a value that they cannot calculate.
const ERROR_WORDS: [&str; 12] = [
    "#N/A", "#REF!", "#NAME?", "#VALUE!", "#DIV/0!", "#NULL!", "#NUM!", "#SPILL!", "#NV", "#BEZUG!", "#WERT!",
    "#ZAHL!",
];

/// Returns `true` for the word of a spreadsheet's error.
pub(super) fn is_error_word(cell: &str) -> bool {
    let cell = cell.trim();
    cell.starts_with('#') && ERROR_WORDS.iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// Returns the problem of a cell with an error of the spreadsheet.
pub(super) fn spreadsheet_error() -> ValueError {
    ValueError::format("a value; the spreadsheet shows an error in this cell: correct its formula")
}

/// Returns the row as the body of a single write. References are added later.
fn body(file: &File, row: &CsvRow, stored: Option<&Employee>, clear: bool) -> Object {
    let (mut body, mut custom) = (Object::new(), Object::new());
    let mut text = |name: &str, value: &str| body.push(name, Value::Text(value.to_owned()));
    if stored.is_none_or(|person| address_key(&person.email) != row.email_key) {
        text("email", &row.email);
    }
    for (at, cell) in row.cells.iter() {
        let Some(column) = file.columns.get(usize::from(at)) else { continue };
        match column {
            // Spreadsheets write `Manager` and `Org Admin`.
            Column::Member { name, .. } if *name == ROLE => text(name, &normalize_header(cell)),
            Column::Member { name, .. } if *column == Column::EXTERNAL_ID => text(name, cell.trim()),
            Column::Member { name, .. } => text(name, cell),
            Column::Custom(key) => {
                let value_before = stored.and_then(|person| person.custom_fields.0.get(key));
                custom.push(key, to_typed(value_before, cell));
            }
            Column::Email | Column::ManagerEmail | Column::DepartmentName | Column::Status | Column::Unknown => {}
        }
    }
    if clear {
        for column in file.empty_columns(row) {
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

/// Converts a cell to the type of the stored value. A number or boolean keeps its type if the text can be read as
/// one (decision E7).
fn to_typed(before: Option<&Custom>, cell: &str) -> Value {
    match before {
        Some(Custom::Number(stored)) => serde_json::from_str(cell).ok().map(|number: Number| {
            // `7.0` and `7` are the same number: the stored text stays.
            Value::Number(if is_same(stored, &number) { stored.clone() } else { number }.into())
        }),
        // Spreadsheets write booleans in capitals.
        Some(Custom::Flag(_)) if cell.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        Some(Custom::Flag(_)) if cell.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        _ => None,
    }
    .unwrap_or_else(|| Value::Text(cell.to_owned()))
}

/// Returns the columns in which a row replaces a stored number or boolean by a text, as the formats of some countries
/// do: `0,5`, `WAHR`.
pub(super) fn lost_types<'a>(
    file: &'a File,
    row: &'a CsvRow,
    stored: &'a Employee,
) -> impl Iterator<Item = usize> + 'a {
    let is_lost = |column: &Column, cell: &str| match column {
        Column::Custom(key) => {
            let value_before = stored.custom_fields.0.get(key).filter(|value| !matches!(value, Custom::Text(_)));
            value_before.is_some() && matches!(to_typed(value_before, cell), Value::Text(_))
        }
        Column::Email
        | Column::Member { .. }
        | Column::ManagerEmail
        | Column::DepartmentName
        | Column::Status
        | Column::Unknown => false,
    };
    row.cells.iter().filter_map(move |(at, cell)| {
        let index = usize::from(at);
        file.columns.get(index).filter(|column| is_lost(column, cell)).map(|_| index)
    })
}

/// Returns `true` for the same decimal number, whatever its trailing zeros. Exponents are compared as they are.
fn is_same(one: &Number, other: &Number) -> bool {
    let shortest = |number: &Number| {
        let text = number.to_string();
        match text.split_once('.') {
            Some((_, fraction)) if fraction.bytes().all(|digit| digit.is_ascii_digit()) => {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            _ => text,
        }
    };
    shortest(one) == shortest(other)
}

/// Returns the status that a row asks for, or `None` for no change (decision E5).
pub(super) fn status(file: &File, row: &CsvRow, stored: Option<&Employee>) -> Result<Option<Status>, ValueError> {
    let Some(cell) = file.cell(row, &Column::Status) else { return Ok(None) };
    let status = Status::from_word(&normalize_header(cell)).ok();
    let now = stored.map_or(Status::Active, |person| person.status);
    match status {
        Some(wanted) if stored.is_some() && wanted == now => Ok(None),
        Some(wanted @ (Status::Active | Status::Deactivated)) => Ok(Some(wanted).filter(|status| *status != now)),
        _ => Err(ValueError::one_of(&[Status::Active.word(), Status::Deactivated.word()])),
    }
}

/// The resolved references of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResolvedReferences {
    pub(super) manager: ReferenceChange<EmployeeId>,
    pub(super) department: ReferenceChange<DepartmentId>,
}

/// The input of decisions about single rows.
#[derive(Clone, Copy)]
pub(super) struct RowContext<'a> {
    pub(super) file: &'a File,
    pub(super) known: &'a StoredRows,
    pub(super) options: &'a PlanOptions<'a>,
}

impl RowContext<'_> {
    /// Returns the decisions of a row, in order. The list is empty if the row changes nothing.
    pub(super) fn decide(
        self,
        row: &CsvRow,
        id: EmployeeId,
        stored: Option<&Employee>,
        wanted: ResolvedReferences,
    ) -> Result<Vec<Decision<Employee>>, UploadRowError> {
        let row_values = parse(self.file, row, stored, self.options.clear_empty)
            .map_err(|problems| UploadRowError::from_problems(&problems))?;
        let mut decisions = match (row_values, stored) {
            (ParsedRow::New(draft), _) => vec![create(self.options, id, *draft, wanted)?],
            (ParsedRow::Change(patch), Some(stored)) => change(self, stored, *patch, wanted)?,
            (ParsedRow::Change(_), None) => vec![],
        };
        let Some(now) = decisions.last().map(|decision| &decision.state).or(stored) else { return Ok(decisions) };
        let plan_time = self.options.at;
        let status_in_row = status(self.file, row, stored);
        let status =
            status_in_row.map_err(|flaw| UploadRowError::from_problems(&ValidationErrors::one("status", flaw)))?;
        let move_decision = match (status, now.status) {
            (Some(Status::Deactivated), _) => Some(now.deactivate(plan_time)?),
            (Some(Status::Active), Status::Deactivated) => Some(now.reactivate(plan_time)?),
            (Some(Status::Active), Status::PendingInvite) => Some(now.accept_invitation(plan_time)?),
            _ => None,
        };
        decisions.extend(move_decision);
        if let Some(last) = decisions.last() {
            Employee::authorize_admin_change(stored, &last.state, self.options.is_admin)?;
        }
        Ok(decisions)
    }
}

/// Removes the person of a row from `admins` if the row ends their time as an active org admin. Refuses the row if no
/// other admin remains. Otherwise returns `decisions`.
pub(super) fn keep_an_admin(
    admins: &mut BTreeSet<EmployeeId>,
    stored: Option<&Employee>,
    decisions: Vec<Decision<Employee>>,
) -> Result<Vec<Decision<Employee>>, UploadRowError> {
    if let Some(last_state) = decisions.last().map(|decision| &decision.state)
        && Employee::ceases_as_admin(stored, last_state)
    {
        let has_other = admins.iter().any(|admin| *admin != last_state.id);
        Employee::require_other_admin(stored, last_state, has_other)?;
        admins.remove(&last_state.id);
    }
    Ok(decisions)
}

/// Returns references that pass every check of a single write. The planner has already checked the real ones in
/// their final state.
fn checked_references() -> References {
    let manager = Some(ReportingLine { status: Status::Active, is_below: false, depth: 1 });
    References { manager, department_archived: Some(false), ..References::default() }
}

fn create(
    options: &PlanOptions<'_>,
    id: EmployeeId,
    mut draft: Draft,
    wanted: ResolvedReferences,
) -> Result<Decision<Employee>, UploadRowError> {
    draft.manager = wanted.manager.reference().flatten();
    draft.department = wanted.department.reference().flatten();
    let mut decision = Employee::create(id, draft, &checked_references(), options.at)?;
    if let Some(connector) = options.connector {
        decision.state = connector.in_charge_of(decision.state);
    }
    Ok(decision)
}

fn change(
    judge: RowContext<'_>,
    stored: &Employee,
    patch: Patch,
    wanted: ResolvedReferences,
) -> Result<Vec<Decision<Employee>>, UploadRowError> {
    let RowContext { known, options, .. } = judge;
    let mut decisions = Vec::new();
    let new_connector = options.connector.filter(|_| stored.connector_id.is_none());
    decisions.extend(new_connector.and_then(|connector| connector.manage(stored, options.at)));
    let patch = Patch { manager: wanted.manager.reference(), department: wanted.department.reference(), ..patch };
    let managed_fields =
        stored.connector_id.and_then(|connector| known.managed.get(&connector)).cloned().unwrap_or_default();
    let acting = options.connector.map(Resource::id);
    let references = References { managed: managed_fields, acting, ..checked_references() };
    let now = decisions.last().map_or(stored, |decision| &decision.state);
    if let Some(update) = now.update(&patch, &references, options.at)? {
        // A change of the record emits one event, also if a connector takes charge of the record at the same time.
        if let Some(first) = decisions.first_mut() {
            first.events.clear();
        }
        decisions.push(update);
    }
    Ok(decisions)
}

//! Mapping of check-ins, and their lists.

use candor_domain::id::{CheckInKind, EmployeeId, ObjectiveId};
use candor_domain::objective::{CheckIn, CheckedKeyResult, checked_text, parse_checked};
use candor_domain::page::{PageRequest, Sort, Sortable};

use super::column;
use crate::codec::{Codec, Layout};
use crate::error::CorruptRowError;
use crate::flat::{Cells, Column, Index, Reader, SqlValue, Table, Type};
use crate::listing::{Listing, TypedListing};
use crate::stored::stored;

/// Column of the objective. The removal of an objective finds its check-ins by this column.
pub const OBJECTIVE: Column = column("objective_id", Type::Id);
/// Column of the author.
const AUTHOR: Column = column("author_id", Type::Id);

/// Codec of the key results that a check-in has changed.
#[derive(Debug)]
struct CheckedColumn;

impl Layout for CheckedColumn {
    const KIND: Type = Type::Text;
}

impl Codec<Vec<CheckedKeyResult>> for CheckedColumn {
    fn write(value: &Vec<CheckedKeyResult>, out: &mut Cells) {
        out.put(SqlValue::Text(checked_text(value)));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<Vec<CheckedKeyResult>>, CorruptRowError> {
        row.opt_parse(parse_checked)
    }
}

stored! {
    CheckIn, id: CheckInKind, row: check_in;
    columns {
        id: IdColumn,
        objective_id: IdColumn,
        owner_id: IdColumn,
        author_id: Option<IdColumn>,
        progress: Option<Int>,
        confidence: Option<OneOfColumn>,
        note: Option<TextColumn>,
        key_results: CheckedColumn,
        created_at: Time,
    }
    table Table {
        indexes: &[
            Index::of_columns(&["objective_id", "created_at", "id"]),
            Index::of_columns(&["owner_id", "created_at", "id"]),
            Index::of_columns(&["author_id", "created_at", "id"]),
        ],
        versioned: false,
        shares_commits: true,
        ..Table::with_name("check_ins")
    };
}

/// List of the check-ins of an objective, for `GET /{resource}/{id}/check-ins` (decision C12).
#[must_use]
pub fn list(objective: ObjectiveId, sort: Sort, page: &PageRequest) -> TypedListing<CheckIn> {
    let mut it = Listing::new::<CheckIn>(sort, page);
    it.is(OBJECTIVE, Some(objective));
    it.into_list()
}

/// List of the check-ins that a person wrote, and of those on the person's objectives.
#[must_use]
pub fn of_person(person: EmployeeId, page: &PageRequest) -> TypedListing<CheckIn> {
    let mut own_check_ins = Listing::new::<CheckIn>(CheckIn::DEFAULT, page);
    own_check_ins.is(AUTHOR, Some(person));
    let mut by_others = on_objectives_of(person, page);
    by_others.is_not(AUTHOR, person);
    TypedListing::from_parts(vec![own_check_ins, by_others])
}

/// List of the check-ins on the objectives of a person.
#[must_use]
pub fn list_about(person: EmployeeId, page: &PageRequest) -> TypedListing<CheckIn> {
    on_objectives_of(person, page).into_list()
}

fn on_objectives_of(person: EmployeeId, page: &PageRequest) -> Listing {
    let mut it = Listing::new::<CheckIn>(CheckIn::DEFAULT, page);
    it.is(column("owner_id", Type::Id), Some(person));
    it
}

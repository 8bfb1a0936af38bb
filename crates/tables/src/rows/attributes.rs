//! Mapping of attributes, and their lists.

use candor_domain::catalog::Attribute;
use candor_domain::catalog::attribute::Filter;
use candor_domain::fields::StringEnum;
use candor_domain::id::AttributeKind;
use candor_domain::page::{PageRequest, Sort};

use super::column;
use crate::flat::{Index, SqlValue, Table, Type};
use crate::listing::{Listing, NAME_KEY, TypedListing, UPDATED_AT};
use crate::read::LookupColumn;
use crate::stored::stored;

stored! {
    Attribute, id: AttributeKind, row: attribute;
    columns {
        id: IdColumn,
        name: TextColumn,
        category: TextColumn,
        tone: OneOfColumn,
        created_at: Time,
        updated_at: Time,
        archived_at: Option<Time>,
        twin: Option<FlagColumn> = attribute.is_twin.then_some(true),
    }
    derived {
        name_key: TextColumn = attribute.name_key(),
        archived: FlagColumn = attribute.archived_at.is_some(),
    }
    fields { is_twin: twin.unwrap_or_default() }
    table Table {
        indexes: &[
            Index::unique(&["name_key"]),
            Index::of_columns(&["archived", "name_key", "id"]),
            Index::of_columns(&["archived", "created_at", "id"]),
            Index::of_columns(&["archived", "updated_at", "id"]),
            Index::of_columns(&["twin", "id"]),
        ],
        ..Table::with_name("attributes")
    };
}

/// Lookup by the key of a name.
pub const BY_NAME: LookupColumn<Attribute> = LookupColumn::column("name_key", Type::Text);

/// List of `GET /attributes` (decision G).
#[must_use]
pub fn list(filter: &Filter, sort: Sort, page: &PageRequest) -> TypedListing<Attribute> {
    let mut it = Listing::new::<Attribute>(sort, page);
    it.restrict_to_archived(filter.archived);
    it.is(NAME_KEY, filter.name.clone());
    it.is(column("category", Type::Text), filter.category.clone());
    it.words(column("tone", Type::Text), filter.tones.iter().map(|tone| tone.word()));
    it.restrict_to_bounds(UPDATED_AT, filter.updated_at, SqlValue::Time);
    it.into_list()
}

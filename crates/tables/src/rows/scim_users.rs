//! Links of people to SCIM accounts, and the lists of people that a provider sees.

use candor_domain::id::EmployeeKind;
use candor_provisioning::connector::{ExtraAttributes, ScimLink};

use super::column;
use crate::codec::{Codec, Layout};
use crate::error::CorruptRowError;
use crate::flat::{Cells, Column, Index, Reader, SqlValue, Table, Type};
use crate::listing::{Listing, TypedListing};
use crate::read::{ID, LookupColumn};
use crate::stored::stored;

/// Codec of the attributes of an account. An unreadable text stays as it is: a removal, a release and an erasure need
/// none of them.
#[derive(Debug)]
struct ExtraColumn;

impl Layout for ExtraColumn {
    const KIND: Type = Type::Text;
}

impl Codec<ExtraAttributes> for ExtraColumn {
    fn write(value: &ExtraAttributes, out: &mut Cells) {
        match value {
            ExtraAttributes::Known(attributes) => out.json(attributes),
            ExtraAttributes::Unreadable(text) => out.put(SqlValue::Text(text.clone())),
        }
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<ExtraAttributes>, CorruptRowError> {
        Ok(row.opt_text()?.map(ExtraAttributes::from_stored))
    }
}

stored! {
    ScimLink, id: EmployeeKind, row: link;
    columns {
        id: IdColumn,
        connector_id: IdColumn,
        user_name: TextColumn,
        external_id: Option<TextColumn>,
        manager_ref: Option<TextColumn>,
        extra: ExtraColumn,
        linked_at: Time,
        updated_at: Time,
        deactivated_at: Option<Time>,
        removed_at: Option<Time>,
    }
    derived {
        user_name_key: TextColumn = ScimLink::user_name_key(link.connector_id, &link.user_name),
        external_key: Option<TextColumn> =
            link.external_id.as_ref().map(|id| ScimLink::external_key(link.connector_id, id)),
        manager_key: Option<TextColumn> =
            link.manager_ref.as_ref().map(|manager| ScimLink::manager_key(link.connector_id, manager)),
        removed: FlagColumn = link.removed_at.is_some(),
    }
    table Table {
        indexes: &[
            Index::unique(&["user_name_key"]),
            Index::unique(&["external_key"]),
            Index::of_columns(&["manager_key", "id"]),
            Index::of_columns(&["connector_id", "removed", "id"]),
            Index::of_columns(&["connector_id", "updated_at"]),
        ],
        ..Table::with_name("scim_users")
    };
}

/// Lookup of a link by its [`ScimLink::user_name_key`].
pub const BY_USER_NAME: LookupColumn<ScimLink> = LookupColumn::column("user_name_key", Type::Text);
/// Lookup of a link by its [`ScimLink::external_key`].
pub const BY_EXTERNAL_ID: LookupColumn<ScimLink> = LookupColumn::column("external_key", Type::Text);
const MANAGER_KEY: Column = column("manager_key", Type::Text);

/// List of the links that wait for a manager with one of these [`ScimLink::manager_key`]s, ordered by id.
#[must_use]
pub fn waiting_for(keys: Vec<String>, limit: u16) -> TypedListing<ScimLink> {
    let mut links = Listing::new_ordered::<ScimLink>(ID, false, limit);
    links.runs = Some((MANAGER_KEY, keys.into_iter().map(SqlValue::Text).collect()));
    links.into_list()
}

//! Reads of single resources, written once for all of them.

use std::collections::BTreeSet;

use candor_domain::access::Tenant;
use candor_domain::id::Kind;
use candor_port_storage::flat::{Cell, Fetch, Reader, Stored, Table, Type};
use candor_port_storage::store::{Read, StorageError};
use candor_port_storage::{Version, Versioned, Wanted};

use crate::PostgresStore;
use crate::failure::Failure;
use crate::sql::Sql;

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        Self::Corrupt(error)
    }
}

/// The columns that [`versioned`] reads, each with a prefix such as `t.`.
pub(crate) fn columns(table: &Table, prefix: &str) -> String {
    let version = table.versioned.then_some("version");
    let names = table.read().map(|it| it.name).chain(version);
    names.map(|it| format!("{prefix}{it}")).collect::<Vec<_>>().join(", ")
}

/// Reads the [`columns`] of a resource. What is never changed has the first version.
pub(crate) fn versioned<T: Stored>(row: &mut dyn Fetch) -> Result<Versioned<T>, Failure> {
    let mut reader = Reader::new(row, T::TABLE);
    let value = T::read(&mut reader)?;
    let version = if T::TABLE.versioned { Version(reader.int()?) } else { Version::FIRST };
    Ok(Versioned { value, version })
}

/// Reads an id that must be there.
pub(crate) fn id(row: &mut dyn Fetch) -> Result<[u8; 16], Failure> {
    row.id().map_err(Failure::Other)?.ok_or_else(|| Failure::Other("an id is null".to_owned()))
}

/// Reads a boolean that must be there.
pub(crate) fn flag(row: &mut dyn Fetch) -> Result<bool, Failure> {
    row.flag().map(|it| it == Some(true)).map_err(Failure::Other)
}

/// Reads a number; null counts as nothing.
pub(crate) fn int(row: &mut dyn Fetch) -> Result<i64, Failure> {
    row.int().map(Option::unwrap_or_default).map_err(Failure::Other)
}

impl PostgresStore {
    /// The resource with this id.
    pub(crate) async fn get<T: Stored>(&self, tenant: Tenant, id: [u8; 16]) -> Read<Option<Versioned<T>>> {
        let mut sql = Sql::default();
        let (tenant, id) = (sql.id(tenant.to_bytes()), sql.id(id));
        let (columns, table) = (columns(T::TABLE, ""), T::TABLE.name);
        sql.push(&format!("SELECT {columns} FROM {table} WHERE tenant_id = {tenant} AND id = {id}"));
        self.find(&sql, versioned).await
    }

    /// Those of the resources with these ids that are there.
    pub(crate) async fn by_ids<T: Stored>(
        &self,
        tenant: Tenant,
        ids: impl IntoIterator<Item = [u8; 16]>,
    ) -> Read<Vec<Versioned<T>>> {
        let mut sql = Sql::default();
        let (tenant, ids) = (sql.id(tenant.to_bytes()), sql.ids(ids));
        let (columns, table) = (columns(T::TABLE, ""), T::TABLE.name);
        sql.push(&format!("SELECT {columns} FROM {table} WHERE tenant_id = {tenant} AND id = ANY({ids})"));
        self.read(&sql, versioned).await
    }

    /// Those of the resources that are there in another version than is known.
    pub(crate) async fn wanted<T: Stored, K: Kind>(
        &self,
        tenant: Tenant,
        wanted: &[Wanted<K>],
    ) -> Read<Vec<Versioned<T>>> {
        if wanted.is_empty() {
            return Ok(vec![]);
        }
        let (ids, known): (Vec<_>, Vec<_>) = wanted.iter().map(Wanted::parts).unzip();
        let mut sql = Sql::default();
        let (tenant, ids) = (sql.id(tenant.to_bytes()), sql.ids(ids));
        let known = sql.many(Type::Int, known.into_iter().map(Cell::Int));
        let (columns, table) = (columns(T::TABLE, "t."), T::TABLE.name);
        sql.push(&format!(
            "SELECT {columns} FROM UNNEST({ids}, {known}) AS u (id, known) CROSS JOIN LATERAL \
             (SELECT * FROM {table} WHERE tenant_id = {tenant} AND id = u.id AND version <> u.known OFFSET 0) AS t"
        ));
        self.read(&sql, versioned).await
    }

    /// The id of the row with this text in this column, which is unique.
    pub(crate) async fn id_by_text(
        &self,
        tenant: Tenant,
        table: &str,
        column: &str,
        text: &str,
    ) -> Read<Option<[u8; 16]>> {
        // The server refuses such a text, and no stored one has it.
        if text.contains('\0') {
            return Ok(None);
        }
        let mut sql = Sql::default();
        let (tenant, text) = (sql.id(tenant.to_bytes()), sql.bind(Cell::Text(text.to_owned())));
        sql.push(&format!("SELECT id FROM {table} WHERE tenant_id = {tenant} AND {column} = {text}"));
        self.find(&sql, id).await
    }

    /// The resources with one of these texts in a column, which is unique. There may be thousands of them: they are
    /// read on a connection of their own.
    pub(crate) async fn by_texts<T: Stored>(
        &self,
        tenant: Tenant,
        column: &str,
        texts: &[String],
    ) -> Read<Vec<Versioned<T>>> {
        // The server refuses such a text, and no stored one has it.
        let texts: BTreeSet<_> = texts.iter().filter(|it| !it.contains('\0')).collect();
        let mut sql = Sql::default();
        let texts = texts.into_iter().map(|it| Cell::Text(it.clone()));
        let (tenant, texts) = (sql.id(tenant.to_bytes()), sql.many(Type::Text, texts));
        let (columns, table) = (columns(T::TABLE, "t."), T::TABLE.name);
        sql.push(&format!(
            "SELECT {columns} FROM UNNEST({texts}) AS u (text) CROSS JOIN LATERAL \
             (SELECT * FROM {table} WHERE tenant_id = {tenant} AND {column} = u.text OFFSET 0) AS t"
        ));
        self.apart(&sql.planned_anew(), versioned).await
    }
}

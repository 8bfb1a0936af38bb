//! API keys as rows.

use candor_domain::access::Scopes;
use candor_domain::access::api_key::{ApiKey, KeyHash};

use super::column;
use crate::flat::{Cell, Cells, Index, Reader, Stored, Table, Type};
use crate::store::StorageError;

const API_KEYS: Table = Table {
    name: "api_keys",
    columns: &[
        column("id", Type::Id),
        column("name", Type::Text),
        column("environment", Type::Text),
        column("access_level", Type::Text),
        column("scopes", Type::Text),
        column("employee_id", Type::Id),
        column("last4", Type::Text),
        column("reads_per_minute", Type::Int),
        column("writes_per_minute", Type::Int),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
        column("expires_at", Type::Time),
        column("last_used_at", Type::Time),
        column("revoked_at", Type::Time),
        column("hash", Type::Bytes),
        column("previous_hash", Type::Bytes),
        column("previous_until", Type::Time),
    ],
    derived: &[],
    recorded: &[],
    versioned: true,
    members: None,
    indexes: &[Index::on(&["created_at", "id"]), Index::on(&["updated_at", "id"])],
};

impl Stored for ApiKey {
    const TABLE: &'static Table = &API_KEYS;

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.text(&self.name);
        out.word(self.environment);
        out.word(self.access_level);
        out.text(self.scopes.words().join(" "));
        out.opt_id(self.employee_id);
        out.text(&self.last4);
        out.opt_int(self.reads_per_minute.map(i64::from));
        out.opt_int(self.writes_per_minute.map(i64::from));
        out.time(self.created_at);
        out.time(self.updated_at);
        out.opt_time(self.expires_at);
        out.opt_time(self.last_used_at);
        out.opt_time(self.revoked_at);
        out.put(Cell::Bytes(self.hash.0.to_vec()));
        out.put(self.previous.map_or(Cell::Null(Type::Bytes), |(hash, _)| Cell::Bytes(hash.0.to_vec())));
        out.opt_time(self.previous.map(|(_, until)| until));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, StorageError> {
        let mut it = Self {
            id: row.id()?,
            name: row.text()?,
            environment: row.word()?,
            access_level: row.word()?,
            scopes: row.parse(|text| Scopes::from_words(text.split_whitespace()))?,
            employee_id: row.opt_id()?,
            last4: row.text()?,
            reads_per_minute: row.opt_small()?,
            writes_per_minute: row.opt_small()?,
            created_at: row.time()?,
            updated_at: row.time()?,
            expires_at: row.opt_time()?,
            last_used_at: row.opt_time()?,
            revoked_at: row.opt_time()?,
            hash: KeyHash(row.bytes32()?),
            previous: None,
        };
        let previous = row.opt_bytes32()?.map(KeyHash);
        it.previous = previous.zip(row.opt_time()?);
        Ok(it)
    }
}

//! API keys, stored under the live tenant of their organization.

use candor_domain::access::Permissions;
use candor_domain::access::api_key::{ApiKey, KeyHash};
use candor_domain::id::{Id, KeyKind};
use candor_domain::page::{PageRequest, Sort};
use candor_domain::params::Bounds;
use candor_domain::time::Timestamp;

use super::column;
use crate::error::Corrupt;
use crate::flat::{Cell, Cells, Index, Reader, Stored, Table, Type};
use crate::listing::{Listing, TypedListing};
use crate::read::By;

const TABLE: Table = Table {
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
        column("remind_at", Type::Time),
    ],
    indexes: &[Index::on(&["created_at", "id"]), Index::on(&["updated_at", "id"])],
    of_organization: true,
    ..Table::named("api_keys")
};

impl Stored for ApiKey {
    type Kind = KeyKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

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
        out.opt_time(self.remind_at);
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
        let mut it = Self {
            id: row.id()?,
            name: row.text()?,
            environment: row.word()?,
            access_level: row.word()?,
            scopes: row.parse(|text| Permissions::from_words(text.split_whitespace()))?,
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
            remind_at: None,
        };
        let previous = row.opt_bytes32()?.map(KeyHash);
        it.previous = previous.zip(row.opt_time()?);
        it.remind_at = row.opt_time()?;
        Ok(it)
    }
}

/// Lookup by id across all tenants.
pub const BY_ID: By<ApiKey> = By::column("id", Type::Id);

/// Lookup of the keys whose expiry reminder to the org admins is due.
pub const REMIND_AT: By<ApiKey> = By::column("remind_at", Type::Time);

/// List of `GET /api-keys` (§4.5).
#[must_use]
pub fn list(changed: Bounds<Timestamp>, sort: Sort, page: &PageRequest) -> TypedListing<ApiKey> {
    Listing::changed::<ApiKey>(changed, sort, page).alone()
}

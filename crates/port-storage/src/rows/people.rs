//! People, invitations and connectors as rows.

use candor_domain::people::{Connector, Employee, Invitation};
use candor_domain::text::folded;

use super::column;
use crate::flat::{Cell, Cells, Index, MemberTable, Reader, Stored, Table, Type};
use crate::store::StorageError;

const EMPLOYEES: Table = Table {
    name: "employees",
    columns: &[
        column("id", Type::Id),
        column("email", Type::Text),
        column("external_id", Type::Text),
        column("first_name", Type::Text),
        column("last_name", Type::Text),
        column("role", Type::Text),
        column("manager_id", Type::Id),
        column("department_id", Type::Id),
        column("status", Type::Text),
        column("custom_fields", Type::Text),
        column("hris_source", Type::Text),
        column("connector_id", Type::Id),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
        column("deactivated_at", Type::Time),
    ],
    derived: &[
        column("email_key", Type::Text),
        column("first_name_key", Type::Text),
        column("last_name_key", Type::Text),
    ],
    recorded: &[],
    versioned: true,
    members: Some(MemberTable { name: "employee_custom_values", owner: "employee_id", member: "digest" }),
    indexes: &[
        Index::unique(&["email_key"]),
        Index::unique(&["external_id"]),
        Index::on(&["status", "last_name_key", "id"]),
        Index::on(&["status", "first_name_key", "id"]),
        Index::on(&["status", "created_at", "id"]),
        Index::on(&["status", "updated_at", "id"]),
        Index::on(&["manager_id", "status", "last_name_key", "first_name_key", "id"]),
        Index::on(&["department_id", "status", "last_name_key", "id"]),
        Index::on(&["connector_id", "id"]),
        Index::on(&["role", "status", "id"]),
    ],
};

impl Stored for Employee {
    const TABLE: &'static Table = &EMPLOYEES;

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.text(&self.email);
        out.opt_text(self.external_id.as_ref());
        out.text(&self.first_name);
        out.text(&self.last_name);
        out.word(self.role);
        out.opt_id(self.manager_id);
        out.opt_id(self.department_id);
        out.word(self.status);
        out.text(serde_json::to_string(&self.custom_fields).unwrap_or_default());
        out.text(&self.hris_source);
        out.opt_id(self.connector_id);
        out.time(self.created_at);
        out.time(self.updated_at);
        out.opt_time(self.deactivated_at);
        out.text(folded(&self.email));
        out.text(folded(&self.first_name));
        out.text(folded(&self.last_name));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, StorageError> {
        let mut it = Self {
            id: row.id()?,
            email: row.text()?,
            external_id: row.opt_text()?,
            first_name: row.text()?,
            last_name: row.text()?,
            role: row.word()?,
            manager_id: row.opt_id()?,
            department_id: row.opt_id()?,
            status: row.word()?,
            custom_fields: row.parse(|text| serde_json::from_str(text).ok())?,
            is_hris_managed: false,
            hris_source: row.text()?,
            connector_id: row.opt_id()?,
            created_at: row.time()?,
            updated_at: row.time()?,
            deactivated_at: row.opt_time()?,
        };
        it.is_hris_managed = it.connector_id.is_some();
        Ok(it)
    }

    fn members(&self) -> Vec<[u8; 16]> {
        self.custom_fields.digests()
    }
}

const INVITATIONS: Table = Table {
    name: "invitations",
    columns: &[
        column("id", Type::Id),
        column("employee_id", Type::Id),
        column("token_hash", Type::Bytes),
        column("created_at", Type::Time),
        column("accepted_at", Type::Time),
        column("revoked_at", Type::Time),
    ],
    derived: &[],
    recorded: &[],
    versioned: true,
    members: None,
    indexes: &[Index::on(&["employee_id", "created_at", "id"])],
};

impl Stored for Invitation {
    const TABLE: &'static Table = &INVITATIONS;

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.id(self.employee_id);
        out.put(Cell::Bytes(self.token_hash.to_vec()));
        out.time(self.created_at);
        out.opt_time(self.accepted_at);
        out.opt_time(self.revoked_at);
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, StorageError> {
        Ok(Self {
            id: row.id()?,
            employee_id: row.id()?,
            token_hash: row.bytes32()?,
            created_at: row.time()?,
            accepted_at: row.opt_time()?,
            revoked_at: row.opt_time()?,
        })
    }
}

const CONNECTORS: Table = Table {
    name: "connectors",
    columns: &[
        column("id", Type::Id),
        column("type", Type::Text),
        column("hris_source", Type::Text),
        column("mapped_custom_field_keys", Type::Text),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
    ],
    derived: &[],
    recorded: &[],
    versioned: true,
    members: None,
    indexes: &[Index::on(&["created_at", "id"]), Index::on(&["updated_at", "id"])],
};

impl Stored for Connector {
    const TABLE: &'static Table = &CONNECTORS;

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.word(self.kind);
        out.text(&self.hris_source);
        out.text(serde_json::to_string(&self.mapped_custom_field_keys).unwrap_or_default());
        out.time(self.created_at);
        out.time(self.updated_at);
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, StorageError> {
        Ok(Self {
            id: row.id()?,
            kind: row.word()?,
            hris_source: row.text()?,
            mapped_custom_field_keys: row.parse(|text| serde_json::from_str(text).ok())?,
            created_at: row.time()?,
            updated_at: row.time()?,
        })
    }
}

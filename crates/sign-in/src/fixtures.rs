//! Callers and people of tests.

use candor_domain::access::{AccessLevel, AllowedNetworks, Caller, Permissions, Quotas, Tenant};
use candor_domain::id::{EmployeeId, KeyId, OrganizationId};
use candor_domain::people::{CustomFields, Employee, MANUAL, Role, Status};
use candor_domain::time::Timestamp;
use ulid::Ulid;

/// Creates a caller with every scope and a key of the organization.
pub(crate) fn unbound(level: AccessLevel) -> Caller {
    Caller {
        tenant: Tenant::live(OrganizationId::from_ulid(Ulid(1))),
        key: KeyId::from_ulid(Ulid(2)),
        name: "Test".to_owned(),
        scopes: Permissions::ALL,
        level,
        person: None,
        connector: None,
        identity_provider: None,
        session: None,
        expires_at: None,
        allowed_networks: AllowedNetworks::EVERYWHERE,
        has_previous_secret: false,
        quotas: Quotas::DEFAULT,
    }
}

/// Creates an active person with this number.
pub(crate) fn employee(number: u128) -> Employee {
    let time = Timestamp::from_millis(1_000);
    Employee {
        id: EmployeeId::from_ulid(Ulid(number)),
        email: format!("person{number}@example.com"),
        external_id: None,
        first_name: "Ada".to_owned(),
        last_name: "Example".to_owned(),
        job_title: None,
        role: Role::Employee,
        manager_id: None,
        department_id: None,
        status: Status::Active,
        custom_fields: CustomFields::default(),
        is_hris_managed: false,
        hris_source: MANUAL.to_owned(),
        connector_id: None,
        created_at: time,
        updated_at: time,
        deactivated_at: None,
        returned_at: None,
        address_changed_at: None,
        hold: None,
        hold_changes: 0,
        erased_at: None,
        is_twin: false,
    }
}

//! People of tests.

use candor_domain::id::EmployeeId;
use candor_domain::people::{CustomFields, Employee, MANUAL, Role, Status};
use candor_domain::time::Timestamp;
use ulid::Ulid;

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

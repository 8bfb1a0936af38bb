//! Unique values belong to one resource of a tenant, even under concurrency (decision D4).

use candor_domain::catalog::{Attribute, Department};
use candor_domain::id::EmployeeId;
use candor_domain::people::{Employee, Status};
use candor_domain::text::fold_case;
use candor_port_storage::{CommitError, Row, StorageExt, Unique, Version, Write};
use candor_tables::rows;

use crate::Case;
use crate::fixtures::joins;
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(one_of_concurrent_uses_of_an_address_wins),
        Case::new(one_of_concurrent_uses_of_a_unique_value_wins),
        Case::new(update_to_a_taken_unique_value_is_refused),
        Case::new(row_does_not_conflict_with_its_own_unique_values),
        Case::new(unique_values_are_independent_between_tenants),
        Case::new(unique_value_is_found_case_insensitively),
    ]
}

/// Saves all writes concurrently. Exactly one succeeds; the other writes report the taken value.
async fn assert_one_succeeds(world: &CaseContext, writes: Vec<Write>, unique: Unique) {
    let tasks = writes.into_iter().map(|write| {
        let (world, write) = (world.clone(), write);
        async move { world.try_save(write).await }
    });
    let results = at_once(tasks).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    let is_taken = |result: &Result<(), CommitError>| match result {
        Err(CommitError::Taken(taken)) => *taken == unique,
        other => other.is_ok(),
    };
    assert!(results.iter().all(is_taken), "{results:?}");
}

/// Returns case variants of a text.
fn spellings(text: &str) -> Vec<String> {
    vec![text.to_owned(), text.to_uppercase(), fold_case(text), text.to_owned()]
}

async fn one_of_concurrent_uses_of_an_address_wins(world: CaseContext) {
    for round in 0..8 {
        let people = spellings(&format!("Ada.Éluard{round}@Example.com"))
            .into_iter()
            .map(|email| joins(Employee { email, ..world.make.employee() }));
        assert_one_succeeds(&world, people.collect(), Unique::EmployeeEmail).await;
    }
    // Repeats the test with updates of existing people.
    for round in 0..8 {
        let mut writes = Vec::new();
        for email in spellings(&format!("Changed{round}@Example.com")) {
            let person = world.hire().await;
            writes.push(Write::employee(&Row::at_version(Employee { email, ..person }, Version::FIRST), None));
        }
        assert_one_succeeds(&world, writes, Unique::EmployeeEmail).await;
    }
}

async fn one_of_concurrent_uses_of_a_unique_value_wins(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    for round in 0..5 {
        let external_id = Some(format!("HR-{round}"));
        let people = (0..4).map(|_| joins(Employee { external_id: external_id.clone(), ..make.employee() }));
        assert_one_succeeds(&world, people.collect(), Unique::EmployeeExternalId).await;
        let departments = spellings(&format!("Göteborg Care {round}"))
            .into_iter()
            .map(|name| Write::put(&Row::new(Department { name, ..make.department() })));
        assert_one_succeeds(&world, departments.collect(), Unique::DepartmentName).await;
        let attributes = spellings(&format!("Straightforwardness {round}"))
            .into_iter()
            .map(|name| Write::put(&Row::new(Attribute { name, ..make.attribute() })));
        assert_one_succeeds(&world, attributes.collect(), Unique::AttributeName).await;
    }
    // External ids are case-sensitive, and several people may have none.
    for external_id in [Some("hr-0".to_owned()), None, None] {
        world.add_employee(Employee { external_id, ..make.employee() }).await;
    }
}

async fn update_to_a_taken_unique_value_is_refused(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let former_employee =
        Employee { status: Status::Deactivated, deactivated_at: Some(make.tick()), ..make.employee() };
    let holder = world.add_employee(Employee { external_id: Some("hr-1".to_owned()), ..former_employee }).await;
    let other = world.hire().await;
    let archived_department = Department { archived_at: Some(make.tick()), ..make.department() };
    let department = make.department();
    let (archived_attribute, attribute) =
        (Attribute { archived_at: Some(make.tick()), ..make.attribute() }, make.attribute());
    world
        .save(vec![
            Write::put(&Row::new(archived_department.clone())),
            Write::put(&Row::new(department.clone())),
            Write::put(&Row::new(archived_attribute.clone())),
            Write::put(&Row::new(attribute.clone())),
        ])
        .await;
    let version = Version::FIRST;
    let person = |employee: Employee| Write::employee(&Row::at_version(employee, version), None);
    let table = [
        (person(Employee { email: holder.email.to_uppercase(), ..other.clone() }), Unique::EmployeeEmail),
        (person(Employee { external_id: holder.external_id.clone(), ..other }), Unique::EmployeeExternalId),
        (
            Write::put(&Row::at_version(
                Department { name: archived_department.name.to_uppercase(), ..department },
                version,
            )),
            Unique::DepartmentName,
        ),
        (
            Write::put(&Row::at_version(
                Attribute { name: archived_attribute.name.to_uppercase(), ..attribute },
                version,
            )),
            Unique::AttributeName,
        ),
    ];
    for (write, unique) in table {
        let result = world.try_save(write).await;
        assert!(matches!(&result, Err(CommitError::Taken(it)) if *it == unique), "{unique:?}: {result:?}");
    }
}

async fn row_does_not_conflict_with_its_own_unique_values(world: CaseContext) {
    let it = world.add_employee(Employee { external_id: Some("hr-1".to_owned()), ..world.make.employee() }).await;
    let louder = Employee { email: it.email.to_uppercase(), ..it.clone() };
    world.save(vec![Write::employee(&Row::at_version(louder.clone(), Version::FIRST), None)]).await;
    assert_eq!(world.employee(it.id).await.value, louder);
    let person_with_other_email = Employee { email: "away@example.com".to_owned(), external_id: None, ..louder };
    world.save(vec![Write::employee(&Row::at_version(person_with_other_email, Version(2)), None)]).await;
    let heir = Employee { email: it.email, external_id: it.external_id, ..world.make.employee() };
    world.add_employee(heir).await;
}

async fn unique_values_are_independent_between_tenants(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let person = Employee { external_id: Some("hr-1".to_owned()), ..make.employee() };
    let (department, attribute) = (make.department(), make.attribute());
    for it in [world.clone(), world.in_other_tenant(), world.test_environment()] {
        it.save(vec![
            joins(person.clone()),
            Write::put(&Row::new(department.clone())),
            Write::put(&Row::new(attribute.clone())),
        ])
        .await;
    }
}

async fn unique_value_is_found_case_insensitively(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let email = "Ada.Éluard@Example.com".to_owned();
    let it = Employee { email: email.clone(), external_id: Some("HR-1".to_owned()), ..make.employee() };
    let it = world.add_employee(it).await;
    let department = Department { name: "Göteborg CARE".to_owned(), ..make.department() };
    let attribute = Attribute { name: "Élan".to_owned(), ..make.attribute() };
    world.save(vec![Write::put(&Row::new(department.clone())), Write::put(&Row::new(attribute.clone()))]).await;
    let none: Option<EmployeeId> = None;
    assert_eq!(store.id_by(*tenant, rows::employees::BY_EMAIL, fold_case(&email)).await.unwrap(), Some(it.id));
    assert_eq!(
        store.id_by(*tenant, rows::employees::BY_EMAIL, "nobody@example.com".to_owned()).await.unwrap(),
        none
    );
    assert_eq!(
        store.id_by(*tenant, rows::employees::BY_EXTERNAL_ID, "HR-1".to_owned()).await.unwrap(),
        Some(it.id)
    );
    assert_eq!(store.id_by(*tenant, rows::employees::BY_EXTERNAL_ID, "hr-1".to_owned()).await.unwrap(), none);
    assert_eq!(
        store.id_by(*tenant, rows::departments::BY_NAME, "göteborg care".to_owned()).await.unwrap(),
        Some(department.id)
    );
    assert_eq!(store.id_by(*tenant, rows::departments::BY_NAME, "göteborg".to_owned()).await.unwrap(), None);
    assert_eq!(
        store.id_by(*tenant, rows::attributes::BY_NAME, "élan".to_owned()).await.unwrap(),
        Some(attribute.id)
    );
    assert_eq!(store.id_by(*tenant, rows::attributes::BY_NAME, "elan".to_owned()).await.unwrap(), None);
}

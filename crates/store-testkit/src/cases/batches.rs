//! Reads of many rows at once for an upload: by address, by external id, by name, and the reporting
//! lines above.

use std::collections::BTreeMap;

use candor_domain::catalog::Department;
use candor_domain::id::EmployeeId;
use candor_domain::page::{Key, PageRequest, Position};
use candor_domain::people::{Employee, Hold};
use candor_port_storage::{Row, StorageExt, Version, Versioned, Write};
use candor_tables::rows;

use crate::Case;
use crate::fixtures::joins;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(people_are_found_by_many_addresses_at_once),
        Case::new(people_are_found_by_many_external_ids_at_once),
        Case::new(departments_are_found_by_many_names_at_once),
        Case::new(lines_above_reach_the_top_and_return_the_tree_version),
        Case::new(newest_invitations_of_several_people_are_read_together),
        Case::new(batch_read_stays_within_its_tenant),
    ]
}

/// Number of keys. The SQLite store needs several lookup statements for so many.
const MANY: usize = 150;

async fn hire_many(world: &CaseContext) -> Vec<Employee> {
    let person = |number: usize| {
        let it = world.make.employee();
        let external_id = number.is_multiple_of(3).then(|| format!("HR-{number}"));
        Employee { email: format!("Person{number}@Example.com"), external_id, ..it }
    };
    let people: Vec<_> = (0..MANY).map(person).collect();
    world.save(people.iter().cloned().map(joins).collect()).await;
    people
}

fn at_first_version(value: Employee) -> Versioned<Employee> {
    Versioned { value, version: Version::FIRST }
}

fn by_id(people: Vec<Versioned<Employee>>) -> BTreeMap<EmployeeId, Versioned<Employee>> {
    let count = people.len();
    let by_id: BTreeMap<_, _> = people.into_iter().map(|person| (person.value.id, person)).collect();
    assert_eq!(by_id.len(), count, "each person once");
    by_id
}

async fn people_are_found_by_many_addresses_at_once(world: CaseContext) {
    let people = hire_many(&world).await;
    let mut emails: Vec<_> = people.iter().skip(10).map(Employee::email_key).collect();
    emails.extend(["nobody@example.com", "Person0@Example.com", "", "a\0b"].map(str::to_owned));
    emails.push(emails[0].clone());
    let people_rows = world.store.rows_by(world.tenant, rows::employees::BY_EMAIL, &emails).await.unwrap();
    let expected_rows = people.into_iter().skip(10).map(at_first_version).collect();
    assert_eq!(by_id(people_rows), by_id(expected_rows));
    let nobody: Vec<String> = vec![];
    assert_eq!(world.store.rows_by(world.tenant, rows::employees::BY_EMAIL, &nobody).await.unwrap(), []);
}

async fn people_are_found_by_many_external_ids_at_once(world: CaseContext) {
    let people = hire_many(&world).await;
    let mut ids: Vec<_> = (0..MANY).map(|number| format!("HR-{number}")).collect();
    ids.extend(["hr-0", "", "x\0"].map(str::to_owned));
    let people_rows = world.store.rows_by(world.tenant, rows::employees::BY_EXTERNAL_ID, &ids).await.unwrap();
    let expected_rows =
        people.into_iter().filter(|person| person.external_id.is_some()).map(at_first_version).collect();
    assert_eq!(by_id(people_rows), by_id(expected_rows));
}

async fn departments_are_found_by_many_names_at_once(world: CaseContext) {
    let department = |number: usize| {
        let it = world.make.department();
        Department { name: format!("Care {number}"), archived_at: (number == 3).then_some(it.created_at), ..it }
    };
    let all: Vec<_> = (0..80).map(department).collect();
    world.save(all.iter().map(|person| Write::put(&Row::new(person.clone()))).collect()).await;
    let names: Vec<_> = (0..100).map(|number| format!("care {number}")).collect();
    let mut department_rows = world.store.rows_by(world.tenant, rows::departments::BY_NAME, &names).await.unwrap();
    department_rows.sort_by_key(|row| row.value.id);
    let expected_rows: Vec<_> =
        all.into_iter().map(|value| Versioned { value, version: Version::FIRST }).collect();
    assert_eq!(department_rows, expected_rows, "archived ones too");
}

async fn lines_above_reach_the_top_and_return_the_tree_version(world: CaseContext) {
    let top = world.hire().await;
    let mut chain = vec![top.id];
    for _ in 0..60 {
        let lowest_person = world.hired_below(chain[chain.len() - 1]).await;
        chain.push(lowest_person.id);
    }
    let sibling = world.hired_below(top.id).await;
    let person_under_sibling = world.hired_below(sibling.id).await;
    assert!(world.moves(person_under_sibling.id, Some(chain[3])).await);
    let ancestors =
        world.store.lines_above(world.tenant, &[chain[40], person_under_sibling.id, top.id]).await.unwrap();
    let mut lines = ancestors.lines;
    lines.sort_unstable();
    let mut expected_lines: Vec<_> = (1..=40)
        .map(|number| (chain[number], chain[number - 1]))
        .chain([(person_under_sibling.id, chain[3])])
        .collect();
    expected_lines.sort_unstable();
    assert_eq!(
        (ancestors.tree, lines),
        (world.tree().await, expected_lines),
        "each line once, and no lines below or beside"
    );
    let nobody = world.store.lines_above(world.tenant, &[]).await.unwrap();
    assert_eq!((nobody.tree, nobody.lines), (world.tree().await, vec![]));
}

async fn newest_invitations_of_several_people_are_read_together(world: CaseContext) {
    let (ada, eva, other) = (world.hire().await, world.hire().await, world.hire().await);
    let invitations = [&ada, &ada, &eva, &other].map(|person| world.make.invitation(person.id));
    world.save(invitations.iter().map(|invitation| Write::put(&Row::new(invitation.clone()))).collect()).await;
    let mut newest_rows =
        world.store.newest_by(world.tenant, rows::invitations::BY_EMPLOYEE, &[ada.id, eva.id]).await.unwrap();
    newest_rows.sort_by_key(|row| row.value.id);
    let [older, newer, of_eva, _] = invitations;
    let expected_rows = [&newer, &of_eva].map(|value| Versioned { value: value.clone(), version: Version::FIRST });
    assert_eq!(newest_rows, expected_rows);
    let mut page = PageRequest { limit: 1, after: None };
    for invitation in [older, newer] {
        let invitation_page =
            world.store.page(world.tenant, rows::invitations::list_for_person(ada.id, &page)).await.unwrap();
        page.after = Some(Position { key: Key::Time(invitation.created_at), id: invitation.id.to_bytes() });
        assert_eq!(invitation_page.items, [invitation], "the oldest one first");
    }
    assert_eq!(
        world.store.page(world.tenant, rows::invitations::list_for_person(ada.id, &page)).await.unwrap().items,
        []
    );
}

async fn batch_read_stays_within_its_tenant(world: CaseContext) {
    let hold = Some(Hold { reason: "Lawsuit".to_owned(), held_at: world.make.tick() });
    let person = Employee { external_id: Some("HR-1".to_owned()), hold, ..world.make.employee() };
    let person = world.add_employee(person).await;
    let report = world.hired_below(person.id).await;
    let department = world.make.department();
    world.save(vec![Write::put(&Row::new(department.clone()))]).await;
    let (emails, names) = ([person.email_key()], [department.name_key()]);
    for other in [world.in_other_tenant(), world.test_environment()] {
        let CaseContext { store, tenant, .. } = &other;
        assert_eq!(store.rows_by(*tenant, rows::employees::BY_EMAIL, &emails).await.unwrap(), []);
        assert_eq!(
            store.rows_by(*tenant, rows::employees::BY_EXTERNAL_ID, &["HR-1".to_owned()]).await.unwrap(),
            []
        );
        assert_eq!(store.rows_by(*tenant, rows::departments::BY_NAME, &names).await.unwrap(), []);
        assert_eq!(store.lines_above(*tenant, &[report.id]).await.unwrap().lines, []);
        assert_eq!(store.newest_by(*tenant, rows::invitations::BY_EMPLOYEE, &[person.id]).await.unwrap(), []);
    }
    assert_eq!(
        world.store.rows_by(world.tenant, rows::employees::BY_EMAIL, &emails).await.unwrap(),
        [at_first_version(person)]
    );
}

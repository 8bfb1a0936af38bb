//! Addresses and names are unique by their keys, and found by any spelling (decision D4).

use candor_domain::catalog::{Attribute, Department, department};
use candor_domain::page::{Sort, SortBy};
use candor_domain::params::Archived;
use candor_domain::people::{Employee, Filter, StatusFilter};
use candor_domain::text::{address_key, name_key};
use candor_port_storage::{CommitError, Row, StorageExt, Unique, Version, Write};
use candor_tables::rows;

use super::lists;
use crate::Case;
use crate::fixtures::joins;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(mailbox_is_unique_and_found_in_each_spelling),
        Case::new(name_is_unique_and_found_in_each_spelling),
        Case::new(twin_keeps_its_key_until_its_text_changes),
        Case::new(departments_with_a_twin_are_listed_once_by_name),
    ]
}

const MAILBOXES: [&[&str]; 4] = [
    &["Anna@Müller.example", "anna@xn--mller-kva.example", "ANNA@MU\u{308}LLER.EXAMPLE"],
    &["ada@straße.example", "ada@XN--STRAE-OQA.example"],
    &["ada@strasse.example", "ADA@Strasse.Example"],
    &["élan@example.com", "E\u{301}LAN@example.com"],
];
const NAMES: [&[&str]; 5] = [
    &["Straße", "STRASSE", " strasse "],
    &["Café", "CAFE\u{301}", "cafe\u{301}"],
    &["İzmir", "i\u{307}zmir"],
    &["Izmir", "izmir"],
    &["ızmir"],
];

fn is_taken(result: &Result<(), CommitError>, unique: Unique) -> bool {
    matches!(result, Err(CommitError::Taken(taken)) if *taken == unique)
}

async fn mailbox_is_unique_and_found_in_each_spelling(world: CaseContext) {
    let CaseContext { store, tenant, make, .. } = &world;
    let mut holders = vec![];
    for spellings in MAILBOXES {
        let holder = Employee { email: spellings[0].to_owned(), ..make.employee() };
        holders.push(world.add_employee(holder).await.id);
    }
    for (holder, spellings) in holders.iter().zip(MAILBOXES) {
        for spelling in spellings {
            let key = address_key(spelling);
            let person_id = store.id_by(*tenant, rows::employees::BY_EMAIL, key.clone()).await.unwrap();
            assert_eq!(person_id, Some(*holder), "{spelling}");
            let filter = Filter { email: Some(key), status: StatusFilter::All, ..Filter::default() };
            let list = lists::employees(&world, filter).walk(Sort::ascending_by(SortBy::LastName), 10).await;
            assert_eq!(list.iter().map(|person| person.id).collect::<Vec<_>>(), [*holder], "{spelling}");
            let another = joins(Employee { email: (*spelling).to_owned(), ..make.employee() });
            let result = world.try_save(another).await;
            assert!(is_taken(&result, Unique::EmployeeEmail), "{spelling}: {result:?}");
        }
    }
}

async fn name_is_unique_and_found_in_each_spelling(world: CaseContext) {
    let CaseContext { store, tenant, make, .. } = &world;
    let department = |name: &str| Department { name: name.to_owned(), ..make.department() };
    let attribute = |name: &str| Attribute { name: name.to_owned(), ..make.attribute() };
    let mut holders = vec![];
    for spellings in NAMES {
        let (department, attribute) = (department(spellings[0]), attribute(spellings[0]));
        holders.push((department.id, attribute.id));
        world.save(vec![Write::put(&Row::new(department)), Write::put(&Row::new(attribute))]).await;
    }
    for ((department_id, attribute_id), spellings) in holders.iter().zip(NAMES) {
        for spelling in spellings {
            let key = name_key(spelling);
            let found_department = store.id_by(*tenant, rows::departments::BY_NAME, key.clone()).await.unwrap();
            assert_eq!(found_department, Some(*department_id), "{spelling}");
            let found_attribute = store.id_by(*tenant, rows::attributes::BY_NAME, key.clone()).await.unwrap();
            assert_eq!(found_attribute, Some(*attribute_id), "{spelling}");
            let result = world.try_save(Write::put(&Row::new(department(spelling)))).await;
            assert!(is_taken(&result, Unique::DepartmentName), "{spelling}: {result:?}");
            let attribute_result = world.try_save(Write::put(&Row::new(attribute(spelling)))).await;
            assert!(is_taken(&attribute_result, Unique::AttributeName), "{spelling}: {attribute_result:?}");
        }
    }
}

async fn twin_keeps_its_key_until_its_text_changes(world: CaseContext) {
    let CaseContext { store, tenant, make, .. } = &world;
    let holder = world.add_employee(Employee { email: "ada@example.com".to_owned(), ..make.employee() }).await;
    let twin = Employee { email: "ada@example.com\u{200b}".to_owned(), is_twin: true, ..make.employee() };
    let twin = world.add_employee(twin).await;
    assert_eq!(world.employee(twin.id).await.value, twin);
    let changed_twin = Employee { first_name: "Changed".to_owned(), ..twin };
    world.save(vec![Write::employee(&Row::at_version(changed_twin.clone(), Version::FIRST), None)]).await;
    let twins = async || store.page(*tenant, rows::twins::<Employee>(10)).await.unwrap().items;
    assert_eq!(twins().await, std::slice::from_ref(&changed_twin), "another change keeps the key");
    let by_email =
        async |email: &str| store.id_by(*tenant, rows::employees::BY_EMAIL, address_key(email)).await.unwrap();
    assert_eq!(by_email(&changed_twin.email).await, Some(holder.id));
    let separate_person = Employee { email: "bo@example.com".to_owned(), is_twin: false, ..changed_twin };
    world.save(vec![Write::employee(&Row::at_version(separate_person.clone(), Version(2)), None)]).await;
    assert_eq!((twins().await, by_email("bo@example.com").await), (vec![], Some(separate_person.id)));
}

async fn departments_with_a_twin_are_listed_once_by_name(world: CaseContext) {
    let department_of =
        |name: &str, is_twin: bool| Department { name: name.to_owned(), is_twin, ..world.make.department() };
    let all = vec![
        department_of("Straße", true),
        department_of("STRASSE", false),
        department_of("Strand", false),
        department_of("Straz", false),
        department_of(" Str", false),
        department_of("CAFE\u{301}", false),
        department_of("Cafz", false),
    ];
    world.save(all.iter().map(|department| Write::put(&Row::new(department.clone()))).collect()).await;
    let twins = world.store.page(world.tenant, rows::twins::<Department>(10)).await.unwrap().items;
    assert_eq!(twins, [all[0].clone()]);
    let filter = department::Filter { archived: Archived::All, ..department::Filter::default() };
    for sort in [Sort::ascending_by(SortBy::Name), Sort::descending_by(SortBy::Name)] {
        for limit in [1, 2, 10] {
            lists::departments(&world, filter.clone()).must_show(sort, limit, &all, |_| true, "all").await;
        }
    }
}

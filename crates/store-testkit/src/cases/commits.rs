//! Atomic commits: a change set is saved completely or not at all.

use candor_domain::access::api_key::ApiKey;
use candor_domain::audit;
use candor_domain::catalog::{Attribute, Department};
use candor_domain::event::EventType;
use candor_domain::id::{DepartmentId, EmployeeId};
use candor_domain::keyed::KeyedMap;
use candor_domain::observation::{self, Observation};
use candor_domain::organization::Organization;
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::people::{self, Employee, Role};
use candor_domain::visibility::Viewer;
use candor_port_storage::{ChangeSet, CommitError, Row, StorageExt, Unique, Version, Versioned, Write};
use candor_provisioning::Connector;
use candor_tables::{AnyRow, rows};

use crate::Case;
use crate::fixtures::joins;
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(change_set_is_saved_completely),
        Case::new(stale_write_saves_nothing),
        Case::new(refused_change_set_saves_nothing),
        Case::new(failing_change_sets_in_a_burst_leave_valid_ones_saved),
        Case::new(one_of_concurrent_writers_of_a_version_wins),
        Case::new(new_row_must_be_absent_and_changed_row_present),
        Case::new(version_increases_by_one_per_write),
        Case::new(batch_of_many_people_is_one_change),
        Case::new(side_tables_follow_their_rows),
    ]
}

const NEWEST: Sort = Sort::descending_by(SortBy::OccurredAt);
const FIRST: PageRequest = PageRequest { limit: 100, after: None };

/// A change set that writes to every kind of table, plus one write that the store may refuse.
struct CompleteChange {
    change: ChangeSet,
    department: Department,
    person: Employee,
    observation: Observation,
}

impl CompleteChange {
    async fn around(world: &CaseContext, write: Write) -> Self {
        let CaseContext { make, .. } = world;
        let subject = world.hire().await;
        let attribute = make.attribute();
        let department = make.department();
        let custom = [("desk".to_owned(), people::Custom::Text(format!("{}", make.number())))];
        let custom_fields = people::CustomFields(custom.into());
        let department_id = Some(department.id);
        let person = Employee { department_id, manager_id: Some(subject.id), custom_fields, ..make.employee() };
        let observation = Observation { attribute_ids: vec![attribute.id], ..make.observation(subject.id) };
        let change = ChangeSet {
            events: vec![make.event(EventType::EmployeeCreated), make.event(EventType::ObservationCreated)],
            more_audit: vec![make.audit("test.more", "more")],
            replay: Some(make.replay(&format!("everything-{}", make.number()))),
            ..make.change(vec![
                Write::put(&Row::new(department.clone())),
                Write::put(&Row::new(attribute)),
                joins(person.clone()),
                Write::put(&Row::new(observation.clone())),
                write,
            ])
        };
        Self { change, department, person, observation }
    }

    /// Returns each part of the change set, with `true` if the store has it: rows, side tables, events, audit
    /// entries.
    async fn shown(&self, world: &CaseContext) -> Vec<(&'static str, bool)> {
        let CaseContext { store, tenant, .. } = world;
        let tenant = *tenant;
        let custom = people::Filter { custom: self.person.custom_fields.filters(), ..people::Filter::default() };
        let by_custom = store
            .page(tenant, rows::employees::list(&custom, Sort::ascending_by(SortBy::LastName), &FIRST))
            .await
            .unwrap();
        let tags = self.observation.attribute_ids.clone();
        let tag_filter = observation::Filter { attribute_ids: tags, ..observation::Filter::default() };
        let by_tag = store
            .page(
                tenant,
                rows::observations::list(
                    &tag_filter,
                    Viewer::Everything,
                    Sort::ascending_by(SortBy::CreatedAt),
                    &FIRST,
                ),
            )
            .await
            .unwrap();
        let manager = self.person.manager_id.unwrap();
        let is_report = store.read_reporting(tenant, manager, self.person.id).await.unwrap().is_below;
        let replay = self.change.replay.clone().unwrap();
        let replay_row = store.replay(tenant, &replay.key, replay.created_at).await.unwrap();
        let filter = audit::Filter { actions: vec!["test.more".to_owned()], ..audit::Filter::default() };
        let log = store.page(tenant, rows::audit::list(&filter, NEWEST, &FIRST)).await.unwrap().items;
        let log_all =
            store.page(tenant, rows::audit::list(&audit::Filter::default(), NEWEST, &FIRST)).await.unwrap().items;
        let events = world.events().await;
        vec![
            ("department", store.row::<Department>(tenant, self.department.id).await.unwrap().is_some()),
            ("person", store.row::<Employee>(tenant, self.person.id).await.unwrap().is_some()),
            ("observation", store.row::<Observation>(tenant, self.observation.id).await.unwrap().is_some()),
            ("custom value", by_custom.items.iter().any(|item| item.id == self.person.id)),
            ("tag", by_tag.items.iter().any(|item| item.id == self.observation.id)),
            ("reporting line", is_report),
            ("replay", replay_row.is_some()),
            ("audit entry", log_all.contains(&self.change.audit)),
            ("further audit entry", log.contains(&self.change.more_audit[0])),
            ("first event", events.contains(&self.change.events[0])),
            ("second event", events.contains(&self.change.events[1])),
        ]
    }

    async fn must_be(&self, world: &CaseContext, there: bool, because: &str) {
        let figures = self.shown(world).await;
        let expected_figures: Vec<_> = figures.iter().map(|(what, _)| (*what, there)).collect();
        assert_eq!(figures, expected_figures, "{because}");
    }
}

fn rename(seen: &Versioned<Employee>, name: &str) -> Employee {
    Employee { first_name: name.to_owned(), ..seen.value.clone() }
}

fn write_person(employee: Employee, seen: Version) -> Write {
    Write::employee(&Row::at_version(employee, seen), None)
}

async fn change_set_is_saved_completely(world: CaseContext) {
    let write = Write::put(&Row::new(world.make.department()));
    let all = CompleteChange::around(&world, write).await;
    all.must_be(&world, false, "before").await;
    world.commit(all.change.clone()).await.unwrap();
    all.must_be(&world, true, "after").await;
    let person_row = world.store.row::<Employee>(world.tenant, all.person.id).await.unwrap();
    assert_eq!(person_row, Some(Versioned { value: all.person.clone(), version: Version::FIRST }));
}

async fn stale_write_saves_nothing(world: CaseContext) {
    let person_before = world.hire().await;
    let employee_row = world.employee(person_before.id).await;
    world.try_save(write_person(rename(&employee_row, "Winner"), employee_row.version)).await.unwrap();
    let all =
        CompleteChange::around(&world, write_person(rename(&employee_row, "Loser"), employee_row.version)).await;
    let result = world.commit(all.change.clone()).await;
    assert!(matches!(result, Err(CommitError::Stale)), "{result:?}");
    all.must_be(&world, false, "stale").await;
    assert_eq!(world.employee(person_before.id).await.value.first_name, "Winner");
}

async fn refused_change_set_saves_nothing(world: CaseContext) {
    let holder = world.hire().await;
    let person_with_taken_email = Employee { email: holder.email.to_uppercase(), ..world.make.employee() };
    let homeless = Employee { department_id: Some(DepartmentId::from_bytes([9; 16])), ..world.make.employee() };
    let unknown = world.make.observation(EmployeeId::from_bytes([9; 16]));
    let writes = [
        ("a taken address", joins(person_with_taken_email)),
        ("a missing department", joins(homeless)),
        ("a missing subject", Write::put(&Row::new(unknown))),
        ("an id that exists", joins(Employee { email: "other@example.com".to_owned(), ..holder.clone() })),
        ("a version that never was", write_person(holder.clone(), Version(7))),
    ];
    for (what, write) in writes {
        let all = CompleteChange::around(&world, write).await;
        assert!(world.commit(all.change.clone()).await.is_err(), "{what}");
        all.must_be(&world, false, what).await;
    }
    let holder_row = world.employee(holder.id).await;
    assert_eq!(holder_row, Versioned { value: holder, version: Version::FIRST });
}

/// Commits concurrent change sets: a third is valid, a third is stale, and a third uses a taken address.
async fn failing_change_sets_in_a_burst_leave_valid_ones_saved(world: CaseContext) {
    let holder = world.hire().await;
    let holder_row = world.employee(holder.id).await;
    world.try_save(write_person(rename(&holder_row, "Current"), holder_row.version)).await.unwrap();
    let people: Vec<_> = (0..60).map(|_| world.make.employee()).collect();
    let tasks = people.clone().into_iter().enumerate().map(|(number, employee)| {
        let write = match number % 3 {
            0 => joins(employee),
            1 => write_person(rename(&holder_row, "Stale"), holder_row.version),
            _ => joins(Employee { email: holder.email.clone(), ..employee }),
        };
        let (world, change) = (world.clone(), world.make.change(vec![write]));
        async move { world.commit(change).await }
    });
    for (number, result) in at_once(tasks).await.into_iter().enumerate() {
        let right = match number % 3 {
            0 => result.is_ok(),
            1 => matches!(result, Err(CommitError::Stale)),
            _ => matches!(result, Err(CommitError::Taken(Unique::EmployeeEmail))),
        };
        assert!(right, "no. {number}: {result:?}");
        let is_stored = world.store.row::<Employee>(world.tenant, people[number].id).await.unwrap().is_some();
        assert_eq!(is_stored, number % 3 == 0, "no. {number}");
    }
}

async fn one_of_concurrent_writers_of_a_version_wins(world: CaseContext) {
    let person_before = world.hire().await;
    for _ in 0..5 {
        let row_before = world.employee(person_before.id).await;
        let tasks = (0..20).map(|number| {
            let (world, write) =
                (world.clone(), write_person(rename(&row_before, &format!("No{number}")), row_before.version));
            async move { world.try_save(write).await }
        });
        let results = at_once(tasks).await;
        let winners: Vec<_> = (0..20).filter(|number| results[*number].is_ok()).collect();
        assert_eq!(winners.len(), 1, "{results:?}");
        assert!(results.iter().all(|result| matches!(result, Ok(()) | Err(CommitError::Stale))), "{results:?}");
        let row_after = world.employee(person_before.id).await;
        assert_eq!(row_after.version, row_before.version.next());
        assert_eq!(row_after.value.first_name, format!("No{}", winners[0]));
    }
}

async fn new_row_must_be_absent_and_changed_row_present(world: CaseContext) {
    let stored_person = world.hire().await;
    let second_result =
        world.try_save(joins(Employee { email: "new@example.com".to_owned(), ..stored_person })).await;
    assert!(matches!(second_result, Err(CommitError::Taken(Unique::Id))), "{second_result:?}");
    let nobody = world.make.employee();
    let result = world.try_save(write_person(nobody.clone(), Version::FIRST)).await;
    assert!(matches!(result, Err(CommitError::Stale)), "{result:?}");
    assert_eq!(world.store.row::<Employee>(world.tenant, nobody.id).await.unwrap(), None);
}

async fn version_increases_by_one_per_write(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let organization = make.organization(tenant.organization);
    let (department, attribute) = (make.department(), make.attribute());
    let (connector, key) = (make.connector(), make.api_key());
    let employee = world.hire().await;
    let invitation = make.invitation(employee.id);
    let observation = make.observation(employee.id);
    for number in 1..=3 {
        let version = (number > 1).then(|| Version(number - 1));
        let writes = vec![
            Write::put(&Row { value: organization.clone(), seen: version }),
            Write::put(&Row { value: department.clone(), seen: version }),
            Write::put(&Row { value: attribute.clone(), seen: version }),
            Write::put(&Row { value: connector.clone(), seen: version }),
            Write::put(&Row { value: key.clone(), seen: version }),
            Write::put(&Row { value: invitation.clone(), seen: version }),
            Write::put(&Row { value: observation.clone(), seen: version }),
        ];
        world.save(writes).await;
        let versions = [
            store.row::<Organization>(*tenant, tenant.organization).await.unwrap().unwrap().version,
            store.row::<Department>(*tenant, department.id).await.unwrap().unwrap().version,
            store.row::<Attribute>(*tenant, attribute.id).await.unwrap().unwrap().version,
            store.row::<Connector>(*tenant, connector.id).await.unwrap().unwrap().version,
            store.row::<ApiKey>(*tenant, key.id).await.unwrap().unwrap().version,
            store.first(*tenant, rows::invitations::newest(employee.id)).await.unwrap().unwrap().version,
            store.row::<Observation>(*tenant, observation.id).await.unwrap().unwrap().version,
        ];
        assert_eq!(versions, [Version(number); 7]);
    }
}

/// Commits people together with their managers, and an event for each, as an import does.
async fn batch_of_many_people_is_one_change(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let mut people: Vec<Employee> = Vec::new();
    for number in 0..400_usize {
        // Each person after the first reports to an earlier one of the same batch.
        let manager_id = (number > 0).then(|| people[(number - 1) / 3].id);
        people.push(Employee { manager_id, ..make.employee() });
    }
    let change = ChangeSet {
        events: people.iter().map(|_| make.event(EventType::EmployeeCreated)).collect(),
        more_audit: people.iter().map(|person| make.audit("employee.create", &person.id.to_string())).collect(),
        ..make.change(people.iter().cloned().map(joins).collect())
    };
    world.commit(change.clone()).await.unwrap();
    let ids: Vec<_> = people.iter().map(|person| person.id).collect();
    let mut people_rows: Vec<_> = store.rows::<Employee>(*tenant, &ids).await.unwrap();
    people_rows.sort_by_key(|row| row.value.id);
    assert_eq!(people_rows.into_iter().map(|row| row.value).collect::<Vec<_>>(), people);
    assert_eq!(world.events().await, change.events);
    let (top, last) = (people[0].id, people[399].id);
    assert!(store.read_reporting(*tenant, top, last).await.unwrap().is_below, "the last is below the first");
    let role_writes: Vec<_> = people
        .iter()
        .map(|employee| write_person(Employee { role: Role::Manager, ..employee.clone() }, Version::FIRST))
        .collect();
    let mut stale = role_writes.clone();
    stale[200] = write_person(people[200].clone(), Version(9));
    assert!(matches!(world.commit(make.change(stale)).await, Err(CommitError::Stale)));
    assert_eq!(world.employee(last).await.value.role, Role::Employee, "a batch with a stale row saves nothing");
    world.save(role_writes).await;
    assert_eq!(world.employee(last).await.value.role, Role::Manager);
}

async fn side_tables_follow_their_rows(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let attributes: Vec<_> = (0..3).map(|_| make.attribute()).collect();
    world.save(attributes.iter().map(|attribute| Write::put(&Row::new(attribute.clone()))).collect()).await;
    let [a, b, c] = [attributes[0].id, attributes[1].id, attributes[2].id];
    let subject = world.hire().await;
    let base = make.observation(subject.id);
    let mut row_version = None;
    for tags in [vec![a, b], vec![b, c], vec![], vec![c, b, a], vec![a]] {
        let value = Observation { attribute_ids: tags.clone(), ..base.clone() };
        let row = AnyRow::from_row(&Row { value, seen: row_version });
        row_version = Some(row.version());
        world.save(vec![Write::Put(row)]).await;
        for tag in [a, b, c] {
            let filter = observation::Filter { attribute_ids: vec![tag], ..observation::Filter::default() };
            let observation_page = store
                .page(
                    *tenant,
                    rows::observations::list(
                        &filter,
                        Viewer::Everything,
                        Sort::ascending_by(SortBy::CreatedAt),
                        &FIRST,
                    ),
                )
                .await
                .unwrap();
            assert_eq!(!observation_page.items.is_empty(), tags.contains(&tag), "{tags:?}");
        }
    }
    let custom =
        |word: &str| people::CustomFields([("desk".to_owned(), people::Custom::Text(word.to_owned()))].into());
    for (version, word) in [(1, "north"), (2, "south"), (3, "north")] {
        let value = Employee { custom_fields: custom(word), ..subject.clone() };
        world.save(vec![write_person(value, Version(version))]).await;
        for other in ["north", "south"] {
            let filter = people::Filter { custom: custom(other).filters(), ..people::Filter::default() };
            let employee_page = store
                .page(*tenant, rows::employees::list(&filter, Sort::ascending_by(SortBy::LastName), &FIRST))
                .await
                .unwrap();
            assert_eq!(!employee_page.items.is_empty(), other == word, "{word}");
        }
    }
}

//! Isolation of tenants: other tenants can neither read nor reference a tenant's data (§1, decision A2).

use candor_domain::audit;
use candor_domain::catalog::{Attribute, Department, attribute, department};
use candor_domain::event::EventType;
use candor_domain::observation::{self, Observation};
use candor_domain::organization::Organization;
use candor_domain::page::{Sort, SortBy};
use candor_domain::params::{Archived, Bounds};
use candor_domain::people::{self, Employee, StatusFilter};
use candor_port_storage::{ChangeSet, CommitError, ReportingLineChange, Row, StorageExt, Version, Write};
use candor_provisioning::Connector;
use candor_tables::rows;

use super::lists;
use crate::Case;
use crate::fixtures::joins;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(read_finds_no_row_of_another_tenant),
        Case::new(equal_ids_in_two_tenants_are_two_resources),
        Case::new(write_changes_no_row_of_another_tenant),
        Case::new(reference_to_a_row_of_another_tenant_is_missing),
        Case::new(organizations_are_listed_once_by_their_live_data_set),
    ]
}

/// A tenant with one resource of each kind.
struct FullTenant {
    manager: Employee,
    person: Employee,
    department: candor_domain::catalog::Department,
    attribute: candor_domain::catalog::Attribute,
    connector: candor_provisioning::Connector,
    invitation: people::Invitation,
    observation: Observation,
    replay: candor_domain::idempotency::Replay,
}

impl FullTenant {
    async fn new(world: &CaseContext) -> Self {
        let make = &world.make;
        let (department, attribute, connector) = (make.department(), make.attribute(), make.connector());
        let manager = make.employee();
        let person = Employee {
            external_id: Some("hr-1".to_owned()),
            manager_id: Some(manager.id),
            department_id: Some(department.id),
            connector_id: Some(connector.id),
            is_hris_managed: true,
            ..make.employee()
        };
        let observation = Observation { attribute_ids: vec![attribute.id], ..make.observation(person.id) };
        let (invitation, replay) = (make.invitation(person.id), make.replay("key"));
        let it = Self { manager, person, department, attribute, connector, invitation, observation, replay };
        it.write(world).await;
        it
    }

    async fn write(&self, world: &CaseContext) {
        let it = self;
        let writes = vec![
            Write::put(&Row::new(world.make.organization(world.tenant.organization))),
            Write::put(&Row::new(it.department.clone())),
            Write::put(&Row::new(it.attribute.clone())),
            Write::put(&Row::new(it.connector.clone())),
            joins(it.manager.clone()),
            joins(it.person.clone()),
            Write::put(&Row::new(it.observation.clone())),
            Write::put(&Row::new(it.invitation.clone())),
        ];
        let change = ChangeSet {
            events: vec![world.make.event(EventType::EmployeeCreated)],
            replay: Some(it.replay.clone()),
            ..world.make.change(writes)
        };
        world.commit(change).await.unwrap();
    }

    /// Runs the reads that find rows by an id or another key. Returns each read with `true` if it found a row.
    async fn found(&self, world: &CaseContext) -> Vec<(&'static str, bool)> {
        let (store, tenant, it) = (&world.store, world.tenant, self);
        let email = it.person.email_key();
        let (department, attribute) = (it.department.name_key(), it.attribute.name_key());
        let people = [it.person.id, it.manager.id];
        vec![
            ("organization", store.row::<Organization>(tenant, tenant.organization).await.unwrap().is_some()),
            ("department", store.row::<Department>(tenant, it.department.id).await.unwrap().is_some()),
            ("departments", !store.rows::<Department>(tenant, &[it.department.id]).await.unwrap().is_empty()),
            (
                "department name",
                store.id_by(tenant, rows::departments::BY_NAME, department).await.unwrap().is_some(),
            ),
            (
                "members",
                store.first(tenant, rows::employees::members_of(it.department.id, 1)).await.unwrap().is_some(),
            ),
            ("attribute", store.row::<Attribute>(tenant, it.attribute.id).await.unwrap().is_some()),
            ("attributes", !store.rows::<Attribute>(tenant, &[it.attribute.id]).await.unwrap().is_empty()),
            ("attribute name", store.id_by(tenant, rows::attributes::BY_NAME, attribute).await.unwrap().is_some()),
            ("connector", store.row::<Connector>(tenant, it.connector.id).await.unwrap().is_some()),
            (
                "managed",
                !store
                    .entries(tenant, rows::employees::managed_by(it.connector.id, None, 9))
                    .await
                    .unwrap()
                    .is_empty(),
            ),
            ("person", store.row::<Employee>(tenant, it.person.id).await.unwrap().is_some()),
            ("people", !store.rows::<Employee>(tenant, &people).await.unwrap().is_empty()),
            ("address", store.id_by(tenant, rows::employees::BY_EMAIL, email).await.unwrap().is_some()),
            (
                "external id",
                store.id_by(tenant, rows::employees::BY_EXTERNAL_ID, "hr-1".to_owned()).await.unwrap().is_some(),
            ),
            ("reports", !store.direct_reports(tenant, &people, 9).await.unwrap().is_empty()),
            ("people below", !store.people_below(tenant, it.manager.id).await.unwrap().is_empty()),
            ("line", store.read_reporting(tenant, it.manager.id, it.person.id).await.unwrap().is_below),
            ("invitation", store.first(tenant, rows::invitations::newest(it.person.id)).await.unwrap().is_some()),
            ("observation", store.row::<Observation>(tenant, it.observation.id).await.unwrap().is_some()),
            ("replay", store.replay(tenant, &it.replay.key, it.replay.created_at).await.unwrap().is_some()),
        ]
    }

    /// Returns every list with its number of entries, for every filter by id.
    async fn count_listed(&self, world: &CaseContext) -> Vec<(&'static str, usize)> {
        let it = self;
        let all = || people::Filter { status: StatusFilter::All, ..Default::default() };
        let by_manager = people::Filter { manager_id: Some(it.manager.id), ..all() };
        let by_department = people::Filter { department_id: Some(it.department.id), ..all() };
        let any = || observation::Filter { archived: Archived::All, ..Default::default() };
        let about = observation::Filter { employee_id: Some(it.person.id), ..any() };
        let team_filter = observation::Filter { manager_id: Some(it.manager.id), ..any() };
        let attribute_filter = observation::Filter { attribute_ids: vec![it.attribute.id], ..any() };
        let (name, date) = (Sort::ascending_by(SortBy::LastName), Sort::descending_by(SortBy::ObservationDate));
        let (created, occurred) = (Sort::ascending_by(SortBy::CreatedAt), Sort::ascending_by(SortBy::OccurredAt));
        let departments = department::Filter { archived: Archived::All, ..Default::default() };
        let attributes = attribute::Filter { archived: Archived::All, ..Default::default() };
        vec![
            ("people", lists::employees(world, all()).walk(name, 9).await.len()),
            ("reports", lists::employees(world, by_manager).walk(name, 9).await.len()),
            ("members", lists::employees(world, by_department).walk(name, 9).await.len()),
            ("observations", lists::observations(world, any()).walk(date, 9).await.len()),
            ("about", lists::observations(world, about).walk(date, 9).await.len()),
            ("below", lists::observations(world, team_filter).walk(date, 9).await.len()),
            ("tagged", lists::observations(world, attribute_filter).walk(date, 9).await.len()),
            ("departments", lists::departments(world, departments).walk(created, 9).await.len()),
            ("attributes", lists::attributes(world, attributes).walk(created, 9).await.len()),
            ("connectors", lists::connectors(world, Bounds::default()).walk(created, 9).await.len()),
            ("audit", lists::audit_log(world, audit::Filter::default()).walk(occurred, 9).await.len()),
        ]
    }
}

async fn read_finds_no_row_of_another_tenant(world: CaseContext) {
    let full = FullTenant::new(&world).await;
    assert!(full.found(&world).await.iter().all(|(_, found)| *found), "{:?}", full.found(&world).await);
    let list_counts = full.count_listed(&world).await;
    assert!(list_counts.iter().all(|(_, count)| *count > 0), "{list_counts:?}");
    let (tenant, kept) = world
        .store
        .row_in_any_tenant(rows::invitations::BY_TOKEN, full.invitation.token_hash)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((tenant, kept.value), (world.tenant, full.invitation.clone()), "a token leads to its tenant");
    for other in [world.in_other_tenant(), world.test_environment()] {
        let rows_of_other: Vec<_> = full.found(&other).await.into_iter().filter(|(_, found)| *found).collect();
        assert_eq!(rows_of_other, [], "{:?}", other.tenant);
        let counts_of_other: Vec<_> =
            full.count_listed(&other).await.into_iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counts_of_other, [], "{:?}", other.tenant);
        assert_eq!(other.events().await, []);
    }
}

async fn equal_ids_in_two_tenants_are_two_resources(world: CaseContext) {
    let mut full = FullTenant::new(&world).await;
    let counts_before = full.count_listed(&world).await;
    for (number, other) in [world.in_other_tenant(), world.test_environment()].iter().enumerate() {
        full.person.first_name = format!("Twin{number}");
        full.observation.observation = format!("Twin {number}");
        full.invitation.token_hash = world.make.bytes32();
        full.write(other).await;
        assert_eq!(full.count_listed(other).await, counts_before);
        assert_eq!(other.employee(full.person.id).await.value, full.person);
        let observation =
            other.store.row::<Observation>(other.tenant, full.observation.id).await.unwrap().unwrap();
        assert_eq!(observation.value, full.observation);
    }
    assert_eq!(full.count_listed(&world).await, counts_before);
    assert!(world.employee(full.person.id).await.value.first_name.starts_with("First"));
    // A move in one tenant leaves the other tenants unchanged.
    assert!(world.moves(full.person.id, None).await);
    let is_below =
        world.store.read_reporting(world.tenant, full.manager.id, full.person.id).await.unwrap().is_below;
    let test = world.test_environment();
    let is_below_in_test =
        test.store.read_reporting(test.tenant, full.manager.id, full.person.id).await.unwrap().is_below;
    assert_eq!((is_below, is_below_in_test), (false, true));
}

async fn write_changes_no_row_of_another_tenant(world: CaseContext) {
    let full = FullTenant::new(&world).await;
    let version = Version::FIRST;
    for other in [world.in_other_tenant(), world.test_environment()] {
        let writes = [
            Write::employee(
                &Row::at_version(Employee { manager_id: None, ..full.manager.clone() }, version),
                None,
            ),
            Write::put(&Row::at_version(full.observation.clone(), version)),
            Write::put(&Row::at_version(full.department.clone(), version)),
            Write::put(&Row::at_version(full.attribute.clone(), version)),
            Write::put(&Row::at_version(full.connector.clone(), version)),
            Write::put(&Row::at_version(full.invitation.clone(), version)),
        ];
        for write in writes {
            let result = other.try_save(write.clone()).await;
            let is_refused = matches!(result, Err(CommitError::Stale | CommitError::Missing));
            assert!(is_refused, "{write:?}: {result:?}");
        }
    }
    let now = world.employee(full.manager.id).await;
    assert_eq!((now.value, now.version), (full.manager, version));
}

/// References to attributes are not foreign keys: the caller requires with `Require::open` that they belong
/// to the tenant.
async fn reference_to_a_row_of_another_tenant_is_missing(world: CaseContext) {
    let full = FullTenant::new(&world).await;
    for other in [world.in_other_tenant(), world.test_environment()] {
        let make = &other.make;
        let own = other.hire().await;
        let moved_person = Employee { manager_id: Some(full.manager.id), ..own.clone() };
        let tree = other.tree().await;
        let writes = [
            ("manager", joins(Employee { manager_id: Some(full.manager.id), ..make.employee() })),
            (
                "new manager",
                Write::employee(
                    &Row::at_version(moved_person, Version::FIRST),
                    Some(ReportingLineChange { seen: Some(tree) }),
                ),
            ),
            ("department", joins(Employee { department_id: Some(full.department.id), ..make.employee() })),
            ("connector", joins(Employee { connector_id: Some(full.connector.id), ..make.employee() })),
            ("subject", Write::put(&Row::new(make.observation(full.person.id)))),
            (
                "author",
                Write::put(&Row::new(Observation { author_id: Some(full.person.id), ..make.observation(own.id) })),
            ),
            ("invited", Write::put(&Row::new(make.invitation(full.person.id)))),
        ];
        for (what, write) in writes {
            let result = other.try_save(write).await;
            assert!(matches!(result, Err(CommitError::Missing)), "{what}: {result:?}");
        }
        assert_eq!(other.employee(own.id).await.version, Version::FIRST);
    }
}

async fn organizations_are_listed_once_by_their_live_data_set(world: CaseContext) {
    let mut organizations = vec![];
    for place in [world.in_other_tenant(), world.in_other_tenant(), world.in_other_tenant()] {
        let live = world.make.organization(place.tenant.organization);
        let test = candor_domain::organization::Organization { name: "Test".to_owned(), ..live.clone() };
        place.test_environment().save(vec![Write::put(&Row::new(test))]).await;
        place.save(vec![Write::put(&Row::new(live.clone()))]).await;
        organizations.push(live);
    }
    organizations.sort_by_key(|row| row.id.to_bytes());
    let page = async |after, limit| world.store.organizations(after, limit).await.unwrap();
    assert_eq!(page(None, 100).await, organizations);
    assert_eq!(page(None, 2).await, organizations[..2]);
    assert_eq!(page(Some(organizations[1].id), 2).await, organizations[2..]);
    assert_eq!(page(Some(organizations[2].id), 2).await, []);
}

//! Requirements of a decision are checked at commit time, also against concurrent commits that break them.

use candor_domain::access::api_key::{ApiKey, ApiKeyKind};
use candor_domain::catalog::{Attribute, Department};
use candor_domain::event::EventType;
use candor_domain::id::{AttributeId, DepartmentId};
use candor_domain::observation::Observation;
use candor_domain::people::{Employee, Status};
use candor_port_storage::change::ValidKeys;
use candor_port_storage::{ChangeSet, CommitError, ReportingLineChange, Require, Row, StorageExt, Version, Write};
use candor_subscriptions::Subscription;
use candor_tables::rows;

use crate::Case;
use crate::fixtures::joins;
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(department_is_open_unless_archived_or_absent),
        Case::new(attribute_is_open_unless_archived_or_absent),
        Case::new(department_is_vacant_when_all_members_left),
        Case::new(employee_is_unchanged_until_the_next_write),
        Case::new(tree_version_counts_moves_but_not_hires),
        Case::new(hire_and_move_in_one_change_set_count_once),
        Case::new(subscription_is_allowed_below_the_limit),
        Case::new(concurrent_creation_of_the_last_subscription_succeeds_once),
        Case::new(key_is_allowed_below_the_bound_of_valid_ones),
        Case::new(concurrent_creation_of_the_last_key_succeeds_once),
        Case::new(department_being_archived_gets_no_members),
        Case::new(archived_attribute_cannot_be_used),
        Case::new(decision_based_on_a_changed_person_is_refused),
        Case::new(broken_requirement_saves_nothing),
    ]
}

/// Number of rounds with two contradictory concurrent decisions.
const ROUNDS: usize = 25;

/// Returns a change set with a harmless write and this requirement.
fn change_requiring(world: &CaseContext, require: Require) -> ChangeSet {
    let write = Write::put(&Row::new(world.make.department()));
    ChangeSet { requires: vec![require], ..world.make.change(vec![write]) }
}

async fn holds(world: &CaseContext, require: Require) -> bool {
    match world.commit(change_requiring(world, require)).await {
        Ok(()) => true,
        Err(CommitError::Broken(broken)) => {
            assert_eq!(broken, require, "the error names the requirement");
            false
        }
        other => panic!("{other:?}"),
    }
}

fn archived(department: &Department, world: &CaseContext) -> Department {
    Department { archived_at: Some(world.make.tick()), ..department.clone() }
}

async fn department_is_open_unless_archived_or_absent(world: CaseContext) {
    let (open, gone) = (world.make.department(), world.make.department());
    let writes = [open.clone(), archived(&gone, &world)].map(|department| Write::put(&Row::new(department)));
    world.save(writes.to_vec()).await;
    assert!(holds(&world, Require::open::<Department>(open.id)).await);
    assert!(!holds(&world, Require::open::<Department>(gone.id)).await, "archived");
    assert!(!holds(&world, Require::open::<Department>(DepartmentId::from_bytes([7; 16]))).await, "absent");
    for other in [world.in_other_tenant(), world.test_environment()] {
        assert!(!holds(&other, Require::open::<Department>(open.id)).await, "of another tenant");
    }
}

async fn attribute_is_open_unless_archived_or_absent(world: CaseContext) {
    let (open, gone) = (world.make.attribute(), world.make.attribute());
    let archived_attribute = Attribute { archived_at: Some(world.make.tick()), ..gone };
    world
        .save(
            [open.clone(), archived_attribute.clone()].map(|attribute| Write::put(&Row::new(attribute))).to_vec(),
        )
        .await;
    assert!(holds(&world, Require::open::<Attribute>(open.id)).await);
    assert!(!holds(&world, Require::open::<Attribute>(archived_attribute.id)).await, "archived");
    assert!(!holds(&world, Require::open::<Attribute>(AttributeId::from_bytes([7; 16]))).await, "absent");
    for other in [world.in_other_tenant(), world.test_environment()] {
        assert!(!holds(&other, Require::open::<Attribute>(open.id)).await, "of another tenant");
    }
}

async fn has_members(world: &CaseContext, department: &Department) -> bool {
    world.store.first(world.tenant, rows::employees::members_of(department.id, 1)).await.unwrap().is_some()
}

async fn department_is_vacant_when_all_members_left(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let department = make.department();
    world.save(vec![Write::put(&Row::new(department.clone()))]).await;
    let vacant = Require::DepartmentVacant(department.id);
    assert!(holds(&world, vacant).await, "no member ever joined");
    assert!(!has_members(&world, &department).await);
    let member = world.add_employee(Employee { department_id: Some(department.id), ..make.employee() }).await;
    for (version, status) in
        (1..).zip([Status::PendingInvite, Status::Active, Status::Deactivated, Status::Active])
    {
        let value = Employee { status, ..member.clone() };
        world.save(vec![Write::employee(&Row::at_version(value, Version(version)), None)]).await;
        let has_left = status == Status::Deactivated;
        assert_eq!(holds(&world, vacant).await, has_left, "{status:?}");
        assert_eq!(has_members(&world, &department).await, !has_left, "{status:?}");
    }
    let former_member = Employee { department_id: None, ..member };
    world.save(vec![Write::employee(&Row::at_version(former_member, Version(5)), None)]).await;
    assert!(holds(&world, vacant).await, "the only member left the department");
}

async fn employee_is_unchanged_until_the_next_write(world: CaseContext) {
    let person = world.hire().await;
    let unchanged_employee = Require::has_version::<Employee>(person.id, Version::FIRST);
    assert!(holds(&world, unchanged_employee).await);
    assert!(!holds(&world, Require::has_version::<Employee>(person.id, Version(2))).await, "a version to come");
    world.save(vec![Write::employee(&Row::at_version(person.clone(), Version::FIRST), None)]).await;
    assert!(!holds(&world, unchanged_employee).await);
    assert!(holds(&world, Require::has_version::<Employee>(person.id, Version(2))).await);
    assert!(!holds(&world, Require::has_version::<Employee>(world.make.id(), Version::FIRST)).await, "absent");
    assert!(
        !holds(&world.in_other_tenant(), Require::has_version::<Employee>(person.id, Version(2))).await,
        "of another tenant"
    );
}

async fn tree_version_counts_moves_but_not_hires(world: CaseContext) {
    let tree_version = world.tree().await;
    let (one, two) = (world.hire().await, world.hire().await);
    let third = world.hired_below(two.id).await;
    assert_eq!(world.tree().await, tree_version, "a new person changes no line");
    assert!(world.moves(one.id, Some(third.id)).await);
    assert_eq!(world.tree().await, tree_version.next());
    for other in [world.in_other_tenant(), world.test_environment()] {
        assert_eq!(other.tree().await, tree_version, "the tree of another tenant");
    }
}

async fn hire_and_move_in_one_change_set_count_once(world: CaseContext) {
    let (boss, one) = (world.hire().await, world.hire().await);
    let tree = world.tree().await;
    let change = |seen| {
        let state = Employee { manager_id: Some(boss.id), ..one.clone() };
        let move_write = Write::employee(
            &Row::at_version(state, Version::FIRST),
            Some(ReportingLineChange { seen: Some(seen) }),
        );
        let new = joins(Employee { manager_id: Some(one.id), ..world.make.employee() });
        world.make.change(vec![move_write, new])
    };
    let stale = world.commit(change(tree.next())).await;
    assert!(matches!(stale, Err(CommitError::Stale)), "{stale:?}");
    assert_eq!(world.tree().await, tree, "nothing of the change set is saved");
    world.commit(change(tree)).await.unwrap();
    assert_eq!(world.tree().await, tree.next());
}

/// Adds the organization, whose row serializes the creation of subscriptions.
async fn with_organization(world: CaseContext) -> CaseContext {
    let organization = world.make.organization(world.tenant.organization);
    world.save(vec![Write::put(&Row::new(organization))]).await;
    world
}

async fn subscription_is_allowed_below_the_limit(world: CaseContext) {
    assert!(!holds(&world, Require::rows_below::<Subscription>(9)).await, "the organization does not exist");
    let worlds = [with_organization(world.clone()).await, with_organization(world.test_environment()).await];
    let other = with_organization(world.in_other_tenant()).await;
    for data_set in [&worlds[0], &worlds[1]] {
        for count in 0..3 {
            let subscribers = data_set.store.subscribers(data_set.tenant).await.unwrap();
            assert_eq!(subscribers.count(), count, "each data set counts its own");
            assert!(holds(data_set, Require::rows_below::<Subscription>(count as u32 + 1)).await, "{count}");
            assert!(!holds(data_set, Require::rows_below::<Subscription>(count as u32)).await, "{count}");
            let active = count != 1;
            let one_type = data_set.make.subscription_to(&[EventType::EmployeeCreated]);
            data_set.add_subscription(Subscription { active, ..one_type }).await;
        }
        let subscribers = data_set.store.subscribers(data_set.tenant).await.unwrap();
        let kinds = [EventType::EmployeeCreated, EventType::EmployeeUpdated];
        assert_eq!(kinds.map(|kind| subscribers.deliveries_of([kind])), [2, 0], "one of the three is not active");
    }
    assert!(holds(&other, Require::rows_below::<Subscription>(1)).await);
}

async fn concurrent_creation_of_the_last_subscription_succeeds_once(world: CaseContext) {
    let world = with_organization(world).await;
    for most in 1..=8 {
        let change = || {
            let write = Write::put(&Row::new(world.make.subscription()));
            ChangeSet {
                requires: vec![Require::rows_below::<Subscription>(most)],
                ..world.make.change(vec![write])
            }
        };
        let tasks = [change(), change(), change()].map(|change| {
            let world = world.clone();
            async move { world.commit(change).await }
        });
        let results = at_once(tasks).await;
        let is_broken = |result: &&Result<(), CommitError>| matches!(result, Err(CommitError::Broken(_)));
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
        assert_eq!(results.iter().filter(is_broken).count(), 2, "{results:?}");
        assert_eq!(world.store.subscribers(world.tenant).await.unwrap().count(), most as usize);
    }
}

async fn key_is_allowed_below_the_bound_of_valid_ones(world: CaseContext) {
    let now = world.make.tick();
    let people = [world.hire().await.id, world.hire().await.id].map(Some);
    let sessions = [world.make.id(), world.make.id()].map(Some);
    let owners =
        [(None, None), (people[0], None), (people[1], None), (people[0], sessions[0]), (people[0], sessions[1])];
    let keys = |(holder, session)| ValidKeys { holder, session, at: now };
    assert!(!holds(&world, Require::KeysBelow(keys(owners[0]), 9)).await, "the organization does not exist");
    let world = with_organization(world).await;
    let other = with_organization(world.in_other_tenant()).await;
    for owner in owners {
        let (employee_id, session_id) = owner;
        for count in 0..3 {
            let key = ApiKey { employee_id, session_id, ..world.make.api_key() };
            let earlier_time = now.plus_seconds(-1);
            let expired_key = ApiKey { expires_at: Some(now), ..world.make.api_key() };
            let revoked_key = ApiKey { revoked_at: Some(earlier_time), ..world.make.api_key() };
            let session = ApiKey { kind: ApiKeyKind::Session, ..world.make.api_key() };
            let keys_without_effect =
                [expired_key, revoked_key, session].map(|key| ApiKey { employee_id, session_id, ..key });
            let lasts = ApiKey { expires_at: (count == 1).then(|| now.plus_seconds(1)), ..key };
            let writes = keys_without_effect.into_iter().chain([lasts]).map(|key| Write::put(&Row::new(key)));
            let organization = world.tenant.organization;
            let valid = world.store.count_valid_keys(organization, keys(owner), 9).await.unwrap();
            assert_eq!(valid, count, "{owner:?}");
            assert!(holds(&world, Require::KeysBelow(keys(owner), count + 1)).await, "{owner:?} {count}");
            assert!(!holds(&world, Require::KeysBelow(keys(owner), count)).await, "{owner:?} {count}");
            world.save(writes.collect()).await;
        }
    }
    assert!(holds(&other, Require::KeysBelow(keys(owners[0]), 1)).await);
}

async fn concurrent_creation_of_the_last_key_succeeds_once(world: CaseContext) {
    let world = with_organization(world).await;
    let keys = ValidKeys { holder: None, session: None, at: world.make.tick() };
    for most in 1..=8 {
        let change = || {
            let key = ApiKey { session_id: None, ..world.make.api_key() };
            let write = Write::put(&Row::new(key));
            ChangeSet { requires: vec![Require::KeysBelow(keys, most)], ..world.make.change(vec![write]) }
        };
        let tasks = [change(), change(), change()].map(|change| {
            let world = world.clone();
            async move { world.commit(change).await }
        });
        let results = at_once(tasks).await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
        let organization = world.tenant.organization;
        assert_eq!(world.store.count_valid_keys(organization, keys, 99).await.unwrap(), most);
    }
}

/// Returns the change sets of one round in random order.
fn shuffle(world: &CaseContext, mut changes: Vec<ChangeSet>) -> Vec<ChangeSet> {
    for at in (1..changes.len()).rev() {
        changes.swap(at, world.random.number_below(at + 1));
    }
    changes
}

async fn commits(world: &CaseContext, changes: Vec<ChangeSet>) {
    let tasks = shuffle(world, changes).into_iter().map(|change| {
        let world = world.clone();
        async move { world.commit(change).await }
    });
    for result in at_once(tasks).await {
        let fine = matches!(result, Ok(()) | Err(CommitError::Broken(_) | CommitError::Stale));
        assert!(fine, "{result:?}");
    }
}

async fn department_being_archived_gets_no_members(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    for round in 0..ROUNDS {
        let department = make.department();
        world.save(vec![Write::put(&Row::new(department.clone()))]).await;
        let mover = world.hire().await;
        let close = Write::put(&Row::at_version(archived(&department, &world), Version::FIRST));
        let open = vec![Require::open::<Department>(department.id)];
        let own_department = Some(department.id);
        let join = joins(Employee { department_id: own_department, ..make.employee() });
        let enter = Write::employee(
            &Row::at_version(Employee { department_id: own_department, ..mover }, Version::FIRST),
            None,
        );
        let mut changes = vec![
            ChangeSet { requires: vec![Require::DepartmentVacant(department.id)], ..make.change(vec![close]) },
            ChangeSet { requires: open.clone(), ..make.change(vec![enter]) },
        ];
        if round % 2 == 0 {
            changes.push(ChangeSet { requires: open, ..make.change(vec![join]) });
        }
        commits(&world, changes).await;
        let now = store.row::<Department>(*tenant, department.id).await.unwrap().unwrap();
        let members = has_members(&world, &department).await;
        assert!(now.value.archived_at.is_none() || !members, "round {round}: an archived department has members");
        assert!(
            now.value.archived_at.is_some() || members,
            "round {round}: the department is open and has no members"
        );
    }
}

async fn archived_attribute_cannot_be_used(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let subject = world.hire().await;
    for round in 0..ROUNDS {
        let attribute = make.attribute();
        world.save(vec![Write::put(&Row::new(attribute.clone()))]).await;
        let archived_attribute = Attribute { archived_at: Some(make.tick()), ..attribute.clone() };
        let observation = Observation { attribute_ids: vec![attribute.id], ..make.observation(subject.id) };
        let changes = vec![
            make.change(vec![Write::put(&Row::at_version(archived_attribute, Version::FIRST))]),
            ChangeSet {
                requires: vec![Require::open::<Attribute>(attribute.id)],
                ..make.change(vec![Write::put(&Row::new(observation.clone()))])
            },
        ];
        commits(&world, changes).await;
        // Both commits may succeed, if the observation was committed before the attribute was archived.
        let now = store.row::<Attribute>(*tenant, attribute.id).await.unwrap().unwrap();
        assert!(now.value.archived_at.is_some(), "round {round}: archiving always succeeds");
        let late = Observation { attribute_ids: vec![attribute.id], ..make.observation(subject.id) };
        let change = ChangeSet {
            requires: vec![Require::open::<Attribute>(attribute.id)],
            ..make.change(vec![Write::put(&Row::new(late))])
        };
        assert!(matches!(world.commit(change).await, Err(CommitError::Broken(_))), "round {round}");
    }
}

async fn decision_based_on_a_changed_person_is_refused(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    for round in 0..ROUNDS {
        let (one, two) = (world.hire().await, world.hire().await);
        // Each decision requires that the other person is unchanged, so at most one of the two succeeds.
        let change = |person: &Employee, other: &Employee| {
            let value = Employee { first_name: "Changed".to_owned(), ..person.clone() };
            ChangeSet {
                requires: vec![Require::has_version::<Employee>(other.id, Version::FIRST)],
                ..make.change(vec![Write::employee(&Row::at_version(value, Version::FIRST), None)])
            }
        };
        let tasks = shuffle(&world, vec![change(&one, &two), change(&two, &one)]).into_iter().map(|change| {
            let world = world.clone();
            async move { world.commit(change).await }
        });
        let results = at_once(tasks).await;
        let fine = |result: &Result<(), CommitError>| {
            matches!(result, Ok(()) | Err(CommitError::Broken(_) | CommitError::Storage(_)))
        };
        assert!(results.iter().all(fine), "round {round}: {results:?}");
        let mut success_count = 0;
        for id in [one.id, two.id] {
            let now = store.row::<Employee>(*tenant, id).await.unwrap().unwrap();
            success_count += usize::from(now.value.first_name == "Changed");
        }
        assert_eq!(success_count, results.iter().filter(|result| result.is_ok()).count(), "round {round}");
        assert!(success_count <= 1, "round {round}: each decision requires the other person unchanged");
    }
}

async fn broken_requirement_saves_nothing(world: CaseContext) {
    let change = change_requiring(&world, Require::open::<Department>(world.make.id()));
    let Some(Write::Put(row)) = change.writes.first().cloned() else { panic!("{change:?}") };
    let id = row.id_of::<Department>().unwrap();
    assert!(matches!(world.commit(change).await, Err(CommitError::Broken(_))));
    assert_eq!(world.store.row::<Department>(world.tenant, id).await.unwrap(), None);
    assert_eq!(world.events().await, []);
}

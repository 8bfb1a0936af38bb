//! What a decision relied upon holds at the moment of the commit, also when its opposite is decided at the same time.

use candor_domain::event::EventType;
use candor_domain::id::{AttributeId, DepartmentId};
use candor_domain::library::{Attribute, Department};
use candor_domain::observation::Observation;
use candor_domain::people::{Employee, Status};
use candor_domain::webhook::Subscription;
use candor_port_storage::{ChangeSet, CommitError, Lines, Require, Row, StorageExt, Version, Write};
use candor_tables::rows;

use crate::Case;
use crate::fixtures::joins;
use crate::world::{World, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(a_department_is_open_unless_archived_or_absent),
        Case::new(an_attribute_is_open_unless_archived_or_absent),
        Case::new(a_department_is_vacant_when_all_have_left),
        Case::new(a_person_is_unchanged_until_the_next_write),
        Case::new(tree_version_counts_moves_and_not_hires),
        Case::new(hire_and_move_of_one_change_set_count_the_tree_once),
        Case::new(there_is_room_for_subscriptions_below_the_limit),
        Case::new(of_many_who_make_the_last_subscription_one_wins),
        Case::new(nobody_joins_a_department_while_it_is_archived),
        Case::new(no_attribute_is_used_anew_once_it_is_archived),
        Case::new(no_decision_stands_on_a_person_who_changes_meanwhile),
        Case::new(a_broken_requirement_leaves_nothing),
    ]
}

/// How often two opposites are decided at once.
const ROUNDS: usize = 25;

/// A change set that writes something harmless and relies on something.
fn relying(world: &World, require: Require) -> ChangeSet {
    let write = Write::put(&Row::new(world.make.department()));
    ChangeSet { requires: vec![require], ..world.make.change(vec![write]) }
}

async fn holds(world: &World, require: Require) -> bool {
    match world.commit(relying(world, require)).await {
        Ok(()) => true,
        Err(CommitError::Broken(broken)) => {
            assert_eq!(broken, require, "what is named is what was required");
            false
        }
        other => panic!("{other:?}"),
    }
}

fn archived(it: &Department, world: &World) -> Department {
    Department { archived_at: Some(world.make.tick()), ..it.clone() }
}

async fn a_department_is_open_unless_archived_or_absent(world: World) {
    let (open, gone) = (world.make.department(), world.make.department());
    let writes = [open.clone(), archived(&gone, &world)].map(|it| Write::put(&Row::new(it)));
    world.save(writes.to_vec()).await;
    assert!(holds(&world, Require::open::<Department>(open.id)).await);
    assert!(!holds(&world, Require::open::<Department>(gone.id)).await, "archived");
    assert!(!holds(&world, Require::open::<Department>(DepartmentId::from_bytes([7; 16]))).await, "absent");
    for other in [world.elsewhere(), world.test_environment()] {
        assert!(!holds(&other, Require::open::<Department>(open.id)).await, "of another tenant");
    }
}

async fn an_attribute_is_open_unless_archived_or_absent(world: World) {
    let (open, gone) = (world.make.attribute(), world.make.attribute());
    let gone = Attribute { archived_at: Some(world.make.tick()), ..gone };
    world.save([open.clone(), gone.clone()].map(|it| Write::put(&Row::new(it))).to_vec()).await;
    assert!(holds(&world, Require::open::<Attribute>(open.id)).await);
    assert!(!holds(&world, Require::open::<Attribute>(gone.id)).await, "archived");
    assert!(!holds(&world, Require::open::<Attribute>(AttributeId::from_bytes([7; 16]))).await, "absent");
    for other in [world.elsewhere(), world.test_environment()] {
        assert!(!holds(&other, Require::open::<Attribute>(open.id)).await, "of another tenant");
    }
}

async fn has_members(world: &World, department: &Department) -> bool {
    world.store.first(world.tenant, rows::employees::members_of(department.id, 1)).await.unwrap().is_some()
}

async fn a_department_is_vacant_when_all_have_left(world: World) {
    let World { make, .. } = &world;
    let department = make.department();
    world.save(vec![Write::put(&Row::new(department.clone()))]).await;
    let vacant = Require::DepartmentVacant(department.id);
    assert!(holds(&world, vacant).await, "nobody ever joined");
    assert!(!has_members(&world, &department).await);
    let member = world.joined(Employee { department_id: Some(department.id), ..make.employee() }).await;
    for (version, status) in (1..).zip([Status::PendingInvite, Status::Active, Status::Deactivated, Status::Active]) {
        let value = Employee { status, ..member.clone() };
        world.save(vec![Write::employee(&Row::seen(value, Version(version)), None)]).await;
        let has_left = status == Status::Deactivated;
        assert_eq!(holds(&world, vacant).await, has_left, "{status:?}");
        assert_eq!(has_members(&world, &department).await, !has_left, "{status:?}");
    }
    let moved = Employee { department_id: None, ..member };
    world.save(vec![Write::employee(&Row::seen(moved, Version(5)), None)]).await;
    assert!(holds(&world, vacant).await, "the only member went elsewhere");
}

async fn a_person_is_unchanged_until_the_next_write(world: World) {
    let it = world.hired().await;
    let seen = Require::EmployeeUnchanged(it.id, Version::FIRST);
    assert!(holds(&world, seen).await);
    assert!(!holds(&world, Require::EmployeeUnchanged(it.id, Version(2))).await, "a version to come");
    world.save(vec![Write::employee(&Row::seen(it.clone(), Version::FIRST), None)]).await;
    assert!(!holds(&world, seen).await);
    assert!(holds(&world, Require::EmployeeUnchanged(it.id, Version(2))).await);
    assert!(!holds(&world, Require::EmployeeUnchanged(world.make.id(), Version::FIRST)).await, "absent");
    assert!(!holds(&world.elsewhere(), Require::EmployeeUnchanged(it.id, Version(2))).await, "of another tenant");
}

async fn tree_version_counts_moves_and_not_hires(world: World) {
    let seen = world.tree().await;
    let (one, two) = (world.hired().await, world.hired().await);
    let third = world.hired_below(two.id).await;
    assert_eq!(world.tree().await, seen, "a new person moves nobody");
    assert!(world.moves(one.id, Some(third.id)).await);
    assert_eq!(world.tree().await, seen.next());
    for other in [world.elsewhere(), world.test_environment()] {
        assert_eq!(other.tree().await, seen, "the tree of another tenant");
    }
}

async fn hire_and_move_of_one_change_set_count_the_tree_once(world: World) {
    let (boss, one) = (world.hired().await, world.hired().await);
    let tree = world.tree().await;
    let change = |seen| {
        let state = Employee { manager_id: Some(boss.id), ..one.clone() };
        let moved = Write::employee(&Row::seen(state, Version::FIRST), Some(Lines { seen: Some(seen) }));
        let new = joins(Employee { manager_id: Some(one.id), ..world.make.employee() });
        world.make.change(vec![moved, new])
    };
    let stale = world.commit(change(tree.next())).await;
    assert!(matches!(stale, Err(CommitError::Stale)), "{stale:?}");
    assert_eq!(world.tree().await, tree, "nothing of it is saved");
    world.commit(change(tree)).await.unwrap();
    assert_eq!(world.tree().await, tree.next());
}

/// The data set with its organization, at which those who make subscriptions wait for each other.
async fn founded(world: World) -> World {
    let organization = world.make.organization(world.tenant.organization);
    world.save(vec![Write::put(&Row::new(organization))]).await;
    world
}

async fn there_is_room_for_subscriptions_below_the_limit(world: World) {
    assert!(!holds(&world, Require::SubscriptionsBelow(9)).await, "there is no such organization");
    let worlds = [founded(world.clone()).await, founded(world.test_environment()).await];
    let other = founded(world.elsewhere()).await;
    for it in [&worlds[0], &worlds[1]] {
        for count in 0..3 {
            let subscribers = it.store.subscribers(it.tenant).await.unwrap();
            assert_eq!(subscribers.count(), count, "each data set counts its own");
            assert!(holds(it, Require::SubscriptionsBelow(count as u32 + 1)).await, "{count}");
            assert!(!holds(it, Require::SubscriptionsBelow(count as u32)).await, "{count}");
            let active = count != 1;
            it.subscribed(Subscription { active, ..it.make.subscription_to(&[EventType::EmployeeCreated]) }).await;
        }
        let subscribers = it.store.subscribers(it.tenant).await.unwrap();
        let kinds = [EventType::EmployeeCreated, EventType::EmployeeUpdated];
        assert_eq!(kinds.map(|kind| subscribers.deliveries_of([kind])), [2, 0], "one of the three is not active");
    }
    assert!(holds(&other, Require::SubscriptionsBelow(1)).await);
}

async fn of_many_who_make_the_last_subscription_one_wins(world: World) {
    let world = founded(world).await;
    for most in 1..=8 {
        let change = || {
            let write = Write::put(&Row::new(world.make.subscription()));
            ChangeSet { requires: vec![Require::SubscriptionsBelow(most)], ..world.make.change(vec![write]) }
        };
        let tasks = [change(), change(), change()].map(|change| {
            let world = world.clone();
            async move { world.commit(change).await }
        });
        let results = at_once(tasks).await;
        let broken = |it: &Result<(), CommitError>| matches!(it, Err(CommitError::Broken(_)));
        assert_eq!(results.iter().filter(|it| it.is_ok()).count(), 1, "{results:?}");
        assert_eq!(results.iter().filter(|it| broken(it)).count(), 2, "{results:?}");
        assert_eq!(world.store.subscribers(world.tenant).await.unwrap().count(), most as usize);
    }
}

/// Tasks of one round, in changing order.
fn shuffled(world: &World, mut changes: Vec<ChangeSet>) -> Vec<ChangeSet> {
    for at in (1..changes.len()).rev() {
        changes.swap(at, world.random.below(at + 1));
    }
    changes
}

async fn commits(world: &World, changes: Vec<ChangeSet>) {
    let tasks = shuffled(world, changes).into_iter().map(|change| {
        let world = world.clone();
        async move { world.commit(change).await }
    });
    for result in at_once(tasks).await {
        let fine = matches!(result, Ok(()) | Err(CommitError::Broken(_) | CommitError::Stale));
        assert!(fine, "{result:?}");
    }
}

async fn nobody_joins_a_department_while_it_is_archived(world: World) {
    let World { make, store, tenant, .. } = &world;
    for round in 0..ROUNDS {
        let department = make.department();
        world.save(vec![Write::put(&Row::new(department.clone()))]).await;
        let mover = world.hired().await;
        let close = Write::put(&Row::seen(archived(&department, &world), Version::FIRST));
        let open = vec![Require::open::<Department>(department.id)];
        let here = Some(department.id);
        let join = joins(Employee { department_id: here, ..make.employee() });
        let enter = Write::employee(&Row::seen(Employee { department_id: here, ..mover }, Version::FIRST), None);
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
        assert!(now.value.archived_at.is_some() || members, "round {round}: nobody got through");
    }
}

async fn no_attribute_is_used_anew_once_it_is_archived(world: World) {
    let World { make, store, tenant, .. } = &world;
    let subject = world.hired().await;
    for round in 0..ROUNDS {
        let attribute = make.attribute();
        world.save(vec![Write::put(&Row::new(attribute.clone()))]).await;
        let gone = Attribute { archived_at: Some(make.tick()), ..attribute.clone() };
        let observation = Observation { attribute_ids: vec![attribute.id], ..make.observation(subject.id) };
        let changes = vec![
            make.change(vec![Write::put(&Row::seen(gone, Version::FIRST))]),
            ChangeSet {
                requires: vec![Require::open::<Attribute>(attribute.id)],
                ..make.change(vec![Write::put(&Row::new(observation.clone()))])
            },
        ];
        commits(&world, changes).await;
        // Both may get through: then it was open when the observation's commit looked.
        let now = store.row::<Attribute>(*tenant, attribute.id).await.unwrap().unwrap();
        assert!(now.value.archived_at.is_some(), "round {round}: nothing stands against archiving");
        let late = Observation { attribute_ids: vec![attribute.id], ..make.observation(subject.id) };
        let change = ChangeSet {
            requires: vec![Require::open::<Attribute>(attribute.id)],
            ..make.change(vec![Write::put(&Row::new(late))])
        };
        assert!(matches!(world.commit(change).await, Err(CommitError::Broken(_))), "round {round}");
    }
}

async fn no_decision_stands_on_a_person_who_changes_meanwhile(world: World) {
    let World { make, store, tenant, .. } = &world;
    for round in 0..ROUNDS {
        let (one, two) = (world.hired().await, world.hired().await);
        // Each decision relies on the other person as it was: at most one of them can stand.
        let change = |it: &Employee, other: &Employee| {
            let value = Employee { first_name: "Changed".to_owned(), ..it.clone() };
            ChangeSet {
                requires: vec![Require::EmployeeUnchanged(other.id, Version::FIRST)],
                ..make.change(vec![Write::employee(&Row::seen(value, Version::FIRST), None)])
            }
        };
        let tasks = shuffled(&world, vec![change(&one, &two), change(&two, &one)]).into_iter().map(|change| {
            let world = world.clone();
            async move { world.commit(change).await }
        });
        let results = at_once(tasks).await;
        let fine =
            |it: &Result<(), CommitError>| matches!(it, Ok(()) | Err(CommitError::Broken(_) | CommitError::Storage(_)));
        assert!(results.iter().all(fine), "round {round}: {results:?}");
        let mut changed = 0;
        for id in [one.id, two.id] {
            let now = store.row::<Employee>(*tenant, id).await.unwrap().unwrap();
            changed += usize::from(now.value.first_name == "Changed");
        }
        assert_eq!(changed, results.iter().filter(|it| it.is_ok()).count(), "round {round}");
        assert!(changed <= 1, "round {round}: each relied on the other being unchanged");
    }
}

async fn a_broken_requirement_leaves_nothing(world: World) {
    let change = relying(&world, Require::open::<Department>(world.make.id()));
    let Some(Write::Put(row)) = change.writes.first().cloned() else { panic!("{change:?}") };
    let id = row.id_of::<Department>().unwrap();
    assert!(matches!(world.commit(change).await, Err(CommitError::Broken(_))));
    assert_eq!(world.store.row::<Department>(world.tenant, id).await.unwrap(), None);
    assert_eq!(world.events().await, []);
}

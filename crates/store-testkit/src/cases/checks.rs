//! A check of a change set answers like its commit, and saves nothing.

use candor_domain::access::api_key::ApiKey;
use candor_domain::catalog::{Attribute, Department};
use candor_domain::conversation::Conversation;
use candor_domain::event::EventType;
use candor_domain::people::Employee;
use candor_port_storage::change::ValidKeys;
use candor_port_storage::{ChangeSet, ReportingLineChange, Require, Row, StorageExt, Version, Write};
use candor_subscriptions::Subscription;

use crate::Case;
use crate::fixtures::joins;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(row_version_and_id_are_checked_like_the_commit),
        Case::new(unique_value_is_checked_like_the_commit),
        Case::new(requirement_is_checked_like_the_commit),
        Case::new(reporting_tree_is_checked_like_the_commit),
        Case::new(conversation_and_webhook_are_checked_like_the_commit),
        Case::new(one_stale_row_among_many_is_found),
        Case::new(check_sees_only_rows_of_its_tenant),
        Case::new(check_saves_nothing),
        Case::new(check_ignores_stored_responses),
    ]
}

/// Number of rows of a large change set.
const MANY: usize = 150;
/// A version that no row of these cases reaches.
const LATER: Version = Version(9);

/// Asserts that a check and the commit that follows it give the same answer, and returns that answer.
async fn assert_check_equals_commit(world: &CaseContext, change: ChangeSet) -> String {
    let check_text = format!("{:?}", world.store.check(world.tenant, &change).await);
    let commit_text = format!("{:?}", world.commit(change).await);
    assert_eq!(check_text, commit_text);
    commit_text
}

/// Asserts that a check and a commit of these writes give this answer.
async fn expect(world: &CaseContext, writes: Vec<Write>, expected: &str) {
    assert_eq!(assert_check_equals_commit(world, world.make.change(writes)).await, expected);
}

async fn row_version_and_id_are_checked_like_the_commit(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let (department, key) = (make.department(), make.api_key());
    let new = [Write::put(&Row::new(department.clone())), Write::put(&Row::new(key.clone()))];
    expect(&world, new.to_vec(), "Ok(())").await;
    let department_again = Department { name: "Another".to_owned(), ..department.clone() };
    expect(&world, vec![Write::put(&Row::new(department_again))], "Err(Taken(Id))").await;
    expect(&world, vec![Write::put(&Row::at_version(make.department(), Version::FIRST))], "Err(Stale)").await;
    for (seen, expected) in [(LATER, "Err(Stale)"), (Version::FIRST, "Ok(())"), (Version::FIRST, "Err(Stale)")] {
        expect(&world, vec![Write::put(&Row::at_version(department.clone(), seen))], expected).await;
        expect(&world, vec![Write::put(&Row::at_version(key.clone(), seen))], expected).await;
    }
}

async fn unique_value_is_checked_like_the_commit(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let holder = world.add_employee(Employee { external_id: Some("hr-1".to_owned()), ..make.employee() }).await;
    let (department, attribute) = (make.department(), make.attribute());
    let writes = [Write::put(&Row::new(department.clone())), Write::put(&Row::new(attribute.clone()))];
    expect(&world, writes.to_vec(), "Ok(())").await;
    let person = || make.employee();
    let table = [
        (Employee { email: holder.email.to_uppercase(), ..person() }, "Err(Taken(EmployeeEmail))"),
        (Employee { external_id: holder.external_id.clone(), ..person() }, "Err(Taken(EmployeeExternalId))"),
        (Employee { external_id: Some("HR-1".to_owned()), ..person() }, "Ok(())"),
        (person(), "Ok(())"),
    ];
    for (employee, expected) in table {
        expect(&world, vec![joins(employee)], expected).await;
    }
    let department = Department { name: department.name.to_uppercase(), ..make.department() };
    expect(&world, vec![Write::put(&Row::new(department))], "Err(Taken(DepartmentName))").await;
    let attribute = Attribute { name: attribute.name.to_uppercase(), ..make.attribute() };
    expect(&world, vec![Write::put(&Row::new(attribute))], "Err(Taken(AttributeName))").await;
    // A row does not conflict with its own stored values.
    expect(&world, vec![Write::employee(&Row::at_version(holder, Version::FIRST), None)], "Ok(())").await;
}

async fn requirement_is_checked_like_the_commit(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let (open, archived) = (make.department(), Department { archived_at: Some(make.tick()), ..make.department() });
    let (attribute, organization) = (make.attribute(), make.organization(world.tenant.organization));
    let member = Employee { department_id: Some(open.id), ..make.employee() };
    let unchanged_employee = Require::has_version::<Employee>(member.id, Version::FIRST);
    world.save([&open, &archived].map(|department| Write::put(&Row::new(department.clone()))).to_vec()).await;
    world.save(vec![Write::put(&Row::new(attribute.clone())), joins(member.clone())]).await;
    let holds = async |require: Require| {
        let write = Write::put(&Row::new(make.department()));
        let change = ChangeSet { requires: vec![require], ..make.change(vec![write]) };
        let commit_text = assert_check_equals_commit(&world, change).await;
        assert!(commit_text == "Ok(())" || commit_text == format!("Err(Broken({require:?}))"), "{commit_text}");
        commit_text == "Ok(())"
    };
    assert!(
        holds(Require::open::<Department>(open.id)).await
            && !holds(Require::open::<Department>(archived.id)).await
    );
    assert!(
        holds(Require::open::<Attribute>(attribute.id)).await
            && !holds(Require::open::<Attribute>(make.id())).await
    );
    assert!(
        !holds(Require::DepartmentVacant(open.id)).await && holds(Require::DepartmentVacant(archived.id)).await
    );
    assert!(holds(unchanged_employee).await && !holds(Require::has_version::<Employee>(member.id, LATER)).await);
    assert!(!holds(Require::rows_below::<Subscription>(2)).await, "the organization does not exist");
    world.save(vec![Write::put(&Row::new(organization)), Write::put(&Row::new(make.subscription()))]).await;
    assert!(
        holds(Require::rows_below::<Subscription>(2)).await
            && !holds(Require::rows_below::<Subscription>(1)).await
    );
    let keys = ValidKeys { holder: None, session: None, at: world.make.tick() };
    world.save(vec![Write::put(&Row::new(ApiKey { session_id: None, ..make.api_key() }))]).await;
    assert!(holds(Require::KeysBelow(keys, 2)).await && !holds(Require::KeysBelow(keys, 1)).await);
    let failing_requirements = [Require::open::<Department>(archived.id), Require::open::<Department>(make.id())];
    let change = ChangeSet {
        requires: [vec![unchanged_employee], failing_requirements.to_vec()].concat(),
        ..make.change(vec![])
    };
    assert_eq!(
        assert_check_equals_commit(&world, change).await,
        format!("Err(Broken({:?}))", failing_requirements[0]),
        "the first broken requirement is named"
    );
}

async fn reporting_tree_is_checked_like_the_commit(world: CaseContext) {
    let (boss, one) = (world.hire().await, world.hire().await);
    let move_with = |seen: Version, tree: Option<Version>| {
        let state = Employee { manager_id: Some(boss.id), ..one.clone() };
        vec![Write::employee(&Row::at_version(state, seen), Some(ReportingLineChange { seen: tree }))]
    };
    let tree = world.tree().await;
    expect(&world, move_with(Version::FIRST, Some(tree.next())), "Err(Stale)").await;
    expect(&world, move_with(LATER, Some(tree)), "Err(Stale)").await;
    expect(&world, move_with(Version::FIRST, Some(tree)), "Ok(())").await;
    expect(&world, move_with(Version::FIRST.next(), Some(tree)), "Err(Stale)").await;
    expect(&world, move_with(Version::FIRST.next(), Some(tree.next())), "Ok(())").await;
    expect(&world, move_with(Version(3), None), "Ok(())").await;
    expect(&world, vec![joins(Employee { manager_id: Some(boss.id), ..world.make.employee() })], "Ok(())").await;
}

async fn conversation_and_webhook_are_checked_like_the_commit(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let talk = make.conversation(vec![world.hire().await.id, world.hire().await.id]);
    let archived_talk =
        Conversation { archived_at: Some(make.tick()), ..make.conversation(talk.participant_ids.clone()) };
    let webhook: Subscription = make.subscription();
    world.save([&talk, &archived_talk].map(|talk| Write::put(&Row::new(talk.clone()))).to_vec()).await;
    world.save(vec![Write::put(&Row::new(webhook.clone()))]).await;
    for (id, expected) in [(talk.id, "Ok(())"), (archived_talk.id, "Err(Stale)"), (make.id(), "Err(Stale)")] {
        expect(&world, vec![Write::MessageAdded(id, make.tick())], expected).await;
    }
    for (version, expected) in [(LATER, "Err(Stale)"), (Version::FIRST, "Ok(())"), (Version::FIRST, "Err(Stale)")]
    {
        expect(&world, vec![Write::WebhookRemoved(webhook.id, version)], expected).await;
    }
    expect(&world, vec![Write::NotificationsRead(talk.participant_ids[0], make.tick())], "Ok(())").await;
}

async fn one_stale_row_among_many_is_found(world: CaseContext) {
    let people: Vec<_> = (0..MANY).map(|_| world.make.employee()).collect();
    expect(&world, people.iter().cloned().map(joins).collect(), "Ok(())").await;
    let rows = |stale: Option<usize>| {
        let version_of = |at| if Some(at) == stale { LATER } else { Version::FIRST };
        let changed_people = people.iter().enumerate();
        changed_people
            .map(|(at, person)| Write::employee(&Row::at_version(person.clone(), version_of(at)), None))
            .collect::<Vec<_>>()
    };
    for stale in [0, MANY / 2, MANY - 1] {
        expect(&world, rows(Some(stale)), "Err(Stale)").await;
    }
    expect(&world, rows(None), "Ok(())").await;
}

async fn check_sees_only_rows_of_its_tenant(world: CaseContext) {
    let person = world.hire().await;
    for other in [world.in_other_tenant(), world.test_environment()] {
        expect(
            &other,
            vec![Write::employee(&Row::at_version(person.clone(), Version::FIRST), None)],
            "Err(Stale)",
        )
        .await;
        expect(&other, vec![joins(person.clone())], "Ok(())").await;
    }
    // Keys belong to the organization: a check from its test data set sees them, too.
    let key = world.make.api_key();
    world.save(vec![Write::put(&Row::new(key.clone()))]).await;
    let other = world.test_environment();
    let writes =
        [Write::put(&Row::at_version(key, Version::FIRST)), Write::put(&Row::new(world.make.department()))];
    let change = world.make.change(writes.to_vec());
    let check_result = other.store.check(other.tenant, &change).await;
    assert!(check_result.is_ok(), "{check_result:?}");
}

async fn check_saves_nothing(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let person = make.employee();
    let change = ChangeSet {
        events: vec![make.event(EventType::EmployeeCreated)],
        notices: vec![make.notification(person.id)],
        replay: Some(make.replay("once")),
        ..make.change(vec![joins(person.clone())])
    };
    for _ in 0..2 {
        let check_result = store.check(*tenant, &change).await;
        assert!(check_result.is_ok(), "{check_result:?}");
    }
    assert_eq!(store.row::<Employee>(*tenant, person.id).await.unwrap(), None);
    assert_eq!(world.events().await, []);
    let replay = make.replay("once");
    assert_eq!(store.replay(*tenant, &replay.key, replay.created_at).await.unwrap(), None);
}

async fn check_ignores_stored_responses(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let change = || ChangeSet { replay: Some(make.replay("used")), ..make.change(vec![joins(make.employee())]) };
    world.commit(change()).await.unwrap();
    assert_eq!(format!("{:?}", world.commit(change()).await), "Err(Replayed)");
    let check_result = store.check(*tenant, &change()).await;
    assert!(check_result.is_ok(), "{check_result:?}");
}

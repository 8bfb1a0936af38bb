//! Concurrent retries with one idempotency key take effect once (decision B2).

use candor_domain::catalog::Department;
use candor_domain::event::EventType;
use candor_domain::idempotency::{RETENTION_SECONDS, Replay};
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, CommitError, Require, Row, StorageExt, StoredReplay, Version, Write};

use crate::Case;
use crate::fixtures::joins;
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(thirty_concurrent_retries_have_one_effect),
        Case::new(replay_is_reported_before_any_other_conflict),
        Case::new(replay_is_stored_until_expiry),
        Case::new(expired_replay_is_replaced),
        Case::new(idempotency_key_belongs_to_one_tenant),
        Case::new(replay_without_changes_is_stored),
    ]
}

fn with_replay(world: &CaseContext, write: Write, replay: &Replay) -> ChangeSet {
    let events = vec![world.make.event(EventType::EmployeeCreated)];
    ChangeSet { events, replay: Some(replay.clone()), ..world.make.change(vec![write]) }
}

fn stored_replay(replay: &Replay) -> StoredReplay {
    StoredReplay { fingerprint: replay.fingerprint, status: replay.status, sealed: replay.sealed.clone() }
}

fn just_before(at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.millis() - 1)
}

async fn thirty_concurrent_retries_have_one_effect(world: CaseContext) {
    for round in 0..3 {
        let key = format!("key-{round}");
        let twins: Vec<_> = (0..30).map(|_| (world.make.employee(), world.make.replay(&key))).collect();
        let tasks = twins.clone().into_iter().map(|(person, replay)| {
            let (world, change) = (world.clone(), with_replay(&world, joins(person), &replay));
            async move { world.commit(change).await }
        });
        let results = at_once(tasks).await;
        let winners: Vec<_> = (0..30).filter(|number| results[*number].is_ok()).collect();
        assert_eq!(winners.len(), 1, "{results:?}");
        assert!(results.iter().all(|result| matches!(result, Ok(()) | Err(CommitError::Replayed))), "{results:?}");
        let ids: Vec<_> = twins.iter().map(|(person, _)| person.id).collect();
        let people_rows = world.store.rows::<Employee>(world.tenant, &ids).await.unwrap();
        let (person, replay) = &twins[winners[0]];
        assert_eq!(people_rows.into_iter().map(|row| row.value).collect::<Vec<_>>(), std::slice::from_ref(person));
        let replay_row = world.store.replay(world.tenant, &replay.key, replay.created_at).await.unwrap();
        assert_eq!(replay_row, Some(stored_replay(replay)));
    }
    assert_eq!(world.events().await.len(), 3, "one event for each effect");
}

/// A replay is reported before other conflicts. Otherwise a client that retries after a lost response would
/// conflict with its own first attempt.
async fn replay_is_reported_before_any_other_conflict(world: CaseContext) {
    let person = Employee { external_id: Some("one".to_owned()), ..world.make.employee() };
    let (joined, updated) = (world.make.replay("joined"), world.make.replay("updated"));
    world.commit(with_replay(&world, joins(person.clone()), &joined)).await.unwrap();
    let department = world.make.department();
    let archived_department =
        candor_domain::catalog::Department { archived_at: Some(world.make.tick()), ..department.clone() };
    world.save(vec![Write::put(&Row::new(archived_department))]).await;
    let change = Write::employee(&Row::at_version(person.clone(), Version::FIRST), None);
    world.commit(with_replay(&world, change.clone(), &updated)).await.unwrap();

    let same_address = Employee { id: world.make.id(), ..person.clone() };
    let failing_change = ChangeSet {
        requires: vec![Require::open::<Department>(department.id)],
        ..with_replay(&world, joins(world.make.employee()), &joined)
    };
    let homeless = Employee { department_id: Some(world.make.id()), ..world.make.employee() };
    let twins = [
        ("the address is taken", with_replay(&world, joins(same_address), &joined)),
        ("the id is taken", with_replay(&world, joins(person), &joined)),
        ("a requirement is broken", failing_change),
        ("a reference is missing", with_replay(&world, joins(homeless), &joined)),
        ("the row has changed", with_replay(&world, change, &updated)),
    ];
    for (what, twin) in twins {
        let result = world.commit(twin).await;
        assert!(matches!(result, Err(CommitError::Replayed)), "{what}: {result:?}");
    }
    // Concurrent retries: their check of the key may run before the winner commits.
    for round in 0..5 {
        let person = world.make.employee();
        let replay = world.make.replay(&format!("round-{round}"));
        let tasks = (0..10).map(|_| {
            let twin = Employee { id: world.make.id(), ..person.clone() };
            let (world, change) = (world.clone(), with_replay(&world, joins(twin), &replay));
            async move { world.commit(change).await }
        });
        let results = at_once(tasks).await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
        assert!(results.iter().all(|result| matches!(result, Ok(()) | Err(CommitError::Replayed))), "{results:?}");
    }
}

async fn replay_is_stored_until_expiry(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let replay = Replay { sealed: (0..=255).collect(), ..make.replay(&"~".repeat(255)) };
    world.commit(with_replay(&world, joins(make.employee()), &replay)).await.unwrap();
    let end = replay.created_at.plus_seconds(RETENTION_SECONDS);
    for (now, wanted) in [
        (replay.created_at, Some(stored_replay(&replay))),
        (just_before(end), Some(stored_replay(&replay))),
        (end, None),
    ] {
        assert_eq!(store.replay(*tenant, &replay.key, now).await.unwrap(), wanted, "{now}");
    }
    let other = make.replay("other");
    assert_eq!(store.replay(*tenant, &other.key, other.created_at).await.unwrap(), None);
}

async fn expired_replay_is_replaced(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let first = make.replay("again");
    world.commit(with_replay(&world, joins(make.employee()), &first)).await.unwrap();
    let end = first.expires_at();
    let early = Replay { created_at: just_before(end), ..make.replay("again") };
    let result = world.commit(with_replay(&world, joins(make.employee()), &early)).await;
    assert!(matches!(result, Err(CommitError::Replayed)), "{result:?}");

    let twins: Vec<_> = (0..10).map(|_| Replay { created_at: end, ..make.replay("again") }).collect();
    let tasks = twins.clone().into_iter().map(|replay| {
        let (world, change) = (world.clone(), with_replay(&world, joins(make.employee()), &replay));
        async move { world.commit(change).await }
    });
    let results = at_once(tasks).await;
    let winners: Vec<_> = (0..10).filter(|number| results[*number].is_ok()).collect();
    assert_eq!(winners.len(), 1, "an expired key is used anew once: {results:?}");
    assert!(results.iter().all(|result| matches!(result, Ok(()) | Err(CommitError::Replayed))), "{results:?}");
    let replay_row = store.replay(*tenant, &first.key, end).await.unwrap();
    assert_eq!(replay_row, Some(stored_replay(&twins[winners[0]])));
}

async fn replay_without_changes_is_stored(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let twins: Vec<_> = (0..10).map(|_| make.replay("nothing")).collect();
    let tasks = twins.clone().into_iter().map(|replay| {
        let world = world.clone();
        async move { world.store.keep(world.tenant, replay).await.unwrap() }
    });
    let keep_results = at_once(tasks).await;
    let winners: Vec<_> = (0..10).filter(|number| keep_results[*number]).collect();
    assert_eq!(winners.len(), 1, "{keep_results:?}");
    let first = &twins[winners[0]];
    assert_eq!(store.replay(*tenant, &first.key, first.created_at).await.unwrap(), Some(stored_replay(first)));

    let result = world.commit(with_replay(&world, joins(make.employee()), &make.replay("nothing"))).await;
    assert!(matches!(result, Err(CommitError::Replayed)), "a key stands for one request: {result:?}");
    let used_replay = make.replay("something");
    world.commit(with_replay(&world, joins(make.employee()), &used_replay)).await.unwrap();
    assert!(!store.keep(*tenant, make.replay("something")).await.unwrap());
    assert_eq!(
        store.replay(*tenant, &used_replay.key, used_replay.created_at).await.unwrap(),
        Some(stored_replay(&used_replay))
    );

    let end = first.expires_at();
    let early = Replay { created_at: just_before(end), ..make.replay("nothing") };
    assert!(!store.keep(*tenant, early).await.unwrap());
    let new_replay = Replay { created_at: end, ..make.replay("nothing") };
    assert!(store.keep(*tenant, new_replay.clone()).await.unwrap());
    assert_eq!(store.replay(*tenant, &new_replay.key, end).await.unwrap(), Some(stored_replay(&new_replay)));
    let elsewhere = world.in_other_tenant();
    assert!(elsewhere.store.keep(elsewhere.tenant, make.replay("nothing")).await.unwrap());
}

async fn idempotency_key_belongs_to_one_tenant(world: CaseContext) {
    let replay = world.make.replay("shared");
    for it in [world.clone(), world.in_other_tenant(), world.test_environment()] {
        let now = replay.created_at;
        assert_eq!(it.store.replay(it.tenant, &replay.key, now).await.unwrap(), None);
        it.commit(with_replay(&it, joins(it.make.employee()), &replay)).await.unwrap();
        assert_eq!(it.store.replay(it.tenant, &replay.key, now).await.unwrap(), Some(stored_replay(&replay)));
    }
}

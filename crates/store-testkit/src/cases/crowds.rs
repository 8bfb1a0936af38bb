//! Concurrent change sets that a store may combine into one transaction: each is saved or refused on its own.

use std::collections::BTreeSet;

use candor_domain::catalog::Attribute;
use candor_domain::event::{Event, EventType};
use candor_domain::idempotency::Replay;
use candor_domain::observation::Observation;
use candor_port_storage::queue::Lease;
use candor_port_storage::{ChangeSet, CommitError, Require, Row, StorageExt, Unique, Version, Write};

use crate::Case;
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(failing_change_sets_in_a_group_leave_valid_ones_saved),
        Case::new(concurrent_retries_in_a_group_have_one_effect),
        Case::new(leases_in_a_group_return_only_their_own_deliveries),
    ]
}

/// Creates a change set that writes an observation like the service does.
fn write_observation(world: &CaseContext, observation: &Observation, replay: Replay) -> ChangeSet {
    ChangeSet {
        requires: observation
            .attribute_ids
            .iter()
            .map(|attribute_id| Require::open::<Attribute>(*attribute_id))
            .collect(),
        events: vec![world.make.event(EventType::ObservationCreated)],
        replay: Some(replay),
        ..world.make.change(vec![Write::put(&Row::new(observation.clone()))])
    }
}

async fn commit_all(world: &CaseContext, all: &[ChangeSet]) -> Vec<Result<(), CommitError>> {
    let tasks = all.iter().cloned().map(|change| {
        let world = world.clone();
        async move { world.commit(change).await }
    });
    at_once(tasks).await
}

/// Returns `true` if an observation is stored, and checks that its event and its replay are there
/// exactly then.
async fn is_stored(world: &CaseContext, observation: &Observation, change: &ChangeSet, events: &[Event]) -> bool {
    let replay = change.replay.as_ref().unwrap();
    let replay_row = world.store.replay(world.tenant, &replay.key, replay.created_at).await.unwrap();
    let observation_row = world.store.row::<Observation>(world.tenant, observation.id).await.unwrap();
    assert_eq!(
        observation_row.is_some(),
        replay_row.is_some_and(|reply| reply.sealed == replay.sealed),
        "with its replay"
    );
    assert_eq!(observation_row.is_some(), events.contains(&change.events[0]), "with its event");
    observation_row.is_some_and(|row| row.value == *observation && row.version == Version::FIRST)
}

/// Mixes failing change sets into each group of ten: one requires an archived attribute, one is about an unknown
/// person, one has a taken id.
async fn failing_change_sets_in_a_group_leave_valid_ones_saved(world: CaseContext) {
    let (person, make) = (world.hire().await, &world.make);
    let existing_observation = world.observe(person.id).await;
    let (open, archived) = (make.attribute(), make.attribute());
    let archived_attribute = Attribute { archived_at: Some(make.tick()), ..archived };
    world
        .save([&open, &archived_attribute].map(|attribute| Write::put(&Row::new(attribute.clone()))).to_vec())
        .await;
    let observations: Vec<_> = (0..60)
        .map(|number| {
            let it = make.observation(person.id);
            match number % 10 {
                2 => Observation { attribute_ids: vec![open.id, archived_attribute.id], ..it },
                5 => Observation { employee_id: make.id(), ..it },
                8 => Observation { id: existing_observation.id, ..it },
                _ => Observation { attribute_ids: vec![open.id], ..it },
            }
        })
        .collect();
    let changes: Vec<_> = (0..)
        .zip(&observations)
        .map(|(number, observation): (u32, _)| {
            write_observation(&world, observation, make.replay(&format!("crowd-{number}")))
        })
        .collect();
    let results = commit_all(&world, &changes).await;
    let events = world.events().await;
    for (number, result) in results.into_iter().enumerate() {
        let right = match number % 10 {
            2 => {
                matches!(result, Err(CommitError::Broken(it)) if it == Require::open::<Attribute>(archived_attribute.id))
            }
            5 => matches!(result, Err(CommitError::Missing)),
            8 => matches!(result, Err(CommitError::Taken(Unique::Id))),
            _ => result.is_ok(),
        };
        assert!(right, "no. {number}: {result:?}");
        if number % 10 != 8 {
            let is_stored = is_stored(&world, &observations[number], &changes[number], &events).await;
            assert_eq!(is_stored, result.is_ok(), "no. {number}");
        }
    }
}

/// Commits retries of three requests among other change sets, all at once and in a new order in each round.
async fn concurrent_retries_in_a_group_have_one_effect(world: CaseContext) {
    let (person, make) = (world.hire().await, &world.make);
    for round in 0..5 {
        let keys: Vec<_> = (0..30)
            .flat_map(|number| [format!("twin-{round}-{}", number % 3), format!("single-{round}-{number}")])
            .collect();
        let mut crowd: Vec<_> = keys.iter().map(|key| (key, make.observation(person.id))).collect();
        crowd.sort_by_cached_key(|_| world.random.number_below(1000));
        let changes: Vec<_> = crowd
            .iter()
            .map(|(key, observation)| write_observation(&world, observation, make.replay(key)))
            .collect();
        let results = commit_all(&world, &changes).await;
        let events = world.events().await;
        for key in keys.iter().collect::<BTreeSet<_>>() {
            let twins: Vec<_> = (0..crowd.len()).filter(|index| crowd[*index].0 == key).collect();
            assert_eq!(twins.iter().filter(|index| results[**index].is_ok()).count(), 1, "{key}");
            for it in twins {
                let is_stored = is_stored(&world, &crowd[it].1, &changes[it], &events).await;
                assert!(matches!(results[it], Ok(()) | Err(CommitError::Replayed)), "{key}: {:?}", results[it]);
                assert_eq!(is_stored, results[it].is_ok(), "{key}");
            }
        }
    }
}

/// Commits change sets of which every second one has a lease. Each must get exactly the deliveries of its own
/// events.
async fn leases_in_a_group_return_only_their_own_deliveries(world: CaseContext) {
    let (person, make) = (world.hire().await, &world.make);
    let subscriptions = [make.subscription(), make.subscription_to(&[EventType::ObservationCreated])];
    world
        .save(subscriptions.each_ref().map(|subscription| Write::put(&Row::new(subscription.clone()))).to_vec())
        .await;
    let worker = make.worker();
    let changes: Vec<_> = (0..40_i64)
        .map(|number| {
            let lease = Lease { worker, until: make.tick().plus_seconds(30 + number) };
            let replay = make.replay(&format!("leased-{number}"));
            let lease = (number % 2 == 0).then_some(lease);
            ChangeSet { lease, ..write_observation(&world, &make.observation(person.id), replay) }
        })
        .collect();
    let tasks = changes.iter().cloned().map(|change| {
        let world = world.clone();
        async move { world.commit_for_result(change).await }
    });
    for (change, committed) in changes.iter().zip(at_once(tasks).await) {
        let mut leased_jobs = committed.unwrap().leased;
        leased_jobs.sort_unstable();
        let mut expected_jobs: Vec<_> =
            subscriptions.iter().map(|subscription| (subscription.id, change.events[0].id)).collect();
        expected_jobs.sort_unstable();
        assert_eq!(leased_jobs, if change.lease.is_some() { expected_jobs } else { vec![] });
    }
}

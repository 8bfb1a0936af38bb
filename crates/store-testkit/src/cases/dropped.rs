//! Dropping the future of a commit either completes the commit or cancels it, and leaves no transaction or lock
//! open.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use candor_domain::audit;
use candor_domain::event::EventType;
use candor_domain::idempotency::Replay;
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::people::Employee;
use candor_port_storage::{ChangeSet, Row, StorageExt, Version, Write};
use candor_tables::rows;

use crate::Case;
use crate::fixtures::joins;
use crate::world::{CaseContext, at_once, eventually};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(dropped_commit_is_complete_or_absent),
        Case::new(dropped_commit_leaves_no_lock),
        Case::new(dropped_reads_do_not_disturb_running_ones),
    ]
}

/// Polls a future at most `polls` times, then drops it. Returns `true` if the future completed.
async fn dropped_after<F: Future>(polls: usize, future: F) -> bool {
    let mut future = pin!(future);
    for _ in 0..polls {
        let is_ready = poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_ready())).await;
        if is_ready {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

async fn dropped_commit_is_complete_or_absent(world: CaseContext) {
    let attempts: Vec<(Employee, Replay)> =
        (0..60).map(|number| (world.make.employee(), world.make.replay(&format!("dropped-{number}")))).collect();
    let tasks = attempts.clone().into_iter().enumerate().map(|(number, (person, replay))| {
        let world = world.clone();
        async move {
            let change = ChangeSet {
                events: vec![world.make.event(EventType::EmployeeCreated)],
                audit: world.make.audit("test.dropped", &person.id.to_string()),
                replay: Some(replay),
                ..world.make.change(vec![joins(person)])
            };
            dropped_after(number % 6, world.commit(change)).await
        }
    });
    let ready_flags = at_once(tasks).await;
    // The dropped commits must leave no open or failed transaction on the pooled connections that these commits
    // reuse.
    let others = (0..30).map(|_| {
        let world = world.clone();
        async move { world.hire().await }
    });
    at_once(others).await;
    for (number, (person, replay)) in attempts.iter().enumerate() {
        eventually("a dropped commit is whole", || is_whole(&world, person, replay)).await;
        if ready_flags[number] {
            assert!(
                world.store.row::<Employee>(world.tenant, person.id).await.unwrap().is_some(),
                "the commit returned"
            );
        }
    }
    let ids: Vec<_> = attempts.iter().map(|attempt| attempt.0.id).collect();
    eventually("there is one event for each executed commit", || async {
        let events = world.events().await.len();
        events == world.store.rows::<Employee>(world.tenant, &ids).await.unwrap().len()
    })
    .await;
}

/// Returns `true` if all parts of a change are stored, or none.
async fn is_whole(world: &CaseContext, person: &Employee, replay: &Replay) -> bool {
    let CaseContext { store, tenant, .. } = world;
    let filter = audit::Filter { target_id: Some(person.id.to_string()), ..Default::default() };
    let page = PageRequest { limit: 2, after: None };
    // Reads in the reverse order of writing. A commit between two reads then shows as a difference.
    let log = store
        .page(*tenant, rows::audit::list(&filter, Sort::descending_by(SortBy::OccurredAt), &page))
        .await
        .unwrap();
    let replay_row = store.replay(*tenant, &replay.key, replay.created_at).await.unwrap();
    let row = store.row::<Employee>(*tenant, person.id).await.unwrap();
    [row.is_some(), replay_row.is_some()] == [!log.items.is_empty(); 2]
}

async fn dropped_commit_leaves_no_lock(world: CaseContext) {
    let mut people = Vec::new();
    for _ in 0..12 {
        people.push(world.hire().await);
    }
    for round in 0..4 {
        let tasks = people.clone().into_iter().enumerate().map(|(number, person)| {
            let world = world.clone();
            async move {
                let employee_row = world.employee(person.id).await;
                let state = Employee { first_name: format!("Dropped{round}"), ..employee_row.value };
                let write = Write::employee(&Row::at_version(state, employee_row.version), None);
                dropped_after((number + round) % 5, world.try_save(write)).await;
            }
        });
        at_once(tasks).await;
        // The dropped commit may still complete, but must not block the next writer of the row.
        for person in &people {
            let person = person.id;
            eventually("the row can be written", || async {
                let employee_row = world.employee(person).await;
                let state = Employee { first_name: "After".to_owned(), ..employee_row.value };
                world.try_save(Write::employee(&Row::at_version(state, employee_row.version), None)).await.is_ok()
            })
            .await;
        }
    }
    assert!(world.employee(people[0].id).await.version > Version(4));
}

async fn dropped_reads_do_not_disturb_running_ones(world: CaseContext) {
    let person = world.hire().await;
    let tasks = (0..80).map(|number| {
        let world = world.clone();
        async move {
            dropped_after(number % 4, world.store.row::<Employee>(world.tenant, person.id)).await;
            dropped_after(number % 4, world.events()).await;
        }
    });
    at_once(tasks).await;
    let others = (0..20).map(|_| {
        let world = world.clone();
        async move { world.employee(person.id).await.value }
    });
    for found in at_once(others).await {
        assert_eq!(found.id, person.id);
    }
}

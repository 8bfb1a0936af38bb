//! Group commits: several change sets in one transaction.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use candor_domain::event::EventType;
use candor_domain::people::Employee;
use candor_port_storage::{CommitError, Row, Storage, StorageError, StorageExt, Unique, Write};
use candor_store_testkit::Fixtures;
use futures_util::FutureExt;
use futures_util::future::join_all;

use super::in_memory;
use crate::SqliteStore;
use crate::connection::writer;
use crate::sql::{Db, Sql};

/// Blocks the writer until the sender is dropped, so that the following tasks form one group. Returns when the
/// writer is blocked: a group that the writer had not begun would also contain the following tasks.
fn hold(store: &SqliteStore) -> Sender<()> {
    let (release, held) = channel::<()>();
    let (begin, begun) = channel();
    let work = move |_: &mut Db| -> Result<(), StorageError> {
        begin.send(()).map_err(|error| StorageError::Failed(error.to_string()))?;
        let _ = held.recv();
        Ok(())
    };
    // The first poll only queues the task.
    assert!(writer::ask(&store.tasks, None, work).now_or_never().is_none());
    begun.recv().unwrap();
    release
}

fn new(person: &Employee) -> Write {
    Write::employee(&Row::new(person.clone()), None)
}

#[tokio::test]
async fn failing_change_in_a_group_rolls_back_alone() {
    let (store, make) = (in_memory(), Fixtures::new(1));
    let tenant = make.tenant();
    let [first, second, third] = [(); 3].map(|()| make.employee());
    let twin = Employee { email: first.email.clone(), ..make.employee() };
    let writer_hold = hold(&store);
    let sets = [
        vec![new(&first)],
        // The second change set fails after its first write.
        vec![new(&second), new(&twin)],
        vec![new(&third)],
    ];
    let commits = join_all(sets.map(|writes| store.commit(tenant, make.change(writes))));
    let (results, ()) = tokio::join!(commits, async { drop(writer_hold) });
    assert!(results[0].is_ok() && results[2].is_ok());
    assert!(matches!(results[1], Err(CommitError::Taken(Unique::EmployeeEmail))), "{:?}", results[1]);
    let people_rows = store.rows::<Employee>(tenant, &[first.id, second.id, third.id, twin.id]).await.unwrap();
    let mut people: Vec<_> = people_rows.into_iter().map(|row| row.value).collect();
    people.sort_by_key(|row| row.id);
    assert_eq!(people, [first, third]);
    let count = Sql::new("SELECT count(*) FROM search_pending");
    let index_count =
        writer::ask(&store.tasks, None, |db: &mut Db| -> Result<i64, StorageError> { db.number(count) }).await;
    assert_eq!(index_count.unwrap(), 2, "a row that was rolled back does not wait for the full-text index");
}

#[tokio::test]
async fn panicking_task_rolls_back_alone_and_the_writer_continues() {
    let (store, make) = (in_memory(), Fixtures::new(2));
    let tenant = make.tenant();
    let (before, after) = (make.employee(), make.employee());
    let writer_hold = hold(&store);
    let bad = writer::ask(&store.tasks, None, |db: &mut Db| -> Result<(), StorageError> {
        db.execute(&Sql::new("DELETE FROM employees")).unwrap();
        panic!("a defect")
    });
    let first = store.commit(tenant, make.change(vec![new(&before)]));
    let last = store.commit(tenant, make.change(vec![new(&after)]));
    let (first, bad, last, ()) = tokio::join!(first, bad, last, async { drop(writer_hold) });
    assert!(first.is_ok() && last.is_ok());
    assert!(matches!(bad, Err(StorageError::Failed(_))), "{bad:?}");
    assert_eq!(store.rows::<Employee>(tenant, &[before.id, after.id]).await.unwrap().len(), 2);
}

#[tokio::test]
async fn lost_transaction_is_not_reported_as_saved() {
    let (store, make) = (in_memory(), Fixtures::new(3));
    let tenant = make.tenant();
    let (lost, next) = (make.employee(), make.employee());
    let writer_hold = hold(&store);
    let commit_future = store.commit(tenant, make.change(vec![new(&lost)]));
    // The task rolls back the group's transaction, as SQLite itself does when the disk is full.
    let rollback = writer::ask(&store.tasks, None, |db: &mut Db| -> Result<(), StorageError> {
        db.execute(&Sql::new("ROLLBACK")).map(drop).map_err(|error| StorageError::Failed(error.to_string()))
    });
    let (commit_future, rollback, ()) = tokio::join!(commit_future, rollback, async { drop(writer_hold) });
    assert!(matches!(commit_future, Err(CommitError::Storage(StorageError::Unavailable(_)))), "{commit_future:?}");
    assert!(matches!(rollback, Err(StorageError::Unavailable(_))), "{rollback:?}");
    assert_eq!(store.row::<Employee>(tenant, lost.id).await.unwrap(), None);
    store.commit(tenant, make.change(vec![new(&next)])).await.unwrap();
    assert!(store.row::<Employee>(tenant, next.id).await.unwrap().is_some());
}

#[tokio::test]
async fn commit_with_a_dropped_caller_is_carried_out() {
    let (store, make) = (in_memory(), Fixtures::new(4));
    let tenant = make.tenant();
    let (dropped, next) = (make.employee(), make.employee());
    let writer_hold = hold(&store);
    assert!(store.commit(tenant, make.change(vec![new(&dropped)])).now_or_never().is_none());
    drop(writer_hold);
    store.commit(tenant, make.change(vec![new(&next)])).await.unwrap();
    assert_eq!(store.row::<Employee>(tenant, dropped.id).await.unwrap().map(|row| row.value), Some(dropped));
}

#[tokio::test]
async fn closing_store_finishes_waiting_commits() {
    let folder = tempfile::tempdir().unwrap();
    let options = crate::SqliteOptions::file(folder.path().join("candor.db"));
    let make = Fixtures::new(5);
    let (tenant, person) = (make.tenant(), make.employee());
    let store = SqliteStore::open(&options).unwrap();
    let writer_hold = hold(&store);
    assert!(store.commit(tenant, make.change(vec![new(&person)])).now_or_never().is_none());
    drop(writer_hold);
    drop(store);
    let store = Arc::new(SqliteStore::open(&options).unwrap());
    assert_eq!(store.row::<Employee>(tenant, person.id).await.unwrap().map(|row| row.value), Some(person));
}

/// Asserts that a short change set runs before a long one that was queued first. Both save the same email, so the
/// long one fails.
async fn assert_long_change_runs_last(number: u64, writes: usize, events: usize) {
    let (store, make) = (in_memory(), Fixtures::new(number));
    let (tenant, person) = (make.tenant(), make.employee());
    let twin = Employee { email: person.email.clone(), ..make.employee() };
    let many: Vec<_> = (1..writes).map(|_| make.employee()).chain([twin]).map(|person| new(&person)).collect();
    let mut change = make.change(many);
    change.events = (0..events).map(|_| make.event(EventType::EmployeeCreated)).collect();
    let writer_hold = hold(&store);
    let long = store.commit(tenant, change);
    let short = store.commit(tenant, make.change(vec![new(&person)]));
    let (long, short, ()) = tokio::join!(long, short, async { drop(writer_hold) });
    assert!(short.is_ok(), "{short:?}");
    assert!(matches!(long, Err(CommitError::Taken(Unique::EmployeeEmail))), "{long:?}");
    assert_eq!(store.row::<Employee>(tenant, person.id).await.unwrap().map(|row| row.value), Some(person));
    store.commit(tenant, make.change(vec![new(&make.employee())])).await.unwrap();
}

#[tokio::test]
async fn commit_of_many_rows_runs_after_waiting_ones() {
    assert_long_change_runs_last(6, 21, 0).await;
}

#[tokio::test]
async fn commit_of_many_events_runs_after_waiting_ones() {
    assert_long_change_runs_last(7, 1, 5).await;
}

#[tokio::test]
async fn task_of_another_tenant_goes_before_the_rest_of_many() {
    let (store, make) = (in_memory(), Fixtures::new(8));
    let (busy, quiet) = (make.tenant(), make.tenant());
    let (order, ended) = channel();
    let note = |name: &'static str| {
        let order = order.clone();
        move |_: &mut Db| -> Result<(), StorageError> {
            order.send(name).map_err(|error| StorageError::Failed(error.to_string()))
        }
    };
    let writer_hold = hold(&store);
    let many = join_all(["first", "second", "third"].map(|name| writer::ask(&store.tasks, busy, note(name))));
    let one = writer::ask(&store.tasks, quiet, note("other"));
    let (many, one, ()) = tokio::join!(many, one, async { drop(writer_hold) });
    assert!(one.is_ok() && many.iter().all(Result::is_ok));
    assert_eq!(ended.try_iter().collect::<Vec<_>>(), ["first", "other", "second", "third"]);
}

#[tokio::test]
async fn group_ends_after_its_time_and_its_rest_follows() {
    let store = in_memory();
    let writer_hold = hold(&store);
    let (tell, told) = channel();
    let takes_long = writer::ask(&store.tasks, None, |_: &mut Db| -> Result<(), StorageError> {
        let start = Instant::now();
        while start.elapsed() < writer::GROUP_TIME {
            std::hint::spin_loop();
        }
        Ok(())
    });
    // This task waits for a message that the caller of the first task sends after the commit of its group. In one
    // group, both would wait forever.
    let waits = writer::ask(&store.tasks, None, move |_: &mut Db| -> Result<(), StorageError> {
        told.recv_timeout(Duration::from_secs(60)).map_err(|error| StorageError::Failed(error.to_string()))
    });
    let first = async {
        takes_long.await.unwrap();
        tell.send(()).unwrap();
    };
    let ((), waits, ()) = tokio::join!(first, waits, async { drop(writer_hold) });
    assert_eq!(waits.ok(), Some(()));
}

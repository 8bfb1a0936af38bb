//! The store that fails on demand does so, on top of any store.

use std::sync::Arc;

use candor_domain::people::Employee;
use candor_port_storage::store::{People, Storage, StorageError};
use candor_port_storage::{ChangeSet, CommitError};

use crate::fixtures::joins;
use crate::world::World;
use crate::{Call, Case, Fault, Faulty};

pub(crate) fn cases() -> Vec<Case> {
    vec![Case::new(a_fault_comes_before_or_after_the_call_as_arranged)]
}

fn hire(world: &World) -> (Employee, ChangeSet) {
    let person = world.make.employee();
    (person.clone(), world.make.change(vec![joins(person)]))
}

async fn a_fault_comes_before_or_after_the_call_as_arranged(world: World) {
    let faulty = Faulty::over(Arc::clone(&world.store));
    faulty.fail(Call::Commit, 2, Fault::Before);
    faulty.fail(Call::Commit, 3, Fault::After);
    let mut there = Vec::new();
    for _ in 0..4 {
        let (person, change) = hire(&world);
        let result = faulty.commit(world.tenant, change).await;
        let told = matches!(result, Err(CommitError::Storage(StorageError::Unavailable(_))));
        let kept = faulty.employee(world.tenant, person.id).await.unwrap();
        there.push((told, kept.is_some()));
    }
    // What the caller is told, and what is so.
    assert_eq!(there, [(false, true), (true, false), (true, true), (false, true)]);
    assert_eq!((faulty.calls(Call::Commit), faulty.calls(Call::Get), faulty.calls(Call::List)), (4, 4, 0));
    faulty.set_down(true);
    assert!(matches!(faulty.ping().await, Err(StorageError::Unavailable(_))));
    faulty.set_down(false);
    assert!(faulty.ping().await.is_ok());
    faulty.fail(Call::Get, 1, Fault::After);
    assert!(faulty.employee(world.tenant, world.make.id()).await.is_err());
    assert!(faulty.employee(world.tenant, world.make.id()).await.unwrap().is_none());
}

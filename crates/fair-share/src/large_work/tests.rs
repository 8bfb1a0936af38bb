use super::*;
use candor_domain::id::OrganizationId;
use futures_util::FutureExt;
use std::sync::mpsc;

fn tenant(number: u8) -> Tenant {
    Tenant::live(OrganizationId::from_bytes([number; 16]))
}

#[tokio::test]
async fn tenants_wait_in_turn_for_the_only_turn() {
    let (work, order) = (LargeWork::with_turns(1), Arc::new(Mutex::new(vec![])));
    let (begun, has_begun) = oneshot::channel();
    let (release, released) = mpsc::channel::<()>();
    let run = |owner: u8, piece: Box<dyn FnOnce() + Send>| {
        let work = work.clone();
        tokio::spawn(async move { work.run(tenant(owner), piece).await })
    };
    let first = Box::new(move || {
        let _ = begun.send(());
        let _ = released.recv();
    });
    let mut pieces = vec![run(1, first)];
    has_begun.await.unwrap();
    for (owner, number) in [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)] {
        let order = Arc::clone(&order);
        pieces.push(run(owner, Box::new(move || order.lock().unwrap().push((owner, number)))));
    }
    // The first poll of each task queues its piece.
    tokio::task::yield_now().await;
    drop(release);
    for piece in pieces {
        piece.await.unwrap().unwrap();
    }
    assert_eq!(*order.lock().unwrap(), [(1, 1), (2, 1), (1, 2), (2, 2), (1, 3)]);
}

#[tokio::test]
async fn work_in_pieces_gives_its_turn_back_after_each() {
    let (work, order) = (LargeWork::with_turns(1), Arc::new(Mutex::new(vec![])));
    let other_turn = work.turn(tenant(3)).await.unwrap();
    let divided_work = tokio::spawn({
        let (work, order) = (work.clone(), Arc::clone(&order));
        let pieces = move |progress: &mut dyn FnMut(usize)| {
            for number in 1..=6 {
                order.lock().unwrap().push((1, number));
                progress(5);
            }
        };
        async move { work.run_in_pieces(tenant(1), 10, pieces).await }
    });
    tokio::task::yield_now().await;
    let mut waiting: Vec<_> = (1..=3)
        .map(|number| {
            let (work, order) = (work.clone(), Arc::clone(&order));
            tokio::spawn(async move { work.run(tenant(2), move || order.lock().unwrap().push((2, number))).await })
        })
        .collect();
    // The first poll of each task queues its work.
    tokio::task::yield_now().await;
    drop(other_turn);
    waiting.push(divided_work);
    for task in waiting {
        task.await.unwrap().unwrap();
    }
    assert_eq!(*order.lock().unwrap(), [(1, 1), (1, 2), (2, 1), (1, 3), (1, 4), (2, 2), (1, 5), (1, 6), (2, 3)]);
    assert_eq!(work.lock().free, 1);
}

#[tokio::test]
async fn organization_gets_its_share_of_the_turns() {
    let work = LargeWork::with_share(4, 2);
    let mut turns = vec![work.turn(tenant(1)).await.unwrap(), work.turn(tenant(1)).await.unwrap()];
    let mut third = Box::pin(work.turn(tenant(1)));
    assert!((&mut third).now_or_never().is_none() && work.is_awaited());
    let others = [work.turn(tenant(2)).await.unwrap(), work.turn(tenant(3)).await.unwrap()];
    let mut late = Box::pin(work.turn(tenant(4)));
    assert!((&mut late).now_or_never().is_none(), "all are taken");
    drop(others);
    assert!(late.now_or_never().is_some_and(|turn| turn.is_ok()), "before the caller that came first");
    assert!((&mut third).now_or_never().is_none());
    assert!(work.turn(None).now_or_never().is_some(), "the service's own work has no share");
    drop(turns.pop());
    assert!(third.now_or_never().is_some());
    drop(turns);
    let state = work.lock();
    assert_eq!((state.free, state.held.len()), (4, 0));
}

#[tokio::test]
async fn organization_lets_half_of_the_data_wait() {
    const MIB: usize = 1024 * 1024;
    let work = LargeWork::with_turns(1);
    let turn = work.turn(tenant(1)).await.unwrap();
    let wait = |owner: u8, bytes: usize| {
        let mut future = Box::pin({
            let work = work.clone();
            async move { work.turn_with(tenant(owner), bytes).await.map(drop) }
        });
        match (&mut future).now_or_never() {
            None => Ok(future),
            Some(end) => Err(end.unwrap_err()),
        }
    };
    let waiting: Vec<_> = (0..20).filter_map(|_| wait(1, 8 * MIB).ok()).collect();
    assert_eq!(waiting.len(), 6, "half of 96 MiB");
    assert!(wait(1, 0).is_ok(), "work without data always waits");
    let others = [wait(2, 20 * MIB).unwrap(), wait(3, 100 * MIB).unwrap()];
    assert!(wait(2, 8 * MIB).is_err(), "nothing is free");
    drop(others);
    drop(waiting);
    assert!(work.lock().waiting_bytes_by_owner.is_empty(), "who has gone lets nothing wait");
    let one_wrong_estimate = wait(4, 500 * MIB).unwrap();
    let both = [wait(5, 8 * MIB).unwrap(), wait(5, 8 * MIB).unwrap()];
    drop((one_wrong_estimate, both));
    let last = wait(1, 8 * MIB).unwrap();
    drop(turn);
    assert_eq!(last.await, Ok(()));
    let state = work.lock();
    assert_eq!((state.free, state.waiting_bytes), (1, 0));
}

#[tokio::test]
async fn turn_of_a_caller_that_is_gone_goes_to_the_next() {
    let work = LargeWork::with_turns(1);
    let first_turn = work.turn(tenant(1)).await.unwrap();
    for _ in 0..3 {
        assert!(work.turn(tenant(1)).now_or_never().is_none());
    }
    drop(first_turn);
    for _ in 0..3 {
        assert!(work.turn(tenant(2)).now_or_never().is_some(), "the turn is free again");
    }
    assert_eq!(work.lock().free, 1);
}

#[tokio::test]
async fn panic_fails_its_caller_and_gives_the_turn_back() {
    let work = LargeWork::with_turns(1);
    let panic_result = work.run(tenant(1), || panic!("on purpose")).await;
    assert!(matches!(panic_result, Err(StorageError::Failed(_))));
    assert_eq!(work.run(tenant(1), || 7).await.unwrap(), 7);
}

//! Numbers of answered requests: additions, retention, and separation of tenants.

use candor_domain::request_stats::RequestCount;

use crate::Case;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![Case::new(numbers_of_requests_add_up), Case::new(numbers_of_old_hours_are_removed)]
}

fn count(hour: i64, status: u16, count: u64) -> RequestCount {
    RequestCount { hour, status, count }
}

/// Returns the stored numbers from an hour on, sorted.
async fn stored_counts(world: &CaseContext, since: i64) -> Vec<RequestCount> {
    let mut counts = world.store.request_counts(world.tenant, since).await.unwrap();
    counts.sort_unstable();
    counts
}

async fn numbers_of_requests_add_up(world: CaseContext) {
    let other = world.in_other_tenant();
    for (context, counts) in [
        (&world, vec![count(8, 200, 3), count(8, 404, 1), count(9, 200, 5)]),
        (&other, vec![count(9, 500, 7)]),
        (&world, vec![count(9, 200, 2), count(9, 503, 1)]),
        (&world, vec![]),
    ] {
        context.store.add_request_counts(context.tenant, &counts, 0).await.unwrap();
    }
    assert_eq!(
        stored_counts(&world, 0).await,
        [count(8, 200, 3), count(8, 404, 1), count(9, 200, 7), count(9, 503, 1)]
    );
    assert_eq!(stored_counts(&world, 9).await, [count(9, 200, 7), count(9, 503, 1)]);
    assert_eq!(stored_counts(&other, 0).await, [count(9, 500, 7)]);
}

async fn numbers_of_old_hours_are_removed(world: CaseContext) {
    let other = world.in_other_tenant();
    for context in [&world, &other] {
        let counts = [count(1, 200, 3), count(2, 200, 4)];
        context.store.add_request_counts(context.tenant, &counts, 0).await.unwrap();
    }
    world.store.add_request_counts(world.tenant, &[count(3, 200, 5)], 2).await.unwrap();
    assert_eq!(stored_counts(&world, 0).await, [count(2, 200, 4), count(3, 200, 5)]);
    assert_eq!(stored_counts(&other, 0).await, [count(1, 200, 3), count(2, 200, 4)]);
}

//! The event feed: in commit order and gap-free, so that whoever follows it sees everything once (decision F9).

use std::collections::BTreeSet;

use candor_domain::event::{Event, EventType, FeedFilter};
use candor_domain::page::Position;
use candor_domain::time::Timestamp;
use candor_port_storage::ChangeSet;
use candor_port_storage::store::FeedPage;

use crate::Case;
use crate::world::{EVER, Poller, World, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(a_poller_sees_every_event_of_concurrent_writers_once),
        Case::new(events_stand_in_commit_order),
        Case::new(the_feed_is_filtered_by_kind_and_age),
        Case::new(an_empty_page_leads_nowhere_else),
        Case::new(a_page_says_whether_more_is_there),
        Case::new(a_poller_goes_on_after_everything_was_swept),
        Case::new(each_tenant_has_a_feed_of_its_own),
    ]
}

const WRITERS: usize = 20;
const EACH: usize = 12;

fn announcing(world: &World, events: Vec<Event>) -> ChangeSet {
    ChangeSet { events, ..world.make.change(vec![]) }
}

async fn announce(world: &World, kind: EventType) -> Event {
    let event = world.make.event(kind);
    world.commit(announcing(world, vec![event.clone()])).await.unwrap();
    event
}

async fn a_poller_sees_every_event_of_concurrent_writers_once(world: World) {
    let polling = tokio::spawn({
        let mut poller = Poller::new(world.clone());
        async move {
            poller.until(|events| events.len() >= WRITERS * EACH).await;
            poller.events
        }
    });
    let writers = (0..WRITERS).map(|number| {
        let world = world.clone();
        async move {
            let mut written = Vec::new();
            for _ in 0..EACH / 2 {
                // Some write more than one event at once, and ids are not made in the order of the commits.
                let events: Vec<_> = (0..2).map(|_| world.make.event(EventType::EmployeeUpdated)).collect();
                if number % 2 == 0 {
                    world.commit(announcing(&world, events.clone())).await.unwrap();
                } else {
                    for event in &events {
                        world.commit(announcing(&world, vec![event.clone()])).await.unwrap();
                    }
                }
                written.push(events);
            }
            written
        }
    });
    let written = at_once(writers).await;
    let seen = polling.await.unwrap();
    let distinct: BTreeSet<_> = seen.iter().map(|it| it.id).collect();
    assert_eq!((distinct.len(), seen.len()), (WRITERS * EACH, WRITERS * EACH), "no gap and nothing twice");
    assert_eq!(world.events().await, seen, "whoever reads later sees the same order");
    let place = |event: &Event| seen.iter().position(|it| it == event).unwrap();
    for writer in written {
        let places: Vec<Vec<_>> = writer.iter().map(|events| events.iter().map(place).collect()).collect();
        for pair in places.windows(2) {
            assert!(pair[0].iter().max() < pair[1].iter().min(), "a later commit stands behind an earlier one");
        }
    }
}

async fn events_stand_in_commit_order(world: World) {
    // Ids that sort against the order of the commits.
    let mut events: Vec<_> = (0..12).map(|_| world.make.event(EventType::ObservationCreated)).collect();
    events.reverse();
    for event in &events {
        world.commit(announcing(&world, vec![event.clone()])).await.unwrap();
    }
    assert_eq!(world.events().await, events);
}

async fn read(world: &World, kinds: &[EventType], since: Timestamp, after: Option<&Position>, limit: u16) -> FeedPage {
    let filter = FeedFilter { kinds: kinds.to_vec() };
    world.store.feed(world.tenant, &filter, since, after, limit).await.unwrap()
}

async fn the_feed_is_filtered_by_kind_and_age(world: World) {
    let kinds = [EventType::EmployeeCreated, EventType::EmployeeUpdated, EventType::ObservationCreated];
    let mut all = Vec::new();
    for number in 0..30 {
        world.make.clock.advance_seconds(60);
        all.push(announce(&world, kinds[number % 3]).await);
    }
    assert_eq!(world.events().await, all);
    for kinds in [vec![kinds[0]], vec![kinds[2], kinds[1]], vec![EventType::SummaryShared]] {
        let wanted: Vec<_> = all.iter().filter(|it| kinds.contains(&it.kind)).cloned().collect();
        let (mut found, mut at) = (Vec::new(), None);
        loop {
            let page = read(&world, &kinds, EVER, at.as_ref(), 4).await;
            found.extend(page.events);
            at = page.next;
            if !page.more {
                break;
            }
        }
        assert_eq!(found, wanted, "{kinds:?}");
    }
    let since = all[17].created_at;
    let page = read(&world, &kinds, since, None, 100).await;
    assert_eq!(page.events, all[17..], "from that instant on");
    let page = read(&world, &kinds, Timestamp::from_millis(since.millis() + 1), None, 100).await;
    assert_eq!(page.events, all[18..]);
}

async fn an_empty_page_leads_nowhere_else(world: World) {
    let nothing = read(&world, &[], EVER, None, 10).await;
    assert_eq!((nothing.events, nothing.more), (vec![], false));
    let first = announce(&world, EventType::EmployeeCreated).await;
    assert_eq!(world.events().await, std::slice::from_ref(&first));
    // `events` left a mark of its own behind; it is the last one.
    let all = read(&world, &[], EVER, None, 10).await;
    assert_eq!(all.events.len(), 2);
    let end = all.next.unwrap();
    for _ in 0..3 {
        let empty = read(&world, &[], EVER, Some(&end), 10).await;
        assert_eq!(empty, FeedPage { events: vec![], next: Some(end.clone()), more: false });
    }
    // Whoever waited at the end, or before there was anything, goes on from there.
    let second = announce(&world, EventType::EmployeeUpdated).await;
    let mark = announce(&world, EventType::TestPing).await;
    let mut poller = Poller::at(world.clone(), Some(end));
    poller.until(|events| events.contains(&mark)).await;
    assert_eq!(poller.events, [second, mark]);
    let mut early = Poller::at(world.clone(), nothing.next);
    early.until(|events| events.len() == 4).await;
    assert_eq!(early.events[0], first);
}

async fn a_page_says_whether_more_is_there(world: World) {
    for _ in 0..4 {
        announce(&world, EventType::EmployeeCreated).await;
    }
    world.events().await;
    // Four of them and the mark.
    for (limit, found, more) in [(1, 1, true), (4, 4, true), (5, 5, false), (6, 5, false)] {
        let page = read(&world, &[], EVER, None, limit).await;
        assert_eq!((page.events.len(), page.more), (found, more), "{limit} a page");
    }
    let filtered = read(&world, &[EventType::EmployeeCreated], EVER, None, 4).await;
    assert!(!filtered.more, "what the filter leaves out is not more");
}

/// Places are not used again, or whoever waits behind the last of them would wait for ever.
async fn a_poller_goes_on_after_everything_was_swept(world: World) {
    for _ in 0..4 {
        announce(&world, EventType::EmployeeCreated).await;
    }
    let last = announce(&world, EventType::EmployeeCreated).await;
    let mut poller = Poller::new(world.clone());
    poller.until(|events| events.len() == 5).await;
    let swept = |before| world.store.sweep(EVER, before, 100);
    assert_eq!(swept(last.created_at).await.unwrap(), 4, "what is from that very instant stays");
    assert_eq!(swept(world.make.tick()).await.unwrap(), 1);
    assert_eq!(read(&world, &[], EVER, None, 10).await.events, []);
    let next = announce(&world, EventType::EmployeeUpdated).await;
    poller.until(|events| events.len() == 6).await;
    assert_eq!(poller.events.last(), Some(&next));
    let mut newcomer = Poller::new(world.clone());
    newcomer.until(|events| events == [next.clone()]).await;
}

async fn each_tenant_has_a_feed_of_its_own(world: World) {
    let tenants = [world.clone(), world.elsewhere(), world.test_environment()];
    let mut wanted = Vec::new();
    for tenant in &tenants {
        wanted.push(vec![announce(tenant, EventType::EmployeeCreated).await]);
    }
    for (tenant, wanted) in tenants.iter().zip(wanted) {
        assert_eq!(tenant.events().await, wanted);
    }
}

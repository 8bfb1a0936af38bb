//! The event feed: in commit order and without gaps, so that a poller sees every event once (decision F9).

use std::collections::BTreeSet;

use candor_domain::event::{Event, EventType, FeedFilter, FeedStart, MOST_COMMIT_DELAY_SECONDS};
use candor_domain::page::Position;
use candor_domain::time::Timestamp;
use candor_fair_share::SlowReads;
use candor_port_storage::ChangeSet;
use candor_port_storage::store::{Expiry, FeedPage};

use crate::Case;
use crate::world::{CaseContext, EVER, Poller, at_once};

pub(crate) fn cases() -> Vec<Case> {
    let usual = SlowReads::with_places(2);
    vec![
        Case::new(poller_sees_each_event_of_concurrent_writers_once),
        Case::new(feed_is_in_commit_order),
        Case::new(feed_is_filtered_by_type_and_age),
        Case::new(empty_feed_page_keeps_its_position),
        Case::new(feed_page_reports_whether_more_follows),
        Case::new(poller_continues_after_all_events_were_removed),
        Case::new(feed_belongs_to_one_tenant),
        Case::new(poll_reads_few_events_and_none_twice).with_limits(SlowReads { feed_scan: 3, ..usual }),
        Case::new(feed_from_now_returns_later_events_only),
        Case::new(feed_from_newest_ends_with_the_last_event),
        Case::new(filtered_feed_from_newest_scans_few_events).with_limits(SlowReads { feed_scan: 3, ..usual }),
        Case::new(feed_from_a_time_is_independent_of_commit_order),
    ]
}

const WRITERS: usize = 20;
const EACH: usize = 12;

fn announce_events(world: &CaseContext, events: Vec<Event>) -> ChangeSet {
    ChangeSet { events, ..world.make.change(vec![]) }
}

async fn announce(world: &CaseContext, kind: EventType) -> Event {
    let event = world.make.event(kind);
    world.commit(announce_events(world, vec![event.clone()])).await.unwrap();
    event
}

async fn poller_sees_each_event_of_concurrent_writers_once(world: CaseContext) {
    let polling = tokio::spawn({
        let mut poller = Poller::new(world.clone());
        async move {
            poller.poll_until(|events| events.len() >= WRITERS * EACH).await;
            poller.events
        }
    });
    let writers = (0..WRITERS).map(|number| {
        let world = world.clone();
        async move {
            let mut event_lists = Vec::new();
            for _ in 0..EACH / 2 {
                // Some commits write several events, and the ids sort differently from the commits.
                let events: Vec<_> = (0..2).map(|_| world.make.event(EventType::EmployeeUpdated)).collect();
                if number % 2 == 0 {
                    world.commit(announce_events(&world, events.clone())).await.unwrap();
                } else {
                    for event in &events {
                        world.commit(announce_events(&world, vec![event.clone()])).await.unwrap();
                    }
                }
                event_lists.push(events);
            }
            event_lists
        }
    });
    let events_of_writers = at_once(writers).await;
    let polled_events = polling.await.unwrap();
    let distinct: BTreeSet<_> = polled_events.iter().map(|event| event.id).collect();
    assert_eq!((distinct.len(), polled_events.len()), (WRITERS * EACH, WRITERS * EACH), "each event once");
    assert_eq!(world.events().await, polled_events, "a later reader sees the same order");
    let place = |event: &Event| polled_events.iter().position(|known| known == event).unwrap();
    for writer in events_of_writers {
        let places: Vec<Vec<_>> = writer.iter().map(|events| events.iter().map(place).collect()).collect();
        for pair in places.windows(2) {
            assert!(pair[0].iter().max() < pair[1].iter().min(), "a later commit stands behind an earlier one");
        }
    }
}

async fn feed_is_in_commit_order(world: CaseContext) {
    // The ids sort in the reverse of the commit order.
    let mut events: Vec<_> = (0..12).map(|_| world.make.event(EventType::ObservationCreated)).collect();
    events.reverse();
    for event in &events {
        world.commit(announce_events(&world, vec![event.clone()])).await.unwrap();
    }
    assert_eq!(world.events().await, events);
}

async fn read(
    world: &CaseContext,
    kinds: &[EventType],
    since: Timestamp,
    after: Option<&Position>,
    limit: u16,
) -> FeedPage {
    let filter = FeedFilter { kinds: kinds.to_vec() };
    world.store.feed(world.tenant, &filter, since, &after.cloned().into(), limit).await.unwrap()
}

async fn feed_is_filtered_by_type_and_age(world: CaseContext) {
    let kinds = [EventType::EmployeeCreated, EventType::EmployeeUpdated, EventType::ObservationCreated];
    let mut all = Vec::new();
    for number in 0..30 {
        world.make.clock.advance_seconds(60);
        all.push(announce(&world, kinds[number % 3]).await);
    }
    assert_eq!(world.events().await, all);
    for kinds in [vec![kinds[0]], vec![kinds[2], kinds[1]], vec![EventType::SummaryShared]] {
        let expected_events: Vec<_> = all.iter().filter(|event| kinds.contains(&event.kind)).cloned().collect();
        let (mut found, mut at) = (Vec::new(), None);
        loop {
            let page = read(&world, &kinds, EVER, at.as_ref(), 4).await;
            found.extend(page.events);
            at = page.next;
            if !page.more {
                break;
            }
        }
        assert_eq!(found, expected_events, "{kinds:?}");
    }
    let start_time = all[17].created_at;
    let page = read(&world, &kinds, start_time, None, 100).await;
    assert_eq!(page.events, all[17..], "from that instant on");
    let page = read(&world, &kinds, Timestamp::from_millis(start_time.millis() + 1), None, 100).await;
    assert_eq!(page.events, all[18..]);
}

async fn empty_feed_page_keeps_its_position(world: CaseContext) {
    let nothing = read(&world, &[], EVER, None, 10).await;
    assert_eq!((nothing.events, nothing.more), (vec![], false));
    let first = announce(&world, EventType::EmployeeCreated).await;
    assert_eq!(world.events().await, std::slice::from_ref(&first));
    // The last event is the marker of `CaseContext::events`.
    let all = read(&world, &[], EVER, None, 10).await;
    assert_eq!(all.events.len(), 2);
    let end = all.next.unwrap();
    for _ in 0..3 {
        let empty = read(&world, &[], EVER, Some(&end), 10).await;
        assert_eq!(empty, FeedPage { events: vec![], next: Some(end.clone()), more: false });
    }
    // Pollers that waited at the end, or on an empty feed, continue at the new event.
    let second = announce(&world, EventType::EmployeeUpdated).await;
    let mark = announce(&world, EventType::TestPing).await;
    let mut poller = Poller::starting_after(world.clone(), Some(end));
    poller.poll_until(|events| events.contains(&mark)).await;
    assert_eq!(poller.events, [second, mark]);
    let mut early = Poller::starting_after(world.clone(), nothing.next);
    early.poll_until(|events| events.len() == 4).await;
    assert_eq!(early.events[0], first);
}

async fn feed_page_reports_whether_more_follows(world: CaseContext) {
    for _ in 0..4 {
        announce(&world, EventType::EmployeeCreated).await;
    }
    world.events().await;
    // The feed has five events: four written ones and the marker.
    for (limit, found, more) in [(1, 1, true), (4, 4, true), (5, 5, false), (6, 5, false)] {
        let page = read(&world, &[], EVER, None, limit).await;
        assert_eq!((page.events.len(), page.more), (found, more), "{limit} a page");
    }
    let filtered_page = read(&world, &[EventType::EmployeeCreated], EVER, None, 4).await;
    assert!(!filtered_page.more, "filtered events do not count as more");
}

/// Positions are not reused after a sweep. A poller that read the removed events would otherwise miss new ones.
async fn poller_continues_after_all_events_were_removed(world: CaseContext) {
    for _ in 0..4 {
        announce(&world, EventType::EmployeeCreated).await;
    }
    let last = announce(&world, EventType::EmployeeCreated).await;
    let mut poller = Poller::new(world.clone());
    poller.poll_until(|events| events.len() == 5).await;
    let swept = |events| world.store.sweep(Expiry { events, ..Expiry::NOTHING }, 100);
    assert_eq!(swept(last.created_at).await.unwrap(), 4, "events of that very instant stay");
    assert_eq!(swept(world.make.tick()).await.unwrap(), 1);
    assert_eq!(read(&world, &[], EVER, None, 10).await.events, []);
    let next = announce(&world, EventType::EmployeeUpdated).await;
    poller.poll_until(|events| events.len() == 6).await;
    assert_eq!(poller.events.last(), Some(&next));
    let mut newcomer = Poller::new(world.clone());
    newcomer.poll_until(|events| events == [next.clone()]).await;
}

async fn feed_belongs_to_one_tenant(world: CaseContext) {
    let tenants = [world.clone(), world.in_other_tenant(), world.test_environment()];
    let mut expected_ids = Vec::new();
    for tenant in &tenants {
        expected_ids.push(vec![announce(tenant, EventType::EmployeeCreated).await]);
    }
    for (tenant, expected_events) in tenants.iter().zip(expected_ids) {
        assert_eq!(tenant.events().await, expected_events);
    }
}

async fn poll_reads_few_events_and_none_twice(world: CaseContext) {
    let (common, rare) = (EventType::EmployeeUpdated, EventType::SummaryShared);
    for _ in 0..7 {
        announce(&world, common).await;
    }
    let rare_event = announce(&world, rare).await;
    announce(&world, common).await;
    // This call adds the marker, which makes ten events.
    world.events().await;
    let (mut at, mut polls) = (None, vec![]);
    loop {
        let page = read(&world, &[rare], EVER, at.as_ref(), 10).await;
        assert!(page.next != at || !page.more, "each page moves the position");
        polls.push((page.events, page.more));
        at = page.next;
        if polls.last().is_some_and(|(_, more)| !more) {
            break;
        }
    }
    let expected_pages = [(vec![], true), (vec![], true), (vec![rare_event], true), (vec![], false)];
    assert_eq!(polls, expected_pages, "each poll reads three events");
    let rest = read(&world, &[], EVER, at.as_ref(), 10).await;
    assert_eq!(
        rest,
        FeedPage { events: vec![], next: at.clone(), more: false },
        "the position is behind all events"
    );
    let next = announce(&world, rare).await;
    announce(&world, EventType::TestPing).await;
    let mut poller = Poller::starting_after(world.clone(), at);
    poller.poll_until(|events| events.len() == 2).await;
    assert_eq!(poller.events.first(), Some(&next));
}

async fn from(world: &CaseContext, start: &FeedStart, limit: u16) -> FeedPage {
    world.store.feed(world.tenant, &FeedFilter::default(), EVER, start, limit).await.unwrap()
}

async fn feed_from_now_returns_later_events_only(world: CaseContext) {
    let nothing = from(&world, &FeedStart::Now, 10).await;
    assert_eq!(nothing, FeedPage { events: vec![], next: None, more: false });
    announce(&world, EventType::EmployeeCreated).await;
    // Waits until all commits are visible in the feed.
    world.events().await;
    let first_page = from(&world, &FeedStart::Now, 10).await;
    assert_eq!((&first_page.events, first_page.more, first_page.next.is_some()), (&vec![], false, true));
    let first = announce(&world, EventType::EmployeeUpdated).await;
    let mut poller = Poller::starting_after(world.clone(), first_page.next);
    poller.poll_until(|events| !events.is_empty()).await;
    assert_eq!(poller.events, [first]);
    assert_eq!(
        from(&world.in_other_tenant(), &FeedStart::Now, 10).await.next,
        None,
        "the other tenant has no events"
    );
}

async fn feed_from_newest_ends_with_the_last_event(world: CaseContext) {
    let nothing = from(&world, &FeedStart::Newest, 10).await;
    assert_eq!((nothing.events, nothing.more), (vec![], false));
    let kinds = [EventType::EmployeeCreated, EventType::EmployeeUpdated];
    for number in 0..6 {
        announce(&world, kinds[number % 2]).await;
    }
    // This call adds the marker, which makes seven events.
    world.events().await;
    let all = read(&world, &[], EVER, None, 100).await;
    for limit in [1, 6, 7, 8, 100] {
        let page = from(&world, &FeedStart::Newest, limit).await;
        let first = all.events.len().saturating_sub(limit.into());
        assert_eq!((&page.events[..], page.more), (&all.events[first..], false), "{limit}");
        assert_eq!(page.next, all.next, "{limit}: the next page has later events");
        let filter = FeedFilter { kinds: vec![kinds[0]] };
        let filtered_page =
            world.store.feed(world.tenant, &filter, EVER, &FeedStart::Newest, limit).await.unwrap();
        let selected_events: Vec<_> = all.events.iter().filter(|event| event.kind == kinds[0]).cloned().collect();
        let first = selected_events.len().saturating_sub(limit.into());
        assert_eq!(
            (&filtered_page.events[..], filtered_page.more),
            (&selected_events[first..], false),
            "{limit} with a filter"
        );
    }
    let (everything, oldest) = (FeedFilter::default(), all.events[6].created_at);
    let from_last = world.store.feed(world.tenant, &everything, oldest, &FeedStart::Newest, 10);
    assert_eq!(from_last.await.unwrap().events, all.events[6..], "events from before the oldest are left out");
    assert_eq!(from(&world.in_other_tenant(), &FeedStart::Newest, 10).await.events, []);
}

async fn filtered_feed_from_newest_scans_few_events(world: CaseContext) {
    let (common, rare) = (EventType::EmployeeUpdated, EventType::SummaryShared);
    announce(&world, rare).await;
    for _ in 0..4 {
        announce(&world, common).await;
    }
    let near_end = announce(&world, rare).await;
    world.events().await;
    let filter = FeedFilter { kinds: vec![rare] };
    let page = world.store.feed(world.tenant, &filter, EVER, &FeedStart::Newest, 10).await.unwrap();
    assert_eq!(page.events, [near_end]);
    let newest_event = announce(&world, rare).await;
    let mut poller = Poller::starting_after(world.clone(), page.next);
    poller.poll_until(|events| events.contains(&newest_event)).await;
}

async fn feed_from_a_time_is_independent_of_commit_order(world: CaseContext) {
    let mut changes = vec![];
    for _ in 0..30 {
        world.make.clock.advance_seconds(60);
        changes.push(world.make.event(EventType::EmployeeUpdated));
    }
    // Commits the events of a few minutes in reverse order, with the longest delay that the feed allows.
    let minutes = usize::try_from(MOST_COMMIT_DELAY_SECONDS / 60).unwrap();
    let mut saved_events = changes.clone();
    saved_events[15..15 + minutes].reverse();
    for event in &saved_events {
        world.commit(announce_events(&world, vec![event.clone()])).await.unwrap();
    }
    assert_eq!(world.events().await, saved_events);
    for (first, begin) in changes.iter().enumerate() {
        let feed_start = FeedStart::Since(begin.created_at);
        let page = from(&world, &feed_start, 100).await;
        let expected_events: Vec<_> =
            saved_events.iter().filter(|event| event.created_at >= begin.created_at).cloned().collect();
        // The last event is the marker of `CaseContext::events`.
        assert_eq!(page.events[..page.events.len() - 1], expected_events, "since event {first}");
        let part = from(&world, &feed_start, 2).await;
        assert_eq!((&part.events[..], part.more), (&page.events[..2], page.events.len() > 2));
        let rest = read(&world, &[], EVER, part.next.as_ref(), 100).await;
        // The next page also contains older events that were committed later.
        let later_events: Vec<_> =
            rest.events.into_iter().filter(|event| event.created_at >= begin.created_at).collect();
        assert_eq!(later_events, page.events[2..], "the next page continues: {first}");
    }
    let later_start = FeedStart::Since(world.make.tick());
    let nothing = from(&world, &later_start, 10).await;
    assert_eq!((nothing.events, nothing.more), (vec![], false));
    assert_eq!(read(&world, &[], EVER, nothing.next.as_ref(), 10).await.events, [], "no event is read twice");
}

//! The feed of events, followed through faults and from a stored cursor.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use candor_client::types::{EmployeeUpdate, ErrorCode, Event, ListEventsFilter};
use candor_client::{Candor, FollowOptions};
use candor_test_faults::{Fault, FaultProxy};

use super::{Fixture, hire};
use crate::support::PATIENCE;

#[path = "../../../../crates/client/examples/replica.rs"]
#[expect(unreachable_pub, reason = "an example, as its readers have it")]
mod replica;

const PEOPLE: usize = 130;

fn email(event: &Event) -> String {
    let Event::Employee(event) = event else { panic!("{event:?}") };
    event.data.email.clone()
}

fn options() -> FollowOptions {
    FollowOptions::new().filter(ListEventsFilter::new().event(["employee.created"]))
}

#[tokio::test]
async fn follower_gets_every_event_once_through_faults() {
    let fixture = Fixture::start();
    let plan = vec![Fault::None, Fault::ResetAfter, Fault::None];
    let proxy = FaultProxy::start(fixture.service.address, plan).unwrap();
    let client = fixture.builder().base_url(proxy.url()).build().unwrap();
    let writer = fixture.client();
    let writing = tokio::spawn(async move {
        let mut expected_events = Vec::new();
        for number in 0..PEOPLE {
            expected_events.push(hire(&writer, number).await.unwrap());
        }
        expected_events
    });
    let events = Arc::new(Mutex::new(Vec::new()));
    let cursors = Arc::new(Mutex::new(Vec::new()));
    let (counted, stored) = (Arc::clone(&events), Arc::clone(&cursors));
    let on_cursor = move |cursor: &str| {
        stored.lock().unwrap().push((counted.lock().unwrap().len(), cursor.to_owned()));
    };
    let mut feed = client.events().follow(options().on_cursor(on_cursor));
    tokio::time::timeout(PATIENCE, async {
        for _ in 0..PEOPLE {
            let event = feed.next().await.unwrap();
            events.lock().unwrap().push(email(&event));
        }
    })
    .await
    .unwrap();
    let written_events = writing.await.unwrap();
    assert_eq!(*events.lock().unwrap(), written_events);
    assert!(proxy.count(Fault::ResetAfter) > 0);
    let (count, cursor) = cursors.lock().unwrap().iter().find(|(count, _)| *count > 0).unwrap().clone();
    let mut rest = Vec::new();
    let mut feed = fixture.client().events().follow(options().cursor(cursor));
    while rest.last() != written_events.last() {
        rest.extend(feed.next_batch().await.unwrap().events.iter().map(email));
    }
    assert_eq!(rest, written_events[count..], "the feed continues behind the stored cursor");
}

#[tokio::test]
async fn follower_ends_with_errors_that_stay() {
    let fixture = Fixture::start();
    let client = Candor::builder().api_key("cdr_live_unknown").base_url(fixture.url()).build().unwrap();
    let error = client.events().follow(FollowOptions::new()).next().await.unwrap_err();
    assert_eq!(error.code(), Some(&ErrorCode::AuthenticationRequired));
}

#[tokio::test]
async fn replica_of_the_readme_gets_every_change() {
    let fixture = Fixture::start();
    let client = fixture.client();
    hire(&client, 1).await.unwrap();
    let people = Arc::new(Mutex::new(HashMap::new()));
    let (copied, follower) = (Arc::clone(&people), client.clone());
    let running = tokio::spawn(async move { replica::replicate(&follower, &copied).await });
    wait_until(|| people.lock().unwrap().len() == 1).await;
    hire(&client, 2).await.unwrap();
    let first = people.lock().unwrap().keys().next().unwrap().clone();
    client.employees().update(&first, EmployeeUpdate::new().job_title("Engineer")).await.unwrap();
    wait_until(|| {
        let people = people.lock().unwrap();
        people.len() == 2 && people[&first].job_title.as_deref() == Some("Engineer")
    })
    .await;
    running.abort();
}

/// Waits until a condition holds, with a deadline.
pub(super) async fn wait_until(holds: impl Fn() -> bool) {
    let check = async {
        let mut interval = tokio::time::interval(Duration::from_millis(10));
        while !holds() {
            interval.tick().await;
        }
    };
    tokio::time::timeout(PATIENCE, check).await.unwrap();
}

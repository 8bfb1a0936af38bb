//! Retries through a proxy that breaks responses.

use std::collections::HashSet;
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use candor_client::Error;
use candor_client::types::{DepartmentCreate, EmployeeCreate, ListEmployeesQuery};
use candor_test_faults::{Fault, FaultProxy};

use super::Fixture;

const ROWS: usize = 200;
const WORKERS: usize = 20;
/// Timeout of the client. It ends attempts without a response; all other attempts take less time.
const LATE: Duration = Duration::from_secs(5);

#[tokio::test]
async fn creates_through_faults_make_one_row_each() {
    let fixture = Fixture::start();
    let proxy = FaultProxy::start(fixture.service.address, Fault::mixed()).unwrap();
    let client = fixture.builder().base_url(proxy.url()).timeout(LATE).max_retries(10);
    let client = client.build().unwrap();
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..WORKERS {
        let (client, next) = (client.clone(), Arc::clone(&next));
        workers.spawn(async move {
            let mut ids = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= ROWS {
                    return ids;
                }
                let person = EmployeeCreate::new(format!("p{number}@example.com"), "P", number.to_string());
                ids.push(client.employees().create(person).await.unwrap().id);
            }
        });
    }
    let ids: HashSet<String> = workers.join_all().await.into_iter().flatten().collect();
    assert_eq!(ids.len(), ROWS);
    let list = fixture.client().employees().list(ListEmployeesQuery::new().limit(100));
    assert_eq!(list.entries().collect().await.unwrap().len(), ROWS);
    for fault in Fault::ALL {
        assert!(proxy.count(fault) > 0, "{fault:?} did not happen");
    }
    let keys: HashSet<String> = proxy.keys().into_iter().collect();
    assert_eq!(keys.len(), ROWS, "each call has one key for all of its attempts");
}

#[tokio::test]
async fn retries_end_after_the_given_number() {
    let fixture = Fixture::start();
    let proxy = FaultProxy::start(fixture.service.address, vec![Fault::Reset]).unwrap();
    let entries = Arc::new(Mutex::new(Vec::new()));
    let shared_entries = Arc::clone(&entries);
    let client = fixture.builder().base_url(proxy.url()).max_retries(1).log(move |entry| {
        shared_entries.lock().unwrap().push(format!("{entry:?}"));
    });
    let client = client.build().unwrap();
    let result = client.me().get().await;
    assert!(matches!(result, Err(Error::Connection(_))), "{result:?}");
    let create_result = client.departments().create(DepartmentCreate::new("Sales")).max_retries(0).await;
    assert!(matches!(create_result, Err(Error::Connection(_))), "{create_result:?}");
    assert_eq!(proxy.count(Fault::Reset), 3);
    assert_eq!(proxy.keys().len(), 1, "a call without retries has a key, too");
    let entries = entries.lock().unwrap().join("\n");
    assert!(entries.lines().count() == 3 && !entries.contains(&fixture.key.secret), "{entries}");
}

#[tokio::test]
async fn attempt_without_a_response_in_time_is_a_timeout() {
    let fixture = Fixture::start();
    let proxy = FaultProxy::start(fixture.service.address, vec![Fault::SlowAfter]).unwrap();
    let client = fixture.builder().base_url(proxy.url()).max_retries(0).build().unwrap();
    let slow = client.me().get().timeout(Duration::from_millis(200)).await;
    assert!(matches!(slow, Err(Error::Timeout(_))), "{slow:?}");
}

#[tokio::test]
async fn only_a_failed_connect_counts_as_unsent() {
    let fixture = Fixture::start();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let proxy = |fault| FaultProxy::start(fixture.service.address, vec![fault]).unwrap();
    let (reset, slow) = (proxy(Fault::ResetAfter), proxy(Fault::SlowAfter));
    for (url, is_unsent) in [(format!("http://{free}"), true), (reset.url(), false), (slow.url(), false)] {
        let client = fixture.builder().base_url(&url).timeout(LATE).max_retries(0);
        let error = client.build().unwrap().me().get().await.unwrap_err();
        assert_eq!((error.is_unsent(), error.is_transient()), (is_unsent, true), "{url}: {error}");
    }
}

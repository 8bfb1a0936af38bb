//! Shared windows on a real server: concurrent instances, a server restart, a password.

use std::sync::Arc;
use std::time::Duration;

use candor_domain::access::QuotaClass;
use candor_domain::id::KeyId;
use candor_limits_redis::{RedisRateLimits, RedisServer};
use candor_port_limits::{RateLimitStore, RateLimitStoreError};
use candor_test_redis::TestRedis;

const LIMIT: u32 = 600;
const INSTANCES: usize = 4;
const CLIENTS: usize = 32;
/// Time limit of the wait for a reconnection. Only a broken program reaches it.
const PATIENCE: Duration = Duration::from_secs(120);

fn key() -> KeyId {
    "key_01KJNZYV00000000000000001J".parse().unwrap()
}

fn store(url: &str) -> RedisRateLimits {
    RedisRateLimits::new(&RedisServer::parse(url).unwrap()).unwrap()
}

async fn remaining(store: &RedisRateLimits, class: QuotaClass) -> Result<u32, RateLimitStoreError> {
    store.admit(key(), class, LIMIT).await.map(|status| status.remaining)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn four_instances_admit_exactly_the_limit_of_a_key() {
    let Some(server) = TestRedis::start().unwrap() else { return };
    let stores: Vec<Arc<RedisRateLimits>> = (0..INSTANCES).map(|_| Arc::new(store(&server.url()))).collect();
    // Each client continues until it is refused, so that demand exceeds the limit.
    let client = |store: Arc<RedisRateLimits>| async move {
        let mut resets = vec![];
        loop {
            let status = store.admit(key(), QuotaClass::Read, LIMIT).await.unwrap();
            if !status.admitted {
                assert_eq!(status.remaining, 0);
                return resets;
            }
            // The time when the request leaves the window, by the server's clock and rounded up.
            resets.push(status.reset_at_seconds);
        }
    };
    let clients: Vec<_> =
        (0..CLIENTS).map(|number| tokio::spawn(client(Arc::clone(&stores[number % INSTANCES])))).collect();
    let mut resets = vec![];
    for client in clients {
        resets.extend(client.await.unwrap());
    }
    let most_within = |seconds: i64| {
        let resets_within =
            |from: &i64| resets.iter().filter(|reset| (*from..from + seconds).contains(reset)).count();
        resets.iter().map(resets_within).max().unwrap_or_default()
    };
    // Requests whose rounded times are at most 59 seconds apart share a window. A window was full when it refused
    // a client; its rounded times are at most 60 seconds apart. A busy machine may need more than one window.
    assert!(most_within(60) <= LIMIT as usize && most_within(61) >= LIMIT as usize, "{resets:?}");
}

#[tokio::test]
async fn each_key_and_class_has_one_window_for_all_instances() {
    let Some(server) = TestRedis::start().unwrap() else { return };
    let (one, other) = (store(&server.url()), store(&server.url()));
    assert_eq!(remaining(&one, QuotaClass::Read).await, Ok(599));
    assert_eq!(remaining(&other, QuotaClass::Read).await, Ok(598));
    assert_eq!(remaining(&other, QuotaClass::Write).await, Ok(599));
    let stranger: KeyId = "key_01KJNZYV00000000000000002J".parse().unwrap();
    assert_eq!(one.admit(stranger, QuotaClass::Read, 1).await.unwrap().remaining, 0);
    let refusal = one.admit(stranger, QuotaClass::Read, 1).await.unwrap();
    assert!(!refusal.admitted && (1..=60).contains(&refusal.retry_after_seconds), "{refusal:?}");
    assert_eq!(one.check().await, Ok(()));
    assert_eq!(remaining(&one, QuotaClass::Read).await, Ok(597), "a check counts no request");
}

#[tokio::test]
async fn restarted_server_is_used_again_and_gets_the_script() {
    let Some(mut server) = TestRedis::start().unwrap() else { return };
    let store = store(&server.url());
    assert_eq!(remaining(&store, QuotaClass::Read).await, Ok(599));
    server.kill();
    for _ in 0..3 {
        let lost_result = remaining(&store, QuotaClass::Read).await;
        assert!(matches!(lost_result, Err(RateLimitStoreError::Unreachable(_))), "{lost_result:?}");
    }
    server.resume().unwrap();
    // The first request may still get the error of the failed reconnection.
    let reconnection = async {
        loop {
            if let Ok(remaining_requests) = remaining(&store, QuotaClass::Read).await {
                return remaining_requests;
            }
        }
    };
    assert_eq!(tokio::time::timeout(PATIENCE, reconnection).await, Ok(599));
}

#[tokio::test]
async fn wrong_password_is_reported_without_the_password() {
    let Some(server) = TestRedis::start_with(&["--requirepass", "hunter2"]).unwrap() else { return };
    let url = |password: &str| format!("redis://{password}127.0.0.1:{}", server.port());
    assert_eq!(store(&url(":hunter2@")).check().await, Ok(()));
    for wrong in ["", ":hunter3@", "app:hunter3@"] {
        let check_result = store(&url(wrong)).check().await;
        let Err(RateLimitStoreError::Credentials(text)) = &check_result else {
            panic!("{wrong}: {check_result:?}")
        };
        assert!(!text.contains("hunter"), "{text}");
    }
}

#[tokio::test]
async fn password_corrected_on_the_server_needs_no_restart() {
    let Some(server) = TestRedis::start_with(&["--requirepass", "hunter3"]).unwrap() else { return };
    let store = store(&format!("redis://:hunter2@127.0.0.1:{}", server.port()));
    assert!(matches!(store.check().await, Err(RateLimitStoreError::Credentials(_))));
    change_password(server.port()).await;
    assert_eq!(store.check().await, Ok(()));
}

/// Changes the password of the running server, as an operator does.
async fn change_password(port: u16) {
    let client = redis::Client::open(format!("redis://:hunter3@127.0.0.1:{port}")).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut command = redis::cmd("CONFIG");
    let () = command.arg("SET").arg("requirepass").arg("hunter2").query_async(&mut connection).await.unwrap();
}

#[tokio::test]
async fn server_that_cannot_store_is_reported_as_refusing() {
    let Some(server) = TestRedis::start_with(&["--maxmemory", "1", "--maxmemory-policy", "noeviction"]).unwrap()
    else {
        return;
    };
    let refused_read = remaining(&store(&server.url()), QuotaClass::Read).await;
    assert!(matches!(refused_read, Err(RateLimitStoreError::Refused(_))), "{refused_read:?}");
}

//! Shared windows on a real server: several instances at once, a server that goes and comes back, a password.

use std::sync::Arc;

use candor_domain::access::QuotaClass;
use candor_domain::id::KeyId;
use candor_limits_redis::{RedisRateLimits, RedisServer};
use candor_port_limits::{RateLimitStore, RateLimitStoreError};
use candor_test_redis::TestRedis;

const LIMIT: u32 = 600;
const INSTANCES: usize = 4;
const CLIENTS: usize = 32;

fn key() -> KeyId {
    "key_01KJNZYV00000000000000001J".parse().unwrap()
}

fn store(url: &str) -> RedisRateLimits {
    RedisRateLimits::new(&RedisServer::parse(url).unwrap()).unwrap()
}

async fn remaining(store: &RedisRateLimits, class: QuotaClass) -> Result<u32, RateLimitStoreError> {
    store.admit(key(), class, LIMIT).await.map(|it| it.remaining)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn four_instances_with_32_clients_admit_exactly_the_limit_of_a_key() {
    let Some(server) = TestRedis::start().unwrap() else { return };
    let stores: Vec<Arc<RedisRateLimits>> = (0..INSTANCES).map(|_| Arc::new(store(&server.url()))).collect();
    // Until every client was refused, so that more was asked for than there is, by everybody.
    let client = |store: Arc<RedisRateLimits>| async move {
        let (mut admitted, mut first, mut last) = (0, i64::MAX, 0);
        loop {
            let status = store.admit(key(), QuotaClass::Read, LIMIT).await.unwrap();
            if !status.admitted {
                assert_eq!(status.remaining, 0);
                return (admitted, first, last);
            }
            admitted += 1;
            // When it leaves the window, by the one clock that counts.
            first = first.min(status.reset_at_seconds);
            last = last.max(status.reset_at_seconds);
        }
    };
    let clients: Vec<_> = (0..CLIENTS).map(|it| tokio::spawn(client(Arc::clone(&stores[it % INSTANCES])))).collect();
    let (mut admitted, mut first, mut last) = (0, i64::MAX, 0);
    for client in clients {
        let of_one = client.await.unwrap();
        admitted += of_one.0;
        first = first.min(of_one.1);
        last = last.max(of_one.2);
    }
    assert!(last - first < 60, "all of it was within one window");
    assert_eq!(admitted, LIMIT);
}

#[tokio::test]
async fn keys_and_classes_have_windows_of_their_own_and_instances_none() {
    let Some(server) = TestRedis::start().unwrap() else { return };
    let (one, other) = (store(&server.url()), store(&server.url()));
    assert_eq!(remaining(&one, QuotaClass::Read).await, Ok(599));
    assert_eq!(remaining(&other, QuotaClass::Read).await, Ok(598));
    assert_eq!(remaining(&other, QuotaClass::Write).await, Ok(599));
    let stranger: KeyId = "key_01KJNZYV00000000000000002J".parse().unwrap();
    assert_eq!(one.admit(stranger, QuotaClass::Read, 1).await.unwrap().remaining, 0);
    let refused = one.admit(stranger, QuotaClass::Read, 1).await.unwrap();
    assert!(!refused.admitted && (1..=60).contains(&refused.retry_after_seconds), "{refused:?}");
    assert_eq!(one.check().await, Ok(()));
    assert_eq!(remaining(&one, QuotaClass::Read).await, Ok(597), "to check counts nothing");
}

#[tokio::test]
async fn a_server_that_was_killed_is_asked_again_once_it_is_back_and_sent_the_script() {
    let Some(mut server) = TestRedis::start().unwrap() else { return };
    let store = store(&server.url());
    assert_eq!(remaining(&store, QuotaClass::Read).await, Ok(599));
    server.kill();
    for _ in 0..3 {
        let gone = remaining(&store, QuotaClass::Read).await;
        assert!(matches!(gone, Err(RateLimitStoreError::Unreachable(_))), "{gone:?}");
    }
    server.resume().unwrap();
    let mut answers = vec![];
    // The first may still meet the attempt to connect that failed.
    while answers.len() < 3 && !answers.iter().any(Result::is_ok) {
        answers.push(remaining(&store, QuotaClass::Read).await);
    }
    assert_eq!(answers.last(), Some(&Ok(599)), "{answers:?}");
}

#[tokio::test]
async fn a_password_is_needed_where_there_is_one_and_never_told() {
    let Some(server) = TestRedis::start_with(&["--requirepass", "hunter2"]).unwrap() else { return };
    let url = |password: &str| format!("redis://{password}127.0.0.1:{}", server.port());
    assert_eq!(store(&url(":hunter2@")).check().await, Ok(()));
    for wrong in ["", ":hunter3@", "app:hunter3@"] {
        let it = store(&url(wrong)).check().await;
        let Err(RateLimitStoreError::Credentials(text)) = &it else { panic!("{wrong}: {it:?}") };
        assert!(!text.contains("hunter"), "{text}");
    }
}

#[tokio::test]
async fn a_password_that_is_corrected_on_the_server_is_accepted_without_a_restart() {
    let Some(server) = TestRedis::start_with(&["--requirepass", "hunter3"]).unwrap() else { return };
    let store = store(&format!("redis://:hunter2@127.0.0.1:{}", server.port()));
    assert!(matches!(store.check().await, Err(RateLimitStoreError::Credentials(_))));
    change_password(server.port()).await;
    assert_eq!(store.check().await, Ok(()));
}

/// Changes the password of the server, as an operator does.
async fn change_password(port: u16) {
    let client = redis::Client::open(format!("redis://:hunter3@127.0.0.1:{port}")).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut command = redis::cmd("CONFIG");
    let () = command.arg("SET").arg("requirepass").arg("hunter2").query_async(&mut connection).await.unwrap();
}

#[tokio::test]
async fn a_server_that_refuses_is_named_for_that() {
    let Some(server) = TestRedis::start_with(&["--maxmemory", "1", "--maxmemory-policy", "noeviction"]).unwrap() else {
        return;
    };
    let full = remaining(&store(&server.url()), QuotaClass::Read).await;
    assert!(matches!(full, Err(RateLimitStoreError::Refused(_))), "{full:?}");
}

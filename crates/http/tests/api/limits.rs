//! Quotas are exact sliding windows, reported in the headers of every answer (§8, decision B1).

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_service::usecases::operator;
use serde_json::json;

use crate::support::{START, TestApi, TestResponse};

/// Returns limit, remaining and reset of an answer, with reset relative to [`START`].
fn quota_headers(answered: &TestResponse) -> (i64, i64, i64) {
    let number = |name: &str| answered.header(name).unwrap_or_else(|| panic!("no {name}")).parse().unwrap();
    (
        number("x-ratelimit-limit"),
        number("x-ratelimit-remaining"),
        number("x-ratelimit-reset") - START.millis() / 1000,
    )
}

fn assert_refused(answered: &TestResponse, quota: &str, limit: u32, retry_after: &str) {
    assert_eq!(answered.refusal(), (429, "rate_limited".to_owned()));
    assert_eq!(answered.header("retry-after"), Some(retry_after));
    assert_eq!(answered.header("candor-should-retry"), Some("true"));
    let details = json!([{"quota": quota, "limit": limit, "window_seconds": 60}]);
    assert_eq!(answered.json()["error"]["details"], details);
}

#[tokio::test]
async fn reads_and_writes_have_separate_sliding_windows() {
    let world = TestApi::new().await;
    let key = world.ordinary_key().await;
    let read = || world.bare("GET", "/v1/me").key(&key).send();
    let write = || world.bare("POST", "/v1/observations").key(&key).json(&json!({})).send();
    assert_eq!(quota_headers(&read().await), (600, 599, 60));
    world.clock.advance_seconds(10);
    for count in 2..=600 {
        assert_eq!(quota_headers(&read().await), (600, 600 - count, 70));
    }
    assert_refused(&read().await, "read", 600, "50");
    assert_eq!(
        quota_headers(&write().await),
        (100, 99, 70),
        "writes have their own quota, which invalid writes count against too"
    );
    world.clock.advance_millis(49_999);
    assert_refused(&read().await, "read", 600, "1");
    world.clock.advance_millis(1);
    assert_eq!(
        quota_headers(&read().await),
        (600, 0, 120),
        "the first read has left the window, and refused reads were never in it"
    );
    assert_refused(&read().await, "read", 600, "10");
    for count in 1..100 {
        assert_eq!(quota_headers(&write().await).1, 99 - count);
    }
    assert_refused(&write().await, "write", 100, "10");
}

#[tokio::test]
async fn clock_jump_leaves_all_windows_unchanged() {
    let world = TestApi::new().await;
    let key = world.ordinary_key().await;
    let read = || world.bare("GET", "/v1/me").key(&key).send();
    let keyless = || world.bare("GET", "/v1/me").key("nonsense").send();
    for _ in 0..600 {
        read().await;
    }
    for _ in 0..60 {
        keyless().await;
    }
    world.clock.advance_seconds(10);
    for jump in [7_200, -14_400, 7_200] {
        world.clock.set_by_seconds(jump);
        assert_refused(&read().await, "read", 600, "50");
        assert_refused(&keyless().await, "without_key", 60, "50");
    }
    assert_eq!(quota_headers(&read().await), (600, 0, 60), "the time of the reset is in wall-clock time");
    world.clock.set_by_seconds(-7_200);
    world.clock.advance_seconds(50);
    assert_eq!(quota_headers(&read().await), (600, 599, 120 - 7_200));
    assert_eq!(keyless().await.status, 401);
}

#[tokio::test]
async fn head_counts_as_a_read_and_options_is_not_counted() {
    let world = TestApi::new().await;
    let key = world.ordinary_key().await;
    let send = |method: &'static str| world.bare(method, "/v1/me").key(&key).send();
    assert_eq!(quota_headers(&send("GET").await).1, 599);
    assert_eq!(quota_headers(&send("HEAD").await).1, 598);
    assert_eq!(quota_headers(&send("OPTIONS").await).0, 60, "the headers show the unused quota of the address");
    assert_eq!(quota_headers(&send("OPTIONS").await).1, 60);
    assert_eq!(quota_headers(&send("GET").await).1, 597);
}

#[tokio::test]
async fn key_with_raised_limits_gets_them() {
    let world = TestApi::new().await;
    assert_eq!(quota_headers(&world.get("/v1/me").await).0, 100_000);
}

#[tokio::test]
async fn keys_of_an_organization_share_a_tenfold_quota() {
    let world = TestApi::new().await;
    let mut keys = vec![];
    for _ in 0..11 {
        keys.push(world.ordinary_key().await);
    }
    let upload = |key: &str| world.bare("POST", "/v1/employees/csv").key(key).body("email").send();
    for key in &keys[..10] {
        for count in 1..=6 {
            assert_eq!(quota_headers(&upload(key).await), (6, 6 - count, 60));
        }
        if key == &keys[0] {
            assert_refused(&upload(key).await, "csv", 6, "60");
        }
    }
    let of_all = upload(&keys[10]).await;
    assert_refused(&of_all, "csv", 60, "60");
    assert_eq!(quota_headers(&of_all), (60, 0, 60), "the headers describe the quota of all keys");
    assert_eq!(world.bare("GET", "/v1/me").key(&keys[10]).send().await.status, 200, "reads have another quota");
    let other = operator::create_organization(&world.services, "Other").await.unwrap();
    let elsewhere = world.key_of(other, Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
    assert_eq!(quota_headers(&upload(&elsewhere).await), (6, 5, 60), "another organization has its own quota");
    world.clock.advance_seconds(60);
    assert_eq!(
        quota_headers(&upload(&keys[10]).await),
        (6, 5, 120),
        "refused requests do not count against the key"
    );
}

#[tokio::test]
async fn dry_run_of_a_file_counts_as_an_upload() {
    let world = TestApi::new().await;
    let key = world.ordinary_key().await;
    let file = "email,first_name,last_name\nada@example.com,Ada,Example\n";
    let upload = |query: &str| {
        let path = format!("/v1/employees/csv{query}");
        let request = world.bare("POST", &path).key(&key).header("content-type", "text/csv").body(file);
        async move { request.send().await }
    };
    for count in 1..=6 {
        let response = upload("?dry_run=true").await;
        assert_eq!((response.status, quota_headers(&response)), (200, (6, 6 - count, 60)));
    }
    for query in ["", "?dry_run=true"] {
        assert_refused(&upload(query).await, "csv", 6, "60");
    }
}

#[tokio::test]
async fn raised_quota_of_a_key_raises_that_of_its_organization() {
    let world = TestApi::new().await;
    let key = world.ordinary_key().await;
    let mut others = vec![];
    for _ in 0..10 {
        others.push(world.ordinary_key().await);
    }
    let write = |key: String| world.bare("POST", "/v1/observations").key(&key).body("x").send();
    // The key of the tests has 100,000 writes a minute.
    let raised_key = world.admin.clone();
    for _ in 0..1_000 {
        assert_eq!(write(raised_key.clone()).await.status, 400);
    }
    for other in &others {
        assert_eq!(write(other.clone()).await.status, 400, "the busy key leaves quota for the other keys");
    }
    assert_eq!(quota_headers(&write(key).await), (100, 99, 60));
}

#[tokio::test]
async fn address_over_60_failures_is_refused_except_for_valid_keys() {
    let world = TestApi::new().await;
    let bad = |path: &'static str| world.bare("GET", path).key("nonsense").send();
    for count in 1..=20 {
        let response = bad("/v1/me").await;
        assert_eq!((response.status, quota_headers(&response)), (401, (60, 60 - count, 60)));
    }
    for count in 21..=40 {
        let response = bad("/v1/nothing").await;
        assert_eq!(
            (response.status, quota_headers(&response)),
            (404, (60, 60 - count, 60)),
            "unknown routes count too"
        );
    }
    for count in 41..=60 {
        let response = world.bare("DELETE", "/v1/me").send().await;
        assert_eq!(
            (response.status, quota_headers(&response)),
            (405, (60, 60 - count, 60)),
            "wrong methods count too"
        );
    }
    for path in ["/v1/me", "/v1/nothing"] {
        assert_refused(&bad(path).await, "without_key", 60, "60");
    }
    assert_eq!(world.get("/v1/me").await.status, 200, "a valid key is not refused because of its address");
    assert_eq!(world.bare("GET", "/v1/openapi.json").send().await.status, 200, "nor is a public route");
    let elsewhere = world.bare("GET", "/v1/me").with_peer("192.0.2.2").send().await;
    assert_eq!((elsewhere.status, quota_headers(&elsewhere).1), (401, 59), "another address has its own quota");
    world.clock.advance_seconds(60);
    assert_eq!(bad("/v1/me").await.status, 401);
}

#[tokio::test]
async fn unknown_route_counts_against_a_valid_key_by_method() {
    let world = TestApi::new().await;
    let key = world.ordinary_key().await;
    let send = |method: &'static str, path: &'static str| world.bare(method, path).key(&key).send();
    let reads = send("GET", "/v1/nothing").await;
    assert_eq!((reads.status, quota_headers(&reads)), (404, (600, 599, 60)));
    let writes = send("PUT", "/v1/me").await;
    assert_eq!((writes.status, quota_headers(&writes)), (405, (100, 99, 60)));
    for _ in 0..99 {
        send("PUT", "/v1/me").await;
    }
    assert_eq!(
        send("PUT", "/v1/me").await.status,
        405,
        "a wrong method is answered with 405 beyond the quota too"
    );
    assert_eq!(send("POST", "/v1/observations").await.status, 429);
}

#[tokio::test]
async fn quota_is_checked_before_scopes_and_bodies() {
    let world = TestApi::new().await;
    let key = world.ordinary_key().await;
    for _ in 0..100 {
        world.bare("POST", "/v1/api-keys").key(&key).body("nonsense").send().await;
    }
    assert_refused(
        &world.bare("POST", "/v1/api-keys").key(&key).body("nonsense").send().await,
        "write",
        100,
        "60",
    );
}

#[tokio::test]
async fn invitation_acceptance_is_limited_to_20_per_address() {
    let world = TestApi::new().await;
    let accept = || world.bare("POST", "/v1/invitations/accept").json(&json!({"token": "guess"})).send();
    for count in 1..=20 {
        let response = accept().await;
        assert_eq!((response.status, quota_headers(&response)), (404, (20, 20 - count, 60)));
    }
    assert_refused(&accept().await, "invitation_accept", 20, "60");
    let elsewhere =
        world.bare("POST", "/v1/invitations/accept").with_peer("192.0.2.2").json(&json!({"token": "guess"}));
    assert_eq!(elsewhere.send().await.status, 404);
    assert_eq!(world.bare("GET", "/v1/me").send().await.status, 401, "other failures have another quota");
}

#[tokio::test]
async fn clients_of_a_trusted_proxy_have_separate_quotas() {
    let trusted_proxies = vec!["192.0.2.0/24".parse().unwrap()];
    let world = TestApi::with(candor_http::HttpSettings { trusted_proxies, ..Default::default() }).await;
    let send = |client: &'static str| world.bare("GET", "/v1/me").header("x-forwarded-for", client).send();
    for _ in 0..60 {
        assert_eq!(send("203.0.113.1").await.status, 401);
    }
    assert_eq!(send("203.0.113.1").await.status, 429);
    assert_eq!(send("203.0.113.2").await.status, 401);
}

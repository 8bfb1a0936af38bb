//! Statistics of requests by status and hour (decision A20).

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_store_testkit::{Fault, FaultyCall};
use serde_json::{Value, json};

use crate::stores::{every_faulty_store, every_store};
use crate::support::TestApi;

async fn stats(world: &TestApi, key: &str, query: &str) -> Value {
    let response = world.bare("GET", &format!("/v1/request-stats{query}")).key(key).send().await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()
}

#[tokio::test]
async fn requests_are_counted_by_status_and_hour() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let key = world.key(Permissions::ALL, AccessLevel::Admin, Environment::Test).await;
        let get = async |path: &str| world.bare("GET", path).key(&key).send().await.status;
        assert_eq!(stats(world, &key, "").await["requests"], json!(0), "{what}: an answer counts once it is sent");
        for (path, status) in [("/v1/me", 200), ("/v1/employees/emp_00000000000000000000000001", 404)] {
            assert_eq!(get(path).await, status);
        }
        let now = world.services.clock.now();
        world.services.request_counters.flush(&*world.services.store, now).await.unwrap();
        world.clock.advance_seconds(3_600);
        assert_eq!(get("/v1/nothing").await, 404);
        assert_eq!(world.bare("GET", "/v1/me").key("cdr_live_x").send().await.status, 401);
        let stats_json = stats(world, &key, "?window=1h").await;
        let by_status = json!([{"status": 200, "count": 2}, {"status": 404, "count": 2}]);
        assert_eq!((&stats_json["requests"], &stats_json["by_status"]), (&json!(4), &by_status), "{what}");
        let hours: Vec<_> = stats_json["by_hour"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hour| [&hour["requests"], &hour["refused"], &hour["failed"]])
            .collect();
        assert_eq!(json!(hours), json!([[3, 1, 0], [1, 1, 0]]), "{what}: stored and not yet stored numbers");
        assert_eq!(stats_json["since"], stats_json["by_hour"][0]["hour"]);
        let live = stats(world, &world.admin, "").await;
        assert!(live["by_hour"].as_array().unwrap().len() == 25, "{what}");
        assert_eq!(stats(world, &key, "?window=30d").await["requests"], json!(5), "{what}");
    }
}

#[tokio::test]
async fn numbers_that_the_store_refuses_are_stored_later() {
    for (world, faulty, _database) in every_faulty_store().await {
        assert_eq!(world.get("/v1/me").await.status, 200);
        faulty.fail(FaultyCall::Upkeep, 1, Fault::Before);
        let now = world.services.clock.now();
        let flush = async || world.services.request_counters.flush(&*world.services.store, now).await;
        assert!(flush().await.is_err());
        flush().await.unwrap();
        assert_eq!(stats(&world, &world.admin, "").await["by_status"], json!([{"status": 200, "count": 1}]));
    }
}

#[tokio::test]
async fn unknown_window_of_request_stats_is_named() {
    let world = TestApi::new().await;
    let response = world.get("/v1/request-stats?window=2h").await;
    assert_eq!(
        (response.status, response.problems()),
        (400, vec![("window".to_owned(), "invalid_enum".to_owned())])
    );
}

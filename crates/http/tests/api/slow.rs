//! Limits on unindexed lists and on reading the feed from the beginning.

use std::sync::Arc;
use std::time::Duration;

use candor_fair_share::SlowReads;

use crate::stores::in_memory_with;
use crate::support::TestApi;

async fn with(slow_reads: SlowReads) -> TestApi {
    TestApi::on(Arc::new(in_memory_with(slow_reads)), crate::support::patient_settings()).await
}

#[tokio::test]
async fn slow_list_over_share_or_deadline_is_503_with_advice() {
    let usual = SlowReads::with_places(2);
    let table = [
        (SlowReads { places: 0, ..usual }, "other slow requests"),
        (SlowReads { deadline: Duration::ZERO, ..usual }, "took too long"),
    ];
    for (limits, why) in table {
        let world = with(limits).await;
        let response =
            world.get("/v1/observations?sort=created_at&filter[updated_at][gte]=2030-01-01T00:00:00Z").await;
        assert_eq!(response.refusal(), (503, "unavailable".to_owned()));
        assert_eq!(response.header("retry-after"), Some("2"));
        let message = response.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("filter[updated_at]") && message.contains(why), "{message}");
        let both =
            world.get("/v1/employees?filter[role]=manager&filter[updated_at][gte]=2030-01-01T00:00:00Z").await;
        let message = both.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("filter[role] and filter[updated_at] together"), "{message}");
        for path in ["observations", "audit-log?filter[action]=x&filter[action]=y", "events", "events?since=now"] {
            assert_eq!(world.get(&format!("/v1/{path}")).await.status, 200, "{path} with {limits:?}");
        }
    }
}

#[tokio::test]
async fn feed_starts_now_or_at_a_time_and_returns_a_cursor() {
    let world = TestApi::new().await;
    world.employee("one@example.com").await;
    let now = world.get("/v1/events?since=now").await.json();
    assert_eq!((now["data"].as_array().unwrap().len(), &now["has_more"]), (0, &false.into()));
    world.clock.advance_seconds(600);
    let two = world.employee("two@example.com").await;
    let ids_on_page = |page: &serde_json::Value| -> Vec<String> {
        page["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["data"]["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let cursor = now["next_cursor"].as_str().unwrap();
    assert_eq!(
        ids_on_page(&world.get(&format!("/v1/events?cursor={cursor}")).await.json()),
        std::slice::from_ref(&two)
    );
    let start = candor_port_clock::Clock::now(&*world.clock).plus_seconds(-300).to_string();
    let page = world.get(&format!("/v1/events?since={start}")).await.json();
    assert_eq!(ids_on_page(&page), [two]);
    let end = page["next_cursor"].as_str().unwrap();
    assert_eq!(ids_on_page(&world.get(&format!("/v1/events?cursor={end}")).await.json()), [""; 0]);

    let problem = |field: &str, code: &str| vec![(field.to_owned(), code.to_owned())];
    for (query, code) in [
        (format!("since=now&cursor={cursor}"), "invalid_format"),
        ("since=yesterday".to_owned(), "invalid_format"),
        ("since=2000-01-01T00:00:00Z".to_owned(), "out_of_range"),
        ("since=2999-01-01T00:00:00Z".to_owned(), "out_of_range"),
    ] {
        let response = world.get(&format!("/v1/events?{query}")).await;
        assert_eq!((response.status, response.problems()), (400, problem("since", code)), "{query}");
    }
}

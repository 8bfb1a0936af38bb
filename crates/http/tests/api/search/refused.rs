//! Searches that are refused, and hostile queries.

use std::sync::Arc;

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions, Tenant};
use candor_service::usecases::operator;
use candor_store_testkit::{Faulty, Random};
use serde_json::json;

use super::{ALL, ids, objective, observation, path, report, search, search_as, without_request_id};
use crate::stores::in_memory;
use crate::support::TestApi;

#[tokio::test]
async fn search_type_requires_its_read_scope() {
    let world = TestApi::new().await;
    let ada = report(&world, "ada", None).await;
    observation(&world, &ada, "calm").await;
    objective(&world, &ada, "calm").await;
    let key = world.scoped(&[Permission::ObservationsRead, Permission::SummariesWrite]).await;
    assert_eq!(ids(&search_as(&world, &key, &[("q", "calm")]).await).len(), 1);
    for (types, scope) in [
        ("objectives", "objectives:read"),
        ("observations,employees", "employees:read"),
        ("summaries", "summaries:read"),
    ] {
        for words in ["calm", ""] {
            let response = search_as(&world, &key, &[("q", words), ("types", types)]).await;
            assert_eq!(response.refusal(), (403, "permission_denied".to_owned()), "{types}");
            assert_eq!(response.json()["error"]["details"], json!([{"required_scope": scope}]), "{types}");
        }
    }
}

#[tokio::test]
async fn invalid_search_parameters_are_named_at_once() {
    let world = TestApi::new().await;
    let problems = async |query: &[(&str, &str)]| {
        let response = search(&world, query).await;
        assert_eq!(response.status, 400, "{}", response.text());
        response.problems()
    };
    let one = |field: &str, code: &str| vec![(field.to_owned(), code.to_owned())];
    assert_eq!(problems(&[]).await, one("q", "required"));
    assert_eq!(problems(&[("q", "\"\" ?")]).await, one("q", "too_short"));
    assert_eq!(problems(&[("q", &"ab ".repeat(11))]).await, one("q", "too_long"));
    assert_eq!(problems(&[("q", &"a".repeat(201))]).await, one("q", "too_long"));
    assert_eq!(problems(&[("q", "a\u{0}")]).await, one("q", "invalid_format"));
    assert_eq!(problems(&[("q", "a"), ("types", "events")]).await, one("types", "invalid_enum"));
    let several = problems(&[("types", "x"), ("limit", "101"), ("filter[x]", "1")]).await;
    let fields: Vec<_> = several.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(fields, ["q", "types", "limit", "filter[x]"]);
    insta::assert_snapshot!("search_invalid", crate::snapshots::shown(&search(&world, &[("q", "?!")]).await));
}

#[tokio::test]
async fn search_cursor_is_bound_to_its_search() {
    let world = TestApi::new().await;
    let ada = report(&world, "ada", None).await;
    for _ in 0..3 {
        observation(&world, &ada, "calm").await;
    }
    let page = search(&world, &[("q", "calm"), ("limit", "1")]).await.json();
    let cursor = page["next_cursor"].as_str().unwrap();
    assert_eq!(ids(&search(&world, &[("q", "calm"), ("limit", "2"), ("cursor", cursor)]).await).len(), 2);
    for other in [("q", "calmer"), ("q", "Calm")] {
        let response = search(&world, &[other, ("cursor", cursor)]).await;
        assert_eq!(response.problems(), [("cursor".to_owned(), "invalid_format".to_owned())]);
    }
    let list = format!("/v1/observations?cursor={cursor}");
    assert_eq!(world.get(&list).await.status, 400);
}

#[tokio::test]
async fn search_finds_nothing_of_another_data_set() {
    let world = TestApi::new().await;
    let ada = report(&world, "ada", None).await;
    observation(&world, &ada, "calm").await;
    let other = operator::create_organization(&world.services, "Other").await.unwrap();
    let keys = [
        world.key_of(other, Permissions::ALL, AccessLevel::Admin, Environment::Live).await,
        world.key(Permissions::ALL, AccessLevel::Admin, Environment::Test).await,
    ];
    for key in keys {
        for types in [ALL, ("types", "observations")] {
            assert!(ids(&search_as(&world, &key, &[("q", "calm"), types]).await).is_empty());
            let about = [("q", "calm"), types, ("filter[employee_id]", &*ada)];
            assert!(ids(&search_as(&world, &key, &about).await).is_empty());
        }
    }
}

/// Characters that are special to query languages and parsers, and some letters.
const PARTS: [&str; 40] = [
    "\"",
    "'",
    "*",
    "^",
    "(",
    ")",
    ":",
    "-",
    "+",
    "&",
    "|",
    "!",
    "<->",
    "<2>",
    "\\",
    "%",
    "_",
    "AND",
    "OR",
    "NOT",
    "NEAR",
    "{",
    "}",
    "[",
    "]",
    ";",
    "--",
    "\u{301}",
    "\u{200d}",
    "👨‍👩‍👧",
    "日本",
    "שלום",
    "é",
    "a",
    "calm",
    " ",
    "\t",
    "\u{feff}",
    "\u{fffd}",
    "\u{10ffff}",
];

#[tokio::test]
async fn random_search_query_returns_200_or_400() {
    let world = TestApi::new().await;
    let ada = report(&world, "ada", None).await;
    observation(&world, &ada, "Kept calm, \"AND\" (NOT) a* 日本 é.").await;
    let random = Random::new(5);
    for _ in 0..400 {
        let words: String = (0..1 + random.number_below(12)).map(|_| *random.pick(&PARTS)).collect();
        let response = search(&world, &[("q", &words), ALL]).await;
        assert!(matches!(response.status, 200 | 400), "{words:?}: {}", response.text());
    }
    for raw in ["%", "%ff", "%00", "%ED%A0%80"] {
        let raw_response = world.get(&format!("/v1/search?q={raw}")).await;
        assert!(matches!(raw_response.status, 200 | 400), "{raw}: {}", raw_response.text());
    }
}

#[tokio::test]
async fn search_before_indexing_ends_is_503_with_retry_after() {
    let store = Arc::new(Faulty::new(in_memory()));
    let world = TestApi::on(store.clone(), crate::support::patient_settings()).await;
    let ada = report(&world, "ada", None).await;
    observation(&world, &ada, "calm").await;
    store.set_backlog(Some((Tenant::live(world.organization), "observations")));
    let response = search(&world, &[("q", "calm")]).await;
    assert_eq!(response.refusal(), (503, "unavailable".to_owned()), "{}", response.text());
    assert_eq!(response.header("retry-after"), Some("30"));
    let both = search(&world, &[("q", "calm"), ALL]).await;
    assert_eq!(without_request_id(both.json()), without_request_id(response.json()));
    assert_eq!(
        search(&world, &[("q", "ada"), ("types", "employees")]).await.status,
        200,
        "the index of people is complete"
    );
    let test = world.key(Permissions::ALL, AccessLevel::Admin, Environment::Test).await;
    assert_eq!(
        world.bare("GET", &path(&[("q", "calm")])).key(&test).send().await.status,
        200,
        "the index of the test data is complete"
    );
    store.set_backlog(None);
    assert_eq!(ids(&search(&world, &[("q", "calm")]).await).len(), 1);
}

//! The largest bodies of several shapes, sent to each route: they are parsed and decided in turns, with short
//! answers.

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_fair_share::LargeWork;
use candor_fair_share::large_work::Turn;
use candor_http::table::{Body, Method, Route};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};

use crate::resources::{Resources, method, routes_of_v1};
use crate::stores::every_store;
use crate::support::{Request, TestApi, TestResponse};

/// Size of the bodies, a little below the limit of 256 KiB.
const BYTES: usize = 250_000;
/// Maximum size of an answer to a refused body. The answer may repeat a reference to a missing resource.
const MAX_RESPONSE_BYTES: usize = BYTES + 16 * 1024;

/// Returns members whose text has about [`BYTES`] bytes.
fn members(value: &str) -> String {
    let one = value.len() + 11;
    (0..BYTES / one).map(|number| format!(r#""a{number:06}":{value}"#)).collect::<Vec<_>>().join(",")
}

/// Returns one body of each shape. `member` is a member that the route knows.
fn shapes(member: &str) -> Vec<(&'static str, String)> {
    let nested_arrays = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let list = |item: &str| vec![item; BYTES / (item.len() + 1)].join(",");
    let text = |letter: &str| format!(r#"{{"{member}":"{}"}}"#, letter.repeat(BYTES / letter.len()));
    vec![
        ("flat", format!("{{{}}}", members("1"))),
        ("members of a member", format!(r#"{{"{member}":{{{}}}}}"#, members("1"))),
        ("objects of a member", format!(r#"{{"{member}":{{{}}}}}"#, members(r#"{"a":1}"#))),
        ("entries", format!(r#"{{"{member}":[{}]}}"#, list(r#"{"value":"x"}"#))),
        ("one wide entry", format!(r#"{{"{member}":[{{{}}}]}}"#, members("1"))),
        // A body has at most 40,000 values.
        ("deep", format!(r#"{{"{member}":[{}]}}"#, vec![nested_arrays.as_str(); 390].join(","))),
        ("Latin", text("a")),
        ("Han", text("漢")),
        ("emoji", text("\u{1f600}")),
    ]
}

/// Sends a request while other work holds all turns. Asserts that the service neither parses the body nor decides
/// about the request without a turn.
async fn send_in_turns(world: &TestApi, request: Request<'_>, what: &str) -> TestResponse {
    let work = &world.services.large_bodies;
    let mut turns: Vec<_> = std::iter::from_fn(|| work.turn(None).now_or_never()).collect();
    let mut request_future = Box::pin(request.send());
    let waits = async {
        while !work.is_awaited() {
            tokio::task::yield_now().await;
        }
    };
    let first_end = futures_util::future::select(&mut request_future, Box::pin(waits)).await;
    if let futures_util::future::Either::Left((answered, _)) = first_end {
        panic!("{what}: {} without a turn", answered.status);
    }
    // This turn begins when the body has been parsed.
    let mut next = Box::pin(work.turn(None));
    assert!((&mut next).now_or_never().is_none());
    turns.pop();
    let second_end = futures_util::future::select(&mut request_future, &mut next).await;
    let futures_util::future::Either::Right((next, _)) = second_end else {
        panic!("{what}: no turn between reading and deciding");
    };
    assert!((&mut request_future).now_or_never().is_none(), "{what}: decided without a turn");
    drop((next, turns));
    request_future.await
}

fn check(answered: &TestResponse, what: &str) {
    assert!(answered.status < 500, "{what}: {} {}", answered.status, answered.text());
    assert!(answered.body.len() <= MAX_RESPONSE_BYTES, "{what}: {} bytes", answered.body.len());
}

/// Returns the first member of a route's body, or `metadata` if the route has none.
fn known_member(body: Option<&Value>) -> String {
    let Some(members) = body.and_then(Value::as_object) else { return "metadata".to_owned() };
    members.keys().next().cloned().unwrap_or_else(|| "metadata".to_owned())
}

#[tokio::test]
async fn large_body_of_each_route_is_decided_in_turns() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let test_key = world.key(Permissions::ALL, AccessLevel::Admin, Environment::Test).await;
    // Public routes accept only small bodies.
    let has_large_body =
        |route: &&Route| route.method != Method::Get && route.body != Body::Csv && !route.access.is_public();
    for route in routes_of_v1().filter(has_large_body) {
        let member = known_member(resources.body(route).as_ref());
        let path = resources.path(route);
        for (shape, body) in shapes(&member) {
            world.clock.advance_millis(1);
            let what = format!("{} {shape}", route.operation);
            let is_of_test = route.access.environment() == Some(Environment::Test);
            let key = if is_of_test { &test_key } else { &world.admin };
            let request = world.bare(method(route), &path).key(key);
            let request = request.header("content-type", "application/json").body(body);
            check(&send_in_turns(&world, request, &what).await, &what);
        }
    }
}

#[tokio::test]
async fn large_scim_body_is_decided_in_turns() {
    let world = TestApi::new().await;
    let connector = json!({"type": "scim", "hris_source": "okta"});
    let connector = world.made("/v1/connectors", connector).await;
    let key = json!({"name": "Okta", "scopes": ["scim"], "connector_id": connector});
    let key = world.post("/v1/api-keys", key).await.json()["key"].as_str().unwrap().to_owned();
    let user = json!({"userName": "ada@example.com", "name": {"givenName": "Ada", "familyName": "Example"}});
    let creation = world.bare("POST", "/scim/v2/Users").key(&key).json(&user).send().await;
    let path = format!("/scim/v2/Users/{}", creation.json()["id"].as_str().unwrap());
    for member in ["phoneNumbers", "name", "urn:x:1:User", "userName", "shelf"] {
        for (shape, body) in shapes(member) {
            let operations = format!(r#"{{"Operations":[{{"op":"add","value":{body}}}]}}"#);
            for (method, path, body) in
                [("POST", "/scim/v2/Users", body.clone()), ("PUT", &*path, body), ("PATCH", &*path, operations)]
            {
                let what = format!("{method} {member} {shape}");
                let request = world.bare(method, path).key(&key).header("content-type", "application/scim+json");
                let response = send_in_turns(&world, request.body(body), &what).await;
                check(&response, &what);
                assert_eq!(response.status, 400, "{what}");
            }
        }
    }
}

/// Takes all turns of large bodies.
fn take_turns(work: &LargeWork) -> Vec<Turn> {
    std::iter::from_fn(|| work.turn(None).now_or_never()).collect::<Result<_, _>>().unwrap()
}

/// Returns the responses that are there, without waiting.
fn take_answered<'w>(
    pending: &mut FuturesUnordered<impl Future<Output = TestResponse> + 'w>,
) -> Vec<TestResponse> {
    std::iter::from_fn(|| pending.next().now_or_never().flatten()).collect()
}

#[tokio::test]
async fn bodies_of_many_values_wait_within_the_room_of_their_key() {
    const BODIES: usize = 100;
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let work = &world.services.large_bodies;
        let turns = take_turns(work);
        // 39,980 values, which take up to forty times the size of the text.
        let text = format!(r#"{{"metadata":{{"a":[{}]}}}}"#, vec!["[1]"; 19_990].join(","));
        let send = || {
            let request = world.ask("POST", "/v1/observations").header("content-type", "application/json");
            request.body(text.clone()).send()
        };
        let mut pending: FuturesUnordered<_> = (0..BODIES).map(|_| send()).collect();
        let mut refusals = vec![];
        while refusals.len() + work.waiting_callers() < BODIES {
            refusals.extend(take_answered(&mut pending));
            tokio::task::yield_now().await;
        }
        // 32 MiB of a key are at most 3 of these bodies.
        assert!((1..=3).contains(&work.waiting_callers()), "{what}: {} wait", work.waiting_callers());
        assert_eq!(refusals.len() + work.waiting_callers(), BODIES, "{what}");
        for refusal in &refusals {
            assert_eq!((refusal.status, refusal.header("retry-after").is_some()), (503, true), "{what}");
        }
        let name = format!("Department {what}");
        assert_eq!(world.post("/v1/departments", json!({"name": name})).await.status, 201, "{what}: small bodies");
        drop(turns);
        let decided_responses: Vec<_> = pending.collect().await;
        assert!(decided_responses.iter().all(|response| response.status == 400), "{what}");
        assert_eq!(decided_responses.len() + refusals.len(), BODIES, "{what}");
    }
}

/// Creates 46 people of 4.5 KB each.
async fn make_people(world: &TestApi) -> Vec<String> {
    let fields: serde_json::Map<_, _> =
        (0..32).map(|number| (format!("field{number}"), json!("x".repeat(140)))).collect();
    let mut people = vec![];
    for number in 0..46 {
        let person = json!({
            "email": format!("reader{number}@example.com"), "first_name": "Ada", "last_name": "Moreau",
            "custom_fields": fields,
        });
        people.push(world.made("/v1/employees", person).await);
    }
    people
}

#[tokio::test]
async fn large_read_of_a_body_ends_before_later_bodies_begin() {
    const BODIES: usize = 40;
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let people = make_people(world).await;
        // The decision reads these people. The blanks make the bodies large.
        let assignment = json!({
            "employee_id": people[0], "requester_id": people[0], "reviewer_ids": people[1..], "title": "t",
        });
        let send = |body: &Value| {
            let text = body.to_string().replacen('{', &format!("{{{}", " ".repeat(66_000)), 1);
            let request = world.ask("POST", "/v1/assignments?dry_run=true");
            request.header("content-type", "application/json").body(text).send()
        };
        let work = &world.services.large_bodies;
        let mut turns = take_turns(work);
        let mut reader: FuturesUnordered<_> = [send(&assignment)].into_iter().collect();
        let (mut later_bodies, mut reader_responses) = (FuturesUnordered::new(), vec![]);
        let (mut step_count, mut later_count) = (0, 0);
        while reader_responses.is_empty() {
            // The reader waits for a turn again, or has ended.
            while reader_responses.is_empty() && work.waiting_callers() <= later_count {
                reader_responses.extend(take_answered(&mut reader));
                assert!(take_answered(&mut later_bodies).is_empty(), "{what}: a later body was decided first");
                tokio::task::yield_now().await;
            }
            if step_count == 1 {
                // The reader's body has been parsed. The later bodies come behind its first turn.
                later_bodies.extend((0..BODIES).map(|_| send(&json!({}))));
                later_count = BODIES;
                while work.waiting_callers() <= later_count {
                    assert!(take_answered(&mut later_bodies).is_empty(), "{what}");
                    tokio::task::yield_now().await;
                }
            }
            if reader_responses.is_empty() {
                // The turn that is given away comes back after one step of the first caller.
                let mut next_turn = Box::pin(work.turn(None));
                assert!((&mut next_turn).now_or_never().is_none());
                turns.pop();
                while (&mut next_turn).now_or_never().map(|turn| turns.push(turn.unwrap())).is_none() {
                    reader_responses.extend(take_answered(&mut reader));
                    assert!(take_answered(&mut later_bodies).is_empty(), "{what}: a later body was decided first");
                    tokio::task::yield_now().await;
                }
                step_count += 1;
            }
        }
        assert_eq!(reader_responses[0].status, 200, "{what}: {}", reader_responses[0].text());
        assert!(step_count >= 2, "{what}: parsed and decided in turns");
        assert_eq!(work.waiting_callers(), BODIES, "{what}: no later body has begun");
        // The connection of the reader is free for small reads.
        assert_eq!(world.get("/v1/departments?limit=1").await.status, 200, "{what}");
        drop(turns);
        let decided_responses: Vec<_> = later_bodies.collect().await;
        assert!(decided_responses.iter().all(|response| response.status == 400), "{what}");
    }
}

#[tokio::test]
async fn problems_beyond_a_hundred_are_counted() {
    let world = TestApi::new().await;
    let employee = world.employee("ada@example.com").await;
    let body = format!("{{{}}}", members("1"));
    let request = world.ask("PATCH", &format!("/v1/employees/{employee}"));
    let response = request.header("content-type", "application/json").body(body).send().await;
    let problems = response.problems();
    assert_eq!((response.status, problems.len()), (400, 101));
    assert_eq!(problems[100], ("details".to_owned(), "limit_reached".to_owned()));
    let fields =
        json!({"custom_fields": (0..65).map(|n| (format!("k{n}"), json!(1))).collect::<serde_json::Map<_, _>>()});
    let patch_response = world.patch(&format!("/v1/employees/{employee}"), fields).await;
    assert_eq!(patch_response.problems(), [("custom_fields".to_owned(), "too_long".to_owned())]);
}

//! Conversations and messages: visibility, write access and concurrent posts (decisions B5, G).

use candor_domain::access::AccessLevel;
use futures_util::future::{join, join_all};
use serde_json::{Value, json};

use crate::objectives::{body as goal_of, key_for, objective, person, walk};
use crate::snapshots::shown;
use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

const ABSENT: &str = "/v1/conversations/cnv_00000000000000000000000001";

/// Creates a conversation with these participants and returns its path.
async fn begin_conversation(world: &TestApi, people: &[&str]) -> String {
    let body = json!({"title": "The second quarter", "participant_ids": people});
    format!("/v1/conversations/{}", world.made("/v1/conversations", body).await)
}

async fn send(world: &TestApi, key: &str, method: &str, path: &str, body: Option<Value>) -> TestResponse {
    let request = world.bare(method, path).key(key);
    match body {
        Some(body) => request.json(&body).send().await,
        None => request.send().await,
    }
}

fn message(author: &str) -> Value {
    json!({"author_id": author, "body": "Shall we?"})
}

#[tokio::test]
async fn conversation_lifecycle_matches_snapshots() {
    let world = TestApi::new().await;
    let (ada, bob) =
        (person(&world, "ada", "employee", None).await, person(&world, "bob", "employee", None).await);
    let goal = world.made("/v1/employee-objectives", goal_of("employee", &ada)).await;
    let body = json!({
        "title": "The second quarter", "participant_ids": [ada, bob], "about": {"type": "objective", "id": goal},
    });
    let creation = world.post("/v1/conversations", body).await;
    insta::assert_snapshot!("conversation_created", shown(&creation));
    let path = format!("/v1/conversations/{}", creation.json()["id"].as_str().unwrap());
    let messages = format!("{path}/messages");
    world.clock.advance_seconds(1);
    let message_response =
        world.ask("POST", &messages).header("idempotency-key", "k").json(&message(&ada)).send().await;
    insta::assert_snapshot!("message_created", shown(&message_response));
    let replay_response =
        world.ask("POST", &messages).header("idempotency-key", "k").json(&message(&ada)).send().await;
    assert_eq!(
        (replay_response.header("idempotent-replayed"), &replay_response.body),
        (Some("true"), &message_response.body)
    );
    let location =
        message_response.header("location").unwrap().trim_start_matches("https://candor.example").to_owned();
    assert_eq!(world.get(&location).await.json(), message_response.json());
    world.clock.advance_seconds(1);
    insta::assert_snapshot!("message_of_a_stranger", shown(&world.post(&messages, message("emp_1")).await));
    insta::assert_snapshot!("conversation_renamed", shown(&world.patch(&path, json!({"title": "Third"})).await));
    insta::assert_snapshot!(
        "conversation_archived",
        shown(&world.post(&format!("{path}/archive"), json!({})).await)
    );
    insta::assert_snapshot!("message_to_an_archived_one", shown(&world.post(&messages, message(&bob)).await));
    insta::assert_snapshot!("messages", shown(&world.get(&messages).await));
    insta::assert_snapshot!("conversations", shown(&world.get("/v1/conversations?filter[archived]=all").await));
    insta::assert_snapshot!("conversation_told", shown(&world.get("/v1/notifications").await));
    insta::assert_snapshot!("conversation_audited", shown(&world.get("/v1/audit-log?limit=4").await));
    let event = "/v1/events?filter[event]=conversation.message.created";
    insta::assert_snapshot!("conversation_event", shown(&world.get(event).await));
}

#[tokio::test]
async fn archived_conversation_is_readable_and_takes_no_writes() {
    let world = TestApi::new().await;
    let (ada, bob) = (world.employee("a@example.com").await, world.employee("b@example.com").await);
    let path = begin_conversation(&world, &[&ada, &bob]).await;
    let messages = format!("{path}/messages");
    let requests = || {
        [
            ("POST", messages.clone(), message(&ada), 201),
            ("PATCH", path.clone(), json!({"title": "Third"}), 200),
            ("PATCH", path.clone(), json!({"title": "Third"}), 200),
            ("POST", format!("{path}/archive"), json!({}), 200),
        ]
    };
    for (method, path, body, wanted) in requests() {
        assert_eq!(world.ask(method, &path).json(&body).send().await.status, wanted, "{method} {path}");
    }
    for (method, path, body, _) in requests() {
        let response = world.ask(method, &path).json(&body).send().await;
        assert_eq!(response.refusal(), (409, "conflict".to_owned()), "{method} {path}");
    }
    assert_eq!(walk(&world, &world.admin, &format!("{messages}?limit=100")).await.len(), 1);
    assert_eq!(world.get(&path).await.json()["title"], "Third");
    let list_length =
        async |filter: &str| walk(&world, &world.admin, &format!("/v1/conversations?limit=9{filter}")).await.len();
    assert_eq!(
        (
            list_length("").await,
            list_length("&filter[archived]=true").await,
            list_length("&filter[archived]=all").await
        ),
        (0, 1, 1)
    );
}

#[tokio::test]
async fn conversation_is_visible_to_participants_and_org_admins() {
    for shared in every_store().await {
        let world = &shared.world;
        let boss = person(world, "boss", "manager", None).await;
        let ada = person(world, "ada", "employee", Some(&boss)).await;
        let bob = person(world, "bob", "employee", None).await;
        let admin = person(world, "admin", "org_admin", None).await;
        let path = begin_conversation(world, &[&ada, &bob]).await;
        let messages = format!("{path}/messages");
        let first = world.made(&messages, message(&ada)).await;
        let key = async |who: &str| key_for(world, who, AccessLevel::Admin).await;
        // Name, author of the message, key, visibility of the conversation, and status of posting a message.
        let callers = [
            ("ada", &ada, key(&ada).await, true, 201),
            ("bob", &bob, key(&bob).await, true, 201),
            ("the manager", &boss, key(&boss).await, false, 404),
            ("an org admin", &ada, key(&admin).await, true, 403),
            ("the organization", &bob, world.admin.clone(), true, 201),
        ];
        for (name, who, key, sees, writes) in callers {
            let case = format!("{}: {name}", shared.name);
            let nothing = send(world, &key, "GET", ABSENT, None).await.without_request_id();
            let status = |good: u16| if sees { good } else { 404 };
            for (method, path, body, good) in [
                ("GET", path.clone(), None, 200),
                ("GET", messages.clone(), None, 200),
                ("GET", format!("{messages}/{first}"), None, 200),
                ("PATCH", path.clone(), Some(json!({"title": name})), 200),
                ("POST", messages.clone(), Some(message(who)), writes),
            ] {
                let response = send(world, &key, method, &path, body).await;
                assert_eq!(response.status, status(good), "{case}: {method} {path}: {}", response.text());
                assert!(
                    sees || response.without_request_id() == nothing,
                    "{case}: answered like an absent conversation"
                );
            }
            for filter in
                ["", "&sort=created_at", &format!("&filter[participant_id]={ada}"), "&filter[archived]=all"]
            {
                let rows = walk(world, &key, &format!("/v1/conversations?limit=7{filter}")).await;
                assert_eq!(rows.len(), usize::from(sees), "{case}: {filter}");
            }
        }
        let outside = key(&boss).await;
        assert_eq!(
            send(world, &outside, "POST", &format!("{path}/archive"), None).await.status,
            404,
            "{}",
            shared.name
        );
    }
}

#[tokio::test]
async fn bound_key_takes_part_as_its_person_only() {
    let world = TestApi::new().await;
    let (ada, bob) =
        (person(&world, "ada", "employee", None).await, person(&world, "bob", "employee", None).await);
    let stranger = person(&world, "stranger", "employee", None).await;
    let key = key_for(&world, &ada, AccessLevel::Standard).await;
    let path = begin_conversation(&world, &[&ada, &bob]).await;
    let response = send(&world, &key, "POST", &format!("{path}/messages"), Some(message(&bob))).await;
    assert_eq!(response.refusal(), (403, "permission_denied".to_owned()));
    let begin = async |people: [&str; 2], about: Value| {
        let body = json!({"title": "x", "participant_ids": people, "about": about});
        send(&world, &key, "POST", "/v1/conversations", Some(body)).await
    };
    assert_eq!(begin([&ada, &bob], Value::Null).await.status, 201);
    let outside = begin([&bob, &stranger], Value::Null).await;
    assert_eq!(outside.refusal(), (403, "permission_denied".to_owned()));
    let own = objective(&world, ("employee-objectives", "employee"), &ada).await;
    let others = objective(&world, ("employee-objectives", "employee"), &bob).await;
    let about = |path: &str| json!({"type": "objective", "id": path.rsplit('/').next().unwrap()});
    assert_eq!(begin([&ada, &bob], about(&own)).await.status, 201);
    let unseen = begin([&ada, &bob], about(&others)).await;
    assert_eq!(unseen.problems(), [("about.id".to_owned(), "not_found_in_organization".to_owned())]);
    assert_eq!(unseen.status, 422, "a hidden objective is reported as absent");
}

#[tokio::test]
async fn conversation_subject_must_exist_and_is_filterable() {
    let world = TestApi::new().await;
    let (ada, bob) =
        (person(&world, "ada", "employee", None).await, person(&world, "bob", "employee", None).await);
    let goal = world.made("/v1/employee-objectives", goal_of("employee", &ada)).await;
    let observation_body = json!({"employee_id": ada, "type": "strength", "observation": "Listens."});
    let observation = world.made("/v1/observations", observation_body).await;
    let about = |kind: &str, id: &str| json!({"title": "x", "participant_ids": [ada, bob], "about": {"type": kind, "id": id}});
    let summary = world.made("/v1/summaries", json!({"employee_id": ada, "title": "The year"})).await;
    let assignment_body = json!({"employee_id": ada, "title": "Before the review", "reviewer_ids": [bob]});
    let assignment = world.made("/v1/assignments", assignment_body).await;
    let all = [
        ("employee", &ada),
        ("objective", &goal),
        ("observation", &observation),
        ("summary", &summary),
        ("assignment", &assignment),
    ];
    for (kind, id) in all {
        let conversation = world.made("/v1/conversations", about(kind, id)).await;
        for sort in ["", "&sort=created_at", "&sort=-updated_at"] {
            let rows = walk(&world, &world.admin, &format!("/v1/conversations?filter[about_id]={id}{sort}")).await;
            assert_eq!(
                rows.iter().map(|item| item["id"].as_str().unwrap()).collect::<Vec<_>>(),
                [&conversation],
                "{kind}"
            );
        }
        for other in all.map(|(kind, _)| kind).into_iter().filter(|candidate| *candidate != kind) {
            let response = world.post("/v1/conversations", about(other, id)).await;
            let expected_problems = [("about.id".to_owned(), "not_found_in_organization".to_owned())];
            assert_eq!(
                (response.status, response.problems().as_slice()),
                (422, &expected_problems[..]),
                "{other} {id}"
            );
        }
    }
    for nothing in ["nonsense", "emp_00000000000000000000000001", "whk_00000000000000000000000001"] {
        assert!(
            walk(&world, &world.admin, &format!("/v1/conversations?filter[about_id]={nothing}")).await.is_empty()
        );
    }
}

#[tokio::test]
async fn concurrent_messages_are_all_stored_during_a_title_change() {
    for shared in every_store().await {
        let world = &shared.world;
        let (ada, bob) = (world.employee("a@example.com").await, world.employee("b@example.com").await);
        let path = begin_conversation(world, &[&ada, &bob]).await;
        let messages = format!("{path}/messages");
        let tag = world.get(&path).await.header("etag").unwrap().to_owned();
        let to = &messages;
        let message_responses = join_all((0..30).map(|number| {
            let body =
                json!({"author_id": if number % 2 == 0 { &ada } else { &bob }, "body": format!("No. {number}")});
            async move { world.post(to, body).await }
        }));
        let rename_responses =
            join_all((0..3).map(|number| world.patch(&path, json!({"title": format!("Title {number}")}))));
        let (message_responses, rename_responses) = join(message_responses, rename_responses).await;
        for answered in message_responses.iter().chain(&rename_responses) {
            assert!(matches!(answered.status, 200 | 201), "{}: {}", shared.name, answered.text());
        }
        assert_eq!(walk(world, &world.admin, &format!("{messages}?limit=7")).await.len(), 30, "{}", shared.name);
        let notifications =
            walk(world, &world.admin, &format!("/v1/notifications?limit=100&filter[recipient_id]={ada}")).await;
        assert_eq!(notifications.len(), 15, "{}: Ada is notified of Bob's messages only", shared.name);
        let now = world.get(&path).await;
        assert_ne!(now.header("etag"), Some(tag.as_str()), "{}", shared.name);
        assert_eq!(now.json()["last_message_at"], message_responses[0].json()["created_at"], "{}", shared.name);
    }
}

#[tokio::test]
async fn message_changes_the_etag_without_blocking_other_updates() {
    let world = TestApi::new().await;
    let (ada, bob) = (world.employee("a@example.com").await, world.employee("b@example.com").await);
    let path = begin_conversation(&world, &[&ada, &bob]).await;
    let etag_before = world.get(&path).await.header("etag").unwrap().to_owned();
    world.made(&format!("{path}/messages"), message(&ada)).await;
    let fresh = world.ask("GET", &path).header("if-none-match", &etag_before).send().await;
    assert_eq!(fresh.status, 200, "the conversation shows the time of its newest message");
    let rename_response =
        world.ask("PATCH", &path).header("if-match", &etag_before).json(&json!({"title": "Third"})).send().await;
    assert_eq!(rename_response.status, 200, "{}", rename_response.text());
}

#[tokio::test]
async fn messages_are_paged_in_both_orders_and_filtered() {
    let world = TestApi::new().await;
    let (ada, bob) = (world.employee("a@example.com").await, world.employee("b@example.com").await);
    let path = begin_conversation(&world, &[&ada, &bob]).await;
    let other = begin_conversation(&world, &[&ada, &bob]).await;
    let messages = format!("{path}/messages");
    let mut all = vec![];
    for number in 0..9 {
        all.push(world.made(&messages, message(if number % 3 == 0 { &ada } else { &bob })).await);
        world.made(&format!("{other}/messages"), message(&ada)).await;
    }
    let ids = async |query: &str| {
        let rows = walk(&world, &world.admin, &format!("{messages}?limit=2{query}")).await;
        rows.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids("&sort=created_at").await, all);
    assert_eq!(ids("").await, all.iter().rev().cloned().collect::<Vec<_>>());
    assert_eq!(
        ids(&format!("&sort=created_at&filter[author_id]={ada}")).await,
        [0, 3, 6].map(|index| all[index].clone())
    );
    let created_at =
        world.get(&format!("{messages}/{}", all[4])).await.json()["created_at"].as_str().unwrap().to_owned();
    assert_eq!(ids(&format!("&sort=created_at&filter[created_at][lte]={created_at}")).await, all[..5]);
    assert_eq!(
        world.get(&format!("{other}/messages/{}", all[4])).await.status,
        404,
        "the message is in another conversation"
    );
}

#[tokio::test]
async fn added_person_sees_messages_from_then_on() {
    for shared in every_store().await {
        let world = &shared.world;
        let mut people = vec![];
        for name in ["ada", "bob", "eve", "org"] {
            people.push(person(world, name, "employee", None).await);
        }
        let [ada, bob, eve, other] = &people[..] else { panic!() };
        let (of_ada, of_eve) =
            (key_for(world, ada, AccessLevel::Standard).await, key_for(world, eve, AccessLevel::Standard).await);
        let of_other = key_for(world, other, AccessLevel::Standard).await;
        let path = begin_conversation(world, &[ada, bob]).await;
        let messages = format!("{path}/messages");
        let early = world.made(&messages, message(bob)).await;
        world.clock.advance_seconds(60);
        let set = async |key: &str, people: &[&str]| {
            send(world, key, "PATCH", &path, Some(json!({"participant_ids": people}))).await
        };
        let removal_response = set(&of_ada, &[ada, eve]).await;
        assert_eq!(removal_response.refusal(), (403, "permission_denied".to_owned()), "{}", shared.name);
        assert_eq!(set(&of_ada, &[ada, bob, eve]).await.status, 200);
        assert_eq!(set(&world.admin, &[ada, bob, eve, other]).await.status, 200);
        world.clock.advance_seconds(60);
        let late = world.made(&messages, message(bob)).await;
        let ids = async |key: &str, query: &str| {
            let page = send(world, key, "GET", &format!("{messages}{query}"), None).await.json();
            let ids =
                page["data"].as_array().unwrap().iter().map(|message| message["id"].as_str().unwrap().to_owned());
            ids.collect::<Vec<_>>()
        };
        for (key, wanted) in
            [(&of_ada, vec![&late, &early]), (&of_eve, vec![&late]), (&of_other, vec![&late, &early])]
        {
            for query in ["", "?filter[created_at][gte]=2026-01-01T00:00:00Z"] {
                assert_eq!(ids(key, query).await.iter().collect::<Vec<_>>(), wanted, "{}", shared.name);
            }
            let read = send(world, key, "GET", &format!("{messages}/{early}"), None).await.status;
            assert_eq!(read, if wanted.len() == 2 { 200 } else { 404 });
        }
        // A person may leave.
        assert_eq!(set(&of_eve, &[ada, bob, other]).await.status, 200);
        assert_eq!(send(world, &of_eve, "GET", &path, None).await.status, 404);
        // After the return, notices of earlier messages stay as hidden as the messages.
        world.clock.advance_seconds(60);
        assert_eq!(set(&of_ada, &[ada, bob, other, eve]).await.status, 200);
        world.clock.advance_seconds(60);
        let newest = world.made(&messages, message(bob)).await;
        assert_eq!(ids(&of_eve, "").await, [newest]);
        let notices = send(world, &of_eve, "GET", "/v1/notifications?sort=created_at", None).await.json();
        let have_texts: Vec<_> =
            notices["data"].as_array().unwrap().iter().map(|notice| notice["body"].is_string()).collect();
        assert_eq!(have_texts, [false, true], "{}", shared.name);
        let first = format!("/v1/notifications/{}/read", notices["data"][0]["id"].as_str().unwrap());
        assert_eq!(send(world, &of_eve, "POST", &first, None).await.json()["body"], Value::Null);
    }
}

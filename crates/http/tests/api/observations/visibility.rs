//! Visibility of observations: reads, writes and authors of bound keys (decision B5).

use candor_domain::access::{AccessLevel, Environment, Permissions};
use serde_json::{Value, json};

use crate::objectives::{key_for, person, walk};
use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

const ABSENT: &str = "/v1/observations/obs_00000000000000000000000001";

/// Test people: the reporting line top → boss → subject and outsiders, with a key for each.
struct Relations {
    author: String,
    requester: String,
    subject: String,
    /// Name, person and key. The last two keys have admin level: one bound to an outsider, one of the
    /// organization.
    keys: Vec<(&'static str, String, String)>,
}

impl Relations {
    async fn new(world: &TestApi) -> Self {
        let top = person(world, "top", "manager", None).await;
        let boss = person(world, "boss", "manager", Some(&top)).await;
        let subject = person(world, "subject", "employee", Some(&boss)).await;
        let peer = person(world, "peer", "manager", Some(&boss)).await;
        let report = person(world, "below", "employee", Some(&subject)).await;
        let author = person(world, "author", "employee", None).await;
        let requester = person(world, "requester", "manager", None).await;
        let stranger = person(world, "stranger", "manager", None).await;
        let org_admin = person(world, "admin", "org_admin", None).await;
        let mut keys = vec![];
        for (name, id) in [
            ("author", &author),
            ("requester", &requester),
            ("subject", &subject),
            ("manager", &boss),
            ("manager above", &top),
            ("manager beside", &peer),
            ("report", &report),
            ("stranger", &stranger),
            ("org admin", &org_admin),
        ] {
            keys.push((name, id.clone(), key_for(world, id, AccessLevel::Standard).await));
        }
        keys.push((
            "stranger, admin level",
            stranger.clone(),
            key_for(world, &stranger, AccessLevel::Admin).await,
        ));
        let organization = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
        keys.push(("organization", String::new(), organization));
        Self { author, requester, subject, keys }
    }

    /// Creates an observation by the author about the subject and returns its id.
    async fn observation(&self, world: &TestApi, visibility: &str) -> String {
        let body = json!({
            "employee_id": self.subject, "author_id": self.author, "type": "opportunity", "visibility": visibility,
            "observation": "Interrupts colleagues.",
        });
        world.made("/v1/observations", body).await
    }

    /// Creates an assignment for the author about the subject, and submits an observation to it. Returns the
    /// path of the assignment and the id of the observation.
    async fn submit(&self, world: &TestApi, requester: &str, visibility: &str) -> (String, String) {
        let asks = json!({
            "employee_id": self.subject, "requester_id": requester, "title": "Before the review",
            "reviewer_ids": [self.author],
        });
        let path = format!("/v1/assignments/{}", world.made("/v1/assignments", asks).await);
        let observation =
            json!({"type": "strength", "observation": "Interrupts rarely.", "visibility": visibility});
        let body = json!({"reviewer_id": self.author, "observations": [observation]});
        let response = world.post(&format!("{path}/submissions"), body).await;
        assert_eq!(response.status, 200, "{}", response.text());
        let id = response.json()["submissions"][0]["observation_ids"][0].as_str().unwrap().to_owned();
        (path, id)
    }

    fn key(&self, name: &str) -> &str {
        &self.keys.iter().find(|(relation, ..)| *relation == name).unwrap().2
    }
}

async fn send(world: &TestApi, key: &str, method: &str, path: &str, body: Option<Value>) -> TestResponse {
    let request = world.bare(method, path).key(key);
    match body {
        Some(body) => request.json(&body).send().await,
        None => request.send().await,
    }
}

fn has(entries: &[Value], id: &str) -> bool {
    entries.iter().any(|entry| entry["id"] == id)
}

#[tokio::test]
async fn observation_is_visible_to_its_readers_only() {
    for store in every_store().await {
        let world = &store.world;
        let people = Relations::new(world).await;
        let always = ["author", "manager", "manager above", "org admin", "organization"];
        let cases = [
            ("person", people.observation(world, "person").await, vec!["subject"]),
            ("managers", people.observation(world, "managers").await, vec![]),
            ("submitted", people.submit(world, &people.requester, "person").await.1, vec!["subject", "requester"]),
            ("submitted, managers", people.submit(world, &people.requester, "managers").await.1, vec![]),
            ("asked by the subject", people.submit(world, &people.subject, "person").await.1, vec!["subject"]),
            ("asked by the subject, managers", people.submit(world, &people.subject, "managers").await.1, vec![]),
        ];
        for (name, _, key) in &people.keys {
            let rows = walk(world, key, "/v1/observations?limit=2").await;
            let about = format!("/v1/observations?limit=2&sort=created_at&filter[employee_id]={}", people.subject);
            let filtered_rows = walk(world, key, &about).await;
            let search_hits = walk(world, key, "/v1/search?q=interrupts&limit=2").await;
            let nothing = send(world, key, "GET", ABSENT, None).await.without_request_id();
            for (what, id, more) in &cases {
                let sees = always.contains(name) || more.contains(name);
                let case = format!("{}: {name} × {what}", store.name);
                let path = format!("/v1/observations/{id}");
                for suffix in ["", "?expand=employee"] {
                    let got = send(world, key, "GET", &format!("{path}{suffix}"), None).await;
                    assert_eq!(got.status, if sees { 200 } else { 404 }, "{case}");
                    assert!(sees || got.without_request_id() == nothing, "{case}: {}", got.text());
                }
                assert_eq!(has(&rows, id), sees, "{case}: list");
                assert_eq!(has(&filtered_rows, id), sees, "{case}: filtered list");
                assert_eq!(has(&search_hits, id), sees, "{case}: search");
                if !sees {
                    let patch_response = send(world, key, "PATCH", &path, Some(json!({"impact": "None"}))).await;
                    assert_eq!(patch_response.without_request_id(), nothing, "{case}");
                }
            }
        }
    }
}

#[tokio::test]
async fn observation_is_changed_by_author_and_admins_only() {
    for store in every_store().await {
        let world = &store.world;
        let people = Relations::new(world).await;
        for (name, changes) in
            [("author", true), ("subject", false), ("manager", false), ("org admin", true), ("organization", true)]
        {
            let case = format!("{}: {name}", store.name);
            let key = people.key(name);
            let path = format!("/v1/observations/{}", people.observation(world, "person").await);
            let patch = send(world, key, "PATCH", &path, Some(json!({"visibility": "managers"}))).await;
            let archive = send(world, key, "POST", &format!("{path}/archive"), None).await;
            if !changes {
                assert_eq!(world.post(&format!("{path}/archive"), json!({})).await.status, 200);
            }
            let restore = send(world, key, "POST", &format!("{path}/restore"), None).await;
            for answered in [patch, archive, restore] {
                if changes {
                    assert_eq!(answered.status, 200, "{case}: {}", answered.text());
                } else {
                    assert_eq!(answered.refusal(), (403, "permission_denied".to_owned()), "{case}");
                    assert_eq!(answered.json()["error"].get("details"), None, "{case}");
                }
            }
        }
    }
}

#[tokio::test]
async fn visibility_change_hides_observation_from_its_subject() {
    let world = TestApi::new().await;
    let people = Relations::new(&world).await;
    let path = format!("/v1/observations/{}", people.observation(&world, "person").await);
    let (author, subject) = (people.key("author"), people.key("subject"));
    let status = async || send(&world, subject, "GET", &path, None).await.status;
    assert_eq!(status().await, 200);
    let hide_response = send(&world, author, "PATCH", &path, Some(json!({"visibility": "managers"}))).await;
    assert_eq!((hide_response.status, &hide_response.json()["visibility"]), (200, &json!("managers")));
    assert_eq!(status().await, 404);
    let show_response = send(&world, author, "PATCH", &path, Some(json!({"visibility": "person"}))).await;
    assert_eq!((show_response.status, status().await), (200, 200));
}

#[tokio::test]
async fn bound_key_writes_observations_as_its_person_only() {
    for store in every_store().await {
        let world = &store.world;
        let people = Relations::new(world).await;
        let body = |author: Option<Value>| {
            let mut body = json!({"employee_id": people.subject, "type": "strength", "observation": "Listens."});
            if let Some(author) = author {
                body["author_id"] = author;
            }
            body
        };
        for (name, id, key) in &people.keys {
            let case = format!("{}: {name}", store.name);
            let create = async |author| send(world, key, "POST", "/v1/observations", Some(body(author))).await;
            let own = create(None).await;
            assert_eq!(own.status, 201, "{case}: {}", own.text());
            if id.is_empty() {
                assert_eq!(own.json()["author_id"], Value::Null, "{case}");
                assert_eq!(create(Some(json!(people.subject))).await.status, 201, "{case}");
                continue;
            }
            assert_eq!(own.json()["author_id"], json!(id), "{case}");
            assert_eq!(create(Some(json!(id))).await.status, 201, "{case}");
            let other = if *name == "subject" { &people.author } else { &people.subject };
            for author in [json!(other), Value::Null, json!("emp_00000000000000000000000001")] {
                let response = create(Some(author.clone())).await;
                assert_eq!(response.refusal(), (403, "permission_denied".to_owned()), "{case} as {author}");
                assert_eq!(response.json()["error"].get("details"), None, "{case} as {author}");
            }
        }
    }
}

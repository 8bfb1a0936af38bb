//! Erasures remove all texts of a person and no texts of other people, and continue after a failure of any piece
//! (decision H4).

use std::fs;
use std::path::Path;
use std::sync::Arc;

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use candor_http::table::{Dialect, Method, ROUTES, Route};
use candor_service::runtime::{erasure, search_index};
use candor_store_testkit::{Fault, FaultyCall};
use serde_json::{Value, json};

use crate::objectives::{key_for, person};
use crate::stores::{every_faulty_store, every_store, in_folder};
use crate::support::{TestApi, TestResponse};

/// Beginning of every text of the erased person.
const CANARY: &str = "zqcanary";

/// A person with a marked text in each field that takes text, and another person.
struct Walk {
    person: String,
    boss: String,
    other: String,
    /// Paths of the resources about the person.
    removed: Vec<String>,
    /// Requests of the walk: idempotency key, path and body.
    requests: Vec<(String, String, Value)>,
    count: usize,
}

impl Walk {
    fn text(&mut self) -> String {
        self.count += 1;
        format!("{CANARY}{:02}x", self.count)
    }

    async fn make(&mut self, world: &TestApi, path: &str, body: Value) -> String {
        let creation = self.send(world, &world.admin.clone(), path, body).await;
        creation.json()["id"].as_str().unwrap_or_default().to_owned()
    }

    async fn send(&mut self, world: &TestApi, key: &str, path: &str, body: Value) -> TestResponse {
        world.clock.advance_seconds(2);
        let idempotency = format!("key-{}-{}", self.requests.len(), path.len());
        let agent = if key == world.admin { "Tests" } else { CANARY };
        let request = world.bare("POST", path).key(key).header("idempotency-key", &idempotency);
        let response = request.header("user-agent", agent).json(&body).send().await;
        assert!(response.status < 300, "{path}: {}", response.text());
        self.requests.push((idempotency, path.to_owned(), body));
        response
    }
}

async fn walk(world: &TestApi) -> Walk {
    let mut walk = Walk {
        person: String::new(),
        boss: String::new(),
        other: String::new(),
        removed: vec![],
        requests: vec![],
        count: 0,
    };
    walk.join(world).await;
    walk.other = person(world, "joe", "employee", None).await;
    walk.write_about_both(world).await;
    walk.talk(world).await;
    walk.upload(world).await;
    world.post(&format!("/v1/employees/{}/deactivate", walk.person), json!({})).await;
    search_index::index_pending(&world.services, || true).await.unwrap();
    walk
}

impl Walk {
    /// Creates the person, with an invitation that is accepted and a change.
    async fn join(&mut self, world: &TestApi) {
        let manager = person(world, "boss", "manager", None).await;
        self.boss.clone_from(&manager);
        let (first, last, title) = (self.text(), self.text(), self.text());
        let (external, field) = (self.text(), self.text());
        let body = json!({"email": format!("{CANARY}@example.com"), "first_name": first, "last_name": last,
            "job_title": title, "external_id": external, "custom_fields": {"badge": field}, "manager_id": manager,
            "send_invite": true});
        self.person = self.make(world, "/v1/employees", body).await;
        let id = self.person.clone();
        let invitation = world.post(&format!("/v1/employees/{id}/invite"), json!({})).await.json();
        let token = invitation["accept_url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
        world.bare("POST", "/v1/invitations/accept").json(&json!({"token": token})).send().await;
        let text = self.text();
        world.patch(&format!("/v1/employees/{id}"), json!({"job_title": text})).await;
    }

    /// Creates resources about the person, with marked texts, and resources about the other person.
    async fn write_about_both(&mut self, world: &TestApi) {
        let (id, other) = (self.person.clone(), self.other.clone());
        for subject in [&id, &other] {
            let is_theirs = subject == &id;
            let mut text = || if is_theirs { self.text() } else { "Plain".to_owned() };
            let observation = json!({"employee_id": subject, "author_id": other, "type": "strength",
                "observation": text(), "impact": text(), "recommended_action": text(),
                "metadata": {"cycle": text()}});
            let (impact, goal, why) = (text(), text(), text());
            let objective = json!({"owner_id": subject, "title": goal, "description": text(),
                "period_start": "2026-04-01", "period_end": "2026-06-30"});
            let summary = json!({"employee_id": subject, "author_id": other, "title": text(), "body": text()});
            let comment = text();
            let assignment = json!({"employee_id": subject, "title": text(), "instructions": text(),
                "reviewer_ids": [other]});
            let submission =
                json!({"reviewer_id": other, "observations": [{"type": "strength", "observation": text()}]});
            let observation = self.make(world, "/v1/observations", observation).await;
            world.patch(&format!("/v1/observations/{observation}"), json!({"impact": impact})).await;
            let objective = self.make(world, "/v1/employee-objectives", objective).await;
            let path = format!("/v1/employee-objectives/{objective}");
            self.send(world, &world.admin.clone(), &format!("{path}/reject"), json!({"reason": why})).await;
            let summary = self.make(world, "/v1/summaries", summary).await;
            let share = format!("/v1/summaries/{summary}");
            self.send(world, &world.admin.clone(), &format!("{share}/approve"), json!({})).await;
            self.send(world, &world.admin.clone(), &format!("{share}/share"), json!({})).await;
            self.send(world, &world.admin.clone(), &format!("{share}/feedback"), json!({"comment": comment}))
                .await;
            let assignment = self.make(world, "/v1/assignments", assignment).await;
            self.send(
                world,
                &world.admin.clone(),
                &format!("/v1/assignments/{assignment}/submissions"),
                submission,
            )
            .await;
            if is_theirs {
                let paths = ["observations", "employee-objectives", "summaries", "assignments"];
                let ids = [observation, objective, summary, assignment];
                for (kind, id) in ["observation", "objective", "summary", "assignment"].iter().zip(&ids) {
                    let talk = json!({"title": self.text(), "about": {"type": kind, "id": id},
                        "participant_ids": [self.person, self.boss]});
                    self.make(world, "/v1/conversations", talk).await;
                }
                self.removed = paths.iter().zip(ids).map(|(path, id)| format!("/v1/{path}/{id}")).collect();
            }
        }
    }

    /// Writes messages, and acts with a key of the person.
    async fn talk(&mut self, world: &TestApi) {
        let (id, other) = (self.person.clone(), self.other.clone());
        let talk = json!({"title": "Quarter", "participant_ids": [id, other]});
        let talk = self.make(world, "/v1/conversations", talk).await;
        let messages = format!("/v1/conversations/{talk}/messages");
        let body = self.text();
        self.make(world, &messages, json!({"author_id": id, "body": body})).await;
        self.make(world, &messages, json!({"author_id": other, "body": "Plain"})).await;
        let name = self.text();
        let key = json!({"name": name, "scopes": ["*"], "employee_id": id});
        let own = world.post("/v1/api-keys", key).await.json()["key"].as_str().unwrap().to_owned();
        let about = json!({"employee_id": other, "type": "strength", "observation": "Plain"});
        self.send(world, &own, "/v1/observations", about).await;
    }

    /// Uploads a file whose response names the address of the person.
    async fn upload(&mut self, world: &TestApi) {
        let connector = world.made("/v1/connectors", json!({"type": "csv_feed", "hris_source": "acme"})).await;
        let rows =
            format!("email,first_name,last_name,manager_email\n{CANARY}@example.com,A,B,none@example.com\n");
        let upload = world.ask("POST", &format!("/v1/employees/csv?connector_id={connector}"));
        let upload_response =
            upload.header("content-type", "text/csv").header("idempotency-key", "csv").body(rows).send().await;
        assert!(
            upload_response.text().contains(CANARY),
            "the answer names the address: {}",
            upload_response.text()
        );
    }
}

async fn erase(world: &TestApi, walk: &Walk) -> String {
    let reason = json!({"reason": "Request of 2 March"});
    let response = world.post(&format!("/v1/employees/{}/erasure", walk.person), reason).await;
    assert_eq!(response.status, 202, "{}", response.text());
    response.json()["id"].as_str().unwrap().to_owned()
}

/// Continues the erasures and the indexing for 100 seconds, after which no erasure is running.
async fn finish(world: &TestApi) {
    for _ in 0..5 {
        // If a fault that the test has planned hits this round, the next round repeats the work.
        drop(erasure::run_due(&world.services, || true).await);
        world.clock.advance_seconds(20);
        drop(search_index::index_pending(&world.services, || true).await);
    }
}

fn assert_clean(text: &str, what: &str) {
    let canary_place = text.to_lowercase().find(CANARY);
    let near = canary_place.map(|at| text.get(at.saturating_sub(300)..(at + 40).min(text.len())));
    assert_eq!(near, None, "{what}");
}

/// Asserts that the lists (also the feed and the audit log), the search and the personal data have no text of the
/// erased person, and that the resources about the person are gone.
async fn assert_clean_responses(world: &TestApi, walk: &Walk, store: &str) {
    let is_list = |route: &&Route| route.method == Method::Get && !route.path.contains('{');
    for route in ROUTES.iter().filter(is_list).filter(|route| route.dialect == Dialect::V1) {
        let query = match route.path {
            "/search" => format!("?q={CANARY}&types=observations,objectives,employees,summaries"),
            path if path.ends_with("/counts") => "?group_by=month".to_owned(),
            "/exports" | "/openapi.json" | "/webhooks/stats" => String::new(),
            _ => "?limit=100".to_owned(),
        };
        world.clock.advance_seconds(30);
        let response = world.get(&format!("/v1{}{query}", route.path)).await;
        let is_named = route.path == "/search";
        if is_named {
            assert_eq!(response.json()["data"], json!([]), "{store}: {}", response.text());
        } else {
            assert_clean(&response.text(), &format!("{store}: {}", route.path));
        }
    }
    for path in &walk.removed {
        assert_eq!(world.get(path).await.status, 404, "{store}: {path}");
    }
    let person = format!("/v1/employees/{}", walk.person);
    let person_json = world.get(&person).await.json();
    assert_eq!(
        (&person_json["first_name"], &person_json["last_name"]),
        (&json!("Former"), &json!("employee")),
        "{store}"
    );
    assert_eq!(person_json["manager_id"], json!(null), "{store}");
    assert_clean(&world.get(&format!("{person}/personal-data")).await.text(), store);
}

/// Returns all data about a person, without the audit entries of requests for these data.
async fn data_of(world: &TestApi, id: &str) -> Vec<Value> {
    world.clock.advance_seconds(60);
    let lines = world.get(&format!("/v1/employees/{id}/personal-data")).await.lines();
    let is_request =
        |line: &Value| line["data"]["action"] == "employee.read_personal_data" || line["type"] == "end";
    // An erased actor loses name, address and user agent, also in entries about other people.
    let without_actor = |mut line: Value| {
        if line["type"] == "audit_entry" {
            line["data"]["actor"]["name"] = json!(null);
            line["data"]["context"] = json!(null);
        }
        line
    };
    lines.into_iter().filter(|line| !is_request(line)).map(without_actor).collect()
}

#[tokio::test]
async fn erasure_leaves_no_text_of_the_person_in_answers() {
    for shared in every_store().await {
        let world = &shared.world;
        let walk = walk(world).await;
        let data_before = data_of(world, &walk.other).await;
        let id = erase(world, &walk).await;
        finish(world).await;
        let receipt = world.get(&format!("/v1/erasures/{id}")).await.json();
        assert_eq!(receipt["status"], "completed", "{}: {receipt}", shared.name);
        let counts = &receipt["counts"];
        for (kind, count) in
            [("observations", 2), ("objectives", 1), ("summaries", 1), ("assignments", 1), ("messages", 1)]
        {
            assert_eq!(counts[kind], json!(count), "{}: {kind} {receipt}", shared.name);
        }
        assert_clean_responses(world, &walk, shared.name).await;
        let others = data_of(world, &walk.other).await;
        let notices = |lines: &[Value]| -> Vec<Value> {
            lines.iter().filter(|line| line["type"] != "notification").cloned().collect()
        };
        assert_eq!(notices(&others), notices(&data_before), "{}: the other person keeps everything", shared.name);
        let mut missing = 0;
        for (key, path, body) in &walk.requests {
            let repeated_request = world.bare("POST", path).key(&world.admin).header("idempotency-key", key);
            let repeated_response = repeated_request.json(body).send().await;
            assert_clean(&repeated_response.text(), path);
            missing += usize::from(repeated_response.status == 404);
        }
        assert!(missing >= 8, "{}: {missing} replays are gone", shared.name);
        let erasure_events =
            world.get("/v1/events?limit=100&filter[event]=employee.erased&filter[event]=erasure.completed").await;
        assert_eq!(erasure_events.json()["data"].as_array().unwrap().len(), 2, "{}", shared.name);
        let entries = world.get("/v1/audit-log?filter[action]=employee.erase").await.json();
        assert_eq!(entries["data"][0]["comment"], "Request of 2 March", "{}", shared.name);
    }
}

#[tokio::test]
async fn erasure_continues_after_a_failure_at_each_piece() {
    for (world, faulty, _database) in every_faulty_store().await {
        let walk = walk(&world).await;
        let id = erase(&world, &walk).await;
        let path = format!("/v1/erasures/{id}");
        let mut number = 0;
        while world.get(&path).await.json()["status"] == "running" {
            number += 1;
            assert!(number < 200, "the erasure never ends");
            faulty.fail(FaultyCall::Upkeep, number, if number % 2 == 0 { Fault::Before } else { Fault::After });
            let _ = erasure::run_due(&world.services, || true).await;
            world.clock.advance_seconds(5);
        }
        assert!(number > 5, "{number} pieces");
        assert_eq!(world.get(&path).await.json()["counts"]["observations"], json!(2));
        finish(&world).await;
        assert_clean_responses(&world, &walk, "faulty").await;
    }
}

#[tokio::test]
async fn erased_texts_are_gone_from_the_files_of_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(in_folder(folder.path()));
    let world = TestApi::on(store, crate::support::patient_settings()).await;
    let walk = walk(&world).await;
    let is_in_files = |word: &str| {
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
        let count = |bytes: Vec<u8>| {
            bytes.windows(word.len()).filter(|part| part.eq_ignore_ascii_case(word.as_bytes())).count()
        };
        files.map(count).sum::<usize>()
    };
    assert!(is_in_files(CANARY) > 20, "{}", is_in_files(CANARY));
    erase(&world, &walk).await;
    finish(&world).await;
    assert_eq!(is_in_files(CANARY), 0, "{:?}", find_left_texts(folder.path()).first());
    assert!(is_in_files("Plain") > 0);
}

/// Returns excerpts around the marked texts that are left in the files of a folder.
fn find_left_texts(folder: &Path) -> Vec<String> {
    let mut places = vec![];
    for entry in fs::read_dir(folder).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let lower = bytes.to_ascii_lowercase();
        for at in (0..lower.len()).filter(|at| lower[*at..].starts_with(CANARY.as_bytes())) {
            let excerpt = &bytes[at.saturating_sub(80)..(at + 80).min(bytes.len())];
            places.push(String::from_utf8_lossy(excerpt).into_owned());
        }
    }
    places
}

#[tokio::test]
async fn erasure_is_refused_unless_deactivated_and_free() {
    for shared in every_store().await {
        let world = &shared.world;
        let id = person(world, "joe", "employee", None).await;
        let path = format!("/v1/employees/{id}");
        let other = person(world, "eve", "employee", None).await;
        let conversation =
            world.post("/v1/conversations", json!({"title": "x", "participant_ids": [id, other]})).await.json();
        let messages = format!("/v1/conversations/{}/messages", conversation["id"].as_str().unwrap());
        let erase = async || world.post(&format!("{path}/erasure"), json!({})).await;
        assert_eq!(erase().await.refusal(), (409, "conflict".to_owned()), "{}", shared.name);
        world.post(&format!("{path}/deactivate"), json!({})).await;
        let hold = format!("{path}/legal-hold");
        world.ask("PUT", &hold).json(&json!({"reason": "Lawsuit"})).send().await;
        assert_eq!(erase().await.json()["error"]["details"][0]["field"], "legal_hold", "{}", shared.name);
        world.ask("DELETE", &hold).send().await;
        let preview = world.post(&format!("{path}/erasure?dry_run=true"), json!({})).await.json();
        assert_eq!((&preview["status"], &preview["data"]["id"]), (&json!(202), &json!(null)), "{preview}");
        assert_eq!(world.get(&path).await.json()["last_name"], "Example", "{}", shared.name);
        assert_eq!(erase().await.status, 202, "{}", shared.name);
        for refused in [
            erase().await,
            world.patch(&path, json!({"job_title": "Nurse"})).await,
            world.post(&format!("{path}/reactivate"), json!({})).await,
            world.post(&format!("{path}/rehire"), json!({})).await,
            world.ask("PUT", &hold).json(&json!({"reason": "Lawsuit"})).send().await,
            world
                .post("/v1/observations", json!({"employee_id": id, "type": "strength", "observation": "x"}))
                .await,
            world.post("/v1/summaries", json!({"employee_id": id, "title": "x"})).await,
            world.post("/v1/api-keys", json!({"name": "x", "scopes": ["*"], "employee_id": id})).await,
            world.post(&messages, json!({"author_id": id, "body": "x"})).await,
        ] {
            let details = refused.json()["error"]["details"][0].clone();
            assert_eq!((refused.status, &details["current"]), (409, &json!("erased")), "{}", refused.text());
        }
    }
}

#[tokio::test]
async fn erasure_needs_its_scope_and_an_admin_level_key() {
    let world = TestApi::new().await;
    let id = person(&world, "joe", "employee", None).await;
    let path = format!("/v1/employees/{id}/erasure");
    let scopes = Permissions::NONE.with(Permission::EmployeesErase);
    let test = world.key(scopes, AccessLevel::Admin, Environment::Test).await;
    let standard = key_for(&world, &id, AccessLevel::Standard).await;
    for key in [test, standard] {
        assert_eq!(world.bare("POST", &path).key(&key).send().await.status, 403);
    }
}

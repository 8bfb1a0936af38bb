//! Tests `candor copy`: data is copied to the other store and back, and the service continues there.

use serde_json::{Value, json};

use crate::support::{
    Client, Installation, PATIENCE, Receiver, ReceiverResponse, Response, Service, candor, wait_until,
};

const KEY_RING: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// E-mail domain of the identity provider.
const DOMAIN: &str = "acme.example";

/// Lists that must be equal on both stores.
const LISTS: [&str; 17] = [
    "/v1/organization",
    "/v1/departments",
    "/v1/attributes",
    "/v1/connectors",
    "/v1/identity-providers",
    "/v1/employees",
    "/v1/observations?expand=employee,attributes",
    "/v1/employee-objectives",
    "/v1/manager-objectives",
    "/v1/summaries",
    "/v1/conversations",
    "/v1/assignments",
    "/v1/notifications",
    "/v1/audit-log",
    "/v1/events",
    "/v1/webhooks",
    "/v1/search?q=review",
];

/// Creates an installation whose deliveries are attempted once, so that no retry changes the data during the test.
fn place(place: Installation) -> Installation {
    place
        .with("CANDOR_MASTER_KEY", KEY_RING)
        .with("CANDOR_WEBHOOKS_TRUSTED_TARGETS", "127.0.0.0/8")
        .with("CANDOR_WEBHOOKS_RETRY_SCHEDULE", "24h")
}

fn create_resource(client: &mut Client, path: &str, body: &Value) -> Value {
    let response = client.post(path, body).unwrap();
    assert!((200..300).contains(&response.status), "{path}: {}", response.text());
    response.json()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Adds data that the sample lacks: delivered and failed deliveries, an invitation, custom fields, and responses
/// for replays.
fn fill(client: &mut Client, receiver: &Receiver) -> Vec<String> {
    receiver.answers(|receiver| {
        if receiver.path == "/fails" { ReceiverResponse::Status(500) } else { ReceiverResponse::Status(200) }
    });
    let mut paths = vec![];
    for path in ["/works", "/fails"] {
        let webhook =
            create_resource(client, "/v1/webhooks", &json!({"url": receiver.url(path), "event_types": ["*"]}));
        paths.push(format!("/v1/webhooks/{}/deliveries", text(&webhook["id"])));
    }
    create_resource(client, "/v1/connectors", &json!({"type": "csv_feed", "hris_source": "acme"}));
    provision(client);
    connect_identity_provider(client);
    erase(client, receiver);
    let person = json!({
        "email": "zoe@example.com", "first_name": "Zoë", "last_name": "O'Brien \"Zo\"", "send_invite": true,
        "custom_fields": {"office": "Zürich"},
    });
    let person = create_resource(client, "/v1/employees", &person);
    paths.push(format!("/v1/employees/{}/invitation", text(&person["id"])));
    let about = client.get("/v1/employees?filter%5Bstatus%5D=active&limit=2").unwrap().json()["data"].clone();
    let [about, reviewer] = [0, 1].map(|at| about[at]["id"].clone());
    let metadata = json!({"cycle": "h1"});
    for (path, body) in [
        (
            "/v1/employee-objectives",
            json!({"owner_id": about, "title": "Learn", "period_start": "2026-04-01", "period_end": "2026-06-30", "metadata": metadata}),
        ),
        ("/v1/summaries", json!({"employee_id": about, "title": "Spring", "body": "Good.", "metadata": metadata})),
        (
            "/v1/assignments",
            json!({"employee_id": about, "title": "Ask", "reviewer_ids": [reviewer], "metadata": metadata}),
        ),
    ] {
        create_resource(client, path, &body);
    }
    paths.push(check_in(client, &about));
    paths.push("/v1/observations?filter%5Bmetadata.cycle%5D=%E6%97%A5%E6%9C%AC+%221%22&limit=5".to_owned());
    paths.push("/v1/observations?filter%5Bexternal_id%5D=crm-7&limit=5".to_owned());
    let observation = observe(client);
    assert_eq!(
        (observation.status, observation.header("idempotent-replayed")),
        (201, None),
        "{}",
        observation.text()
    );
    receiver.wait_for_requests("both were tried", |arrivals| {
        ["/works", "/fails"].iter().all(|path| arrivals.iter().any(|arrival| arrival.path == *path))
    });
    for path in &paths[..2] {
        let is_logged = || !client.all(path).is_empty();
        assert!(wait_until(PATIENCE, is_logged).is_some(), "{path} has no deliveries");
    }
    paths
}

/// Creates an objective with a check-in, and returns the path of its check-ins.
fn check_in(client: &mut Client, owner: &Value) -> String {
    let goal = json!({
        "owner_id": owner, "title": "Answer", "period_start": "2026-04-01", "period_end": "2026-06-30",
        "status": "in_progress", "key_results": [{"title": "Answers", "unit": "%", "start": 0.1, "target": -40}],
    });
    let goal = create_resource(client, "/v1/employee-objectives", &goal);
    let path = format!("/v1/employee-objectives/{}/check-ins", text(&goal["id"]));
    let result = &goal["key_results"][0]["id"];
    let body = json!({
        "author_id": owner, "confidence": "at_risk", "note": "\"Slow\" 👍\n", "key_results": [{"id": result, "current": -12.0625}],
    });
    create_resource(client, &path, &body);
    path
}

/// Lets an identity provider create a person whose manager is unknown, and remove another person. Waits until the
/// requests of the provider are in the log.
fn provision(client: &mut Client) {
    let connector = create_resource(client, "/v1/connectors", &json!({"type": "scim", "hris_source": "okta"}));
    let id = text(&connector["id"]);
    let key = json!({"name": "okta", "scopes": ["scim"], "connector_id": id});
    let key = create_resource(client, "/v1/api-keys", &key);
    let own = client.switch_key(text(&key["key"]));
    let person = json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "ida@example.com", "active": true,
        "name": {"givenName": "Ida", "familyName": "Example"},
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": {"manager": {"value": "unknown"}},
    });
    create_resource(client, "/scim/v2/Users", &person);
    let user_body = json!({"userName": "udo@example.com", "name": {"givenName": "Udo", "familyName": "Example"}});
    let user = create_resource(client, "/scim/v2/Users", &user_body);
    let removal = client.request("DELETE", &format!("/scim/v2/Users/{}", text(&user["id"])), &[], None).unwrap();
    assert_eq!(removal.status, 204, "{}", removal.text());
    client.switch_key(&own);
    let path = format!("/v1/connectors/{id}/requests");
    let is_logged = || !client.all(&path).is_empty();
    assert!(wait_until(PATIENCE, is_logged).is_some(), "the request is not in the log");
}

/// Connects an identity provider, and links an account of it to a person.
fn connect_identity_provider(client: &mut Client) {
    let provider = json!({
        "name": "Acme", "issuer": "https://id.acme.example", "client_id": "candor", "client_secret": "secret",
        "link_by": "verified_email", "email_domains": [DOMAIN],
    });
    let provider = create_resource(client, "/v1/identity-providers", &provider);
    let people = client.get("/v1/employees?filter%5Bstatus%5D=active&sort=created_at&limit=1").unwrap().json();
    let link = json!({"employee_id": people["data"][0]["id"], "subject": "248289761001"});
    let path = format!("/v1/identity-providers/{}/links", text(&provider["id"]));
    create_resource(client, &path, &link);
}

/// Erases a person, and waits for the end: the work in the background would otherwise change answers.
fn erase(client: &mut Client, receiver: &Receiver) {
    let person = json!({"email": "eve@example.com", "first_name": "Eve", "last_name": "Example"});
    let person = create_resource(client, "/v1/employees", &person);
    let path = format!("/v1/employees/{}", text(&person["id"]));
    assert_eq!(client.post(&format!("{path}/deactivate"), &json!({})).unwrap().status, 200);
    let receipt = client.post(&format!("{path}/erasure"), &json!({})).unwrap();
    assert_eq!(receipt.status, 202, "{}", receipt.text());
    receiver.wait_for_requests("the erasure is complete", |arrivals| {
        arrivals.iter().any(|arrival| arrival.header("x-service-event") == "erasure.completed")
    });
}

/// Returns the answers to all lists and paths, without members that differ on every request.
fn responses(client: &mut Client, paths: &[String]) -> Vec<(String, String)> {
    let paths = LISTS.iter().map(ToString::to_string).chain(paths.iter().cloned());
    let mut all = vec![];
    for path in paths {
        let response = client.get(&path).unwrap();
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        // Cursors are sealed anew for each answer.
        let mut body = response.json();
        if let Some(it) = body.as_object_mut() {
            it.remove("next_cursor");
        }
        all.push((path, body.to_string()));
    }
    all
}

/// Records an observation, always with the same idempotency key.
fn observe(client: &mut Client) -> Response {
    let people = client.get("/v1/employees?filter%5Bstatus%5D=active&sort=created_at&limit=1").unwrap().json();
    let about = &people["data"][0]["id"];
    let body = json!({
        "employee_id": about, "type": "strength", "observation": "Review done:\n\\N \t \"日本\" 😀",
        "metadata": {"cycle": "日本 \"1\""}, "external_id": "crm-7",
    });
    client.request("POST", "/v1/observations", &[("Idempotency-Key", "a-key-of-this-test")], Some(&body)).unwrap()
}

/// Asserts that a retry gets a replay of the response that the other store saved.
fn is_answered_again(client: &mut Client) {
    let observation_again = observe(client);
    assert_eq!(
        (observation_again.status, observation_again.header("idempotent-replayed")),
        (201, Some("true")),
        "{}",
        observation_again.text()
    );
}

fn run_copy(place: &Installation, from: &str, to: &str) -> Value {
    let copy_json = candor(place, &["copy", "--from", from, "--to", to, "--json"]).json();
    // `erased_rows` and `identity_removals` have rows only while an erasure or a removal runs, and `retention_runs`
    // only 7 days after the first rule.
    let empty_tables = ["erased_rows", "identity_removals", "retention_runs"];
    let is_kept = |table: &&Value| !empty_tables.contains(&text(&table["name"]));
    for table in copy_json["tables"].as_array().unwrap().iter().filter(is_kept) {
        assert!(table["rows"].as_u64().unwrap() > 0, "{table} has nothing to be copied");
    }
    copy_json
}

#[test]
fn service_continues_on_the_other_store_and_back_again() {
    let Some(server) = Installation::empty_postgres() else { return };
    let (first, server, last) = (place(Installation::sqlite()), place(server), place(Installation::sqlite()));
    let file = |place: &Installation| format!("sqlite://{}", place.folder.path().join("data/candor.db").display());
    let url = server.settings.iter().find(|(name, _)| name == "CANDOR_DATABASE_URL").unwrap().1.clone();
    let receiver = Receiver::start();

    let service = Service::start(&first, &["dev"]);
    let key = text(&service.said["key"]).to_owned();
    let mut client = service.client(&key);
    let paths = fill(&mut client, &receiver);
    let events = client.get("/v1/events?limit=5").unwrap().json();
    let first_refusal = candor(&first, &["copy", "--from", &file(&first), "--to", &url]);
    assert_eq!(first_refusal.code, Some(1));
    assert!(
        first_refusal.stderr.contains("is in use") && first_refusal.stderr.contains("stop"),
        "{}",
        first_refusal.stderr
    );
    let organization = client.get("/v1/organization").unwrap().json();
    service.stop();
    let trust = ["identity", "trust", "--org", text(&organization["id"]), "--domain", DOMAIN];
    assert_eq!(candor(&first, &trust).code, Some(0));
    let service = Service::serve(&first);
    let responses_before = responses(&mut service.client(&key), &paths);
    service.stop();

    let report_of_copy = run_copy(&first, &file(&first), &url);
    let service = Service::serve(&server);
    let mut client = service.client(&key);
    assert_eq!(responses(&mut client, &paths), responses_before);
    is_answered_again(&mut client);
    let refusal = candor(&server, &["copy", "--from", &url, "--to", &file(&last)]);
    assert!(refusal.code == Some(1) && refusal.stderr.contains("is in use"), "{}", refusal.stderr);
    let has_continued = goes_on(&mut client, &events);
    service.stop();

    let report_of_return = run_copy(&server, &url, &file(&last));
    assert!(report_of_return["rows"].as_u64() > report_of_copy["rows"].as_u64());
    let service = Service::serve(&last);
    let mut client = service.client(&key);
    assert_eq!(goes_on(&mut client, &events)[..has_continued.len()], has_continued);
    is_answered_again(&mut client);
    service.stop();
}

/// Adds one last event, then follows the feed from a cursor of the first store to the end of the feed.
fn goes_on(client: &mut Client, first: &Value) -> Vec<Value> {
    let name = format!("Department no. {}", client.all("/v1/departments").len());
    create_resource(client, "/v1/departments", &json!({"name": name}));
    let mut cursor = text(&first["next_cursor"]).to_owned();
    let mut event_ids = vec![];
    loop {
        let page = client.get(&format!("/v1/events?limit=7&cursor={cursor}")).unwrap();
        assert_eq!(page.status, 200, "{}", page.text());
        let page = page.json();
        let events = page["data"].as_array().unwrap().clone();
        if events.is_empty() || page["has_more"] == json!(false) {
            event_ids.extend(events);
            break;
        }
        event_ids.extend(events);
        page["next_cursor"].as_str().unwrap().clone_into(&mut cursor);
    }
    let first_events = first["data"].as_array().unwrap();
    let ids = |all: &[Value]| all.iter().map(|item| text(&item["id"]).to_owned()).collect::<Vec<_>>();
    let all = client.all("/v1/events");
    assert_eq!([ids(first_events), ids(&event_ids)].concat(), ids(&all), "no event is lost or comes twice");
    event_ids
}

#[test]
fn impossible_copy_is_reported_in_one_line() {
    let one = place(Installation::sqlite());
    one.key("*", &[]);
    let other = place(Installation::sqlite());
    other.key("*", &[]);
    let file = |place: &Installation| format!("sqlite://{}", place.folder.path().join("data/candor.db").display());
    let (here, there) = (file(&one), file(&other));
    let expect_refusal = |arguments: &[&str], code: i32, words: &[&str]| {
        let it = candor(&one, &[&["copy"], arguments].concat());
        assert_eq!((it.code, it.stdout.as_str(), it.stderr.lines().count()), (Some(code), "", 1), "{}", it.stderr);
        for word in words {
            assert!(it.stderr.contains(word), "{word} in {}", it.stderr);
        }
    };
    expect_refusal(&["--from", &here, "--to", &there], 1, &["is not empty", "organizations"]);
    expect_refusal(&["--from", &here, "--to", &here], 1, &["are both"]);
    expect_refusal(&["--to", &here], 1, &["are both"]);
    expect_refusal(
        &["--from", "sqlite:///nowhere/x.db", "--to", &there],
        1,
        &["there is no database at /nowhere/x.db"],
    );
    expect_refusal(
        &["--from", "mysql://app:hunter2@db/x", "--to", &there],
        2,
        &["--from", "mysql://app:***@db/x"],
    );
    let unreachable = "postgres://app:hunter2@127.0.0.1:1/x";
    expect_refusal(&["--from", &here, "--to", unreachable], 1, &["postgres://app:***@127.0.0.1:1/x"]);
    assert_eq!(candor(&one, &["copy"]).code, Some(2), "neither --from nor --to");
}

//! An erasure whose process is killed at each of its stages: nothing of the person is left afterwards, and another
//! person keeps everything.

use std::fs;

use serde_json::{Value, json};

use crate::erasing::{CANARY, is_in_no_row};
use crate::support::{Client, Installation, PATIENCE, Service, wait_until};

/// Number of observations, most of them about the person. The erasure removes these in several pieces.
const OBSERVATIONS: usize = 600;

#[test]
fn erasure_survives_a_kill_at_each_stage_on_sqlite() {
    let place = Installation::sqlite();
    erase_through_kills(&place);
    for file in fs::read_dir(place.folder.path().join("data")).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap().to_ascii_lowercase();
        assert!(!bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()), "{}", path.display());
    }
}

#[test]
fn erasure_survives_a_kill_at_each_stage_on_postgres() {
    let Some(place) = Installation::postgres() else { return };
    erase_through_kills(&place);
    is_in_no_row(&place.settings.iter().find(|(name, _)| name == "CANDOR_DATABASE_URL").unwrap().1);
}

/// The ids of the person to erase and of another person, and the path of the messages between them.
struct People {
    gone: String,
    other: String,
    messages: String,
}

fn create_resource(client: &mut Client, path: &str, body: &Value) -> String {
    let response = client.post(path, body).unwrap();
    assert!((200..300).contains(&response.status), "{path}: {}", response.text());
    response.json()["id"].as_str().unwrap_or_default().to_owned()
}

fn make(client: &mut Client) -> People {
    let person =
        |name: &str| json!({"email": format!("{name}@example.com"), "first_name": name, "last_name": "Moreau"});
    let erased_person = create_resource(client, "/v1/employees", &person(CANARY));
    let other = create_resource(client, "/v1/employees", &person("Noor"));
    for number in 0..OBSERVATIONS {
        let (about, text) = if number % 20 == 0 { (&other, "Plain") } else { (&erased_person, CANARY) };
        let body =
            json!({"employee_id": about, "type": "strength", "observation": format!("{text} no. {number}")});
        create_resource(client, "/v1/observations", &body);
    }
    let talk = json!({"title": "Quarter", "participant_ids": [erased_person, other]});
    let messages = format!("/v1/conversations/{}/messages", create_resource(client, "/v1/conversations", &talk));
    create_resource(client, &messages, &json!({"author_id": erased_person, "body": format!("From {CANARY}.")}));
    create_resource(client, &format!("/v1/employees/{erased_person}/deactivate"), &json!({}));
    People { gone: erased_person, other, messages }
}

/// Observable effects of the stages of an erasure, in their order.
const STAGES: [fn(&mut Client, &People) -> bool; 5] = [
    |client, people| count_left(client, people) < OBSERVATIONS as u64 * 19 / 20,
    |client, people| count_left(client, people) == 0,
    |client, people| client.get(&people.messages).unwrap().text().contains("[erased]"),
    |client, _| {
        let page = client.get("/v1/events?limit=3&filter[event]=observation.created").unwrap().json();
        page["data"].as_array().unwrap().iter().any(|event| event["data"]["erased"] == true)
    },
    |client, people| {
        let entries = client.get(&format!("/v1/audit-log?filter[target_id]={}", people.gone)).unwrap();
        !entries.text().contains(CANARY)
    },
];

/// Returns the number of observations about the person that are left.
fn count_left(client: &mut Client, people: &People) -> u64 {
    let path = format!("/v1/observations/counts?group_by=type&filter[employee_id]={}", people.gone);
    client.get(&path).unwrap().json()["total"].as_u64().unwrap()
}

/// Returns the data about the other person, without the requests for it.
fn data_of_other(client: &mut Client, people: &People) -> Vec<Value> {
    let text = client.get(&format!("/v1/employees/{}/personal-data", people.other)).unwrap().text();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let is_kept = |line: &Value| {
        let is_request = line["data"]["action"] == "employee.read_personal_data" || line["type"] == "end";
        !is_request && line["type"] != "notification"
    };
    lines.filter(is_kept).collect()
}

fn erase_through_kills(place: &Installation) {
    let key = place.key("*", &["--admin"]).secret;
    let mut service = Service::serve(place);
    let people = make(&mut service.client(&key));
    let data_before = data_of_other(&mut service.client(&key), &people);
    assert!(data_before.len() > OBSERVATIONS / 20);
    let erasure =
        create_resource(&mut service.client(&key), &format!("/v1/employees/{}/erasure", people.gone), &json!({}));
    for stage in STAGES {
        let mut client = service.client(&key);
        assert!(wait_until(PATIENCE, || stage(&mut client, &people)).is_some(), "a stage is not reached");
        service.kill();
        service = Service::serve(place);
    }
    let mut client = service.client(&key);
    let receipt = format!("/v1/erasures/{erasure}");
    let is_completed = || client.get(&receipt).unwrap().json()["status"] == "completed";
    assert!(wait_until(PATIENCE, is_completed).is_some());
    let counts = client.get(&receipt).unwrap().json()["counts"].clone();
    assert_eq!(counts["observations"], json!(OBSERVATIONS * 19 / 20), "{counts}");
    let search = format!("/v1/search?q={CANARY}&types=observations,employees");
    assert_eq!(client.get(&search).unwrap().json()["data"], json!([]));
    for path in ["/v1/employees?filter[status]=all", "/v1/events", "/v1/audit-log"] {
        for entry in client.all(path) {
            assert!(!entry.to_string().contains(CANARY), "{path}: {entry}");
        }
    }
    assert_eq!(data_of_other(&mut client, &people), data_before);
    service.stop();
}

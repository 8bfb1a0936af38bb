//! Exports: the lines, their cursors, and the limits (decision H1).

use std::collections::BTreeMap;
use std::io::Read;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_domain::access::{AccessLevel, Environment, Permission, Permissions, Tenant};
use candor_domain::event::FEED_DAYS;
use candor_domain::export::{ExportCursor, ExportPlace, ExportedResource};
use candor_domain::fields::StringEnum;
use candor_domain::page::{Key, Position};
use candor_http::ServerOptions;
use candor_service::usecases::operator;
use candor_store_testkit::{Fault, FaultyCall};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::connections::{TestListener, serving};
use crate::objectives::key_for;
use crate::resources::Resources;
use crate::stores::{every_faulty_store, usual};
use crate::support::{PATIENCE, START, TestApi, TestResponse};

/// Returns the lines of this type.
fn of_type<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

/// Returns the rows by id. Asserts that the export has no row twice.
fn rows(lines: &[Value]) -> BTreeMap<String, Value> {
    let rows = lines.iter().filter(|line| line.get("data").is_some());
    let mut by_id = BTreeMap::new();
    for row in rows {
        let id = row["data"]["id"].as_str().unwrap().to_owned();
        assert!(by_id.insert(id, row["data"].clone()).is_none(), "the export has a row twice: {row}");
    }
    by_id
}

fn last_cursor(lines: &[Value]) -> Option<String> {
    Some(of_type(lines, "checkpoint").last()?["cursor"].as_str().unwrap().to_owned())
}

/// Sends a request for an export a minute later, so that the requests stay below the quota.
async fn export(world: &TestApi, query: &str) -> TestResponse {
    world.clock.advance_seconds(60);
    world.get(&format!("/v1/exports{query}")).await
}

#[tokio::test]
async fn export_has_every_resource_in_the_form_of_get() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let archive_path = format!("/v1/observations/{}/archive", resources.id("observations"));
    assert_eq!(world.post(&archive_path, json!({})).await.status, 200);
    let response = export(&world, "").await;
    assert_eq!(response.header("content-type"), Some("application/x-ndjson"));
    let lines = response.lines();
    let header = &lines[0];
    assert_eq!((&header["type"], &header["api_version"]), (&json!("header"), &json!("v1")));
    assert_eq!(header["resources"], json!(ExportedResource::words()));
    let feed_path = format!("/v1/events?cursor={}", header["events_cursor"].as_str().unwrap());
    assert_eq!(world.get(&feed_path).await.json()["data"], json!([]), "nothing has changed since");
    let mut counts: BTreeMap<&str, u64> = ExportedResource::words().into_iter().map(|word| (word, 0)).collect();
    for line in lines[1..lines.len() - 1].iter() {
        let kind = line["type"].as_str().unwrap();
        let resource = ExportedResource::ALL.iter().find(|resource| resource.line_type() == kind).unwrap();
        *counts.get_mut(resource.word()).unwrap() += 1;
        let id = line["data"]["id"].as_str().unwrap();
        let part_of = |member: &str| line["data"][member].as_str().unwrap();
        let path = match resource {
            ExportedResource::Messages => {
                format!("/v1/conversations/{}/messages/{id}", part_of("conversation_id"))
            }
            ExportedResource::CheckIns => {
                let objective = part_of("objective_id");
                let is_own = objective == resources.id("checked-employee-objectives");
                let family = if is_own { "employee-objectives" } else { "manager-objectives" };
                format!("/v1/{family}/{objective}/check-ins/{id}")
            }
            ExportedResource::Employees
            | ExportedResource::Observations
            | ExportedResource::EmployeeObjectives
            | ExportedResource::ManagerObjectives
            | ExportedResource::Summaries
            | ExportedResource::Conversations
            | ExportedResource::Assignments
            | ExportedResource::Departments
            | ExportedResource::Attributes => format!("/v1/{}/{id}", resource.word().replace('_', "-")),
        };
        assert_eq!(world.get(&path).await.json(), line["data"], "{path}");
    }
    assert!(counts.values().all(|count| *count > 0), "{counts:?}");
    assert_eq!(lines.last().unwrap(), &json!({"type": "end", "counts": counts}));
}

#[tokio::test]
async fn export_of_some_resources_has_their_rows_by_id() {
    let world = TestApi::new().await;
    for number in 0..5 {
        world.employee(&format!("person{number}@example.com")).await;
    }
    let lines = export(&world, "?resources=messages,employees").await.lines();
    assert_eq!(lines[0]["resources"], json!(["employees", "messages"]));
    let ids: Vec<_> = of_type(&lines, "employee").iter().map(|line| line["data"]["id"].to_string()).collect();
    assert!(ids.len() == 5 && ids.is_sorted(), "{ids:?}");
    assert_eq!(lines.last().unwrap()["counts"], json!({"employees": 5, "messages": 0}));
    let audit = world.get("/v1/audit-log?filter[action]=organization.export").await.json();
    assert_eq!(audit["data"].as_array().unwrap().len(), 1);
    assert_eq!(audit["data"][0]["changes"]["resources"], json!({"from": null, "to": ["employees", "messages"]}));
    assert_eq!(audit["data"][0]["context"]["ip"], json!("192.0.2.1"));
}

#[tokio::test]
async fn invalid_parameters_of_an_export_are_named() {
    let (store, _database) = usual().await;
    let world = TestApi::exporting(store, 2).await;
    Resources::make(&world, &world.admin).await;
    let cursor = last_cursor(&export(&world, "?resources=attributes").await.lines()).unwrap();
    let problem = |field: &str, code: &str| vec![(field.to_owned(), code.to_owned())];
    for (query, problems) in [
        ("?resources=people".to_owned(), problem("resources", "invalid_enum")),
        ("?cursor=x".to_owned(), problem("cursor", "invalid_format")),
        (format!("?cursor={cursor}"), problem("cursor", "invalid_format")),
        (format!("?resources=employees&cursor={cursor}"), problem("cursor", "invalid_format")),
    ] {
        assert_eq!(export(&world, &query).await.problems(), problems, "{query}");
    }
    let other = operator::create_organization(&world.services, "Other").await.unwrap();
    let key = world.key_of(other, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
    let path = format!("/v1/exports?resources=attributes&cursor={cursor}");
    let foreign = world.bare("GET", &path).key(&key).send().await;
    assert_eq!(foreign.problems(), problem("cursor", "invalid_format"));
    world.clock.advance_seconds(FEED_DAYS * 86_400);
    let old = export(&world, &format!("?resources=attributes&cursor={cursor}")).await;
    assert_eq!(old.problems(), problem("cursor", "out_of_range"));
}

/// Returns copies of a cursor, each with one changed bit in another byte of its decoded form.
fn alter_each_byte(cursor: &str) -> Vec<String> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).unwrap();
    let flip = |at: usize| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1 << (at % 8);
        URL_SAFE_NO_PAD.encode(bytes)
    };
    (0..bytes.len()).map(flip).collect()
}

#[tokio::test]
async fn altered_export_cursor_is_refused_and_unrecorded() {
    let (store, _database) = usual().await;
    let world = TestApi::exporting(store, 2).await;
    Resources::make(&world, &world.admin).await;
    let cursor = last_cursor(&export(&world, "").await.lines()).unwrap();
    let cursor_start = ExportCursor {
        started_at: START,
        events: Position { key: Key::Rank(0), id: [0; 16] },
        place: ExportPlace::start_of(ExportedResource::Employees),
    };
    // The clients of a tenant know all values that this forged cursor contains.
    let forged_cursor = cursor_start.to_text(Tenant::live(world.organization), ExportedResource::ALL);
    let mut wrong_cursors = alter_each_byte(&cursor);
    wrong_cursors.extend((0..cursor.len()).step_by(7).map(|length| cursor[..length].to_owned()));
    wrong_cursors.extend([forged_cursor, format!("{cursor}A"), String::new()]);
    for text in wrong_cursors {
        let response = export(&world, &format!("?cursor={text}")).await;
        assert_eq!(response.problems(), [("cursor".to_owned(), "invalid_format".to_owned())], "{text}");
    }
    let other = operator::create_organization(&world.services, "Other").await.unwrap();
    let key = world.key_of(other, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
    let response_to_other_key = world.bare("GET", &format!("/v1/exports?cursor={cursor}")).key(&key).send().await;
    assert_eq!(response_to_other_key.problems(), [("cursor".to_owned(), "invalid_format".to_owned())]);
    let entries = async || {
        let path = "/v1/audit-log?filter[action]=organization.continue_export";
        world.get(path).await.json()["data"].as_array().unwrap().clone()
    };
    assert_eq!(entries().await, Vec::<Value>::new());
    assert_eq!(export(&world, &format!("?cursor={cursor}")).await.status, 200);
    assert_eq!(entries().await.len(), 1);
}

#[tokio::test]
async fn cut_export_goes_on_behind_its_last_checkpoint() {
    for (world, faulty, _database) in every_faulty_store().await {
        Resources::make(&world, &world.admin).await;
        let calls_before = faulty.calls(FaultyCall::List);
        let whole = export(&world, "").await.lines();
        let (complete, reads) = (rows(&whole), faulty.calls(FaultyCall::List) - calls_before);
        for (number, checkpoint) in of_type(&whole, "checkpoint").into_iter().enumerate() {
            let query = format!("?cursor={}", checkpoint["cursor"].as_str().unwrap());
            let rest = export(&world, &query).await.lines();
            assert_eq!(rest[0], whole[0], "a continued export repeats the first header");
            let checkpoint_index = whole.iter().position(|line| line == checkpoint).unwrap();
            let mut joined_rows = rows(&whole[..checkpoint_index]);
            joined_rows.append(&mut rows(&rest));
            assert_eq!(joined_rows, complete, "checkpoint {number}");
        }
        // In each round, another read of rows fails.
        for number in 1..=reads {
            let (mut found, mut query, mut cuts) = (BTreeMap::new(), String::new(), 0);
            faulty.fail(FaultyCall::List, number, Fault::Before);
            loop {
                let lines = export(&world, &query).await.lines();
                found.append(&mut rows(&lines));
                if lines.last().is_some_and(|line| line["type"] == "end") {
                    break;
                }
                cuts += 1;
                query = last_cursor(&lines).map_or(query, |cursor| format!("?cursor={cursor}"));
            }
            assert_eq!(found, complete, "read {number}");
            assert_eq!(cuts, 1, "read {number}");
        }
        let mut entries = 0;
        for action in ["organization.export", "organization.continue_export"] {
            let path = format!("/v1/audit-log?filter[action]={action}&limit=100");
            entries += world.get(&path).await.json()["data"].as_array().unwrap().len();
        }
        assert!(entries > reads, "each part is recorded: {entries}");
    }
}

#[tokio::test]
async fn export_is_for_admin_keys_of_the_organization() {
    let world = TestApi::new().await;
    let export_key =
        |level, environment| world.key(Permissions::NONE.with(Permission::ExportsRead), level, environment);
    let details = async |key: &str| {
        let response = world.bare("GET", "/v1/exports").key(key).send().await;
        assert_eq!(response.refusal(), (403, "permission_denied".to_owned()));
        response.json()["error"]["details"].clone()
    };
    let standard = export_key(AccessLevel::Standard, Environment::Live).await;
    assert_eq!(details(&standard).await, json!([{"required_access_level": "admin"}]));
    let test = export_key(AccessLevel::Admin, Environment::Test).await;
    assert_eq!(details(&test).await, json!([{"key_environment": "test"}]));
    let admin = export_key(AccessLevel::Admin, Environment::Live).await;
    let ask = || world.bare("GET", "/v1/exports").key(&admin).send();
    for _ in 0..6 {
        assert_eq!(ask().await.status, 200, "the scope of exports is sufficient");
    }
    let response = ask().await;
    assert_eq!(response.refusal(), (429, "rate_limited".to_owned()));
    assert_eq!(
        response.json()["error"]["details"],
        json!([{"quota": "export", "limit": 6, "window_seconds": 60}])
    );
}

#[tokio::test]
async fn export_of_a_key_of_a_person_is_refused() {
    let world = TestApi::new().await;
    let person = world.employee("ada@example.com").await;
    let bound_key = key_for(&world, &person, AccessLevel::Admin).await;
    let response = world.bare("GET", "/v1/exports").key(&bound_key).send().await;
    assert_eq!(response.refusal(), (403, "permission_denied".to_owned()));
}

#[tokio::test]
async fn compressed_export_has_the_same_lines() {
    let world = TestApi::new().await;
    Resources::make(&world, &world.admin).await;
    let plain = export(&world, "?resources=attributes").await.lines();
    for encoding in ["gzip", "zstd"] {
        world.clock.advance_seconds(60);
        let request = world.ask("GET", "/v1/exports?resources=attributes").header("accept-encoding", encoding);
        let response = request.send().await;
        assert_eq!(response.header("content-encoding"), Some(encoding));
        let mut text = String::new();
        match encoding {
            "gzip" => GzDecoder::new(&response.body[..]).read_to_string(&mut text).unwrap(),
            _ => zstd::stream::read::Decoder::new(&response.body[..]).unwrap().read_to_string(&mut text).unwrap(),
        };
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[1..], plain[1..], "{encoding}");
    }
}

#[tokio::test]
async fn slow_client_of_an_export_is_disconnected() {
    let world = TestApi::new().await;
    let person = world.employee("ada@example.com").await;
    let text = "x".repeat(4_000);
    // The export is larger than the buffers of both sockets.
    for _ in 0..1_300 {
        let body = json!({"employee_id": person, "type": "strength", "observation": text});
        world.made("/v1/observations", body).await;
    }
    let options = |export_time| ServerOptions {
        write_time: Duration::from_secs(600),
        export_time,
        ..ServerOptions::default()
    };
    let patient = serving(&world, crate::support::patient_settings(), options(Duration::from_secs(600)));
    let ask = format!(
        "GET /v1/exports HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
        patient.key
    );
    let idle = idle_exports(&world, &patient, &ask).await;
    let error_text = patient.talk(ask.as_bytes()).await;
    assert!(
        error_text.starts_with("HTTP/1.1 503") && error_text.contains("retry-after: 5"),
        "a third export at the same time is refused: {error_text}"
    );
    drop(idle);
    whole_export(&world, &patient, &ask).await;

    let strict = serving(&world, crate::support::patient_settings(), options(Duration::from_millis(500)));
    let idle = idle_exports(&world, &strict, &ask).await;
    // A client that reads gets the whole export once the slow clients are disconnected.
    whole_export(&world, &strict, &ask).await;
    for mut stream in idle {
        let mut response = vec![];
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut response))
            .await
            .expect("the connection stays open");
        assert!(!String::from_utf8_lossy(&response).contains(END), "the export is cut");
    }
    patient.handle.stop(false).await;
    strict.handle.stop(false).await;
}

/// Start of the last line of an export.
const END: &str = r#"{"type":"end""#;

/// Starts two exports of which only the first bytes are read.
async fn idle_exports(world: &TestApi, server: &TestListener, ask: &str) -> Vec<TcpStream> {
    let mut idle = vec![];
    let start = async {
        while idle.len() < 2 {
            world.clock.advance_seconds(60);
            let (mut stream, mut first) = (server.connect().await, [0; 12]);
            stream.write_all(ask.as_bytes()).await.unwrap();
            if stream.read_exact(&mut first).await.is_ok() && &first == b"HTTP/1.1 200" {
                idle.push(stream);
            }
        }
    };
    tokio::time::timeout(PATIENCE, start).await.expect("no export begins");
    idle
}

/// Requests exports until one arrives completely. On a busy machine, a client that reads may be too slow as well.
async fn whole_export(world: &TestApi, server: &TestListener, ask: &str) {
    let export_loop = async {
        loop {
            world.clock.advance_seconds(60);
            let response = server.talk(ask.as_bytes()).await;
            if response.starts_with("HTTP/1.1 200") && response.contains(END) {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, export_loop).await.expect("no export arrives completely");
}

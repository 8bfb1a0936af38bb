//! Tests of `docs/webhooks.md`: its test vectors, and its examples on the vectors and on a live delivery.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use candor_domain::access::{Environment, Tenant};
use candor_domain::attempt_failure::FailureReason;
use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use candor_domain::id::{DeliveryId, EventId, OrganizationId};
use candor_domain::secret::Secret;
use candor_domain::signature::{sign, sign_standard, verify};
use candor_domain::time::Timestamp;
use candor_port_events::{WebhookRequest, WebhookTransport};
use candor_subscriptions::{headers, ping};
use candor_webhooks::{Sender, SenderSettings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PAGE: &str = include_str!("../../../../docs/webhooks.md");
const SECONDS: i64 = 1_772_352_930;
const EVENT: &str = "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// Returns the code block after the comment `<!-- example: NAME -->` of the page.
fn example(name: &str) -> &'static str {
    let mark = format!("<!-- example: {name} -->\n```");
    let (_, behind) = PAGE.split_once(&mark).unwrap_or_else(|| panic!("no example {name}"));
    let (_, text) = behind.split_once('\n').unwrap();
    text.split_once("\n```").unwrap().0
}

fn vectors() -> Vec<serde_json::Value> {
    serde_json::from_str(example("vectors")).unwrap()
}

fn text(value: &serde_json::Value) -> &str {
    value.as_str().unwrap()
}

fn secrets(vector: &serde_json::Value) -> Vec<Secret> {
    vector["secrets"].as_array().unwrap().iter().map(|secret| Secret::new(text(secret).to_owned())).collect()
}

#[test]
fn documented_vectors_are_reproduced_and_verified() {
    let time = Timestamp::from_millis(SECONDS * 1000);
    for vector in vectors() {
        let (secrets, body) = (secrets(&vector), text(&vector["body"]).as_bytes());
        assert_eq!(sign(&secrets, time, body), text(&vector["x-service-signature"]));
        assert_eq!(sign_standard(&secrets, EVENT, time, body), text(&vector["webhook-signature"]));
        for secret in secrets {
            assert_eq!(verify(secret.reveal(), text(&vector["x-service-signature"]), body, time), Ok(()));
        }
    }
}

/// Input of an example: the secret, the header, the body as text and the time; and the expected result.
type Case = (String, String, String, i64, bool);

const PYTHON: &str = r#"
import json, sys
for secret, header, body, now, _ in json.load(sys.stdin.buffer):
    print(str(is_authentic(secret, header, body.encode(), now)).lower())
"#;

const NODE: &str = r#"
for (const [secret, header, body, now] of JSON.parse(require("node:fs").readFileSync(0)))
  console.log(isAuthentic(secret, header, Buffer.from(body), now));
"#;

/// Runs all cases with the Python example and with the Node example, in one process for each language.
fn run_examples(cases: &[Case]) {
    let expected_output: String = cases.iter().map(|case| format!("{}\n", case.4)).collect();
    for (language, program, option, calls) in [("python", "python3", "-c", PYTHON), ("node", "node", "-e", NODE)] {
        let code = format!("{}{calls}", example(language));
        let child =
            Command::new(program).args([option, &code]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut child) = child else {
            println!("skipped: {program} is not installed");
            continue;
        };
        let mut input = child.stdin.take().unwrap();
        input.write_all(&serde_json::to_vec(cases).unwrap()).unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected_output, "{language}: {cases:#?}");
    }
}

#[test]
fn documented_examples_accept_only_the_vectors() {
    let mut cases = Vec::new();
    for vector in vectors() {
        let (header, body) = (text(&vector["x-service-signature"]), text(&vector["body"]));
        for secret in secrets(&vector) {
            let mut add = |header: &str, body: &str, now, wanted| {
                cases.push((secret.reveal().to_owned(), header.to_owned(), body.to_owned(), now, wanted));
            };
            for (now, wanted) in [(-301, false), (-300, true), (0, true), (300, true), (301, false)] {
                add(header, body, SECONDS + now, wanted);
            }
            add(header, "{}", SECONDS, false);
            for bad in ["", "t=1", "v1=00", "nonsense", "t=1,t=1,v1=00", &header.replace("t=", "t=x")] {
                add(bad, body, SECONDS, false);
            }
        }
    }
    run_examples(&cases);
}

/// Accepts one request, responds with 200 and returns the request's headers and body.
async fn receive(listener: tokio::net::TcpListener) -> (BTreeMap<String, String>, Vec<u8>) {
    let (mut socket, _) = listener.accept().await.unwrap();
    let mut read = Vec::new();
    loop {
        let mut more = [0; 4096];
        let bytes = socket.read(&mut more).await.unwrap();
        read.extend(&more[..bytes]);
        let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(read[..end].to_vec()).unwrap();
        let headers: BTreeMap<_, _> = head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let body = &read[end + 4..];
        if body.len() == headers["content-length"].parse::<usize>().unwrap() {
            socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
            return (headers, body.to_vec());
        }
    }
}

#[tokio::test]
async fn documented_examples_accept_a_live_delivery() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let receive_task = tokio::spawn(receive(listener));
    let time = Timestamp::from_millis(SECONDS * 1000 + 500);
    let tenant = Tenant { organization: OrganizationId::from_bytes([1; 16]), environment: Environment::Test };
    let event = ping(EventId::from_bytes([2; 16]), time);
    let body = event.body(tenant);
    let secrets = secrets(&vectors()[2]);
    let headers = headers(&event, DeliveryId::from_bytes([3; 16]), &secrets, time, body.as_bytes(), false);
    let deadline = std::time::Duration::from_secs(20);
    let trusted_networks = vec!["127.0.0.0/8".parse().unwrap()];
    let sender = Sender::new(SenderSettings { trusted: trusted_networks, ..SenderSettings::default() }).unwrap();
    let attempt = sender
        .send(WebhookRequest {
            organization: tenant.organization,
            url,
            headers: headers.clone(),
            custom_headers: vec![],
            body: body.clone().into(),
            deadline,
        })
        .await;
    assert_eq!(attempt.response_status, 200);
    let (seen, bytes) = receive_task.await.unwrap();
    for (name, value) in headers {
        assert_eq!(seen.get(&name.to_lowercase()), Some(&value), "{name}");
    }
    assert_eq!(bytes, body.as_bytes());
    let header = &seen["x-service-signature"];
    let mut cases = Vec::new();
    for secret in secrets {
        assert_eq!(verify(secret.reveal(), header, &bytes, time), Ok(()));
        cases.push((secret.reveal().to_owned(), header.clone(), body.clone(), SECONDS, true));
    }
    run_examples(&cases);
}

#[test]
fn page_lists_every_event_type_and_failure_reason() {
    for kind in EventType::ALL {
        let word = kind.word();
        let rows = PAGE.lines().filter(|line| line.starts_with(&format!("| `{word}` |"))).count();
        assert_eq!(rows, 1, "{word}");
    }
    for word in FailureReason::words() {
        assert!(PAGE.contains(&format!("\n| `{word}` |")), "{word}");
    }
}

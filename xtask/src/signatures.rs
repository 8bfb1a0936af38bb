//! `cargo xtask signatures`: deliveries of the built binary, checked as receivers check them: with the examples of
//! `docs/webhooks.md` in Python and Node, and with the packages of Standard Webhooks. The example in Rust is tried by the
//! tests of the binary.

use crate::packages;
use crate::process::{Outcome, root};
use crate::service::{Key, Service, member};
use crate::test;
use crate::workspace::Workspace;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// The page that shows how to check a delivery.
const PAGE: &str = "docs/webhooks.md";
/// What is installed, in which versions, and what calls the examples and the packages.
const FOLDER: &str = "xtask/signatures";
const ARRIVES_WITHIN: Duration = Duration::from_secs(20);

pub(crate) fn run() -> Outcome {
    test::build_everything()?;
    let target = Workspace::load()?.target_directory;
    let (python, node) = (packages::python(&target, FOLDER)?.join("bin/python"), packages::node(&target, FOLDER)?);
    let cases = cases(&target.join("debug/candor"))?;
    put_to(Command::new(python).arg("-c"), "python", "verify.py", &cases)?;
    put_to(Command::new("node").current_dir(node).arg("-e"), "node", "verify.js", &cases)?;
    println!("{} checks, each with two examples and two packages", cases.len());
    Ok(())
}

/// One question: the secret, the headers, the body, and whether the delivery is authentic.
struct Case {
    asked: Value,
    wanted: bool,
}

/// The example behind a mark of the page.
fn example(name: &str) -> Outcome<String> {
    let page = fs::read_to_string(root().join(PAGE))?;
    let behind = page.split_once(&format!("<!-- example: {name} -->\n```")).and_then(|(_, it)| it.split_once('\n'));
    let example = behind.and_then(|(_, it)| it.split_once("\n```"));
    Ok(example.ok_or_else(|| format!("{PAGE} has no example {name}"))?.0.to_owned())
}

/// Puts all cases to an example and a package in one language.
fn put_to(command: &mut Command, name: &str, calls: &str, cases: &[Case]) -> Outcome {
    let calls = fs::read_to_string(root().join(FOLDER).join(calls))?;
    command.arg(format!("{}\n\n{calls}", example(name)?)).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("cannot run {name}: {error}"))?;
    let asked: Vec<&Value> = cases.iter().map(|it| &it.asked).collect();
    child.stdin.take().ok_or("no standard input")?.write_all(&serde_json::to_vec(&asked)?)?;
    let output = child.wait_with_output()?;
    let answers = String::from_utf8(output.stdout)?;
    let wanted: Vec<Value> = cases.iter().map(|it| json!([it.wanted, it.wanted])).collect();
    let given = answers.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    if output.status.success() && given == wanted {
        return Ok(());
    }
    Err(format!("{name}: [example, package] answered {given:?} instead of {wanted:?} about {asked:#?}").into())
}

/// Real deliveries before and after a rotation of the secret, and what is not authentic about them.
fn cases(binary: &Path) -> Outcome<Vec<Case>> {
    let service = Service::start(binary, &[("CANDOR_WEBHOOKS_TRUSTED_TARGETS", "127.0.0.0/8")])?;
    let result = deliveries(&service, &service.key()?);
    result.map_err(|problem| format!("{problem}; the end of the service's log:\n{}", service.end_of_log()).into())
}

fn deliveries(service: &Service, key: &Key) -> Outcome<Vec<Case>> {
    let (url, arrivals) = receive()?;
    let body = json!({"url": url, "event_types": ["*"]});
    let made = service.request(key, "POST", "/v1/webhooks", &body)?;
    let (path, first) = (format!("/v1/webhooks/{}", member(&made, "id")?), member(&made, "secret")?);
    service.request(key, "POST", &format!("{path}/test"), &json!({}))?;
    let test = arrivals.recv_timeout(ARRIVES_WITHIN)?;
    // Not all of it is ASCII, as with most people's names.
    let person = json!({"email": "cagla@example.com", "first_name": "Çağla", "last_name": "O’Brien 🙂"});
    service.request(key, "POST", "/v1/employees", &person)?;
    let before = arrivals.recv_timeout(ARRIVES_WITHIN)?;
    let rotated = service.request(key, "PATCH", &path, &json!({"rotate_secret": true}))?;
    let second = member(&rotated, "secret")?;
    service.request(key, "POST", &format!("{path}/test"), &json!({}))?;
    let during = arrivals.recv_timeout(ARRIVES_WITHIN)?;
    let mut cases = Vec::new();
    for (delivery, secret, wanted) in [
        (&test, &first, true),
        (&test, &second, false),
        (&before, &first, true),
        (&before, &second, false),
        (&during, &first, true),
        (&during, &second, true),
    ] {
        cases.push(Case { asked: json!([secret, delivery.headers, delivery.body]), wanted });
        let forged = delivery.body.replacen('{', "{ ", 1);
        cases.push(Case { asked: json!([secret, delivery.headers, forged]), wanted: false });
    }
    cases.extend(EMPTY_SECRETS.map(signed_with_an_empty_secret));
    Ok(cases)
}

/// Secrets without key material, with the `v1` that each gives to the body `{}` at [`SIGNED_AT`].
const EMPTY_SECRETS: [(&str, &str); 2] = [
    ("", "618a7f770be189bd086269ac17af38faeb8cb986168a3c1fcd3513b4a6f220e2"),
    ("whsec_", "cef3bc5f328af614589d74ed62bb1766aca10b2901a5664ec5fe4874a5cf97e1"),
];
/// Unix seconds of these signatures.
const SIGNED_AT: i64 = 1_772_352_930;

/// A request that verifies only where an empty secret is accepted.
fn signed_with_an_empty_secret((secret, hex): (&str, &str)) -> Case {
    let headers = json!({"x-service-signature": format!("t={SIGNED_AT},v1={hex}")});
    Case { asked: json!([secret, headers, "{}", SIGNED_AT]), wanted: false }
}

/// A delivery as it came.
struct Delivery {
    headers: Value,
    body: String,
}

/// Receives and acknowledges deliveries until this program ends: where, and what comes.
fn receive() -> Outcome<(String, Receiver<Delivery>)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let url = format!("http://{}/", listener.local_addr()?);
    let (sender, arrivals) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            match take(stream) {
                Ok(delivery) => drop(sender.send(delivery)),
                Err(error) => eprintln!("not a delivery: {error}"),
            }
        }
    });
    Ok((url, arrivals))
}

fn take(stream: TcpStream) -> io::Result<Delivery> {
    let mut reader = BufReader::new(stream);
    let (mut headers, mut length) = (serde_json::Map::new(), 0);
    for line in reader.by_ref().lines() {
        let line = line?;
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(": ") else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().map_err(io::Error::other)?;
        }
        headers.insert(name.to_ascii_lowercase(), json!(value));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    reader.get_mut().write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")?;
    Ok(Delivery { headers: Value::Object(headers), body: String::from_utf8(body).map_err(io::Error::other)? })
}

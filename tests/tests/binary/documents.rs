//! The examples of the documents run as a reader pastes them: the `sh` blocks of `docs/api`, and the receiver of
//! `docs/webhooks.md`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Deserializer, Value, json};

use crate::newcomer::shell;
use crate::support::{Installation, PATIENCE, Service, wait_until};

const RECEIVERS: &str = include_str!("../../../docs/webhooks.md");
/// Line between the outputs of two blocks.
const NEXT: &str = "--- next block ---";
/// Sign at the end of a shortened text, and in place of members that a document leaves out.
const OMITTED: char = '…';

/// A `sh` block of a page, and the JSON that the same section shows below it.
struct Block {
    code: String,
    shown: Option<Value>,
}

/// Returns the `sh` blocks of a page without the lines that set address and key.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = vec![];
    let mut follows = false;
    for (number, part) in page.split("```").enumerate() {
        let (language, code) = part.split_once('\n').unwrap_or_default();
        if number % 2 == 0 {
            follows &= !part.contains("\n#");
        } else if language == "sh" {
            let lines = code.lines().filter(|line| !line.starts_with("BASE=") && !line.starts_with("KEY="));
            blocks.push(Block { code: lines.map(|line| format!("{line}\n")).collect(), shown: None });
            follows = true;
        } else {
            let shown_json = (follows && language == "json").then(|| serde_json::from_str(code));
            if let (Some(shown_json), Some(block)) = (shown_json, blocks.last_mut()) {
                block.shown = Some(shown_json.unwrap_or_else(|error| panic!("{error} in the JSON {code}")));
            }
            follows = false;
        }
    }
    blocks
}

/// Returns the first place at which a value differs from the one that a document shows. `None` if the values
/// agree.
fn difference(shown: &Value, actual: &Value, place: &str) -> Option<String> {
    match (shown, actual) {
        (Value::Object(shown), Value::Object(actual)) => {
            let members = shown.iter().filter(|(name, _)| !name.starts_with(OMITTED));
            members.into_iter().find_map(|(name, value)| {
                let place = format!("{place}.{name}");
                actual.get(name).map_or(Some(place.clone()), |actual| difference(value, actual, &place))
            })
        }
        (Value::Array(shown), Value::Array(actual)) => shown.iter().find_map(|value| {
            let is_there = actual.iter().any(|actual| difference(value, actual, place).is_none());
            (!is_there).then(|| format!("{place}[{value}]"))
        }),
        (Value::String(shown), Value::String(actual)) if shown.ends_with(OMITTED) => {
            let start = shown.trim_end_matches(OMITTED);
            (!actual.starts_with(start)).then(|| place.to_owned())
        }
        _ => (shown != actual).then(|| place.to_owned()),
    }
}

/// Asserts that the output of a block is the JSON that the document shows, or else no error.
fn check_output(name: &str, block: &Block, output: &str) {
    let Some(expected_output) = &block.shown else {
        assert!(!output.contains("\"error\":{"), "{name}: {}\n{output}", block.code);
        return;
    };
    let start = output.find('{').unwrap_or_else(|| panic!("{name}: no JSON in {output}"));
    let values: Result<Vec<Value>, _> = Deserializer::from_str(&output[start..]).into_iter().collect();
    let values = values.unwrap_or_else(|error| panic!("{name}: {error} in {output}"));
    let different = difference(expected_output, values.last().unwrap(), "");
    assert_eq!(different, None, "{name}: {}\n{output}", block.code);
}

#[test]
fn api_page_examples_print_the_shown_responses() {
    let place = Installation::sqlite();
    let service = Service::start(&place, &["dev"]);
    let text_of = |member: &str| service.said[member].as_str().unwrap().to_owned();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/api");
    let mut pages: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    for path in &pages {
        let name = path.file_name().unwrap().to_string_lossy();
        let blocks = blocks(&fs::read_to_string(path).unwrap());
        assert!(blocks.iter().any(|block| block.shown.is_some()), "{name} shows a response");
        let next = format!("printf '\\n%s\\n' '{NEXT}'\n");
        let code: Vec<_> = blocks.iter().map(|block| block.code.as_str()).collect();
        let script = format!("BASE={}\nKEY={}\n{}", text_of("base_url"), text_of("key"), code.join(&next));
        let Some(output) = shell(&script) else { return };
        let outputs: Vec<_> = output.split(NEXT).collect();
        assert_eq!(outputs.len(), blocks.len(), "{name}: {output}");
        blocks.iter().zip(outputs).for_each(|(block, output)| check_output(&name, block, output));
    }
    assert!(pages.len() >= 9, "{pages:?}");
}

#[test]
fn shown_response_with_another_value_is_found() {
    let actual = json!({"id": "emp_1", "tags": ["a", "b"], "person": {"name": "Ada", "age": null}});
    for (shown, wanted) in [
        (json!({"id": "emp_…", "…": "…"}), None),
        (json!({"tags": ["b"], "person": {"age": null}}), None),
        (json!({"id": "obs_…"}), Some(".id")),
        (json!({"person": {"surname": "…"}}), Some(".person.surname")),
        (json!({"tags": ["c"]}), Some(".tags[\"c\"]")),
        (json!({"person": {"age": 1}}), Some(".person.age")),
    ] {
        assert_eq!(difference(&shown, &actual, "").as_deref(), wanted, "{shown}");
    }
}

/// Returns the code block behind the mark `<!-- example: NAME -->` of the page for receivers.
fn example(name: &str) -> &'static str {
    let (_, behind) = RECEIVERS.split_once(&format!("<!-- example: {name} -->\n```python\n")).unwrap();
    behind.split_once("\n```").unwrap().0
}

/// The receiver of the page as a process, which ends with the test.
struct PythonReceiver(Child);

impl Drop for PythonReceiver {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn documented_receiver_prints_verified_events() {
    let place = Installation::sqlite();
    let service = Service::start(&place, &["dev"]);
    let mut client = service.client(service.said["key"].as_str().unwrap());
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let subscription = json!({"url": format!("http://{address}/"), "event_types": ["*"]});
    let webhook = client.post("/v1/webhooks", &subscription).unwrap().json();
    let program = format!("{}\n\n\n{}", example("python"), example("receiver"));
    let spawn_result = Command::new("python3")
        .args(["-c", &program])
        .env("SECRET", webhook["secret"].as_str().unwrap())
        .env("PORT", address.port().to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(process) = spawn_result else {
        eprintln!("skipped: python3 is not installed");
        return;
    };
    let mut receiver = PythonReceiver(process);
    assert!(wait_until(PATIENCE, || TcpStream::connect(address).is_ok()).is_some(), "the receiver listens");
    let department = client.post("/v1/departments", &json!({"name": "Receivers"})).unwrap().json();
    let mut line = String::new();
    BufReader::new(receiver.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, format!("department.created {}\n", department["id"].as_str().unwrap()));
    service.stop();
}

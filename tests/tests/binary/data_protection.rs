//! The commands of docs/guides/data-protection.md, as a data protection officer runs them.

use serde_json::{Value, json};

use crate::support::{Installation, Service, candor};

const GUIDE: &str = include_str!("../../../docs/guides/data-protection.md");

/// Returns the commands of the guide's console blocks, each as its words.
fn commands() -> Vec<Vec<String>> {
    let lines = GUIDE.lines().filter_map(|line| line.strip_prefix("$ candor "));
    // `>` and `|` end the command of candor. The test reads its output instead.
    let plain_command = |line: &'static str| line.split(" > ").next().and_then(|line| line.split(" | ").next());
    lines.filter_map(plain_command).map(words).collect()
}

/// Splits a command into words, as a shell does with single quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (number, part) in command.split('\'').enumerate() {
        let mut pieces = if number % 2 == 0 { part.split(' ').collect() } else { vec![part] }.into_iter();
        let last = words.last_mut().unwrap();
        last.push_str(pieces.next().unwrap_or_default());
        words.extend(pieces.map(str::to_owned));
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn guide_for_data_protection_runs_as_written() {
    let place = Installation::sqlite();
    let admin = place.key("*", &["--admin"]);
    let service = Service::serve(&place);
    let mut client = service.client(&admin.secret);
    let mut hire = |email: &str| {
        let body = json!({"email": email, "first_name": "P", "last_name": "Q"});
        client.post("/v1/employees", &body).unwrap().json()["id"].as_str().unwrap().to_owned()
    };
    let (ada, _bo) = (hire("ada@example.com"), hire("bo@example.com"));
    let mut place = place.with("CANDOR_URL", &format!("http://{}", service.address));
    let (mut erasure, mut outputs) = (String::new(), vec![]);
    for command in commands().into_iter().filter(|command| command[0] != "login") {
        let placeholders = [("ORG", &admin.organization), ("EMPLOYEE", &ada), ("ERASURE", &erasure)];
        let fill =
            |word: &String| placeholders.iter().fold(word.clone(), |word, (name, id)| word.replace(name, id));
        let mut arguments: Vec<_> = command.iter().map(fill).collect();
        if command[0] == "key" {
            arguments.push("--json".to_owned());
        }
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let output = candor(&place, &arguments).succeeded().stdout;
        if command[0] == "key" {
            let output_json: Value = serde_json::from_str(&output).unwrap();
            place = place.with("CANDOR_API_KEY", output_json["key"].as_str().unwrap());
        }
        if command.ends_with(&["reason=Request of 2 March".to_owned()]) {
            let erasure_json: Value = serde_json::from_str(&output).unwrap();
            erasure_json["id"].as_str().unwrap().clone_into(&mut erasure);
        }
        outputs.push((command.join(" "), output));
    }
    let output = |words: &str| {
        let output_of_command = outputs.iter().find(|(command, _)| command.contains(words));
        &output_of_command.unwrap_or_else(|| panic!("the guide has no command with {words}")).1
    };
    let people: Value = serde_json::from_str(output("filter[email]")).unwrap();
    let people = people["data"].as_array().unwrap();
    assert!(people.len() == 1 && people[0]["id"] == *ada, "one person is found, and no other: {people:?}");
    assert!(output("personal-data").trim_end().lines().last().unwrap().contains("\"end\""));
    assert!(output("GET employees/EMPLOYEE/legal-hold").contains("Case 2026-17"));
    assert!(output("--dry-run").contains("\"counts\""));
    assert!(output("GET erasures").contains(&erasure) && !erasure.is_empty());
    assert!(output("retention/preview").contains("applies_at"));
    assert!(output("PATCH organization").contains("P2Y"));
}

/// Address of a client in the documentation range, as a proxy names it.
const CLIENT: &str = "198.51.100.77";

#[test]
fn log_at_its_lowest_level_has_no_client_address() {
    for place in [Some(Installation::sqlite()), Installation::postgres()].into_iter().flatten() {
        let place = place.with("CANDOR_LOG", "trace").with("CANDOR_TRUSTED_PROXIES", "127.0.0.0/8");
        let admin = place.key("*", &["--admin"]);
        let service = Service::serve(&place);
        let order = json!({"name": "Office", "scopes": ["employees:read"], "allowed_networks": ["192.0.2.0/24"]});
        let key = service.client(&admin.secret).post("/v1/api-keys", &order).unwrap().json();
        let person = json!({"email": "canary-person@example.com", "first_name": "Canary-name", "last_name": "Q"});
        assert_eq!(service.client(&admin.secret).post("/v1/employees", &person).unwrap().status, 201);
        for (secret, status) in [(key["key"].as_str().unwrap(), 401), ("cnd_wrong", 401), (&admin.secret, 200)] {
            let mut client = service.client(secret);
            let head = client.head("GET", "/v1/employees", None);
            let head = format!("{head}X-Forwarded-For: {CLIENT}\r\n\r\n");
            client.send(head.as_bytes()).unwrap();
            assert_eq!(client.receive().unwrap().status, status, "{secret}");
        }
        let log = service.stop_and_read_log();
        assert!(log.contains("key used outside its networks"), "{log}");
        for text in [CLIENT, "canary-person", "Canary-name"] {
            assert!(!log.contains(text), "{text} is in the log");
        }
    }
}

//! The commands of docs/guides/scim.md, as an administrator pastes them.

use std::process::Command;

use serde_json::Value;

use crate::support::{Installation, Service};

const GUIDE: &str = include_str!("../../../../docs/guides/scim.md");

#[test]
fn commands_of_the_guide_work_when_pasted() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: curl is not installed");
        return;
    }
    let place = Installation::sqlite();
    let admin = place.key("*", &["--admin"]);
    let service = Service::serve(&place);
    let script = commands()
        .replace("https://feedback.example.com", &format!("http://{}", service.address))
        .replace("cdr_live_…", &admin.secret);
    let output = Command::new("sh").args(["-eu", "-c", &script]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{script}\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    for (prefix, value) in [("connector ", "con_"), ("token ", "cdr_live_"), ("user ", "emp_")] {
        assert!(text.lines().any(|line| line.starts_with(&format!("{prefix}{value}"))), "{prefix}: {text}");
    }
    let responses: Vec<Value> = text
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [person, list, created, removed, issues] = responses.as_slice() else { panic!("{text}") };
    assert_eq!(person["email"], "ada@example.com", "{person}");
    assert_eq!((&list["totalResults"], &list["Resources"][0]["id"]), (&1.into(), &person["id"]), "{list}");
    assert_eq!(
        (&created["userName"], &created["active"]),
        (&"bo.li@example.com".into(), &true.into()),
        "{created}"
    );
    assert_eq!((&removed["id"], &removed["active"]), (&created["id"], &false.into()), "{removed}");
    assert_eq!(issues["data"][0]["kind"], "manager_pending", "{issues}");
    assert_eq!(issues["data"].as_array().map(Vec::len), Some(1), "{issues}");
}

/// Returns the shell blocks of the guide as one script.
fn commands() -> String {
    let mut script = String::new();
    let mut is_command = false;
    for line in GUIDE.lines() {
        match line.trim() {
            "```sh" => is_command = true,
            "```" => is_command = false,
            _ if is_command => script += &format!("{line}\n"),
            _ => {}
        }
    }
    assert!(script.contains("ADMIN_KEY="), "{script}");
    script
}

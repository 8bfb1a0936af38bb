//! Settings and command lines in docs/deploy: the program must know them.

use super::container::{COMPOSE, DOCKERFILE, compose_commands, image_commands};
use super::documents::words;
use super::{CheckResult, Machine, Outcome, judge, kubernetes};
use crate::process::{output, succeeds};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// Path of the installed program.
const INSTALLED: &str = "/usr/bin/candor";
/// Variables that are no settings: the file of settings, and the key of a client.
const NO_SETTINGS: [&str; 2] = ["CANDOR_CONFIG", "CANDOR_API_KEY"];

pub(super) fn settings(machine: &Machine) -> Outcome<CheckResult> {
    let mut command = Command::new(&machine.binary);
    let settings: Value = serde_json::from_str(&output(command.env_clear().args(["config", "--json"]))?)?;
    let settings = settings.as_object().ok_or("candor config --json has an unknown form")?;
    let variables =
        settings.values().filter_map(|setting| setting["variable"].as_str()).chain(NO_SETTINGS).collect();
    let unknown: Vec<String> = machine
        .documents
        .files_below("")
        .flat_map(|(path, text)| unknown_settings(path, text, &variables))
        .collect();
    judge(&unknown, format!("every variable is one of the {} settings", variables.len() - NO_SETTINGS.len()))
}

fn unknown_settings(path: &str, text: &str, known: &BTreeSet<&str>) -> Vec<String> {
    // Skips patterns for several settings, such as `CANDOR_WEBHOOKS_*`.
    let setting_names = words(text, "CANDOR_").map(|(word, _)| word).filter(|word| !word.ends_with('_'));
    let unknown: BTreeSet<&str> = setting_names.filter(|word| !known.contains(word)).collect();
    unknown.into_iter().map(|word| format!("{path}: {word} is not a setting, see `candor config`")).collect()
}

pub(super) fn check(machine: &Machine) -> Outcome<CheckResult> {
    let documents = &machine.documents;
    let mut commands = kubernetes::commands(documents)?;
    for (path, text) in documents.files_below("") {
        commands.extend(in_units(text).chain(in_examples(text)).map(|words| (path.to_owned(), words)));
    }
    for (service, words) in compose_commands(&documents.yaml(COMPOSE)?) {
        commands.push((format!("{COMPOSE}, {service}"), words));
    }
    let image = image_commands(documents.text(DOCKERFILE)?);
    commands.extend(image.into_iter().map(|words| (DOCKERFILE.to_owned(), words)));
    let wrong = commands.iter().filter(|(_, words)| !is_valid(machine, words));
    let wrong: Vec<String> =
        wrong.map(|(path, words)| format!("{path}: `candor {}` is not valid", words.join(" "))).collect();
    judge(&wrong, format!("{} command lines are valid", commands.len()))
}

/// Returns `true` if the program accepts a command line. The program checks the command line also with `--help`, and
/// then executes nothing.
fn is_valid(machine: &Machine, words: &[String]) -> bool {
    succeeds(Command::new(&machine.binary).env_clear().args(words).arg("--help"))
}

/// Returns the command lines of candor in a unit of systemd.
fn in_units(text: &str) -> impl Iterator<Item = Vec<String>> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("ExecStart=")?.strip_prefix(INSTALLED));
    lines.map(split)
}

/// Returns the command lines of candor in code blocks, including those with `sudo -u candor` and those that run in
/// a container.
fn in_examples(text: &str) -> impl Iterator<Item = Vec<String>> {
    let lines = text.split("```").skip(1).step_by(2).flat_map(str::lines);
    lines.filter_map(|line| {
        let line = line.trim().trim_start_matches("sudo -u candor ");
        let in_container =
            line.split_once(INSTALLED).filter(|(_, rest)| rest.starts_with(' ')).map(|(_, rest)| rest);
        line.strip_prefix("candor ").or(in_container).map(split)
    })
}

/// Returns the words of a line of shell, without its comment. Quotes must enclose whole words.
fn split(line: &str) -> Vec<String> {
    let line = line.split(" #").next().unwrap_or_default();
    let mut words = Vec::new();
    for (number, part) in line.split(['\'', '"']).enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_setting_is_found() {
        let text = "CANDOR_LISTEN: a\nCANDOR_LISTN: b\n# CANDOR_WEBHOOKS_*\n";
        let findings = unknown_settings("a.yaml", text, &["CANDOR_LISTEN"].into());
        assert_eq!(findings, ["a.yaml: CANDOR_LISTN is not a setting, see `candor config`"]);
    }

    #[test]
    fn command_lines_are_found_in_units_and_code_blocks() {
        let units: Vec<_> =
            in_units("[Service]\nExecStart=\nExecStart=/usr/bin/candor serve --role api\n").collect();
        assert_eq!(units, [["serve", "--role", "api"]]);
        let text = "candor is a word\n```\nsudo -u candor candor org create --name 'A B'  # comment\nls\nexec a \
            /usr/bin/candor doctor\n```\ncandor no\n";
        let examples: Vec<_> = in_examples(text).collect();
        assert_eq!(examples, [vec!["org", "create", "--name", "A B"], vec!["doctor"]]);
    }
}

//! Every command line that is written down is one that the program takes.

use super::documents::texts;
use super::{Machine, Outcome, Tried, container, judged, kubernetes};
use crate::process::succeeds;
use serde_json::Value;
use std::process::Command;

/// How the program is called where it is installed.
const INSTALLED: &str = "/usr/bin/candor";

pub(super) fn check(machine: &Machine) -> Outcome<Tried> {
    let mut found = Vec::new();
    let documents = &machine.documents;
    for (path, text) in documents.all() {
        found.extend(of_units(text).chain(of_examples(text)).map(|it| (path.to_owned(), it)));
    }
    for (service, command) in container::commands(&documents.yaml(container::COMPOSE)?) {
        found.push((format!("{}, {service}", container::COMPOSE), command));
    }
    for (path, workload) in kubernetes::workloads(documents)? {
        for container in kubernetes::containers(&workload) {
            found.push((path.clone(), owned(&container["args"])));
        }
    }
    for command in container::of_the_image(documents.text(container::DOCKERFILE)?) {
        found.push((container::DOCKERFILE.to_owned(), command));
    }
    let wrong = found.iter().filter(|(_, words)| !is_taken(machine, words));
    let wrong = wrong.map(|(path, words)| format!("{path}: `candor {}` is not understood", words.join(" "))).collect();
    judged(wrong, format!("{} command lines are understood", found.len()))
}

/// Help is given for nothing but a command line that is right up to there.
fn is_taken(machine: &Machine, words: &[String]) -> bool {
    succeeds(Command::new(&machine.binary).env_clear().args(words).arg("--help"))
}

pub(super) fn owned(list: &Value) -> Vec<String> {
    texts(list).into_iter().map(str::to_owned).collect()
}

/// What units of systemd start.
fn of_units(text: &str) -> impl Iterator<Item = Vec<String>> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("ExecStart=")?.strip_prefix(INSTALLED));
    lines.map(split)
}

/// What blocks of code tell people to type, also as another user, `sudo -u candor candor …`, and in a container.
fn of_examples(text: &str) -> impl Iterator<Item = Vec<String>> {
    let lines = text.split("```").skip(1).step_by(2).flat_map(str::lines);
    lines.filter_map(|line| {
        let line = line.trim().trim_start_matches("sudo -u candor ");
        let in_a_container = line.split_once(INSTALLED).filter(|(_, rest)| rest.starts_with(' ')).map(|(_, rest)| rest);
        line.strip_prefix("candor ").or(in_a_container).map(split)
    })
}

/// The words of a line of shell, without a comment; quotes are only around what is no word of the program's.
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
    use super::{of_examples, of_units};

    #[test]
    fn command_lines_are_found_in_units_and_blocks_of_code() {
        let units: Vec<_> = of_units("[Service]\nExecStart=\nExecStart=/usr/bin/candor serve --role api\n").collect();
        assert_eq!(units, [["serve", "--role", "api"]]);
        let text = "candor is a word\n```\nsudo -u candor candor org create --name 'A B'  # why\nls\nexec a \
            /usr/bin/candor doctor\n```\ncandor no\n";
        let examples: Vec<_> = of_examples(text).collect();
        assert_eq!(examples, [vec!["org", "create", "--name", "A B"], vec!["doctor"]]);
    }
}

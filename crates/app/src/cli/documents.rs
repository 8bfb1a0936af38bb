//! Test that every mention of a command in a document names commands and flags that exist.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;

use super::{command_line, settings};

/// Folders and files of the project with documents for users.
const DOCUMENTS: [&str; 6] = ["README.md", "CONTRIBUTING.md", "docs", "clients", "crates", "migrations"];
/// Folders with documents about the past or of other projects.
const LEFT_OUT: [&str; 4] = ["adr", "node_modules", "target", ".venv"];

fn documents(path: &Path, found: &mut Vec<PathBuf>) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if LEFT_OUT.contains(&&*name) {
        return;
    }
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        entries.for_each(|entry| documents(&entry, found));
    } else if name.ends_with(".md") && name != "CHANGELOG.md" {
        found.push(path.to_owned());
    }
}

/// Returns the command lines of this program in a document: spans of code, and lines of blocks.
fn mentions(text: &str) -> Vec<String> {
    let mut names = vec![];
    for (number, part) in text.split("```").enumerate() {
        if number % 2 == 1 {
            let lines = part.replace("\\\n", " ");
            let lines = lines.lines().map(|line| line.trim_start_matches("$ ").trim().to_owned());
            names.extend(lines.filter(|line| line.starts_with("candor ")));
        } else {
            let spans = part.split('`').skip(1).step_by(2).map(|span| span.split_whitespace().collect::<Vec<_>>());
            names.extend(spans.map(|words| words.join(" ")).filter(|span| span.starts_with("candor ")));
        }
    }
    names
}

/// Splits a command line into its words up to the end of the command. Quotes keep a word together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (vec![], String::new(), None);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, ' ') => words.push(std::mem::take(&mut word)),
            (None, '[' | ']') => {}
            _ => word.push(letter),
        }
    }
    words.push(word);
    let ends = |word: &String| ["|", "||", ">", "2>", "&&", ";", "#", "<"].contains(&word.as_str());
    let end = words.iter().position(ends).unwrap_or(words.len());
    words.truncate(end);
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

/// Returns the fault of a command line, or `None` if there is none.
fn fault(root: &Command, line: &str) -> Option<String> {
    let mut command = root;
    let mut path_ended = false;
    for word in words(line).iter().skip(1) {
        let flag = word.split('=').next().unwrap_or_default();
        if let Some(name) = flag.strip_prefix("--").filter(|name| !name.is_empty()) {
            let has_flag = command.get_arguments().any(|argument| argument.get_long() == Some(name));
            if !has_flag && !["help", "version"].contains(&name) {
                return Some(format!("`{}` has no flag --{name}", command.get_name()));
            }
            path_ended = true;
        } else if flag.starts_with('-') && flag.len() == 2 {
            let name = flag.chars().nth(1);
            if !command.get_arguments().any(|argument| argument.get_short() == name) && name != Some('h') {
                return Some(format!("`{}` has no flag {flag}", command.get_name()));
            }
            path_ended = true;
        } else if !path_ended
            && command.has_subcommands()
            && word.chars().all(|letter| letter.is_ascii_lowercase())
        {
            let Some(subcommand) = command.find_subcommand(word) else {
                return Some(format!("`{}` has no command {word}", command.get_name()));
            };
            command = subcommand;
        } else {
            path_ended = true;
        }
    }
    None
}

#[test]
fn documents_name_commands_and_flags_that_exist() {
    let mut root = settings::accept_settings(command_line());
    root.build();
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![];
    DOCUMENTS.iter().for_each(|name| documents(&project.join(name), &mut files));
    let (mut count, mut faults) = (0, vec![]);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for line in mentions(&text) {
            count += 1;
            faults.extend(fault(&root, &line).map(|fault| format!("{}: {line}: {fault}", file.display())));
        }
    }
    assert!(count > 150, "too few mentions are found: {count}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn wrong_mention_is_found() {
    let mut root = settings::accept_settings(command_line());
    root.build();
    for (line, wrong) in [
        ("candor serve --listen 0.0.0.0:8080", false),
        ("candor serve --lissten 0.0.0.0:8080", true),
        ("candor key create --org ORG --name 'HR sync' --scopes '*'", false),
        ("candor key make --org ORG", true),
        ("candor migrate [--check]", false),
        ("candor api GET employees -q limit=5 | jq -r '.data'", false),
        ("candor COMMAND --help", false),
    ] {
        assert_eq!(fault(&root, line).is_some(), wrong, "{line}: {:?}", fault(&root, line));
    }
}

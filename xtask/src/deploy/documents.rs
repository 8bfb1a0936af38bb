//! The files of the folder, and what is written in YAML there.

use crate::process::Outcome;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every text file by its path in the folder, with slashes.
pub(super) struct Documents(BTreeMap<String, String>);

impl Documents {
    pub(super) fn read(folder: &Path) -> Outcome<Self> {
        let mut all = BTreeMap::new();
        collect(folder, "", &mut all)?;
        Ok(Self(all))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    pub(super) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.all().filter(move |(path, _)| path.starts_with(folder))
    }

    pub(super) fn text(&self, path: &str) -> Outcome<&str> {
        self.0.get(path).map(String::as_str).ok_or_else(|| format!("there is no {path}").into())
    }

    /// Every document of a YAML file.
    pub(super) fn yaml(&self, path: &str) -> Outcome<Vec<Value>> {
        parse(self.text(path)?).map_err(|problem| format!("{path}: {problem}").into())
    }
}

/// How many merges stand upon each other.
const DEPTH: usize = 3;

fn collect(folder: &Path, prefix: &str, all: &mut BTreeMap<String, String>) -> Outcome {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // What somebody who runs the compose file from here keeps to themselves.
        if name == "secrets" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{prefix}{name}/"), all)?;
        } else {
            all.insert(format!("{prefix}{name}"), fs::read_to_string(entry.path())?);
        }
    }
    Ok(())
}

/// Every document of a text in YAML, anchors and merges resolved.
pub(super) fn parse(text: &str) -> Outcome<Vec<Value>> {
    let mut documents = Vec::new();
    for document in serde_yaml_ng::Deserializer::from_str(text) {
        let mut value = serde_yaml_ng::Value::deserialize(document)?;
        // What is merged may itself be merged.
        for _ in 0..DEPTH {
            value.apply_merge()?;
        }
        documents.push(serde_json::to_value(value)?);
    }
    Ok(documents)
}

/// The texts of a list; none where there is no list.
pub(super) fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The words of a text that begin like this and go on with letters, digits and underscores, each with what follows it.
pub(super) fn words<'a>(text: &'a str, beginning: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text.match_indices(beginning).filter_map(move |(at, _)| {
        let begins = !text[..at].chars().next_back().is_some_and(is_part);
        let rest = &text[at..];
        let end = rest.find(|it| !is_part(it)).unwrap_or(rest.len());
        begins.then(|| rest.split_at(end))
    })
}

#[cfg(test)]
mod tests {
    use super::{parse, words};
    use serde_json::json;

    #[test]
    fn documents_are_divided_and_merges_resolved() {
        let text = "x: &a {one: 1, two: 2}\ny: &b\n  <<: *a\n  two: 3\nw: {<<: *b, one: 4}\n---\nz: [a]\n";
        let wanted = [
            json!({"x": {"one": 1, "two": 2}, "y": {"one": 1, "two": 3}, "w": {"one": 4, "two": 3}}),
            json!({"z": ["a"]}),
        ];
        assert_eq!(parse(text).unwrap(), wanted);
        assert!(parse("a: [").is_err());
    }

    #[test]
    fn a_word_is_taken_whole() {
        let found: Vec<_> = words("A_B=1 XA_C a(A_D9) A_", "A_").map(|(word, _)| word).collect();
        assert_eq!(found, ["A_B", "A_D9", "A_"]);
    }
}

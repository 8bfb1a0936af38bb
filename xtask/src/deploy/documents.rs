//! The files in docs/deploy, and their YAML.

use crate::process::Outcome;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The text files in docs/deploy by their path relative to it, with slashes.
pub(super) struct Documents(BTreeMap<String, String>);

impl Documents {
    pub(super) fn read(folder: &Path) -> Outcome<Self> {
        let mut all = BTreeMap::new();
        collect(folder, "", &mut all)?;
        Ok(Self(all))
    }

    /// Returns the files whose paths begin with `prefix`.
    pub(super) fn files_below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .filter(move |(path, _)| path.starts_with(prefix))
    }

    pub(super) fn text(&self, path: &str) -> Outcome<&str> {
        self.0.get(path).map(String::as_str).ok_or_else(|| format!("there is no {path}").into())
    }

    /// Returns every document of a YAML file.
    pub(super) fn yaml(&self, path: &str) -> Outcome<Vec<Value>> {
        parse(self.text(path)?).map_err(|problem| format!("{path}: {problem}").into())
    }
}

/// Maximum depth of YAML merges (`<<`) inside merged values.
const MERGE_DEPTH: usize = 3;

fn collect(folder: &Path, prefix: &str, all: &mut BTreeMap<String, String>) -> Outcome {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Operators who run the compose file from here keep their secrets in this folder.
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

/// Parses every document of a YAML text. Resolves anchors and merges.
pub(super) fn parse(text: &str) -> Outcome<Vec<Value>> {
    let mut documents = Vec::new();
    for document in serde_yaml_ng::Deserializer::from_str(text) {
        let mut value = serde_yaml_ng::Value::deserialize(document)?;
        for _ in 0..MERGE_DEPTH {
            value.apply_merge()?;
        }
        documents.push(serde_json::to_value(value)?);
    }
    Ok(documents)
}

/// Returns the items of a list. Other values have none.
pub(super) fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the texts of a list.
pub(super) fn texts(list: &Value) -> Vec<&str> {
    items(list).iter().filter_map(Value::as_str).collect()
}

/// Returns the words of letters, digits and underscores that begin with `prefix`, each with the text after it.
pub(super) fn words<'a>(text: &'a str, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.match_indices(prefix).filter_map(move |(at, _)| {
        let begins = !text[..at].chars().next_back().is_some_and(is_part);
        let rest = &text[at..];
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        begins.then(|| rest.split_at(end))
    })
}

#[cfg(test)]
mod tests {
    use super::{parse, words};
    use serde_json::json;

    #[test]
    fn yaml_documents_are_divided_and_merges_resolved() {
        let text = "x: &a {one: 1, two: 2}\ny: &b\n  <<: *a\n  two: 3\nw: {<<: *b, one: 4}\n---\nz: [a]\n";
        let expected_documents = [
            json!({"x": {"one": 1, "two": 2}, "y": {"one": 1, "two": 3}, "w": {"one": 4, "two": 3}}),
            json!({"z": ["a"]}),
        ];
        assert_eq!(parse(text).unwrap(), expected_documents);
        assert!(parse("a: [").is_err());
    }

    #[test]
    fn words_are_found_whole() {
        let found_words: Vec<_> = words("A_B=1 XA_C a(A_D9) A_", "A_").map(|(word, _)| word).collect();
        assert_eq!(found_words, ["A_B", "A_D9", "A_"]);
    }
}

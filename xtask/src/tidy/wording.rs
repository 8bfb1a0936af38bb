//! Plain English in comments and names: the rules of docs/STYLE.md that a program can check.

use super::{Finding, SourceFile};

const OPENERS: [&str; 16] = [
    "What", "Who", "Whom", "Whose", "How", "Where", "Why", "When", "Whoever", "Whatever", "So many", "So much",
    "So long", "The same", "It", "Its",
];
const PEOPLE: [&str; 6] = ["nobody", "somebody", "whoever", "everybody", "anybody", "whom"];
/// Further words that test names must not contain.
const VAGUE: [&str; 5] = ["others", "it", "what", "who", "how"];
/// Beginnings of retired terms for a replay. Each is joined from two parts, so that this file does not contain the
/// term.
const RETIRED: [&str; 4] = [
    concat!("stored", " response"),
    concat!("stored", " reply"),
    concat!("stored", " replies"),
    concat!("stored", " answer"),
];
/// Maximum length of a test name.
const TEST_NAME_CHARS: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Opener,
    People,
    Continued,
    Closure,
    Test,
    Retired,
}

impl Rule {
    const fn advice(self) -> &'static str {
        match self {
            Self::Opener => "the comment opens with a question word or `It`; start with the noun or the verb",
            Self::People => "the comment speaks of an impersonal person; name the actor, such as the client",
            Self::Continued => "the sentence runs over several items; give each item its own sentence",
            Self::Closure => "a closure parameter is named `it`; name it after the value that it holds",
            Self::Retired => "the term is retired; the response that is kept for an idempotency key is a replay",
            Self::Test => {
                "the test name has over 60 characters or a vague word; name subject, condition and result"
            }
        }
    }
}

/// Checks a file that a person wrote.
pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    if file.path.contains("/generated/") {
        return Vec::new();
    }
    let offences = offences(file).into_iter();
    offences.map(|(rule, line)| Finding::new(&file.path, line, rule.advice())).collect()
}

/// Returns the broken rules with their lines.
fn offences(file: &SourceFile) -> Vec<(Rule, usize)> {
    let mut offences = Vec::new();
    let mut add = |rule: Rule, line| offences.push((rule, line));
    let is_rust = file.path.ends_with(".rs");
    if [".md", ".rs", ".js", ".ts", ".py"].iter().any(|ending| file.path.ends_with(ending))
        && file.path != "CHANGELOG.md"
    {
        retired_terms(&file.text).for_each(|line| add(Rule::Retired, line));
    }
    if file.path.ends_with(".md") {
        let lines = (1..).zip(file.text.lines());
        lines.filter(|(_, line)| names_people(line)).for_each(|(line, _)| add(Rule::People, line));
        return offences;
    }
    if !is_rust && !file.path.ends_with(".sql") {
        return offences;
    }
    for (line, marker, text) in comments(&file.text) {
        if OPENERS.iter().any(|opener| begins_with(&text, opener)) {
            add(Rule::Opener, line);
        }
        if names_people(&text) {
            add(Rule::People, line);
        }
        if marker == "///" && (text.starts_with('…') || text.ends_with(['…', ','])) {
            add(Rule::Continued, line);
        }
    }
    for (line, text) in (1..).zip(file.text.lines()).filter(|_| is_rust) {
        if binds_it(text) {
            add(Rule::Closure, line);
        }
    }
    if is_rust {
        test_names(&file.text).filter(|(_, name)| is_vague(name)).for_each(|(line, _)| add(Rule::Test, line));
    }
    offences
}

/// Returns the lines with a retired term.
fn retired_terms(text: &str) -> impl Iterator<Item = usize> {
    let is_retired = |line: &str| {
        let line = line.to_lowercase();
        RETIRED.iter().any(|term| line.match_indices(term).any(|(at, _)| !line[..at].ends_with(is_word)))
    };
    (1..).zip(text.lines()).filter(move |(_, line)| is_retired(line)).map(|(line, _)| line)
}

/// Returns the names of test functions and of the cases of the store suite, with their lines.
pub(super) fn test_names(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut follows_attribute = false;
    (1..).zip(source.lines().map(str::trim_start)).filter_map(move |(number, line)| {
        follows_attribute |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        let (_, rest) = line.split_once(if follows_attribute { "fn " } else { "Case::new(" })?;
        follows_attribute = false;
        rest.split(|letter: char| !is_word(letter)).next().map(|name| (number, name))
    })
}

fn is_vague(test_name: &str) -> bool {
    test_name.len() > TEST_NAME_CHARS
        || test_name.split('_').any(|word| PEOPLE.contains(&word) || VAGUE.contains(&word))
}

/// Returns contiguous comment lines of one kind: first line, marker and joined text.
fn comments(source: &str) -> Vec<(usize, &str, String)> {
    let mut blocks: Vec<(usize, &str, String)> = Vec::new();
    let mut previous = None;
    for (number, line) in (1..).zip(source.lines()) {
        let marker = ["///", "//!", "//", "--"].into_iter().find(|marker| line.trim_start().starts_with(marker));
        if let Some(marker) = marker {
            let text = line.trim_start().trim_start_matches(marker).trim();
            match blocks.last_mut().filter(|_| previous == Some(marker)) {
                Some((_, _, joined)) if joined.is_empty() => joined.push_str(text),
                Some((_, _, joined)) if text.is_empty() => joined.push(' '),
                Some((_, _, joined)) => joined.extend([" ", text]),
                None => blocks.push((number, marker, text.to_owned())),
            }
        }
        previous = marker;
    }
    blocks
}

pub(super) fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn begins_with(text: &str, words: &str) -> bool {
    text.strip_prefix(words).is_some_and(|rest| !rest.starts_with(is_word))
}

pub(super) fn names_people(text: &str) -> bool {
    text.split(|letter: char| !is_word(letter))
        .any(|word| PEOPLE.iter().any(|name| word.eq_ignore_ascii_case(name)))
}

/// Returns `true` if the line has a closure with the parameter `it`, also beside other parameters or in a pattern.
fn binds_it(line: &str) -> bool {
    let parts: Vec<&str> = line.split('|').collect();
    let middle_parts = parts.get(1..parts.len().saturating_sub(1)).unwrap_or_default();
    middle_parts.iter().any(|part| part.split(|letter: char| !is_word(letter)).any(|word| word == "it"))
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(Rule, usize)> {
        offences(&file(path, text))
    }

    #[test]
    fn question_word_at_the_start_of_a_comment_is_found() {
        assert_eq!(
            rules("a.rs", "/// What a row\n/// has.\nstruct A;\n// So long.\n"),
            [(Rule::Opener, 1), (Rule::Opener, 4)]
        );
        assert_eq!(rules("a.rs", "//! Whatsoever.\n/// Items. When they end.\nlet a = \"// It\";\n"), []);
        assert_eq!(rules("a.sql", "-- It leads.\nSELECT 1;\n"), [(Rule::Opener, 1)]);
    }

    #[test]
    fn impersonal_person_in_a_comment_or_document_is_found() {
        assert_eq!(rules("a.rs", "/// Rows\n/// for Nobody.\n"), [(Rule::People, 1)]);
        assert_eq!(rules("a.md", "# Rows\n\nLeft for whoever asks.\n"), [(Rule::People, 3)]);
        assert_eq!(rules("a.json", "whoever"), []);
    }

    #[test]
    fn retired_term_is_found_in_code_and_documents() {
        let text =
            "One {0} response.\nA {0} row.\nTwo {0} replies\nand Xstored answers.\n".replace("{0}", "stored");
        for path in ["a.rs", "a.md", "a.py"] {
            assert_eq!(rules(path, &text), [(Rule::Retired, 1), (Rule::Retired, 3)], "{path}");
        }
        assert_eq!(rules("CHANGELOG.md", &text), []);
    }

    #[test]
    fn sentence_over_several_items_is_found() {
        let text = "/// One for reads,\na: u8,\n/// … and one for writes.\nb: u8,\n// so far,\n";
        assert_eq!(rules("a.rs", text), [(Rule::Continued, 1), (Rule::Continued, 3)]);
    }

    #[test]
    fn vague_closure_parameter_is_found() {
        let closure = format!("rows.map(|{0}| {0}.id);\nrows.map(|(row, {0})| row);\nlet unit = a | b;\n", "it");
        assert_eq!(rules("a.rs", &closure), [(Rule::Closure, 1), (Rule::Closure, 2)]);
    }

    #[test]
    fn long_or_vague_test_name_is_found() {
        let (longest, long) = ("a".repeat(TEST_NAME_CHARS), "a".repeat(TEST_NAME_CHARS + 1));
        let names = ["key_is_found", "nobody_finds_a_key", "others_wait", &longest, &long];
        let test = |name: &str| format!("#[tokio::test]\nasync fn {name}() {{}}\nfn how_it_is() {{}}\n");
        let text = names.map(test).concat();
        assert_eq!(rules("a.rs", &text), [(Rule::Test, 5), (Rule::Test, 8), (Rule::Test, 14)]);
        assert_eq!(
            rules("a.rs", &format!("Case::{}(what_is_read),\nCase::new(row_is_read),\n", "new")),
            [(Rule::Test, 1)]
        );
    }
}

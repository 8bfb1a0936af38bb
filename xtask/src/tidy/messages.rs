//! Messages of the log from level info, and of errors: the forms of docs/STYLE.md, section Errors.

use super::wording::names_people;
use super::{Finding, SourceFile};
use crate::text::has_word;

const OPENINGS: [&str; 4] = ["tracing::info!(", "tracing::warn!(", "tracing::error!(", "#[error("];
/// Forms of failure other than "cannot <verb>".
const FAILURES: [&str; 5] = ["could not", "error while", "failed to", "tried again", "unable to"];
/// Words that do not name their subject, and phrases that operators do not know from other programs.
const VAGUE: [&str; 5] = ["anew", "others", "passed over", "what", "whatever"];

/// Checks the messages in a file of the service. Skips the Rust client: its messages are sentences, as in the
/// clients for other languages.
pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    let is_source = file.path.starts_with("crates/") && file.path.contains("/src/");
    if !is_source || !file.path.ends_with(".rs") || file.path.starts_with("crates/client/") {
        return Vec::new();
    }
    let text = file.text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut findings = Vec::new();
    for opening in OPENINGS {
        for (at, _) in text.match_indices(opening) {
            let advice = message(&text[at + opening.len()..]).and_then(|message| offence(&message));
            let line = 1 + text[..at].matches('\n').count();
            findings.extend(advice.map(|advice| Finding::new(&file.path, line, advice)));
        }
    }
    findings
}

/// Returns the longest literal before the end of the parentheses, without placeholders, if there is one.
fn message(arguments: &str) -> Option<String> {
    let (mut literals, mut depth, mut letters) = (vec![], 1, arguments.chars());
    while depth > 0 {
        match letters.next()? {
            '(' => depth += 1,
            ')' => depth -= 1,
            '"' => literals.push(literal(&mut letters)),
            _ => {}
        }
    }
    literals.into_iter().max_by_key(String::len)
}

/// Reads a literal up to its end quote. A line end behind a backslash joins the lines.
fn literal(letters: &mut std::str::Chars<'_>) -> String {
    let (mut text, mut is_placeholder) = (String::new(), false);
    while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
        match letter {
            '\\' if letters.next() == Some('\n') => {
                *letters = letters.as_str().trim_start().chars();
            }
            '{' | '}' => is_placeholder = letter == '{',
            _ if is_placeholder => {}
            _ => text.push(letter),
        }
    }
    text
}

fn offence(message: &str) -> Option<&'static str> {
    let mut letters = message.chars();
    let is_capital = letters.next().is_some_and(char::is_uppercase);
    if is_capital && letters.next().is_some_and(|second| second == ' ' || second.is_lowercase()) {
        Some("the message begins with a capital letter; begin with a small one")
    } else if message.ends_with('.') && !message.contains(". ") {
        Some("the message is one sentence and ends with a full stop; leave the full stop out")
    } else if FAILURES.iter().any(|phrase| has_word(message, phrase)) {
        Some("the message states a failure in another form; write `cannot <verb>`, then the remedy")
    } else if names_people(message) || VAGUE.iter().any(|word| has_word(message, word)) {
        Some("the message has a vague word; name the subject, such as the other workers")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&file("crates/a/src/a.rs", text)).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn wrong_forms_of_a_message_are_found() {
        let messages = "The store is gone|A row is missing|the store is gone.|could not read {what}|failed to \\\n    read|\
            reading is tried again|others wait|for whoever reads";
        for message in messages.split('|') {
            assert_eq!(lines(&format!("\ntracing::warn!(%error, \"{message}\");")), [2], "{message}");
            assert_eq!(lines(&format!("#[error(\"{message}\", .0.join(\", \"))]")), [1], "{message}");
        }
    }

    #[test]
    fn right_messages_and_other_literals_are_accepted() {
        for text in [
            "tracing::warn!(a = %(b), \"cannot {what}: {}; run `candor doctor`\");",
            "tracing::info!(\"TLS is off. Set it.\");",
            "#[error(\"cannot \\\"{0}\\\" rows\")]",
            "tracing::debug!(\"Could not.\");",
            "let text = \"Could not.\";",
            "#[cfg(test)]\nmod tests { tracing::warn!(\"Could not.\"); }",
        ] {
            assert_eq!(lines(text), [0; 0], "{text}");
        }
        assert_eq!(check(&file("crates/client/src/a.rs", "#[error(\"The end.\")]")), []);
    }
}

//! Functions are verbs, bindings say what they hold: no name is a bare participle, preposition or adverb. Types of errors
//! end in `Error`. The result of a use case is a reply, that of HTTP a response, and no name is an answer.

use super::sizes::functions;
use super::wording::is_word;
use super::{Finding, SourceFile};

const PREPOSITIONS: &str = "above across against along among around at before behind below beside besides between beyond by \
    despite during in of off on out over per since through toward under until up upon within without after";
const PARTICIPLES: &str = "begun bound broken brought built caught chosen dealt done drawn driven forgotten found given gone \
    grown held hidden kept known left lost made meant met paid said seen sent shown spent spoken taken thrown told won worn \
    written";
const ADVERBS: &str = "again ahead alone altogether anew apart aside away back here itself later meanwhile once soon sooner \
    there together twice";
/// Words that end in `ed` or `ing` and are allowed as names.
const VERBS_AND_NOUNS: &str = "bed embed feed need proceed seed shared speed succeed string heading encoding ping missing pending remaining ring";
/// Participles and prepositions that functions may have as names: words of serde, HTTP or the API.
const FUNCTIONS: [&str; 6] = ["accepted", "created", "expecting", "nested", "required", "since"];

/// Checks the names of functions and bindings of a file that a person wrote.
pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    if !file.path.ends_with(".rs") || file.path.contains("/generated/") {
        return Vec::new();
    }
    let path = format!("/{}", file.path);
    let is_test = ["/tests/", "/cases/", "/tests.rs"].iter().any(|part| path.contains(part));
    let is_odd = |name| !FUNCTIONS.contains(&name) && (is_bare(name) || is_word_with(name, "ing"));
    let functions = functions(&file.text).into_iter().filter(|function| !is_test && !function.in_tests);
    let functions = functions.map(|function| (function.line, function.name)).filter(|(_, name)| is_odd(name));
    let functions =
        functions.map(|(line, name)| (line, format!("the function `{name}` has no verb: say what it does")));
    let bindings =
        (1..).zip(file.text.lines()).flat_map(|(line, text)| binding_names(text).map(move |name| (line, name)));
    let bindings = bindings.filter(|(_, name)| is_bare(name) || is_retired(name));
    let bindings = bindings.map(|(line, name)| (line, format!("the binding `{name}` does not say what it holds")));
    let findings = functions.chain(bindings).chain(misnamed_types(&file.text));
    findings.map(|(line, says)| Finding::new(&file.path, line, says)).collect()
}

/// Returns the types that derive `Error` and do not end so, and those whose names end in a retired word.
fn misnamed_types(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut is_error = false;
    (1..).zip(text.lines()).filter_map(move |(line, text)| {
        is_error |= text.contains("derive(") && text.contains(concat!("thiserror", "::Error"));
        let name = declared_type(text)?;
        let is_misnamed = std::mem::take(&mut is_error) && !name.ends_with("Error") && !name.ends_with("Errors");
        let says = format!("the error `{name}` does not end in `Error`");
        let retired_name = || format!("`{name}` is a reply of a use case or a response of HTTP: name it so");
        is_misnamed.then_some(says).or_else(|| is_retired(name).then(retired_name)).map(|says| (line, says))
    })
}

/// Returns the name of the type that a line declares.
fn declared_type(line: &str) -> Option<&str> {
    let mut words = line.split(|letter: char| !is_word(letter)).filter(|_| !line.trim_start().starts_with("//"));
    words.find(|word| ["struct", "enum", "trait", "type"].contains(word))?;
    words.next().filter(|name| name.starts_with(|letter: char| letter.is_ascii_uppercase()))
}

/// Returns `true` for a name that ends in the retired word for a reply or a response.
fn is_retired(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.trim_end_matches('s').ends_with("answer")
}

fn is_bare(name: &str) -> bool {
    [PREPOSITIONS, PARTICIPLES, ADVERBS].iter().any(|words| is_listed(words, name)) || is_word_with(name, "ed")
}

fn is_word_with(name: &str, ending: &str) -> bool {
    let is_word = name.bytes().all(|byte| byte.is_ascii_lowercase());
    is_word && name.ends_with(ending) && !is_listed(VERBS_AND_NOUNS, name)
}

fn is_listed(words: &str, name: &str) -> bool {
    words.split(' ').any(|word| word == name)
}

/// Returns the names that `let` binds in a line.
fn binding_names(line: &str) -> impl Iterator<Item = &str> {
    line.split("let ").skip(1).map(|pattern| {
        let pattern = pattern.trim_start_matches("mut ");
        let pattern = pattern.strip_prefix("Some(").or_else(|| pattern.strip_prefix("Ok(")).unwrap_or(pattern);
        pattern.trim_start_matches("mut ").split(|letter: char| !is_word(letter)).next().unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::{file, vocabulary::check};

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&file(path, text)).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn bare_participle_or_preposition_is_found() {
        let text = "pub(crate) const fn merged() {\n    LET mut found = 1;\n    if LET Some(at) = x {}\n    LET Ok(kept) = x;\n\
                    }\nasync fn joining() {\n    while LET Some(sent) = x {}\n}\n#[cfg(test)]\nmod tests {\n    fn made() {}\n";
        assert_eq!(lines("crates/a/src/b.rs", &text.replace("LET", "let")), [1, 6, 2, 3, 4, 7]);
    }

    #[test]
    fn noun_and_verb_are_accepted() {
        let text = "fn merge_rows() {\n    LET found_rows = outlet(1);\n    LET string = feed;\n    LET expected_ids = 2;\n\
                    }\nfn required() {}\nfn speed() {}\n";
        assert_eq!(lines("crates/a/src/b.rs", &text.replace("LET", "let")), [0; 0]);
        let text =
            concat!("#[derive(thiserror", "::Error)]\n#[error(\"x\")]\npub struct TooSlow;\npub struct Ok;\n");
        assert_eq!(lines("crates/a/src/b.rs", text), [3]);
        let text = "fn answered() {}\nLET answered = 1;\n".replace("LET", "let");
        assert_eq!(lines("crates/a/tests/b.rs", &text), [2]);
        let text =
            "pub(crate) STRUCT ReadAnswer;\nSTRUCT Answered;\n    TYPE Answers = u8;\nLET second_answer = 1;\n";
        assert_eq!(
            lines(
                "crates/a/tests/b.rs",
                &text.replace("LET", "let").replace("STRUCT", "struct").replace("TYPE", "type")
            ),
            [4, 1, 3]
        );
    }
}

//! Functions are verbs, and bindings say what they hold: no name is a bare participle, preposition or adverb.

use super::{Finding, SourceFile};

const PREPOSITIONS: &str = "above across against along among around at before behind below beside besides between beyond by \
    despite during in of off on out over per since through toward under until up upon within without after";
const PARTICIPLES: &str = "begun bound broken brought built caught chosen dealt done drawn driven forgotten found given gone \
    grown held hidden kept known left lost made meant met paid said seen sent shown spent spoken taken thrown told won worn \
    written";
const ADVERBS: &str = "again ahead alone altogether anew apart aside away back here itself later meanwhile once soon sooner \
    there together twice";
/// Words that end like a participle and are none.
const VERBS_AND_NOUNS: &str = "bed embed exceed feed indeed led need proceed red seed shared speed succeed id bleed ping \
    string binding ceiling encoding floating heading hashing king listing logging mapping meaning missing nesting padding \
    parsing pending polling pricing rating remaining ring routing setting spelling spring testing thing throttling timing \
    tracing wording backing billing building";
/// Functions with the word of an interface: of serde, of HTTP statuses, of parameters of the API, and of the forms of bodies.
const FUNCTIONS: [&str; 6] = ["accepted", "created", "expecting", "nested", "required", "since"];

/// Checks the names of functions and bindings of a file that a person wrote.
pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    if !file.path.ends_with(".rs") || file.path.contains("/generated/") {
        return Vec::new();
    }
    let is_test = file.path.starts_with("tests/")
        || ["/tests/", "/cases/", "/tests.rs", "/benches/"].iter().any(|part| file.path.contains(part));
    let first_test =
        file.text.find("#[cfg(test)]\nmod ").map_or(usize::MAX, |place| file.text[..place].lines().count());
    let findings = (1..).zip(file.text.lines()).flat_map(|(number, line)| {
        let function = function_name(line)
            .filter(|name| !is_test && number <= first_test && is_bare(name) && !FUNCTIONS.contains(name));
        let function = function.map(|name| format!("the function `{name}` is named by no verb: say what it does"));
        let bindings = binding_names(line).filter(|name| is_word_of_position(name) || is_past(name));
        let bindings = bindings.map(|name| format!("the binding `{name}` does not say what it holds"));
        function.into_iter().chain(bindings).map(move |says| (number, says)).collect::<Vec<_>>()
    });
    findings.map(|(number, says)| Finding::new(&file.path, number, says)).collect()
}

fn is_bare(name: &str) -> bool {
    is_word_of_position(name)
        || is_past(name)
        || is_one_word(name) && name.ends_with("ing") && !is_listed(VERBS_AND_NOUNS, name)
}

fn is_word_of_position(name: &str) -> bool {
    [PREPOSITIONS, PARTICIPLES, ADVERBS].iter().any(|words| is_listed(words, name))
}

fn is_past(name: &str) -> bool {
    is_one_word(name) && name.ends_with("ed") && !is_listed(VERBS_AND_NOUNS, name)
}

fn is_one_word(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn is_listed(words: &str, name: &str) -> bool {
    words.split(' ').any(|word| word == name)
}

/// Returns the name of the function whose declaration the line begins.
fn function_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    if let Some(rest_of_line) = rest.strip_prefix("pub") {
        rest = rest_of_line
            .strip_prefix('(')
            .and_then(|inner| inner.split_once(')'))
            .map_or(rest_of_line, |(_, rest)| rest)
            .trim_start();
    }
    while let Some(rest_of_line) =
        ["const ", "async ", "unsafe ", "extern \"C\" "].iter().find_map(|word| rest.strip_prefix(word))
    {
        rest = rest_of_line;
    }
    rest.strip_prefix("fn ").map(first_word)
}

/// Returns the names that `let` binds in a line.
fn binding_names(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("let ")
        .filter(|(at, _)| !line[..*at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_'))
        .map(|(at, word)| {
            let mut pattern = &line[at + word.len()..];
            for prefix in ["mut ", "Some(", "Ok(", "mut "] {
                pattern = pattern.strip_prefix(prefix).unwrap_or(pattern);
            }
            first_word(pattern)
        })
}

fn first_word(text: &str) -> &str {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::check;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&file(path, text)).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn bare_participle_or_preposition_is_found() {
        let text = "pub(crate) const fn merged() {\n    LET mut found = 1;\n    if LET Some(at) = x {}\n    LET Ok(kept) = x;\n\
                    }\nasync fn joining() {\n    while LET Some(sent) = x {}\n}\n#[cfg(test)]\nmod tests {\n    fn made() {}\n";
        assert_eq!(lines("crates/a/src/b.rs", &text.replace("LET", "let")), [1, 2, 3, 4, 6, 7]);
    }

    #[test]
    fn noun_and_verb_are_accepted() {
        let text = "fn merge_rows() {\n    LET found_rows = outlet(1);\n    LET string = feed;\n    LET expected_ids = 2;\n\
                    }\nfn required() {}\nfn speed() {}\n";
        assert_eq!(lines("crates/a/src/b.rs", &text.replace("LET", "let")), [0; 0]);
        let text = "fn answered() {}\nLET answered = 1;\n".replace("LET", "let");
        assert_eq!(lines("crates/a/tests/b.rs", &text), [2]);
        assert_eq!(lines("crates/a/src/generated/b.rs", &text), [0; 0]);
    }
}

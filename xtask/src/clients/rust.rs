//! The Rust back end: filters of its templates, and the layout of its files.

use super::model::{Api, Form, NamedType};
use super::names::pascal_case;
use super::render::{path_with, wrap_text};
use crate::process::{Outcome, root};
use minijinja::Environment;
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

/// Maximum columns of a documentation comment.
const WIDTH: usize = 110;
/// Keywords of Rust that are names in the document.
const KEYWORDS: [&str; 4] = ["type", "return", "move", "ref"];
/// Members with secrets. The Rust library wraps their values, so that `Debug` does not show them.
const SECRETS: [&str; 4] = ["accept_url", "key", "secret", "token"];
/// Schemas and their members that must be kept secret, although other schemas have members of the same name.
const SECRETS_OF: [(&str, &str); 2] = [("PortalLink", "url"), ("PortalLinkExchange", "code")];

/// Adds the filters that only templates of Rust use.
pub(super) fn add_filters(environment: &mut Environment<'_>) {
    environment.add_filter("rustdoc", rustdoc);
    environment.add_filter("setter_doc", setter_doc);
    environment.add_filter("variant", variant);
    environment.add_filter("rust_name", rust_name);
    environment.add_filter("rust_path", rust_path);
    environment.add_filter("stored", field_type);
    environment.add_filter("parameter", |expression: &str| parameter(expression).0);
    environment.add_filter("conversion", |expression: &str| parameter(expression).1);
    environment.add_filter("required_type", |expression: &str| without_option(expression).to_owned());
    environment.add_filter("nullable", |expression: &str| expression.starts_with("Option<"));
}

/// Returns the names of the types that requests contain: bodies, queries and the types of their members. These types
/// get constructors and setters.
pub(super) fn requests(api: &Api) -> BTreeSet<String> {
    let all: Vec<&NamedType> = api.types.iter().chain(&api.queries).collect();
    let operations = || api.resources.iter().flat_map(|resource| &resource.operations).chain(&api.root);
    let bodies = operations().filter_map(|operation| operation.body.as_ref().map(|body| body.name.clone()));
    let mut open: Vec<String> = bodies.chain(api.queries.iter().map(|query| query.name.clone())).collect();
    let mut known_names = BTreeSet::new();
    while let Some(name) = open.pop() {
        let Some(named_type) = all.iter().find(|named| named.name == name) else { continue };
        if !known_names.insert(name) {
            continue;
        }
        if let Form::Object { members } = &named_type.form {
            let words =
                members.iter().flat_map(|member| member.rendered.rust.split(|c: char| !c.is_alphanumeric()));
            open.extend(words.map(str::to_owned));
        }
    }
    known_names
}

/// Returns a documentation comment, or nothing if there is no text.
fn rustdoc(text: &str, indent: usize) -> String {
    let (margin, text) = (" ".repeat(indent), text.trim());
    if text.is_empty() {
        return String::new();
    }
    let line = |line: String| format!("{margin}/// {line}").trim_end().to_owned();
    wrap_text(text, WIDTH - indent - 4).into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the documentation of the setter of a member: its first sentence that says more than the name.
fn setter_doc(doc: &str, name: &str) -> String {
    let mut sentence = first_sentence(doc);
    if sentence.trim_end_matches('.').eq_ignore_ascii_case(&name.replace('_', " ")) && sentence.len() < doc.len() {
        sentence = first_sentence(&doc[sentence.len()..]);
    }
    if sentence.contains(": ") {
        return format!("Sets `{name}`. {sentence}");
    }
    format!("Sets `{name}`: {}", decapitalize(sentence))
}

/// Returns the first sentence; the period of `e.g.` does not end it.
fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let ends = text.match_indices(". ").map(|(place, _)| place);
    let end = ends.filter(|end| !text[..*end].ends_with("e.g")).chain([text.len().saturating_sub(1)]).min();
    &text[..=end.unwrap_or_default()]
}

/// Returns the text with a small first letter, unless its first word is an abbreviation.
fn decapitalize(text: &str) -> String {
    let mut letters = text.chars();
    let (first, second) = (letters.next(), letters.next());
    if second.is_some_and(char::is_uppercase) {
        return text.to_owned();
    }
    first.into_iter().flat_map(char::to_lowercase).chain(text.chars().skip(1)).collect()
}

/// Returns the variant for a word: `-created_at` becomes `CreatedAtDescending`, `*` becomes `All`.
pub(super) fn variant(word: &str) -> String {
    match word.strip_prefix('-') {
        Some(ascending) => format!("{}Descending", variant(ascending)),
        None if word == "*" => "All".to_owned(),
        // A name cannot start with a digit: the window `24h` becomes `Last24h`.
        None if word.starts_with(|letter: char| letter.is_ascii_digit()) => format!("Last{word}"),
        None => pascal_case(&word.replace(':', "_")),
    }
}

pub(super) fn rust_name(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("r#{name}") } else { name.to_owned() }
}

/// Returns a path as an expression of Rust.
fn rust_path(path: &str) -> String {
    let names: Vec<&str> = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
    if names.is_empty() {
        return format!("\"{path}\"");
    }
    let values: String = names.iter().map(|name| format!(", segment({name})")).collect();
    format!("format!(\"{}\"{values})", path_with(path, |_| "{}".to_owned()))
}

/// Returns the type of a member as a field: secrets in a wrapper, a type that contains itself in a box.
fn field_type(expression: &str, name: &str, owner: &str) -> String {
    if SECRETS.contains(&name) || SECRETS_OF.contains(&(owner, name)) {
        return expression.replace("String", "Secret");
    }
    if without_option(expression) == owner {
        expression.replace(owner, &format!("Box<{owner}>"))
    } else {
        expression.to_owned()
    }
}

/// Returns the type without its `Option`.
pub(super) fn without_option(expression: &str) -> &str {
    expression.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')).unwrap_or(expression)
}

/// Returns the type of a setter's parameter, and the expression that converts `value` to the member.
fn parameter(expression: &str) -> (String, &'static str) {
    let expression = without_option(expression);
    if let Some(element) = expression.strip_prefix("Vec<").and_then(|rest| rest.strip_suffix('>')) {
        let items = format!("impl IntoIterator<Item = impl Into<{element}>>");
        return (items, "value.into_iter().map(Into::into).collect()");
    }
    if let Some(element) = expression.strip_prefix("BTreeMap<String, ").and_then(|rest| rest.strip_suffix('>')) {
        if let Some(present) = element.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
            let entries = format!("impl IntoIterator<Item = (impl Into<String>, Option<impl Into<{present}>>)>");
            return (
                entries,
                "value.into_iter().map(|(name, entry)| (name.into(), entry.map(Into::into))).collect()",
            );
        }
        let entries = format!("impl IntoIterator<Item = (impl Into<String>, impl Into<{element}>)>");
        return (entries, "value.into_iter().map(|(name, entry)| (name.into(), entry.into())).collect()");
    }
    match expression {
        "bool" | "i64" | "f64" => (expression.to_owned(), "value"),
        other => (format!("impl Into<{other}>"), "value.into()"),
    }
}

/// Formats Rust code in the layout of the workspace. `settings` are further arguments of rustfmt.
pub(super) fn format_text(text: &str, settings: &[&str]) -> Outcome<String> {
    let mut command = Command::new("rustfmt");
    command.current_dir(root()).args(["--emit", "stdout", "--edition", "2024"]).args(settings);
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    process.stdin.take().ok_or("rustfmt has no input")?.write_all(text.as_bytes())?;
    let output = process.wait_with_output()?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err("rustfmt cannot format the code".into())
    }
}

#[cfg(test)]
mod tests {
    use super::{field_type, parameter, rust_path, rustdoc, setter_doc, variant};

    #[test]
    fn words_become_names_of_variants() {
        for (word, expected) in [
            ("observations:read", "ObservationsRead"),
            ("employee.created", "EmployeeCreated"),
            ("-created_at", "CreatedAtDescending"),
            ("*", "All"),
            ("24h", "Last24h"),
        ] {
            assert_eq!(variant(word), expected);
        }
    }

    #[test]
    fn types_of_members_are_boxed_and_masked_where_needed() {
        assert_eq!(field_type("Option<Employee>", "manager", "Employee"), "Option<Box<Employee>>");
        assert_eq!(field_type("Option<Employee>", "author", "Summary"), "Option<Employee>");
        assert_eq!(field_type("String", "secret", "WebhookWithSecret"), "Secret");
        assert_eq!(parameter("Option<Vec<String>>").0, "impl IntoIterator<Item = impl Into<String>>");
        assert_eq!(
            parameter("BTreeMap<String, Option<String>>").0,
            "impl IntoIterator<Item = (impl Into<String>, Option<impl Into<String>>)>"
        );
    }

    #[test]
    fn setter_is_described_by_the_first_sentence_of_its_member() {
        for (doc, expected) in [
            ("Page size, 1 to 100. Default: 50.", "Sets `x`: page size, 1 to 100."),
            ("URL, e.g. `https://example.com`.", "Sets `x`: URL, e.g. `https://example.com`."),
            ("Type: a strength. Or not.", "Sets `x`. Type: a strength."),
            ("X. Not blank.", "Sets `x`: not blank."),
        ] {
            assert_eq!(setter_doc(doc, "x"), expected);
        }
    }

    #[test]
    fn paths_and_comments_are_valid_rust() {
        assert_eq!(rust_path("/me"), "\"/me\"");
        assert_eq!(rust_path("/webhooks/{id}/test"), "format!(\"/webhooks/{}/test\", segment(id))");
        assert_eq!(rustdoc("One.\n\nTwo.", 4), "    /// One.\n    ///\n    /// Two.");
    }
}

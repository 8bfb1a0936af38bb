//! Renders the templates of `xtask/clients` with the model.

use super::model::Api;
use super::names::{pascal_case, snake_case};
use super::rust;
use crate::process::{Outcome, root};
use minijinja::{Environment, Error, UndefinedBehavior, Value, context};
use std::fs;

/// Templates, each with the file that it generates.
const FILES: [(&str, &str); 13] = [
    ("types.ts.jinja", "clients/typescript/src/generated/types.ts"),
    ("errors.ts.jinja", "clients/typescript/src/generated/errors.ts"),
    ("tables.ts.jinja", "clients/typescript/src/generated/tables.ts"),
    ("resources.ts.jinja", "clients/typescript/src/generated/resources.ts"),
    ("types.py.jinja", "clients/python/src/candor_client/types.py"),
    ("errors.py.jinja", "clients/python/src/candor_client/_generated/errors.py"),
    ("tables.py.jinja", "clients/python/src/candor_client/_generated/tables.py"),
    ("resources.py.jinja", "clients/python/src/candor_client/resources.py"),
    ("types.rs.jinja", "crates/client/src/generated/types.rs"),
    ("types.rs.jinja", "crates/client/src/generated/basic_types.rs"),
    ("tables.rs.jinja", "crates/client/src/generated/tables.rs"),
    ("resources.rs.jinja", "crates/client/src/generated/resources.rs"),
    ("dispatch.rs.jinja", "tests/tests/binary/client/generated/dispatch.rs"),
];
/// Maximum columns of a documentation comment in a generated file.
const WIDTH: usize = 110;

/// Returns the settings and filters of all templates.
pub(super) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_keep_trailing_newline(true);
    environment.add_filter("camel", camel_case);
    environment.add_filter("jsdoc", jsdoc);
    environment.add_filter("docstring", write_docstring);
    environment.add_filter("with_arguments", with_arguments);
    environment.add_filter("qualified", qualify_type);
    environment.add_filter("received", |name: &str| received_type(name).to_owned());
    environment.add_filter("identifier", identifier);
    environment.add_filter("snake", snake_case);
    environment.add_filter("template_path", template_path);
    environment.add_filter("python_path", |path: &str| path_with(path, |name| format!("{{segment({name})}}")));
    rust::add_filters(&mut environment);
    environment
}

/// Returns the path and text of every generated file.
pub(super) fn all(api: &Api) -> Outcome<Vec<(String, String)>> {
    let environment = environment();
    let requests = rust::requests(api);
    let render = |(template, path): &(&str, &str)| -> Outcome<(String, String)> {
        let source = fs::read_to_string(root().join("xtask/clients").join(template))?;
        let is_basic = path.ends_with("basic_types.rs");
        let text = environment.render_named_str(template, &source, context! { api, requests, is_basic })?;
        let text = if path.ends_with(".rs") { rust::format_text(&text, &[])? } else { text };
        Ok(((*path).to_owned(), text))
    };
    FILES.iter().map(render).collect()
}

/// Converts a snake case name to the style of JavaScript.
fn camel_case(name: &str) -> String {
    let pascal = pascal_case(name);
    pascal[..1].to_lowercase() + &pascal[1..]
}

/// Returns a path with each of its parameters replaced.
pub(super) fn path_with(path: &str, replace: impl Fn(&str) -> String) -> String {
    let part = |part: &str| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
        Some(name) => replace(name),
        None => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// Returns a path as an expression of TypeScript.
fn template_path(path: &str) -> String {
    let quote = if path.contains('{') { '`' } else { '"' };
    let path = path_with(path, |name| format!("${{encodeURIComponent({})}}", camel_case(name)));
    format!("{quote}{path}{quote}")
}

/// Returns the name as an identifier of Python: the keyword `return` becomes `return_`.
fn identifier(name: &str) -> String {
    if name == "return" { format!("{name}_") } else { name.to_owned() }
}

/// Returns the type of a received value. An event of the feed may have lost its data to an erasure.
fn received_type(name: &str) -> &str {
    if name == "Event" { "FeedEvent" } else { name }
}

/// Returns the Python type of a parameter, with `types.` before the types of the API. A `list` becomes a `Sequence`
/// and a `dict` becomes a `Mapping`, because parameters take every sequence and mapping.
fn qualify_type(expression: &str) -> String {
    const BUILT_IN: [&str; 4] = ["Any", "Literal", "None", "Sequence"];
    let (mut text, mut name) = (String::new(), String::new());
    for letter in expression.chars().chain(['\0']) {
        if letter.is_alphanumeric() {
            name.push(letter);
            continue;
        }
        let is_declared = name.starts_with(char::is_uppercase) && !BUILT_IN.contains(&name.as_str());
        text.push_str(if is_declared { "types." } else { "" });
        text.push_str(match name.as_str() {
            "list" => "Sequence",
            "dict" => "Mapping",
            other => other,
        });
        name.clear();
        text.push(letter);
    }
    text.trim_end_matches('\0').to_owned()
}

/// Returns an indented documentation comment of JavaScript, or nothing if there is no text.
fn jsdoc(text: &str, indent: usize) -> String {
    let (margin, text) = (" ".repeat(indent), text.trim().replace("*/", "* /"));
    if text.is_empty() {
        return String::new();
    }
    let lines = wrap_text(&text, WIDTH - indent - 3);
    match lines.as_slice() {
        [only] if only.len() + indent + 7 <= WIDTH => format!("{margin}/** {only} */\n"),
        lines => {
            let lines = lines.iter().map(|line| format!("{margin} * {line}").trim_end().to_owned() + "\n");
            format!("{margin}/**\n{}{margin} */\n", lines.collect::<String>())
        }
    }
}

/// Returns an indented docstring of Python, or nothing if there is no text.
fn write_docstring(text: &str, indent: usize) -> String {
    let (margin, text) = (" ".repeat(indent), text.trim().replace('\\', "\\\\").replace("\"\"\"", "'''"));
    if text.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = text.lines().flat_map(|line| hang_lines(line, WIDTH - indent - 6)).collect();
    match lines.as_slice() {
        [only] => format!("{margin}\"\"\"{only}\"\"\"\n"),
        lines => {
            let lines = lines.iter().map(|line| format!("{margin}{line}").trim_end().to_owned() + "\n");
            let text = lines.collect::<String>();
            format!("{margin}\"\"\"{}{margin}\"\"\"\n", text.trim_start())
        }
    }
}

/// Returns the lines of a paragraph. If it is indented, its further lines are indented deeper.
fn hang_lines(paragraph: &str, width: usize) -> Vec<String> {
    let text = paragraph.trim_start();
    let indent = paragraph.len() - text.len();
    let deeper = if indent == 0 { 0 } else { 4 };
    let lines = wrap_text(text, width - indent - deeper);
    let line = |(number, line): (usize, String)| {
        let margin = if number == 0 { indent } else { indent + deeper };
        if line.is_empty() { line } else { " ".repeat(margin) + &line }
    };
    if lines.is_empty() { vec![String::new()] } else { lines.into_iter().enumerate().map(line).collect() }
}

/// Returns the documentation of a method in Python with a section about the parameters that have a description.
fn with_arguments(doc: &str, members: &Value) -> Result<String, Error> {
    let mut section = String::new();
    for member in members.try_iter()? {
        let text = member.get_attr("doc")?.to_string();
        if !text.is_empty() {
            section += &format!("\n    {}: {}", member.get_attr("name")?, text.replace('\n', " "));
        }
    }
    let doc = doc.trim();
    Ok(if section.is_empty() { doc.to_owned() } else { format!("{doc}\n\nArgs:{section}") })
}

pub(super) fn wrap_text(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{
        Value, camel_case, jsdoc, path_with, qualify_type, template_path, with_arguments, write_docstring,
    };

    #[test]
    fn comments_fit_their_language_and_width() {
        assert_eq!(jsdoc("Ends here: */", 2), "  /** Ends here: * / */\n");
        assert_eq!(jsdoc("", 2), "");
        assert_eq!(write_docstring("One \"\"\" quote.", 4), "    \"\"\"One ''' quote.\"\"\"\n");
        let long = "word ".repeat(60);
        assert!(jsdoc(&long, 2).lines().chain(write_docstring(&long, 4).lines()).all(|line| line.len() <= 110));
    }

    #[test]
    fn parameters_are_described_in_the_docstring() {
        let member = |name: &str, doc: &str| serde_json::json!({"name": name, "doc": doc});
        let members = Value::from_serialize([member("limit", &"word ".repeat(30)), member("sort", "")]);
        let text = write_docstring(&with_arguments("Lists.\n\n", &members).unwrap(), 4);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[..3], ["    \"\"\"Lists.", "", "    Args:"]);
        assert!(
            lines[3].starts_with("        limit: word word") && lines[4].starts_with("            word"),
            "{text}"
        );
        assert!(lines.iter().all(|line| line.len() <= 110) && !text.contains("sort"), "{text}");
        assert_eq!(with_arguments("Gets.", &Value::from_serialize([member("sort", "")])).unwrap(), "Gets.");
    }

    #[test]
    fn names_follow_the_style_of_their_language() {
        assert_eq!(camel_case("list_api_keys"), "listApiKeys");
        assert_eq!(qualify_type("Role | Sequence[Role] | None"), "types.Role | Sequence[types.Role] | None");
        assert_eq!(qualify_type("list[dict[str, Any]]"), "Sequence[Mapping[str, Any]]");
        assert_eq!(template_path("/webhooks/{id}"), "`/webhooks/${encodeURIComponent(id)}`");
        assert_eq!(path_with("/webhooks/{id}/test", |name| format!("<{name}>")), "/webhooks/<id>/test");
    }
}

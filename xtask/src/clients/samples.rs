//! Samples of every operation for the reference: curl, and each client library. The tests of the libraries compile
//! them.

use super::model::{Api, Operation, Resource, ResponseKind};
use super::names::snake_case;
use super::rust::format_text;
use super::rust_values::RustValues;
use super::{literals, render};
use crate::process::{Outcome, root};
use minijinja::{Environment, Value as Variable, context};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;

/// File with the samples of each operation, which the service serves in `/docs`.
const FILE: &str = "crates/http/assets/samples.json";
/// Template, name of the language for the highlighter, and label in the reference.
const LANGUAGES: [(&str, &str, &str); 4] = [
    ("sample.sh.jinja", "bash", CURL),
    ("sample.ts.jinja", "typescript", "TypeScript"),
    ("sample.py.jinja", "python", "Python"),
    ("sample.rs.jinja", "rust", "Rust"),
];
/// Label of samples without a library.
const CURL: &str = "curl";
/// The only operation that answers lines and is a method of the libraries.
const EXPORT: &str = "exportData";
/// ULID of all ids in samples; the prefix of the resource precedes it.
const SOME_ID: &str = "01KJPWD6M24DF9HWRAYHFSFV52";
/// Value of required query parameters that take words to search for.
const SOME_WORDS: &str = "launch";
/// Options of rustfmt for samples: the maximum line width that fits into the reference.
const RUST_LAYOUT: [&str; 2] = ["--config", "max_width=88"];

/// One entry of `x-codeSamples`.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Sample {
    lang: String,
    label: String,
    source: String,
}

/// Returns an example for a required query parameter: a list with the last word of its enumeration, or words to
/// search for.
fn some_value(document: &Value, operation: &Value, name: &str) -> Value {
    let mut parameters = operation["parameters"].as_array().into_iter().flatten();
    let items = parameters.find(|parameter| parameter["name"] == name).map(|found| &found["schema"]["items"]);
    let set = items
        .and_then(|items| items["$ref"].as_str())
        .and_then(|path| document.pointer(path.trim_start_matches('#')));
    match set.and_then(|set| set["enum"].as_array()?.last()) {
        Some(word) => json!([word]),
        None => json!(SOME_WORDS),
    }
}

/// Returns the value of a parameter as it stands in a query.
fn query_text(value: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    value.as_array().map_or_else(|| text(value), |values| values.iter().map(text).collect::<Vec<_>>().join(","))
}

/// Returns the path and text of the file with all samples.
pub(super) fn generate_samples(api: &Api, document: &Value) -> Outcome<(String, String)> {
    let mut environment = render::environment();
    literals::add_filters(&mut environment);
    let mut samples = BTreeMap::new();
    for (resource, operation) in operations(api) {
        let input = input(api, document, resource, operation)?;
        let render = |(template, lang, label): (&str, &str, &str)| -> Outcome<Sample> {
            let mut source = render_template(&environment, template, &input)?;
            if label == "Rust" {
                source = format_text(&source, &RUST_LAYOUT)?.trim_end().to_owned();
            }
            Ok(Sample { lang: lang.to_owned(), label: label.to_owned(), source })
        };
        let has_method = !matches!(operation.response, ResponseKind::Lines(_)) || operation.id == EXPORT;
        let languages = LANGUAGES.into_iter().filter(|(_, _, label)| has_method || *label == CURL);
        samples.insert(operation.id.clone(), languages.map(render).collect::<Outcome<Vec<_>>>()?);
    }
    Ok((FILE.to_owned(), serde_json::to_string_pretty(&samples)? + "\n"))
}

/// Returns the committed samples of one language by operation, as `/docs` shows them.
pub(super) fn committed_samples(label: &str) -> Outcome<BTreeMap<String, String>> {
    let all: BTreeMap<String, Vec<Sample>> = serde_json::from_str(&fs::read_to_string(root().join(FILE))?)?;
    let mut samples_by_operation = BTreeMap::new();
    for (id, samples) in all {
        let is_only_curl = samples.len() == 1;
        match samples.into_iter().find(|sample| sample.label == label) {
            Some(sample) => drop(samples_by_operation.insert(snake_case(&id), sample.source + "\n")),
            None if is_only_curl => {}
            None => return Err(format!("{id} has no sample in {label}").into()),
        }
    }
    Ok(samples_by_operation)
}

fn render_template(environment: &Environment<'_>, template: &str, input: &Variable) -> Outcome<String> {
    let source = fs::read_to_string(root().join("xtask/clients").join(template))?;
    Ok(environment.render_named_str(template, &source, input)?.trim_end().to_owned())
}

fn operations(api: &Api) -> impl Iterator<Item = (Option<&Resource>, &Operation)> {
    let of_resources = api
        .resources
        .iter()
        .flat_map(|resource| resource.operations.iter().map(move |operation| (Some(resource), operation)));
    of_resources.chain(api.root.iter().chain(&api.streamed).map(|operation| (None, operation)))
}

/// Returns the variables of the templates.
fn input(api: &Api, document: &Value, resource: Option<&Resource>, operation: &Operation) -> Outcome<Variable> {
    let item = &document["paths"][&operation.path];
    let operation_object = &item[operation.method.to_lowercase()];
    let ids: Vec<String> = operation.path_parameters.iter().map(|name| some_id(document, item, name)).collect();
    let mut path = operation.path.clone();
    for (name, id) in operation.path_parameters.iter().zip(&ids) {
        path = path.replace(&format!("{{{name}}}"), id);
    }
    let required_members = operation.query_members.iter().filter(|member| member.required);
    let query: BTreeMap<&str, Value> = required_members
        .map(|member| (member.name.as_str(), some_value(document, operation_object, &member.name)))
        .collect();
    let (is_list, response) = match &operation.response {
        ResponseKind::Nothing | ResponseKind::Lines(_) => (false, None),
        ResponseKind::One(name) => (false, Some(variable(name))),
        ResponseKind::PageOf(name) => (true, Some(variable(name))),
    };
    let example = operation_object.pointer("/requestBody/content/application~1json/example");
    let has_limit = operation.query_members.iter().any(|member| member.name == "limit");
    let parameters = query.iter().map(|(name, value)| format!("{name}={}", query_text(value)));
    let parameters: Vec<String> = parameters.chain(has_limit.then(|| "limit=20".to_owned())).collect();
    let url = if parameters.is_empty() { path } else { format!("{path}?{}", parameters.join("&")) };
    let body = operation.body.as_ref().zip(example).map(|(body, example)| (body.name.as_str(), example));
    let conditions = json!(query);
    let required_query = operation.query.as_deref().filter(|_| !query.is_empty());
    let rust = RustValues::new(api, body, required_query.map(|name| (name, &conditions)))?;
    Ok(context! {
        operation, ids, url, query, is_list, response, rust,
        resource => resource.map(|resource| &resource.name),
        is_csv => operation.body.as_ref().is_some_and(|body| body.is_csv),
        is_lines => matches!(operation.response, ResponseKind::Lines(_)),
        example => example.map(Variable::from_serialize),
        has_key => operation_object["security"].as_array().is_none_or(|ways| !ways.is_empty()),
        is_idempotent => operation_object["parameters"].to_string().contains("/IdempotencyKey"),
    })
}

/// Returns the name of a variable for a resource of this type, in snake case.
fn variable(type_name: &str) -> String {
    snake_case(type_name.trim_end_matches("WithSecret"))
}

/// Returns an identifier with the prefix that the pattern of the path's parameter requires.
fn some_id(document: &Value, item: &Value, name: &str) -> String {
    let parameters = item["parameters"].as_array().into_iter().flatten();
    let parameters = parameters.map(|parameter| match parameter["$ref"].as_str() {
        Some(path) => document.pointer(path.trim_start_matches('#')).unwrap_or(parameter),
        None => parameter,
    });
    let pattern = parameters
        .filter(|parameter| parameter["name"] == name)
        .find_map(|parameter| parameter["schema"]["pattern"].as_str()?.trim_start_matches('^').split_once('_'));
    format!("{}_{SOME_ID}", pattern.map_or("id", |(prefix, _)| prefix))
}

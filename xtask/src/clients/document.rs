//! Reads the OpenAPI document into the model that templates are given.

use super::model::{
    Api, Body, ErrorClass, Form, Member, NamedType, Operation, RenderedType, Resource, ResponseKind,
};
use super::names::{error_class, method, pascal_case, snake_case};
use super::query::{self, Query};
use super::schemas;
use super::types::{Type, reference};
use crate::process::Outcome;
use serde_json::{Map, Value};

/// Name of the parameter that asks for a dry run.
pub(super) const DRY_RUN: &str = "DryRun";

/// Media type of lines of JSON.
const LINES: &str = "application/x-ndjson";

const METHODS: [&str; 5] = ["get", "post", "patch", "put", "delete"];

/// Reads a document into the model.
pub(super) fn read(document: &Value) -> Outcome<Api> {
    let mut queries = vec![query::range()];
    let (mut resources, mut root, mut streamed) = (Vec::<Resource>::new(), Vec::new(), Vec::new());
    for (path, item) in members(&document["paths"])? {
        let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        let class = pascal_case(first);
        for verb in METHODS.iter().filter(|verb| item[**verb].is_object()) {
            let operation = operation(document, path, item, verb, &class, &mut queries)?;
            if matches!(operation.response, ResponseKind::Lines(_)) {
                streamed.push(operation);
                continue;
            }
            if !belongs(&operation, &class) {
                root.push(operation);
                continue;
            }
            let name = first.replace('-', "_");
            match resources.iter_mut().find(|resource| resource.name == name) {
                Some(resource) => resource.operations.push(operation),
                None => resources.push(Resource { name, class: class.clone(), operations: vec![operation] }),
            }
        }
    }
    let event_tag = schemas::tag(&document["components"]["schemas"], "Event")?;
    Ok(Api {
        version: text(&document["info"]["version"])?,
        types: schemas::read(&document["components"]["schemas"])?,
        queries,
        keyed_filters: query::keyed_filters(document),
        row_types: schemas::row_types(&document["components"]["schemas"])?,
        resources,
        root,
        streamed,
        errors: errors(document)?,
        event_types: texts(&document["components"]["schemas"]["EventType"]["enum"])?,
        event_families: event_tag.map(|tag| tag.families).unwrap_or_default(),
    })
}

/// Returns `true` if the operation is a method of its resource, and `false` if it is a method of the client
/// itself. It is a method of the resource if its id contains the name of the resource, if its path has a
/// parameter, or if the resource is `Notifications`.
fn belongs(operation: &Operation, class: &str) -> bool {
    operation.name != snake_case(&operation.id) || operation.path.contains('{') || class == "Notifications"
}

fn operation(
    document: &Value,
    path: &str,
    item: &Value,
    verb: &str,
    class: &str,
    queries: &mut Vec<NamedType>,
) -> Outcome<Operation> {
    let operation_object = &item[verb];
    let id = text(&operation_object["operationId"])?;
    let query = Query::read(document, operation_object, &pascal_case_of_id(&id))?;
    let path_parameters =
        path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).map(str::to_owned).collect();
    let summary = text(&operation_object["summary"])?;
    let operation = Operation {
        name: method(&id, class),
        doc: format!("{summary}.\n\n{}", operation_object["description"].as_str().unwrap_or_default()),
        method: verb.to_uppercase(),
        path: path.to_owned(),
        path_parameters,
        query: query.name(),
        query_required: query.members.iter().any(|member| member.required),
        query_members: query.members.clone(),
        joined: query.joined.clone(),
        body: body(document, operation_object)?,
        dry_run: takes(operation_object, DRY_RUN) || has_own_dry_run(operation_object),
        if_match: takes(operation_object, "IfMatch"),
        if_none_match: takes(operation_object, "IfNoneMatch"),
        response: response_kind(document, operation_object).ok_or_else(|| format!("{id}: no answer"))?,
        id,
    };
    if !matches!(operation.response, ResponseKind::Lines(_)) {
        queries.extend(query.types());
    }
    Ok(operation)
}

/// Returns `true` if the operation has the shared parameter of this name.
fn takes(operation: &Value, parameter: &str) -> bool {
    let reference = format!("#/components/parameters/{parameter}");
    operation["parameters"].as_array().into_iter().flatten().any(|entry| entry["$ref"] == reference)
}

/// Returns `true` if the operation declares the parameter for dry runs itself, as the imports of CSV files do.
fn has_own_dry_run(operation: &Value) -> bool {
    operation["parameters"].as_array().into_iter().flatten().any(|entry| entry["name"] == query::DRY_RUN)
}

fn pascal_case_of_id(id: &str) -> String {
    id[..1].to_uppercase() + &id[1..]
}

fn body(document: &Value, operation: &Value) -> Outcome<Option<Body>> {
    let content = &operation["requestBody"]["content"];
    let is_required = operation["requestBody"]["required"] == true;
    if content["text/csv"].is_object() {
        let name = "string".to_owned();
        return Ok(Some(Body { name, required: is_required, is_csv: true, members: Vec::new() }));
    }
    let Some(name) = reference(&content["application/json"]["schema"]) else { return Ok(None) };
    let members = schemas::members(&document["components"]["schemas"][name])?;
    Ok(Some(Body { name: name.to_owned(), required: is_required, is_csv: false, members }))
}

/// Returns the type of a successful answer. `None` if the document does not describe the answer.
fn response_kind(document: &Value, operation: &Value) -> Option<ResponseKind> {
    let mut successes = operation["responses"].as_object()?.iter().filter(|(status, _)| status.starts_with('2'));
    let content = &successes.next()?.1["content"];
    if let Some(name) = reference(&content[LINES]["schema"]) {
        return Some(ResponseKind::Lines(name.to_owned()));
    }
    let Some(name) = reference(&content["application/json"]["schema"]) else { return Some(ResponseKind::Nothing) };
    let schema = &document["components"]["schemas"][name];
    match schemas::page_items(schema) {
        Some(items) => Some(ResponseKind::PageOf(reference(items)?.to_owned())),
        None => Some(ResponseKind::One(name.to_owned())),
    }
}

/// Returns the class of each error code with the types of its `details` (§7). A code without types of its own has
/// `ErrorDetail`, the union of all types.
fn errors(document: &Value) -> Outcome<Vec<ErrorClass>> {
    let codes = texts(&document["components"]["schemas"]["ErrorCode"]["enum"])?;
    let class = |code: String| {
        let details: &[&str] = match code.as_str() {
            "validation_error" | "unprocessable" => &["FieldProblem"],
            "permission_denied" => &["MissingScope", "MissingAccessLevel", "RefusedEnvironment"],
            "conflict" => &["Conflict"],
            "idempotency_conflict" => &["IdempotencyConflict"],
            "rate_limited" => &["RateLimit"],
            _ => &["ErrorDetail"],
        };
        let details = details.iter().map(|&name| name.to_owned()).collect();
        ErrorClass { class: error_class(&code), code, details }
    };
    Ok(codes.into_iter().map(class).collect())
}

pub(super) fn members(value: &Value) -> Outcome<&Map<String, Value>> {
    value.as_object().ok_or_else(|| format!("not an object: {value}").into())
}

pub(super) fn text(value: &Value) -> Outcome<String> {
    Ok(value.as_str().ok_or_else(|| format!("not a text: {value}"))?.to_owned())
}

pub(super) fn texts(value: &Value) -> Outcome<Vec<String>> {
    value.as_array().into_iter().flatten().map(text).collect()
}

/// Returns a member with this name and type.
pub(super) fn member(name: &str, schema: &Value, required: bool, of_type: &Type) -> Member {
    let doc = schema["description"].as_str().unwrap_or_default().to_owned();
    Member { name: name.to_owned(), doc, required, rendered: RenderedType::from(of_type) }
}

/// Returns an object type with these members.
pub(super) fn object(name: &str, doc: &str, members: Vec<Member>) -> NamedType {
    NamedType { name: name.to_owned(), doc: doc.to_owned(), form: Form::Object { members } }
}

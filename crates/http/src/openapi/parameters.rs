//! Query parameters of a route in the OpenAPI document.

use candor_domain::idempotency::MAX_KEY_CHARS;
use candor_domain::page::{DEFAULT_LIMIT, MAX_LIMIT};
use candor_domain::params::{DRY_RUN, MAX_REPEATS, MAX_VALUE_CHARS, Parameter, Params, ValueForm};
use serde_json::{Value, json};

use super::dry_run;
use crate::contract::route::Query;
use crate::contract::schema::shapes::{
    self, Member, date, datetime, flag, period, plain, prefixed_text, reference_to,
};

/// Returns the schema of a parameter's values.
fn schema(takes: ValueForm) -> Value {
    match takes {
        ValueForm::Id(_) | ValueForm::Text => text(),
        ValueForm::Any => plain(),
        ValueForm::Chars(least, most) => shapes::text(least, most),
        ValueForm::Word(name) => reference_to(name),
        ValueForm::Words(name) => json!({"type": "array", "minItems": 1, "items": reference_to(name)}),
        ValueForm::DistinctWords(name, most) => {
            let mut list = schema(ValueForm::Words(name));
            list["maxItems"] = json!(most);
            list["uniqueItems"] = json!(true);
            list
        }
        ValueForm::Flag => flag(),
        ValueForm::True => json!({"type": "boolean", "const": true}),
        ValueForm::Period => period(),
        ValueForm::Date => date(),
        ValueForm::Datetime => datetime(),
        ValueForm::Beginning => {
            json!({"anyOf": [datetime(), {"type": "string", "const": "now"}, {"type": "string", "const": "newest"}]})
        }
    }
}

/// Returns the OpenAPI entries of a parameter: two for the bounds of a range and for paging, else one.
fn openapi_entries(parameter: Parameter) -> Vec<Value> {
    match parameter {
        Parameter::Value { name, about, takes: ValueForm::Id(prefix), is_repeated, .. } => {
            let about = format!("{about} An id, `{prefix}_…`. An unknown id matches nothing.");
            vec![value(name, text(), &about, is_repeated)]
        }
        Parameter::Value {
            name,
            about,
            takes: takes @ (ValueForm::Words(_) | ValueForm::DistinctWords(..)),
            is_required,
            ..
        } => {
            let mut parameter = explode(query(name, schema(takes), about), "form");
            parameter["explode"] = json!(false);
            parameter["required"] = json!(is_required);
            vec![parameter]
        }
        Parameter::Value { name, about, takes, is_repeated, is_required } => {
            let mut parameter = value(name, schema(takes), about, is_repeated);
            parameter["required"] = json!(is_required);
            vec![parameter]
        }
        Parameter::Bounds { name, about, takes } => {
            let bound_parameter = |end: &str, what: &str| {
                query(&format!("{name}[{end}]"), schema(takes), &format!("{about} {what}"))
            };
            vec![
                bound_parameter("gte", "Inclusive lower bound. Must not be later than the upper bound."),
                bound_parameter("lte", "Inclusive upper bound."),
            ]
        }
        Parameter::Keyed { prefix, about, key_chars } => vec![describe_keyed_filter(prefix, about, key_chars)],
        Parameter::Sort(name, default) => {
            let about = format!(
                "Sort order. Entries with equal values are sorted by id, in the same direction. Default: \
                 `{default}`."
            );
            vec![query("sort", reference_to(name), &about)]
        }
        Parameter::Page => ["Limit", "Cursor"].map(shared_reference).into(),
        Parameter::Expand(name) => {
            let about = "Related resources to include in the response, one level deep. The key needs the read \
                         scope of each. Separate several by commas or repeat the parameter.";
            let list = json!({"type": "array", "minItems": 1, "items": reference_to(name)});
            vec![explode(query("expand", list, about), "form")]
        }
    }
}

fn value(name: &str, schema: Value, about: &str, is_repeated: bool) -> Value {
    if !is_repeated {
        return query(name, schema, about);
    }
    let list = json!({"type": "array", "items": schema, "maxItems": MAX_REPEATS});
    let about = format!("{about} May be repeated up to {MAX_REPEATS} times. Entries match any of the values.");
    explode(query(name, list, &about), "form")
}

/// Describes the filter whose name the caller chooses. A deep object matches the syntax that the service reads,
/// `filter[custom_fields.city]=Oslo`, and client generators support it.
fn describe_keyed_filter(prefix: &str, about: &str, key_chars: usize) -> Value {
    let schema = json!({
        "type": "object",
        "maxProperties": MAX_REPEATS,
        "propertyNames": prefixed_text(&format!("{prefix}."), key_chars),
        "additionalProperties": text(),
    });
    let mut parameter = explode(query("filter", schema, about), "deepObject");
    parameter["example"] = json!({(format!("{prefix}.city")): "Oslo"});
    parameter
}

fn explode(mut parameter: Value, style: &str) -> Value {
    (parameter["style"], parameter["explode"]) = (json!(style), json!(true));
    parameter
}

fn text() -> Value {
    json!({"type": "string", "maxLength": MAX_VALUE_CHARS, "pattern": r"^[^\u0000]*$"})
}

fn query(name: &str, schema: Value, about: &str) -> Value {
    json!({"name": name, "in": "query", "required": false, "schema": schema, "description": about})
}

/// Returns the parameters of a route in document order, with `expand` last.
pub(super) fn describe(query: Query) -> Vec<Value> {
    let all = Params::describe_parameters(query.read);
    let (expand, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|parameter| matches!(parameter, Parameter::Expand(_)));
    others.into_iter().chain(expand).flat_map(openapi_entries).collect()
}

/// Returns a reference to a shared parameter.
pub(super) fn shared_reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/parameters/{name}")})
}

/// Returns the parameters that several operations share.
pub(super) fn shared_parameters() -> Vec<Member> {
    let limit = json!({"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT});
    let page = format!("Maximum number of entries on a page, 1 to {MAX_LIMIT}. Default: {DEFAULT_LIMIT}.");
    let cursor = "Start of the page: the `next_cursor` of the previous page, from a request with the same sort \
                  and filters.";
    let key = json!({"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS, "pattern": r"^[!-~]+$"});
    let header = |name: &str, schema: Value, about: &str| json!({"name": name, "in": "header", "required": false, "schema": schema, "description": about});
    let tags = || json!({"type": "string"});
    let retry_text = format!(
        "Makes retries safe. For 24 hours, requests with the same key and content have one effect and get the \
         same response. 1 to {MAX_KEY_CHARS} visible ASCII characters."
    );
    let dry_run = Params::describe_parameters(|params| params.one(&DRY_RUN)).into_iter().flat_map(openapi_entries);
    let dry_run = dry_run.map(|parameter| ("DryRun", dry_run::refer(parameter)));
    let others = vec![
        ("Limit", query("limit", limit, &page)),
        ("Cursor", query("cursor", json!({"type": "string"}), cursor)),
        ("IdempotencyKey", header("Idempotency-Key", key, &retry_text)),
        (
            "IfMatch",
            header(
                "If-Match",
                tags(),
                "ETags of the accepted versions of the resource behind the first id of the path. The request fails with 412 if \
                 the resource has another version.",
            ),
        ),
        (
            "IfNoneMatch",
            header(
                "If-None-Match",
                tags(),
                "ETags of the versions that the client has. The response is 304 if the resource has one of them.",
            ),
        ),
    ];
    dry_run.chain(others).collect()
}

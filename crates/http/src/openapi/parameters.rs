//! The query parameters of a route, as values that the document is made from.

use candor_domain::fields::Word;
use candor_domain::page::{DEFAULT_LIMIT, MAX_LIMIT, Sorts};
use candor_domain::replay::MAX_KEY_CHARS;
use serde_json::{Value, json};

use super::shapes::{Member, date, datetime};

/// The query parameters of a route.
pub struct Query {
    /// The orders of a list, the default first.
    pub sorts: Option<Sorts>,
    /// Whether the answer is a page of a list.
    pub is_list: bool,
    /// The filters of a list.
    pub filters: &'static [Filter],
    /// What can be inlined.
    pub expand: Option<fn() -> Vec<&'static str>>,
}

/// One filter of a list.
pub struct Filter {
    /// The name within the brackets.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Whether it may be repeated; an entry matches any of the values.
    pub repeatable: bool,
}

/// What a filter takes.
#[derive(Clone, Copy)]
pub enum Takes {
    /// An identifier of a resource with this prefix; others match nothing.
    Id(&'static str),
    /// One of these words.
    Word(fn() -> Vec<&'static str>),
    /// Any text, compared as a whole.
    Text,
    /// Two dates, `[gte]` and `[lte]`.
    Dates,
    /// Two datetimes, `[gte]` and `[lte]`.
    Datetimes,
    /// A text per custom field, `[custom_fields.<key>]`.
    CustomFields,
}

/// How often a repeatable filter may be repeated.
const MAX_REPEATS: usize = 100;
/// The longest text that is compared with.
const MAX_TEXT: usize = 4096;

/// The words of a closed set.
pub(super) fn words<T: Word>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(word, _)| *word).collect()
}

impl Filter {
    /// A filter that may be given once.
    pub(super) const fn once(name: &'static str, takes: Takes) -> Self {
        Self { name, takes, repeatable: false }
    }

    /// A filter that may be repeated.
    pub(super) const fn repeated(name: &'static str, takes: Takes) -> Self {
        Self { name, takes, repeatable: true }
    }

    fn parameters(&self) -> Vec<Value> {
        let name = format!("filter[{}]", self.name);
        let text = || json!({"type": "string", "maxLength": MAX_TEXT, "pattern": r"^[^\u0000]*$"});
        match self.takes {
            Takes::Id(prefix) => vec![self.one(&name, text(), &format!("An id, `{prefix}_…`."))],
            Takes::Word(words) => vec![self.one(&name, json!({"type": "string", "enum": words()}), "")],
            Takes::Text => vec![self.one(&name, text(), "Compared as a whole.")],
            Takes::Dates => bounds(&name, &date()),
            Takes::Datetimes => bounds(&name, &datetime()),
            Takes::CustomFields => {
                let about = "People whose custom field has this value; `key` stands for the field's key.";
                vec![self.one("filter[custom_fields.key]", text(), about)]
            }
        }
    }

    fn one(&self, name: &str, schema: Value, about: &str) -> Value {
        if !self.repeatable {
            return query(name, schema, about);
        }
        let list = json!({"type": "array", "items": schema, "maxItems": MAX_REPEATS});
        let mut parameter =
            query(name, list, format!("{about} May be repeated; matches any of the values.").trim_start());
        parameter["style"] = json!("form");
        parameter["explode"] = json!(true);
        parameter
    }
}

fn query(name: &str, schema: Value, about: &str) -> Value {
    let mut parameter = json!({"name": name, "in": "query", "required": false, "schema": schema});
    if !about.is_empty() {
        parameter["description"] = json!(about);
    }
    parameter
}

fn bounds(name: &str, schema: &Value) -> Vec<Value> {
    let bound = |end: &str, about| query(&format!("{name}[{end}]"), schema.clone(), about);
    vec![bound("gte", "Not before this; not after the upper bound."), bound("lte", "Not after this.")]
}

/// The parameters that a route takes, as the document lists them.
pub(super) fn of(query_of_route: &Query) -> Vec<Value> {
    let mut parameters: Vec<_> = query_of_route.filters.iter().flat_map(Filter::parameters).collect();
    if let Some(sorts) = query_of_route.sorts {
        let words: Vec<_> = sorts.iter().map(|(word, _)| *word).collect();
        let schema = json!({"type": "string", "enum": words, "default": words[0]});
        parameters.push(query("sort", schema, "The order; `-` for the largest first. The id breaks ties."));
    }
    if query_of_route.is_list {
        parameters.extend(["Limit", "Cursor"].map(shared_reference));
    }
    if let Some(words) = query_of_route.expand {
        let schema = json!({"type": "array", "minItems": 1, "items": {"type": "string", "enum": words()}});
        let mut expand = query("expand", schema, "What is inlined beside its id; needs its read scope too.");
        expand["style"] = json!("form");
        expand["explode"] = json!(false);
        parameters.push(expand);
    }
    parameters
}

/// A parameter that several operations have.
pub(super) fn shared_reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/parameters/{name}")})
}

/// The parameters that several operations have.
pub(super) fn shared() -> Vec<Member> {
    let limit = json!({"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT});
    let cursor = "The `next_cursor` of a page of this list, with the same sort and filters.";
    let key = json!({"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS, "pattern": r"^[!-~]+$"});
    let header = |name: &str, schema: Value, about: &str| json!({"name": name, "in": "header", "required": false, "schema": schema, "description": about});
    let tags = || json!({"type": "string"});
    vec![
        ("Limit", query("limit", limit, "Entries of a page.")),
        ("Cursor", query("cursor", json!({"type": "string"}), cursor)),
        ("IdempotencyKey", header("Idempotency-Key", key, "Makes it safe to send the request again.")),
        ("IfMatch", header("If-Match", tags(), "ETags of the versions to change; 412 for any other.")),
        ("IfNoneMatch", header("If-None-Match", tags(), "ETags of known versions; 304 for one of them.")),
    ]
}

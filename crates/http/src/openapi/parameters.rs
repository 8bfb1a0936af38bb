//! The query parameters of a route, as values that the document is made from.

use candor_domain::fields::Word;
use candor_domain::page::{DEFAULT_LIMIT, Listed, MAX_LIMIT};
use candor_domain::people::MAX_KEY_CHARS as MAX_FIELD_CHARS;
use candor_domain::replay::MAX_KEY_CHARS;
use serde_json::{Value, json};

use super::shapes::{Member, date, datetime, flag, named, prefixed};
use super::vocabulary::{orders, words};

/// The query parameters of a route.
pub struct Query {
    /// The orders of a list, the default first, and the schema that names them.
    pub sorts: Option<Words>,
    /// Whether the answer is a page of a list.
    pub is_list: bool,
    /// The filters of a list.
    pub filters: &'static [Filter],
    /// What can be inlined.
    pub expand: Option<Words>,
}

/// A closed set of words and the schema that names them.
#[derive(Clone, Copy)]
pub struct Words {
    /// The schema.
    pub name: &'static str,
    /// The words.
    pub words: fn() -> Vec<&'static str>,
}

impl Words {
    /// The words of the domain.
    pub(super) const fn of<T: Word>() -> Self {
        Self { name: T::NAME, words: words::<T> }
    }

    /// The words for the orders of a list, the default first.
    pub(super) const fn orders<T: Listed>(name: &'static str) -> Self {
        Self { name, words: orders::<T> }
    }
}

/// One filter of a list.
pub struct Filter {
    /// The name within the brackets.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Which entries it leaves, as a sentence.
    pub about: &'static str,
    /// Whether it may be repeated; an entry matches any of the values.
    pub repeatable: bool,
}

/// What a filter takes.
#[derive(Clone, Copy)]
pub enum Takes {
    /// An identifier of a resource with this prefix; others match nothing.
    Id(&'static str),
    /// One of these words.
    Word(Words),
    /// `true` or `false`.
    Flag,
    /// Any text, compared as a whole.
    Text,
    /// Two dates, `[gte]` and `[lte]`.
    Dates,
    /// Two datetimes, `[gte]` and `[lte]`.
    Datetimes,
    /// A datetime or `now`, and no filter but where to begin: its name has no brackets.
    Beginning,
    /// A text per custom field, `[custom_fields.<key>]`.
    CustomFields,
}

/// How often a repeatable filter may be repeated.
const MAX_REPEATS: usize = 100;
/// The longest text that is compared with.
const MAX_TEXT: usize = 4096;

impl Filter {
    /// A filter that may be given once.
    pub(super) const fn once(name: &'static str, takes: Takes, about: &'static str) -> Self {
        Self { name, takes, about, repeatable: false }
    }

    /// A filter that may be repeated.
    pub(super) const fn repeated(name: &'static str, takes: Takes, about: &'static str) -> Self {
        Self { name, takes, about, repeatable: true }
    }

    fn parameters(&self) -> Vec<Value> {
        let name = format!("filter[{}]", self.name);
        match self.takes {
            Takes::Id(prefix) => {
                let about = format!("{} An id, `{prefix}_…`; one that names nothing finds nothing.", self.about);
                vec![self.one(&name, text(), &about)]
            }
            Takes::Word(words) => vec![self.one(&name, named(words.name), self.about)],
            Takes::Flag => vec![self.one(&name, flag(), self.about)],
            Takes::Text => vec![self.one(&name, text(), self.about)],
            Takes::Dates => self.bounds(&name, &date()),
            Takes::Datetimes => self.bounds(&name, &datetime()),
            Takes::CustomFields => vec![self.keyed()],
            Takes::Beginning => {
                let now = json!({"type": "string", "const": "now"});
                vec![query(self.name, json!({"anyOf": [datetime(), now]}), self.about)]
            }
        }
    }

    fn one(&self, name: &str, schema: Value, about: &str) -> Value {
        if !self.repeatable {
            return query(name, schema, about);
        }
        let list = json!({"type": "array", "items": schema, "maxItems": MAX_REPEATS});
        let about =
            format!("{about} May be repeated, at most {MAX_REPEATS} times; an entry matches any of the values.");
        let mut parameter = query(name, list, &about);
        parameter["style"] = json!("form");
        parameter["explode"] = json!(true);
        parameter
    }

    fn bounds(&self, name: &str, schema: &Value) -> Vec<Value> {
        let bound =
            |end: &str, what: &str| query(&format!("{name}[{end}]"), schema.clone(), &format!("{} {what}", self.about));
        vec![bound("gte", "Not before this; not after the upper bound."), bound("lte", "Not after this.")]
    }

    /// The one filter whose name is made up by the caller. As an object in brackets it is what the service reads,
    /// `filter[custom_fields.city]=Oslo`, and generators have a type for it.
    fn keyed(&self) -> Value {
        let schema = json!({
            "type": "object",
            "maxProperties": MAX_REPEATS,
            "propertyNames": prefixed(&format!("{}.", self.name), MAX_FIELD_CHARS),
            "additionalProperties": text(),
        });
        let mut parameter = query("filter", schema, self.about);
        parameter["style"] = json!("deepObject");
        parameter["explode"] = json!(true);
        parameter["example"] = json!({(format!("{}.city", self.name)): "Oslo"});
        parameter
    }
}

fn text() -> Value {
    json!({"type": "string", "maxLength": MAX_TEXT, "pattern": r"^[^\u0000]*$"})
}

fn query(name: &str, schema: Value, about: &str) -> Value {
    json!({"name": name, "in": "query", "required": false, "schema": schema, "description": about})
}

/// The parameters that a route takes, as the document lists them.
pub(super) fn of(query_of_route: &Query) -> Vec<Value> {
    let mut parameters: Vec<_> = query_of_route.filters.iter().flat_map(Filter::parameters).collect();
    if let Some(sorts) = query_of_route.sorts {
        let about =
            format!("The order; the id breaks ties, in the same direction. `{}` unless given.", (sorts.words)()[0]);
        parameters.push(query("sort", named(sorts.name), &about));
    }
    if query_of_route.is_list {
        parameters.extend(["Limit", "Cursor"].map(shared_reference));
    }
    if let Some(words) = query_of_route.expand {
        let schema = json!({"type": "array", "minItems": 1, "items": named(words.name)});
        let about = "What is inlined beside its id, one level deep; the key needs its read scope too. It may be \
                     repeated, and each may name several with commas between them.";
        let mut expand = query("expand", schema, about);
        expand["style"] = json!("form");
        expand["explode"] = json!(true);
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
    let page = format!("How many entries a page has at most, 1 to {MAX_LIMIT}; {DEFAULT_LIMIT} unless given.");
    let cursor = "Where the page begins: the `next_cursor` of a page of this list with the same sort and filters.";
    let key = json!({"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS, "pattern": r"^[!-~]+$"});
    let header = |name: &str, schema: Value, about: &str| json!({"name": name, "in": "header", "required": false, "schema": schema, "description": about});
    let tags = || json!({"type": "string"});
    let once = format!(
        "Makes it safe to send the request again: for 24 hours the same key and request have one effect and get the \
         same answer. 1 to {MAX_KEY_CHARS} visible ASCII characters."
    );
    vec![
        ("Limit", query("limit", limit, &page)),
        ("Cursor", query("cursor", json!({"type": "string"}), cursor)),
        ("IdempotencyKey", header("Idempotency-Key", key, &once)),
        ("IfMatch", header("If-Match", tags(), "ETags of the versions to change; 412 for any other.")),
        ("IfNoneMatch", header("If-None-Match", tags(), "ETags of known versions; 304 for one of them.")),
    ]
}

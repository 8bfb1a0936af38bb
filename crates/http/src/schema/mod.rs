//! What the document says of a resource is declared beside its routes; this is what it is declared with.
//!
//! A [`Schema`] has a name, the form of its values and an example. Rows of the table refer to schemas, schemas name those
//! that they refer to in turn, and so the document has each of them without a list of all.

mod body;
pub(crate) mod shapes;
pub(crate) mod words;

use std::fmt;

use candor_domain::page::MAX_LIMIT;
use serde_json::{Value, json};

pub(crate) use body::body;
use shapes::{field, named, nullable, page, plain};

/// The time of examples.
pub(crate) const AT: &str = "2026-03-02T09:00:00.000Z";
/// The person whom examples are about.
pub(crate) const EMPLOYEE_ID: &str = "emp_01KJPWD6M19CJZV12YYC0CWB8B";
/// That person's manager.
pub(crate) const MANAGER_ID: &str = "emp_01KJPWD6M1CVY8F4W1W0ECZ6Q9";
/// The organization of examples.
pub(crate) const ORGANIZATION_ID: &str = "org_01KJPWD6M0PPWW6K8BZY81A0M0";
/// The objective of examples.
pub(crate) const OBJECTIVE_ID: &str = "obj_01KJPWD6M24DF9HWRAYHFSFV52";
/// The key of examples.
pub(crate) const KEY_ID: &str = "key_01KJPWD6M04KS4Y1FG6WTW7EAH";

/// A schema of the document, by which a body or an answer is known.
#[derive(Clone, Copy)]
pub struct Schema {
    /// Its name.
    pub name: &'static str,
    /// `None` where the document composes it.
    form: Option<fn() -> Value>,
    example: Option<fn() -> Value>,
    outcome: &'static str,
    /// Whether its values are resources with a version, which the `ETag` is made of.
    pub is_versioned: bool,
    refers_to: &'static [&'static Schema],
}

impl Schema {
    /// Values of this form, without a version.
    pub(crate) const fn new(name: &'static str, form: fn() -> Value) -> Self {
        Self { name, form: Some(form), example: None, outcome: "", is_versioned: false, refers_to: &[] }
    }

    /// A resource of this form, with a version.
    pub(crate) const fn resource(name: &'static str, form: fn() -> Value) -> Self {
        Self { is_versioned: true, ..Self::new(name, form) }
    }

    /// A resource whose form `openapi` composes from all groups, because it is a union over them.
    pub(crate) const fn composed(name: &'static str) -> Self {
        Self { name, form: None, example: None, outcome: "", is_versioned: true, refers_to: &[] }
    }

    /// With an example. Only what no operation takes or answers by itself has none, and what linters do not follow: a
    /// union that admits tags it does not know.
    pub(crate) const fn example(self, example: fn() -> Value) -> Self {
        Self { example: Some(example), ..self }
    }

    /// With words for a success that has it, in place of those for any resource.
    pub(crate) const fn outcome(self, outcome: &'static str) -> Self {
        Self { outcome, ..self }
    }

    /// With the schemas that it refers to and that no operation takes or answers by itself.
    pub(crate) const fn refers_to(self, schemas: &'static [&'static Self]) -> Self {
        Self { refers_to: schemas, ..self }
    }

    /// This schema and all that it refers to, each with its name.
    pub(crate) fn with_those_it_refers_to(&self) -> Vec<(String, Value)> {
        let mut all: Vec<_> = self.form.map(|form| (self.name.to_owned(), form())).into_iter().collect();
        all.extend(self.refers_to.iter().flat_map(|it| it.with_those_it_refers_to()));
        all
    }

    /// Its example, if it has one.
    pub(crate) fn shown(&self) -> Option<Value> {
        self.example.map(|it| it())
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Schema {}

impl fmt::Debug for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

/// What a route answers when it succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Success {
    /// No body.
    Empty,
    /// A value of this schema.
    One(&'static Schema),
    /// A page of a list of these.
    PageOf(&'static Schema),
}

impl Success {
    /// The name of its schema.
    pub(crate) fn name(self) -> Option<String> {
        match self {
            Self::Empty => None,
            Self::One(schema) => Some(schema.name.to_owned()),
            Self::PageOf(schema) => Some(format!("{}List", schema.name)),
        }
    }

    /// The schemas that it is made of, each with its name.
    pub(crate) fn schemas(self) -> Vec<(String, Value)> {
        match self {
            Self::Empty => vec![],
            Self::One(schema) => schema.with_those_it_refers_to(),
            Self::PageOf(schema) => {
                let mut all = schema.with_those_it_refers_to();
                all.extend(self.name().map(|name| (name, list(schema.name))));
                all
            }
        }
    }

    /// Its example, if it has one.
    pub(crate) fn shown(self) -> Option<Value> {
        match self {
            Self::Empty => None,
            Self::One(schema) => schema.shown(),
            Self::PageOf(schema) => schema.shown().map(listed),
        }
    }

    /// The words for it where it has its own.
    pub(crate) fn outcome(self) -> Option<&'static str> {
        match self {
            Self::Empty => Some("The subscription is deleted. The response has no body."),
            Self::One(schema) => (!schema.outcome.is_empty()).then_some(schema.outcome),
            Self::PageOf(_) => Some("A page of the list, in the requested order."),
        }
    }

    /// Whether it is one resource with a version.
    #[must_use]
    pub const fn is_versioned(self) -> bool {
        matches!(self, Self::One(schema) if schema.is_versioned)
    }
}

/// The schema of a page of a list of these.
pub(crate) fn list(resource: &str) -> Value {
    let cursor = field("next_cursor", nullable(plain()), "Cursor of the next page. Null on the last page.");
    let mut schema = page(&named(resource), cursor.1);
    schema["properties"]["data"]["maxItems"] = json!(MAX_LIMIT);
    schema
}

/// A page with this entry alone.
pub(crate) fn listed(entry: Value) -> Value {
    json!({"data": [entry], "next_cursor": null, "has_more": false})
}

/// An example with a member added, or with another value of it.
pub(crate) fn with(mut value: Value, name: &str, member: impl Into<Value>) -> Value {
    value[name] = member.into();
    value
}

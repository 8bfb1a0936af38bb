//! Building blocks for documenting resources beside their routes.
//!
//! A [`Schema`] has a name, a form and an example. Routes refer to schemas, and schemas refer to other schemas,
//! so the document finds all of them without a central list.

mod body;
mod responses;
pub(crate) mod scim;
pub(crate) mod shapes;
pub(crate) mod words;

use std::fmt;

use candor_domain::page::MAX_LIMIT;
use serde_json::{Value, json};

pub(crate) use body::{body, body_of, body_with};
pub(crate) use responses::{resource, response_of, take_components, with_optional};
use shapes::{field, nullable, page, plain, reference_to};

/// Timestamp of the examples in the document.
pub(crate) const AT: &str = "2026-03-02T09:00:00.000Z";
/// Example id of an employee.
pub(crate) const EMPLOYEE_ID: &str = "emp_01KJPWD6M19CJZV12YYC0CWB8B";
/// Example id of the manager of [`EMPLOYEE_ID`].
pub(crate) const MANAGER_ID: &str = "emp_01KJPWD6M1CVY8F4W1W0ECZ6Q9";
/// Example id of an organization.
pub(crate) const ORGANIZATION_ID: &str = "org_01KJPWD6M0PPWW6K8BZY81A0M0";
/// Example id of an objective.
pub(crate) const OBJECTIVE_ID: &str = "obj_01KJPWD6M24DF9HWRAYHFSFV52";
/// Example id of a key result.
pub(crate) const KEY_RESULT_ID: &str = "kr_01KJPWD6M24DF9HWRAYHFSFV52";
/// Example id of an API key.
pub(crate) const KEY_ID: &str = "key_01KJPWD6M04KS4Y1FG6WTW7EAH";

/// A named schema of a body or an answer.
#[derive(Clone, Copy)]
pub struct Schema {
    /// Name in the document.
    pub name: &'static str,
    /// Builds the schema; `None` if the document composes it.
    form: Option<fn() -> Value>,
    example: Option<fn() -> Value>,
    outcome: &'static str,
    /// `true` if the values are resources with a version, from which the `ETag` is derived.
    pub is_versioned: bool,
    refers_to: &'static [&'static Schema],
}

impl Schema {
    /// Creates a schema of unversioned values.
    pub(crate) const fn new(name: &'static str, form: fn() -> Value) -> Self {
        Self { name, form: Some(form), example: None, outcome: "", is_versioned: false, refers_to: &[] }
    }

    /// Creates a schema of a versioned resource.
    pub(crate) const fn resource(name: &'static str, form: fn() -> Value) -> Self {
        Self { is_versioned: true, ..Self::new(name, form) }
    }

    /// Creates a schema that `openapi` composes as a union over all groups.
    pub(crate) const fn union_of_groups(name: &'static str) -> Self {
        Self { name, form: None, example: None, outcome: "", is_versioned: true, refers_to: &[] }
    }

    /// Adds an example. Schemas without an example are used only inside other schemas, or are unions with open
    /// tags, whose examples linters cannot check.
    pub(crate) const fn example(self, example: fn() -> Value) -> Self {
        Self { example: Some(example), ..self }
    }

    /// Sets the description of a successful answer with this schema, instead of the generic one.
    pub(crate) const fn outcome(self, outcome: &'static str) -> Self {
        Self { outcome, ..self }
    }

    /// Names schemas that this one refers to and that no operation uses directly.
    pub(crate) const fn refers_to(self, schemas: &'static [&'static Self]) -> Self {
        Self { refers_to: schemas, ..self }
    }

    /// Returns this schema and everything that it refers to, by name.
    pub(crate) fn with_referenced_schemas(&self) -> Vec<(String, Value)> {
        let mut all: Vec<_> = self.form.map(|form| (self.name.to_owned(), form())).into_iter().collect();
        all.extend(self.refers_to.iter().flat_map(|schema| schema.with_referenced_schemas()));
        all
    }

    /// Returns the example, if there is one.
    pub(crate) fn example_value(&self) -> Option<Value> {
        self.example.map(|example| example())
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

/// Body of a successful answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Success {
    /// The answer has no body: 204.
    Empty,
    /// One value of this schema.
    One(&'static Schema),
    /// A page of a list, with values of this schema.
    PageOf(&'static Schema),
    /// Lines of JSON, each with a value of this schema.
    Lines(&'static Schema),
}

impl Success {
    /// Returns the name of the schema.
    pub(crate) fn name(self) -> Option<String> {
        match self {
            Self::Empty => None,
            Self::One(schema) | Self::Lines(schema) => Some(schema.name.to_owned()),
            Self::PageOf(schema) => Some(format!("{}List", schema.name)),
        }
    }

    /// Returns the schemas that the answer uses, by name.
    pub(crate) fn schemas(self) -> Vec<(String, Value)> {
        match self {
            Self::Empty => vec![],
            Self::One(schema) | Self::Lines(schema) => schema.with_referenced_schemas(),
            Self::PageOf(schema) => {
                let mut all = schema.with_referenced_schemas();
                all.extend(self.name().map(|name| (name, list(schema.name))));
                all
            }
        }
    }

    /// Returns the example, if there is one.
    pub(crate) fn example_value(self) -> Option<Value> {
        match self {
            Self::Empty => None,
            Self::One(schema) | Self::Lines(schema) => schema.example_value(),
            Self::PageOf(schema) => schema.example_value().map(list_example),
        }
    }

    /// Returns the description of the answer; `None` if the schema has no description of its own.
    pub(crate) fn outcome(self) -> Option<&'static str> {
        match self {
            Self::Empty => Some("The deletion is complete. The response has no body."),
            Self::One(schema) | Self::Lines(schema) => (!schema.outcome.is_empty()).then_some(schema.outcome),
            Self::PageOf(_) => Some("A page of the list, in the requested order."),
        }
    }

    /// Returns whether the answer is one versioned resource.
    #[must_use]
    pub const fn is_versioned(self) -> bool {
        matches!(self, Self::One(schema) if schema.is_versioned)
    }
}

/// Returns the schema of a page of this resource.
pub(crate) fn list(resource: &str) -> Value {
    let cursor = field("next_cursor", nullable(plain()), "Cursor of the next page. Null on the last page.");
    let mut schema = page(&reference_to(resource), cursor.1);
    schema["properties"]["data"]["maxItems"] = json!(MAX_LIMIT);
    schema
}

/// Returns an example page with one entry.
pub(crate) fn list_example(entry: Value) -> Value {
    json!({"data": [entry], "next_cursor": null, "has_more": false})
}

/// Returns the example with one member added or replaced.
pub(crate) fn with(mut value: Value, name: &str, member: impl Into<Value>) -> Value {
    value[name] = member.into();
    value
}

//! The API as templates of client libraries see it: types, operations by resource, and errors.

use super::types::Type;
use serde::Serialize;
use std::collections::BTreeSet;

/// Input of every template.
#[derive(Debug, Serialize)]
pub(super) struct Api {
    pub(super) version: String,
    pub(super) types: Vec<NamedType>,
    /// Parameter types of lists and searches.
    pub(super) queries: Vec<NamedType>,
    /// Filters of all operations whose parameters name a key of a map, such as `filter[metadata.team]`.
    pub(super) keyed_filters: BTreeSet<String>,
    /// Types of exported rows, each after the prefix of its ids. A prefix of several types is left out.
    pub(super) row_types: Vec<(String, String)>,
    pub(super) resources: Vec<Resource>,
    /// Operations that are methods of the client itself instead of a resource.
    pub(super) root: Vec<Operation>,
    /// Operations that answer lines. No method is generated for them: the libraries have a method for
    /// `exportData`, written by hand.
    pub(super) streamed: Vec<Operation>,
    pub(super) errors: Vec<ErrorClass>,
    /// Event types that this version of the document describes.
    pub(super) event_types: Vec<String>,
    /// Parts of the union `Event`, each with the event types that it covers.
    pub(super) event_families: Vec<Family>,
}

/// A part of a union, with the values of the tag that belong to this part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Family {
    #[serde(rename = "type")]
    pub(super) name: String,
    pub(super) words: Vec<String>,
}

/// A type that the libraries export.
#[derive(Debug, Serialize)]
pub(super) struct NamedType {
    pub(super) name: String,
    pub(super) doc: String,
    #[serde(flatten)]
    pub(super) form: Form,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Form {
    Words {
        words: Vec<String>,
    },
    Object {
        members: Vec<Member>,
    },
    /// Another name for a type. `parts` are the names of the types that a union joins, and `tag` is the member that
    /// tells them apart.
    Alias {
        target: RenderedType,
        parts: Vec<String>,
        tag: Option<Tag>,
    },
}

/// The member by which the parts of a union are told apart.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Tag {
    pub(super) member: String,
    /// The parts to which values of the member belong. All other values belong to the last part of the union.
    pub(super) families: Vec<Family>,
}

/// A member of an object, or a named parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) required: bool,
    #[serde(rename = "type")]
    pub(super) rendered: RenderedType,
}

/// A type expression in each language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct RenderedType {
    pub(super) typescript: String,
    pub(super) python: String,
    pub(super) rust: String,
}

impl From<&Type> for RenderedType {
    fn from(source: &Type) -> Self {
        Self { typescript: source.typescript(), python: source.python(), rust: source.rust() }
    }
}

/// Operations below one path.
#[derive(Debug, Serialize)]
pub(super) struct Resource {
    /// Name as a member of the client, in snake case.
    pub(super) name: String,
    pub(super) class: String,
    pub(super) operations: Vec<Operation>,
}

/// One method of the libraries.
#[derive(Debug, Serialize)]
pub(super) struct Operation {
    pub(super) id: String,
    /// Name of the method, in snake case.
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) path_parameters: Vec<String>,
    /// Name of the type of the query, if there is one.
    pub(super) query: Option<String>,
    pub(super) query_required: bool,
    pub(super) query_members: Vec<Member>,
    /// Query parameters whose values are joined by commas instead of repeated.
    pub(super) joined: Vec<String>,
    pub(super) body: Option<Body>,
    /// `true` if the method can return the effects of the operation instead of executing it.
    pub(super) dry_run: bool,
    pub(super) if_match: bool,
    pub(super) if_none_match: bool,
    pub(super) response: ResponseKind,
}

#[derive(Debug, Serialize)]
pub(super) struct Body {
    #[serde(rename = "type")]
    pub(super) name: String,
    pub(super) required: bool,
    pub(super) is_csv: bool,
    pub(super) members: Vec<Member>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", content = "type", rename_all = "snake_case")]
pub(super) enum ResponseKind {
    Nothing,
    One(String),
    /// A page with entries of this type, and a cursor.
    PageOf(String),
    /// Lines of this type, received one after the other.
    Lines(String),
}

/// The class of one error code.
#[derive(Debug, Serialize)]
pub(super) struct ErrorClass {
    pub(super) code: String,
    pub(super) class: String,
    /// Types of the entries of `details`.
    pub(super) details: Vec<String>,
}

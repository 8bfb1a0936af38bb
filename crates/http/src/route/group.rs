//! The routes of one resource, with what the document says of all of them.

use super::Route;
use crate::schema::Schema;
use crate::schema::shapes::Member;

/// Routes that stand together, in a file of [`crate::routes`] or as a part of one.
#[derive(Clone, Copy)]
pub(crate) struct RouteGroup {
    /// The rows.
    pub(crate) routes: &'static [Route],
    /// What the document files them under.
    pub(crate) tag: &'static str,
    /// What the tag is about; empty for a group of a tag that another one describes.
    pub(crate) about: &'static str,
    /// The prefix of the identifiers in their paths; empty where there are none.
    pub(crate) id: &'static str,
    /// The name and the prefix of the second identifiers in their paths.
    pub(crate) second_id: Option<(&'static str, &'static str)>,
    /// The enumerations that these routes bring.
    pub(crate) words: fn() -> Vec<Member>,
    /// The events about the resource.
    pub(crate) events: Option<EventFamily>,
}

impl RouteGroup {
    /// Routes under a tag that they describe.
    pub(crate) const fn new(tag: &'static str, about: &'static str, routes: &'static [Route]) -> Self {
        Self { routes, tag, about, id: "", second_id: None, words: Vec::new, events: None }
    }

    /// Routes under a tag that another group describes.
    pub(crate) const fn within(tag: &'static str, routes: &'static [Route]) -> Self {
        Self::new(tag, "", routes)
    }

    pub(crate) const fn id(self, prefix: &'static str) -> Self {
        Self { id: prefix, ..self }
    }

    pub(crate) const fn second_id(self, name: &'static str, prefix: &'static str) -> Self {
        Self { second_id: Some((name, prefix)), ..self }
    }

    pub(crate) const fn words(self, words: fn() -> Vec<Member>) -> Self {
        Self { words, ..self }
    }

    pub(crate) const fn events(self, events: EventFamily) -> Self {
        Self { events: Some(events), ..self }
    }
}

/// Events whose data is the same kind of resource.
#[derive(Clone, Copy)]
pub(crate) struct EventFamily {
    /// How the words of their types begin.
    pub(crate) prefix: &'static str,
    /// The schema of these events.
    pub(crate) name: &'static str,
    /// The schema of their types.
    pub(crate) types: &'static str,
    /// The schema of their data.
    pub(crate) data: &'static Schema,
    /// What they say.
    pub(crate) about: &'static str,
}

//! Groups of routes, one per resource, with their documentation.

use candor_domain::event::EventData;

use super::Route;
use crate::contract::schema::Schema;
use crate::contract::schema::shapes::Member;

/// Routes of one resource, declared in `crate::routes`.
#[derive(Clone, Copy)]
pub(crate) struct RouteGroup {
    /// Routes in the order of the document.
    pub(crate) routes: &'static [Route],
    /// Tag in the OpenAPI document.
    pub(crate) tag: &'static str,
    /// Description of the tag; empty if another group describes it.
    pub(crate) about: &'static str,
    /// Prefix of the identifiers in the paths of the routes; empty if the paths have none.
    pub(crate) id: &'static str,
    /// Name and prefix of the second identifier in the paths of the routes.
    pub(crate) second_id: Option<(&'static str, &'static str)>,
    /// Enumerations that these routes use.
    pub(crate) words: fn() -> Vec<Member>,
    /// Events about the resource.
    pub(crate) events: &'static [EventFamily],
}

impl RouteGroup {
    /// Creates a group that describes its tag.
    pub(crate) const fn new(tag: &'static str, about: &'static str, routes: &'static [Route]) -> Self {
        Self { routes, tag, about, id: "", second_id: None, words: Vec::new, events: &[] }
    }

    /// Creates a group under a tag that another group describes.
    pub(crate) const fn under_tag(tag: &'static str, routes: &'static [Route]) -> Self {
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

    pub(crate) const fn events(self, events: &'static [EventFamily]) -> Self {
        Self { events, ..self }
    }
}

/// Events that carry the same kind of resource.
#[derive(Clone, Copy)]
pub(crate) struct EventFamily {
    /// Content of the events' member `data`.
    pub(crate) carried: EventData,
    /// Name of the schema of these events.
    pub(crate) name: &'static str,
    /// Schema of the resource in `data`.
    pub(crate) data: &'static Schema,
    /// Description of the events.
    pub(crate) about: &'static str,
}

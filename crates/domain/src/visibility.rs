//! Visibility: the observations, objectives, summaries, conversations and assignments that a caller sees (§2.2,
//! decision B5).
//!
//! Single reads, search, `expand`, derived ids and references in bodies use one rule: a resource names its
//! [`Readers`], and [`Readers::include`] compares them with the [`Viewer`]. The lists of the resources in the storage
//! tables select the same rows by conditions of their own. A resource that the viewer does not see is answered with
//! 404 and missing from every other response.

mod readers;

use crate::access::Caller;
use crate::id::{AssignmentId, EmployeeId, ObjectiveId, ObservationId, SummaryId};

/// The part of a data set that a caller sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewer {
    /// The whole data set: a key of the organization, or a key bound to an org admin.
    Everything,
    /// The part that this person sees: a key bound to a person who is no org admin.
    Person(EmployeeId),
}

impl Viewer {
    /// Returns the person whose part of the data set this is; `None` for all of it.
    #[must_use]
    pub const fn person(self) -> Option<EmployeeId> {
        match self {
            Self::Everything => None,
            Self::Person(person) => Some(person),
        }
    }

    /// Returns `true` if the viewer sees everything, is this person or is a manager of them; `is_below` is `true` if
    /// this person reports to the viewer at any depth.
    #[must_use]
    pub fn reaches(self, person: EmployeeId, is_below: bool) -> bool {
        self.person().is_none_or(|viewer| viewer == person || is_below)
    }
}

impl Caller {
    /// Returns the part of the data set that the caller sees.
    #[must_use]
    pub fn viewer(&self) -> Viewer {
        self.acts_for().map_or(Viewer::Everything, Viewer::Person)
    }
}

/// The people who see one resource. Org admins and keys of the organization see it too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readers {
    /// `true` if every person of the organization sees the resource.
    pub is_public: bool,
    /// People who see the resource because of their own part in it.
    pub people: Vec<EmployeeId>,
    /// Person whose managers see the resource, at any depth; `None` if being a manager does not show the resource.
    pub managers_of: Option<EmployeeId>,
}

impl Readers {
    /// Returns `true` if the viewer sees everything or is one of the readers; `is_below` is `true` if
    /// [`Readers::managers_of`] reports to the viewer at any depth.
    #[must_use]
    pub fn include(&self, viewer: Viewer, is_below: bool) -> bool {
        let Viewer::Person(person) = viewer else { return true };
        self.is_public || self.people.contains(&person) || (is_below && self.managers_of.is_some())
    }

    const fn people(people: Vec<EmployeeId>) -> Self {
        Self { is_public: false, people, managers_of: None }
    }

    const fn with_managers(people: Vec<EmployeeId>, managers_of: EmployeeId) -> Self {
        Self { is_public: false, people, managers_of: Some(managers_of) }
    }
}

/// An id in the JSON form of another resource. It names a resource that not every caller sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is named after its resource")]
pub enum LinkedId {
    Observation(ObservationId),
    Objective(ObjectiveId),
    Summary(SummaryId),
    Assignment(AssignmentId),
}

impl LinkedId {
    /// Reads an id by its prefix; `None` for other texts.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse()
            .map(Self::Observation)
            .or_else(|_| text.parse().map(Self::Objective))
            .or_else(|_| text.parse().map(Self::Summary))
            .or_else(|_| text.parse().map(Self::Assignment))
            .ok()
    }

    /// Returns the bytes of the id.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        match self {
            Self::Observation(id) => id.to_bytes(),
            Self::Objective(id) => id.to_bytes(),
            Self::Summary(id) => id.to_bytes(),
            Self::Assignment(id) => id.to_bytes(),
        }
    }
}

/// A resource that not every caller sees.
pub trait RestrictedResource {
    /// Returns the people who see the resource.
    fn readers(&self) -> Readers;

    /// Returns `true` if the viewer sees the resource; for `is_below` see [`Readers::include`].
    fn is_visible_to(&self, viewer: Viewer, is_below: bool) -> bool {
        viewer == Viewer::Everything || self.readers().include(viewer, is_below)
    }
}

#[cfg(test)]
#[path = "visibility/tests.rs"]
mod tests;

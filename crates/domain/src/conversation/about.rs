//! The subject of a conversation: one resource, named by its type and id (decision G).

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use strum::{IntoStaticStr, VariantArray};

use crate::fields::{Fields, StringEnum, string_enum};
use crate::id::{AssignmentId, EmployeeId, EmployeeKind, Id, Kind, ObjectiveId, ObservationId, SummaryId};
use crate::problem::ValueError;
use crate::rule::{self, Field, OneOf, Text};
use crate::visibility::LinkedId;

/// The kinds of resource that a conversation can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Type {
    /// A member of the organization.
    Employee,
    /// A goal of a person, a team or the organization.
    Objective,
    /// A piece of feedback about a person.
    Observation,
    /// A request for feedback about a person.
    Assignment,
    /// A summary of feedback about a person.
    Summary,
}

string_enum!(Type, "ConversationAboutType");

/// The resource that a conversation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(inline, with = "Document<EmployeeKind>")]
pub enum About {
    /// A member of the organization.
    Employee(EmployeeId),
    /// A goal of a person, a team or the organization.
    Objective(ObjectiveId),
    /// A piece of feedback about a person.
    Observation(ObservationId),
    /// A request for feedback about a person.
    Assignment(AssignmentId),
    /// A summary of feedback about a person.
    Summary(SummaryId),
}

impl About {
    /// Returns the kind of the resource.
    #[must_use]
    pub const fn kind(self) -> Type {
        match self {
            Self::Employee(_) => Type::Employee,
            Self::Objective(_) => Type::Objective,
            Self::Observation(_) => Type::Observation,
            Self::Assignment(_) => Type::Assignment,
            Self::Summary(_) => Type::Summary,
        }
    }

    /// Returns the bytes of the resource's id.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        match self {
            Self::Employee(id) => id.to_bytes(),
            Self::Objective(id) => id.to_bytes(),
            Self::Observation(id) => id.to_bytes(),
            Self::Assignment(id) => id.to_bytes(),
            Self::Summary(id) => id.to_bytes(),
        }
    }

    /// Returns the id if some callers may not see the resource. `None` for a person: every caller sees people.
    #[must_use]
    pub const fn linked_id(self) -> Option<LinkedId> {
        match self {
            Self::Employee(_) => None,
            Self::Objective(id) => Some(LinkedId::Objective(id)),
            Self::Observation(id) => Some(LinkedId::Observation(id)),
            Self::Assignment(id) => Some(LinkedId::Assignment(id)),
            Self::Summary(id) => Some(LinkedId::Summary(id)),
        }
    }

    /// Creates the reference to a resource from its kind and the bytes of its id.
    #[must_use]
    pub const fn from_bytes(kind: Type, bytes: [u8; 16]) -> Self {
        match kind {
            Type::Employee => Self::Employee(Id::from_bytes(bytes)),
            Type::Objective => Self::Objective(Id::from_bytes(bytes)),
            Type::Observation => Self::Observation(Id::from_bytes(bytes)),
            Type::Assignment => Self::Assignment(Id::from_bytes(bytes)),
            Type::Summary => Self::Summary(Id::from_bytes(bytes)),
        }
    }

    /// Parses an id of any kind that a conversation can be about.
    #[must_use]
    pub fn parse(id: &str) -> Option<Self> {
        Type::ALL.iter().find_map(|kind| Self::parse_id(*kind, id))
    }

    fn parse_id(kind: Type, id: &str) -> Option<Self> {
        match kind {
            Type::Employee => id.parse().ok().map(Self::Employee),
            Type::Objective => id.parse().ok().map(Self::Objective),
            Type::Observation => id.parse().ok().map(Self::Observation),
            Type::Assignment => id.parse().ok().map(Self::Assignment),
            Type::Summary => id.parse().ok().map(Self::Summary),
        }
    }
}

/// The JSON form of [`About`].
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
#[serde(bound = "")]
struct Document<K: Kind> {
    /// Kind of resource that the conversation is about.
    #[serde(rename = "type")]
    kind: Type,
    /// Id of the resource that the conversation is about.
    #[schemars(with = "String")]
    id: Id<K>,
}

impl Serialize for About {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = self.kind();
        match *self {
            Self::Employee(id) => Document { kind, id }.serialize(serializer),
            Self::Objective(id) => Document { kind, id }.serialize(serializer),
            Self::Observation(id) => Document { kind, id }.serialize(serializer),
            Self::Assignment(id) => Document { kind, id }.serialize(serializer),
            Self::Summary(id) => Document { kind, id }.serialize(serializer),
        }
    }
}

const TYPE: Field<OneOf<Type>> = Field::new("type", rule::word());
const ID: Field<Text> =
    Field::with_about("id", rule::text(1..=40), "422 if the organization has no such resource.");

/// The `about` object of a body. A later step checks that the resource exists (decision A4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AboutReference {
    kind: Type,
    text: String,
}

impl AboutReference {
    /// Reads the members of `about`.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let (kind, text) = (fields.required(&TYPE), fields.required(&ID));
        Some(Self { kind: kind?, text: text? })
    }

    /// Returns the resource, or `None` if the id is not of the given kind.
    #[must_use]
    pub fn reference(&self) -> Option<About> {
        About::parse_id(self.kind, &self.text)
    }

    /// Returns the problem of an id that does not exist in the organization.
    #[must_use]
    pub fn not_found(&self) -> ValueError {
        ValueError::not_found(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_has_an_id_of_its_kind() {
        let objective = ObjectiveId::from_bytes([1; 16]);
        let reference = |kind| AboutReference { kind, text: objective.to_string() }.reference();
        assert_eq!(reference(Type::Objective), Some(About::Objective(objective)));
        assert_eq!(reference(Type::Summary), None);
    }
}

//! What a conversation is about: one resource, named by its type and id (decision G).

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use strum::{IntoStaticStr, VariantArray};

use crate::fields::{Fields, Word};
use crate::id::{AssignmentId, EmployeeId, Id, Kind, ObjectiveId, ObservationId, SummaryId};
use crate::problem::Flaw;
use crate::rule::{self, Field, OneOf, Text};
use crate::visibility::LinkedId;

/// What a conversation can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Type {
    /// A person.
    Employee,
    /// A goal.
    Objective,
    /// A piece of feedback.
    Observation,
    /// A request for feedback.
    Assignment,
    /// A summary.
    Summary,
}

impl Word for Type {
    const NAME: &'static str = "ConversationAboutType";
}

/// The resource that a conversation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// A person.
    Employee(EmployeeId),
    /// A goal.
    Objective(ObjectiveId),
    /// A piece of feedback.
    Observation(ObservationId),
    /// A request for feedback.
    Assignment(AssignmentId),
    /// A summary.
    Summary(SummaryId),
}

impl About {
    /// What kind of resource it is.
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

    /// The bytes of its id.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        match self {
            Self::Employee(it) => it.to_bytes(),
            Self::Objective(it) => it.to_bytes(),
            Self::Observation(it) => it.to_bytes(),
            Self::Assignment(it) => it.to_bytes(),
            Self::Summary(it) => it.to_bytes(),
        }
    }

    /// Returns the resource as one that not every caller sees; `None` for a person, whom every caller sees.
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

    /// The resource of a kind whose id has these bytes.
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

    /// The resource that an id of any kind names.
    #[must_use]
    pub fn named(id: &str) -> Option<Self> {
        Type::ALL.iter().find_map(|kind| Self::of(*kind, id))
    }

    fn of(kind: Type, id: &str) -> Option<Self> {
        match kind {
            Type::Employee => id.parse().ok().map(Self::Employee),
            Type::Objective => id.parse().ok().map(Self::Objective),
            Type::Observation => id.parse().ok().map(Self::Observation),
            Type::Assignment => id.parse().ok().map(Self::Assignment),
            Type::Summary => id.parse().ok().map(Self::Summary),
        }
    }
}

impl Serialize for About {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn written<S: Serializer, K: Kind>(kind: Type, id: Id<K>, serializer: S) -> Result<S::Ok, S::Error> {
            let mut out = serializer.serialize_struct("About", 2)?;
            out.serialize_field("type", kind.word())?;
            out.serialize_field("id", &id)?;
            out.end()
        }
        match *self {
            Self::Employee(it) => written(self.kind(), it, serializer),
            Self::Objective(it) => written(self.kind(), it, serializer),
            Self::Observation(it) => written(self.kind(), it, serializer),
            Self::Assignment(it) => written(self.kind(), it, serializer),
            Self::Summary(it) => written(self.kind(), it, serializer),
        }
    }
}

const TYPE: Field<OneOf<Type>> = Field::new("type", rule::word(), "Kind of resource.");
const ID: Field<Text> =
    Field::new("id", rule::text(1..=40), "Id of the resource. 422 if the organization has no such resource.");

/// The resource as a body names it: whether it is there is found out later (decision A4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AboutReference {
    kind: Type,
    text: String,
}

impl AboutReference {
    /// The members of `about`.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let (kind, text) = (fields.required(&TYPE), fields.required(&ID));
        Some(Self { kind: kind?, text: text? })
    }

    /// The resource, if the id is one of its kind.
    #[must_use]
    pub fn wanted(&self) -> Option<About> {
        About::of(self.kind, &self.text)
    }

    /// The flaw of naming nothing.
    #[must_use]
    pub fn not_found(&self) -> Flaw {
        Flaw::not_found(&self.text)
    }
}

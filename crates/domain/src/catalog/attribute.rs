//! Attributes: the tags of observations, with a category and a tone.

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use super::must_be_free;
use crate::content::{content, or, required};
use crate::decision::{Decision, Resource, identity};
use crate::event::EventType;
use crate::fields::string_enum;
use crate::id::{AttributeId, AttributeKind};
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::params::{self, Archived, Bounds, ListRequest, Params};
use crate::problem::ValidationErrors;
use crate::refusal::{DomainError, must_be_active, must_be_archived};
use crate::rule;
use crate::text::{fold_case, name_key};
use crate::time::Timestamp;
use crate::update::{Update, parse_new, parse_update};

/// Maximum length of a name or a category, in characters.
pub const NAME_CHARS: usize = 80;

const READ_ONLY: &[&str] = &["id", "created_at", "updated_at", "archived_at"];

/// Tone of the feedback that has an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Tone {
    /// Feedback with the attribute is praise.
    Positive,
    /// Feedback with the attribute is praise or names something to improve.
    #[default]
    Neutral,
    /// Feedback with the attribute names something to improve.
    Constructive,
}

string_enum!(Tone, "AttributeTone");

content! {
    pub struct Draft;
    pub struct Patch;

    /// A tag of observations.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Attribute {
        /// Id of the attribute, with the prefix `attr_`.
        pub id: AttributeId,
        /// Name. Unique in the organization, compared without case.
        pub name: String => set by required(rule::text(1..=NAME_CHARS)),
        /// Category: free text that groups attributes.
        pub category: String => set by required(rule::text(1..=NAME_CHARS)),
        /// Tone of feedback with this attribute.
        pub tone: Tone => set by or(rule::word(), Tone::default()),
        /// Time of creation, which never changes.
        pub created_at: Timestamp,
        /// Time of the last change. It increases with every change.
        pub updated_at: Timestamp,
        /// Archive time. Null if it is not archived.
        pub archived_at: Option<Timestamp>,
        /// `true` if another attribute had the name before names were compared by their keys.
        #[serde(skip)]
        pub is_twin: bool,
    }
}

impl Resource for Attribute {
    identity!(AttributeKind);
}

/// Conditions of a list of attributes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The whole name, compared without case.
    pub name: Option<String>,
    /// The whole category, compared with case.
    pub category: Option<String>,
    /// Accepted tones. An empty list accepts all.
    pub tones: Vec<Tone>,
    /// Selects attributes in use, archived ones, or both.
    pub archived: Archived,
    /// Bounds of the last change.
    pub updated_at: Bounds<Timestamp>,
}

impl Filter {
    /// Reads the parameters of `GET /attributes` into a filter. Problems are recorded in `params`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            name: params.one(&params::identifying_name(
                "filter[name]",
                "Only the attribute with this name. The whole name is compared, without case.",
            )),
            category: params.one(&params::any(
                "filter[category]",
                "Only attributes in this category. The whole text is compared.",
            )),
            tones: params.many(&params::word("filter[tone]", "Only attributes with this tone.")),
            archived: params.one(&params::ARCHIVED).unwrap_or_default(),
            updated_at: params.bounds(&params::UPDATED_AT),
        };
        params.list::<Attribute, _, _>("attributes", filter, vec![])
    }
}

impl Sortable for Attribute {
    const ORDERS_NAME: &'static str = "AttributeSort";
    const ORDERS: &'static [SortKey<Self>] = &[
        SortKey::ascending_by(SortBy::Name, |attribute| Key::Text(attribute.name_key())),
        SortKey::ascending_by(SortBy::CreatedAt, |attribute| Key::Time(attribute.created_at)),
        SortKey::ascending_by(SortBy::UpdatedAt, |attribute| Key::Time(attribute.updated_at)),
    ];
}

parse_new!(Draft, READ_ONLY);

parse_update!(Patch, [READ_ONLY]);

impl Update<Patch> {
    /// Checks the update against the stored attribute. If the attribute is archived, the fields of the update are
    /// not checked, because [`Attribute::update`] refuses every update then.
    ///
    /// # Errors
    /// One problem for each wrong or immutable field.
    pub fn resolve_with(&self, stored: &Attribute) -> Result<Patch, ValidationErrors> {
        if stored.archived_at.is_some() { Ok(Patch::default()) } else { self.finish(stored) }
    }
}

impl Attribute {
    /// Returns the key under which the name is stored: the name key, which all spellings share, or the lower-case
    /// text of a twin.
    #[must_use]
    pub fn name_key(&self) -> String {
        if self.is_twin { fold_case(&self.name) } else { name_key(&self.name) }
    }

    /// Creates an attribute. `holder` is the attribute that already has the name.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the name is taken.
    pub fn create(
        id: AttributeId,
        draft: Draft,
        holder: Option<AttributeId>,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        must_be_free(&draft.name, holder, None)?;
        let Draft { name, category, tone } = draft;
        let (archived_at, is_twin) = (None, false);
        let state = Self { id, name, category, tone, created_at: at, updated_at: at, archived_at, is_twin };
        Ok(Decision::for_creation(state, "attribute.create", vec![EventType::AttributeCreated]))
    }

    /// Changes name, category or tone. Returns `None` if nothing changes. `holder` is the attribute that has the
    /// new name.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the attribute is archived, or the name is taken.
    pub fn update(
        &self,
        patch: Patch,
        holder: Option<AttributeId>,
        at: Timestamp,
    ) -> Result<Option<Decision<Self>>, DomainError> {
        must_be_active(self.archived_at, "update")?;
        let mut state = self.clone();
        if let Some(name) = patch.name.as_ref().filter(|name| **name != self.name) {
            must_be_free(name, holder, Some(self.id))?;
            state.is_twin = false;
        }
        patch.apply_to(&mut state);
        if state == *self {
            return Ok(None);
        }
        state.updated_at = at.strictly_after(self.updated_at);
        Ok(Some(Decision::for_change(self, state, "attribute.update", vec![EventType::AttributeUpdated])))
    }

    /// Archives the attribute, which stays on the observations that have it.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the attribute is already archived.
    pub fn archive(&self, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        must_be_active(self.archived_at, "archive")?;
        let archived_at = at.strictly_after(self.updated_at);
        let state = Self { archived_at: Some(archived_at), updated_at: archived_at, ..self.clone() };
        Ok(Decision::for_change(self, state, "attribute.archive", vec![EventType::AttributeArchived]))
    }

    /// Restores an archived attribute.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the attribute is not archived.
    pub fn restore(&self, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        must_be_archived(self.archived_at)?;
        let state = Self { archived_at: None, updated_at: at.strictly_after(self.updated_at), ..self.clone() };
        Ok(Decision::for_change(self, state, "attribute.restore", vec![EventType::AttributeRestored]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ulid::Ulid;

    #[test]
    fn each_state_accepts_only_its_actions() {
        let time = Timestamp::from_millis(1);
        let draft =
            Draft { name: "Clarity".to_owned(), category: "Communication".to_owned(), tone: Tone::Neutral };
        let active = Attribute::create(AttributeId::from_ulid(Ulid(1)), draft, None, time).unwrap().state;
        let archived_attribute = active.archive(time).unwrap().state;
        assert!(archived_attribute.archive(time).is_err());
        assert!(active.restore(time).is_err());
        assert!(archived_attribute.restore(time).unwrap().state.archived_at.is_none());
        assert!(archived_attribute.update(Patch::default(), None, time).is_err());
        assert_eq!(active.update(Patch::default(), None, time), Ok(None));
        let update = Patch::parse(serde_json::from_str(r#"{"name":""}"#).unwrap());
        assert!(update.resolve_with(&active).is_err());
        assert_eq!(
            update.resolve_with(&archived_attribute),
            Ok(Patch::default()),
            "the state is the only problem"
        );
    }

    #[test]
    fn twin_keeps_its_key_until_renamed() {
        let draft = Draft { name: "e\u{301}LAN".to_owned(), category: "Drive".to_owned(), tone: Tone::Neutral };
        let time = Timestamp::from_millis(1);
        let attribute = Attribute::create(AttributeId::from_ulid(Ulid(1)), draft, None, time).unwrap().state;
        let twin = Attribute { is_twin: true, ..attribute.clone() };
        assert_eq!((attribute.name_key().as_str(), twin.name_key().as_str()), ("\u{e9}lan", "e\u{301}lan"));
        let rename = |name: &str, holder| {
            let patch = Patch { name: Some(name.to_owned()), ..Patch::default() };
            twin.update(patch, holder, time).map(|decision| decision.map(|decision| decision.state.is_twin))
        };
        let holder = Some(AttributeId::from_ulid(Ulid(2)));
        assert_eq!(rename(&twin.name, holder), Ok(None), "the name that it has is not taken anew");
        assert_eq!(rename("Pace", None), Ok(Some(false)));
        assert!(rename("Pace", holder).is_err());
    }
}

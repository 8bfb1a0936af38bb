//! Attributes: the tags of observations, with a category and a tone.

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use super::{must_be_active, must_be_archived, must_be_free};
use crate::decision::{Decision, Resource};
use crate::fields::{Fields, Word, as_word};
use crate::id::{AttributeId, AttributeKind};
use crate::json::Object;
use crate::page::{Key, Listed, Order, SortBy};
use crate::params::{self, Archived, Bounds, ListRequest, Params};
use crate::problem::Problems;
use crate::refusal::Refusal;
use crate::rule::{self, Field, OneOf, Text};
use crate::text::folded;
use crate::time::Timestamp;

/// The longest name, and the longest category.
pub const NAME_CHARS: usize = 80;

const READ_ONLY: &[&str] = &["id", "created_at", "updated_at", "archived_at"];

const NAME: Field<Text> =
    Field::new("name", rule::text(1..=NAME_CHARS), "Name. Unique in the organization, compared without case.");
const CATEGORY: Field<Text> = Field::new("category", rule::text(1..=NAME_CHARS), "Category, free text.");
const TONE: Field<OneOf<Tone>> = Field::new("tone", rule::word(), "Tone of feedback with this attribute.");

/// How feedback with this attribute sounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Tone {
    /// Praise.
    Positive,
    /// Either.
    #[default]
    Neutral,
    /// Something to work on.
    Constructive,
}

impl Word for Tone {
    const NAME: &'static str = "AttributeTone";
}

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attribute {
    /// Its id.
    pub id: AttributeId,
    /// Its name, unique in the organization without case.
    pub name: String,
    /// What it belongs to, in the organization's own words.
    pub category: String,
    /// How it sounds.
    #[serde(serialize_with = "as_word")]
    pub tone: Tone,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was archived; null while in use.
    pub archived_at: Option<Timestamp>,
}

impl Resource for Attribute {
    type Kind = AttributeKind;
    const NAME: &'static str = "attribute";

    fn id(&self) -> AttributeId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }
}

/// Which attributes are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// With this name, without case.
    pub name: Option<String>,
    /// Of this category.
    pub category: Option<String>,
    /// Of any of these tones; empty = of any.
    pub tones: Vec<Tone>,
    /// Archived or not.
    pub archived: Archived,
    /// Changed within these bounds.
    pub updated_at: Bounds<Timestamp>,
}

impl Filter {
    /// The parameters of `GET /attributes`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            name: params.one(&params::folded(
                "filter[name]",
                "Only the attribute with this name. The whole name is compared, without case.",
            )),
            category: params
                .one(&params::any("filter[category]", "Only attributes in this category. The whole text is compared.")),
            tones: params.many(&params::word("filter[tone]", "Only attributes with this tone.")),
            archived: params.one(&params::ARCHIVED).unwrap_or_default(),
            updated_at: params.bounds(&params::UPDATED_AT),
        };
        params.list::<Attribute, _, _>("attributes", filter, vec![])
    }

    /// Reads the parameters of `GET /attributes`.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(mut params: Params) -> Result<ListRequest<Self, ()>, Problems> {
        let request = Self::read(&mut params);
        params.finish(request)
    }
}

impl Listed for Attribute {
    const ORDERS_NAME: &'static str = "AttributeSort";
    const ORDERS: &'static [Order<Self>] = &[
        Order { by: SortBy::Name, key: |it| Key::Text(folded(&it.name)), words: &["name", "-name"] },
        Order { by: SortBy::CreatedAt, key: |it| Key::Time(it.created_at), words: &["created_at", "-created_at"] },
        Order { by: SortBy::UpdatedAt, key: |it| Key::Time(it.updated_at), words: &["updated_at", "-updated_at"] },
    ];
}

/// The body of a creation, valid in itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Its name.
    pub name: String,
    /// What it belongs to.
    pub category: String,
    /// How it sounds.
    pub tone: Tone,
}

impl Draft {
    /// The fields of a creation.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let (name, category) = (fields.required(&NAME), fields.required(&CATEGORY));
        let tone = fields.present_or(&TONE, Tone::default());
        Some(Self { name: name?, category: category?, tone })
    }

    /// Reads the body of a creation.
    ///
    /// # Errors
    /// Every field that is wrong.
    pub fn parse(body: Object) -> Result<Self, Problems> {
        Fields::of_new(body, READ_ONLY, Self::read)
    }
}

/// The body of an update, valid in itself. `None` keeps what is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// Its name.
    pub name: Option<String>,
    /// What it belongs to.
    pub category: Option<String>,
    /// How it sounds.
    pub tone: Option<Tone>,
}

impl Patch {
    /// The fields of an update.
    pub fn read(fields: &mut Fields) -> Self {
        Self { name: fields.present(&NAME), category: fields.present(&CATEGORY), tone: fields.present(&TONE) }
    }

    /// Reads the body of an update of `stored`. Of an archived one nothing is read: [`Attribute::update`] refuses it,
    /// whatever it says.
    ///
    /// # Errors
    /// Every field that is wrong, or that cannot be changed.
    pub fn parse(body: Object, stored: &Attribute) -> Result<Self, Problems> {
        if stored.archived_at.is_some() {
            return Ok(Self::default());
        }
        Fields::of_update(body, &[READ_ONLY], stored, Self::read)
    }
}

impl Attribute {
    /// A new attribute; `holder` is whoever has the name already.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] if the name is taken.
    pub fn create(
        id: AttributeId,
        draft: Draft,
        holder: Option<AttributeId>,
        at: Timestamp,
    ) -> Result<Decision<Self>, Refusal> {
        must_be_free(&draft.name, holder, None)?;
        let Draft { name, category, tone } = draft;
        let state = Self { id, name, category, tone, created_at: at, updated_at: at, archived_at: None };
        Ok(Decision::created(state, "attribute.create", vec![]))
    }

    /// Updates it; `None` if that changes nothing.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] if it is archived, or the name is taken.
    pub fn update(
        &self,
        patch: Patch,
        holder: Option<AttributeId>,
        at: Timestamp,
    ) -> Result<Option<Decision<Self>>, Refusal> {
        must_be_active(self.archived_at, "update")?;
        let mut state = self.clone();
        if let Some(name) = patch.name {
            must_be_free(&name, holder, Some(self.id))?;
            state.name = name;
        }
        state.category = patch.category.unwrap_or(state.category);
        state.tone = patch.tone.unwrap_or(state.tone);
        if state == *self {
            return Ok(None);
        }
        state.updated_at = at.strictly_after(self.updated_at);
        Ok(Some(Decision::changed(self, state, "attribute.update", vec![])))
    }

    /// Takes it out of use; it stays on the observations that have it.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] if it is archived already.
    pub fn archive(&self, at: Timestamp) -> Result<Decision<Self>, Refusal> {
        must_be_active(self.archived_at, "archive")?;
        let at = at.strictly_after(self.updated_at);
        let state = Self { archived_at: Some(at), updated_at: at, ..self.clone() };
        Ok(Decision::changed(self, state, "attribute.archive", vec![]))
    }

    /// Takes it into use again.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] if it is not archived.
    pub fn restore(&self, at: Timestamp) -> Result<Decision<Self>, Refusal> {
        must_be_archived(self.archived_at)?;
        let state = Self { archived_at: None, updated_at: at.strictly_after(self.updated_at), ..self.clone() };
        Ok(Decision::changed(self, state, "attribute.restore", vec![]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ulid::Ulid;

    #[test]
    fn every_state_meets_every_action() {
        let at = Timestamp::from_millis(1);
        let draft = Draft { name: "Clarity".to_owned(), category: "Communication".to_owned(), tone: Tone::Neutral };
        let active = Attribute::create(AttributeId::from_ulid(Ulid(1)), draft, None, at).unwrap().state;
        let archived = active.archive(at).unwrap().state;
        assert!(archived.archive(at).is_err());
        assert!(active.restore(at).is_err());
        assert!(archived.restore(at).unwrap().state.archived_at.is_none());
        assert!(archived.update(Patch::default(), None, at).is_err());
        assert_eq!(active.update(Patch::default(), None, at), Ok(None));
    }
}

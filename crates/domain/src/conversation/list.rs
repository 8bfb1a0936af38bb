//! Lists of conversations (decision G).

use super::{About, Conversation};
use crate::id::EmployeeId;
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::params::{self, Archived, Bounds, ListRequest, Param, Params, ValueForm};
use crate::time::Timestamp;

/// Conditions of a list of conversations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// A participant of the conversation.
    pub participant_id: Option<EmployeeId>,
    /// The subject of the conversation.
    pub about: Option<About>,
    /// Selects conversations in use, archived ones, or both.
    pub archived: Archived,
    /// Bounds of the last change (decision D10).
    pub updated_at: Bounds<Timestamp>,
}

impl About {
    /// The id of no person. No conversation is about it, so a filter by an unknown id matches nothing (decision
    /// A2).
    pub const NOTHING: Self = Self::Employee(EmployeeId::from_bytes([0; 16]));
}

const ABOUT: Param<About> = params::param(
    "filter[about_id]",
    "Only conversations about the resource with this id.",
    ValueForm::Text,
    |text| Ok(About::parse(text).unwrap_or(About::NOTHING)),
);

impl Filter {
    /// Reads the parameters of `GET /conversations` into a filter. Problems are recorded in `params`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            participant_id: params
                .one(&params::id("filter[participant_id]", "Only conversations with this participant.")),
            about: params.one(&ABOUT),
            archived: params.one(&params::ARCHIVED).unwrap_or_default(),
            updated_at: params.bounds(&params::UPDATED_AT),
        };
        params.list::<Conversation, _, _>("conversations", filter, vec![])
    }
}

impl Sortable for Conversation {
    const ORDERS_NAME: &'static str = "ConversationSort";
    const ORDERS: &'static [SortKey<Self>] = &[
        SortKey::descending_by(SortBy::ActiveAt, |conversation| Key::Time(conversation.active_at())),
        SortKey::descending_by(SortBy::CreatedAt, |conversation| Key::Time(conversation.created_at)),
        SortKey::descending_by(SortBy::UpdatedAt, |conversation| Key::Time(conversation.updated_at)),
    ];
}

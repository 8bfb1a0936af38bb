//! Lists of conversations (decision G).

use super::{About, Conversation};
use crate::id::EmployeeId;
use crate::page::{Key, Listed, Order, SortBy};
use crate::params::{self, Archived, Bounds, ListRequest, Param, Params, Takes};
use crate::problem::Problems;
use crate::time::Timestamp;

/// Which conversations are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// With this person in them.
    pub participant_id: Option<EmployeeId>,
    /// About this.
    pub about: Option<About>,
    /// Archived or not.
    pub archived: Archived,
    /// Changed within these bounds (decision D10).
    pub updated_at: Bounds<Timestamp>,
}

impl About {
    /// A person that does not exist: no conversation is about them, so a filter by an unknown id matches nothing
    /// (decision A2).
    pub const NOTHING: Self = Self::Employee(EmployeeId::from_bytes([0; 16]));
}

const ABOUT: Param<About> =
    params::param("filter[about_id]", "Only conversations about the resource with this id.", Takes::Text, |text| {
        Ok(About::named(text).unwrap_or(About::NOTHING))
    });

impl Filter {
    /// The parameters of `GET /conversations`.
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

    /// Reads the parameters of `GET /conversations`.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(mut params: Params) -> Result<ListRequest<Self, ()>, Problems> {
        let request = Self::read(&mut params);
        params.finish(request)
    }
}

impl Listed for Conversation {
    const ORDERS_NAME: &'static str = "ConversationSort";
    const ORDERS: &'static [Order<Self>] = &[
        Order {
            by: SortBy::ActiveAt,
            key: |it| Key::Time(it.active_at()),
            words: &["-last_message_at", "last_message_at"],
        },
        Order { by: SortBy::CreatedAt, key: |it| Key::Time(it.created_at), words: &["-created_at", "created_at"] },
        Order { by: SortBy::UpdatedAt, key: |it| Key::Time(it.updated_at), words: &["-updated_at", "updated_at"] },
    ];
}

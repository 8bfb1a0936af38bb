//! Mapping of conversations and messages, and their lists.

use candor_domain::conversation::{About, Conversation, Filter, Joins, Message, message};
use candor_domain::fields::StringEnum;
use candor_domain::id::{ConversationId, ConversationKind, EmployeeId, MessageKind};
use candor_domain::page::{PageRequest, Sort, SortBy, Sortable};
use candor_domain::visibility::Viewer;

use super::column;
use crate::codec::{Codec, Layout};
use crate::error::CorruptRowError;
use crate::flat::{Cells, Index, MemberTable, Reader, SqlValue, Table, Type};
use crate::listing::{Listing, TypedListing, UPDATED_AT, sort_column};
use crate::stored::stored;

/// Side table of the participants of conversations.
const PARTICIPANTS: MemberTable =
    MemberTable { name: "conversation_participants", owner: "conversation_id", member: "participant_id" };

/// Codec of the times from which people see messages. Null if all participants see all messages.
#[derive(Debug)]
struct JoinsColumn;

impl Layout for JoinsColumn {
    const KIND: Type = Type::Text;
}

impl Codec<Joins> for JoinsColumn {
    fn write(value: &Joins, out: &mut Cells) {
        out.put(SqlValue::Text(value.text()));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<Joins>, CorruptRowError> {
        row.opt_parse(Joins::parse)
    }
}

fn stored_joins(joins: &Joins) -> Option<Joins> {
    (!joins.is_empty()).then(|| joins.clone())
}

stored! {
    Conversation, id: ConversationKind, row: conversation;
    columns {
        id: IdColumn,
        title: TextColumn,
        about_type: Option<OneOfColumn> = conversation.about.map(|about| about.kind()),
        about_id: Option<IdColumn> = conversation.about.map(|about| about.to_bytes()),
        participant_ids: IdsColumn,
        created_at: Time,
        updated_at: Time,
        archived_at: Option<Time>,
        joins: Option<JoinsColumn> = stored_joins(&conversation.joins),
    }
    derived { archived: FlagColumn = conversation.archived_at.is_some() }
    // The database computes `active_at` from the times of messages, so an update of the conversation cannot set it
    // back.
    recorded { last_message_at: Option<Time>, active_at: Time }
    let _ = active_at;
    fields {
        about: about_type.zip(about_id).map(|(kind, id)| About::from_bytes(kind, id)),
        last_message_at,
        joins: joins.unwrap_or_default(),
    }
    table Table {
        members: &[PARTICIPANTS],
        indexes: &[
            Index::of_columns(&["archived", "active_at", "id"]),
            Index::of_columns(&["archived", "created_at", "id"]),
            Index::of_columns(&["archived", "updated_at", "id"]),
            Index::of_columns(&["about_id", "about_type", "archived", "active_at", "id"]).to_few(),
        ],
        parameters: &[("about_type", "about_id")],
        shares_commits: true,
        ..Table::with_name("conversations")
    };
    also {
        fn members(&self) -> Vec<Vec<[u8; 16]>> {
            vec![self.participant_ids.iter().map(|id| id.to_bytes()).collect()]
        }
    }
}

stored! {
    Message, id: MessageKind, row: message;
    columns {
        id: IdColumn,
        conversation_id: IdColumn,
        author_id: IdColumn,
        body: TextColumn,
        created_at: Time,
    }
    table Table {
        indexes: &[
            Index::of_columns(&["conversation_id", "created_at", "id"]),
            Index::of_columns(&["conversation_id", "author_id", "created_at", "id"]),
            Index::of_columns(&["author_id", "created_at", "id"]),
        ],
        versioned: false,
        shares_commits: true,
        ..Table::with_name("messages")
    };
}

/// List of the conversations that the viewer may see, for `GET /conversations` (decisions G, B5).
#[must_use]
pub fn list(filter: &Filter, viewer: Viewer, sort: Sort, page: &PageRequest) -> TypedListing<Conversation> {
    let mut it = Listing::new::<Conversation>(sort, page);
    it.restrict_to_archived(filter.archived);
    it.is(column("about_id", Type::Id), filter.about.map(|reference| SqlValue::Id(reference.to_bytes())));
    it.is(column("about_type", Type::Text), filter.about.map(|reference| reference.kind().word().to_owned()));
    let viewer = viewer.person();
    let other = filter.participant_id.filter(|participant| Some(*participant) != viewer);
    for person in viewer.into_iter().chain(other) {
        it.restrict_to_tags(PARTICIPANTS, [person.to_bytes()]);
    }
    it.restrict_to_bounds(UPDATED_AT, filter.updated_at, SqlValue::Time);
    it.into_list()
}

/// List of the messages of a conversation, for `GET /conversations/{id}/messages` (decision G).
#[must_use]
pub fn messages(
    conversation: ConversationId,
    filter: &message::Filter,
    sort: Sort,
    page: &PageRequest,
) -> TypedListing<Message> {
    let mut it = Listing::new::<Message>(sort, page);
    it.is(column("conversation_id", Type::Id), Some(conversation));
    it.is(column("author_id", Type::Id), filter.author_id);
    it.restrict_to_bounds(sort_column(SortBy::CreatedAt), filter.created_at, SqlValue::Time);
    it.into_list()
}

/// List of the messages of a person in all conversations.
#[must_use]
pub fn messages_of(author: EmployeeId, page: &PageRequest) -> TypedListing<Message> {
    let mut messages = Listing::new::<Message>(Message::DEFAULT, page);
    messages.is(column("author_id", Type::Id), Some(author));
    messages.into_list()
}

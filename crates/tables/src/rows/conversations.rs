//! Mapping of conversations and their messages, and their lists.

use candor_domain::conversation::{About, Conversation, Filter, Message, message};
use candor_domain::fields::Word;
use candor_domain::id::{ConversationId, ConversationKind, Id, MessageKind, ObservationKind};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::visibility::Viewer;

use super::column;
use crate::error::Corrupt;
use crate::flat::{Cell, Cells, Index, MemberTable, Reader, Stored, Table, Type};
use crate::listing::{Listing, TypedListing, UPDATED_AT, sort_column};

/// Side table of the participants.
const PARTICIPANTS: MemberTable =
    MemberTable { name: "conversation_participants", owner: "conversation_id", member: "participant_id" };

const TABLE: Table = Table {
    columns: &[
        column("id", Type::Id),
        column("title", Type::Text),
        column("about_type", Type::Text),
        column("about_id", Type::Id),
        column("participant_ids", Type::Ids),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
        column("archived_at", Type::Time),
    ],
    derived: &[column("archived", Type::Flag)],
    // The database computes `active_at` from `last_message_at`, so that other changes do not reset it.
    recorded: &[column("last_message_at", Type::Time), column("active_at", Type::Time)],
    members: Some(PARTICIPANTS),
    indexes: &[
        Index::on(&["archived", "active_at", "id"]),
        Index::on(&["archived", "created_at", "id"]),
        Index::on(&["archived", "updated_at", "id"]),
        Index::on(&["about_id", "about_type", "archived", "active_at", "id"]).to_few(),
    ],
    parameters: &[("about_type", "about_id")],
    shares_commits: true,
    ..Table::named("conversations")
};

const MESSAGES: Table = Table {
    columns: &[
        column("id", Type::Id),
        column("conversation_id", Type::Id),
        column("author_id", Type::Id),
        column("body", Type::Text),
        column("created_at", Type::Time),
    ],
    indexes: &[
        Index::on(&["conversation_id", "created_at", "id"]),
        Index::on(&["conversation_id", "author_id", "created_at", "id"]),
    ],
    versioned: false,
    shares_commits: true,
    ..Table::named("messages")
};

impl Stored for Conversation {
    type Kind = ConversationKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.text(&self.title);
        out.put(self.about.map_or(Cell::Null(Type::Text), |it| Cell::Text(it.kind().word().to_owned())));
        out.put(self.about.map_or(Cell::Null(Type::Id), |it| Cell::Id(it.to_bytes())));
        out.ids(&self.participant_ids);
        out.time(self.created_at);
        out.time(self.updated_at);
        out.opt_time(self.archived_at);
        out.put(Cell::Flag(self.archived_at.is_some()));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
        let (id, title) = (row.id()?, row.text()?);
        let kind = row.opt_parse(|text| Word::from_word(text).ok())?;
        // The ids of all subjects have the same form.
        let about = row.opt_id::<ObservationKind>()?;
        let mut it = Self {
            id,
            title,
            about: kind.zip(about).map(|(kind, id)| About::from_bytes(kind, id.to_bytes())),
            participant_ids: row.ids()?,
            last_message_at: None,
            created_at: row.time()?,
            updated_at: row.time()?,
            archived_at: row.opt_time()?,
        };
        it.last_message_at = row.opt_time()?;
        row.time()?;
        Ok(it)
    }

    fn members(&self) -> Vec<[u8; 16]> {
        self.participant_ids.iter().map(|it| it.to_bytes()).collect()
    }
}

impl Stored for Message {
    type Kind = MessageKind;

    const TABLE: &'static Table = &MESSAGES;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.id(self.conversation_id);
        out.id(self.author_id);
        out.text(&self.body);
        out.time(self.created_at);
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
        Ok(Self {
            id: row.id()?,
            conversation_id: row.id()?,
            author_id: row.id()?,
            body: row.text()?,
            created_at: row.time()?,
        })
    }
}

/// List of `GET /conversations` that the viewer may see (decisions G, B5).
#[must_use]
pub fn list(filter: &Filter, viewer: Viewer, sort: Sort, page: &PageRequest) -> TypedListing<Conversation> {
    let mut it = Listing::new::<Conversation>(sort, page);
    it.archived(filter.archived);
    it.is(column("about_id", Type::Id), filter.about.map(|it| Cell::Id(it.to_bytes())));
    it.is(column("about_type", Type::Text), filter.about.map(|it| it.kind().word().to_owned()));
    let viewer = viewer.person();
    let other = filter.participant_id.filter(|participant| Some(*participant) != viewer);
    for person in viewer.into_iter().chain(other) {
        it.tagged(PARTICIPANTS, [person.to_bytes()]);
    }
    it.within(UPDATED_AT, filter.updated_at, Cell::Time);
    it.alone()
}

/// List of `GET /conversations/{id}/messages` (decision G).
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
    it.within(sort_column(SortBy::CreatedAt), filter.created_at, Cell::Time);
    it.alone()
}

//! Conversations and their messages, as they are answered.

use candor_domain::conversation::{self, MAX_PARTICIPANTS, MIN_PARTICIPANTS, TITLE_CHARS, message};
use candor_domain::fields::Word;
use candor_domain::id::{ConversationKind, EmployeeKind, MessageKind};
use serde_json::Value;

use super::super::shapes::{answer, array, datetime, field, id, nullable, plain};
use super::super::vocabulary::open;
use super::{archived_at, times};

pub(super) fn conversation() -> Value {
    let about = vec![
        field("type", open(conversation::Type::NAME), "The kind of resource."),
        field("id", plain(), "The resource's id."),
    ];
    let people = format!("The ids of the {MIN_PARTICIPANTS} to {MAX_PARTICIPANTS} people who write and read in it.");
    let last = "When the newest message was written; null before the first one.";
    let mut members = vec![
        field("id", id::<ConversationKind>(), "The conversation's id."),
        field("title", plain(), &format!("What people call it, 1 to {TITLE_CHARS} characters.")),
        field("about", nullable(answer(about, vec![])), "What it is about; null for nothing in particular."),
        field("participant_ids", array(&id::<EmployeeKind>()), &people),
        field("last_message_at", nullable(datetime()), last),
    ];
    let [created_at, _] = times();
    members.push(created_at);
    members.push(field("updated_at", datetime(), "When it last changed; messages do not count."));
    members.push(archived_at());
    answer(members, vec![])
}

pub(super) fn message() -> Value {
    let body = format!("What was written, in plain text of 1 to {} characters.", message::BODY_CHARS);
    let members = vec![
        field("id", id::<MessageKind>(), "The message's id."),
        field("conversation_id", id::<ConversationKind>(), "The conversation that it was written in."),
        field("author_id", id::<EmployeeKind>(), "The person who wrote it."),
        field("body", plain(), &body),
        field("created_at", datetime(), "When it was written."),
    ];
    answer(members, vec![])
}

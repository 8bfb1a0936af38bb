//! Conversations and their messages (decision G).

use candor_domain::access::{Access, Permission};
use candor_domain::conversation::{self, Conversation, Message, message};
use candor_domain::event::EventData;
use candor_domain::id::{ConversationId, ConversationKind, Kind, MessageKind};
use candor_service::usecases::conversations;
use serde_json::{Value, json};

use crate::contract::route::{EventFamily, Route, RouteGroup, handlers};
use crate::contract::schema::shapes::Member;
use crate::contract::schema::words::{enum_member, sort};
use crate::contract::schema::{AT, EMPLOYEE_ID, MANAGER_ID, OBJECTIVE_ID, Schema, body_of, resource};

const ROUTES: &[Route] = &[
    Route::get("/conversations", Access::scope(Permission::ConversationsRead), list)
        .with_name("listConversations", "List conversations")
        .description(
            "Lists conversations by the time of their newest message, newest first. A conversation without \
             messages is sorted by its creation time. Archived ones are listed only on request.",
        )
        .lists(&CONVERSATION, |input| drop(conversation::Filter::read(input))),
    Route::post("/conversations", Access::scope(Permission::ConversationsWrite), create)
        .with_name("createConversation", "Create a conversation")
        .description(
            "Creates a conversation of 2 to 20 people. It may be about one resource. For a key that acts for a \
             person, that person must be a participant.",
        )
        .takes(&CONVERSATION_CREATE)
        .creates(&CONVERSATION),
    Route::get("/conversations/{id}", Access::scope(Permission::ConversationsRead), get)
        .with_name("getConversation", "Get a conversation")
        .description("Returns one conversation without its messages. It may be archived.")
        .answers(&CONVERSATION),
    Route::patch("/conversations/{id}", Access::scope(Permission::ConversationsWrite), update)
        .with_name("updateConversation", "Change the title and the participants of a conversation")
        .description(
            "Changes the title and the participants. `about` is immutable. 409 if the conversation is archived.",
        )
        .takes(&CONVERSATION_UPDATE)
        .answers(&CONVERSATION),
    Route::post("/conversations/{id}/archive", Access::scope(Permission::ConversationsWrite), archive)
        .with_name("archiveConversation", "Archive a conversation")
        .description(
            "Archives a conversation permanently. It stays readable, but accepts no messages and no changes. \
             409 if it is already archived.",
        )
        .answers(&CONVERSATION),
    Route::get("/conversations/{id}/messages", Access::scope(Permission::ConversationsRead), list_messages)
        .with_name("listMessages", "List the messages of a conversation")
        .description("Lists the messages of a conversation, newest first. The conversation may be archived.")
        .lists(&MESSAGE, |input| drop(message::Filter::read(ConversationId::from_bytes([0; 16]), input))),
    Route::post("/conversations/{id}/messages", Access::scope(Permission::ConversationsWrite), create_message)
        .with_name("createMessage", "Add a message to a conversation")
        .description(
            "Adds an immutable message and notifies the other participants. 409 if the conversation is \
             archived. A key that acts for a person can write only as that person.",
        )
        .takes(&MESSAGE_CREATE)
        .creates(&MESSAGE),
    Route::get(
        "/conversations/{id}/messages/{message_id}",
        Access::scope(Permission::ConversationsRead),
        get_message,
    )
    .with_name("getMessage", "Get one message of a conversation")
    .description("Returns one message of the conversation.")
    .answers(&MESSAGE),
];

/// The routes of conversations.
pub(crate) const GROUP: RouteGroup = RouteGroup::new("Conversations", "Messages between a few people.", ROUTES)
    .id(ConversationKind::PREFIX)
    .second_id("message_id", MessageKind::PREFIX)
    .words(words)
    .events(&[
        EventFamily {
            carried: EventData::Conversation,
            name: "ConversationEvent",
            data: &CONVERSATION,
            about: "An event about a conversation.",
        },
        EventFamily {
            carried: EventData::Message,
            name: "MessageEvent",
            data: &MESSAGE,
            about: "A message was added to a conversation.",
        },
    ]);

handlers! {
    list => conversations::list(params);
    get => conversations::get(id);
    create => conversations::create(body);
    update => conversations::update(id, body);
    archive => conversations::archive(id);
    list_messages => conversations::messages(id, params);
    get_message => conversations::message(id, second_id);
    create_message => conversations::add(id, body);
}

pub(crate) const CONVERSATION: Schema =
    Schema::resource("Conversation", || resource::<Conversation, _>(conversation::Draft::read, vec![]))
        .example(example);
pub(crate) const MESSAGE: Schema =
    Schema::resource("Message", || resource::<Message, _>(|fields| message::Draft::read(fields, None), vec![]))
        .example(example_of_message);
const CONVERSATION_CREATE: Schema =
    Schema::new("ConversationCreate", || body_of::<Conversation, _>(conversation::Draft::read)).example(|| {
        json!({
            "title": "The second quarter", "about": {"type": "objective", "id": OBJECTIVE_ID},
            "participant_ids": [EMPLOYEE_ID, MANAGER_ID],
        })
    });
const CONVERSATION_UPDATE: Schema =
    Schema::new("ConversationUpdate", || body_of::<Conversation, _>(conversation::Patch::read))
        .example(|| json!({"title": "The third quarter"}));
const MESSAGE_CREATE: Schema =
    Schema::new("MessageCreate", || body_of::<Message, _>(|fields| message::Draft::read(fields, None)))
        .example(|| json!({"author_id": EMPLOYEE_ID, "body": "Weekends excepted?"}));

/// Example id of a conversation.
const CONVERSATION_ID: &str = "cnv_01KJPWD6M24DF9HWRAYHFSFV52";

fn words() -> Vec<Member> {
    vec![
        enum_member::<conversation::Type>("Kind of resource that a conversation can be about."),
        sort::<Conversation>(),
        sort::<Message>(),
    ]
}

fn example() -> Value {
    json!({
        "id": CONVERSATION_ID, "title": "The second quarter", "about": {"type": "objective", "id": OBJECTIVE_ID},
        "participant_ids": [EMPLOYEE_ID, MANAGER_ID], "last_message_at": AT, "created_at": AT, "updated_at": AT,
        "archived_at": null,
    })
}

fn example_of_message() -> Value {
    json!({
        "id": "msg_01KJPWD6M24DF9HWRAYHFSFV52", "conversation_id": CONVERSATION_ID, "author_id": EMPLOYEE_ID,
        "body": "Weekends excepted?", "created_at": AT,
    })
}

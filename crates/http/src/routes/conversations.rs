//! Conversations and their messages (decision G).

use candor_domain::access::Permission;
use candor_domain::conversation::{
    self, Conversation, MAX_PARTICIPANTS, MIN_PARTICIPANTS, Message, TITLE_CHARS, message,
};
use candor_domain::fields::Word;
use candor_domain::id::{ConversationId, ConversationKind, EmployeeKind, Kind, MessageKind};
use candor_service::Shell;
use candor_service::usecases::conversations;
use serde_json::{Value, json};

use crate::exchange::AuthenticatedRequest;
use crate::schema::shapes::{Member, answer, archived_at, array, datetime, field, id, nullable, plain, times};
use crate::schema::words::{of, open, sort};
use crate::schema::{AT, EMPLOYEE_ID, MANAGER_ID, OBJECTIVE_ID, Schema, body};
use crate::table::Access::Permission as Needs;
use crate::table::{EventFamily, Route, RouteGroup, Work};

const ROUTES: &[Route] = &[
    Route::get("/conversations", Needs(Permission::ConversationsRead), list)
        .named("listConversations", "List conversations")
        .about(
            "Lists conversations, those first in which somebody wrote last; one without messages counts from when it \
             began. Archived ones only where they are asked for.",
        )
        .lists(&CONVERSATION, |it| drop(conversation::Filter::read(it))),
    Route::post("/conversations", Needs(Permission::ConversationsWrite), create)
        .named("createConversation", "Begin a conversation")
        .about(
            "Begins a conversation of 2 to 20 people, perhaps about one resource. A key that acts for a person \
             begins those that the person takes part in.",
        )
        .takes(&CONVERSATION_CREATE)
        .creates(&CONVERSATION),
    Route::get("/conversations/{id}", Needs(Permission::ConversationsRead), get)
        .named("getConversation", "Get a conversation, also an archived one")
        .about("Answers one conversation without its messages, also an archived one.")
        .answers(&CONVERSATION),
    Route::patch("/conversations/{id}", Needs(Permission::ConversationsWrite), update)
        .named("updateConversation", "Change the title and the people of a conversation")
        .about("Changes the title and the people; what it is about is for good. 409 while it is archived.")
        .takes(&CONVERSATION_UPDATE)
        .answers(&CONVERSATION),
    Route::post("/conversations/{id}/archive", Needs(Permission::ConversationsWrite), archive)
        .named("archiveConversation", "Archive a conversation")
        .about(
            "Puts a conversation out of lists for good: it takes no more messages and changes, and can still be \
             read. 409 if it is archived already.",
        )
        .answers(&CONVERSATION),
    Route::get("/conversations/{id}/messages", Needs(Permission::ConversationsRead), list_messages)
        .named("listMessages", "List the messages of a conversation")
        .about("Lists the messages of a conversation, newest first, also of an archived one.")
        .lists(&MESSAGE, |it| drop(message::Filter::read(ConversationId::from_bytes([0; 16]), it))),
    Route::post("/conversations/{id}/messages", Needs(Permission::ConversationsWrite), create_message)
        .named("createMessage", "Write in a conversation")
        .about(
            "Adds a message, which never changes, and tells the other participants. 409 while the conversation is \
             archived. A key that acts for a person writes as that person only.",
        )
        .takes(&MESSAGE_CREATE)
        .creates(&MESSAGE),
    Route::get("/conversations/{id}/messages/{message_id}", Needs(Permission::ConversationsRead), get_message)
        .named("getMessage", "Get one message of a conversation")
        .about("Answers one message of the conversation.")
        .answers(&MESSAGE),
];

/// The routes of conversations.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::new("Conversations", "Where a few people write to each other.", ROUTES)
        .id(ConversationKind::PREFIX)
        .second_id("message_id", MessageKind::PREFIX)
        .words(words)
        .events(EventFamily {
            prefix: "conversation.message.",
            name: "MessageEvent",
            types: "MessageEventType",
            data: &MESSAGE,
            about: "Somebody wrote in a conversation.",
        });

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { conversations::list(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { conversations::get(shell, &it.call, it.id()?).await })
}

fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { conversations::create(shell, &it.call, it.body).await })
}

fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { conversations::update(shell, &it.call, it.id()?, it.body).await })
}

fn archive<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { conversations::archive(shell, &it.call, it.id()?).await })
}

fn list_messages<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { conversations::messages(shell, &it.call, it.id()?, it.params).await })
}

fn get_message<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { conversations::message(shell, &it.call, it.id()?, it.second_id()?).await })
}

fn create_message<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { conversations::add(shell, &it.call, it.id()?, it.body).await })
}

const CONVERSATION: Schema = Schema::resource("Conversation", conversation).example(example);
const MESSAGE: Schema = Schema::resource("Message", message).example(example_of_message);
const CONVERSATION_CREATE: Schema =
    Schema::new("ConversationCreate", || body(conversation::Draft::read)).example(|| {
        json!({
            "title": "The second quarter", "about": {"type": "objective", "id": OBJECTIVE_ID},
            "participant_ids": [EMPLOYEE_ID, MANAGER_ID],
        })
    });
const CONVERSATION_UPDATE: Schema = Schema::new("ConversationUpdate", || body(conversation::Patch::read))
    .example(|| json!({"title": "The third quarter"}));
const MESSAGE_CREATE: Schema = Schema::new("MessageCreate", || body(|fields| message::Draft::read(fields, None)))
    .example(|| json!({"author_id": EMPLOYEE_ID, "body": "Weekends excepted?"}));

/// The conversation of examples.
const CONVERSATION_ID: &str = "cnv_01KJPWD6M24DF9HWRAYHFSFV52";

fn words() -> Vec<Member> {
    vec![of::<conversation::Type>("What a conversation can be about."), sort::<Conversation>(), sort::<Message>()]
}

fn conversation() -> Value {
    let about = vec![
        field("type", open(conversation::Type::NAME), "The kind of resource."),
        field("id", plain(), "The resource's id."),
    ];
    let people = format!("The ids of the {MIN_PARTICIPANTS} to {MAX_PARTICIPANTS} people who write and read in it.");
    let last = "When the newest message was written; null before the first one.";
    let mut members = vec![
        field("id", id::<ConversationKind>(), "The conversation's id."),
        field("title", plain(), &format!("What people call it, 1 to {TITLE_CHARS} characters.")),
        field(
            "about",
            nullable(answer(about, vec![])),
            "What it is about; null for nothing, and for what the key does not see.",
        ),
        field("participant_ids", array(&id::<EmployeeKind>()), &people),
        field("last_message_at", nullable(datetime()), last),
    ];
    let [created_at, _] = times();
    members.push(created_at);
    members.push(field("updated_at", datetime(), "When it last changed; messages do not count."));
    members.push(archived_at());
    answer(members, vec![])
}

fn message() -> Value {
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

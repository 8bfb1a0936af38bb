//! Conversations and their messages (decision G).

use candor_domain::access::Permission;
use candor_service::{Shell, conversations};

use crate::exchange::AuthenticatedRequest;
use crate::openapi::queries;
use crate::table::Access::Permission as Needs;
use crate::table::{Route, Work};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/conversations", Needs(Permission::ConversationsRead), list)
        .named("listConversations", "List conversations")
        .with(&queries::CONVERSATIONS)
        .answers("ConversationList"),
    Route::post("/conversations", Needs(Permission::ConversationsWrite), create)
        .named("createConversation", "Begin a conversation")
        .takes("ConversationCreate")
        .creates("Conversation"),
    Route::get("/conversations/{id}", Needs(Permission::ConversationsRead), get)
        .named("getConversation", "Get a conversation, also an archived one")
        .answers("Conversation"),
    Route::patch("/conversations/{id}", Needs(Permission::ConversationsWrite), update)
        .named("updateConversation", "Change the title and the people of a conversation")
        .takes("ConversationUpdate")
        .answers("Conversation"),
    Route::post("/conversations/{id}/archive", Needs(Permission::ConversationsWrite), archive)
        .named("archiveConversation", "Archive a conversation")
        .answers("Conversation"),
    Route::get("/conversations/{id}/messages", Needs(Permission::ConversationsRead), messages)
        .named("listMessages", "List the messages of a conversation")
        .with(&queries::MESSAGES)
        .answers("MessageList"),
    Route::post("/conversations/{id}/messages", Needs(Permission::ConversationsWrite), add)
        .named("createMessage", "Write in a conversation")
        .takes("MessageCreate")
        .creates("Message"),
    Route::get("/conversations/{id}/messages/{message_id}", Needs(Permission::ConversationsRead), message)
        .named("getMessage", "Get one message of a conversation")
        .answers("Message"),
];

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

fn messages<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { conversations::messages(shell, &it.call, it.id()?, it.params).await })
}

fn message<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { conversations::message(shell, &it.call, it.id()?, it.second_id()?).await })
}

fn add<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { conversations::add(shell, &it.call, it.id()?, it.body).await })
}

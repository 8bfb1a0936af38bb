//! Conversations and their messages (decision G).

use candor_domain::assignment::Assignment;
use candor_domain::conversation::{About, Conversation, Draft, Filter, Message, Patch, References, message};
use candor_domain::fields::Reference;
use candor_domain::id::{ConversationId, EmployeeKind, MessageId};
use candor_domain::json::Object;
use candor_domain::objective::Objective;
use candor_domain::observation::Observation;
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::summary::Summary;
use candor_domain::time::Timestamp;
use candor_port_storage::{StorageExt, Versioned, Write};
use candor_tables::rows;

use crate::change::resource::PendingChange;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::or_not_found;
use crate::context::{expand, visible};

/// `GET /conversations`: lists conversations that the caller sees, filtered in the store.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let mut request = params.parse(Filter::read)?;
    if !visible::may_filter_by(context, request.filter.about.and_then(About::linked_id)).await? {
        request.filter.about = Some(About::NOTHING);
    }
    let listing = rows::conversations::list(&request.filter, context.caller.viewer(), request.sort, &request.page);
    expand::plain_page(context, &request, listing).await
}

/// `GET /conversations/{id}`: returns a conversation, also an archived one.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(context: &RequestContext, id: ConversationId) -> Result<Reply, Error> {
    expand::plain(context, &visible::require::<Conversation>(context, id).await?).await
}

/// `POST /conversations`: creates a conversation.
///
/// # Errors
/// Invalid fields, a caller's person who is not a participant, invalid references; see [`Error`].
pub async fn create(context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let draft = Draft::parse(body);
    let decide = async |at: Timestamp| {
        let draft = context.validate_create(|| draft.clone())?;
        draft.may_be_begun_by(&context.caller)?;
        let (mut found, about) = tokio::try_join!(
            references(context, &draft.participants),
            load_subject(context, draft.about.as_ref().and_then(|about| about.reference())),
        )?;
        found.about = about;
        Ok(PendingChange::new(Conversation::create(context.services.id(at), draft, &found, at)?))
    };
    context.create(decide).await
}

/// `PATCH /conversations/{id}`: updates title or participants of a conversation.
///
/// # Errors
/// Not found, invalid fields, archived, unknown people, a key of a person that removes another participant; see
/// [`Error`].
pub async fn update(context: &RequestContext, id: ConversationId, body: Object) -> Result<Reply, Error> {
    let update = Patch::parse(body);
    let decide = async |at: Timestamp| {
        let conversation = visible::require::<Conversation>(context, id).await?;
        let visible_conversation = visible::as_shown(context, &conversation).await?;
        let patch =
            context.validate_update(conversation.version, || update.resolve_with(&visible_conversation.value))?;
        let references = references(context, patch.participants.as_deref().unwrap_or_default()).await?;
        let decision = conversation.value.update(&context.caller, &patch, &references, at)?;
        Ok((conversation, decision.map(PendingChange::new)))
    };
    context.update(decide).await
}

/// `POST /conversations/{id}/archive`: archives a conversation.
///
/// # Errors
/// Not found, archived already; see [`Error`].
pub async fn archive(context: &RequestContext, id: ConversationId) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let conversation = visible::require::<Conversation>(context, id).await?;
        context.validate_action(conversation.version)?;
        let decision = conversation.value.archive(at)?;
        Ok((conversation, PendingChange::new(decision)))
    };
    context.act(decide).await
}

/// `GET /conversations/{id}/messages`: lists messages, also those of an archived conversation. A key of a person sees
/// only the messages since the person was added.
///
/// # Errors
/// Not found, invalid parameters; see [`Error`].
pub async fn messages(context: &RequestContext, id: ConversationId, params: Params) -> Result<Reply, Error> {
    let conversation = visible::require::<Conversation>(context, id).await?;
    let mut request = params.parse(|params| message::Filter::read(id, params))?;
    request.filter.created_at = conversation.value.narrow(&context.caller, request.filter.created_at);
    let listing = rows::conversations::messages(id, &request.filter, request.sort, &request.page);
    expand::plain_page(context, &request, listing).await
}

/// `GET /conversations/{id}/messages/{message_id}`: returns one message. Loads the conversation only for keys of a
/// person: other keys see every conversation, and each message belongs to an existing conversation.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn message(context: &RequestContext, id: ConversationId, message: MessageId) -> Result<Reply, Error> {
    let mut first_time = None;
    if context.caller.acts_for().is_some() {
        first_time = visible::require::<Conversation>(context, id).await?.value.seen_from(&context.caller);
    }
    let message_row = context.services.store.row::<Message>(context.caller.tenant, message).await?;
    let is_shown = |row: &Versioned<Message>| {
        row.value.conversation_id == id && first_time.is_none_or(|first_time| row.value.created_at >= first_time)
    };
    expand::plain(context, &or_not_found(message_row.filter(is_shown))?).await
}

/// `POST /conversations/{id}/messages`: adds a message to a conversation.
///
/// # Errors
/// Not found, invalid fields, another author than the caller's person, archived, an author who is not a
/// participant or was erased; see [`Error`].
pub async fn add(context: &RequestContext, id: ConversationId, body: Object) -> Result<Reply, Error> {
    let draft = message::Draft::parse(body, &context.caller);
    let decide = async |at: Timestamp| {
        let conversation = visible::require::<Conversation>(context, id).await?;
        let draft = context.validate_update(conversation.version, || draft.clone())?;
        draft.may_be_written_by(&context.caller)?;
        // A key that acts for a person needs no check of its author: an erasure revokes the keys of the person.
        if let Some(author) = draft.author().filter(|_| context.caller.acts_for().is_none()) {
            let author = context.services.store.row::<Employee>(context.caller.tenant, author).await?;
            author.map_or(Ok(()), |author| author.value.must_exist("create"))?;
        }
        let decision = conversation.value.add(context.services.id(at), draft, at)?;
        let message_write = Write::MessageAdded(id, decision.state.created_at);
        Ok(PendingChange::new(decision).with_writes([message_write]))
    };
    context.create(decide).await
}

/// Returns the named people who exist.
async fn references(context: &RequestContext, named: &[Reference<EmployeeKind>]) -> Result<References, Error> {
    let ids: Vec<_> = named.iter().filter_map(|message| message.id).collect();
    let people = context.services.store.rows::<Employee>(context.caller.tenant, &ids).await?;
    Ok(References { people: people.into_iter().map(|person| person.value.id).collect(), about: None })
}

/// Returns the wanted subject of a conversation if it exists and the caller sees it.
async fn load_subject(context: &RequestContext, wanted: Option<About>) -> Result<Option<About>, Error> {
    let (store, tenant) = (&context.services.store, context.caller.tenant);
    let is_there = match wanted {
        None => false,
        Some(About::Employee(id)) => store.row::<Employee>(tenant, id).await?.is_some(),
        Some(About::Observation(id)) => visible::find::<Observation>(context, id).await?.is_some(),
        Some(About::Assignment(id)) => visible::find::<Assignment>(context, id).await?.is_some(),
        Some(About::Summary(id)) => visible::find::<Summary>(context, id).await?.is_some(),
        Some(About::Objective(id)) => visible::find::<Objective>(context, id).await?.is_some(),
    };
    Ok(wanted.filter(|_| is_there))
}

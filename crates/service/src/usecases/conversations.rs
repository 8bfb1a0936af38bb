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
use candor_port_storage::{StorageExt, Write};
use candor_tables::rows;

use crate::context::call::Call;
use crate::context::change::Planned;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::shell::{Shell, or_not_found};
use crate::context::{expand, visible};

/// `GET /conversations`: what the caller sees, filtered in the store.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    let mut request = Filter::parse(params)?;
    if !visible::may_filter_by(shell, call, request.filter.about.and_then(About::linked_id)).await? {
        request.filter.about = Some(About::NOTHING);
    }
    let listing = rows::conversations::list(&request.filter, call.caller.viewer(), request.sort, &request.page);
    expand::plain_page(shell, call, &request, listing).await
}

/// `GET /conversations/{id}`, archived ones included.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(shell: &Shell, call: &Call, id: ConversationId) -> Result<Reply, Error> {
    expand::plain(shell, call, &visible::require::<Conversation>(shell, call, id).await?).await
}

/// `POST /conversations`
///
/// # Errors
/// Invalid fields, a person who would not take part, references that do not hold; see [`Error`].
pub async fn create(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let draft = call.admit_new(|| Draft::parse(body.clone()))?;
        draft.may_be_begun_by(&call.caller)?;
        let (mut found, about) = tokio::try_join!(
            references(shell, call, &draft.participants),
            about(shell, call, draft.about.as_ref().and_then(|it| it.wanted())),
        )?;
        found.about = about;
        Ok(Planned::of(Conversation::create(shell.id(at), draft, &found, at)?))
    };
    shell.create(call, "/conversations", decide).await
}

/// `PATCH /conversations/{id}`
///
/// # Errors
/// Not found, invalid fields, archived, people who are not there; see [`Error`].
pub async fn update(shell: &Shell, call: &Call, id: ConversationId, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let stored = visible::require::<Conversation>(shell, call, id).await?;
        let shown = visible::as_shown(shell, call, &stored).await?;
        let patch = call.admit(stored.version, || Patch::parse(body.clone(), &shown.value))?;
        let found = references(shell, call, patch.participants.as_deref().unwrap_or_default()).await?;
        let decision = stored.value.update(&patch, &found, at)?;
        Ok((stored, decision.map(Planned::of)))
    };
    shell.update(call, decide).await
}

/// `POST /conversations/{id}/archive`
///
/// # Errors
/// Not found, archived already; see [`Error`].
pub async fn archive(shell: &Shell, call: &Call, id: ConversationId) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let stored = visible::require::<Conversation>(shell, call, id).await?;
        call.admit_act(stored.version)?;
        let decision = stored.value.archive(at)?;
        Ok((stored, Planned::of(decision)))
    };
    shell.act(call, decide).await
}

/// `GET /conversations/{id}/messages`, those of an archived one included.
///
/// # Errors
/// Not found, invalid parameters; see [`Error`].
pub async fn messages(shell: &Shell, call: &Call, id: ConversationId, params: Params) -> Result<Reply, Error> {
    visible::require::<Conversation>(shell, call, id).await?;
    let request = message::Filter::parse(id, params)?;
    let listing = rows::conversations::messages(id, &request.filter, request.sort, &request.page);
    expand::plain_page(shell, call, &request, listing).await
}

/// `GET /conversations/{id}/messages/{message_id}`. Who acts for nobody in particular sees every conversation, and a message
/// is always of one that is there.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn message(shell: &Shell, call: &Call, id: ConversationId, message: MessageId) -> Result<Reply, Error> {
    if call.caller.acts_for().is_some() {
        visible::require::<Conversation>(shell, call, id).await?;
    }
    let stored = shell.store.row::<Message>(call.caller.tenant, message).await?;
    expand::plain(shell, call, &or_not_found(stored.filter(|it| it.value.conversation_id == id))?).await
}

/// `POST /conversations/{id}/messages`
///
/// # Errors
/// Not found, invalid fields, another person than the caller acts for, archived, an author who takes no part; see
/// [`Error`].
pub async fn add(shell: &Shell, call: &Call, id: ConversationId, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let stored = visible::require::<Conversation>(shell, call, id).await?;
        let draft = call.admit(stored.version, || message::Draft::parse(body.clone(), &call.caller))?;
        draft.may_be_written_by(&call.caller)?;
        let decision = stored.value.add(shell.id(at), draft, at)?;
        let added = Write::MessageAdded(id, decision.state.created_at);
        Ok(Planned::of(decision).writing([added]))
    };
    shell.create(call, &format!("/conversations/{id}/messages"), decide).await
}

/// Those of the people that a body names who are there.
async fn references(shell: &Shell, call: &Call, named: &[Reference<EmployeeKind>]) -> Result<References, Error> {
    let ids: Vec<_> = named.iter().filter_map(|it| it.id).collect();
    let people = shell.store.rows::<Employee>(call.caller.tenant, &ids).await?;
    Ok(References { people: people.into_iter().map(|it| it.value.id).collect(), about: None })
}

/// What a conversation is to be about, if it is there and the caller sees it.
async fn about(shell: &Shell, call: &Call, wanted: Option<About>) -> Result<Option<About>, Error> {
    let (store, tenant) = (&shell.store, call.caller.tenant);
    let is_there = match wanted {
        None => false,
        Some(About::Employee(id)) => store.row::<Employee>(tenant, id).await?.is_some(),
        Some(About::Observation(id)) => visible::find::<Observation>(shell, call, id).await?.is_some(),
        Some(About::Assignment(id)) => visible::find::<Assignment>(shell, call, id).await?.is_some(),
        Some(About::Summary(id)) => visible::find::<Summary>(shell, call, id).await?.is_some(),
        Some(About::Objective(id)) => visible::find::<Objective>(shell, call, id).await?.is_some(),
    };
    Ok(wanted.filter(|_| is_there))
}

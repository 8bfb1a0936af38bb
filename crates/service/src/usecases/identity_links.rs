//! Links of accounts at identity providers to people (decision B9).

use candor_domain::audit::AuditDraft;
use candor_domain::id::{EmployeeId, IdentityProviderId};
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Require, Row, StorageExt, Version, Versioned, Write};
use candor_sign_in::{IdentityLink, IdentityLinkDraft, IdentityProvider, StoredLinks};
use candor_tables::rows;

use crate::change::ChangePlan;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{or_not_found, render};

/// `GET /identity-providers/{id}/links`: lists the links of a provider.
///
/// # Errors
/// Not found, invalid parameters, no admin-level key of the organization; see [`Error`].
pub async fn list(context: &RequestContext, id: IdentityProviderId, mut params: Params) -> Result<Reply, Error> {
    context.find_stored::<IdentityProvider>(id).await?;
    let request = IdentityLink::read_list(id, &mut params);
    let request = params.finish(request)?;
    let listing = rows::identity_links::list(id, request.sort, &request.page);
    expand::plain_page(context, &request, listing).await
}

/// `POST /identity-providers/{id}/links`: links an account to a person, or confirms the link.
///
/// # Errors
/// Not found, invalid fields, no admin-level key of the organization, more access than the caller has, an unknown or
/// deactivated person, an account of another person, a person with another account; see [`Error`].
pub async fn put(context: &RequestContext, id: IdentityProviderId, body: Object) -> Result<Reply, Error> {
    let draft = IdentityLinkDraft::parse(body);
    let tenant = context.caller.tenant;
    let plan = async |at: Timestamp| {
        let provider = context.find_stored::<IdentityProvider>(id).await?;
        let draft = context.validate_update(provider.version, || draft.clone())?;
        let (mut person, mut link_of_person) = (None, None);
        if let Some(person_id) = draft.person() {
            person = context.services.store.row::<Employee>(tenant, person_id).await?;
            link_of_person = find_link_of(context, id, person_id).await?;
        }
        let account = IdentityLink::id_of(id, &draft.subject);
        let link_of_account = context.services.store.row::<IdentityLink>(tenant, account).await?;
        let stored_links = StoredLinks {
            of_account: link_of_account.as_ref().map(|link| &link.value),
            of_person: link_of_person.as_ref().map(|link| &link.value),
        };
        let person = person.as_ref();
        let decision = IdentityLink::create(
            &provider.value,
            &draft,
            person.map(|person| &person.value),
            stored_links,
            &context.caller,
            at,
        )?;
        let Some((link, audit)) = decision else {
            let body = link_of_account.as_ref().map(|link| render(&link.value)).transpose()?;
            return Ok(ChangePlan::Unchanged(Reply::ok(body.unwrap_or_default(), None)));
        };
        let reply = Reply::ok(render(&link)?, None);
        // The commit fails if the provider or the person changed: the provider could give more access than the caller
        // may grant, and the person could have left.
        let requires = [
            Some(Require::has_version::<IdentityProvider>(id, provider.version)),
            person.map(|person| Require::has_version::<Employee>(person.value.id, person.version)),
        ];
        let version = link_of_account.as_ref().map(|link| link.version);
        let change = ChangeSet {
            requires: requires.into_iter().flatten().collect(),
            ..link_change(context, link, version, audit, at)
        };
        Ok(ChangePlan::Commit(Box::new(change), reply))
    };
    let reply = context.change(plan).await?;
    context.services.auth.forget_people_of(context.caller.tenant.organization);
    context.services.tokens.forget_rights();
    Ok(reply)
}

/// `DELETE /identity-providers/{id}/links/{employee_id}`: removes the link of a person.
///
/// # Errors
/// Not found, no admin-level key of the organization; see [`Error`].
pub async fn remove(context: &RequestContext, id: IdentityProviderId, person: EmployeeId) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let provider = context.find_stored::<IdentityProvider>(id).await?;
        let link = or_not_found(find_link_of(context, id, person).await?)?;
        context.validate_action(provider.version)?;
        let employee = context.find_stored::<Employee>(person).await?;
        let (removed_link, audit) = link.value.remove(&employee.value, at);
        let change = link_change(context, removed_link, Some(link.version), audit, at);
        Ok(ChangePlan::Commit(Box::new(change), Reply::no_content()))
    };
    let reply = context.change(plan).await?;
    context.services.auth.forget_people_of(context.caller.tenant.organization);
    context.services.tokens.forget_rights();
    Ok(reply)
}

/// Returns the link of a person at a provider.
async fn find_link_of(
    context: &RequestContext,
    provider: IdentityProviderId,
    person: EmployeeId,
) -> Result<Option<Versioned<IdentityLink>>, Error> {
    let key = IdentityLink::person_key(provider, person);
    Ok(context.services.store.row_by(context.caller.tenant, rows::identity_links::BY_PERSON, key).await?)
}

/// Returns the change set that writes a link.
fn link_change(
    context: &RequestContext,
    link: IdentityLink,
    seen: Option<Version>,
    audit: AuditDraft,
    at: Timestamp,
) -> ChangeSet {
    let entry = context.audit(context.services.id(at), audit, at.max(link.updated_at));
    ChangeSet { writes: vec![Write::put(&Row { value: link, seen })], ..ChangeSet::new(entry) }
}

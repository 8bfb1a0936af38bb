//! Creation, replacement, PATCH and removal of users.

use candor_domain::id::EmployeeId;
use candor_domain::json::Object;
use candor_domain::text::address_key;
use candor_domain::time::Timestamp;
use candor_provisioning::Connector;
use candor_provisioning::connector::SyncIssue;
use candor_provisioning::{
    IdentifierHolders, ProvisionedUser, ProvisioningInput, ScimUser, WriteKind, admit_match,
    remove as decide_removal,
};
use candor_scim::{PatchOperation, Projection, ScimError, UserDocument};

use super::arrival::{Arrival, new_names};
use super::change::{ScimChange, StoredRows, version_after};
use super::load::ResolvedReferences;
use super::plan::{Attempt, WritePlan};
use super::view::{LoadedUser, UserVersion, resource, stored_user};
use super::{LoadedConnector, ScimContext};
use crate::change::ChangePlan;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::services::render;
use crate::usecases::connectors::provider;

/// Seconds after which an identity provider may send changes to a paused connector again.
const PAUSED_SECONDS: u32 = 300;

/// Body of a change of a stored user.
enum ChangeBody {
    Replacement(UserDocument),
    Operations(Vec<PatchOperation>),
}

impl ChangeBody {
    const fn kind(&self) -> WriteKind {
        match self {
            Self::Replacement(_) => WriteKind::Replace,
            Self::Operations(_) => WriteKind::Change,
        }
    }
}

/// `POST /Users`: creates, adopts or restores a person.
///
/// # Errors
/// See [`Error`].
pub async fn create(context: &ScimContext, body: Object, projection: &Projection) -> Result<Reply, Error> {
    let connector = context.load_for_change().await?;
    let document = UserDocument::from_body(body)?;
    let user = ScimUser::read(&document, &connector.mappings, None)?;
    let plan = async |Attempt { at, assumes_new }: Attempt| {
        let (holders, matched) = if assumes_new {
            (IdentifierHolders::default(), None)
        } else {
            let holders = context.holders(&user, None).await?;
            (holders, context.candidates(&user, holders).await?.person(&user)?)
        };
        let loaded_user = match matched {
            Some(id) => context.load_person(id).await?,
            None => None,
        };
        if let Some(existing_user) = &loaded_user {
            let link = existing_user.link.as_ref().map(|link| &link.value);
            admit_match(&user, &existing_user.person.value, link, context.connector)?;
        }
        // A known person keeps the names that the document omits.
        let known_person = loaded_user.as_ref().map(|user| &user.person.value);
        let user = ScimUser::read(&document, &connector.mappings, known_person)?;
        let id = matched.unwrap_or_else(|| context.services().id(at));
        let write = Write { kind: WriteKind::Create, user: &user, id, stored: loaded_user.as_ref(), holders };
        context.plan(&connector, &write, projection, at).await
    };
    // A provider looks for a person before it creates them, so the first attempt assumes a new person. If an
    // identifier is taken, the commit fails, and the next attempt looks for the holders. The first attempt looks for
    // them too if the `userName` is not the address: another person may have it as their address, which no unique key
    // prevents.
    let assumes_new = user.user_name_key() == address_key(&user.email);
    context.run(&connector.connector, assumes_new, plan).await
}

/// `PUT /Users/{id}`: replaces the managed attributes of a person.
///
/// # Errors
/// See [`Error`].
pub async fn replace(
    context: &ScimContext,
    id: EmployeeId,
    body: Object,
    projection: &Projection,
) -> Result<Reply, Error> {
    let body = ChangeBody::Replacement(UserDocument::from_body(body)?);
    context.change(id, &body, projection).await
}

/// `PATCH /Users/{id}`: changes attributes of a person, all of the operations or none.
///
/// # Errors
/// See [`Error`].
pub async fn patch(
    context: &ScimContext,
    id: EmployeeId,
    body: &Object,
    projection: &Projection,
) -> Result<Reply, Error> {
    let body = ChangeBody::Operations(PatchOperation::parse_all(body)?);
    context.change(id, &body, projection).await
}

/// `DELETE /Users/{id}`: deactivates a person. The connector does not see the person any more.
///
/// # Errors
/// See [`Error`].
pub async fn remove(context: &ScimContext, id: EmployeeId) -> Result<Reply, Error> {
    let connector = context.load_for_change().await?;
    let plan = async |Attempt { at, .. }: Attempt| {
        let loaded_user = context.load_user(id).await?;
        let Some(link) = loaded_user.live_link(context.connector) else {
            return Err(ScimError::not_found().into());
        };
        context.check_precondition(&loaded_user)?;
        let other = context.other_admin(&loaded_user.person.value).await?;
        let removal = decide_removal(&loaded_user.person.value, link, other.is_some(), at)?;
        let mut change = ScimChange::new(context, &connector.connector, at).await?;
        if removal.decision.is_some() {
            change.count_deactivation(Some(link)).await?;
        }
        change.add_removal(removal.decision, removal.link, &StoredRows::of_user(Some(&loaded_user))).await?;
        change.require(other);
        let change = change.finish(Some(id), vec![]).await?.ok_or_else(no_change)?;
        Ok(WritePlan::commit(change, Reply::no_content(), None))
    };
    context.run(&connector.connector, false, plan).await
}

fn no_change() -> Error {
    Error::Bug("a SCIM change has no decision".to_owned())
}

pub(super) fn paused_error() -> ScimError {
    let detail = "The connector is paused, because many people were deactivated within an hour. An administrator must \
                  check the assignments and resume the connector.";
    ScimError { retry_after: Some(PAUSED_SECONDS), ..ScimError::with_status(503, detail) }
}

/// A write about one person.
struct Write<'a> {
    kind: WriteKind,
    user: &'a ScimUser,
    id: EmployeeId,
    stored: Option<&'a LoadedUser>,
    holders: IdentifierHolders,
}

impl ScimContext {
    /// Loads the connector for a change, unless it is paused.
    async fn load_for_change(&self) -> Result<LoadedConnector, Error> {
        let loaded_connector = self.load_connector().await?;
        let is_accepted = loaded_connector.connector.accepts_changes(self.tenant().environment);
        if is_accepted { Ok(loaded_connector) } else { Err(paused_error().into()) }
    }

    async fn change(&self, id: EmployeeId, body: &ChangeBody, projection: &Projection) -> Result<Reply, Error> {
        let connector = self.load_for_change().await?;
        let plan = async |Attempt { at, .. }: Attempt| {
            let loaded_user = self.load_user(id).await?;
            self.check_precondition(&loaded_user)?;
            let person = &loaded_user.person.value;
            let department = loaded_user.department.as_deref();
            let link = loaded_user.live_link(self.connector);
            let form = stored_user(self, &connector.mappings, person, link, department);
            let document = match body {
                ChangeBody::Replacement(document) => document.clone(),
                ChangeBody::Operations(operations) => form.apply_operations(operations)?,
            };
            let user = ScimUser::read(&document, &connector.mappings, Some(person))?;
            let holders = self.holders(&user, Some(&loaded_user)).await?;
            let write = Write { kind: body.kind(), user: &user, id, stored: Some(&loaded_user), holders };
            self.plan(&connector, &write, projection, at).await
        };
        self.run(&connector.connector, false, plan).await
    }

    /// Decides a write and builds its change set.
    async fn plan(
        &self,
        connector: &LoadedConnector,
        write: &Write<'_>,
        projection: &Projection,
        at: Timestamp,
    ) -> Result<WritePlan, Error> {
        let person_before = write.stored.map(|stored| &stored.person.value);
        let references = self.resolve(write.user, write.id, person_before, at).await?;
        let other_admin = match person_before {
            Some(person) if write.user.active == Some(false) => self.other_admin(person).await?,
            Some(_) | None => None,
        };
        let confirmed_issues = self.confirmed_adoptions(person_before).await?;
        let issues: Vec<_> = confirmed_issues.iter().map(|issue| issue.value.clone()).collect();
        let input = write.input(&connector.connector, &references, (other_admin.is_some(), &issues), at);
        let confirmation = input.confirmation().map(|issue| issue.id);
        let provision = input.decide()?;
        let deactivates = person_before.is_some_and(|person| provision.deactivates(person));
        let reply = self.reply(connector, write, &provision, &references, projection)?;
        let mut change = ScimChange::new(self, &connector.connector, at).await?;
        let external_id = write.user.external_id.as_deref();
        let mut has_more = false;
        if let (true, Some(person)) = (provision.is_unchanged(), person_before) {
            has_more = change.resolve_waiting(person, external_id, references.position.as_ref()).await?;
            change.end_issues(write.id, &provision.issues).await?;
            for issue in provision.issues {
                provider::report_refusal(&self.request, &connector.connector, issue).await?;
            }
            return Ok(match change.finish_unchanged() {
                Some(change) => {
                    let arrival = has_more.then(|| Arrival::of_manager(write.id));
                    WritePlan::commit(change, reply, arrival)
                }
                None => WritePlan { change: ChangePlan::Unchanged(reply), arrival: None },
            });
        }
        if deactivates {
            change.count_deactivation(write.stored.and_then(|stored| stored.live_link(self.connector))).await?;
        }
        change.add_user(&provision, &StoredRows::of_user(write.stored), &references).await?;
        change.require(other_admin.filter(|_| deactivates));
        change.use_confirmation(confirmed_issues.into_iter().find(|issue| Some(issue.value.id) == confirmation));
        let link = write.stored.and_then(|stored| stored.live_link(self.connector));
        // A PATCH without a new reference need not search: the next creation or replacement finds people who wait.
        let may_be_awaited =
            write.kind != WriteKind::Change || !new_names(person_before, link, &provision).is_empty();
        if let Some(person) = provision.person(person_before).filter(|_| may_be_awaited) {
            has_more = change.resolve_waiting(person, external_id, references.position.as_ref()).await?;
        }
        let arrival = Arrival::of_change(person_before, link, &provision, has_more);
        let change =
            change.finish(person_before.map(|person| person.id), provision.issues).await?.ok_or_else(no_change)?;
        Ok(WritePlan::commit(change, reply, arrival))
    }

    /// Renders the user after a write.
    fn reply(
        &self,
        connector: &LoadedConnector,
        write: &Write<'_>,
        provisioned: &ProvisionedUser,
        references: &ResolvedReferences,
        projection: &Projection,
    ) -> Result<Reply, Error> {
        let person_before = write.stored.map(|stored| &stored.person.value);
        let person = provisioned.person(person_before).ok_or_else(no_change)?;
        let is_same =
            person_before.is_some_and(|person_before| person_before.department_id == person.department_id);
        let stored_name = write.stored.and_then(|stored| stored.department.as_deref());
        let name = if is_same { stored_name } else { references.department_name.as_deref() };
        let name = name.filter(|_| person.department_id.is_some());
        let stored_version = write.stored.map(|stored| stored.person.shown_version());
        let stored_link = write.stored.and_then(|stored| stored.link.as_ref()).map(|link| link.version);
        let is_changed = !provisioned.is_unchanged();
        let link_version = version_after(stored_link, is_changed).0.cast_unsigned();
        let version = UserVersion {
            person: version_after(stored_version, !provisioned.decisions.is_empty()),
            link: link_version,
        };
        let link = Some(&provisioned.link);
        let form = stored_user(self, &connector.mappings, person, link, name);
        let body = render(&projection.apply(resource(self, &form, link, version)))?;
        let reply = match write.kind {
            WriteKind::Create => Reply::created(write.id.to_string(), body, Some(version.person)),
            WriteKind::Replace | WriteKind::Change => Reply::ok(body, Some(version.person)),
        };
        Ok(reply.with_etag_extra(version.link))
    }
}

impl Write<'_> {
    fn input<'a>(
        &'a self,
        connector: &'a Connector,
        references: &ResolvedReferences,
        (has_other_admin, issues): (bool, &'a [SyncIssue]),
        at: Timestamp,
    ) -> ProvisioningInput<'a> {
        ProvisioningInput {
            kind: self.kind,
            connector,
            user: self.user,
            id: self.id,
            person: self.stored.map(|stored| &stored.person.value),
            link: self.stored.and_then(|stored| stored.link.as_ref()).map(|link| &link.value),
            manager: references.manager,
            department: references.department.clone(),
            email_holder: self.holders.email,
            external_id_holder: self.holders.external_id,
            user_name_link: self.holders.user_name_link,
            external_id_link: self.holders.external_id_link,
            has_other_admin,
            issues,
            at,
        }
    }
}

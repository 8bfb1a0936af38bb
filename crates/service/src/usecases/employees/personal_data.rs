//! `GET /employees/{id}/personal-data`: all data about one person as lines (decision H2).

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use candor_domain::access::{Permission, Tenant};
use candor_domain::audit::{self, AuditDraft, AuditEntry};
use candor_domain::conversation::{self, Conversation, Message};
use candor_domain::decision::Resource;
use candor_domain::fields::StringEnum;
use candor_domain::id::EmployeeId;
use candor_domain::objective::Family;
use candor_domain::page::{PageRequest, Position, Sortable};
use candor_domain::params::Archived;
use candor_domain::people::Employee;
use candor_domain::people::personal_data::{
    DataSource, PersonalAuditEntry, PersonalDataEnd, PersonalDataRow, PersonalDataType, PersonalNotification,
};
use candor_domain::visibility::Viewer;
use candor_port_storage::{ChangeSet, StorageExt};
use candor_provisioning::connector::ScimLink;
use candor_tables::flat::Stored;
use candor_tables::listing::TypedListing;
use candor_tables::rows;
use serde::Serialize;
use serde_json::json;

use crate::context::error::Error;
use crate::context::export_permits::ExportPermit;
use crate::context::line_key::LineKey;
use crate::context::list;
use crate::context::person_data;
use crate::context::request::RequestContext;
use crate::context::services::Services;

/// Number of rows read at once. The largest rows have some 200 kB, so that at most 4 MB are in memory.
const PAGE: u16 = 20;

/// The data about one person. Lines are read as the client takes them.
pub struct PersonalData {
    services: Arc<Services>,
    tenant: Tenant,
    key: LineKey,
    person: EmployeeId,
    /// Ids of the person and of the API keys that act for the person, as actors of the audit log.
    actors: Vec<String>,
    stage: Stage,
    /// Position of the row of the stage that was read last.
    after: Option<Position>,
    /// Resources whose entries of the audit log are read before the next rows of the stage.
    targets: VecDeque<String>,
    /// Position of the entry about the first of `targets` that was read last.
    after_entry: Option<Position>,
    count: u64,
    permit: ExportPermit,
}

/// The lines that are read next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Type(PersonalDataType),
    /// Entries of the audit log by the actor with this index in `actors`.
    Actor(usize),
    Complete,
}

/// `GET /employees/{id}/personal-data`: begins the lines, and records the request in the audit log.
///
/// # Errors
/// Not found, no admin-level key of the organization, too many running exports; see [`Error`].
pub async fn begin(context: &RequestContext, person: EmployeeId) -> Result<PersonalData, Error> {
    let employee = check(context, person).await?;
    let tenant = context.caller.tenant;
    let permit = context.services.export_permits.take(tenant.organization).ok_or(Error::TooManyExports)?;
    let now = context.services.clock.now();
    let audit = AuditDraft::new(&employee, "employee.read_personal_data");
    let change = ChangeSet::new(context.audit(context.services.id(now), audit, now));
    context.services.save(tenant, change).await?;
    let keys = person_data::keys_of(&context.services, tenant, person).await?;
    let actors =
        std::iter::once(person.to_string()).chain(keys.iter().map(|key| key.value.id.to_string())).collect();
    Ok(PersonalData {
        services: Arc::clone(&context.services),
        tenant,
        key: LineKey::new(context, &[Permission::EmployeesRead, Permission::EmployeesErase]),
        person,
        actors,
        stage: Stage::Type(PersonalDataType::Employee),
        after: None,
        targets: VecDeque::new(),
        after_entry: None,
        count: 0,
        permit,
    })
}

/// `HEAD /employees/{id}/personal-data`: checks the request without beginning the lines.
///
/// # Errors
/// Not found, no admin-level key of the organization; see [`Error`].
pub async fn check(context: &RequestContext, person: EmployeeId) -> Result<Employee, Error> {
    let employee = context.find_stored::<Employee>(person).await?;
    context.authorize()?;
    Ok(employee.value)
}

impl PersonalData {
    /// Returns the next whole lines; `None` after the last line.
    ///
    /// # Errors
    /// [`Error::Refused`] if the key was revoked, has expired or lost its rights. Errors of the store. In both
    /// cases the answer ends without its last line.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        if self.stage != Stage::Complete {
            self.key.check(&self.services).await?;
        }
        // Ends with the page: a client that takes the page slowly keeps no turn.
        let _turn = self.permit.read_turn().await?;
        let mut text = vec![];
        while text.is_empty() {
            if let Some(target) = self.targets.front().cloned() {
                self.entries_about(target, &mut text).await?;
                continue;
            }
            match self.stage {
                Stage::Complete => return Ok(None),
                Stage::Type(kind) => {
                    let is_last = self.read(kind, &mut text).await?;
                    if is_last {
                        self.stage = stage_after(kind);
                        self.after = None;
                    }
                }
                Stage::Actor(index) => {
                    if let Some(actor) = self.actors.get(index).cloned() {
                        if self.actions(actor, &mut text).await? {
                            (self.stage, self.after) = (Stage::Actor(index + 1), None);
                        }
                    } else {
                        self.stage = Stage::Complete;
                        list::write(&mut text, &PersonalDataEnd::new(self.count))?;
                        text.push(b'\n');
                    }
                }
            }
        }
        Ok(Some(text.into()))
    }

    /// Reads the next lines of a type. Returns `true` if they are the last ones.
    async fn read(&mut self, kind: PersonalDataType, out: &mut Vec<u8>) -> Result<bool, Error> {
        let person = self.person;
        match kind {
            PersonalDataType::Employee => self.record(out).await,
            PersonalDataType::Invitation => self.invitations(out).await,
            PersonalDataType::ScimAccount => self.account(out).await,
            PersonalDataType::IdentityLink => {
                self.rows(kind, |page| rows::identity_links::of_person(person, page), |_| None, false, out).await
            }
            PersonalDataType::SyncIssue => self.issues(out).await,
            PersonalDataType::ApiKey => self.keys(out).await,
            PersonalDataType::Observation => {
                let list = |page: &PageRequest| person_data::observations(person, page);
                self.rows(kind, list, |row| row.author_id, true, out).await
            }
            PersonalDataType::EmployeeObjective => {
                let list = |page: &PageRequest| person_data::objectives(person, Family::Employees, page);
                self.rows(kind, list, |_| None, true, out).await
            }
            PersonalDataType::ManagerObjective => {
                let list = |page: &PageRequest| person_data::objectives(person, Family::Managers, page);
                self.rows(kind, list, |_| None, true, out).await
            }
            PersonalDataType::CheckIn => {
                let list = |page: &PageRequest| rows::check_ins::of_person(person, page);
                self.rows(kind, list, |row| row.author_id, false, out).await
            }
            PersonalDataType::Summary => {
                let list = |page: &PageRequest| person_data::summaries(person, page);
                self.rows(kind, list, |row| row.author_id, true, out).await
            }
            PersonalDataType::Assignment => {
                let list = |page: &PageRequest| person_data::assignments(person, page);
                self.rows(kind, list, |row| row.requester_id, true, out).await
            }
            PersonalDataType::Conversation => {
                let list = |page: &PageRequest| {
                    rows::conversations::list(
                        &with_participant(person),
                        Viewer::Everything,
                        Conversation::DEFAULT,
                        page,
                    )
                };
                self.rows(kind, list, |_| None, false, out).await
            }
            PersonalDataType::Message => {
                let list = |page: &PageRequest| rows::conversations::messages_of(person, page);
                self.rows::<Message>(kind, list, |row| Some(row.author_id), false, out).await
            }
            PersonalDataType::Notification => self.notifications(out).await,
            PersonalDataType::AuditEntry => {
                self.targets.push_back(person.to_string());
                Ok(true)
            }
        }
    }

    async fn record(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        let employee = self.services.store.row::<Employee>(self.tenant, self.person).await?;
        for person in employee.into_iter().map(|row| row.value) {
            let from = person.connector_id.map(DataSource::from_connector);
            self.line(PersonalDataType::Employee, &person, from, out)?;
        }
        Ok(true)
    }

    async fn invitations(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        let store = &self.services.store;
        let Some(person) = store.row::<Employee>(self.tenant, self.person).await? else { return Ok(true) };
        let request = PageRequest { after: self.after.take(), limit: PAGE };
        let (page, after) =
            person_data::invitations_page(&self.services, self.tenant, self.person, &request).await?;
        let now = self.services.clock.now();
        for invitation in page {
            self.line(PersonalDataType::Invitation, &invitation.view(person.value.status, now), None, out)?;
        }
        self.after = after;
        Ok(self.after.is_none())
    }

    async fn account(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        let link = self.services.store.row::<ScimLink>(self.tenant, self.person).await?;
        for link in link.into_iter().map(|row| row.value) {
            let from = Some(DataSource::from_connector(link.connector_id));
            let data = json!({
                "connector_id": link.connector_id, "user_name": link.user_name, "external_id": link.external_id,
                "manager": link.manager_ref, "linked_at": link.linked_at, "updated_at": link.updated_at,
                "deactivated_at": link.deactivated_at, "removed_at": link.removed_at,
                "attributes": serde_json::to_value(&link.extra).map_err(|error| Error::Bug(error.to_string()))?,
            });
            self.line(PersonalDataType::ScimAccount, &data, from, out)?;
        }
        Ok(true)
    }

    async fn issues(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        let request = PageRequest { after: self.after.take(), limit: PAGE };
        let (page, after) = person_data::issues_page(&self.services, self.tenant, self.person, &request).await?;
        for issue in page {
            let from = Some(DataSource::from_connector(issue.connector_id));
            self.line(PersonalDataType::SyncIssue, &issue, from, out)?;
        }
        self.after = after;
        Ok(self.after.is_none())
    }

    async fn keys(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        for key in person_data::keys_of(&self.services, self.tenant, self.person).await? {
            self.line(PersonalDataType::ApiKey, &key.value, None, out)?;
        }
        Ok(true)
    }

    async fn notifications(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        let request = PageRequest { after: self.after.take(), limit: PAGE };
        let list = person_data::notifications(self.person, &request);
        let page = self.services.store.page(self.tenant, list).await?;
        for notification in &page.items {
            let personal_notification = PersonalNotification::from_notification(notification);
            self.line(PersonalDataType::Notification, &personal_notification, None, out)?;
        }
        self.after = page.items.last().and_then(person_data::position);
        Ok(!page.more || self.after.is_none())
    }

    /// Writes the next page of a list as lines. Returns `true` if the page is the last one. If `with_audit` is set,
    /// the audit entries about its rows are written before the next page.
    async fn rows<T: Stored + Resource + Sortable>(
        &mut self,
        kind: PersonalDataType,
        list: impl Fn(&PageRequest) -> TypedListing<T>,
        author: impl Fn(&T) -> Option<EmployeeId>,
        with_audit: bool,
        out: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let request = PageRequest { after: self.after.take(), limit: PAGE };
        let page = self.services.store.page(self.tenant, list(&request)).await?;
        for row in &page.items {
            self.line(kind, row, author(row).map(DataSource::from_person), out)?;
        }
        if with_audit {
            self.targets.extend(page.items.iter().map(|row| row.id().to_string()));
        }
        self.after = page.items.last().and_then(person_data::position);
        Ok(!page.more || self.after.is_none())
    }

    /// Writes the next entries of the audit log about the first of the targets, the oldest ones first.
    async fn entries_about(&mut self, target: String, out: &mut Vec<u8>) -> Result<(), Error> {
        let filter = audit::Filter { target_id: Some(target), ..audit::Filter::default() };
        let last_entry = self.after_entry.take();
        let (entries, next) =
            person_data::audit_page(&self.services, self.tenant, &filter, last_entry, PAGE).await?;
        for entry in &entries {
            self.entry(entry, true, out)?;
        }
        self.after_entry = next;
        if self.after_entry.is_none() {
            self.targets.pop_front();
        }
        Ok(())
    }

    /// Writes the next entries of the audit log by an actor, except for those about the person. Returns `true` if they
    /// are the last ones.
    async fn actions(&mut self, actor: String, out: &mut Vec<u8>) -> Result<bool, Error> {
        let filter = audit::Filter { actor_id: Some(actor), ..audit::Filter::default() };
        let last_entry = self.after.take();
        let (entries, next) =
            person_data::audit_page(&self.services, self.tenant, &filter, last_entry, PAGE).await?;
        let person = self.person.to_string();
        for entry in entries.iter().filter(|entry| entry.target.id != person) {
            self.entry(entry, false, out)?;
        }
        self.after = next;
        Ok(self.after.is_none())
    }

    fn entry(&mut self, entry: &AuditEntry, is_about: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        let is_by = entry.actor.id.as_ref().is_some_and(|actor| self.actors.contains(actor));
        let Some(audit_entry) = PersonalAuditEntry::from_entry(entry, is_about, is_by) else { return Ok(()) };
        self.line(PersonalDataType::AuditEntry, &audit_entry, Some(DataSource::from_actor(&entry.actor)), out)
    }

    fn line(
        &mut self,
        kind: PersonalDataType,
        data: &impl Serialize,
        from: Option<DataSource>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        list::write(out, &PersonalDataRow { kind, data, from })?;
        out.push(b'\n');
        self.count += 1;
        Ok(())
    }
}

/// Returns the stage after a type.
fn stage_after(kind: PersonalDataType) -> Stage {
    let next = PersonalDataType::ALL.iter().copied().find(|other| *other > kind);
    next.map_or(Stage::Actor(0), Stage::Type)
}

/// Returns the filter of all conversations of a person.
fn with_participant(person: EmployeeId) -> conversation::Filter {
    conversation::Filter {
        participant_id: Some(person),
        archived: Archived::All,
        ..conversation::Filter::default()
    }
}

//! Removes the resources about a person, and blanks the messages of the person. What a legal hold of another person
//! keeps stays until the hold ends.

use std::collections::{BTreeSet, HashSet};

use candor_domain::conversation::{self, About, Conversation, Message};
use candor_domain::decision::Resource;
use candor_domain::erasure::{ERASED_BODY, Mentions};
use candor_domain::id::{EmployeeId, ObjectiveId};
use candor_domain::notification::{Notification, excerpt};
use candor_domain::objective::{Family, Objective};
use candor_domain::observation::Observation;
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::params::{Archived, Bounds};
use candor_domain::people::Invitation;
use candor_domain::retention::Retained;
use candor_domain::visibility::Viewer;
use candor_port_storage::StorageExt;
use candor_port_storage::erasing::ErasureChange;
use candor_provisioning::connector::{ScimLink, SyncIssue};
use candor_sign_in::IdentityLink;
use candor_tables::flat::{Column, SqlValue, Stored, Type};
use candor_tables::listing::TypedListing;
use candor_tables::read::ID;
use candor_tables::rows;
use candor_tables::rows::summaries::INCLUDES;

use super::scans::digest;
use super::{ERASER, Job, PIECE};
use crate::context::error::Error;
use crate::context::holds::{HeldPeople, check_in_authors, people_of_including, require_unheld};
use crate::context::person_data;
use crate::runtime::removal::{blank_entries, remove_parts};

/// Ids of the resources and conversations that a legal hold of another person keeps.
#[derive(Debug, Default)]
pub(super) struct KeptIds {
    pub(super) ids: HashSet<[u8; 16]>,
}

/// A row that an erasure removes unless one of the people is under a legal hold.
struct Candidate<T> {
    row: T,
    people: Vec<EmployeeId>,
}

impl<T> Retained for Candidate<T> {
    fn people(&self) -> Vec<EmployeeId> {
        self.people.clone()
    }
}

impl Job<'_> {
    /// Removes the resources about the person, piece by piece. Returns `None` if the erasure was stopped.
    pub(super) async fn remove_rows(&self) -> Result<Option<KeptIds>, Error> {
        let person = self.person;
        let mut kept_ids = KeptIds::default();
        let is_done = self
            .remove("observations", &mut kept_ids, |page| person_data::observations(person, page))
            .await?
            && self.remove("summaries", &mut kept_ids, |page| person_data::summaries(person, page)).await?
            && self.remove("assignments", &mut kept_ids, |page| person_data::assignments(person, page)).await?
            && self
                .remove("objectives", &mut kept_ids, |page| {
                    person_data::objectives(person, Family::Employees, page)
                })
                .await?
            && self
                .remove("objectives", &mut kept_ids, |page| {
                    person_data::objectives(person, Family::Managers, page)
                })
                .await?
            && self.remove_own_notifications().await?
            && self.blank_conversations(&mut kept_ids).await?
            && self.blank_conversations_about_removed(&mut kept_ids).await?;
        if !is_done {
            return Ok(None);
        }
        self.remove_accounts().await?;
        Ok(Some(kept_ids))
    }

    /// Removes the rows of a list with the values of their audit entries, except those that a legal hold keeps.
    /// Returns `false` if the erasure was stopped.
    async fn remove<T: Stored + Resource + Sortable + Retained>(
        &self,
        kind: &'static str,
        kept: &mut KeptIds,
        list: impl Fn(&PageRequest) -> TypedListing<T>,
    ) -> Result<bool, Error> {
        let mut request = PageRequest { limit: PIECE, after: None };
        loop {
            if !(self.goes_on)() {
                return Ok(false);
            }
            let page = self.services.store.page(self.tenant, list(&request)).await?;
            request.after = page.items.last().and_then(person_data::position);
            let is_last = !page.more;
            let candidates = self.candidates(page.items).await?;
            let held_people = HeldPeople::find(self.services, self.tenant, &candidates).await?;
            let (stay, go): (Vec<_>, Vec<_>) =
                candidates.iter().partition(|candidate| held_people.keep(*candidate));
            kept.ids.extend(stay.into_iter().map(|candidate| candidate.row.id().to_bytes()));
            let ids: Vec<_> = go.iter().map(|candidate| candidate.row.id().to_bytes()).collect();
            if T::NAME == Objective::NAME && !self.unlink_objectives(&ids).await? {
                return Ok(false);
            }
            if !go.is_empty() {
                let rows: Vec<_> = go.iter().map(|candidate| &candidate.row).collect();
                let mut changes = vec![require_unheld(go.iter().copied())];
                changes.extend(self.removals(kind, &rows));
                self.apply(&changes).await?;
            }
            if is_last || request.after.is_none() {
                return Ok(true);
            }
        }
    }

    /// Returns the rows with the people whose hold keeps them.
    async fn candidates<T: Resource + Retained>(&self, rows: Vec<T>) -> Result<Vec<Candidate<T>>, Error> {
        let (services, tenant) = (self.services, self.tenant);
        let is_included_kind = [Observation::NAME, Objective::NAME].contains(&T::NAME);
        let ids: Vec<_> = rows.iter().filter(|_| is_included_kind).map(|row| row.id().to_bytes()).collect();
        let included_ids: HashSet<_> =
            services.store.members_among(tenant, INCLUDES, &ids).await?.into_iter().collect();
        let mut candidates = Vec::with_capacity(rows.len());
        for row in rows {
            let (mut people, id) = (row.people(), row.id().to_bytes());
            if T::NAME == Objective::NAME {
                people.extend(check_in_authors(services, tenant, ObjectiveId::from_bytes(id)).await?);
            }
            if included_ids.contains(&id) {
                people.extend(people_of_including(services, tenant, id).await?);
            }
            candidates.push(Candidate { row, people });
        }
        Ok(candidates)
    }

    /// Removes the check-ins of these objectives, and the parent from the objectives that support one of them.
    /// Returns `false` if the erasure was stopped.
    async fn unlink_objectives(&self, objectives: &[[u8; 16]]) -> Result<bool, Error> {
        let removal = self.removal();
        Ok(removal.leave_parents(ERASER, objectives).await? && removal.remove_check_ins(objectives).await?)
    }

    /// Removes the notifications to the person. Returns `false` if the erasure was stopped.
    async fn remove_own_notifications(&self) -> Result<bool, Error> {
        loop {
            if !(self.goes_on)() {
                return Ok(false);
            }
            let request = PageRequest { limit: PIECE, after: None };
            let list = person_data::notifications(self.person, &request);
            let page = self.services.store.page(self.tenant, list).await?;
            if page.items.is_empty() {
                return Ok(true);
            }
            let rows: Vec<_> = page.items.iter().collect();
            self.apply(&self.removals("notifications", &rows)).await?;
        }
    }

    /// Returns the changes that remove and record rows, with their side tables and the values of their audit entries.
    fn removals<T: Stored + Resource>(&self, kind: &'static str, rows: &[&T]) -> Vec<ErasureChange> {
        let ids: Vec<[u8; 16]> = rows.iter().map(|row| row.id().to_bytes()).collect();
        let values: Vec<_> = ids.iter().copied().map(SqlValue::Id).collect();
        let texts = rows.iter().map(|row| SqlValue::Text(row.id().to_string())).collect();
        let mut changes = vec![self.record(kind, ids), blank_entries(texts)];
        changes.extend(remove_parts(T::TABLE, &values));
        changes.push(ErasureChange::Delete { table: T::TABLE.name, by: ID, values });
        changes
    }

    /// Blanks title and subject of the conversations about the person. Returns `false` if the erasure was stopped.
    async fn blank_conversations(&self, kept: &mut KeptIds) -> Result<bool, Error> {
        let filter = conversation::Filter {
            participant_id: None,
            about: Some(About::Employee(self.person)),
            archived: Archived::All,
            updated_at: Bounds::default(),
        };
        let mut request = PageRequest { limit: PIECE, after: None };
        loop {
            if !(self.goes_on)() {
                return Ok(false);
            }
            let list = rows::conversations::list(&filter, Viewer::Everything, Conversation::DEFAULT, &request);
            let page = self.services.store.page(self.tenant, list).await?;
            request.after = page.items.last().and_then(person_data::position);
            self.blank(&page.items, kept).await?;
            if !page.more || request.after.is_none() {
                return Ok(true);
            }
        }
    }

    /// Blanks title and subject of the conversations about removed resources. No index finds conversations by many
    /// subjects, so all conversations are read. Returns `false` if the erasure was stopped.
    async fn blank_conversations_about_removed(&self, kept: &mut KeptIds) -> Result<bool, Error> {
        let removed_ids: HashSet<_> = self.recorded_rows().await?.into_iter().map(|row| row.id).collect();
        let mut last_id = [0; 16];
        loop {
            if !(self.goes_on)() {
                return Ok(false);
            }
            let list = TypedListing::<Conversation>::after_id(last_id, PIECE);
            let page = self.services.store.entries(self.tenant, list).await?;
            let Some(last) = page.last() else { return Ok(true) };
            last_id = last.value.id.to_bytes();
            let is_about_removed =
                |row: &Conversation| row.about.is_some_and(|about| removed_ids.contains(&about.to_bytes()));
            let theirs: Vec<_> = page.into_iter().map(|row| row.value).filter(is_about_removed).collect();
            self.blank(&theirs, kept).await?;
        }
    }

    /// Blanks title and subject of some conversations, except those that a legal hold keeps.
    async fn blank(&self, conversations: &[Conversation], kept: &mut KeptIds) -> Result<(), Error> {
        let held_people = HeldPeople::find(self.services, self.tenant, conversations).await?;
        let (stay, go): (Vec<_>, Vec<_>) = conversations.iter().partition(|row| held_people.keep(*row));
        kept.ids.extend(stay.into_iter().map(|row| row.id.to_bytes()));
        if go.is_empty() {
            return Ok(());
        }
        let ids: Vec<_> = go.iter().map(|row| row.id.to_bytes()).collect();
        let texts = go.iter().map(|row| SqlValue::Text(row.id.to_string())).collect();
        let set = vec![
            (Column::new("title", Type::Text), SqlValue::Text(ERASED_BODY.to_owned())),
            (Column::new("about_type", Type::Text), SqlValue::Null(Type::Text)),
            (Column::new("about_id", Type::Id), SqlValue::Null(Type::Id)),
        ];
        let values = ids.iter().copied().map(SqlValue::Id).collect();
        let overwrite = ErasureChange::Overwrite { table: Conversation::TABLE.name, by: ID, values, set };
        let record = self.record("conversations", ids);
        self.apply(&[require_unheld(go), record, blank_entries(texts), overwrite]).await
    }

    /// Removes the invitations, the sync issues, the identity links and the SCIM account of the person.
    async fn remove_accounts(&self) -> Result<(), Error> {
        let (services, tenant, person) = (self.services, self.tenant, self.person);
        let mut request = PageRequest::ALL;
        loop {
            let (page, after) = person_data::invitations_page(services, tenant, person, &request).await?;
            let ids = page.into_iter().map(|invitation| invitation.id.to_bytes()).collect();
            self.remove_all::<Invitation>("invitations", ids).await?;
            request.after = after;
            if request.after.is_none() {
                break;
            }
        }
        loop {
            let (page, after) = person_data::issues_page(services, tenant, person, &request).await?;
            let ids = page.into_iter().map(|issue| issue.id.to_bytes()).collect();
            self.remove_all::<SyncIssue>("sync_issues", ids).await?;
            request.after = after;
            if request.after.is_none() {
                break;
            }
        }
        loop {
            let links = rows::identity_links::of_person(person, &PageRequest::ALL);
            let links = services.store.page(tenant, links).await?.items;
            if links.is_empty() {
                break;
            }
            let ids = links.into_iter().map(|link| link.id.to_bytes()).collect();
            self.remove_all::<IdentityLink>("identity_links", ids).await?;
        }
        let link = services.store.row::<ScimLink>(tenant, person).await?;
        let link = link.into_iter().map(|row| row.value.id.to_bytes()).collect();
        self.remove_all::<ScimLink>("scim_accounts", link).await
    }

    pub(super) async fn remove_all<T: Stored>(&self, kind: &'static str, ids: Vec<[u8; 16]>) -> Result<(), Error> {
        self.removal().remove_all::<T>(kind, ids).await
    }

    /// Removes the notifications of other people that name the person, or are about the person, the person's API keys
    /// or messages, or removed resources. Compares the texts of the messages, so it must precede
    /// [`Job::blank_messages`]. Returns `false` if the erasure was stopped.
    pub(super) async fn remove_notifications(&self, mentions: &Mentions) -> Result<bool, Error> {
        let quoted_messages = self.quoted_messages().await?;
        let keys = person_data::keys_of(self.services, self.tenant, self.person).await?;
        let keys: HashSet<String> = keys.iter().map(|key| key.value.id.to_string()).collect();
        let is_theirs = |row: &Notification| {
            let is_quoted = quoted_messages.contains(&quotation(&row.target.id, &row.body));
            let names_person = mentions.own_names_at(row.created_at)
                && (mentions.names_person(&row.title) || mentions.names_person(&row.body));
            mentions.has_id(&row.target.id)
                || keys.contains(&row.target.id)
                || ((is_quoted || names_person) && !mentions.keeps(&row.target.id))
        };
        self.removal().remove_notifications(is_theirs).await
    }

    /// Returns a digest of the conversation and the excerpt of each message of the person.
    async fn quoted_messages(&self) -> Result<HashSet<[u8; 16]>, Error> {
        let mut digests = HashSet::new();
        let mut page = PageRequest::ALL;
        loop {
            let rows = self
                .services
                .store
                .page(self.tenant, rows::conversations::messages_of(self.person, &page))
                .await?;
            digests.extend(
                rows.items
                    .iter()
                    .map(|row: &Message| quotation(&row.conversation_id.to_string(), &excerpt(&row.body))),
            );
            page.after = rows.items.last().and_then(person_data::position);
            if !rows.more || page.after.is_none() {
                return Ok(digests);
            }
        }
    }

    /// Adds to `kept` the conversations with messages of the person that a legal hold of a participant keeps. The
    /// person may have left these conversations. A hold that begins after the messages were removed keeps nothing.
    /// Returns `false` if the erasure was stopped.
    pub(super) async fn keep_conversations(&self, kept: &mut KeptIds) -> Result<bool, Error> {
        let mut page = PageRequest { limit: PIECE, after: None };
        loop {
            if !(self.goes_on)() {
                return Ok(false);
            }
            let list = rows::conversations::messages_of(self.person, &page);
            let rows = self.services.store.page(self.tenant, list).await?;
            let with_text = rows.items.iter().filter(|row: &&Message| row.body != ERASED_BODY);
            let conversations = self.conversations_of(with_text).await?;
            let held_people = HeldPeople::find(self.services, self.tenant, &conversations).await?;
            kept.ids
                .extend(conversations.iter().filter(|row| held_people.keep(*row)).map(|row| row.id.to_bytes()));
            page.after = rows.items.last().and_then(person_data::position);
            if !rows.more || page.after.is_none() {
                return Ok(true);
            }
        }
    }

    /// Returns the conversations of some messages.
    async fn conversations_of<'m>(
        &self,
        messages: impl Iterator<Item = &'m Message>,
    ) -> Result<Vec<Conversation>, Error> {
        let ids: BTreeSet<_> = messages.map(|row| row.conversation_id).collect();
        let ids: Vec<_> = ids.into_iter().collect();
        let rows = self.services.store.rows::<Conversation>(self.tenant, &ids).await?;
        Ok(rows.into_iter().map(|row| row.value).collect())
    }

    /// Replaces the bodies of the person's messages, except in conversations that a legal hold keeps. The messages
    /// keep their places. Returns `false` if the erasure was stopped.
    pub(super) async fn blank_messages(&self, kept: &KeptIds) -> Result<bool, Error> {
        let mut page = PageRequest { limit: PIECE, after: None };
        loop {
            if !(self.goes_on)() {
                return Ok(false);
            }
            let rows = self
                .services
                .store
                .page(self.tenant, rows::conversations::messages_of(self.person, &page))
                .await?;
            let goes =
                |row: &&Message| row.body != ERASED_BODY && !kept.ids.contains(&row.conversation_id.to_bytes());
            let go: Vec<_> = rows.items.iter().filter(goes).collect();
            if !go.is_empty() {
                let conversations = self.conversations_of(go.iter().copied()).await?;
                let ids: Vec<_> = go.iter().map(|row| row.id.to_bytes()).collect();
                let values = ids.iter().copied().map(SqlValue::Id).collect();
                let set = vec![(Column::new("body", Type::Text), SqlValue::Text(ERASED_BODY.to_owned()))];
                let blank = ErasureChange::Overwrite { table: Message::TABLE.name, by: ID, values, set };
                let condition = require_unheld(&conversations);
                self.apply(&[condition, self.record("messages", ids), blank]).await?;
            }
            page.after = rows.items.last().and_then(person_data::position);
            if !rows.more || page.after.is_none() {
                return Ok(true);
            }
        }
    }
}

fn quotation(conversation: &str, text: &str) -> [u8; 16] {
    digest(&format!("{conversation} {text}"))
}

//! Removes the resources about a person, and blanks the messages of the person.

use std::collections::HashSet;

use candor_domain::assignment::Assignment;
use candor_domain::conversation::Message;
use candor_domain::decision::Resource;
use candor_domain::erasure::{ERASED_BODY, Mentions};
use candor_domain::notification::{Notification, excerpt};
use candor_domain::objective::{Family, Objective};
use candor_domain::observation::Observation;
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::people::Invitation;
use candor_domain::people::connector::{ScimLink, SyncIssue};
use candor_domain::summary::Summary;
use candor_port_storage::StorageExt;
use candor_port_storage::erasing::ErasureChange;
use candor_tables::flat::{Column, SqlValue, Stored, Type};
use candor_tables::listing::TypedListing;
use candor_tables::read::ID;
use candor_tables::rows;

use super::scans::digest;
use super::{Job, PIECE};
use crate::context::error::Error;
use crate::context::person_data;
use crate::runtime::removal::blank_entries;

impl Job<'_> {
    /// Removes the resources about the person, piece by piece. Returns `false` if it was stopped.
    pub(super) async fn remove_rows(&self) -> Result<bool, Error> {
        let person = self.person;
        let is_done = self
            .remove::<Observation>("observations", |page| person_data::observations(person, page))
            .await?
            && self.remove::<Summary>("summaries", |page| person_data::summaries(person, page)).await?
            && self.remove::<Assignment>("assignments", |page| person_data::assignments(person, page)).await?
            && self
                .remove::<Objective>("objectives", |page| person_data::objectives(person, Family::Employees, page))
                .await?
            && self
                .remove::<Objective>("objectives", |page| person_data::objectives(person, Family::Managers, page))
                .await?
            && self
                .remove::<Notification>("notifications", |page| person_data::notifications(person, page))
                .await?;
        if is_done {
            self.remove_accounts().await?;
        }
        Ok(is_done)
    }

    /// Removes all rows of a list with the values of their audit entries. Each piece reads the first rows that are
    /// left.
    async fn remove<T: Stored + Resource + Sortable>(
        &self,
        kind: &'static str,
        list: impl Fn(&PageRequest) -> TypedListing<T>,
    ) -> Result<bool, Error> {
        loop {
            if !(self.goes_on)() {
                return Ok(false);
            }
            let page =
                self.services.store.page(self.tenant, list(&PageRequest { limit: PIECE, after: None })).await?;
            if page.items.is_empty() {
                return Ok(true);
            }
            let ids: Vec<[u8; 16]> = page.items.iter().map(|row| row.id().to_bytes()).collect();
            let values: Vec<_> = ids.iter().copied().map(SqlValue::Id).collect();
            let texts = page.items.iter().map(|row| SqlValue::Text(row.id().to_string())).collect();
            let mut changes = vec![self.record(kind, ids), blank_entries(texts)];
            for members in T::TABLE.members {
                let by = Column::new(members.owner, Type::Id);
                changes.push(ErasureChange::Delete { table: members.name, by, values: values.clone() });
            }
            changes.push(ErasureChange::Delete { table: T::TABLE.name, by: ID, values });
            self.apply(&changes).await?;
        }
    }

    /// Removes invitations, the SCIM account and issues of the person. These are few.
    async fn remove_accounts(&self) -> Result<(), Error> {
        let (store, tenant, person) = (&self.services.store, self.tenant, self.person);
        let invitations =
            store.rows_by::<Invitation, _>(tenant, rows::invitations::BY_EMPLOYEE, &[person]).await?;
        let invitations = invitations.into_iter().map(|row| row.value.id.to_bytes()).collect();
        self.remove_all::<Invitation>("invitations", invitations).await?;
        let issues = store.rows_by::<SyncIssue, _>(tenant, rows::sync_issues::BY_EMPLOYEE, &[person]).await?;
        let issues = issues.into_iter().map(|row| row.value.id.to_bytes()).collect();
        self.remove_all::<SyncIssue>("sync_issues", issues).await?;
        let link = store.row::<ScimLink>(tenant, person).await?;
        let link = link.into_iter().map(|row| row.value.id.to_bytes()).collect();
        self.remove_all::<ScimLink>("scim_accounts", link).await
    }

    pub(super) async fn remove_all<T: Stored>(&self, kind: &'static str, ids: Vec<[u8; 16]>) -> Result<(), Error> {
        self.removal().remove_all::<T>(kind, ids).await
    }

    /// Removes notifications to others about the person, removed resources, and messages of the person. It
    /// compares the texts of the messages, so it precedes [`Job::blank_messages`].
    pub(super) async fn remove_notifications(&self, mentions: &Mentions) -> Result<bool, Error> {
        let quoted = self.quoted_messages().await?;
        let is_theirs = |row: &Notification| {
            mentions.has_id(&row.target.id) || quoted.contains(&quotation(&row.target.id, &row.body))
        };
        self.removal().remove_notifications(is_theirs).await
    }

    /// Returns a digest of the conversation and the excerpt of each message of the person.
    async fn quoted_messages(&self) -> Result<HashSet<[u8; 16]>, Error> {
        let mut quoted = HashSet::new();
        let mut page = PageRequest::ALL;
        loop {
            let rows = self
                .services
                .store
                .page(self.tenant, rows::conversations::messages_of(self.person, &page))
                .await?;
            quoted.extend(
                rows.items
                    .iter()
                    .map(|row: &Message| quotation(&row.conversation_id.to_string(), &excerpt(&row.body))),
            );
            page.after = rows.items.last().and_then(person_data::position);
            if !rows.more || page.after.is_none() {
                return Ok(quoted);
            }
        }
    }

    /// Replaces the bodies of the person's messages. The messages keep their places.
    pub(super) async fn blank_messages(&self) -> Result<bool, Error> {
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
            let left = rows.items.iter().filter(|row| row.body != ERASED_BODY);
            let ids: Vec<_> = left.map(|row| row.id.to_bytes()).collect();
            if !ids.is_empty() {
                let values = ids.iter().copied().map(SqlValue::Id).collect();
                let set = vec![(Column::new("body", Type::Text), SqlValue::Text(ERASED_BODY.to_owned()))];
                let blank = ErasureChange::Overwrite { table: Message::TABLE.name, by: ID, values, set };
                self.apply(&[self.record("messages", ids), blank]).await?;
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

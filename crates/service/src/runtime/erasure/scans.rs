//! Scans of rows that may contain texts of an erased person: events, replays, audit entries, results of
//! connectors.

use candor_domain::access::Tenant;
use candor_domain::audit::{self, AuditEntry};
use candor_domain::erasure::{Mentions, erased_event_data, former_name};
use candor_domain::event::Event;
use candor_domain::text::address_key;
use candor_port_storage::StorageExt;
use candor_port_storage::erasing::ErasureChange;
use candor_provisioning::Connector;
use candor_provisioning::connector::SyncIssue;
use candor_tables::flat::{Column, SqlValue, Stored, Type};
use candor_tables::listing::TypedListing;
use candor_tables::read::ID;

use super::Job;
use super::rows::KeptIds;
use crate::context::erasing::{REMOVED_REPLAY, replay_text};
use crate::context::error::Error;
use crate::context::person_data;
use crate::runtime::removal::{PAGE, blank_values};

/// Number of entries of the audit log that are read at once. The largest entries have some 200 kB.
const ENTRIES: u16 = 20;
/// Action whose audit entry keeps its reason, with which the controller proves why the data was removed.
const KEPT_REASON: &str = "employee.erase";
/// Actions of connectors whose audit entries repeat messages about people.
const SYNC_ACTIONS: [&str; 4] =
    ["connector.open_issue", "connector.pause", "connector.resolve_issue", "connector.sync"];

impl Job<'_> {
    /// Runs all scans. Returns `false` if the erasure was stopped.
    pub(super) async fn scan(&self, mentions: &Mentions, names: &[String], kept: &KeptIds) -> Result<bool, Error> {
        Ok(self.remove_notifications(mentions).await?
            && self.blank_messages(kept).await?
            && self.erase_events(mentions).await?
            && self.remove_replays(mentions).await?
            && self.blank_audit().await?
            && self.blank_syncs(mentions).await?
            && self.erase_syncs(mentions, names).await?)
    }

    /// Removes the data of events about the person or removed resources. Their positions stay, so that cursors remain
    /// valid. Returns `false` if the erasure was stopped.
    async fn erase_events(&self, mentions: &Mentions) -> Result<bool, Error> {
        let mut last_id = [0; 16];
        loop {
            if !(self.goes_on)() {
                return Ok(false);
            }
            let list = TypedListing::<Event>::after_id(last_id, PAGE);
            let page = self.services.store.entries(self.tenant, list).await?;
            let Some(last) = page.last() else { return Ok(true) };
            last_id = last.value.id.to_bytes();
            let mut changes = vec![];
            let mut ids = vec![];
            for event in page.iter().map(|row| &row.value) {
                let Some(data) = erased_event_data(event.kind, &event.data, event.created_at, mentions) else {
                    continue;
                };
                ids.push(event.id.to_bytes());
                changes.push(ErasureChange::Overwrite {
                    table: Event::TABLE.name,
                    by: ID,
                    values: vec![event.id.into()],
                    set: vec![(Column::new("data", Type::Text), SqlValue::Text(data))],
                });
            }
            if !ids.is_empty() {
                changes.push(self.record("events", ids));
                self.apply(&changes).await?;
            }
        }
    }

    /// Removes replays that name the person or a removed resource. The response to the request for the erasure stays.
    /// Returns `false` if the erasure was stopped.
    async fn remove_replays(&self, mentions: &Mentions) -> Result<bool, Error> {
        let mut last_key = String::new();
        loop {
            if !(self.goes_on)() {
                return Ok(false);
            }
            let page = self.services.store.replays(self.tenant, &last_key, PAGE).await?;
            let Some((last, _)) = page.last() else { return Ok(true) };
            last_key.clone_from(last);
            // The time of a replay is unknown. A replay is at most a day old, so its addresses are compared as of now.
            let (own, now) = (self.erasure.id.to_string(), self.services.clock.now());
            let is_named = |key: &str, replay| {
                let text = replay_text(self.services, self.tenant, key, replay);
                text.is_some_and(|text| mentions.occur_in(&text, now) && !text.contains(&own))
            };
            let named_replays =
                page.iter().filter(|(key, kept)| kept.status != REMOVED_REPLAY && is_named(key, kept));
            let keys: Vec<_> = named_replays.map(|(key, _)| key.clone()).collect();
            if keys.is_empty() {
                continue;
            }
            let ids = keys.iter().map(|key| digest(key)).collect();
            let set = vec![
                (Column::new("status", Type::Int), SqlValue::Int(REMOVED_REPLAY.into())),
                (Column::new("sealed", Type::Bytes), SqlValue::Bytes(vec![])),
            ];
            let values = keys.into_iter().map(SqlValue::Text).collect();
            let key_column = Column::new("key", Type::Text);
            let remove = ErasureChange::Overwrite { table: "replays", by: key_column, values, set };
            self.apply(&[self.record("stored_responses", ids), remove]).await?;
        }
    }

    /// Removes the values of audit entries about the person and the person's API keys. In entries about actions of
    /// the person, removes name, address and user agent. Returns `false` if the erasure was stopped.
    async fn blank_audit(&self) -> Result<bool, Error> {
        let keys = person_data::keys_of(self.services, self.tenant, self.person).await?;
        let keys: Vec<String> = keys.iter().map(|key| key.value.id.to_string()).collect();
        let person = self.person.to_string();
        let ids: Vec<String> = keys.iter().cloned().chain([person.clone()]).collect();
        for target in &ids {
            if !self.blank_entries_about(target).await? {
                return Ok(false);
            }
        }
        for actor in ids {
            if !self.blank_actor(actor).await? {
                return Ok(false);
            }
        }
        if keys.is_empty() { Ok(true) } else { self.blank_used_keys(&keys).await }
    }

    /// Blanks the values of audit entries about syncs that contain an address or a name of the person. Returns
    /// `false` if the erasure was stopped.
    async fn blank_syncs(&self, mentions: &Mentions) -> Result<bool, Error> {
        let actions = SYNC_ACTIONS.map(ToOwned::to_owned).to_vec();
        let filter = audit::Filter { actions, ..audit::Filter::default() };
        let names_person = |entry: &AuditEntry| {
            let mut values = entry.changes.values().flat_map(|change| [&change.from, &change.to]);
            mentions.own_names_at(entry.occurred_at)
                && (entry.comment.as_deref().is_some_and(|comment| mentions.names_person(comment))
                    || values.any(|value| mentions.name_person_in(value)))
        };
        self.overwrite_selected(&filter, names_person, &blank_values()).await
    }

    /// Overwrites columns of the selected entries among the entries of a filter. Returns `false` if the erasure was
    /// stopped.
    async fn overwrite_selected(
        &self,
        filter: &audit::Filter,
        is_selected: impl Fn(&AuditEntry) -> bool,
        set: &[(Column, SqlValue)],
    ) -> Result<bool, Error> {
        let mut last_position = None;
        loop {
            if !(self.goes_on)() {
                return Ok(false);
            }
            let (entries, next) =
                person_data::audit_page(self.services, self.tenant, filter, last_position, ENTRIES).await?;
            let selected_ids = entries.iter().filter(|entry| is_selected(entry)).map(|entry| entry.id.to_bytes());
            self.overwrite_entries(selected_ids.collect(), set.to_vec()).await?;
            let Some(next) = next else { return Ok(true) };
            last_position = Some(next);
        }
    }

    async fn blank_entries_about(&self, target: &str) -> Result<bool, Error> {
        let filter = audit::Filter { target_id: Some(target.to_owned()), ..audit::Filter::default() };
        let has_values = |entry: &AuditEntry| !entry.changes.is_empty() || entry.comment.is_some();
        let is_left = |entry: &AuditEntry| entry.action != KEPT_REASON && has_values(entry);
        self.overwrite_selected(&filter, is_left, &blank_values()).await
    }

    async fn blank_actor(&self, actor: String) -> Result<bool, Error> {
        let filter = audit::Filter { actor_id: Some(actor), ..audit::Filter::default() };
        let is_named = |entry: &AuditEntry| {
            entry.actor.name != former_name() || entry.context.ip.is_some() || entry.context.user_agent.is_some()
        };
        let mut set = blank_origin();
        set.push((Column::new("actor_name", Type::Text), SqlValue::Text(former_name())));
        self.overwrite_selected(&filter, is_named, &set).await
    }

    /// Removes key name, address and user agent from entries of connectors that a key of the person made. No index
    /// finds these entries, so all are read. Returns `false` if the erasure was stopped.
    async fn blank_used_keys(&self, keys: &[String]) -> Result<bool, Error> {
        let mut last_id = [0; 16];
        loop {
            if !(self.goes_on)() {
                return Ok(false);
            }
            let list = TypedListing::<AuditEntry>::after_id(last_id, PAGE);
            let page = self.services.store.entries(self.tenant, list).await?;
            let Some(last) = page.last() else { return Ok(true) };
            last_id = last.value.id.to_bytes();
            let is_theirs = |entry: &AuditEntry| {
                entry
                    .context
                    .api_key
                    .as_ref()
                    .is_some_and(|key| keys.contains(&key.id) && key.name != former_name())
            };
            let theirs =
                page.iter().filter(|row| is_theirs(&row.value)).map(|row| row.value.id.to_bytes()).collect();
            let mut set = blank_origin();
            set.push((Column::new("api_key_name", Type::Text), SqlValue::Text(former_name())));
            self.overwrite_entries(theirs, set).await?;
        }
    }

    async fn overwrite_entries(&self, ids: Vec<[u8; 16]>, set: Vec<(Column, SqlValue)>) -> Result<(), Error> {
        if ids.is_empty() {
            return Ok(());
        }
        let values = ids.iter().copied().map(SqlValue::Id).collect();
        let overwrite = ErasureChange::Overwrite { table: AuditEntry::TABLE.name, by: ID, values, set };
        self.apply(&[self.record("audit_entries", ids), overwrite]).await
    }

    /// Removes sync issues, and clears the messages of the last syncs of connectors, that contain the address of the
    /// person, or a name of the person in another system. Those from a time when another person had the name stay.
    /// Returns `false` if the erasure was stopped.
    async fn erase_syncs(&self, mentions: &Mentions, names: &[String]) -> Result<bool, Error> {
        let mut last_id = [0; 16];
        loop {
            if !(self.goes_on)() {
                return Ok(false);
            }
            let list = TypedListing::<SyncIssue>::after_id(last_id, PAGE);
            let page = self.services.store.entries(self.tenant, list).await?;
            let Some(last) = page.last() else { break };
            last_id = last.value.id.to_bytes();
            let is_theirs = |issue: &SyncIssue| {
                let user_name = issue.user_name.as_deref().unwrap_or_default();
                let external_id = issue.external_id.as_deref().unwrap_or_default();
                let is_name = |name: &String| address_key(name) == address_key(user_name) || name == external_id;
                mentions.own_names_at(issue.first_occurred_at)
                    && (mentions.names_person(&issue.message)
                        || mentions.has_email(user_name)
                        || names.iter().any(is_name))
            };
            let theirs = page.iter().filter(|row| is_theirs(&row.value)).map(|row| row.value.id.to_bytes());
            self.remove_all::<SyncIssue>("sync_issues", theirs.collect()).await?;
        }
        let connectors = Tenant::live(self.tenant.organization);
        let list = TypedListing::<Connector>::after_id([0; 16], PAGE);
        let rows = self.services.store.entries(connectors, list).await?;
        let is_named = |row: &Connector| {
            let sync = row.last_sync.as_ref().filter(|sync| mentions.own_names_at(sync.at));
            sync.and_then(|sync| sync.message.as_deref()).is_some_and(|text| mentions.names_person(text))
        };
        let theirs = rows.iter().filter(|row| is_named(&row.value));
        let values: Vec<SqlValue> = theirs.map(|row| row.value.id.into()).collect();
        if !values.is_empty() {
            let set = vec![(Column::new("last_sync_message", Type::Text), SqlValue::Null(Type::Text))];
            self.apply(&[ErasureChange::Overwrite { table: Connector::TABLE.name, by: ID, values, set }]).await?;
        }
        Ok(true)
    }
}

fn blank_origin() -> Vec<(Column, SqlValue)> {
    ["ip", "user_agent"].map(|name| (Column::new(name, Type::Text), SqlValue::Null(Type::Text))).to_vec()
}

/// Returns the first 16 bytes of the SHA-256 digest of a text.
pub(super) fn digest(text: &str) -> [u8; 16] {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    let mut first = [0; 16];
    first.copy_from_slice(&digest.as_ref()[..16]);
    first
}

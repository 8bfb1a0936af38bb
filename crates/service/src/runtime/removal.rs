//! Parts of the removal of data that erasures and the retention share.

use candor_domain::access::Tenant;
use candor_domain::audit::AuditEntry;
use candor_domain::decision::Resource;
use candor_domain::erasure::INDEX_SECONDS;
use candor_domain::id::ObjectiveId;
use candor_domain::notification::Notification;
use candor_domain::objective::{CheckIn, Objective};
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::time::Timestamp;
use candor_port_storage::StorageExt;
use candor_port_storage::erasing::{ErasedRow, ErasureChange, RemovalId};
use candor_tables::flat::{Column, SqlValue, Stored, Table, Type};
use candor_tables::listing::TypedListing;
use candor_tables::read::ID;
use candor_tables::rows;

use crate::context::error::Error;
use crate::context::services::{Services, render};

/// Maximum number of rows of a page of a scan.
pub(super) const PAGE: u16 = 200;
/// Maximum number of replaced segments that one commit removes.
const SEGMENTS: u16 = 50;

/// A removal of data in progress.
pub(super) struct Removal<'a> {
    pub(super) services: &'a Services,
    pub(super) tenant: Tenant,
    pub(super) id: RemovalId,
    pub(super) goes_on: &'a (dyn Fn() -> bool + Sync),
}

/// Returns the change that removes the values of audit entries about these resources. Actor, action and time stay.
pub(super) fn blank_entries(targets: Vec<SqlValue>) -> ErasureChange {
    ErasureChange::Overwrite {
        table: AuditEntry::TABLE.name,
        by: Column::new("target_id", Type::Text),
        values: targets,
        set: blank_values(),
    }
}

/// Returns the columns and cells that remove the values of an audit entry.
pub(super) fn blank_values() -> Vec<(Column, SqlValue)> {
    vec![
        (Column::new("changes", Type::Text), SqlValue::Text("{}".to_owned())),
        (Column::new("comment", Type::Text), SqlValue::Null(Type::Text)),
    ]
}

/// Returns the changes that remove what belongs to the rows with these ids: their rows in the side tables of `table`,
/// and the check-ins of objectives.
pub(super) fn remove_parts(table: &Table, ids: &[SqlValue]) -> Vec<ErasureChange> {
    let members = table.members.iter().map(|members| (members.name, Column::new(members.owner, Type::Id)));
    let check_ins =
        (table.name == Objective::TABLE.name).then_some((CheckIn::TABLE.name, rows::check_ins::OBJECTIVE));
    let parts = members.chain(check_ins);
    parts.map(|(table, by)| ErasureChange::Delete { table, by, values: ids.to_vec() }).collect()
}

impl Removal<'_> {
    pub(super) async fn apply(&self, changes: &[ErasureChange]) -> Result<(), Error> {
        Ok(self.services.store.apply_erasure(self.tenant, changes).await?)
    }

    /// Returns the rows that this removal recorded.
    pub(super) async fn recorded_rows(&self) -> Result<Vec<ErasedRow>, Error> {
        Ok(self.services.store.erased_rows(self.tenant, self.id).await?)
    }

    pub(super) fn record(&self, kind: &'static str, ids: Vec<[u8; 16]>) -> ErasureChange {
        ErasureChange::Record { removal: self.id, kind, ids }
    }

    /// Deletes the list of rows that this removal recorded.
    pub(super) async fn forget_recorded(&self) -> Result<(), Error> {
        let erasure_column = Column::new("erasure_id", Type::Id);
        let values = vec![SqlValue::Id(self.id.to_bytes())];
        self.apply(&[ErasureChange::Delete { table: "erased_rows", by: erasure_column, values }]).await
    }

    /// Deletes and records rows.
    pub(super) async fn remove_all<T: Stored>(&self, kind: &'static str, ids: Vec<[u8; 16]>) -> Result<(), Error> {
        if ids.is_empty() {
            return Ok(());
        }
        let values = ids.iter().copied().map(SqlValue::Id).collect();
        let delete = ErasureChange::Delete { table: T::TABLE.name, by: ID, values };
        self.apply(&[self.record(kind, ids), delete]).await
    }

    /// Deletes and records the check-ins of objectives. Returns `false` if the removal was stopped.
    pub(super) async fn remove_check_ins(&self, objectives: &[[u8; 16]]) -> Result<bool, Error> {
        let page = PageRequest { limit: PAGE, after: None };
        for objective in objectives {
            loop {
                if !(self.goes_on)() {
                    return Ok(false);
                }
                let list = rows::check_ins::list(ObjectiveId::from_bytes(*objective), CheckIn::DEFAULT, &page);
                let check_ins = self.services.store.page(self.tenant, list).await?;
                if check_ins.items.is_empty() {
                    break;
                }
                let people = check_ins.items.iter().filter_map(|check_in| check_in.author_id).collect();
                let ids: Vec<_> = check_ins.items.iter().map(|check_in| check_in.id.to_bytes()).collect();
                let values = ids.iter().copied().map(SqlValue::Id).collect();
                let delete = ErasureChange::Delete { table: CheckIn::TABLE.name, by: ID, values };
                let unheld = ErasureChange::RequireUnheld { people };
                self.apply(&[unheld, self.record("check_ins", ids), delete]).await?;
            }
        }
        Ok(true)
    }

    /// Removes the parent from the objectives that support one of these objectives. `name` is the actor in the audit log.
    /// Returns `false` if the removal was stopped.
    pub(super) async fn leave_parents(&self, name: &str, parents: &[[u8; 16]]) -> Result<bool, Error> {
        let services = self.services;
        for parent in parents {
            loop {
                if !(self.goes_on)() {
                    return Ok(false);
                }
                let children = rows::objectives::list_supporting(ObjectiveId::from_bytes(*parent), PAGE);
                let children = services.store.entries(self.tenant, children).await?;
                if children.is_empty() {
                    break;
                }
                for child in children {
                    let now = services.clock.now();
                    let decision = child.value.without_parent(now);
                    let events =
                        services.events(&decision.events, &render(&decision.state.without_linked_ids())?, now);
                    services.commit_of_system(self.tenant, name, decision, events, child.version, now).await?;
                }
            }
        }
        Ok(true)
    }

    /// Removes the selected notifications. Returns `false` if the removal was stopped.
    pub(super) async fn remove_notifications(
        &self,
        is_selected: impl Fn(&Notification) -> bool,
    ) -> Result<bool, Error> {
        let mut last_id = [0; 16];
        loop {
            if !(self.goes_on)() {
                return Ok(false);
            }
            let list = TypedListing::<Notification>::after_id(last_id, PAGE);
            let page = self.services.store.entries(self.tenant, list).await?;
            let Some(last) = page.last() else { return Ok(true) };
            last_id = last.value.id.to_bytes();
            let selected_ids =
                page.iter().filter(|row| is_selected(&row.value)).map(|row| row.value.id.to_bytes());
            self.remove_all::<Notification>("notifications", selected_ids.collect()).await?;
        }
    }
}

/// Removes the replaced segments of the search index that no search reads any more, and deleted rows from the files of
/// the store.
pub(super) async fn finish_files(services: &Services, now: Timestamp) -> Result<(), Error> {
    let oldest_read = now.plus_seconds(-INDEX_SECONDS);
    while services.store.remove_replaced(oldest_read, SEGMENTS).await? >= SEGMENTS.into() {}
    Ok(services.store.scrub_files().await?)
}

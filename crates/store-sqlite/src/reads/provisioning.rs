//! Counts, lists and the request log of identity providers.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::fields::StringEnum;
use candor_domain::id::{ConnectorId, Id, SyncIssueId};
use candor_domain::people::{MANUAL, Status};
use candor_domain::time::Timestamp;
use candor_port_storage::error::Read;
use candor_port_storage::provisioning::{PeoplePage, PeopleStart, Provisioning, SLOW_PARAMETERS, VisiblePeople};
use candor_port_storage::{CommitError, StorageError};
use candor_provisioning::connector::{ConnectorFigures, KEPT_REQUESTS, LinkedPeople, MAX_FIGURE, ScimRequest};
use candor_tables::AnyRow;
use candor_tables::flat::CellReader;

use crate::SqliteStore;
use crate::connection::writer;
use crate::sql::{Db, Sql};
use crate::table::{one, write};
use crate::text::Draft;

const LINKED: &str = "SELECT coalesce(sum(linked_at <= ?3 AND (removed_at IS NULL OR removed_at > ?3)), 0), \
    coalesce(sum(removed = 0), 0) FROM scim_users WHERE tenant_id = ?1 AND connector_id = ?2";

const FIGURES: &str = "SELECT \
    (SELECT count(*) FROM (SELECT 1 FROM employees WHERE tenant_id = ?1 AND connector_id = ?2 LIMIT ?3)), \
    (SELECT count(*) FROM (SELECT 1 FROM sync_issues WHERE tenant_id = ?1 AND resolved = 0 \
        AND connector_id = ?2 LIMIT ?3)), \
    (SELECT max(updated_at) FROM scim_users WHERE tenant_id = ?1 AND connector_id = ?2), \
    (SELECT max(occurred_at) FROM scim_requests WHERE tenant_id = ?1 AND connector_id = ?2), \
    (SELECT user_agent FROM scim_requests WHERE tenant_id = ?1 AND connector_id = ?2 \
        ORDER BY occurred_at DESC, id DESC LIMIT 1)";

const REPEAT: &str = "UPDATE sync_issues SET count = count + 1, message = ?1, \
    occurred_at = max(occurred_at, ?2), version = version + 1 \
    WHERE tenant_id = ?3 AND id = ?4 AND resolved = 0";

/// Removes the oldest requests of a connector: the `?3 + 1` newest requests remain.
const TRIM: &str = "DELETE FROM scim_requests WHERE tenant_id = ?1 AND connector_id = ?2 \
    AND (occurred_at, id) < (SELECT occurred_at, id FROM scim_requests WHERE tenant_id = ?1 \
        AND connector_id = ?2 ORDER BY occurred_at DESC, id DESC LIMIT 1 OFFSET ?3)";

#[async_trait]
impl Provisioning for SqliteStore {
    async fn visible_people(&self, tenant: Tenant, query: &VisiblePeople) -> Read<PeoplePage> {
        let query = *query;
        let is_plain = query.active.is_none() && query.manager.is_none();
        if is_plain && matches!(query.start, PeopleStart::After(_)) {
            return self.read(tenant, move |db| visible(db, tenant, &query)).await;
        }
        let conditions = SLOW_PARAMETERS.map(str::to_owned).to_vec();
        self.slowly(tenant, conditions, move |db| visible(db, tenant, &query)).await
    }

    async fn linked_people(&self, tenant: Tenant, connector: ConnectorId, since: Timestamp) -> Read<LinkedPeople> {
        let sql = Sql::new(LINKED).bind(tenant).bind(connector).bind(since);
        let people = |row: &mut dyn CellReader| Ok(LinkedPeople { at_start: count(row)?, now: count(row)? });
        Ok(self.read(tenant, move |db| db.first(sql, people)).await?.unwrap_or_default())
    }

    async fn connector_figures(&self, tenant: Tenant, connector: ConnectorId) -> Read<ConnectorFigures> {
        let sql = Sql::new(FIGURES).bind(tenant).bind(connector).bind(i64::from(MAX_FIGURE));
        Ok(self.read(tenant, move |db| db.first(sql, figures)).await?.unwrap_or_default())
    }

    async fn repeat_issue(&self, tenant: Tenant, id: SyncIssueId, message: &str, at: Timestamp) -> Read<bool> {
        let sql = Sql::new(REPEAT).bind(message).bind(at).bind(tenant).bind(id);
        let repeat = move |db: &mut Db| db.run(&sql).map(|rows| rows > 0);
        writer::ask(&self.tasks, tenant, repeat).await
    }

    async fn log_requests(&self, tenant: Tenant, connector: ConnectorId, requests: &[ScimRequest]) -> Read<()> {
        let requests = requests.to_vec();
        let log = move |db: &mut Db| {
            for request in &requests {
                if one::<ScimRequest>(db, tenant, request.id.to_bytes())?.is_none() {
                    write(db, tenant, &AnyRow::new(request)).map_err(storage)?;
                }
            }
            let trim = Sql::new(TRIM).bind(tenant).bind(connector).bind(i64::from(KEPT_REQUESTS - 1));
            db.run(&trim).map(drop)
        };
        writer::ask(&self.tasks, tenant, log).await
    }
}

fn storage(error: CommitError) -> StorageError {
    match error {
        CommitError::Storage(error) => error,
        CommitError::Stale
        | CommitError::Taken(_)
        | CommitError::Broken(_)
        | CommitError::Missing
        | CommitError::TooWide
        | CommitError::Replayed => StorageError::Failed(error.to_string()),
    }
}

fn visible(db: &mut Db, tenant: Tenant, query: &VisiblePeople) -> Read<PeoplePage> {
    let mut page = Draft::default();
    page.add("SELECT id FROM (");
    sources(&mut page, tenant, query, true);
    page.add(") ORDER BY id").with(" LIMIT ", i64::from(query.limit));
    let mut total = None;
    if let PeopleStart::Skip(skipped) = query.start {
        page.with(" OFFSET ", i64::try_from(skipped).unwrap_or(i64::MAX));
        let mut count = Draft::default();
        count.add("SELECT count(*) FROM (");
        sources(&mut count, tenant, query, false);
        count.add(")");
        total = Some(db.number(count.finish())?.unsigned_abs());
    }
    let id = |row: &mut dyn CellReader| row.id().map_err(StorageError::Failed);
    let ids = db.rows(page.finish(), id)?.into_iter().flatten().map(Id::from_bytes).collect();
    Ok(PeoplePage { ids, total })
}

/// Adds the two parts of the list, as `candor_provisioning::is_visible` states them: linked and unmanaged people.
fn sources(draft: &mut Draft, tenant: Tenant, query: &VisiblePeople, is_page: bool) {
    let is_plain = query.active.is_none() && query.manager.is_none();
    draft.add("SELECT s.id AS id FROM scim_users AS s");
    if !is_plain {
        draft.add(" CROSS JOIN employees AS e");
    }
    draft.with(" WHERE s.tenant_id = ", tenant).with(" AND s.connector_id = ", query.connector);
    draft.add(" AND s.removed = 0");
    if !is_plain {
        draft.with(" AND e.tenant_id = ", tenant).add(" AND e.id = s.id");
    }
    conditions(draft, query, "s", is_page);
    draft.with(" UNION ALL SELECT e.id AS id FROM employees AS e WHERE e.tenant_id = ", tenant);
    draft.with(" AND e.hris_source = ", MANUAL);
    conditions(draft, query, "e", is_page);
}

fn conditions(draft: &mut Draft, query: &VisiblePeople, source: &str, is_page: bool) {
    if let Some(active) = query.active {
        draft.with(if active { " AND e.status <> " } else { " AND e.status = " }, Status::Deactivated.word());
    }
    if let Some(manager) = query.manager {
        draft.with(" AND e.manager_id = ", manager);
    }
    if let PeopleStart::After(id) = query.start
        && is_page
    {
        draft.with(&format!(" AND {source}.id > "), id);
    }
}

fn count(row: &mut dyn CellReader) -> Read<u64> {
    Ok(row.int().map_err(StorageError::Failed)?.unwrap_or_default().unsigned_abs())
}

fn figures(row: &mut dyn CellReader) -> Read<ConnectorFigures> {
    let mut number = || Ok::<_, StorageError>(u32::try_from(count(row)?).unwrap_or(MAX_FIGURE));
    let (people, open_issues) = (number()?, number()?);
    Ok(ConnectorFigures {
        people,
        open_issues,
        last_change_at: row.time().map_err(StorageError::Failed)?,
        last_request_at: row.time().map_err(StorageError::Failed)?,
        user_agent: row.text().map_err(StorageError::Failed)?,
    })
}

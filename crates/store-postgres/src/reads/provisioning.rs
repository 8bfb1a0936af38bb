//! Counts, lists and the request log of identity providers.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::fields::StringEnum;
use candor_domain::id::{ConnectorId, Id, SyncIssueId};
use candor_domain::people::{MANUAL, Status};
use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::provisioning::{PeoplePage, PeopleStart, Provisioning, SLOW_PARAMETERS, VisiblePeople};
use candor_provisioning::connector::{ConnectorFigures, KEPT_REQUESTS, LinkedPeople, MAX_FIGURE, ScimRequest};
use candor_tables::flat::{CellReader, SqlValue, Stored};

use crate::failure::Failure;
use crate::sql::Sql;
use crate::sql::row::{id, int};
use crate::store::PostgresStore;

#[async_trait]
impl Provisioning for PostgresStore {
    async fn visible_people(&self, tenant: Tenant, query: &VisiblePeople) -> Read<PeoplePage> {
        let is_plain = query.active.is_none() && query.manager.is_none();
        let page = visible(tenant, query);
        let identifier = |row: &mut dyn CellReader| Ok(Id::from_bytes(id(row)?));
        if is_plain && matches!(query.start, PeopleStart::After(_)) {
            return Ok(PeoplePage { ids: self.read(&page, identifier).await?, total: None });
        }
        let conditions = SLOW_PARAMETERS.map(str::to_owned);
        let ids = self.slowly(tenant, &conditions, &page, identifier).await?;
        let PeopleStart::Skip(_) = query.start else { return Ok(PeoplePage { ids, total: None }) };
        let total = self.slowly(tenant, &conditions, &visible_count(tenant, query), int).await?;
        Ok(PeoplePage { ids, total: total.first().map(|total| total.unsigned_abs()) })
    }

    async fn linked_people(&self, tenant: Tenant, connector: ConnectorId, since: Timestamp) -> Read<LinkedPeople> {
        let (mut sql, tenant_of_read) = (Sql::default(), tenant);
        let (tenant, connector) = (sql.tenant(tenant), sql.id(connector.to_bytes()));
        let start = sql.bind(SqlValue::Time(since));
        sql.push(&format!(
            "SELECT count(*) FILTER (WHERE linked_at <= {start} \
             AND (removed_at IS NULL OR removed_at > {start})), count(*) FILTER (WHERE NOT removed) \
             FROM scim_users WHERE tenant_id = {tenant} AND connector_id = {connector}"
        ));
        let people = |row: &mut dyn CellReader| {
            Ok(LinkedPeople { at_start: int(row)?.unsigned_abs(), now: int(row)?.unsigned_abs() })
        };
        Ok(self.read_large(tenant_of_read, sql, people).await?.pop().unwrap_or_default())
    }

    async fn connector_figures(&self, tenant: Tenant, connector: ConnectorId) -> Read<ConnectorFigures> {
        let (mut sql, tenant_of_read) = (Sql::default(), tenant);
        let (tenant, connector) = (sql.tenant(tenant), sql.id(connector.to_bytes()));
        let connector_filter = format!("WHERE tenant_id = {tenant} AND connector_id = {connector}");
        sql.push(&format!(
            "SELECT (SELECT count(*) FROM (SELECT 1 FROM employees {connector_filter} LIMIT {MAX_FIGURE}) AS people), \
             (SELECT count(*) FROM (SELECT 1 FROM sync_issues {connector_filter} AND NOT resolved LIMIT {MAX_FIGURE}) AS open), \
             (SELECT max(updated_at) FROM scim_users {connector_filter}), \
             (SELECT max(occurred_at) FROM scim_requests {connector_filter}), \
             (SELECT user_agent FROM scim_requests {connector_filter} ORDER BY occurred_at DESC, id DESC LIMIT 1)"
        ));
        Ok(self.read_large(tenant_of_read, sql, figures).await?.pop().unwrap_or_default())
    }

    async fn repeat_issue(&self, tenant: Tenant, id: SyncIssueId, message: &str, at: Timestamp) -> Read<bool> {
        let mut sql = Sql::default();
        let (tenant, id) = (sql.tenant(tenant), sql.id(id.to_bytes()));
        let (message, at) = (sql.bind(SqlValue::Text(message.to_owned())), sql.bind(SqlValue::Time(at)));
        sql.push(&format!(
            "UPDATE sync_issues SET count = count + 1, message = {message}, \
             occurred_at = greatest(occurred_at, {at}), version = version + 1 \
             WHERE tenant_id = {tenant} AND id = {id} AND NOT resolved RETURNING count"
        ));
        Ok(!self.run_exclusive(&sql, int).await?.is_empty())
    }

    async fn log_requests(&self, tenant: Tenant, connector: ConnectorId, requests: &[ScimRequest]) -> Read<()> {
        if let Some(sql) = insert_requests(tenant, requests)? {
            self.run_exclusive(&sql, |_| Ok(())).await?;
        }
        self.run_exclusive(&delete_old_requests(tenant, connector), |_| Ok(())).await.map(drop)
    }
}

/// Builds the query for a page of the list.
fn visible(tenant: Tenant, query: &VisiblePeople) -> Sql {
    let mut sql = Sql::default();
    let sources = sources(&mut sql, tenant, query, true);
    let limit = sql.bind(SqlValue::Int(i64::from(query.limit)));
    sql.push(&format!("SELECT id FROM ({sources}) AS people ORDER BY id LIMIT {limit}"));
    if let PeopleStart::Skip(skipped) = query.start {
        let skip_count = sql.bind(SqlValue::Int(i64::try_from(skipped).unwrap_or(i64::MAX)));
        sql.push(&format!(" OFFSET {skip_count}"));
    }
    sql
}

/// Builds the query for the number of people on all pages.
fn visible_count(tenant: Tenant, query: &VisiblePeople) -> Sql {
    let mut sql = Sql::default();
    let sources = sources(&mut sql, tenant, query, false);
    sql.push(&format!("SELECT count(*) FROM ({sources}) AS people"));
    sql
}

/// Returns the two parts of the list, as `candor_provisioning::is_visible` states them: linked and unmanaged
/// people.
fn sources(sql: &mut Sql, tenant: Tenant, query: &VisiblePeople, is_page: bool) -> String {
    let (tenant, connector) = (sql.tenant(tenant), sql.id(query.connector.to_bytes()));
    let manual = sql.bind(SqlValue::Text(MANUAL.to_owned()));
    let mut conditions = String::new();
    if let Some(active) = query.active {
        let deactivated_word = sql.bind(SqlValue::Text(Status::Deactivated.word().to_owned()));
        conditions.push_str(&format!(" AND e.status {} {deactivated_word}", if active { "<>" } else { "=" }));
    }
    if let Some(manager) = query.manager {
        let manager = sql.id(manager.to_bytes());
        conditions.push_str(&format!(" AND e.manager_id = {manager}"));
    }
    let employee_join = match conditions.is_empty() {
        true => String::new(),
        false => format!(" JOIN employees AS e ON e.tenant_id = {tenant} AND e.id = s.id{conditions}"),
    };
    let (mut after_link, mut after_person) = (String::new(), String::new());
    if let PeopleStart::After(id) = query.start
        && is_page
    {
        let id = sql.id(id.to_bytes());
        after_link = format!(" AND s.id > {id}");
        after_person = format!(" AND e.id > {id}");
    }
    format!(
        "SELECT s.id AS id FROM scim_users AS s{employee_join} WHERE s.tenant_id = {tenant} \
         AND s.connector_id = {connector} AND NOT s.removed{after_link} \
         UNION ALL SELECT e.id AS id FROM employees AS e WHERE e.tenant_id = {tenant} \
         AND e.hris_source = {manual}{conditions}{after_person}"
    )
}

/// Builds the statement that adds requests to the log; `None` without requests.
fn insert_requests(tenant: Tenant, requests: &[ScimRequest]) -> Result<Option<Sql>, StorageError> {
    if requests.is_empty() {
        return Ok(None);
    }
    let mut sql = Sql::default();
    let tenant = sql.tenant(tenant);
    let rows = requests.iter().map(Stored::cells).collect::<Result<Vec<_>, _>>()?;
    let columns = ScimRequest::TABLE.columns;
    let arrays: Vec<_> = columns
        .iter()
        .enumerate()
        .map(|(at, column)| sql.many(column.kind, rows.iter().filter_map(|row| row.get(at).cloned())))
        .collect();
    let names: Vec<_> = columns.iter().map(|column| column.name).collect();
    let (names, arrays) = (names.join(", "), arrays.join(", "));
    sql.push(&format!(
        "INSERT INTO scim_requests (tenant_id, {names}) SELECT {tenant}::uuid, r.* FROM UNNEST({arrays}) AS r \
         ON CONFLICT (tenant_id, id) DO NOTHING"
    ));
    Ok(Some(sql))
}

/// Builds the statement that removes all requests of a connector but the newest ones.
fn delete_old_requests(tenant: Tenant, connector: ConnectorId) -> Sql {
    let mut sql = Sql::default();
    let (tenant, connector) = (sql.tenant(tenant), sql.id(connector.to_bytes()));
    let connector_filter = format!("WHERE tenant_id = {tenant} AND connector_id = {connector}");
    sql.push(&format!(
        "DELETE FROM scim_requests {connector_filter} AND (occurred_at, id) < (SELECT occurred_at, id FROM scim_requests {connector_filter} \
         ORDER BY occurred_at DESC, id DESC LIMIT 1 OFFSET {})",
        KEPT_REQUESTS - 1
    ));
    sql
}

fn figures(row: &mut dyn CellReader) -> Result<ConnectorFigures, Failure> {
    let mut number = || Ok::<_, Failure>(u32::try_from(int(row)?).unwrap_or(MAX_FIGURE));
    let (people, open_issues) = (number()?, number()?);
    Ok(ConnectorFigures {
        people,
        open_issues,
        last_change_at: row.time().map_err(Failure::Other)?,
        last_request_at: row.time().map_err(Failure::Other)?,
        user_agent: row.text().map_err(Failure::Other)?,
    })
}

//! Spreading the tables of tenants over the nodes of a cluster, once and when asked to.

use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};

use crate::PostgresOptions;
use crate::commit::SUBSCRIBED;
use crate::connection::session::run;
use crate::failure::{Failure, MARK};
use crate::layout::{
    CREDENTIAL_TENANTS, FEED_POSITIONS, FIRST_BY_TENANT, LAYOUT, NEXT_POSITION, by_tenant, count_up, on_coordinator,
    on_every_node, tell_all_wanted,
};
use crate::migrations::{SchemaError, failed, flag, locked, one, pending};
use crate::sql::Sql;

/// What [`prepare`] is called where its steps are named.
const PREPARATION: &str = "the layout by tenant";

/// Unique indexes that find the tenant of a secret on one server. Where tenants are spread, each is unique on its node.
pub(crate) const SECRET_INDEXES: [(&str, &str); 3] = [
    ("api_keys_by_hash", "api_keys (tenant_id, hash)"),
    ("api_keys_by_previous_hash", "api_keys (tenant_id, previous_hash)"),
    ("invitations_by_token", "invitations (tenant_id, token_hash)"),
];

/// Whether the server spreads tables, and this is the node that does so.
pub(crate) const CAN_DISTRIBUTE: &str = "SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')";
/// Those that have anything.
pub(crate) const TENANTS: &str = "SELECT tenant_id FROM organizations UNION SELECT tenant_id FROM events";
/// Whose each secret is, as the rows of tenants say.
pub(crate) const TENANTS_OF_SECRETS: &str = "SELECT hash, tenant_id FROM api_keys \
    UNION SELECT previous_hash, tenant_id FROM api_keys WHERE previous_hash IS NOT NULL \
    UNION SELECT token_hash, tenant_id FROM invitations";
const WORKERS: &str = "SELECT count(*) FROM citus_get_active_worker_nodes()";
const IS_COORDINATOR: &str = "SELECT groupid = 0 FROM pg_dist_local_group";

/// Spreads what is not spread yet over the nodes of a Citus cluster, and answers what it did. Nothing may use the database
/// meanwhile. What a run that failed has done stays done; another one carries on.
///
/// # Errors
/// [`SchemaError`], also where the schema is not up to date, or the server is no coordinator of a cluster.
pub async fn distribute(options: &PostgresOptions, shards: u16) -> Result<Vec<String>, SchemaError> {
    let lacking = pending(options).await?;
    if lacking.iter().any(|it| !is_distribution(it)) {
        return Err(SchemaError::Failed(format!("it lacks {}; run `candor migrate` first", lacking.join(", "))));
    }
    let connection = locked(options).await?;
    expect_a_coordinator(&connection).await?;
    let mut done = vec![];
    if prepare(&connection).await? {
        done.push(PREPARATION.to_owned());
    }
    execute(&connection, &format!("SET lock_timeout = 0; SET citus.shard_count = {shards}")).await?;
    for step in undistributed(&connection).await? {
        for statement in step.statements() {
            execute(&connection, &statement).await?;
        }
        done.push(step.to_string());
    }
    Ok(done)
}

/// Makes the layout on any server, with every table on it: for tests of what reads and writes it.
///
/// # Errors
/// [`SchemaError`].
#[doc(hidden)]
pub async fn lay_out_by_tenant(options: &PostgresOptions) -> Result<(), SchemaError> {
    let connection = locked(options).await?;
    prepare(&connection).await?;
    for statement in Step::NextPosition.statements() {
        execute(&connection, &statement).await?;
    }
    Ok(())
}

async fn expect_a_coordinator(connection: &AsyncPgConnection) -> Result<(), SchemaError> {
    let refuse = |text: &str| Err(SchemaError::Failed(text.to_owned()));
    if !one(connection, CAN_DISTRIBUTE, flag).await? {
        return refuse("the database has no Citus: on every node, `CREATE EXTENSION citus` in it");
    }
    if !one(connection, IS_COORDINATOR, flag).await? {
        return refuse("this node is not the coordinator of the cluster: name that one alone");
    }
    let workers = one(connection, WORKERS, |row| row.int().map_err(Failure::Other)).await?;
    if workers.unwrap_or_default() == 0 {
        return refuse("the coordinator knows no other node: `SELECT citus_add_node('…', 5432)`");
    }
    Ok(())
}

/// What differs from one server: whose a secret is stands in a table, events are numbered in a row of the tenant, and
/// unique indexes begin with the tenant. All of it or nothing.
async fn prepare(connection: &AsyncPgConnection) -> Result<bool, SchemaError> {
    if one(connection, LAYOUT, flag).await? {
        return Ok(false);
    }
    let mut script = format!(
        "BEGIN; LOCK TABLE events, api_keys, invitations IN ACCESS EXCLUSIVE MODE; \
         CREATE TABLE {CREDENTIAL_TENANTS} (hash bytea NOT NULL, tenant_id uuid NOT NULL, PRIMARY KEY (hash)); \
         INSERT INTO {CREDENTIAL_TENANTS} {TENANTS_OF_SECRETS}; \
         CREATE TABLE {FEED_POSITIONS} (tenant_id uuid NOT NULL, position bigint NOT NULL, PRIMARY KEY (tenant_id)) \
         WITH (fillfactor = 50); \
         INSERT INTO {FEED_POSITIONS} SELECT t.tenant_id, pg_current_xact_id()::text::bigint + feed_offset() \
         FROM ({TENANTS}) AS t; \
         ALTER TABLE events ALTER COLUMN position DROP DEFAULT"
    );
    for (name, on) in SECRET_INDEXES {
        script.push_str(&format!("; DROP INDEX {name}; CREATE UNIQUE INDEX {name} ON {on}"));
    }
    script.push_str("; COMMIT");
    execute(connection, &script).await?;
    Ok(true)
}

/// A table that is not where it belongs, or what every node must have.
enum Step {
    ByTenant(&'static str),
    Reference(&'static str),
    Local(&'static str),
    NextPosition,
}

impl Step {
    const fn name(&self) -> &'static str {
        match self {
            Self::ByTenant(it) | Self::Reference(it) | Self::Local(it) => it,
            Self::NextPosition => NEXT_POSITION,
        }
    }

    /// Each is carried out by itself, the one that shows that the step was taken last.
    fn statements(&self) -> Vec<String> {
        match self {
            Self::ByTenant(table) => {
                let with = if *table == FIRST_BY_TENANT { "none" } else { FIRST_BY_TENANT };
                vec![format!("SELECT create_distributed_table('{table}', 'tenant_id', colocate_with => '{with}')")]
            }
            Self::Reference(table) => vec![format!("SELECT create_reference_table('{table}')")],
            Self::Local(table) => vec![format!("SELECT citus_add_local_table_to_metadata('{table}')")],
            Self::NextPosition => next_position(),
        }
    }
}

/// The function that counts positions up, and the column that it looks at. One with fewer arguments is from before that.
fn next_position() -> Vec<String> {
    vec![
        format!("ALTER TABLE {FEED_POSITIONS} ADD COLUMN IF NOT EXISTS wanted bigint NOT NULL DEFAULT 0"),
        tell_all_wanted(),
        format!("DROP FUNCTION IF EXISTS {NEXT_POSITION}(uuid)"),
        // A cluster gives a function that is made by itself to all nodes, also to those that come later.
        format!(
            "CREATE OR REPLACE FUNCTION {NEXT_POSITION}(tenant uuid, unwanted bigint) RETURNS bigint LANGUAGE plpgsql AS $$ \
             DECLARE place bigint; subscribed bigint; BEGIN {} RETURNING f.position, f.wanted & unwanted INTO place, subscribed; \
             IF subscribed <> 0 THEN RAISE EXCEPTION '{MARK}{SUBSCRIBED}'; END IF; RETURN place; END $$",
            count_up("tenant")
        ),
    ]
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ByTenant(table) => write!(f, "{table} by tenant"),
            Self::Reference(table) => write!(f, "{table} on every node"),
            Self::Local(table) => write!(f, "{table} on the coordinator"),
            Self::NextPosition => write!(f, "{NEXT_POSITION} on every node"),
        }
    }
}

async fn undistributed(connection: &AsyncPgConnection) -> Result<Vec<Step>, SchemaError> {
    let text = |row: &mut dyn candor_tables::flat::Fetch| row.text().map_err(Failure::Other);
    let known = format!(
        "SELECT logicalrelid::regclass::text FROM pg_dist_partition \
         UNION ALL SELECT proname::text FROM pg_proc WHERE proname = '{NEXT_POSITION}' AND pronargs = 2"
    );
    let known: Vec<String> =
        run(connection, &Sql::plain(&known), text).await.map_err(failed)?.into_iter().flatten().collect();
    let steps = by_tenant().map(Step::ByTenant);
    let steps = steps.chain(on_every_node().map(Step::Reference)).chain(on_coordinator().map(Step::Local));
    let steps = steps.chain([Step::NextPosition]);
    let is_missing = |it: &Step| !known.iter().any(|known| known == it.name());
    Ok(steps.filter(is_missing).collect())
}

/// How [`lacking`] begins.
const LACKING: &str = "to be distributed: ";

/// What is not spread although the layout is by tenant, and the server can spread it.
pub(crate) async fn lacking(connection: &AsyncPgConnection) -> Result<Vec<String>, SchemaError> {
    if !one(connection, LAYOUT, flag).await? || !one(connection, CAN_DISTRIBUTE, flag).await? {
        return Ok(vec![]);
    }
    Ok(undistributed(connection).await?.iter().map(|it| format!("{LACKING}{it}")).collect())
}

fn is_distribution(step: &str) -> bool {
    step.starts_with(LACKING)
}

async fn execute(mut connection: &AsyncPgConnection, script: &str) -> Result<(), SchemaError> {
    SimpleAsyncConnection::batch_execute(&mut connection, script).await.map_err(|it| failed(it.into()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use candor_test_postgres::TestDatabase;

    use super::*;
    use crate::migrate;
    use crate::migrations::connect;

    async fn rows(options: &PostgresOptions, text: &str) -> Vec<String> {
        let read = |row: &mut dyn candor_tables::flat::Fetch| row.text().map_err(Failure::Other);
        let connection = connect(options).await.unwrap();
        run(&connection, &Sql::plain(text), read).await.unwrap().into_iter().flatten().collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn every_table_is_in_one_list_and_every_unique_index_of_tenants_begins_with_them() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let options = PostgresOptions::new(database.url(), 1);
        migrate(&options).await.unwrap();
        lay_out_by_tenant(&options).await.unwrap();
        let mut lists: BTreeMap<&str, u32> = BTreeMap::new();
        for table in by_tenant().chain(on_every_node()).chain(on_coordinator()) {
            *lists.entry(table).or_default() += 1;
        }
        let tables = "SELECT c.relname::text FROM pg_class AS c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition \
                      AND c.relnamespace = 'public'::regnamespace ORDER BY c.relname";
        let tables = rows(&options, tables).await;
        for table in &tables {
            assert_eq!(lists.get(table.as_str()), Some(&1), "{table} is listed once, by its scope");
        }
        assert_eq!(lists.len(), tables.len(), "{lists:?}");
        let unique = "SELECT t.relname || ' ' || i.relname FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid \
                      JOIN pg_class AS t ON t.oid = x.indrelid JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = x.indkey[0] \
                      WHERE x.indisunique AND a.attname <> 'tenant_id' AND t.relnamespace = 'public'::regnamespace";
        for index in rows(&options, unique).await {
            let table = index.split(' ').next().unwrap();
            assert!(!by_tenant().any(|name| name == table), "{index} does not begin with the tenant");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_server_without_citus_is_told_from_a_cluster() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let options = PostgresOptions::new(database.url(), 1);
        let early = distribute(&options, 4).await.unwrap_err().to_string();
        assert!(early.contains("candor migrate"), "{early}");
        migrate(&options).await.unwrap();
        if rows(&options, "SELECT extname::text FROM pg_extension").await.iter().any(|it| it == "citus") {
            return;
        }
        let refused = distribute(&options, 4).await.unwrap_err().to_string();
        assert!(refused.contains("no Citus"), "{refused}");
        assert_eq!(pending(&options).await.unwrap(), [""; 0]);
    }
}

//! Distribution of the tenants' tables over the nodes of a Citus cluster, run once by the operator.

use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};

use super::SUBSCRIBED;
use crate::cluster::tables::{
    CREDENTIAL_TENANTS, FEED_POSITIONS, FIRST_BY_TENANT, LAYOUT, NEXT_POSITION, by_tenant, count_up,
    on_coordinator, on_every_node, tell_all_wanted,
};
use crate::connection::session::run;
use crate::failure::{CHECK_PREFIX, Failure};
use crate::schema::session::{SchemaError, one, schema_error};
use crate::sql::Sql;
use crate::sql::row::flag;

/// Display name of the step that [`prepare`] takes.
const PREPARATION: &str = "the layout by tenant";

/// Unique indexes on hashes of secrets, with their definitions for a cluster: there each includes `tenant_id`.
const SECRET_INDEXES: [(&str, &str); 3] = [
    ("api_keys_by_hash", "api_keys (tenant_id, hash)"),
    ("api_keys_by_previous_hash", "api_keys (tenant_id, previous_hash)"),
    ("invitations_by_token", "invitations (tenant_id, token_hash)"),
];

/// Query that returns `true` if the database has the Citus extension.
pub(crate) const CAN_DISTRIBUTE: &str = "SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')";
/// Query for the tenants that have an organization or an event.
const TENANTS: &str = "SELECT tenant_id FROM organizations UNION SELECT tenant_id FROM events";
/// Query for the hashes of all secrets, each with its tenant.
const TENANTS_OF_SECRETS: &str = "SELECT hash, tenant_id FROM api_keys \
    UNION SELECT previous_hash, tenant_id FROM api_keys WHERE previous_hash IS NOT NULL \
    UNION SELECT token_hash, tenant_id FROM invitations";
const WORKERS: &str = "SELECT count(*) FROM citus_get_active_worker_nodes()";
const IS_COORDINATOR: &str = "SELECT groupid = 0 FROM pg_dist_local_group";

/// Distributes the tables that are not distributed yet, and returns the steps taken. The connection must hold the
/// schema lock, and the schema must be up to date. Steps completed before a failure persist; another run continues
/// after them.
///
/// # Errors
/// [`SchemaError`], also if the server is no coordinator of a cluster.
pub(crate) async fn distribute(connection: &AsyncPgConnection, shards: u16) -> Result<Vec<String>, SchemaError> {
    expect_a_coordinator(connection).await?;
    let mut statements = vec![];
    if prepare(connection).await? {
        statements.push(PREPARATION.to_owned());
    }
    execute(connection, &format!("SET lock_timeout = 0; SET citus.shard_count = {shards}")).await?;
    for step in missing_distribution(connection).await? {
        for statement in step.statements() {
            execute(connection, &statement).await?;
        }
        statements.push(step.to_string());
    }
    Ok(statements)
}

/// Changes a server without Citus to the layout by tenant. All tables stay on that server; tests use this.
///
/// # Errors
/// [`SchemaError`].
pub(crate) async fn lay_out(connection: &AsyncPgConnection) -> Result<(), SchemaError> {
    prepare(connection).await?;
    for statement in Step::NextPosition.statements() {
        execute(connection, &statement).await?;
    }
    Ok(())
}

async fn expect_a_coordinator(connection: &AsyncPgConnection) -> Result<(), SchemaError> {
    let refuse = |text: &str| Err(SchemaError::Failed(text.to_owned()));
    if !one(connection, CAN_DISTRIBUTE, flag).await? {
        return refuse("the database has no Citus; run `CREATE EXTENSION citus` in it on every node");
    }
    if !one(connection, IS_COORDINATOR, flag).await? {
        return refuse(
            "this node is not the coordinator of the cluster; name only the coordinator in the database URL",
        );
    }
    let workers = one(connection, WORKERS, |row| row.int().map_err(Failure::Other)).await?;
    if workers.unwrap_or_default() == 0 {
        return refuse(
            "the coordinator knows no other node; run `SELECT citus_add_node('…', 5432)` on it for each node",
        );
    }
    Ok(())
}

/// Changes the schema from the single-server layout to the layout by tenant, in one transaction. It adds a table
/// with the tenant of each secret and a table with the feed position of each tenant, and puts the tenant in front
/// of the [`SECRET_INDEXES`]. Returns `false` if the schema already has this layout.
async fn prepare(connection: &AsyncPgConnection) -> Result<bool, SchemaError> {
    if one(connection, LAYOUT, flag).await? {
        return Ok(false);
    }
    let mut script = format!(
        "BEGIN; LOCK TABLE events, api_keys, invitations IN ACCESS EXCLUSIVE MODE; \
         CREATE TABLE {CREDENTIAL_TENANTS} (hash bytea NOT NULL, tenant_id uuid NOT NULL, PRIMARY KEY (hash)); \
         INSERT INTO {CREDENTIAL_TENANTS} {TENANTS_OF_SECRETS}; \
         CREATE TABLE {FEED_POSITIONS} (tenant_id uuid NOT NULL, position bigint NOT NULL, \
         PRIMARY KEY (tenant_id)) WITH (fillfactor = 50); \
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

/// Script that fills the cluster-only tables from copied rows. New events get positions above `last`.
pub(super) fn fill_uncopied_tables_script(last: i64) -> String {
    format!(
        "INSERT INTO {CREDENTIAL_TENANTS} {TENANTS_OF_SECRETS} ON CONFLICT DO NOTHING; \
         INSERT INTO {FEED_POSITIONS} (tenant_id, position) SELECT t.tenant_id, {last}::bigint \
         FROM ({TENANTS}) AS t ON CONFLICT (tenant_id) DO NOTHING; {}",
        tell_all_wanted()
    )
}

/// One step of the distribution: a table to place, or the function that every node must have.
enum Step {
    ByTenant(&'static str),
    Reference(&'static str),
    Local(&'static str),
    NextPosition,
}

impl Step {
    const fn name(&self) -> &'static str {
        match self {
            Self::ByTenant(table) | Self::Reference(table) | Self::Local(table) => table,
            Self::NextPosition => NEXT_POSITION,
        }
    }

    /// Statements of the step. Each is a transaction of its own; the statement that marks the step as taken comes
    /// last.
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

/// Statements that create the `wanted` column and the function that increments feed positions. A function with one
/// argument is an older version and is dropped.
fn next_position() -> Vec<String> {
    vec![
        format!("ALTER TABLE {FEED_POSITIONS} ADD COLUMN IF NOT EXISTS wanted bigint NOT NULL DEFAULT 0"),
        tell_all_wanted(),
        format!("DROP FUNCTION IF EXISTS {NEXT_POSITION}(uuid)"),
        // Citus propagates a function to all nodes, later ones included, only if its `CREATE` is a statement of
        // its own.
        format!(
            "CREATE OR REPLACE FUNCTION {NEXT_POSITION}(tenant uuid, unwanted bigint) RETURNS bigint \
             LANGUAGE plpgsql AS $$ DECLARE place bigint; subscribed bigint; BEGIN {} \
             RETURNING f.position, f.wanted & unwanted INTO place, subscribed; \
             IF subscribed <> 0 THEN RAISE EXCEPTION '{CHECK_PREFIX}{SUBSCRIBED}'; END IF; RETURN place; END $$",
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

async fn missing_distribution(connection: &AsyncPgConnection) -> Result<Vec<Step>, SchemaError> {
    let text = |row: &mut dyn candor_tables::flat::CellReader| row.text().map_err(Failure::Other);
    let names_query = format!(
        "SELECT logicalrelid::regclass::text FROM pg_dist_partition \
         UNION ALL SELECT proname::text FROM pg_proc WHERE proname = '{NEXT_POSITION}' AND pronargs = 2"
    );
    let known_names: Vec<String> = run(connection, &Sql::plain(&names_query), text)
        .await
        .map_err(schema_error)?
        .into_iter()
        .flatten()
        .collect();
    let steps = by_tenant().map(Step::ByTenant);
    let steps = steps.chain(on_every_node().map(Step::Reference)).chain(on_coordinator().map(Step::Local));
    let steps = steps.chain([Step::NextPosition]);
    let is_missing = |step: &Step| !known_names.iter().any(|name| name == step.name());
    Ok(steps.filter(is_missing).collect())
}

/// Prefix of the steps that [`missing_steps`] returns.
const LACKING: &str = "to be distributed: ";

/// Returns the distribution steps that are not taken yet. Empty if the layout is not by tenant or the server has
/// no Citus.
pub(crate) async fn missing_steps(connection: &AsyncPgConnection) -> Result<Vec<String>, SchemaError> {
    if !one(connection, LAYOUT, flag).await? || !one(connection, CAN_DISTRIBUTE, flag).await? {
        return Ok(vec![]);
    }
    Ok(missing_distribution(connection).await?.iter().map(|step| format!("{LACKING}{step}")).collect())
}

/// Returns `true` for a step that [`missing_steps`] names.
pub(crate) fn is_distribution(step: &str) -> bool {
    step.starts_with(LACKING)
}

async fn execute(mut connection: &AsyncPgConnection, script: &str) -> Result<(), SchemaError> {
    SimpleAsyncConnection::batch_execute(&mut connection, script).await.map_err(|error| schema_error(error.into()))
}

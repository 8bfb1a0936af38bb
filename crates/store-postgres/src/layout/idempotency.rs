//! Idempotency keys and their replays, as rows of `replays`.

use candor_domain::access::Tenant;
use candor_domain::idempotency::Replay;
use candor_tables::flat::{SqlValue, Type};

use crate::failure::{CHECK_PREFIX, Failure};
use crate::sql::Sql;

/// Name of the check that fails if an idempotency key is already used.
pub(crate) const REPLAYED: &str = "replayed";

/// Columns of a replay after the tenant.
pub(super) const REPLAY_COLUMNS: &str = "key, fingerprint, status, sealed, created_at, expires_at";

/// Clause that overwrites an existing key. The expression for the status follows, then an optional condition.
pub(super) const REPLAY_TAKEN: &str = "ON CONFLICT (tenant_id, key) DO UPDATE \
    SET fingerprint = excluded.fingerprint, \
    sealed = excluded.sealed, created_at = excluded.created_at, expires_at = excluded.expires_at, status =";

/// Assumption of a change set about its idempotency key. Only a cluster uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdempotencyKeyState {
    /// No request used the key. The statement fails if one did, see [`is_key_known`].
    New,
    /// A request may have used the key, and its replay may have expired.
    Any,
}

/// Returns `true` if a key that was assumed to be new already exists.
pub(crate) fn is_key_known(failure: &Failure) -> bool {
    failure.is_taken("replays_pkey")
}

/// Builds the query for the keys among these that already have a replay.
pub(crate) fn replayed_keys(tenant: Tenant, keys: &[&Replay]) -> Sql {
    let mut sql = Sql::default();
    let tenant = sql.tenant(tenant);
    let now = keys.iter().map(|replay| replay.created_at).max();
    let now = sql.bind(now.map_or(SqlValue::Null(Type::Time), SqlValue::Time));
    let keys = sql.many(Type::Text, keys.iter().map(|replay| SqlValue::Text(replay.key.as_str().to_owned())));
    sql.push(&format!(
        "SELECT key FROM replays WHERE tenant_id = {tenant} AND key = ANY({keys}) AND expires_at > {now}"
    ));
    sql
}

/// Builds the statement that stores a replay alone. It returns a row if the key was free or has expired.
pub(crate) fn store_replay(tenant: Tenant, replay: &Replay) -> Sql {
    let mut sql = Sql::default();
    let tenant = sql.tenant(tenant);
    let key_row = take(&mut sql, &tenant, replay);
    sql.push(&key_row);
    sql
}

/// Insert of a replay that returns a row if its key was free or has expired.
pub(super) fn take(sql: &mut Sql, tenant: &str, replay: &Replay) -> String {
    let key_rows = insert(sql, tenant, &[replay]);
    format!(
        "{key_rows} {REPLAY_TAKEN} excluded.status WHERE r.expires_at <= excluded.created_at RETURNING 1::bigint"
    )
}

/// Insert of a replay that fails with [`REPLAYED`] if its key is neither free nor expired.
pub(crate) fn take_or_fail(sql: &mut Sql, tenant: &str, replay: &Replay) -> String {
    let key_rows = insert(sql, tenant, &[replay]);
    let status = "CASE WHEN r.expires_at <= excluded.created_at THEN excluded.status::text";
    format!("{key_rows} {REPLAY_TAKEN} ({status} ELSE '{CHECK_PREFIX}{REPLAYED}'::text END)::int")
}

/// Insert of replays whose keys are free.
pub(crate) fn insert(sql: &mut Sql, tenant: &str, replays: &[&Replay]) -> String {
    let row = |replay: &&Replay| {
        let key = sql.bind(SqlValue::Text(replay.key.as_str().to_owned()));
        let fingerprint = sql.bind(SqlValue::Bytes(replay.fingerprint.to_bytes().to_vec()));
        let status = sql.bind(SqlValue::Int(i64::from(replay.status)));
        let sealed_reply = sql.bind(SqlValue::Bytes(replay.sealed.clone()));
        let (at, until) =
            (sql.bind(SqlValue::Time(replay.created_at)), sql.bind(SqlValue::Time(replay.expires_at())));
        format!("({tenant}, {key}, {fingerprint}, {status}, {sealed_reply}, {at}, {until})")
    };
    let rows: Vec<_> = replays.iter().map(row).collect();
    format!("INSERT INTO replays AS r (tenant_id, {REPLAY_COLUMNS}) VALUES {}", rows.join(", "))
}

//! The rows of a create as one statement, for pgbench.

use crate::Outcome;
use crate::burst::{Shape, burst};
use crate::data::{self, FIRST_NUMBER, NUMBER_STEP, PEOPLE, hex};
use crate::stage::{Reference, Side, Stage};
use std::path::PathBuf;

use super::{Creates, SEED_OF_THE_FIRST};

/// The largest number of eight hexadecimal digits, which are half of what a request's key ends with.
const HALF_A_KEY: u32 = u32::MAX;

/// What one create stores, in bytes, as the service itself has just done it.
struct Stored {
    event: u64,
    changes: u64,
    answer: u64,
}

pub(super) fn script(stage: &Stage, reference: &Reference, creates: Creates) -> Outcome<PathBuf> {
    let postgres = stage.on_postgres().ok_or("no service on PostgreSQL")?;
    let requests = creates.traffic(stage, postgres);
    burst(postgres.service.address, &requests, Shape::of_few(20, SEED_OF_THE_FIRST + creates.seeds))?;
    let longest =
        |column: &str, table: &str| reference.admin.number(&format!("SELECT max(octet_length({column})) FROM {table}"));
    let stored = Stored {
        event: longest("data", "events")?,
        changes: longest("changes", "audit_entries WHERE action LIKE 'observation%'")?,
        answer: longest("sealed", "replays")?,
    };
    let name = format!("create-{}-{}", creates.people, creates.tags);
    reference.pgbench.script(&name, &inserts(stage, postgres, creates, &stored))
}

/// The same rows in one statement, as like to those of the service as they can be made, because what a row costs is mostly
/// where it goes in its indexes and what it refers to:
/// - ids grow with time and are random behind it; ids that are texts have the length of those of the service;
/// - keys for retries are those that the requests bring, random all over: each goes to another page of its index;
/// - the tags are neighbours in the whole list, as in the requests, so that transactions meet at the same rows as often.
///
/// What the service looks up before and beside its inserts is its own affair and counts against it.
fn inserts(stage: &Stage, postgres: &Side, creates: Creates, stored: &Stored) -> String {
    let tenant = postgres.tenant_literal();
    let id = |number: u8| format!("(x || '{number:010}')::uuid");
    let all = data::attributes_from(&postgres.attributes, 0, postgres.attributes.len());
    let around: Vec<_> = all.iter().chain(&all).map(|it| hex(&it.to_bytes())).collect();
    let filler = |bytes: u64| "x".repeat(usize::try_from(bytes).unwrap_or_default());
    let person = format!("('{}' || :p || '{}')::uuid", PEOPLE.before, PEOPLE.behind);
    let last = creates.people.min(stage.size.people) - 1;
    let (tags, last_tag, count) = (around.join(","), all.len().saturating_sub(1), creates.tags);
    format!(
        "\\set r random(1000000000, 9999999999)\n\\set p {FIRST_NUMBER} + {NUMBER_STEP} * random(0, {last})\n\
         \\set t random(0, {last_tag})\n\\set k random(0, {HALF_A_KEY})\n\\set l random(0, {HALF_A_KEY})\n\
         WITH t AS MATERIALIZED (SELECT now() AS at, ('{{{tags}}}'::uuid[])[1 + :t : {count} + :t] AS tags, \
         'bench-' || lpad(to_hex(:k::bigint), 8, '0') || lpad(to_hex(:l::bigint), 8, '0') AS key, \
         lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || :r AS x), \
         o AS (INSERT INTO observations (tenant_id, id, employee_id, type, observation, attribute_ids, observation_date, \
         created_at, updated_at, archived, version) \
         SELECT {tenant}, {}, {person}, 'strength', '{}', tags, at::date, at, at, false, 1 FROM t), \
         m AS (INSERT INTO observation_attributes (tenant_id, attribute_id, observation_id) \
         SELECT {tenant}, tag, {} FROM t, UNNEST(tags) AS u (tag)), \
         e AS (INSERT INTO events (tenant_id, id, type, created_at, data) \
         SELECT {tenant}, {}, 'observation.created', at, '{}' FROM t), \
         a AS (INSERT INTO audit_entries (tenant_id, id, occurred_at, action, actor_type, actor_id, actor_name, target_type, \
         target_id, changes, request_id, ip) \
         SELECT {tenant}, {}, at, 'observation.created', 'api_key', 'key_{}', 'bench', 'observation', 'obs_' || x || '0001', \
         '{}', 'req_' || x || '0002', '127.0.0.1' FROM t) \
         INSERT INTO replays (tenant_id, key, fingerprint, status, sealed, created_at, expires_at) \
         SELECT {tenant}, key, '{}'::bytea, 201, '{}'::bytea, at, at + interval '1 day' FROM t;\n",
        id(1),
        filler(400),
        id(1),
        id(2),
        filler(stored.event),
        id(3),
        filler(26),
        filler(stored.changes),
        filler(32),
        filler(stored.answer),
    )
}

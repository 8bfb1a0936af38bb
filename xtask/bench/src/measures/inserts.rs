//! The rows of a create as one statement, for pgbench.

use super::writes::{Creates, SCRIPT_SEED};
use super::*;
use crate::data::{self, FIRST_NUMBER, NUMBER_STEP, PEOPLE, hex};
use crate::pgbench::Reference;
use std::path::PathBuf;

/// Largest number of eight hexadecimal digits. The random part of an idempotency key has two such numbers.
const HALF_A_KEY: u32 = u32::MAX;

/// Bytes of each value that a create of the service stores: the longest of twenty creates.
struct ValueSizes {
    event: i64,
    changes: i64,
    response: i64,
}

pub(super) fn script(
    data: &DataSet<'_>,
    postgres: &Instance,
    reference: &Reference,
    creates: Creates,
) -> Result<PathBuf> {
    let shape = Shape::for_requests(20, SCRIPT_SEED + creates.seeds);
    burst(postgres.service.address, &creates.traffic(data, postgres), shape)?;
    let longest = |column: &str, table: &str| {
        reference.database.number(&format!("(SELECT max(octet_length({column})) FROM {table})"))
    };
    let longest_texts = ValueSizes {
        event: longest("data", "events")?,
        changes: longest("changes", "audit_entries WHERE action LIKE 'observation%'")?,
        response: longest("sealed", "replays")?,
    };
    let name = format!("create-{}", creates.tags);
    reference.script(&name, &inserts(data, postgres, creates, &longest_texts))
}

/// Returns one statement with the rows of a create. The cost of a row depends mostly on its place in the indexes
/// and on its references, so the rows resemble those of the service:
/// - ids grow with time and have a random end; ids that are texts have the same length;
/// - idempotency keys are random from their first digit: each goes to another page of its index;
/// - the tags are neighbours in the list of attributes, so that transactions meet at the same rows as often as those
///   of the service.
///
/// The statement looks nothing up: the lookups of the service count as a cost of the service.
fn inserts(data: &DataSet<'_>, postgres: &Instance, creates: Creates, stored: &ValueSizes) -> String {
    let tenant = Store::Postgres.bytes(postgres.tenant);
    let id = |number: u8| format!("(x || '{number:010}')::uuid");
    let all = data::attributes_from(&postgres.attributes, 0, postgres.attributes.len());
    let ring: Vec<_> = all.iter().chain(&all).map(|attribute| hex(&attribute.to_bytes())).collect();
    let filler = |bytes: i64| "x".repeat(usize::try_from(bytes).unwrap_or_default());
    let person = format!("('{}' || :p || '{}')::uuid", PEOPLE.before, PEOPLE.after);
    let last = data.size.people - 1;
    let (tags, last_tag, count) = (ring.join(","), all.len().saturating_sub(1), creates.tags);
    format!(
        "\\set r random(1000000000, 9999999999)\n\\set p {FIRST_NUMBER} + {NUMBER_STEP} * random(0, {last})\n\
         \\set t random(0, {last_tag})\n\\set k random(0, {HALF_A_KEY})\n\\set l random(0, {HALF_A_KEY})\n\
         WITH t AS MATERIALIZED (SELECT now() AS at, ('{{{tags}}}'::uuid[])[1 + :t : {count} + :t] AS tags, \
         'bench-' || lpad(to_hex(:k::bigint), 8, '0') || lpad(to_hex(:l::bigint), 8, '0') AS key, \
         lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || :r AS x), \
         o AS (INSERT INTO observations (tenant_id, id, employee_id, type, observation, attribute_ids, \
         observation_date, created_at, updated_at, archived, version) \
         SELECT {tenant}, {}, {person}, 'strength', '{}', tags, at::date, at, at, false, 1 FROM t), \
         m AS (INSERT INTO observation_attributes (tenant_id, attribute_id, observation_id) \
         SELECT {tenant}, tag, {} FROM t, UNNEST(tags) AS u (tag)), \
         q AS (INSERT INTO search_pending (tenant_id, table_name, id, version) \
         SELECT {tenant}, 'observations', {}, 1 FROM t), \
         e AS (INSERT INTO events (tenant_id, id, type, created_at, data) \
         SELECT {tenant}, {}, 'observation.created', at, '{}' FROM t), \
         a AS (INSERT INTO audit_entries (tenant_id, id, occurred_at, action, actor_type, actor_id, actor_name, \
         target_type, target_id, changes, request_id, ip) \
         SELECT {tenant}, {}, at, 'observation.created', 'api_key', 'key_{}', 'bench', 'observation', \
         'obs_' || x || '0001', '{}', 'req_' || x || '0002', '127.0.0.1' FROM t) \
         INSERT INTO replays (tenant_id, key, fingerprint, status, sealed, created_at, expires_at) \
         SELECT {tenant}, key, '{}'::bytea, 201, '{}'::bytea, at, at + interval '1 day' FROM t;\n",
        id(1),
        filler(400),
        id(1),
        id(1),
        id(2),
        filler(stored.event),
        id(3),
        filler(26),
        filler(stored.changes),
        filler(32),
        filler(stored.response),
    )
}

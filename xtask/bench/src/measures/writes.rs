//! New observations, and changes of people.

use crate::Outcome;
use crate::burst::{Shape, burst};
use crate::data::{self, FIRST_NUMBER, NUMBER_STEP, PEOPLE, hex};
use crate::options::{Options, Store};
use crate::report::{Limit, Line, per_second};
use crate::rounds::{ratio, take_turns, typical};
use crate::stage::{CLIENTS, Reference, Side, Stage};
use crate::traffic;
use std::path::PathBuf;

use super::reads::figures;

const AT_LEAST_ON_POSTGRES: f64 = 0.7;
const AT_LEAST_ON_SQLITE: f64 = 1.0;
const MOST_MILLIS_ON_SQLITE: f64 = 20.0;
const MOST_FOR_A_MOVE: f64 = 2.0;
/// Not the seed of any turn, so that no request is a retry of another.
const SEED_OF_THE_FIRST: u64 = 1_000;

pub(super) fn create(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let script = stage.reference.as_ref().map(|it| script(stage, it)).transpose()?;
    let mut lines = vec![];
    for side in stage.measured(options) {
        let traffic = traffic::create(&side.key, stage.size, side.attributes.clone());
        let mut contenders = vec![side.contender(traffic, CLIENTS)];
        if let Some((reference, script)) = stage.reference.as_ref().zip(script.as_ref()) {
            contenders.push(reference.contender(script));
        }
        let samples = take_turns(&contenders, options.rounds(), options.turn())?;
        let (ours, theirs) = (&samples[0], samples.get(1));
        let line = Line {
            what: "Create, durable, with event, audit entry and kept answer".to_owned(),
            store: Some(side.store),
            measured: figures(ours),
            against: theirs.map_or_else(String::new, |it| format!("pgbench {}", per_second(typical(it, |it| it.rate)))),
            value: theirs.map_or(f64::NAN, |theirs| ratio(ours, theirs)),
            unit: "×",
            limit: match (theirs, side.store) {
                (None, _) => Limit::None,
                (_, Store::Postgres) => Limit::AtLeast(AT_LEAST_ON_POSTGRES),
                (_, Store::Sqlite) => Limit::AtLeast(AT_LEAST_ON_SQLITE),
            },
        };
        let slowest = Line {
            what: format!("Create, p99 of {CLIENTS} writers"),
            against: String::new(),
            value: typical(ours, |it| it.within(0.99)),
            unit: "ms",
            limit: if side.store == Store::Sqlite { Limit::AtMost(MOST_MILLIS_ON_SQLITE) } else { Limit::None },
            ..line.clone()
        };
        lines.extend([line, slowest]);
    }
    Ok(lines)
}

/// The largest number of eight hexadecimal digits, which are half of what a request's key ends with.
const HALF_A_KEY: u32 = u32::MAX;

/// What one create stores, in bytes, as the service itself has just done it.
struct Stored {
    event: u64,
    changes: u64,
    answer: u64,
}

fn script(stage: &Stage, reference: &Reference) -> Outcome<PathBuf> {
    let postgres = stage.on_postgres().ok_or("no service on PostgreSQL")?;
    let requests = traffic::create(&postgres.key, stage.size, postgres.attributes.clone());
    burst(postgres.service.address, &requests, Shape::of_few(20, SEED_OF_THE_FIRST))?;
    let longest =
        |column: &str, table: &str| reference.admin.number(&format!("SELECT max(octet_length({column})) FROM {table}"));
    let stored = Stored {
        event: longest("data", "events")?,
        changes: longest("changes", "audit_entries WHERE action LIKE 'observation%'")?,
        answer: longest("sealed", "replays")?,
    };
    reference.pgbench.script("create", &inserts(stage, postgres, &stored))
}

/// The same rows in one statement, as like to those of the service as they can be made, because what a row costs is mostly
/// where it goes in its indexes and what it refers to:
/// - ids grow with time and are random behind it; ids that are texts have the length of those of the service;
/// - keys for retries are those that the requests bring, random all over: each goes to another page of its index;
/// - the tags are two neighbours of the whole list, as in the requests, so that transactions meet at the same rows as often.
///
/// What the service looks up before and beside its inserts is its own affair and counts against it.
fn inserts(stage: &Stage, postgres: &Side, stored: &Stored) -> String {
    let tenant = postgres.tenant_literal();
    let id = |number: u8| format!("(x || '{number:010}')::uuid");
    let all = data::attributes_from(&postgres.attributes, 0, postgres.attributes.len());
    let around: Vec<_> = all.iter().chain(all.first()).map(|it| hex(&it.to_bytes())).collect();
    let filler = |bytes: u64| "x".repeat(usize::try_from(bytes).unwrap_or_default());
    let person = format!("('{}' || :p || '{}')::uuid", PEOPLE.before, PEOPLE.behind);
    let (last, tags, last_tag) = (stage.size.people - 1, around.join(","), all.len().saturating_sub(1));
    format!(
        "\\set r random(1000000000, 9999999999)\n\\set p {FIRST_NUMBER} + {NUMBER_STEP} * random(0, {last})\n\
         \\set t random(0, {last_tag})\n\\set k random(0, {HALF_A_KEY})\n\\set l random(0, {HALF_A_KEY})\n\
         WITH t AS MATERIALIZED (SELECT now() AS at, ('{{{tags}}}'::uuid[])[1 + :t : 2 + :t] AS tags, \
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

pub(super) fn new_manager(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        for (clients, limit) in [(1, Limit::AtMost(MOST_FOR_A_MOVE)), (CLIENTS, Limit::None)] {
            let contenders = [
                side.contender(traffic::new_manager(&side.key, stage.size), clients),
                side.contender(traffic::rename(&side.key, stage.size), clients),
            ];
            let samples = take_turns(&contenders, options.rounds(), options.turn())?;
            let many = if clients == 1 { "one client".to_owned() } else { format!("{clients} clients") };
            lines.push(Line {
                what: format!("PATCH of `manager_id` against one of `first_name`, {many}"),
                store: Some(side.store),
                measured: figures(&samples[0]),
                against: figures(&samples[1]),
                value: ratio(&samples[1], &samples[0]),
                unit: "×",
                limit,
            });
        }
    }
    Ok(lines)
}

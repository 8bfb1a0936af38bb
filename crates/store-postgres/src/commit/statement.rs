//! Puts the statements of a change set together.
//!
//! Everything is written by one statement whose parts (CTEs) see the same state. A part that must touch a row, or a
//! requirement that must hold, is checked in the final SELECT, where a word that is no number is cast to one: the
//! statement fails as a whole, and the server's message quotes the word.

use candor_domain::access::Tenant;
use candor_domain::id::{ConversationId, EmployeeId};
use candor_domain::idempotency::IdempotencyRecord;
use candor_domain::time::Timestamp;
use candor_port_storage::change::{ChangeSet, Lines, Require, Write};
use candor_port_storage::flat::{Cell, Type, Unwritable};
use candor_port_storage::{AnyRow, Version};

use super::closure::{beginnings, closure};
use super::group::Groups;
use super::requires;
use super::webhooks;
use crate::connection::transaction::Transaction;
use crate::failure::MARK;
use crate::sql::Sql;

/// A row, or the reporting tree, has another version.
pub(super) const STALE: &str = "stale";
/// The idempotency key was used.
pub(super) const REPLAYED: &str = "replayed";

/// So long does a statement for several change sets wait for what somebody else holds.
const SHORT_WAIT: &str = "100ms";
const REPLAY_COLUMNS: &str = "key, fingerprint, status, sealed, created_at, expires_at";
/// What happens to a key that is there already, if the condition behind this holds.
const REPLAY_TAKEN: &str = "ON CONFLICT (tenant_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, \
    status = excluded.status, sealed = excluded.sealed, created_at = excluded.created_at, \
    expires_at = excluded.expires_at WHERE";

/// A statement in the making.
pub(super) struct Statement {
    /// Its parameters, and in the end its text.
    pub(super) sql: Sql,
    /// The tenant's placeholder.
    pub(super) tenant: String,
    parts: Vec<String>,
    checks: Vec<String>,
    gated: bool,
    /// The parts that queue deliveries, each with what it queued as rows.
    pub(super) queued: Vec<String>,
}

impl Statement {
    pub(super) fn new(tenant: Tenant) -> Self {
        let mut sql = Sql::default();
        let tenant = sql.id(tenant.to_bytes());
        Self { sql, tenant, parts: vec![], checks: vec![], gated: false, queued: vec![] }
    }

    /// Adds a part and answers its name.
    pub(super) fn part(&mut self, form: &str, text: &str) -> String {
        let name = format!("p{}", self.parts.len());
        self.parts.push(format!("{name} AS {form}({text})"));
        name
    }

    /// Adds a check: where the condition does not hold, the statement fails with the word.
    pub(super) fn check(&mut self, condition: &str, word: &str) {
        self.checks.push(raise(condition, word));
    }

    /// Adds an expression that fails by itself.
    pub(super) fn checked(&mut self, expression: String) {
        self.checks.push(expression);
    }

    /// What a part has to have behind its FROM so that it begins only when the idempotency key is ours: an answer to a
    /// retry comes before any other refusal. `others` is what it reads from besides.
    pub(super) fn from(&self, others: &str) -> String {
        match (others, self.gated) {
            ("", false) => String::new(),
            ("", true) => "FROM go".to_owned(),
            (others, false) => format!("FROM {others}"),
            (others, true) => format!("FROM go, {others}"),
        }
    }

    /// The same for DELETE.
    pub(super) fn using(&self) -> &'static str {
        if self.gated { "USING go" } else { "" }
    }

    /// Begins only when the idempotency keys of all change sets are theirs. What somebody else holds is not waited for
    /// for long, see [`together`]. The keys are taken in their order, so that two groups never wait for each other's.
    fn take_keys(&mut self, changes: &[&ChangeSet]) {
        let mut replays: Vec<_> = changes.iter().filter_map(|it| it.replay.as_ref()).collect();
        replays.sort_unstable_by_key(|it| it.key.as_str());
        let hurry = format!("set_config('lock_timeout', '{SHORT_WAIT}', true)");
        self.gated = true;
        self.checks.push("(SELECT ok FROM go)".to_owned());
        if replays.is_empty() {
            self.parts.push(format!("go AS MATERIALIZED (SELECT {hurry} AS ok)"));
            return;
        }
        let count = self.sql.bind(Cell::Int(i64::try_from(replays.len()).unwrap_or(i64::MAX)));
        let mut many =
            |kind, cell: &dyn Fn(&IdempotencyRecord) -> Cell| self.sql.many(kind, replays.iter().map(|it| cell(it)));
        let columns = [
            many(Type::Text, &|it| Cell::Text(it.key.as_str().to_owned())),
            many(Type::Bytes, &|it| Cell::Bytes(it.fingerprint.to_bytes().to_vec())),
            many(Type::Int, &|it| Cell::Int(i64::from(it.status))),
            many(Type::Bytes, &|it| Cell::Bytes(it.sealed.clone())),
            many(Type::Time, &|it| Cell::Time(it.created_at)),
            many(Type::Time, &|it| Cell::Time(it.expires_at())),
        ];
        let (tenant, columns) = (&self.tenant, columns.join(", "));
        self.parts.push(format!(
            "replay AS (INSERT INTO replays AS r (tenant_id, {REPLAY_COLUMNS}) SELECT {tenant}, u.* \
             FROM (SELECT {hurry} AS set) AS hurry, UNNEST({columns}) AS u ({REPLAY_COLUMNS}) WHERE hurry.set <> '' \
             {REPLAY_TAKEN} r.expires_at <= excluded.created_at RETURNING 1)"
        ));
        let mine = raise(&format!("(SELECT count(*) FROM replay) = {count}"), REPLAYED);
        self.parts.push(format!("go AS MATERIALIZED (SELECT {mine} AS ok)"));
    }

    /// Takes the idempotency key, before anything else. A twin that is under way is waited for.
    fn take_key(&mut self, replay: &IdempotencyRecord) {
        let taken = taken(&mut self.sql, &self.tenant, replay);
        self.parts.push(format!("replay AS ({taken})"));
        let mine = raise("(SELECT count(*) FROM replay) = 1", REPLAYED);
        self.parts.push(format!("go AS MATERIALIZED (SELECT {mine} AS ok)"));
        self.checks.push("(SELECT ok FROM go)".to_owned());
        self.gated = true;
    }

    /// The statement; if `leases`, its rows are the deliveries that were queued.
    fn finish(mut self, leases: bool) -> Sql {
        let checks = if self.checks.is_empty() { "1".to_owned() } else { self.checks.join(", ") };
        let with = if self.parts.is_empty() { String::new() } else { format!("WITH {} ", self.parts.join(", ")) };
        let text = if leases { webhooks::answer(&checks, &self.queued) } else { format!("SELECT {checks}") };
        self.sql.push(&format!("{with}{text}"));
        self.sql
    }
}

/// The insert of a kept answer, which answers a row if its key was free or has expired.
fn taken(sql: &mut Sql, tenant: &str, replay: &IdempotencyRecord) -> String {
    let key = sql.bind(Cell::Text(replay.key.as_str().to_owned()));
    let fingerprint = sql.bind(Cell::Bytes(replay.fingerprint.to_bytes().to_vec()));
    let status = sql.bind(Cell::Int(i64::from(replay.status)));
    let sealed = sql.bind(Cell::Bytes(replay.sealed.clone()));
    let (at, until) = (sql.bind(Cell::Time(replay.created_at)), sql.bind(Cell::Time(replay.expires_at())));
    format!(
        "INSERT INTO replays AS r (tenant_id, {REPLAY_COLUMNS}) \
         VALUES ({tenant}, {key}, {fingerprint}, {status}, {sealed}, {at}, {until}) \
         {REPLAY_TAKEN} r.expires_at <= {at} RETURNING 1::bigint"
    )
}

/// Keeps an answer by itself.
pub(crate) fn keep(tenant: Tenant, replay: &IdempotencyRecord) -> Sql {
    let mut sql = Sql::default();
    let tenant = sql.id(tenant.to_bytes());
    let taken = taken(&mut sql, &tenant, replay);
    sql.push(&taken);
    sql
}

/// Nothing here is a constant for the planner: it would cast the word beforehand.
pub(super) fn raise(condition: &str, word: &str) -> String {
    format!("(CASE WHEN {condition} THEN '1'::text ELSE '{MARK}{word}'::text END)::int")
}

/// The statements of a change set, and whether they answer the deliveries that were leased.
pub(super) fn transaction(tenant: Tenant, change: &ChangeSet) -> Result<(Transaction, bool), Unwritable> {
    let lines = lines(change);
    let counts = change.requires.iter().any(requires::is_locked_before);
    let on_tree = requires::of_tree(&change.requires);
    let before = (!lines.is_empty() || !on_tree.is_empty() || counts).then(|| locks(tenant, change, &lines, &on_tree));
    let mut all = Statement::new(tenant);
    if let (None, Some(replay)) = (&before, &change.replay) {
        all.take_key(replay);
    }
    write(&mut all, tenant, &[change])?;
    let leases = change.lease.is_some() && !all.queued.is_empty();
    let (all, behind) = (all.finish(leases), behind(tenant, change));
    if before.is_none() && behind.is_empty() {
        return Ok((Transaction::alone(all), leases));
    }
    let answering = usize::from(before.is_some());
    Ok((Transaction::of(before.into_iter().chain([all]).chain(behind).collect(), answering), leases))
}

/// One statement for several change sets of a tenant, all of which only add rows and have a lease of the same worker, or
/// none: it holds for all of them or for none. There is an event among them, and its answer is the deliveries that were
/// queued.
///
/// Rows of several change sets are locked here at once, in an order that nobody else keeps to. So it soon gives up what
/// it waits for: whoever waits for it in turn is not kept for long.
pub(super) fn together(tenant: Tenant, changes: &[&ChangeSet]) -> Result<Sql, Unwritable> {
    let mut all = Statement::new(tenant);
    all.take_keys(changes);
    write(&mut all, tenant, changes)?;
    Ok(all.finish(true))
}

/// What must see the writes: parts of one statement see what was there before it, and one row is changed by one of them.
fn behind(tenant: Tenant, change: &ChangeSet) -> Vec<Sql> {
    let mut behind = vec![];
    let (new, moved): (Vec<_>, Vec<_>) = with_lines(change).partition(|it| it.seen().is_none());
    if !new.is_empty() {
        behind.push(beginnings(tenant, new.iter().map(|it| it.id())));
    }
    if !moved.is_empty() {
        behind.push(closure(tenant, moved.iter().map(|it| it.id())));
    }
    let forgiven =
        change.writes.iter().filter_map(|it| if let Write::WebhookForgiven(id) = it { Some(*id) } else { None });
    behind.extend(forgiven.map(|it| webhooks::forgive(tenant, it)));
    for it in &change.writes {
        if let Write::BringForward(sooner, at) = it {
            behind.extend(webhooks::bring_forward(tenant, sooner, *at));
        }
    }
    behind
}

/// What has to be locked before the state is looked at: each statement sees what was committed when it began, so these
/// come in one of their own, before the others.
fn locks(tenant: Tenant, change: &ChangeSet, lines: &[Lines], on_tree: &[(usize, Version)]) -> Sql {
    let mut first = Statement::new(tenant);
    if let Some(replay) = &change.replay {
        first.take_key(replay);
    }
    if !lines.is_empty() || !on_tree.is_empty() {
        lock_tree(&mut first, lines, on_tree);
    }
    for require in &change.requires {
        requires::lock(&mut first, require);
    }
    first.finish(false)
}

/// Holds the row of the tenant's reporting tree until the end, and counts the change, if there is one. A move counts its
/// version up as well, and must have seen it; who saw none has seen a tree that is not there.
fn lock_tree(first: &mut Statement, lines: &[Lines], required: &[(usize, Version)]) {
    let (tenant, from) = (first.tenant.clone(), first.from(""));
    let insert = "INSERT INTO reporting_trees AS t (tenant_id, version, changes) SELECT";
    let Some(seen) = lines.iter().find_map(|it| it.seen) else {
        let changes = u8::from(!lines.is_empty());
        let count =
            format!("ON CONFLICT (tenant_id) DO UPDATE SET changes = t.changes + {changes} RETURNING t.version");
        let tree = first.part("", &format!("{insert} {tenant}, 0, {changes} {from} {count}"));
        require_tree(first, &tree, required, 0);
        return;
    };
    let all_saw_it = lines.iter().filter_map(|it| it.seen).all(|it| it == seen);
    let (seen, all_saw_it) = (first.sql.bind(Cell::Int(seen.0)), first.sql.bind(Cell::Flag(all_saw_it)));
    let count = format!(
        "ON CONFLICT (tenant_id) DO UPDATE SET version = t.version + 1, changes = t.changes + 1 WHERE t.version = {seen}"
    );
    let tree = first.part("", &format!("{insert} {tenant}, 1, 1 {from} {count} RETURNING t.version"));
    first.check(&format!("{all_saw_it} AND (SELECT version FROM {tree}) = {seen} + 1"), STALE);
    require_tree(first, &tree, required, 1);
}

/// Checks the version that the locked tree had before it was `counted` up.
fn require_tree(first: &mut Statement, tree: &str, required: &[(usize, Version)], counted: i64) {
    for (at, seen) in required {
        let seen = first.sql.bind(Cell::Int(seen.0 + counted));
        first.check(&format!("(SELECT version FROM {tree}) = {seen}"), &format!("{}{at}", requires::WORD));
    }
}

fn write(statement: &mut Statement, tenant: Tenant, changes: &[&ChangeSet]) -> Result<(), Unwritable> {
    match changes {
        [one] => requires::check_all(statement, &one.requires),
        several => requires::check_all(statement, &requires_of(several)),
    }
    let lease = changes.iter().filter_map(|it| it.lease).max_by_key(|it| it.until);
    let added: Vec<_> = changes.iter().flat_map(|it| it.added()).collect();
    let mut groups = Groups::of(tenant);
    for it in changes.iter().flat_map(|it| &it.writes) {
        match it {
            Write::Put(row) | Write::PutReporting { row, .. } => groups.add(row)?,
            Write::NotificationsRead(person, at) => read_all(statement, *person, *at),
            Write::MessageAdded(id, at) => message_added(statement, *id, *at),
            // Written behind the others, see `behind`.
            Write::WebhookForgiven(_) | Write::BringForward(..) => {}
            Write::WebhookRemoved(id, seen) => webhooks::remove(statement, *id, *seen),
            Write::Enqueue(jobs) => webhooks::enqueue(statement, jobs, lease),
        }
    }
    for row in &added {
        groups.add(row)?;
    }
    groups.write(statement);
    let events: Vec<_> = changes.iter().flat_map(|it| &it.events).collect();
    webhooks::fan_out(statement, &events, lease);
    Ok(())
}

/// What several change sets require, each once.
fn requires_of(changes: &[&ChangeSet]) -> Vec<Require> {
    let mut all: Vec<Require> = vec![];
    for it in changes.iter().flat_map(|it| &it.requires) {
        if !all.contains(it) {
            all.push(*it);
        }
    }
    all
}

/// Waits for whoever is changing the conversation, and looks then whether it is archived.
fn message_added(statement: &mut Statement, id: ConversationId, at: Timestamp) {
    let (id, at) = (statement.sql.id(id.to_bytes()), statement.sql.bind(Cell::Time(at)));
    let (tenant, from) = (statement.tenant.clone(), statement.from(""));
    let part = statement.part(
        "",
        &format!(
            "UPDATE conversations AS t SET last_message_at = greatest(t.last_message_at, {at}) {from} \
             WHERE t.tenant_id = {tenant} AND t.id = {id} AND NOT t.archived RETURNING 1"
        ),
    );
    statement.check(&format!("(SELECT count(*) FROM {part}) = 1"), STALE);
}

fn read_all(statement: &mut Statement, person: EmployeeId, at: Timestamp) {
    let (person, at) = (statement.sql.id(person.to_bytes()), statement.sql.bind(Cell::Time(at)));
    let (tenant, from) = (statement.tenant.clone(), statement.from(""));
    statement.part(
        "",
        &format!(
            "UPDATE notifications AS t SET read_at = {at}, unread = false, version = t.version + 1 {from} \
             WHERE t.tenant_id = {tenant} AND t.recipient_id = {person} AND t.unread"
        ),
    );
}

/// How many reporting lines change or begin.
pub(super) fn count_lines(change: &ChangeSet) -> usize {
    with_lines(change).count()
}

fn lines(change: &ChangeSet) -> Vec<Lines> {
    let lines = change.writes.iter();
    lines.filter_map(|it| if let Write::PutReporting { lines, .. } = it { Some(*lines) } else { None }).collect()
}

/// The people whose reporting line changes or begins.
fn with_lines(change: &ChangeSet) -> impl Iterator<Item = &AnyRow> {
    change.writes.iter().filter_map(|it| if let Write::PutReporting { row, .. } = it { Some(row) } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::event::EventType;
    use candor_port_storage::Row;
    use candor_store_testkit::Fixtures;

    #[test]
    fn groups_take_idempotency_keys_in_one_order() {
        let make = Fixtures::new(1);
        let change = |key: &str| ChangeSet {
            events: vec![make.event(EventType::ObservationCreated)],
            replay: Some(make.replay(key)),
            ..make.change(vec![Write::put(&Row::new(make.observation(make.id())))])
        };
        let changes = ["key-b", "key-d", "key-a", "key-c"].map(change);
        for order in [[0, 1, 2, 3], [3, 1, 0, 2]] {
            let sql = together(make.tenant(), &order.map(|it| &changes[it])).unwrap();
            let binds = format!("{sql:?}");
            let places = ["key-a", "key-b", "key-c", "key-d"].map(|it| binds.find(it).unwrap());
            assert!(places.is_sorted(), "{places:?}");
        }
    }
}

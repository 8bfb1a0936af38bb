//! A statement in the making: its parts, each of which writes one thing, and what must hold.
//!
//! On one server all parts are the CTEs of one statement and see the same state. A part that must touch a row, or a
//! requirement that must hold, is checked in the final SELECT, where a word that is no number is cast to one: the
//! statement fails as a whole, and the server's message quotes the word.
//!
//! Where tenants are spread over nodes, each part is a statement of its own with its checks, of a form that goes to the
//! tenant's node as it is; they are sent at once, in a transaction.

use candor_domain::access::Tenant;
use candor_domain::idempotency::IdempotencyRecord;
use candor_port_storage::ChangeSet;
use candor_tables::flat::{Cell, Type};

use super::webhooks;
use crate::failure::{Failure, MARK};
use crate::layout::Layout;
use crate::sql::Sql;

/// A row, or the reporting tree, has another version.
pub(super) const STALE: &str = "stale";
/// The idempotency key was used.
pub(super) const REPLAYED: &str = "replayed";

/// So long does a statement for several change sets wait for what somebody else holds.
const SHORT_WAIT: &str = "100ms";
const REPLAY_COLUMNS: &str = "key, fingerprint, status, sealed, created_at, expires_at";
/// What happens to a key that is there already: behind this stand the status, and the condition, if there is one.
const REPLAY_TAKEN: &str = "ON CONFLICT (tenant_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, \
    sealed = excluded.sealed, created_at = excluded.created_at, expires_at = excluded.expires_at, status =";

/// The statement that reads which of these idempotency keys have an answer already.
pub(super) fn answered_of(tenant: Tenant, keys: &[&IdempotencyRecord]) -> Sql {
    let mut sql = Sql::default();
    let tenant = sql.tenant(tenant);
    let now = keys.iter().map(|it| it.created_at).max();
    let now = sql.bind(now.map_or(Cell::Null(Type::Time), Cell::Time));
    let keys = sql.many(Type::Text, keys.iter().map(|it| Cell::Text(it.key.as_str().to_owned())));
    sql.push(&format!(
        "SELECT key FROM replays WHERE tenant_id = {tenant} AND key = ANY({keys}) AND expires_at > {now}"
    ));
    sql
}

/// What is expected of an idempotency key where tenants are spread over nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// Nobody has used it; the statement fails where somebody has, see [`is_key_known`].
    New,
    /// It may have been used long ago, or just now.
    Any,
}

/// Whether a key that was expected to be new is not.
pub(super) fn is_key_known(failure: &Failure) -> bool {
    failure.is_taken("replays_pkey")
}

/// A part or a check, in the order in which they were added.
enum Item {
    Part { name: String, form: &'static str, text: String },
    Check(String),
}

/// A statement in the making.
pub(super) struct Statement {
    /// Its parameters, and in the end its text.
    pub(super) sql: Sql,
    /// The tenant's placeholder.
    pub(super) tenant: String,
    pub(super) layout: Layout,
    items: Vec<Item>,
    gated: bool,
    /// The parts that queue deliveries, each with what it queued as rows.
    pub(super) queued: Vec<String>,
}

impl Statement {
    pub(super) fn new(layout: Layout, tenant: Tenant) -> Self {
        let mut sql = Sql::default();
        let tenant = sql.tenant(tenant);
        Self { sql, tenant, layout, items: vec![], gated: false, queued: vec![] }
    }

    /// Adds a part and answers its name.
    pub(super) fn part(&mut self, form: &'static str, text: &str) -> String {
        let parts = self.items.iter().filter(|it| matches!(it, Item::Part { .. })).count();
        let name = format!("p{parts}");
        self.named(&name, form, text);
        name
    }

    fn named(&mut self, name: &str, form: &'static str, text: &str) {
        self.items.push(Item::Part { name: name.to_owned(), form, text: text.to_owned() });
    }

    /// Adds a check: where the condition does not hold, the statement fails with the word.
    pub(super) fn check(&mut self, condition: &str, word: &str) {
        self.checked(raise(condition, word));
    }

    /// Adds an expression that fails by itself.
    pub(super) fn checked(&mut self, expression: String) {
        self.items.push(Item::Check(expression));
    }

    /// A row to insert, of which a part consists.
    pub(super) fn row(&self, values: &str) -> String {
        match self.layout {
            Layout::OneServer => format!("SELECT {values} {}", self.from("")),
            Layout::ByTenant => format!("VALUES ({values})"),
        }
    }

    /// The same of one row, or where tenants are spread over nodes of several.
    pub(super) fn rows(&self, all: &[String]) -> String {
        match all {
            [one] => self.row(one),
            several => format!("VALUES ({})", several.join("), (")),
        }
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
    pub(super) fn take_keys(&mut self, changes: &[&ChangeSet]) {
        let mut replays: Vec<_> = changes.iter().filter_map(|it| it.replay.as_ref()).collect();
        replays.sort_unstable_by_key(|it| it.key.as_str());
        if self.layout.is_by_tenant() {
            // A limit for locks does not reach the node.
            return self.add_keys(&replays);
        }
        let hurry = format!("set_config('lock_timeout', '{SHORT_WAIT}', true)");
        self.gated = true;
        self.checked("(SELECT ok FROM go)".to_owned());
        if replays.is_empty() {
            return self.named("go", "MATERIALIZED ", &format!("SELECT {hurry} AS ok"));
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
        let replay = format!(
            "INSERT INTO replays AS r (tenant_id, {REPLAY_COLUMNS}) SELECT {tenant}, u.* \
             FROM (SELECT {hurry} AS set) AS hurry, UNNEST({columns}) AS u ({REPLAY_COLUMNS}) WHERE hurry.set <> '' \
             {REPLAY_TAKEN} excluded.status WHERE r.expires_at <= excluded.created_at RETURNING 1"
        );
        self.named("replay", "", &replay);
        let mine = raise(&format!("(SELECT count(*) FROM replay) = {count}"), REPLAYED);
        self.named("go", "MATERIALIZED ", &format!("SELECT {mine} AS ok"));
    }

    /// Adds keys that nobody is expected to have used. A cluster sends such an insert to the tenant's node as it is; around one
    /// whose rows are counted it makes a plan of several parts, at four times the cost.
    fn add_keys(&mut self, replays: &[&IdempotencyRecord]) {
        if !replays.is_empty() {
            let inserted = inserted(&mut self.sql, &self.tenant, replays);
            self.named("replay", "", &inserted);
        }
    }

    /// Takes the idempotency key, before anything else. A twin that is under way is waited for.
    pub(super) fn take_key(&mut self, replay: &IdempotencyRecord, expected: Key) {
        match (self.layout, expected) {
            (Layout::ByTenant, Key::New) => return self.add_keys(&[replay]),
            (Layout::ByTenant, Key::Any) => {
                let taken = taken_or_raised(&mut self.sql, &self.tenant, replay);
                return self.named("replay", "", &taken);
            }
            (Layout::OneServer, _) => {}
        }
        let taken = taken(&mut self.sql, &self.tenant, replay);
        self.named("replay", "", &taken);
        let mine = raise("(SELECT count(*) FROM replay) = 1", REPLAYED);
        self.named("go", "MATERIALIZED ", &format!("SELECT {mine} AS ok"));
        self.checked("(SELECT ok FROM go)".to_owned());
        self.gated = true;
    }

    /// The statements, each with whether its rows are deliveries that were queued; if `leases`, these are wanted.
    pub(super) fn finish(self, leases: bool) -> Vec<(Sql, bool)> {
        match self.layout {
            Layout::OneServer => vec![(self.whole(leases), leases)],
            Layout::ByTenant => self.several(leases),
        }
    }

    fn whole(mut self, leases: bool) -> Sql {
        let (mut parts, mut checks) = (vec![], vec![]);
        for it in self.items {
            match it {
                Item::Part { name, form, text } => parts.push(format!("{name} AS {form}({text})")),
                Item::Check(it) => checks.push(it),
            }
        }
        let checks = if checks.is_empty() { "1".to_owned() } else { checks.join(", ") };
        let with = if parts.is_empty() { String::new() } else { format!("WITH {} ", parts.join(", ")) };
        let text = if leases { webhooks::answer(&checks, &self.queued) } else { format!("SELECT {checks}") };
        self.sql.push(&format!("{with}{text}"));
        self.sql
    }

    fn several(self, leases: bool) -> Vec<(Sql, bool)> {
        let Self { sql, items, queued, .. } = self;
        let mut statements: Vec<(Sql, bool)> = vec![];
        let mut items = items.into_iter().peekable();
        while let Some(item) = items.next() {
            let (name, form, text) = match item {
                Item::Check(it) => {
                    statements.push((sql.part(&format!("SELECT {it}")), false));
                    continue;
                }
                Item::Part { name, form, text } => (name, form, text),
            };
            let mut checks = vec![];
            while let Some(Item::Check(it)) = items.next_if(|it| matches!(it, Item::Check(of) if is_of(of, &name))) {
                checks.push(it);
            }
            let answers = leases && queued.contains(&name);
            let text = match (checks.as_slice(), answers) {
                ([], _) => text,
                (checks, false) => format!("WITH {name} AS {form}({text}) SELECT {}", checks.join(", ")),
                (checks, true) => {
                    format!(
                        "WITH {name} AS ({text}) {}",
                        webhooks::answer(&checks.join(", "), std::slice::from_ref(&name))
                    )
                }
            };
            statements.push((sql.part(&text), answers));
        }
        statements
    }
}

/// Whether a check asks what a part found.
fn is_of(check: &str, part: &str) -> bool {
    check.split(|it: char| !it.is_ascii_alphanumeric()).any(|it| it == part)
}

/// Nothing here is a constant for the planner: it would cast the word beforehand.
pub(crate) fn raise(condition: &str, word: &str) -> String {
    format!("(CASE WHEN {condition} THEN '1'::text ELSE '{MARK}{word}'::text END)::int")
}

/// The insert of a kept answer, which answers a row if its key was free or has expired.
fn taken(sql: &mut Sql, tenant: &str, replay: &IdempotencyRecord) -> String {
    let inserted = inserted(sql, tenant, &[replay]);
    format!("{inserted} {REPLAY_TAKEN} excluded.status WHERE r.expires_at <= excluded.created_at RETURNING 1::bigint")
}

/// The same where a key that is neither fails with the word.
fn taken_or_raised(sql: &mut Sql, tenant: &str, replay: &IdempotencyRecord) -> String {
    let inserted = inserted(sql, tenant, &[replay]);
    let status = "CASE WHEN r.expires_at <= excluded.created_at THEN excluded.status::text";
    format!("{inserted} {REPLAY_TAKEN} ({status} ELSE '{MARK}{REPLAYED}'::text END)::int")
}

fn inserted(sql: &mut Sql, tenant: &str, replays: &[&IdempotencyRecord]) -> String {
    let row = |it: &&IdempotencyRecord| {
        let key = sql.bind(Cell::Text(it.key.as_str().to_owned()));
        let fingerprint = sql.bind(Cell::Bytes(it.fingerprint.to_bytes().to_vec()));
        let status = sql.bind(Cell::Int(i64::from(it.status)));
        let sealed = sql.bind(Cell::Bytes(it.sealed.clone()));
        let (at, until) = (sql.bind(Cell::Time(it.created_at)), sql.bind(Cell::Time(it.expires_at())));
        format!("({tenant}, {key}, {fingerprint}, {status}, {sealed}, {at}, {until})")
    };
    let rows: Vec<_> = replays.iter().map(row).collect();
    format!("INSERT INTO replays AS r (tenant_id, {REPLAY_COLUMNS}) VALUES {}", rows.join(", "))
}

/// Keeps an answer by itself.
pub(crate) fn keep(tenant: Tenant, replay: &IdempotencyRecord) -> Sql {
    let mut sql = Sql::default();
    let tenant = sql.tenant(tenant);
    let taken = taken(&mut sql, &tenant, replay);
    sql.push(&taken);
    sql
}

//! Puts the statements of a change set together.

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_domain::event::Event;
use candor_domain::id::{ConversationId, EmployeeId};
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Lines, Require, Write};
use candor_tables::AnyRow;
use candor_tables::Unwritable;
use candor_tables::flat::{Cell, Stored, Type};

use super::audience::Audience;
use super::closure::{beginnings, closure};
use super::group::Groups;
use super::requires;
use super::statement::{Key, STALE, Statement, is_key_known};
use super::webhooks;
use crate::connection::transaction::Transaction;
use crate::failure::Failure;
use crate::layout::Layout;
use crate::sql::Sql;

/// How change sets are written.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) layout: Layout,
    pub(super) audience: Audience,
    pub(super) key: Key,
}

impl Form {
    /// The one to try after a failure that says that something else was expected than is; `None` after any other.
    pub(super) fn after(self, failure: &Failure) -> Option<Self> {
        if self.audience == Audience::Nobody && webhooks::is_somebody_there(failure) {
            return Some(Self { audience: Audience::Anybody, ..self });
        }
        (self.key == Key::New && is_key_known(failure)).then_some(Self { key: Key::Any, ..self })
    }
}

/// The statements of a change set, and whether they answer the deliveries that were leased.
pub(super) fn transaction(form: Form, tenant: Tenant, change: &ChangeSet) -> Result<(Transaction, bool), Unwritable> {
    let Form { layout, audience, key } = form;
    let lines = lines(change);
    let counts = change.requires.iter().any(requires::is_locked_before);
    let before = (!lines.is_empty() || counts).then(|| locks(Statement::new(layout, tenant), key, change, &lines));
    let mut all = Statement::new(layout, tenant);
    if let (None, Some(replay)) = (&before, &change.replay) {
        all.take_key(replay, key);
    }
    write(&mut all, audience, tenant, &[change])?;
    let leases = change.lease.is_some() && !all.queued.is_empty();
    let mut statements = before.unwrap_or_default();
    statements.extend(all.finish(leases));
    statements.extend(behind(layout, tenant, change).into_iter().map(|it| (it, false)));
    statements.extend(positioned((layout, audience), tenant, &[change])?);
    Ok((Transaction::of_some(statements), leases))
}

/// Several change sets of a tenant, all of which only add rows and have a lease of the same worker, or none: they hold
/// all or none. The answer is the deliveries that were queued.
///
/// Rows of several change sets are locked here at once, in an order that nobody else keeps to. So it soon gives up what
/// it waits for: whoever waits for it in turn is not kept for long.
pub(super) fn together(
    (layout, audience): (Layout, Audience),
    tenant: Tenant,
    changes: &[&ChangeSet],
) -> Result<Vec<(Sql, bool)>, Unwritable> {
    let mut all = Statement::new(layout, tenant);
    all.take_keys(changes);
    write(&mut all, audience, tenant, changes)?;
    let mut statements = all.finish(true);
    statements.extend(positioned((layout, audience), tenant, changes)?);
    Ok(statements)
}

/// Events where tenants are spread over nodes, with the next positions of the tenant, and which types of them are wanted. Its
/// row is locked by that, so this comes last: whoever has it waits for nothing else.
fn positioned(
    (layout, audience): (Layout, Audience),
    tenant: Tenant,
    changes: &[&ChangeSet],
) -> Result<Vec<(Sql, bool)>, Unwritable> {
    if !layout.is_by_tenant() {
        return Ok(vec![]);
    }
    let mut statement = Statement::new(layout, tenant);
    if changes.iter().any(|it| webhooks::are_changed(it)) {
        webhooks::tell_wanted(&mut statement);
    }
    let added: Vec<_> = changes.iter().flat_map(|it| it.added()).filter(has_position).collect();
    let mut groups = Groups::of(tenant);
    for row in &added {
        groups.add(row)?;
    }
    groups.write_positioned(&mut statement, webhooks::unwanted(audience, changes));
    Ok(statement.finish(false))
}

/// Whether a row is an event, whose place in the feed only the database knows.
fn has_position(row: &AnyRow) -> bool {
    row.table().name == Event::TABLE.name
}

/// What must see the writes: parts of one statement see what was there before it, and one row is changed by one of them.
fn behind(layout: Layout, tenant: Tenant, change: &ChangeSet) -> Vec<Sql> {
    let mut behind = vec![];
    let (new, moved): (Vec<_>, Vec<_>) = with_lines(change).partition(|it| it.seen().is_none());
    if !new.is_empty() {
        behind.push(beginnings(tenant, new.iter().map(|it| it.id())));
    }
    if !moved.is_empty() {
        behind.extend(closure(layout, tenant, moved.iter().map(|it| it.id())));
    }
    let reset = change.writes.iter().filter_map(|it| if let Write::StreakReset(id) = it { Some(*id) } else { None });
    behind.extend(reset.map(|it| webhooks::reset_streak(tenant, it)));
    for it in &change.writes {
        if let Write::BringForward(sooner, at) = it {
            behind.extend(webhooks::bring_forward(layout, tenant, sooner, *at));
        }
    }
    behind
}

/// What has to be locked before the state is looked at: each statement sees what was committed when it began, so these
/// come in one of their own, before the others.
fn locks(mut first: Statement, key: Key, change: &ChangeSet, lines: &[Lines]) -> Vec<(Sql, bool)> {
    if let Some(replay) = &change.replay {
        first.take_key(replay, key);
    }
    if !lines.is_empty() {
        lock_tree(&mut first, lines);
    }
    for require in &change.requires {
        requires::lock(&mut first, require);
    }
    first.finish(false)
}

/// Locks the row of the tenant's reporting tree until the end and counts the change. A move also increments the tree's
/// version, and fails unless the change set saw that version; a change set that saw none saw a tree without a row.
fn lock_tree(first: &mut Statement, lines: &[Lines]) {
    let tenant = first.tenant.clone();
    let insert = "INSERT INTO reporting_trees AS t (tenant_id, version, changes)";
    let Some(seen) = lines.iter().find_map(|it| it.seen) else {
        let count = "ON CONFLICT (tenant_id) DO UPDATE SET changes = t.changes + 1";
        let text = format!("{insert} {} {count}", first.row(&format!("{tenant}, 0, 1")));
        first.part("", &text);
        return;
    };
    let all_saw_it = lines.iter().filter_map(|it| it.seen).all(|it| it == seen);
    let (seen, all_saw_it) = (first.sql.bind(Cell::Int(seen.0)), first.sql.bind(Cell::Flag(all_saw_it)));
    let count = format!(
        "ON CONFLICT (tenant_id) DO UPDATE SET version = t.version + 1, changes = t.changes + 1 WHERE t.version = {seen}"
    );
    let text = format!("{insert} {} {count} RETURNING t.version", first.row(&format!("{tenant}, 1, 1")));
    let tree = first.part("", &text);
    first.check(&format!("{all_saw_it} AND (SELECT version FROM {tree}) = {seen} + 1"), STALE);
}

fn write(
    statement: &mut Statement,
    audience: Audience,
    tenant: Tenant,
    changes: &[&ChangeSet],
) -> Result<(), Unwritable> {
    match changes {
        [one] => requires::check_all(statement, &one.requires),
        several => requires::check_all(statement, &requires_of(several)),
    }
    let lease = changes.iter().filter_map(|it| it.lease).max_by_key(|it| it.until);
    let mut added: Vec<_> = changes.iter().flat_map(|it| it.added()).collect();
    added.retain(|it| !(statement.layout.is_by_tenant() && has_position(it)));
    let mut groups = Groups::of(tenant);
    for it in changes.iter().flat_map(|it| &it.writes) {
        match it {
            Write::Put(row) | Write::PutReporting { row, .. } => groups.add(row)?,
            Write::NotificationsRead(person, at) => read_all(statement, *person, *at),
            // Written by themselves below, and behind the others, see `behind`.
            Write::MessageAdded(..) | Write::StreakReset(_) | Write::BringForward(..) => {}
            Write::WebhookRemoved(id, seen) => webhooks::remove(statement, *id, *seen),
            Write::Enqueue(jobs) => webhooks::enqueue(statement, jobs, lease),
        }
    }
    for row in &added {
        groups.add(row)?;
    }
    messages_added(statement, changes);
    groups.write(statement);
    let events: Vec<_> = changes.iter().flat_map(|it| &it.events).collect();
    if audience == Audience::Anybody {
        webhooks::fan_out(statement, &events, lease);
    }
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

/// Waits for whoever is changing the conversations, and looks then whether one of them is archived. All who change several
/// take them in one order, so that nobody waits for another who waits in turn.
fn messages_added(statement: &mut Statement, changes: &[&ChangeSet]) {
    let mut newest: BTreeMap<ConversationId, Timestamp> = BTreeMap::new();
    for it in changes.iter().flat_map(|it| &it.writes) {
        if let Write::MessageAdded(id, at) = it {
            let newest = newest.entry(*id).or_insert(*at);
            *newest = (*newest).max(*at);
        }
    }
    if newest.len() <= 1 || statement.layout.is_by_tenant() {
        newest.into_iter().for_each(|(id, at)| message_added(statement, id, at));
        return;
    }
    let count = statement.sql.bind(Cell::Int(i64::try_from(newest.len()).unwrap_or(i64::MAX)));
    let ids = statement.sql.ids(newest.keys().map(|it| it.to_bytes()));
    let times = statement.sql.many(Type::Time, newest.values().map(|it| Cell::Time(*it)));
    let (tenant, from) = (statement.tenant.clone(), statement.from(&format!("UNNEST({ids}, {times}) AS u (id, at)")));
    let held = statement.part(
        "MATERIALIZED ",
        &format!(
            "SELECT c.id, u.at {from} JOIN conversations AS c ON c.tenant_id = {tenant} AND c.id = u.id \
             ORDER BY c.id FOR NO KEY UPDATE OF c"
        ),
    );
    let part = statement.part(
        "",
        &format!(
            "UPDATE conversations AS t SET last_message_at = greatest(t.last_message_at, h.at) FROM {held} AS h \
             WHERE t.tenant_id = {tenant} AND t.id = h.id AND NOT t.archived RETURNING 1"
        ),
    );
    statement.check(&format!("(SELECT count(*) FROM {part}) = {count}"), STALE);
}

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
            for layout in [Layout::OneServer, Layout::ByTenant] {
                let sql = together((layout, Audience::Anybody), make.tenant(), &order.map(|it| &changes[it])).unwrap();
                let binds = format!("{sql:?}");
                let places = ["key-a", "key-b", "key-c", "key-d"].map(|it| binds.find(it).unwrap());
                assert!(places.is_sorted(), "{places:?}");
            }
        }
    }

    #[test]
    fn each_expectation_that_was_wrong_is_given_up_once() {
        let form = Form { layout: Layout::ByTenant, audience: Audience::Nobody, key: Key::New };
        let known = Failure::Unique { constraint: "replays_pkey_102345".to_owned(), text: String::new() };
        let subscribed = Failure::Check("subscribed".to_owned());
        let other = Failure::Unique { constraint: "observations_pkey_102345".to_owned(), text: String::new() };
        let after = |form: Form, it| form.after(it).map(|it| (it.audience, it.key));
        assert_eq!(after(form, &known), Some((Audience::Nobody, Key::Any)));
        assert_eq!(after(form, &subscribed), Some((Audience::Anybody, Key::New)));
        assert_eq!(after(form, &other), None);
        let careful = Form { audience: Audience::Anybody, key: Key::Any, ..form };
        assert!([&known, &subscribed, &other].iter().all(|it| careful.after(it).is_none()));
    }
}

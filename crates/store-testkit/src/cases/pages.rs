//! Paging through lists: every entry once and in order, also during concurrent inserts (decision A11).

use std::future::Future;

use candor_domain::access::api_key::{self, ApiKey, ApiKeyKind};
use candor_domain::catalog::{Attribute, Department, attribute, department};
use candor_domain::id::EmployeeId;
use candor_domain::observation::{self, Observation};
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::params::{Archived, Bounds};
use candor_domain::people::{self, Employee, Status, StatusFilter};
use candor_domain::time::Timestamp;
use candor_domain::{audit, audit::AuditEntry};
use candor_port_storage::{ChangeSet, Row, Write};
use candor_provisioning::Connector;
use candor_tables::flat::Stored;

use super::lists::{self, List};
use super::population::{NAMES, Population, day, instant};
use crate::Case;
use crate::fixtures::joins;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(observation_list_is_walked_in_every_order),
        Case::new(employee_list_is_walked_in_every_order),
        Case::new(remaining_lists_are_walked_in_every_order),
        Case::new(list_walk_is_complete_during_inserts),
        Case::new(list_continues_behind_a_removed_position),
        Case::new(empty_list_is_one_empty_page),
    ]
}

/// Walks a list in all orders. Page sizes make pages end between equal values and at the end of the list.
async fn every_order<T>(list: &List<T>, all: &[T], wanted: impl Fn(&T) -> bool, what: &str)
where
    T: Stored + Sortable + Clone + PartialEq + std::fmt::Debug,
{
    let whole = u16::try_from(all.iter().filter(|row| wanted(row)).count()).unwrap();
    for (_, sort) in T::sorts() {
        for limit in [3, 10, whole] {
            list.must_show(sort, limit.max(1), all, &wanted, what).await;
        }
    }
}

async fn observation_list_is_walked_in_every_order(world: CaseContext) {
    let all = Population::new(&world, 5, 90).await;
    let list = |archived| lists::observations(&world, observation::Filter { archived, ..Default::default() });
    every_order(&list(Archived::No), &all.observations, |row| row.archived_at.is_none(), "active").await;
    every_order(&list(Archived::Yes), &all.observations, |row| row.archived_at.is_some(), "archived").await;
    every_order(&list(Archived::All), &all.observations, |_| true, "all").await;
}

async fn employee_list_is_walked_in_every_order(world: CaseContext) {
    let all = Population::new(&world, 80, 0).await;
    let list = |status| lists::employees(&world, people::Filter { status, ..Default::default() });
    every_order(&list(StatusFilter::All), &all.people, |_| true, "all").await;
    for status in [Status::Active, Status::Deactivated, Status::PendingInvite] {
        every_order(&list(status.into()), &all.people, |row| row.status == status, "one status").await;
    }
}

async fn remaining_lists_are_walked_in_every_order(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let all = Population::new(&world, 1, 0).await;
    let departments = department::Filter { archived: Archived::All, ..Default::default() };
    every_order(&lists::departments(&world, departments), &all.departments, |_| true, "all").await;
    let attributes = attribute::Filter { archived: Archived::All, ..Default::default() };
    every_order(&lists::attributes(&world, attributes), &all.attributes, |_| true, "all").await;
    let (mut connectors, mut keys, mut writes) = (vec![], vec![], vec![]);
    for _ in 0..25 {
        let (created_at, updated_at) = (instant(&world), instant(&world));
        connectors.push(Connector { created_at, updated_at, ..make.connector() });
        let kind = if keys.len() % 2 == 0 { ApiKeyKind::Key } else { ApiKeyKind::Session };
        keys.push(ApiKey { kind, created_at: updated_at, updated_at: created_at, ..make.api_key() });
    }
    writes.extend(connectors.iter().map(|connector| Write::put(&Row::new(connector.clone()))));
    writes.extend(keys.iter().map(|key| Write::put(&Row::new(key.clone()))));
    world.save(writes).await;
    let (some, other) = (connectors[3].updated_at, connectors[17].updated_at);
    let (gte, lte) = (Some(some.min(other)), Some(some.max(other)));
    for bounds in [Bounds::default(), Bounds { gte, lte: None }, Bounds { gte: None, lte }, Bounds { gte, lte }] {
        let is_within =
            |at: Timestamp| bounds.gte.is_none_or(|from| at >= from) && bounds.lte.is_none_or(|to| at <= to);
        every_order(&lists::connectors(&world, bounds), &connectors, |row| is_within(row.updated_at), "changed")
            .await;
        for kind in [None, Some(ApiKeyKind::Key), Some(ApiKeyKind::Session)] {
            let is_selected = |row: &ApiKey| is_within(row.updated_at) && kind.is_none_or(|kind| row.kind == kind);
            let filter = api_key::Filter { updated_at: bounds, kind };
            every_order(&lists::api_keys(&world, filter), &keys, is_selected, "changed").await;
        }
    }
    let elsewhere = world.in_other_tenant();
    let entries: Vec<AuditEntry> =
        (0..40).map(|_| AuditEntry { occurred_at: instant(&world), ..make.audit("test.entry", "x") }).collect();
    let (audit, more_audit) = (entries[0].clone(), entries[1..].to_vec());
    elsewhere.commit(ChangeSet { audit, more_audit, ..make.change(vec![]) }).await.unwrap();
    every_order(&lists::audit_log(&elsewhere, audit::Filter::default()), &entries, |_| true, "all").await;
}

/// Walks every order of a list in small pages. `insert` adds entries anywhere after each page; existing entries
/// must appear once and in order.
async fn walk_while_inserting<T, F>(list: &List<T>, insert: impl Fn() -> F)
where
    T: Stored + Sortable + Clone + PartialEq + std::fmt::Debug,
    F: Future<Output = ()>,
{
    for (_, sort) in T::sorts() {
        let rows_before = list.walk(sort, 100).await;
        let ids: Vec<_> = rows_before.iter().map(|row| (list.id)(row)).collect();
        let (mut found, mut after, mut more) = (Vec::new(), None, true);
        while more {
            let page = list.page(sort, PageRequest { limit: 5, after: after.clone() }).await;
            after = page.items.last().map(|item| crate::place(item, sort, (list.id)(item)));
            found.extend(page.items);
            more = page.more && found.len() < 4 * rows_before.len();
            insert().await;
        }
        let mut distinct: Vec<_> = found.iter().map(|row| (list.id)(row)).collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), found.len(), "{sort:?}: an entry is shown twice");
        found.retain(|id| ids.contains(&(list.id)(id)));
        assert_eq!(found, rows_before, "{sort:?}");
    }
}

async fn list_walk_is_complete_during_inserts(world: CaseContext) {
    let all = Population::new(&world, 20, 30).await;
    let observations = observation::Filter { archived: Archived::All, ..Default::default() };
    walk_while_inserting(&lists::observations(&world, observations), || {
        insert_observation(&world, all.people[0].id)
    })
    .await;
    let people = people::Filter { status: StatusFilter::All, ..Default::default() };
    walk_while_inserting(&lists::employees(&world, people), || insert_person(&world)).await;
    let departments = department::Filter { archived: Archived::All, ..Default::default() };
    walk_while_inserting(&lists::departments(&world, departments), || insert_department(&world)).await;
    let attributes = attribute::Filter { archived: Archived::All, ..Default::default() };
    walk_while_inserting(&lists::attributes(&world, attributes), || insert_attribute(&world)).await;
    // Each earlier insert added an audit entry, and each page of this walk adds another one.
    walk_while_inserting(&lists::audit_log(&world, audit::Filter::default()), || async {
        let audit = AuditEntry { occurred_at: instant(&world), ..world.make.audit("test.entry", "x") };
        world.commit(ChangeSet::new(audit)).await.unwrap();
    })
    .await;
}

async fn insert_observation(world: &CaseContext, about: EmployeeId) {
    let archived_at = world.random.chance(30).then(|| instant(world));
    let it = Observation {
        observation_date: day(world),
        created_at: instant(world),
        updated_at: instant(world),
        archived_at,
        ..world.make.observation(about)
    };
    world.save(vec![Write::put(&Row::new(it))]).await;
}

async fn insert_person(world: &CaseContext) {
    let it = Employee {
        first_name: (*world.random.pick(&NAMES)).to_owned(),
        last_name: (*world.random.pick(&NAMES)).to_owned(),
        job_title: None,
        status: *world.random.pick(&[Status::Active, Status::Deactivated, Status::PendingInvite]),
        created_at: instant(world),
        updated_at: instant(world),
        ..world.make.employee()
    };
    world.save(vec![joins(it)]).await;
}

async fn insert_department(world: &CaseContext) {
    let name = format!("{} {}", world.random.pick(&NAMES), world.make.number() + 100);
    let it =
        Department { name, created_at: instant(world), updated_at: instant(world), ..world.make.department() };
    world.save(vec![Write::put(&Row::new(it))]).await;
}

async fn insert_attribute(world: &CaseContext) {
    let name = format!("{} {}", world.random.pick(&NAMES), world.make.number() + 100);
    let it = Attribute { name, created_at: instant(world), updated_at: instant(world), ..world.make.attribute() };
    world.save(vec![Write::put(&Row::new(it))]).await;
}

/// Continues a list behind a position without a row, as left when the last entry of a page is changed or deleted.
async fn list_continues_behind_a_removed_position(world: CaseContext) {
    let all = Population::new(&world, 5, 60).await;
    let list = lists::observations(&world, observation::Filter { archived: Archived::All, ..Default::default() });
    for (_, sort) in Observation::sorts() {
        let sorted_rows = crate::sort_entries(all.observations.clone(), sort, list.id);
        let removed_row = &sorted_rows[30];
        // An unused id that differs from an existing one in one bit.
        let id = (u128::from_be_bytes(removed_row.id.to_bytes()) ^ 1).to_be_bytes();
        let position = crate::place(removed_row, sort, id);
        let is_later = |observation: &&Observation| {
            let (here, there) = (
                (Sortable::key(*observation, sort.by), observation.id.to_bytes()),
                (Some(position.key.clone()), position.id),
            );
            if sort.descending { here < there } else { here > there }
        };
        let expected_rows: Vec<_> = sorted_rows.iter().filter(is_later).take(7).cloned().collect();
        let page = list.page(sort, PageRequest { limit: 7, after: Some(position.clone()) }).await;
        assert_eq!(page.items, expected_rows, "{sort:?}");
    }
}

async fn empty_list_is_one_empty_page(world: CaseContext) {
    let page = PageRequest { limit: 10, after: None };
    for (_, sort) in Observation::sorts() {
        let list =
            lists::observations(&world, observation::Filter { archived: Archived::All, ..Default::default() });
        let empty = list.page(sort, page.clone()).await;
        assert_eq!((empty.items, empty.more), (vec![], false));
    }
    for (_, sort) in Employee::sorts() {
        let list = lists::employees(&world, people::Filter { status: StatusFilter::All, ..Default::default() });
        let empty = list.page(sort, page.clone()).await;
        assert_eq!((empty.items, empty.more), (vec![], false));
    }
}

//! Unindexed lists: they use separate slots and have a deadline (decision A17).

use std::time::Duration;

use candor_domain::audit;
use candor_domain::catalog::department;
use candor_domain::event::{EventType, FeedFilter, FeedStart};
use candor_domain::objective::{Family, Filter as ObjectiveFilter};
use candor_domain::observation::{self, Type};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::params::{Bounds, Params};
use candor_domain::people::{self, Role};
use candor_domain::time::Timestamp;
use candor_domain::visibility::Viewer;
use candor_fair_share::SlowReads;
use candor_port_storage::StorageExt;
use candor_port_storage::{SlowListError, StorageError, TooSlowError};
use candor_subscriptions::DeliveryFilter;
use candor_tables::rows;

use crate::Case;
use crate::world::{CaseContext, EVER};

pub(crate) fn cases() -> Vec<Case> {
    let usual = SlowReads::with_places(2);
    vec![
        Case::new(only_unindexed_lists_need_a_slot).with_limits(SlowReads { places: 0, ..usual }),
        Case::new(slow_read_ends_at_its_deadline).with_limits(SlowReads { deadline: Duration::ZERO, ..usual }),
        Case::new(slow_read_succeeds_within_its_deadline),
    ]
}

const PAGE: PageRequest = PageRequest { limit: 10, after: None };
const CHANGED: Bounds<Timestamp> = Bounds { gte: Some(EVER), lte: None };

/// The name of a list, its result, and the conditions that no index covers.
type ListResult = (&'static str, Result<(), StorageError>, &'static [&'static str]);

/// Reads one unindexed list of every kind.
async fn slow_lists(CaseContext { store, tenant, make, .. }: &CaseContext) -> Vec<ListResult> {
    let (tenant, by_time) = (*tenant, Sort::descending_by(SortBy::CreatedAt));
    let typed_filter = observation::Filter { kind: Some(Type::Strength), ..Default::default() };
    let change_filter = observation::Filter { updated_at: CHANGED, ..Default::default() };
    let admins = people::Filter { roles: vec![Role::OrgAdmin], ..Default::default() };
    let departments = department::Filter { updated_at: CHANGED, ..Default::default() };
    let entries = audit::Filter {
        actor_id: Some("key_1".to_owned()),
        actions: vec!["department.created".to_owned()],
        ..Default::default()
    };
    let deliveries =
        DeliveryFilter { event_type: Some(EventType::TestPing), event_id: Some(make.id()), status: None };
    let rare = FeedFilter { kinds: vec![EventType::SummaryShared] };
    let params = Params::new(vec![("filter[period_start][gte]".to_owned(), "2026-01-01".to_owned())]);
    let period = params.parse(|params| ObjectiveFilter::read(Family::Employees, params)).unwrap().filter;
    let by_name = Sort::ascending_by(SortBy::Name);
    let (late, of_log) = (Sort::descending_by(SortBy::PeriodEnd), Sort::descending_by(SortBy::OccurredAt));
    let observations = |filter| rows::observations::list(filter, Viewer::Everything, by_time, &PAGE);
    vec![
        ("type", store.page(tenant, observations(&typed_filter)).await.map(drop), &["filter[type]"]),
        ("changed", store.page(tenant, observations(&change_filter)).await.map(drop), &["filter[updated_at]"]),
        (
            "role",
            store.page(tenant, rows::employees::list(&admins, by_time, &PAGE)).await.map(drop),
            &["filter[role]"],
        ),
        (
            "departments",
            store.page(tenant, rows::departments::list(&departments, by_name, &PAGE)).await.map(drop),
            &["filter[updated_at]"],
        ),
        (
            "log",
            store.page(tenant, rows::audit::list(&entries, of_log, &PAGE)).await.map(drop),
            &["filter[action]"],
        ),
        (
            "deliveries",
            store.page(tenant, rows::deliveries::list(make.id(), &deliveries, by_time, &PAGE)).await.map(drop),
            &["filter[event_id]"],
        ),
        (
            "objectives",
            store.page(tenant, rows::objectives::list(&period, Viewer::Everything, late, &PAGE)).await.map(drop),
            &["filter[period_start]"],
        ),
        ("feed", store.feed(tenant, &rare, EVER, &FeedStart::Oldest, 10).await.map(drop), &["filter[event]"]),
        ("newest", store.feed(tenant, &rare, EVER, &FeedStart::Newest, 10).await.map(drop), &["filter[event]"]),
        (
            "since",
            store.feed(tenant, &FeedFilter::default(), EVER, &FeedStart::Since(make.tick()), 10).await.map(drop),
            &["since"],
        ),
    ]
}

/// Reads lists like those of `slow_lists`, with conditions that an index covers.
async fn quick_lists(CaseContext { store, tenant, make, .. }: &CaseContext) -> Vec<ListResult> {
    let tenant = *tenant;
    let of_one = observation::Filter { employee_id: Some(make.id()), ..Default::default() };
    let change_filter = observation::Filter { updated_at: CHANGED, ..Default::default() };
    let entries = audit::Filter {
        actions: vec!["department.created".to_owned(), "department.created".to_owned(), "x".to_owned()],
        ..Default::default()
    };
    let by_actor = audit::Filter { actor_id: Some("key_1".to_owned()), ..Default::default() };
    let (all, of_log) = (FeedFilter::default(), Sort::descending_by(SortBy::OccurredAt));
    let by_change = Sort::ascending_by(SortBy::UpdatedAt);
    let by_day = Sort::descending_by(SortBy::ObservationDate);
    vec![
        (
            "of one",
            store
                .page(tenant, rows::observations::list(&of_one, Viewer::Everything, by_day, &PAGE))
                .await
                .map(drop),
            &[],
        ),
        (
            "changed",
            store
                .page(tenant, rows::observations::list(&change_filter, Viewer::Everything, by_change, &PAGE))
                .await
                .map(drop),
            &[],
        ),
        ("action", store.page(tenant, rows::audit::list(&entries, of_log, &PAGE)).await.map(drop), &[]),
        ("actor", store.page(tenant, rows::audit::list(&by_actor, of_log, &PAGE)).await.map(drop), &[]),
        ("feed", store.feed(tenant, &all, EVER, &FeedStart::Oldest, 10).await.map(drop), &[]),
        ("now", store.feed(tenant, &all, EVER, &FeedStart::Now, 10).await.map(drop), &[]),
        ("newest", store.feed(tenant, &all, EVER, &FeedStart::Newest, 10).await.map(drop), &[]),
    ]
}

fn assert_all_given_up(results: Vec<ListResult>, cause: SlowListError) {
    for (what, found, conditions) in results {
        let Err(StorageError::TooSlow(found)) = found else { panic!("{what}: {found:?}") };
        let conditions = conditions.iter().map(|condition| (*condition).to_owned()).collect();
        assert_eq!(found, TooSlowError { cause, conditions }, "{what}");
    }
}

fn assert_all_read(results: Vec<ListResult>) {
    for (what, found, _) in results {
        assert!(found.is_ok(), "{what}: {found:?}");
    }
}

async fn only_unindexed_lists_need_a_slot(world: CaseContext) {
    assert_all_given_up(slow_lists(&world).await, SlowListError::NoPlace);
    assert_all_read(quick_lists(&world).await);
}

async fn slow_read_ends_at_its_deadline(world: CaseContext) {
    assert_all_given_up(slow_lists(&world).await, SlowListError::OutOfTime);
    assert_all_read(quick_lists(&world).await);
    assert_all_given_up(slow_lists(&world).await, SlowListError::OutOfTime);
}

async fn slow_read_succeeds_within_its_deadline(world: CaseContext) {
    assert_all_read(slow_lists(&world).await);
}

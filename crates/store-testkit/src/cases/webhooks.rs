//! Subscriptions: saving, changing, deleting, listing, and walking across all tenants.

use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use candor_domain::objective::Scope;
use candor_domain::observation;
use candor_domain::page::{PageRequest, Sort, SortBy, Sortable};
use candor_domain::params::Bounds;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::{AttemptResult, Claim, QueueWalk};
use candor_port_storage::{CommitError, Row, StorageExt, Unique, Version, Versioned, Write};
use candor_subscriptions::{
    CustomHeaders, DeliveryFilter, EventFilter, Job, PayloadForm, SealedHeader, SealedSecret, Subscription, Topic,
    Topics,
};
use candor_tables::rows;

use super::log::{entries, entry};
use super::rows::name_of_result;
use super::{health, lists};
use crate::Case;
use crate::worker::{END, LEASE_SECONDS, MANY, Worker, in_order, walk};
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(subscription_round_trips),
        Case::new(subscription_update_requires_the_seen_version),
        Case::new(removed_subscription_loses_its_queue_but_not_its_log),
        Case::new(subscription_belongs_to_one_tenant),
        Case::new(subscription_list_matches_filters_in_every_order),
        Case::new(subscriptions_of_all_tenants_are_walked),
        Case::new(corrupt_subscription_names_its_column),
        Case::new(corrupt_attempt_names_its_column),
        Case::new(corrupt_queued_delivery_names_its_column),
    ]
}

async fn read_subscription(world: &CaseContext, subscription: &Subscription) -> Option<Versioned<Subscription>> {
    world.store.row::<Subscription>(world.tenant, subscription.id).await.unwrap()
}

/// Returns custom headers with varied values.
fn custom_headers() -> CustomHeaders {
    let header = |masked: &str, sealed| SealedHeader { masked: masked.to_owned(), sealed };
    let headers = [("authorization", header("…cdef", (0..=255).collect())), ("x-a", header("…\"", vec![0; 3]))];
    CustomHeaders(headers.map(|(name, header)| (name.to_owned(), header)).into())
}

/// Returns subscriptions that together cover varied values of every column.
fn variants(world: &CaseContext) -> Vec<Subscription> {
    let make = &world.make;
    let secret = |sealed: Vec<u8>, ends_at| SealedSecret { sealed, ends_at };
    let end = Some(make.tick().plus_seconds(86_400));
    let every_kind = EventType::ALL.iter().copied().map(Topic::Of);
    vec![
        make.subscription(),
        Subscription { event_types: Topics::new(every_kind.clone()), ..make.subscription() },
        Subscription { effective_event_types: Topics::new(every_kind.clone()), ..make.subscription() },
        Subscription { event_types: Topics::new(every_kind.chain([Topic::Every])), ..make.subscription() },
        Subscription { active: false, description: Some(String::new()), ..make.subscription() },
        Subscription {
            description: Some("it's \"quoted\" % 👍🏽 \u{202e}".to_owned()), ..make.subscription()
        },
        Subscription {
            url: format!("https://user@hooks.example.com:8443/{}?a=b&c=%20#d", "é".repeat(900)),
            ..make.subscription()
        },
        Subscription { secrets: vec![], ..make.subscription() },
        Subscription { payload: PayloadForm::Thin, headers: custom_headers(), ..make.subscription() },
        Subscription {
            filter: Some(EventFilter {
                employee_ids: Some((0..100).map(|_| make.id()).collect()),
                department_ids: Some(vec![make.id()]),
                kind: Some(observation::Type::Opportunity),
                scopes: Some(Scope::ALL.to_vec()),
            }),
            max_per_second: Some(1000),
            ..make.subscription()
        },
        Subscription {
            secrets: vec![secret((0..=255).collect(), end), secret(vec![], end), secret(vec![0; 100], None)],
            ..make.subscription()
        },
        Subscription {
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(253_402_300_799_999),
            ..make.subscription()
        },
    ]
}

async fn subscription_round_trips(world: CaseContext) {
    for value in variants(&world) {
        world.add_subscription(value.clone()).await;
        assert_eq!(read_subscription(&world, &value).await, Some(Versioned { value, version: Version::FIRST }));
    }
    assert_eq!(read_subscription(&world, &world.make.subscription()).await, None);
}

async fn subscription_update_requires_the_seen_version(world: CaseContext) {
    let first = world.subscriber().await;
    let second_result = world.try_save(Write::put(&Row::new(first.clone()))).await;
    assert!(matches!(second_result, Err(CommitError::Taken(Unique::Id))), "{second_result:?}");
    for (number, value) in (1..).zip(variants(&world)) {
        let value = Subscription { id: first.id, ..value };
        world.save(vec![Write::put(&Row::at_version(value.clone(), Version(number)))]).await;
        let late = world.try_save(Write::put(&Row::at_version(first.clone(), Version(number)))).await;
        assert!(matches!(late, Err(CommitError::Stale)), "{late:?}");
        assert_eq!(
            read_subscription(&world, &first).await,
            Some(Versioned { value, version: Version(number + 1) })
        );
    }
    let nobody = world.try_save(Write::put(&Row::at_version(world.make.subscription(), Version::FIRST))).await;
    assert!(matches!(nobody, Err(CommitError::Stale)), "{nobody:?}");
}

async fn removed_subscription_loses_its_queue_but_not_its_log(world: CaseContext) {
    let (to, other) = (world.subscriber().await, world.subscriber().await);
    world.log_deliveries(&to, &[entry(&world, &to, world.make.tick())]).await;
    world.commit_events(&[EventType::EmployeeCreated; 4]).await;
    let worker = Worker::new(&world);
    let jobs = worker.all(world.now()).await;
    // Each subscription has four deliveries: one due, one scheduled, one parked and one leased.
    let results = [AttemptResult::Back(world.now()), AttemptResult::Back(END), AttemptResult::Parked];
    let some = jobs.chunks(4).flat_map(|of_one| of_one.iter().copied().zip(results.clone()));
    worker.records_all(some.collect()).await;
    let change = Subscription { description: Some("newer".to_owned()), ..to.clone() };
    world.save(vec![Write::put(&Row::at_version(change, Version::FIRST))]).await;
    let late = world.try_save(Write::WebhookRemoved(to.id, Version::FIRST)).await;
    assert!(matches!(late, Err(CommitError::Stale)), "{late:?}");
    assert!(read_subscription(&world, &to).await.is_some());
    world.save(vec![Write::WebhookRemoved(to.id, Version(2))]).await;
    assert_eq!(read_subscription(&world, &to).await, None);
    let second_removal = world.try_save(Write::WebhookRemoved(to.id, Version(2))).await;
    assert!(matches!(second_removal, Err(CommitError::Stale)), "{second_removal:?}");
    // Workers drop the remaining deliveries of a deleted subscription until the queue is empty.
    let claims = [Claim::Oldest { most: MANY }, Claim::Parked(QueueWalk { queues: MANY, ..walk(MANY) })];
    let mut others = 0;
    for claim in claims {
        let claimed_jobs = worker.claims(END, claim).await.jobs;
        let (left, kept): (Vec<_>, Vec<_>) = claimed_jobs.into_iter().partition(|job| job.webhook_id == to.id);
        others += kept.len();
        worker.records_all(left.into_iter().map(|job| (job, AttemptResult::Gone)).collect()).await;
    }
    assert_eq!(others, 4, "deliveries of the other subscription");
    world.spoil("DELETE FROM webhooks").await;
    let remaining_jobs = [worker.all(END.plus_seconds(1_000)).await, worker.all_parked(END).await].concat();
    assert_eq!(
        remaining_jobs.iter().filter(|job| job.webhook_id == other.id).count(),
        remaining_jobs.len(),
        "{remaining_jobs:?}"
    );
    assert_eq!(entries(&world, &to).await.len(), 1, "the log is kept");
}

async fn subscription_belongs_to_one_tenant(world: CaseContext) {
    let mine = world.subscriber().await;
    for others in [world.in_other_tenant(), world.test_environment()] {
        assert_eq!(read_subscription(&others, &mine).await, None);
        let list = lists::webhooks(&others, candor_subscriptions::Filter::default());
        assert_eq!(list.walk(Sort::ascending_by(SortBy::CreatedAt), 9).await, []);
        for write in [
            Write::put(&Row::at_version(mine.clone(), Version::FIRST)),
            Write::WebhookRemoved(mine.id, Version::FIRST),
        ] {
            let result = others.try_save(write).await;
            assert!(matches!(result, Err(CommitError::Stale)), "{result:?}");
        }
        let theirs = Subscription { url: "https://theirs.example.com/".to_owned(), ..mine.clone() };
        others.add_subscription(theirs.clone()).await;
        assert_eq!(read_subscription(&others, &mine).await.map(|row| row.value), Some(theirs));
    }
    assert_eq!(read_subscription(&world, &mine).await, Some(Versioned { value: mine, version: Version::FIRST }));
}

async fn subscription_list_matches_filters_in_every_order(world: CaseContext) {
    let start = world.now();
    let random_time = |_: &CaseContext| start.plus_seconds(i64::try_from(world.random.number_below(20)).unwrap());
    let mut all = vec![];
    for it in variants(&world).into_iter().cycle().take(60) {
        let value = Subscription {
            id: world.make.id(),
            created_at: random_time(&world),
            updated_at: random_time(&world),
            ..it
        };
        all.push(world.add_subscription(value).await);
    }
    for number in 0..24 {
        let (a, b) = (random_time(&world), random_time(&world));
        let time_bound = |time: Timestamp| world.random.chance(50).then_some(time);
        let updated_at = Bounds { gte: time_bound(a.min(b)), lte: time_bound(a.max(b)) };
        let list = lists::webhooks(&world, candor_subscriptions::Filter { updated_at });
        let sorts: Vec<_> = Subscription::sorts().collect();
        let (_, sort) = sorts[number % sorts.len()];
        let limit = *world.random.pick(&[1, 7, 100]);
        let shows = |subscription: &Subscription| {
            updated_at.gte.is_none_or(|gte| subscription.updated_at >= gte)
                && updated_at.lte.is_none_or(|lte| subscription.updated_at <= lte)
        };
        list.must_show(sort, limit, &all, shows, &format!("{updated_at:?}")).await;
    }
}

async fn subscriptions_of_all_tenants_are_walked(world: CaseContext) {
    assert_eq!(world.store.every_webhook(None, 9).await.unwrap(), []);
    let worlds = [world.clone(), world.in_other_tenant(), world.test_environment(), world.in_other_tenant()];
    let mut expected_ids = vec![];
    for number in 0..30 {
        let it = world.random.pick(&worlds);
        let value = Subscription { active: number % 3 > 0, ..it.make.subscription() };
        let delta = health::failure_delta(&world);
        it.add_subscription(value.clone()).await;
        world.store.record(it.make.worker(), vec![], vec![(it.queue(&value), delta)]).await.unwrap();
        expected_ids.push((it.tenant, read_subscription(it, &value).await.unwrap()));
    }
    expected_ids.sort_by_key(|(tenant, row)| (tenant.to_bytes(), row.value.id));
    for most in [1, 4, 30, 100] {
        let (mut found, mut after) = (vec![], None);
        loop {
            let page = world.store.every_webhook(after, most).await.unwrap();
            assert!(page.len() <= usize::from(most));
            let Some((tenant, last)) = page.last() else { break };
            after = Some((*tenant, last.value.id));
            found.extend(page);
        }
        assert_eq!(found, expected_ids, "{most} at a time");
    }
}

async fn corrupt_subscription_names_its_column(world: CaseContext) {
    let to = world.subscriber().await;
    let page = PageRequest { limit: 9, after: None };
    let good = [
        ("event_types", "'*'", vec!["'spoilt'", "''", "'* spoilt'"]),
        ("effective_event_types", "'*'", vec!["'spoilt'", "''", "'* spoilt'"]),
        ("secrets", "'[]'", vec!["''", "'{}'", "'[{\"sealed\":\"?\",\"ends_at\":null}]'"]),
        ("last_delivery_status", "NULL", vec!["'spoilt'"]),
        ("failures", "NULL", vec!["-1", "4294967296"]),
        ("filter_type", "NULL", vec!["'spoilt'"]),
        ("filter_scopes", "NULL", vec!["''", "'org spoilt'"]),
    ];
    for (column, right, wrong) in good {
        for value in wrong {
            world.spoil(&format!("UPDATE webhooks SET {column} = {value}")).await;
            let expected_place = ("webhooks", column);
            assert_eq!(
                name_of_result(world.store.row::<Subscription>(world.tenant, to.id).await),
                expected_place,
                "{value}"
            );
            assert_eq!(name_of_result(world.store.every_webhook(None, 9).await), expected_place, "{value}");
            let sort = Sort::ascending_by(SortBy::CreatedAt);
            let list = world
                .store
                .page(world.tenant, rows::webhooks::list(&candor_subscriptions::Filter::default(), sort, &page))
                .await;
            assert_eq!(name_of_result(list), expected_place, "{value}");
        }
        world.spoil(&format!("UPDATE webhooks SET {column} = {right}")).await;
    }
    assert!(read_subscription(&world, &to).await.is_some());
}

async fn corrupt_attempt_names_its_column(world: CaseContext) {
    let to = world.subscriber().await;
    let one = entry(&world, &to, world.make.tick());
    world.log_deliveries(&to, std::slice::from_ref(&one)).await;
    let page = PageRequest { limit: 9, after: None };
    let table = [
        ("event_type", "'employee.created'", "'spoilt'"),
        ("attempt", "1", "-1"),
        ("response_status", "500", "65536"),
        ("response_duration_ms", "10", "-1"),
        ("failure", "NULL", "'spoilt'"),
    ];
    for (column, right, wrong) in table {
        world.spoil(&format!("UPDATE deliveries SET {column} = {wrong}")).await;
        let expected_place = ("deliveries", column);
        assert_eq!(name_of_result(world.store.delivery(world.tenant, to.id, one.id).await), expected_place);
        let (filter, sort) = (DeliveryFilter::default(), Sort::ascending_by(SortBy::CreatedAt));
        assert_eq!(
            name_of_result(
                world.store.page(world.tenant, rows::deliveries::list(to.id, &filter, sort, &page)).await
            ),
            expected_place
        );
        world.spoil(&format!("UPDATE deliveries SET {column} = {right}")).await;
    }
    // The lookup searches for all known statuses, so it misses an entry with an unknown status.
    world.spoil("UPDATE deliveries SET status = 'spoilt'").await;
    assert_eq!(world.store.delivery(world.tenant, to.id, one.id).await.unwrap(), None);
}

async fn corrupt_queued_delivery_names_its_column(world: CaseContext) {
    let to = world.subscriber().await;
    let one = || Job { event_type: EventType::EmployeeCreated, ..world.delivery_at(world.now(), &to) };
    let jobs = [one(), one()];
    world.enqueue(&jobs).await;
    let worker = Worker::new(&world);
    let table = [
        ("event_type", "'employee.created'", "'spoilt'"),
        ("origin", "'replay'", "''"),
        ("attempt", "1", "65536"),
    ];
    for (column, right, wrong) in table {
        world.spoil(&format!("UPDATE delivery_jobs SET {column} = {wrong}")).await;
        for claim in [Claim::Oldest { most: 9 }, Claim::SubscriptionQueues(walk(9))] {
            let result = world.store.claim(worker.lease(world.now()), world.now(), &claim).await;
            assert_eq!(name_of_result(result), ("delivery_jobs", column), "{claim:?}");
            // The deliveries may be leased by the earlier read; wait for the leases to end.
            world.make.clock.advance_seconds(LEASE_SECONDS);
        }
        world.spoil(&format!("UPDATE delivery_jobs SET {column} = {right}")).await;
    }
    assert_eq!(worker.all(world.now()).await, in_order(jobs.to_vec()));
}

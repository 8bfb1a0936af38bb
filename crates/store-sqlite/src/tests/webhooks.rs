//! Asserts the query plans of all statements on webhooks.

use candor_domain::access::Tenant;
use candor_domain::event::EventType;
use candor_domain::page::{Key, PageRequest, Position, Sort, SortBy};
use candor_domain::time::Timestamp;
use candor_port_storage::queue::{AttemptResult, Claim, Lease, QueueWalk, RedeliveryFilter};
use candor_port_storage::{ChangeSet, Row, Version, Write};
use candor_store_testkit::Fixtures;
use candor_store_testkit::fixtures::joins;
use candor_subscriptions::{
    Delivery, DeliveryFilter, DeliveryOrigin, HealthDelta, Job, Status, Streak, Subscription,
};
use candor_tables::flat::{CellReader, SqlValue};
use candor_tables::read::Lookup;
use candor_tables::rows;

use super::{database, save};
use crate::commit;
use crate::listing;
use crate::queue;
use crate::reads::{redelivery, webhooks};
use crate::sql::Db;
use crate::table;

struct Stored {
    db: Db,
    make: Fixtures,
    tenant: Tenant,
    to: Subscription,
    lease: Lease,
}

fn stored() -> Stored {
    let (mut db, make) = (database(), Fixtures::new(3));
    let (tenant, to) = (make.tenant(), make.subscription());
    save(&mut db, &make, tenant, vec![Write::put(&Row::new(to.clone()))]);
    let lease = Lease { worker: make.worker(), until: make.tick().plus_seconds(30) };
    db.asked.clear();
    Stored { db, make, tenant, to, lease }
}

/// Returns the executed statements with their query plans.
pub(super) fn plans(db: &mut Db) -> Vec<(String, Vec<String>)> {
    let step = |row: &mut dyn CellReader| {
        let _ids = (row.int(), row.int(), row.int());
        Ok(row.text().unwrap().unwrap())
    };
    let statements = std::mem::take(&mut db.asked);
    let plans = statements
        .into_iter()
        .map(|listing| (format!("{listing:?}"), db.rows(listing.into_explain_plan(), step).unwrap()))
        .collect();
    db.asked.clear();
    plans
}

/// Asserts that no plan scans or sorts, except for the allowed steps.
fn must_be_led(db: &mut Db, allowed: &[&str]) {
    let plans = plans(db);
    assert!(!plans.is_empty());
    for (text, steps) in plans {
        for step in steps {
            let heavy = step.starts_with("SCAN") || step.contains("TEMP B-TREE") || step.contains("AUTOMATIC");
            assert!(!heavy || allowed.contains(&step.as_str()), "{step}: {text}");
        }
    }
}

#[test]
fn change_set_queues_deliveries_by_indexes() {
    let Stored { mut db, make, tenant, to, lease } = stored();
    let event = make.event(EventType::EmployeeCreated);
    let job = Job::new(tenant, to.id, (event.id, event.kind), event.created_at, DeliveryOrigin::Replay);
    let writes = vec![
        Write::Enqueue(vec![job]),
        Write::StreakReset(to.id),
        Write::WebhookRemoved(to.id, Version::FIRST),
        Write::put(&Row::new(to)),
    ];
    let change = ChangeSet { events: vec![event], lease: Some(lease), ..make.change(writes) };
    commit::carry_out(&mut db, tenant, &change).unwrap();
    must_be_led(&mut db, &[]);
}

#[test]
fn subscribers_of_events_are_found_by_one_index_search() {
    let Stored { mut db, make, tenant, .. } = stored();
    let events = vec![make.event(EventType::EmployeeCreated), make.event(EventType::EmployeeUpdated)];
    let change = ChangeSet { events, ..make.change(vec![]) };
    commit::carry_out(&mut db, tenant, &change).unwrap();
    let wanted_plans: Vec<_> = plans(&mut db).into_iter().filter(|(text, _)| text.contains("wanted")).collect();
    assert_eq!(wanted_plans.len(), 1, "one statement for all events");
    assert_eq!(wanted_plans[0].1, ["SEARCH webhooks USING INDEX webhooks_active (tenant_id=?)"]);
}

fn claims() -> [(Claim, Vec<&'static str>); 3] {
    let walk = QueueWalk { after: None, queues: 1, each: 9, busy: vec![], limited: vec![] };
    [
        (Claim::Oldest { most: 9 }, vec!["SEARCH delivery_jobs USING INDEX delivery_jobs_by_due_time (due_at<?)"]),
        (
            Claim::SubscriptionQueues(walk.clone()),
            vec![
                "SCAN delivery_jobs USING COVERING INDEX delivery_jobs_by_lane",
                "SEARCH delivery_jobs USING INDEX delivery_jobs_by_lane (tenant_id=? AND webhook_id=? \
                 AND due_at>? AND due_at<?)",
            ],
        ),
        (
            Claim::Parked(walk),
            vec![
                "SCAN delivery_jobs USING INDEX delivery_jobs_parked",
                "SEARCH webhooks USING INDEX sqlite_autoindex_webhooks_1 (tenant_id=? AND id=?)",
                "SEARCH delivery_jobs USING INDEX delivery_jobs_parked (tenant_id=? AND webhook_id=?)",
            ],
        ),
    ]
}

#[test]
fn claim_is_read_in_index_order() {
    for (claim, mut wanted) in claims() {
        let Stored { mut db, make, tenant, to, lease } = stored();
        let jobs =
            vec![Job::new(tenant, to.id, (make.id(), EventType::TestPing), make.tick(), DeliveryOrigin::Test)];
        save(&mut db, &make, tenant, vec![Write::Enqueue(jobs.clone())]);
        if matches!(claim, Claim::Parked(_)) {
            db.batch("UPDATE delivery_jobs SET due_at = NULL").unwrap();
        }
        db.asked.clear();
        assert_eq!(queue::claim(&mut db, lease, make.tick(), &claim).unwrap().jobs, jobs);
        wanted.push("SEARCH delivery_jobs USING PRIMARY KEY (tenant_id=? AND webhook_id=? AND event_id=?)");
        let steps: Vec<_> = plans(&mut db).into_iter().flat_map(|(_, steps)| steps).collect();
        assert_eq!(steps, wanted, "{claim:?}");
    }
}

#[test]
fn due_mails_are_read_in_index_order() {
    let Stored { mut db, make, tenant, lease, .. } = stored();
    let person = make.employee();
    let mail = make.invitation(person.id).by_mail(vec![1], make.tick());
    save(&mut db, &make, tenant, vec![joins(person), Write::put(&Row::new(mail.clone()))]);
    db.asked.clear();
    assert_eq!(queue::claim_mails(&mut db, lease, make.tick(), 9, &[]).unwrap(), [(tenant, mail.id)]);
    let steps: Vec<_> = plans(&mut db).into_iter().flat_map(|(_, steps)| steps).collect();
    let expected_plans = [
        "SEARCH invitations USING INDEX invitations_by_mail_due (mail_due_at<?)",
        "SEARCH invitations USING INDEX sqlite_autoindex_invitations_1 (tenant_id=? AND id=?)",
    ];
    assert_eq!(steps, expected_plans);
}

fn entry(make: &Fixtures, job: &Job) -> Delivery {
    Delivery {
        id: make.id(),
        subscription_id: job.webhook_id,
        event_id: job.event_id,
        event_type: job.event_type,
        attempt: 1,
        status: Status::Failed,
        request_url: String::new(),
        response_status: 0,
        response_duration_ms: 0,
        next_attempt_at: None,
        delivered_at: None,
        attempted_at: make.tick(),
        failure: None,
        request_id: None,
        failure_detail: None,
    }
}

#[test]
fn recorded_deliveries_are_found_by_primary_key() {
    let Stored { mut db, make, tenant, to, lease } = stored();
    let job = || Job::new(tenant, to.id, (make.id(), EventType::TestPing), make.tick(), DeliveryOrigin::Test);
    let settled_result = |job: &Job, retry_at| {
        AttemptResult::Settled(Box::new(candor_subscriptions::AttemptEffect {
            entry: entry(&make, job),
            retry_at,
        }))
    };
    let jobs: Vec<_> = (0..5).map(|_| job()).collect();
    let change = ChangeSet { lease: Some(lease), ..make.change(vec![Write::Enqueue(jobs.clone())]) };
    commit::carry_out(&mut db, tenant, &change).unwrap();
    db.asked.clear();
    let results = vec![
        (jobs[0], settled_result(&jobs[0], None)),
        (jobs[1], settled_result(&jobs[1], Some(make.tick()))),
        (jobs[2], AttemptResult::Back(make.tick())),
        (jobs[3], AttemptResult::Parked),
        (jobs[4], AttemptResult::Gone),
    ];
    let delta = HealthDelta {
        last_at: make.tick(),
        shown: None,
        ends_streak: false,
        ends_failing: false,
        streak: Streak::default(),
        fails_at: None,
        fails_again_at: None,
    };
    let record_result = queue::record(&mut db, lease.worker, &results, &[((tenant, to.id), delta)]).unwrap();
    assert_eq!((record_result.lost, record_result.streaks.len()), (0, 1));
    must_be_led(&mut db, &[]);
}

#[test]
fn due_event_of_a_failing_webhook_is_found_by_an_index() {
    let Stored { mut db, make, tenant, to, .. } = stored();
    db.batch("UPDATE webhooks SET failing_due = 1").unwrap();
    db.asked.clear();
    let lookup = Lookup::new::<Subscription>(rows::webhooks::FAILING_DUE.get());
    let due = table::due(&mut db, lookup, SqlValue::Time(make.tick()), 9).unwrap();
    assert_eq!(due.len(), 1);
    let steps: Vec<_> = plans(&mut db).into_iter().flat_map(|(_, steps)| steps).collect();
    assert_eq!(steps, ["SEARCH webhooks USING INDEX webhooks_by_failing_due (failing_due<?)"]);
    let change = make.change(vec![Write::FailingReported(to.id)]);
    commit::carry_out(&mut db, tenant, &change).unwrap();
    must_be_led(&mut db, &[]);
}

#[test]
fn queue_and_log_maintenance_is_bounded_by_indexes() {
    let Stored { mut db, make, tenant, to, .. } = stored();
    queue::state(&mut db, make.tick()).unwrap();
    must_be_led(&mut db, &["SCAN (subquery-1)", "SCAN CONSTANT ROW"]);
    queue::forget(&mut db, make.tick(), 9).unwrap();
    webhooks::subscriptions_after(&mut db, Some((tenant, to.id)), 9).unwrap();
    webhooks::events(&mut db, vec![(tenant, make.id())]).unwrap();
    webhooks::attempt(&mut db, tenant, to.id, make.id()).unwrap();
    must_be_led(&mut db, &[]);
}

#[test]
fn delivery_log_is_read_in_index_order_for_every_filter() {
    let Stored { mut db, make, tenant, to, .. } = stored();
    let position = Some(Position { key: Key::Time(make.tick()), id: [7; 16] });
    let page = PageRequest { limit: 50, after: position };
    for status in [None, Some(Status::Failed)] {
        for event_type in [None, Some(EventType::EmployeeCreated)] {
            for event_id in [None, Some(make.id())] {
                let filter = DeliveryFilter { status, event_type, event_id };
                let index = match (event_type, event_id) {
                    (_, Some(_)) => {
                        "deliveries_by_event (tenant_id=? AND webhook_id=? AND status=? AND event_id=?"
                    }
                    (Some(_), None) => {
                        "deliveries_by_type (tenant_id=? AND webhook_id=? AND status=? AND event_type=?"
                    }
                    (None, None) => "sqlite_autoindex_deliveries_1 (tenant_id=? AND webhook_id=? AND status=?",
                };
                for descending in [false, true] {
                    let sort = Sort { by: SortBy::CreatedAt, descending };
                    let listing = rows::deliveries::list(to.id, &filter, sort, &page);
                    listing::read_merged(&mut db, tenant, listing.parts()).unwrap();
                    let than = if descending { '<' } else { '>' };
                    let expected_plan = format!("SEARCH t USING INDEX {index} AND (created_at,id){than}(?,?))");
                    let steps: Vec<_> = plans(&mut db).into_iter().flat_map(|(_, steps)| steps).collect();
                    let searches: Vec<_> = steps.iter().filter(|step| step.starts_with("SEARCH")).collect();
                    assert_eq!(searches, vec![&expected_plan; if status.is_some() { 1 } else { 3 }], "{filter:?}");
                    assert!(!steps.iter().any(|step| step.starts_with("SCAN t")), "{steps:?}");
                }
            }
        }
    }
}

#[test]
fn redelivery_candidates_are_walked_along_an_index() {
    let Stored { mut db, make, tenant, to, .. } = stored();
    let all = RedeliveryFilter {
        since: Timestamp::from_millis(0),
        until: make.tick(),
        types: vec![EventType::EmployeeCreated],
        only_failed: false,
        now: make.tick(),
    };
    let mut steps = |which: &RedeliveryFilter| {
        redelivery::events(&mut db, (tenant, to.id), which, Some(make.id()), 9).unwrap();
        plans(&mut db).into_iter().flat_map(|(_, steps)| steps).collect::<Vec<_>>()
    };
    let every = steps(&all);
    assert_eq!(every[0], "SEARCH e USING INDEX sqlite_autoindex_events_1 (tenant_id=? AND id>? AND id<?)");
    assert!(!every.iter().any(|step| step.starts_with("SCAN") || step.contains("B-TREE")), "{every:?}");
    let failed_steps = steps(&RedeliveryFilter { only_failed: true, ..all });
    // The plan seeks the id of the next failed event in the log, and then the event with that id.
    assert!(
        failed_steps.iter().any(|step| step.contains("deliveries_by_event") && step.contains("event_id>?")),
        "{failed_steps:?}"
    );
    assert!(
        failed_steps.contains(&"SEARCH e USING INDEX sqlite_autoindex_events_1 (tenant_id=? AND id=?)".to_owned())
    );
    let heavy =
        |text: &&String| text.contains("B-TREE") || ["SCAN d", "SCAN e", "SCAN j"].contains(&text.as_str());
    assert_eq!(failed_steps.iter().find(heavy), None, "{failed_steps:?}");
}

/// Stepping to the next subscription skips the rest of the current queue.
#[test]
fn step_to_the_next_subscription_skips_the_backlog() {
    for (claim, after) in
        [(Claim::SubscriptionQueues as fn(QueueWalk) -> Claim, "by_lane"), (Claim::Parked, "parked")]
    {
        let Stored { mut db, make, tenant, to, lease } = stored();
        let walk = QueueWalk { after: Some((tenant, to.id)), queues: 1, each: 9, busy: vec![], limited: vec![] };
        queue::claim(&mut db, lease, make.tick(), &claim(walk)).unwrap();
        let statements = std::mem::take(&mut db.asked);
        assert_eq!(statements.len(), 2, "one for the same tenant, and one for later tenants");
        for sql in statements {
            assert!(format!("{sql:?}").contains(after), "{sql:?}");
            let opcode = |row: &mut dyn CellReader| {
                let _address = row.int();
                Ok(row.text().unwrap().unwrap())
            };
            let code = db.rows(sql.into_explain(), opcode).unwrap();
            let seeks: Vec<_> = code.iter().filter(|code| code.starts_with("Seek")).collect();
            assert_eq!(seeks, ["SeekGT"], "{code:?}");
        }
    }
}

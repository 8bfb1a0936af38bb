//! Searches that take too long (decision A17).

use std::sync::Arc;
use std::time::Duration;

use candor_domain::access::{AccessLevel, BoundPerson, Caller};
use candor_domain::id::EmployeeId;
use candor_domain::objective::Family;
use candor_port_clock::SeededIds;
use candor_service::context::vault::Vault;
use candor_service::runtime::search_index;
use candor_service::usecases::{objectives, observations, search, summaries};
use candor_service::{Error, ServiceSettings, Services};
use candor_store_testkit::{Fault, FaultyCall};
use futures_util::FutureExt;

use crate::support::{KEY, Receivers, TestServices, body, json, params, process, sent_to};

/// Creates a service on the same store with a search deadline of one millisecond.
fn with_short_deadline(world: &TestServices) -> Arc<Services> {
    let settings = ServiceSettings {
        search_deadline: Duration::from_millis(1),
        ..ServiceSettings::with_public_url("http://localhost:8080".to_owned())
    };
    let (store, clock) = (Arc::clone(&world.store) as _, Arc::clone(&world.clock) as _);
    let vault = Vault::parse(KEY).unwrap();
    let ids = Arc::new(SeededIds::new(11));
    Arc::new(Services::new(store, clock, ids, vault, Arc::new(Receivers), settings))
}

#[tokio::test]
async fn hanging_search_ends_at_the_deadline_with_advice() {
    let world = TestServices::new().await;
    let ada = world.hire("ada", None).await;
    let search_of = async |services: &Arc<Services>| {
        search::search(&sent_to(services, &world.admin()), params(&[("q", "ada"), ("types", "employees")])).await
    };
    let (hasty, before) = (with_short_deadline(&world), world.store.calls(FaultyCall::List));
    world.store.fail(FaultyCall::List, 1, Fault::Hang);
    // On a busy machine, the deadline can pass before the search calls the store.
    while world.store.calls(FaultyCall::List) == before {
        let Err(Error::TooSlow(message)) = search_of(&hasty).await else {
            panic!("the search is not refused as too slow")
        };
        assert!(message.contains("filter") && message.contains("words"), "{message}");
    }

    let page = json(&search_of(&world.services).await.unwrap());
    assert_eq!(page["data"][0]["id"], ada.to_string(), "the next search finds Ada");
}

#[tokio::test]
async fn unindexed_rows_are_found_up_to_a_limit() {
    let world = TestServices::new().await;
    let ada = world.hire("ada", None).await;
    let search_of = async || search::search(&world.admin(), params(&[("q", "ada"), ("types", "employees")])).await;
    // One upload can leave 10,000 rows unindexed. The limit is above that.
    for waiting in [10_000, 29_998] {
        world.store.set_waiting(waiting);
        assert_eq!(json(&search_of().await.unwrap())["data"][0]["id"], ada.to_string(), "{waiting}");
    }
    world.store.set_waiting(30_000);
    assert!(matches!(search_of().await, Err(Error::NotIndexed)));
}

#[tokio::test]
async fn failing_table_does_not_block_indexing_of_another() {
    let world = TestServices::new().await;
    let ada = world.hire("ada", None).await;
    let text = format!(r#"{{"employee_id": "{ada}", "type": "strength", "observation": "Kept calm."}}"#);
    observations::create(&world.admin(), body(&text)).await.unwrap();
    // The first list call fails, whichever table it reads.
    world.store.fail(FaultyCall::List, 1, Fault::Before);
    assert_eq!(search_index::index_pending(&world.services, || true).await.unwrap(), 1);
    assert_eq!(
        search_index::index_pending(&world.services, || true).await.unwrap(),
        1,
        "the next run indexes the table that failed"
    );
}

/// Returns the counts of the store's read calls.
fn reads(world: &TestServices) -> [usize; 3] {
    [FaultyCall::Get, FaultyCall::Batch, FaultyCall::List].map(|call| world.store.calls(call))
}

/// Returns the number of store calls that a bound key's search makes, and the number of its hits.
async fn search_cost(world: &TestServices, person: EmployeeId, query: &[(&str, &str)]) -> ([usize; 3], usize) {
    let person = Some(BoundPerson { id: person, is_org_admin: false });
    let caller = Caller { person, level: AccessLevel::Standard, ..Caller::clone(&world.admin().caller) };
    // A new process, with an empty cache of the index.
    let services = process(&world.clock, &world.store, Arc::new(Receivers), 12);
    let reads_before = reads(world);
    let page = json(&search::search(&sent_to(&services, &world.call(caller)), params(query)).await.unwrap());
    let reads_after = reads(world);
    ([0, 1, 2].map(|at| reads_after[at] - reads_before[at]), page["data"].as_array().unwrap().len())
}

#[tokio::test]
async fn bound_search_costs_the_same_for_hidden_and_absent_words() {
    let world = TestServices::new().await;
    let lead = world.hire("lead", None).await;
    let (member, stranger) = (world.hire("member", Some(lead)).await, world.hire("stranger", None).await);
    let write_texts = async |about: EmployeeId, word: &str, number: usize| {
        let text = format!("Kept {word} in week {number}.");
        let author = stranger;
        let summary =
            serde_json::json!({"employee_id": about, "author_id": author, "title": "Review", "body": text});
        summaries::create(&world.admin(), body(&summary.to_string())).await.unwrap();
        let dates = ("2026-01-01", "2026-06-30");
        let objective = serde_json::json!({
            "owner_id": about, "title": text, "period_start": dates.0, "period_end": dates.1,
        });
        objectives::create(&world.admin(), Family::Employees, body(&objective.to_string())).await.unwrap();
    };
    for number in 0..60 {
        write_texts(stranger, "hidden", number).await;
    }
    for number in 0..3 {
        write_texts(member, "shown", number).await;
    }
    while search_index::index_pending(&world.services, || true).await.unwrap() > 0 {}

    for (types, shown) in [("summaries", 3), ("objectives", 3), ("summaries,objectives", 6)] {
        for narrowed in [None, Some(member), Some(stranger), Some(lead)] {
            let subject = narrowed.map(|person| person.to_string());
            let query = |word| {
                let subject = subject.as_deref().map(|id| ("filter[employee_id]", id));
                [("q", word), ("types", types)].into_iter().chain(subject).collect::<Vec<_>>()
            };
            let absent = search_cost(&world, lead, &query("absent")).await;
            let cost_of_hidden = search_cost(&world, lead, &query("hidden")).await;
            assert_eq!(cost_of_hidden, absent, "{types} about {narrowed:?}");
            let (_, hits) = search_cost(&world, lead, &query("shown")).await;
            let is_about_member = narrowed.is_none_or(|person| person == member);
            assert_eq!(hits, if is_about_member { shown } else { 0 }, "{types} about {narrowed:?}");
        }
    }
}

#[tokio::test]
async fn search_of_long_texts_ends_at_the_deadline_between_pieces() {
    let world = TestServices::new().await;
    let ada = world.hire("ada", None).await;
    for _ in 0..2 {
        let text = "漢字".repeat(10_000);
        let text = format!(r#"{{"employee_id": "{ada}", "title": "Review", "body": "{text}"}}"#);
        summaries::create(&world.admin(), body(&text)).await.unwrap();
    }
    let search_of = async |services: &Arc<Services>, word: &str, types: &str| {
        search::search(&sent_to(services, &world.admin()), params(&[("q", word), ("types", types)])).await
    };
    let hasty = with_short_deadline(&world);
    // Other work holds every slot, so the search never gets to match a text.
    let tenant = world.admin().caller.tenant;
    let turns: Vec<_> = std::iter::from_fn(|| hasty.large_work.turn(tenant).now_or_never()).collect();
    assert!(matches!(search_of(&hasty, "漢字", "summaries").await, Err(Error::TooSlow(_))));
    drop(turns);

    let page = json(&search_of(&world.services, "漢字", "summaries").await.unwrap());
    assert_eq!(page["data"].as_array().map(Vec::len), Some(2));
}

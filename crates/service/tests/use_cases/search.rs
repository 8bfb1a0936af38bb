//! Searches that take too long (decision A17).

use std::sync::Arc;
use std::time::Duration;

use candor_port_clock::SeededIds;
use candor_service::vault::Vault;
use candor_service::{Error, Shell, ShellSettings, observations, search, search_index};
use candor_store_testkit::{Fault, FaultyCall};

use crate::support::{KEY, Receivers, World, body, json, params};

/// The service on the same store, where searches have hardly any time.
fn hasty(world: &World) -> Shell {
    let settings = ShellSettings {
        search_deadline: Duration::from_millis(1),
        ..ShellSettings::at("http://localhost:8080".to_owned())
    };
    let (store, clock) = (Arc::clone(&world.store) as _, Arc::clone(&world.clock) as _);
    let vault = Vault::parse(KEY).unwrap();
    Shell::new(store, clock, Arc::new(SeededIds::new(11)), vault, Arc::new(Receivers), settings)
}

#[tokio::test]
async fn a_search_that_hangs_ends_at_the_deadline_and_says_how_to_narrow_it() {
    let world = World::new().await;
    let ada = world.hire("ada", None).await;
    let search_of = async |shell: &Shell| {
        search::search(shell, &world.admin(), params(&[("q", "ada"), ("types", "employees")])).await
    };
    world.store.fail(FaultyCall::List, 1, Fault::Hang);
    let Err(Error::TooSlow(message)) = search_of(&hasty(&world)).await else { panic!("it is too slow") };
    assert!(message.contains("filter") && message.contains("words"), "{message}");

    let found = json(&search_of(&world.shell).await.unwrap());
    assert_eq!(found["data"][0]["id"], ada.to_string(), "the next one finds");
}

#[tokio::test]
async fn what_waits_is_found_as_long_as_it_can_be_looked_at() {
    let world = World::new().await;
    let ada = world.hire("ada", None).await;
    let search_of =
        async || search::search(&world.shell, &world.admin(), params(&[("q", "ada"), ("types", "employees")])).await;
    // As many as an upload can have, and more.
    for waiting in [10_000, 29_998] {
        world.store.set_waiting(waiting);
        assert_eq!(json(&search_of().await.unwrap())["data"][0]["id"], ada.to_string(), "{waiting}");
    }
    world.store.set_waiting(30_000);
    assert!(matches!(search_of().await, Err(Error::NotIndexed)));
}

#[tokio::test]
async fn a_table_that_cannot_be_indexed_keeps_no_other_from_it() {
    let world = World::new().await;
    let ada = world.hire("ada", None).await;
    let text = format!(r#"{{"employee_id": "{ada}", "type": "strength", "observation": "Kept calm."}}"#);
    observations::create(&world.shell, &world.admin(), body(&text)).await.unwrap();
    // The first one that is asked for, whichever that is.
    world.store.fail(FaultyCall::List, 1, Fault::Before);
    assert_eq!(search_index::keep_up(&world.shell, || true).await.unwrap(), 1);
    assert_eq!(search_index::keep_up(&world.shell, || true).await.unwrap(), 1, "and it is indexed the next time");
}

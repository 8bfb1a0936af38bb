//! Rates of receivers (decision F14).

use std::collections::BTreeSet;
use std::sync::Arc;

use candor_port_clock::Clock;
use candor_service::runtime::delivery::{Engine, Settings};
use serde_json::{Value, json};

use super::{path, subscribe};
use crate::receivers::SentRequest;
use crate::stores::every_store;
use crate::support::TestApi;

const LIMITED: &str = "https://limited.example/hooks";
const UNLIMITED: &str = "https://receiver.example/hooks";
const RATE: usize = 5;
const EVENTS: usize = 40;
/// Number of events that the limited receiver gets before the first engine dies, if there is a second engine.
const BEFORE_DEATH: usize = 15;
/// Simulated milliseconds in which all events must be sent. At their rate the events need 8 s, and the leases of a
/// dead engine end after 30 s.
const DEADLINE: i64 = 45_000;

#[tokio::test]
async fn rate_is_set_changed_and_removed() {
    let world = TestApi::new().await;
    let body = json!({"url": "https://receiver.example/hooks", "event_types": ["*"], "max_per_second": 1000});
    let webhook = world.post("/v1/webhooks", body).await.json();
    assert_eq!(webhook["max_per_second"], json!(1000));
    for rate in [json!(1), Value::Null] {
        world.clock.advance_seconds(1);
        let patch_response = world.patch(&path(&webhook), json!({"max_per_second": rate})).await;
        assert_eq!((patch_response.status, &patch_response.json()["max_per_second"]), (200, &rate));
        assert_eq!(world.get(&path(&webhook)).await.json()["max_per_second"], rate);
    }
    assert_eq!(subscribe(&world, &["*"]).await["max_per_second"], Value::Null);
}

#[tokio::test]
async fn rate_outside_its_bounds_is_refused() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    for (rate, code) in [(json!(0), "out_of_range"), (json!(1001), "out_of_range"), (json!("5"), "invalid_format")]
    {
        let response = world.patch(&path(&webhook), json!({"max_per_second": rate})).await;
        assert_eq!(response.problems(), [("max_per_second".to_owned(), code.to_owned())], "{rate}");
    }
}

#[tokio::test]
async fn engines_together_keep_the_rate_of_a_receiver() {
    for shared in every_store().await {
        let (world, store) = (&shared.world, shared.name);
        for (url, rate) in [(LIMITED, json!(RATE)), (UNLIMITED, Value::Null)] {
            world.clock.advance_millis(1);
            let body = json!({"url": url, "event_types": ["employee.created"], "max_per_second": rate});
            world.made("/v1/webhooks", body).await;
        }
        let first = Engine::new(&world.services, Settings::default());
        let other = (store != "sqlite").then(|| Engine::new(&Arc::new(shared.instance(90)), Settings::default()));
        let (mut limited, mut unlimited) = (vec![], vec![]);
        let start_millis = world.clock.now().millis();
        for number in 0.. {
            // Half of the events occur at once, the other half while deliveries wait.
            let is_new = number <= EVENTS / 2;
            for name in if number == 0 { 0..EVENTS / 2 } else { 0..usize::from(is_new) } {
                world.employee(&format!("person-{number}-{name}@example.com")).await;
            }
            if is_new || other.is_none() || limited.len() < BEFORE_DEATH {
                first.run_once().await.unwrap();
            }
            if let Some(other) = &other {
                other.run_once().await.unwrap();
            }
            let now = world.clock.now().millis() - start_millis;
            for SentRequest { url, event } in world.receivers.sent_requests() {
                if url == LIMITED { limited.push((now, event)) } else { unlimited.push((now, event)) }
            }
            assert_eq!(unlimited.len(), EVENTS.min(EVENTS / 2 + number), "{store}: after {now} ms");
            if limited.len() >= EVENTS {
                break;
            }
            assert!(now < DEADLINE, "{store}: only {} events are sent", limited.len());
            world.clock.advance_millis(100);
        }
        let events: BTreeSet<_> = unlimited.iter().map(|(_, event)| event).collect();
        assert_eq!((events.len(), limited.len()), (EVENTS, EVENTS), "{store}");
        assert_eq!(limited.iter().map(|(_, event)| event).collect::<BTreeSet<_>>(), events, "{store}");
        for window in limited.windows(RATE + 1) {
            assert!(window[RATE].0 - window[0].0 >= 1_000, "{store}: {limited:?}");
        }
    }
}

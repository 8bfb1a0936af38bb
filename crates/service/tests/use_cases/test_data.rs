//! Deletion of the test data set (decision B6).

use std::sync::Arc;
use std::time::Duration;

use candor_domain::access::{Caller, Environment, Tenant};
use candor_domain::time::Timestamp;
use candor_port_clock::{Clock, ManualClock, SeededIds};
use candor_service::context::vault::Vault;
use candor_service::usecases::catalog::{attributes, departments};
use candor_service::usecases::test_data;
use candor_service::{RequestContext, ServiceSettings, Services};

use crate::support::{NOON, Receivers, TestServices, body, json, params, sent_to};

/// A clock that advances by ten seconds on every read.
struct AdvancingClock(ManualClock);

impl Clock for AdvancingClock {
    fn now(&self) -> Timestamp {
        self.0.advance_seconds(10);
        self.0.now()
    }

    fn steady(&self) -> Duration {
        self.0.advance_seconds(10);
        self.0.steady()
    }
}

/// Creates a service whose clock advances by ten seconds on every read, on the store of `world`.
fn with_advancing_clock(world: &TestServices) -> Arc<Services> {
    let vault = Vault::parse("k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").unwrap();
    let (store, clock) = (Arc::clone(&world.store) as _, Arc::new(AdvancingClock(ManualClock::starting_at(NOON))));
    let settings = ServiceSettings::with_public_url("http://localhost:8080".to_owned());
    let ids = Arc::new(SeededIds::new(11));
    Arc::new(Services::new(store, clock, ids, vault, Arc::new(Receivers), settings))
}

fn of_test_data(world: &TestServices) -> RequestContext {
    let admin = world.admin();
    let tenant = Tenant { environment: Environment::Test, ..admin.caller.tenant };
    world.call(Caller { tenant, ..(*admin.caller).clone() })
}

#[tokio::test]
async fn long_test_data_reset_reports_a_rest_and_resumes() {
    let world = TestServices::new().await;
    let (services, context) = (with_advancing_clock(&world), of_test_data(&world));
    departments::create(&context, body(r#"{"name":"Care"}"#)).await.unwrap();
    let mut replies = vec![];
    while replies.last() != Some(&true) {
        let reply = json(&test_data::reset(&sent_to(&services, &context)).await.unwrap());
        replies.push(reply["complete"].as_bool().unwrap());
        assert!(replies.len() < 10, "the reset is not complete after ten calls");
    }
    assert!(replies.len() > 1, "{replies:?}");
    let departments = json(&departments::list(&context, params(&[])).await.unwrap());
    assert_eq!(departments["data"], serde_json::json!([]));
    let attributes = json(&attributes::list(&context, params(&[])).await.unwrap());
    assert!(attributes["data"].as_array().unwrap().len() > 10, "the starter set is restored at the end");
}

//! Objectives: what is inlined.

use candor_domain::access::{Environment, Tenant};
use candor_domain::id::SummaryId;
use candor_domain::objective::{Family, Objective};
use candor_port_storage::store::Storage;
use candor_port_storage::{Row, StorageExt, Write};
use candor_service::objectives;
use candor_store_testkit::Fixtures;
use ulid::Ulid;

use crate::support::{World, json, params};

#[tokio::test]
async fn linked_summaries_that_are_not_there_are_left_out_of_what_is_inlined() {
    let world = World::new().await;
    let owner = world.hire("ada", None).await;
    let (make, linked) = (Fixtures::new(3), SummaryId::from_ulid(Ulid(5)));
    let mut objective = make.objective(owner);
    objective.linked_summary_ids = vec![linked];
    let tenant = Tenant { organization: world.organization, environment: Environment::Live };
    let change = make.change(vec![Write::put(&Row::new(objective.clone()))]);
    world.store.commit(tenant, change).await.unwrap();
    assert_eq!(world.store.row::<Objective>(tenant, objective.id).await.unwrap().unwrap().value, objective);

    let expand = || params(&[("expand", "linked_summaries")]);
    let admin = world.admin();
    let one = objectives::get(&world.shell, &admin, Family::Employees, objective.id, expand()).await.unwrap();
    let page = objectives::list(&world.shell, &admin, Family::Employees, expand()).await.unwrap();
    for shown in [json(&one), json(&page)["data"][0].clone()] {
        assert_eq!(shown["linked_summary_ids"], serde_json::json!([linked]));
        assert_eq!(shown["linked_summaries"], serde_json::json!([]));
    }
}

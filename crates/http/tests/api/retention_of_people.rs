//! Retention of people who left: those who are erased, those who are kept, and those whose erasure fails (decision
//! H5).

use candor_domain::access::Tenant;
use candor_domain::people::Employee;
use candor_port_storage::{Row, StorageExt, Write};
use candor_service::runtime::erasure;
use serde_json::{Value, json};

use crate::connectors::change;
use crate::objectives::person;
use crate::retention::{DAY, act, run};
use crate::stores::every_faulty_store;
use crate::support::TestApi;

async fn first_names(world: &TestApi, paths: &[String]) -> Vec<Value> {
    let mut names = vec![];
    for path in paths {
        names.push(world.get(path).await.json()["first_name"].clone());
    }
    names
}

#[tokio::test]
async fn deactivated_people_are_erased_unless_held() {
    for (world, faulty, _database) in every_faulty_store().await {
        let mut paths = vec![];
        for name in ["gone", "held", "back", "here"] {
            let path = format!("/v1/employees/{}", person(&world, name, "employee", None).await);
            if name != "here" {
                act(&world, &format!("{path}/deactivate")).await;
            }
            paths.push(path);
        }
        world.ask("PUT", &format!("{}/legal-hold", paths[1])).json(&json!({"reason": "Lawsuit"})).send().await;
        let rule = json!({"retention": {"deactivated_people": "P1Y"}});
        assert_eq!(world.patch("/v1/organization", rule).await.status, 200);
        world.clock.advance_seconds(300 * DAY);
        act(&world, &format!("{}/reactivate", paths[2])).await;
        act(&world, &format!("{}/deactivate", paths[2])).await;
        world.clock.advance_seconds(66 * DAY);
        let preview = world.get("/v1/retention/preview").await.json();
        assert_eq!(preview["counts"], json!({"deactivated_people": 1}), "{preview}");
        run(&world, &faulty).await;
        for _ in 0..3 {
            drop(erasure::run_due(&world.services, || true).await);
            world.clock.advance_seconds(20);
        }
        assert_eq!(first_names(&world, &paths).await, ["Former", "held", "back", "here"]);
        let receipt = world.get("/v1/erasures").await.json()["data"][0].clone();
        let run = world.get("/v1/retention/runs").await.json()["data"][0].clone();
        assert_eq!(receipt["requested_by"], json!({"type": "retention_run", "id": run["id"]}));
        assert_eq!((&receipt["status"], &run["counts"]), (&json!("completed"), &json!({"deactivated_people": 1})));
    }
}

#[tokio::test]
async fn failed_erasure_does_not_stop_further_erasures() {
    for (world, faulty, _database) in every_faulty_store().await {
        let mut paths = vec![];
        for name in ["first", "second", "third", "holder"] {
            paths.push(format!("/v1/employees/{}", person(&world, name, "employee", None).await));
        }
        for path in &paths[..3] {
            act(&world, &format!("{path}/deactivate")).await;
        }
        // Another person has the address that is the pseudonym of the second person, as an older version allowed.
        // The erasure of the second person therefore fails.
        let [second, holder] = [&paths[1], &paths[3]].map(|path| path.rsplit('/').next().unwrap());
        let (store, tenant) = (&world.services.store, Tenant::live(world.organization));
        let holder_row = store.row::<Employee>(tenant, holder.parse().unwrap()).await.unwrap().unwrap();
        let person_with_address =
            Employee { email: format!("erased-{second}@erased.invalid"), ..holder_row.value };
        let write = Write::employee(&Row::at_version(person_with_address, holder_row.version), None);
        store.commit(tenant, change(&world, vec![write])).await.unwrap();
        let rule = json!({"retention": {"deactivated_people": "P30D"}});
        assert_eq!(world.patch("/v1/organization", rule).await.status, 200);
        world.clock.advance_seconds(40 * DAY);
        run(&world, &faulty).await;
        let names = first_names(&world, &paths).await;
        assert_eq!(names, ["Former", "second", "Former", "holder"]);
        let run = world.get("/v1/retention/runs").await.json()["data"][0].clone();
        assert_eq!(run["counts"], json!({"deactivated_people": 2}), "{run}");
    }
}

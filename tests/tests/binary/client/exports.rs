//! Exports through responses that break off, and a replica of all resources.

use std::collections::{BTreeMap, BTreeSet};

use candor_client::ExportOptions;
use candor_client::types::{EmployeeUpdate, ExportLine, ListEmployeesQuery};
use candor_test_faults::{Fault, FaultProxy};
use serde_json::Value;

use super::{Fixture, hire};
use crate::support::PATIENCE;

#[path = "../../../../crates/client/examples/export_replica.rs"]
#[expect(unreachable_pub, reason = "an example, as its readers have it")]
mod export_replica;

#[tokio::test]
async fn export_through_faults_has_every_row_once() {
    let fixture = Fixture::start();
    let writer = fixture.client();
    for number in 0..5 {
        hire(&writer, number).await.unwrap();
    }
    let plan = vec![Fault::TruncatedAfter, Fault::Unavailable, Fault::ResetAfter, Fault::None];
    let proxy = FaultProxy::start(fixture.service.address, plan).unwrap();
    let client = fixture.builder().base_url(proxy.url()).build().unwrap();
    let mut lines =
        client.export(ExportOptions::new().resources(["employees".to_owned(), "attributes".to_owned()]));
    let (mut ids, mut kinds) = (vec![], BTreeSet::new());
    while let Some(line) = tokio::time::timeout(PATIENCE, lines.next()).await.unwrap().unwrap() {
        match line {
            ExportLine::ExportHeader(header) => assert!(kinds.insert("header") && header.api_version == "v1"),
            ExportLine::ExportRow(row) => ids.push(row.data["id"].to_string()),
            ExportLine::ExportEnd(end) => assert!(kinds.insert("end") && end.counts["employees"] == 5),
            ExportLine::ExportCheckpoint(_) | ExportLine::Unknown(_) => panic!("{line:?}"),
            _ => panic!("a line of a later version"),
        }
    }
    assert_eq!(kinds.len(), 2);
    let distinct: BTreeSet<_> = ids.iter().collect();
    assert!(distinct.len() == ids.len() && ids.len() > 5, "{ids:?}");
    assert_eq!([Fault::TruncatedAfter, Fault::None].map(|fault| proxy.count(fault)), [1, 1]);
}

#[tokio::test]
async fn replica_of_an_export_equals_the_data() {
    let fixture = Fixture::start();
    let client = fixture.client();
    for number in 0..3 {
        hire(&client, number).await.unwrap();
    }
    let mut rows = BTreeMap::<String, Value>::new();
    let position = export_replica::copy(&client, &mut rows).await.unwrap();
    let first = rows.keys().find(|id| id.starts_with("emp_")).unwrap().clone();
    client.employees().update(&first, EmployeeUpdate::new().job_title("Engineer")).await.unwrap();
    hire(&client, 3).await.unwrap();
    let following = export_replica::follow(&client, &mut rows, position, 2);
    tokio::time::timeout(PATIENCE, following).await.unwrap().unwrap();
    assert_eq!(rows[&first]["job_title"], "Engineer");
    let people = client.employees().list(ListEmployeesQuery::new()).entries().collect().await.unwrap();
    assert_eq!(people.len(), 4);
    for person in people {
        assert_eq!(rows[&person.id], serde_json::to_value(&person).unwrap());
    }
}

//! Exports through responses that break off, and a replica of all resources.

use std::collections::{BTreeMap, BTreeSet};

use candor_client::types::{
    EmployeeUpdate, ErasureRequest, ExportLine, ExportRow, ListEmployeesQuery, ObservationCreate,
};
use candor_client::{Candor, ChangesOptions, ExportOptions};
use candor_test_faults::{Fault, FaultProxy};
use serde_json::{Value, json};

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
            ExportLine::ExportRow(row) => ids.push(row.id().to_owned()),
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
async fn row_of_an_export_has_the_type_of_its_resource() {
    let fixture = Fixture::start();
    let client = fixture.client();
    let email = hire(&client, 0).await.unwrap();
    let mut lines = client.export(ExportOptions::new().resources(["employees".to_owned()]));
    let mut row_types = vec![];
    while let Some(line) = lines.next().await.unwrap() {
        if let ExportLine::ExportRow(row) = line
            && let ExportRow::Employee(row) = *row
        {
            row_types.push(row.data.email.clone());
        }
    }
    assert_eq!(row_types, std::slice::from_ref(&email));
    let batch = client.changes(ChangesOptions::new()).next().await.unwrap();
    let changed_row = batch.upserts.iter().find(|row| row.row_type == "employee").unwrap().to_typed().unwrap();
    assert!(matches!(&changed_row, ExportRow::Employee(row) if row.data.email == email), "{changed_row:?}");
    let later_row: ExportRow =
        serde_json::from_value(json!({"type": "badge", "data": {"id": "bdg_1", "n": 1}})).unwrap();
    assert!(matches!(&later_row, ExportRow::Other(row) if row.data["n"] == 1), "{later_row:?}");
    assert_eq!((later_row.id(), later_row.row_type()), ("bdg_1", "badge"));
}

async fn follow_export(
    client: &Candor,
    rows: &mut BTreeMap<String, Value>,
    position: Option<String>,
) -> Option<String> {
    tokio::time::timeout(PATIENCE, export_replica::follow(client, rows, position)).await.unwrap().unwrap()
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
    follow_export(&client, &mut rows, position).await;
    assert_eq!(rows[&first]["job_title"], "Engineer");
    let people = client.employees().list(ListEmployeesQuery::new()).entries().collect().await.unwrap();
    assert_eq!(people.len(), 4);
    for person in people {
        assert_eq!(rows[&person.id], serde_json::to_value(&person).unwrap());
    }
}

#[tokio::test]
async fn replica_keeps_nothing_of_an_erased_person() {
    let fixture = Fixture::start();
    let client = fixture.client();
    hire(&client, 0).await.unwrap();
    let mut rows = BTreeMap::<String, Value>::new();
    let mut position = export_replica::copy(&client, &mut rows).await.unwrap();
    let person = rows.keys().find(|id| id.starts_with("emp_")).unwrap().clone();
    let texts = ObservationCreate::new(&*person, "strength", "SECRET of the person");
    client.observations().create(texts).await.unwrap();
    let has_text = |rows: &BTreeMap<_, _>| format!("{rows:?}").contains("SECRET");
    while !has_text(&rows) {
        position = follow_export(&client, &mut rows, position).await;
    }
    client.employees().deactivate(&person).await.unwrap();
    client.employees().erase(&person, ErasureRequest::new()).await.unwrap();
    while has_text(&rows) {
        position = follow_export(&client, &mut rows, position).await;
    }
    assert_eq!(rows[&person]["first_name"], "Former");
    assert!(rows.keys().all(|id| !id.starts_with("obs_")), "{rows:?}");
}

//! Targets that are not empty and incomplete sources are refused before any data is lost.

use candor_port_storage::copy::{CopySource, CopyTarget};
use candor_service::usecases::copy::{CopyError, copy};
use candor_store_postgres::is_copy_unfinished;
use candor_store_sqlite::SqliteCopy;
use candor_tables::copy::tables;
use candor_tables::flat::SqlValue;

use super::ends::{FROM, File, NoProgress, copied, empty_postgres, fill, options, progress, target_in};
use super::rows::everything;

#[tokio::test(flavor = "multi_thread")]
async fn copy_into_a_target_with_rows_is_refused() {
    let (source, file) = (File::full().await, File::full().await);
    let file_error = copied(&source.source(), &file.target()).await.unwrap_err();
    assert!(matches!(file_error, CopyError::NotEmpty("organizations")), "{file_error}");
    assert_eq!(progress(&file.path()).await, None);
    let Some(database) = empty_postgres() else { return };
    let target = target_in(&database).await;
    fill(&target).await;
    let error = copied(&source.source(), &target).await.unwrap_err();
    assert!(matches!(error, CopyError::NotEmpty("organizations")), "{error}");
    assert_eq!(target.progress().await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_resumes_with_its_own_source_only() {
    let (source, file) = (File::full().await, File::new());
    let target = file.target();
    target.begin(("source".to_owned(), "another one".to_owned())).await.unwrap();
    let error = copied(&source.source(), &target).await.unwrap_err();
    assert!(matches!(&error, CopyError::Other(from) if from == "another one"), "{error}");
    assert!(copy(&source.source(), &target, "another one", &NoProgress).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn copied_master_key_replaces_one_recorded_before() {
    let (source, file) = (File::full().await, File::new());
    let all = tables();
    let keys = all.iter().find(|table| table.name == "master_keys").unwrap();
    let row = keys.columns.iter().map(|column| match column.name {
        "key_id" => SqlValue::Text("an earlier one".to_owned()),
        "sealed" => SqlValue::Bytes(vec![1]),
        "recorded_at" => SqlValue::Time(candor_domain::time::Timestamp::from_millis(1)),
        _ => SqlValue::Text("aa".to_owned()),
    });
    {
        let target = file.target();
        target.begin(("source".to_owned(), FROM.to_owned())).await.unwrap();
        target.write(keys, vec![row.collect()], (String::new(), String::new())).await.unwrap();
        target.accept().await.unwrap();
    }
    copied(&source.source(), &file.target()).await.unwrap();
    assert_eq!(file.source().count(keys).await.unwrap(), source.source().count(keys).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_with_a_dangling_reference_is_refused() {
    let damaged_file = File::new();
    {
        let target = damaged_file.target();
        target.begin(("source".to_owned(), FROM.to_owned())).await.unwrap();
        for (table, rows) in everything().into_iter().filter(|(table, _)| table.name != "employees") {
            target.write(&table, rows, (table.name.to_owned(), String::new())).await.unwrap();
        }
        target.accept().await.unwrap();
    }
    let file = File::new();
    let error = copied(&damaged_file.source(), &file.target()).await.unwrap_err();
    assert!(error.to_string().contains("refer to missing rows of employees"), "{error}");
    assert!(progress(&file.path()).await.is_some(), "the copy stays unfinished, so it cannot be served");
    let Some(database) = empty_postgres() else { return };
    let server_error = copied(&damaged_file.source(), &target_in(&database).await).await.unwrap_err();
    assert!(server_error.to_string().contains("foreign key"), "{server_error}");
    assert!(is_copy_unfinished(&options(&database)).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_names_tables_that_changed_meanwhile() {
    let (source, file) = (File::full().await, File::new());
    let target = file.target();
    let all = tables();
    let notifications = all.iter().find(|table| table.name == "notifications").unwrap();
    target.begin(("source".to_owned(), FROM.to_owned())).await.unwrap();
    // The progress record claims that the table is complete, but it has no rows.
    let step = ("table notifications".to_owned(), r#"{"rows":3,"last":null,"is_done":true}"#.to_owned());
    target.write(notifications, vec![], step).await.unwrap();
    let CopyError::Differs(differences) = copied(&source.source(), &target).await.unwrap_err() else {
        panic!("no difference")
    };
    let table_counts: Vec<_> = differences
        .iter()
        .map(|difference| (difference.table, difference.source.rows, difference.target.rows))
        .collect();
    assert_eq!(table_counts, [("notifications", 3, 0)]);
    assert!(target.progress().await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn source_with_incomplete_reporting_lines_is_refused() {
    let file = File::new();
    let all = tables();
    let trees = all.iter().find(|table| table.name == "reporting_trees").unwrap();
    let row = trees.columns.iter().map(|column| match column.name {
        "tenant_id" | "rebuilt_until" => SqlValue::Id([1; 16]),
        _ => SqlValue::Int(1),
    });
    {
        let target = file.target();
        target.begin(("source".to_owned(), FROM.to_owned())).await.unwrap();
        target.write(trees, vec![row.collect()], (trees.name.to_owned(), String::new())).await.unwrap();
        target.finish(0).await.unwrap();
    }
    let error = SqliteCopy::source(&file.path()).unwrap_err().to_string();
    assert!(error.contains("start the service and copy again"), "{error}");
    drop(file.store());
    assert!(SqliteCopy::source(&file.path()).is_ok(), "the start of a service completes the reporting lines");
}

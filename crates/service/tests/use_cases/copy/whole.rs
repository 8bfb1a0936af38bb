//! A copy is complete in either direction.

use candor_port_storage::copy::CopyTarget;
use candor_port_storage::search_index::SearchIndex;

use super::ends::{File, copied, empty_postgres, progress, source_in, target_in};

#[tokio::test(flavor = "multi_thread")]
async fn copy_to_postgres_and_back_changes_nothing() {
    let Some(database) = empty_postgres() else { return };
    let (first, last) = (File::full().await, File::new());
    let report_of_copy = {
        let target = target_in(&database).await;
        copied(&first.source(), &target).await.unwrap()
    };
    assert!(report_of_copy.tables.iter().all(|table| table.checksum.rows > 0), "{report_of_copy:?}");
    assert_eq!(report_of_copy.from_before, 0);
    let report_of_return = copied(&source_in(&database).await, &last.target()).await.unwrap();
    assert_eq!(report_of_return, report_of_copy);
    assert_eq!(progress(&last.path()).await, None, "a finished copy removes its progress record");
    assert_eq!(source_in(&database).await.progress().await.unwrap(), None);
    let backlog = last.store().index_backlog(None, 10).await.unwrap();
    assert!(
        backlog.iter().any(|difference| difference.table == "observations"),
        "a copy leaves the indexing of words to the service: {backlog:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_between_two_stores_of_one_kind_is_complete() {
    let (one, other) = (File::full().await, File::new());
    let whole = copied(&one.source(), &other.target()).await.unwrap();
    assert!(whole.tables.iter().map(|table| table.checksum.rows).sum::<u64>() > 10_000);
    let Some((from, to)) = empty_postgres().zip(empty_postgres()) else { return };
    let first = copied(&one.source(), &target_in(&from).await).await.unwrap();
    assert_eq!(copied(&source_in(&from).await, &target_in(&to).await).await.unwrap(), first);
    assert_eq!(first, whole);
}

//! Slow reads: separate threads, a deadline, and a share for each tenant.

use std::sync::mpsc::channel;
use std::time::Duration;

use candor_domain::access::Tenant;
use candor_domain::observation::{Filter, Type};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::visibility::Viewer;
use candor_fair_share::SlowReads;
use candor_port_storage::StorageExt;
use candor_port_storage::{SlowListError, StorageError, TooSlowError};
use candor_store_testkit::Fixtures;
use candor_tables::rows;

use crate::sql::Sql;
use crate::{SqliteOptions, SqliteStore};

const ENDLESS: &str = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
/// Deadline of reads that end by themselves.
const DEADLINE: Duration = Duration::from_secs(60);
/// Deadline of a read that does not end by itself.
const SHORT_DEADLINE: Duration = Duration::from_millis(20);
const PAGE: PageRequest = PageRequest { limit: 10, after: None };

fn store(slow_reads: SlowReads) -> (SqliteStore, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions { slow_reads, ..SqliteOptions::file(folder.path().join("candor.db")) };
    (SqliteStore::open(&options).unwrap(), folder)
}

fn too_slow(cause: SlowListError, condition: &str) -> TooSlowError {
    TooSlowError { cause, conditions: vec![condition.to_owned()] }
}

async fn list_by_type(store: &SqliteStore, tenant: Tenant) -> Result<(), StorageError> {
    let filter = Filter { kind: Some(Type::Strength), ..Filter::default() };
    store
        .page(
            tenant,
            rows::observations::list(&filter, Viewer::Everything, Sort::descending_by(SortBy::CreatedAt), &PAGE),
        )
        .await
        .map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_read_limit_of_a_tenant_does_not_block_another() {
    let limits = SlowReads { deadline: DEADLINE, wait: Duration::ZERO, ..SlowReads::with_places(2) };
    let ((store, _folder), make) = (store(limits), Fixtures::new(1));
    let store = std::sync::Arc::new(store);
    let (tenant, other) = (make.tenant(), make.tenant());
    let ((begun, has_begun), (end, may_end)) = (channel(), channel::<()>());
    let slow_read = tokio::spawn({
        let store = std::sync::Arc::clone(&store);
        async move {
            let hold = move |_: &mut crate::sql::Db| {
                begun.send(()).unwrap();
                may_end.recv().unwrap();
                Ok(())
            };
            store.slowly(tenant, vec![], hold).await
        }
    });
    tokio::task::spawn_blocking(move || has_begun.recv().unwrap()).await.unwrap();
    let error = list_by_type(&store, tenant).await.unwrap_err();
    let StorageError::TooSlow(error) = error else { panic!("{error}") };
    assert_eq!(error, too_slow(SlowListError::NoPlace, "filter[type]"));
    list_by_type(&store, other).await.unwrap();
    let all = store
        .page(
            tenant,
            rows::observations::list(
                &Filter::default(),
                Viewer::Everything,
                Sort::descending_by(SortBy::CreatedAt),
                &PAGE,
            ),
        )
        .await;
    assert!(all.is_ok(), "a list with an index needs no slot");
    end.send(()).unwrap();
    slow_read.await.unwrap().unwrap();
    list_by_type(&store, tenant).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_read_ends_at_its_deadline_and_frees_its_slot() {
    let limits = SlowReads { deadline: SHORT_DEADLINE, wait: DEADLINE, ..SlowReads::with_places(2) };
    let ((store, _folder), make) = (store(limits), Fixtures::new(2));
    for _ in 0..3 {
        let read = |db: &mut crate::sql::Db| db.number(Sql::new(ENDLESS));
        let error = store.slowly(make.tenant(), vec!["filter[x]".to_owned()], read).await.unwrap_err();
        let StorageError::TooSlow(error) = error else { panic!("{error}") };
        assert_eq!(error, too_slow(SlowListError::OutOfTime, "filter[x]"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn list_over_its_step_limit_restarts_as_a_slow_read() {
    let limits = SlowReads { deadline: SHORT_DEADLINE, wait: DEADLINE, ..SlowReads::with_places(2) };
    let ((store, _folder), make) = (store(limits), Fixtures::new(3));
    let listings = candor_tables::rows::employees::org_admins(1).parts().to_vec();
    let read = |db: &mut crate::sql::Db, _: &[_]| db.number(Sql::new(ENDLESS));
    let result = store.list(make.tenant(), listings, read).await;
    assert!(matches!(result, Err(StorageError::TooSlow(_))), "{result:?}");
}

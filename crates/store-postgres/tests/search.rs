//! The index of words: what was there before it, and that the server looks it up there.

#![cfg(test)]

mod support;

use candor_domain::observation::Observation;
use candor_domain::page::PageRequest;
use candor_domain::search::{Filter, Score, SearchQuery};
use candor_port_storage::backlog::Indexing;
use candor_port_storage::listing::TypedListing;
use candor_port_storage::rows::search;
use candor_port_storage::{AnyRow, Row, Storage, StorageExt, Write};
use candor_store_testkit::Fixtures;
use candor_store_testkit::fixtures::joins;

fn listing(asked: &str) -> TypedListing<Observation> {
    let words = SearchQuery::parse(asked).unwrap().wanted(Score::Whole).unwrap();
    search::observations(&Filter::default(), &words, &PageRequest { limit: 100, after: None })
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_from_before_the_index_are_found_once_they_are_indexed() {
    let Some(database) = support::database() else { return };
    let (store, make) = (support::store(&database, None).await, Fixtures::new(2));
    let (tenant, person) = (make.tenant(), make.employee());
    store.commit(tenant, make.change(vec![joins(person.clone())])).await.unwrap();
    let calm = |_| Observation { observation: "Kept calm.".to_owned(), ..make.observation(person.id) };
    let all: Vec<_> = (0..20).map(calm).collect();
    let writes = all.iter().map(|it| Write::put(&Row::new(it.clone()))).collect();
    store.commit(tenant, make.change(writes)).await.unwrap();
    let client = support::client(database.url()).await;
    let before = "UPDATE observations SET tokens = NULL; INSERT INTO search_backlog SELECT DISTINCT tenant_id, \
                  'observations', '00000000-0000-0000-0000-000000000000'::uuid FROM observations";
    client.batch_execute(before).await.unwrap();
    let found = async |asked: &str| {
        let rows = store.entries(tenant, listing(asked)).await.unwrap();
        rows.into_iter().map(|it| it.value.id).collect::<Vec<_>>()
    };
    assert!(found("kept calm").await.is_empty());
    let mut pieces = 0;
    while let Some(backlog) = store.index_backlog(Some(tenant), 10).await.unwrap().first() {
        let rows = store.entries(tenant, backlog.next::<Observation>(7)).await.unwrap();
        if pieces == 0 {
            // Somebody changes it in between.
            let changed = Observation { observation: "Lost it.".to_owned(), ..rows[0].value.clone() };
            let change = make.change(vec![Write::put(&Row::seen(changed, rows[0].version))]);
            store.commit(tenant, change).await.unwrap();
        }
        let up_to = rows.last().map(|it| it.value.id.to_bytes()).filter(|_| rows.len() == 7);
        let rows = rows.into_iter().map(|it| AnyRow::of(&Row::seen(it.value, it.version))).collect();
        store.index(backlog, rows, up_to).await.unwrap();
        pieces += 1;
    }
    assert_eq!(pieces, 3);
    let wanted: Vec<_> = all.iter().skip(1).rev().map(|it| it.id).collect();
    assert_eq!(found("kept calm").await, wanted);
    assert_eq!(found("lost").await, [all[0].id]);
}

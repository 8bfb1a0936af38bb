//! The index of words: in which order it is read, and what was there before it.

use candor_domain::id::EmployeeId;
use candor_domain::observation::Observation;
use candor_domain::page::PageRequest;
use candor_domain::people::Employee;
use candor_domain::search::{Filter, Score, SearchQuery};
use candor_port_storage::backlog::Indexing;
use candor_port_storage::rows::search;
use candor_port_storage::{AnyRow, Row, Storage, StorageExt, Write};
use candor_store_testkit::Fixtures;
use candor_store_testkit::fixtures::joins;

use super::{database, save};
use crate::connection::open::{DatabaseLocation, Source};
use crate::listing::words;
use crate::sql::Sql;
use crate::{SqliteOptions, SqliteStore};

fn calm(make: &Fixtures, about: EmployeeId) -> Observation {
    Observation { observation: "Kept calm.".to_owned(), ..make.observation(about) }
}

fn listing(limit: u16) -> candor_port_storage::listing::TypedListing<Observation> {
    let words = SearchQuery::parse("kept calm").unwrap().wanted(Score::Whole).unwrap();
    search::observations(&Filter::default(), &words, &PageRequest { limit, after: None })
}

#[test]
fn what_is_found_is_read_in_the_order_of_the_index_and_by_keys() {
    let (mut db, make) = (database(), Fixtures::new(1));
    let tenant = make.tenant();
    let person = make.employee();
    save(&mut db, &make, tenant, vec![joins(person.clone()), Write::put(&Row::new(calm(&make, person.id)))]);
    let list = listing(50);
    let (_, query) = list.parts()[0].index_query().unwrap();
    let steps = db.rows(words::statement(tenant, &list.parts()[0], query, 59).explained(), |row| {
        let _numbers = (row.int(), row.int(), row.int());
        Ok(row.text().unwrap().unwrap())
    });
    let steps = steps.unwrap();
    let wanted = [
        "SCAN search_tokens VIRTUAL TABLE INDEX",
        "SEARCH d USING INTEGER PRIMARY KEY",
        "SEARCH t USING INDEX sqlite_autoindex_observations_1",
    ];
    assert_eq!(steps.len(), wanted.len(), "nothing is sorted: {steps:?}");
    assert!(steps.iter().zip(wanted).all(|(step, wanted)| step.starts_with(wanted)), "{steps:?}");
}

#[tokio::test]
async fn rows_from_before_the_index_are_found_once_they_are_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("candor.db");
    let (store, make) = (SqliteStore::open(&SqliteOptions::file(&path)).unwrap(), Fixtures::new(2));
    let (tenant, person) = (make.tenant(), make.employee());
    store.commit(tenant, make.change(vec![joins(person.clone())])).await.unwrap();
    let all: Vec<_> = (0..20).map(|_| calm(&make, person.id)).collect();
    let writes = all.iter().map(|it| Write::put(&Row::new(it.clone()))).collect();
    store.commit(tenant, make.change(writes)).await.unwrap();
    let mut db = Source::of(&DatabaseLocation::File(path)).unwrap().writer().unwrap();
    for text in [
        "DELETE FROM search_tokens WHERE rowid IN (SELECT place FROM search_documents)",
        "DELETE FROM search_documents",
    ] {
        db.execute(&Sql::new(text)).unwrap();
    }
    let from_the_start = Sql::new("INSERT INTO search_backlog VALUES (?, ?, ?)").bind(tenant).bind("observations");
    db.execute(&from_the_start.bind([0; 16])).unwrap();
    let found = async || {
        store.entries(tenant, listing(100)).await.unwrap().into_iter().map(|it| it.value.id).collect::<Vec<_>>()
    };
    assert!(found().await.is_empty());
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
    assert_eq!(found().await, wanted);
    assert!(store.row::<Employee>(tenant, person.id).await.unwrap().is_some());
}

//! Rows with a large total size: once a store knows their size it may read them in parts, with the same results.

use candor_domain::event::{Event, EventType};
use candor_domain::people::{self, Custom, CustomFields, Employee};

use super::lists;
use crate::Case;
use crate::world::CaseContext;
use candor_domain::page::Sortable;
use candor_fair_share::large_work::LARGE_BYTES;
use candor_port_storage::{ChangeSet, StorageExt};

pub(crate) fn cases() -> Vec<Case> {
    vec![Case::new(large_page_is_equal_when_read_again), Case::new(large_feed_page_is_equal_when_read_again)]
}

/// Number of rows. Together they exceed `LARGE_BYTES`; none of them does on its own.
const ROWS: usize = 12;
/// Size of a row in bytes. All rows but two have `LARGE_BYTES` together.
const BYTES: usize = LARGE_BYTES / (ROWS - 2);
/// Number of reads. From the second one on, the store knows the size of the rows.
const READS: usize = 3;

async fn large_page_is_equal_when_read_again(world: CaseContext) {
    let mut all = vec![];
    for number in 0..ROWS {
        let fields = CustomFields([("field".to_owned(), Custom::Text(number.to_string().repeat(BYTES)))].into());
        all.push(world.add_employee(Employee { custom_fields: fields, ..world.make.employee() }).await);
    }
    let list =
        lists::employees(&world, people::Filter { status: people::StatusFilter::All, ..Default::default() });
    let (_, sort) = Employee::sorts().next().unwrap();
    let ids: Vec<_> = all.iter().map(|person| person.id).collect();
    for read in 0..READS {
        list.must_show(sort, 100, &all, |_| true, &format!("read {read}")).await;
        let mut people_rows = world.store.rows::<Employee>(world.tenant, &ids).await.unwrap();
        people_rows.sort_by_key(|person| ids.iter().position(|id| *id == person.value.id));
        let people: Vec<_> = people_rows.into_iter().map(|person| person.value).collect();
        assert!(people == all, "read {read} by id");
    }
}

async fn large_feed_page_is_equal_when_read_again(world: CaseContext) {
    let data = "x".repeat(BYTES);
    let event = || Event { data: data.clone(), ..world.make.event(EventType::EmployeeUpdated) };
    let feed_events: Vec<_> = (0..ROWS).map(|_| event()).collect();
    for event in &feed_events {
        let change = ChangeSet { events: vec![event.clone()], ..world.make.change(vec![]) };
        world.commit(change).await.unwrap();
    }
    for read in 0..READS {
        // Each call of `events` commits a marker event, which comes after the written ones.
        assert!(world.events().await[..ROWS] == feed_events, "read {read}");
    }
}

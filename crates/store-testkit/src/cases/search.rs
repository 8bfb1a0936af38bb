//! Storage of the full-text index: pending rows, unchanged segments, and separation of tenants.

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_domain::observation::Observation;
use candor_domain::time::Timestamp;
use candor_port_storage::search_index::UnindexedTable;
use candor_port_storage::search_index::{IndexChange, IndexState, PendingRow, WantedBlocks};
use candor_port_storage::{Row, StorageExt, Version, Write};
use candor_search_index::{CHUNK, Document, DocumentKey, KeyRange, SegmentContents};
use candor_tables::schema;

use crate::Case;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(written_row_is_pending_until_indexed),
        Case::new(row_changed_during_indexing_stays_pending),
        Case::new(segment_round_trips),
        Case::new(merged_segment_replaces_its_sources_once),
        Case::new(replaced_segment_is_readable_until_removed),
        Case::new(search_index_belongs_to_one_tenant),
        Case::new(emptied_data_set_has_no_search_index),
        Case::new(search_backlog_is_indexed_once),
    ]
}

const TABLE: &str = "observations";
const AT: Timestamp = Timestamp::from_millis(1_000_000);
const MOST: u16 = 1_000;

async fn state(world: &CaseContext) -> IndexState {
    let mut state = world.store.index_state(world.tenant, TABLE, MOST).await.unwrap();
    state.segments.sort_by_key(|segment| segment.id);
    state.pending.sort_by_key(|document| document.id);
    state
}

async fn change(world: &CaseContext, change: IndexChange) -> bool {
    world.store.change_index(world.tenant, TABLE, change).await.unwrap()
}

async fn write_observation(world: &CaseContext, about: EmployeeId) -> Observation {
    let it = Observation { observation: "Kept calm.".to_owned(), ..world.make.observation(about) };
    world.save(vec![Write::put(&Row::new(it.clone()))]).await;
    it
}

fn pending_row(observation: &Observation, version: Version) -> PendingRow {
    PendingRow { id: observation.id.to_bytes(), version }
}

/// Creates a segment of documents with one unique and two common terms each.
fn segment(id: u8, documents: i64) -> SegmentContents {
    let document = |at: i64| Document {
        key: DocumentKey { created_at: Timestamp::from_millis(at), id: [id; 16] },
        terms: vec![
            "calm".to_owned(),
            format!("own{at:05}"),
            if at % 3 == 0 { "third" } else { "wörd" }.to_owned(),
        ],
    };
    SegmentContents::build([id; 16], (0..documents).map(document).collect()).unwrap()
}

fn with(segment: &SegmentContents) -> IndexChange {
    IndexChange { segment: Some(segment.clone()), ..IndexChange::created_at(AT) }
}

fn wanted_blocks(segment: &SegmentContents, range: KeyRange) -> WantedBlocks {
    WantedBlocks { segment: segment.segment.id, range }
}

/// Reads the stored contents of a segment.
async fn contents(world: &CaseContext, of: &SegmentContents) -> SegmentContents {
    let blocks = world.store.index_blocks(world.tenant, &[wanted_blocks(of, KeyRange::all())]).await.unwrap();
    let numbers: Vec<_> = (0..of.segment.documents.div_ceil(CHUNK)).map(|chunk| (of.segment.id, chunk)).collect();
    let chunks = world.store.index_chunks(world.tenant, &numbers).await.unwrap();
    SegmentContents { segment: of.segment.clone(), blocks: blocks.concat(), chunks }
}

/// Returns all tables with pending rows, and asserts that they come in ascending order.
async fn pending_tables(world: &CaseContext) -> Vec<(Tenant, String)> {
    let mut tables: Vec<(Tenant, String)> = vec![];
    while let Some(next) = world.store.next_pending(tables.last()).await.unwrap() {
        assert!(tables.last().is_none_or(|last| (last.0.to_bytes(), &last.1) < (next.0.to_bytes(), &next.1)));
        tables.push(next);
    }
    tables
}

async fn written_row_is_pending_until_indexed(world: CaseContext) {
    let person = world.hire().await.id;
    let (one, other) = (write_observation(&world, person).await, write_observation(&world, person).await);
    let mut all = vec![pending_row(&one, Version::FIRST), pending_row(&other, Version::FIRST)];
    all.sort_by_key(|block| block.id);
    assert_eq!(state(&world).await, IndexState { segments: vec![], pending: all.clone() });
    let tables = pending_tables(&world).await;
    assert!(tables.contains(&(world.tenant, TABLE.to_owned())), "{tables:?}");
    assert!(tables.contains(&(world.tenant, "employees".to_owned())), "{tables:?}");
    assert_eq!(world.store.index_state(world.tenant, TABLE, 1).await.unwrap().pending.len(), 1);

    let segment = segment(1, 2);
    assert!(change(&world, IndexChange { indexed: all, ..with(&segment) }).await);
    assert_eq!(state(&world).await, IndexState { segments: vec![segment.segment], pending: vec![] });
    let tables = pending_tables(&world).await;
    assert!(!tables.contains(&(world.tenant, TABLE.to_owned())), "{tables:?}");
}

async fn row_changed_during_indexing_stays_pending(world: CaseContext) {
    let person = world.hire().await.id;
    let (one, other) = (write_observation(&world, person).await, write_observation(&world, person).await);
    let pending_rows = [&one, &other].map(|document| pending_row(document, Version::FIRST)).to_vec();
    let changed_observation = Observation { observation: "Lost it.".to_owned(), ..one.clone() };
    world.save(vec![Write::put(&Row::at_version(changed_observation.clone(), Version::FIRST))]).await;
    assert!(change(&world, IndexChange { indexed: pending_rows.clone(), ..with(&segment(1, 2)) }).await);
    assert_eq!(state(&world).await.pending, [pending_row(&one, Version(2))]);
    assert!(
        !change(&world, IndexChange { indexed: pending_rows, ..with(&segment(2, 2)) }).await,
        "these rows are indexed already"
    );
    assert_eq!(state(&world).await.segments, [segment(1, 2).segment], "a refused change adds nothing");

    // A row without searchable words is not queued for indexing.
    let archived_observation = Observation { archived_at: Some(world.make.tick()), ..other };
    world.save(vec![Write::put(&Row::at_version(archived_observation, Version::FIRST))]).await;
    assert_eq!(state(&world).await.pending, [pending_row(&one, Version(2))]);
}

async fn segment_round_trips(world: CaseContext) {
    let (large, small) = (segment(1, 3_000), segment(2, 1));
    assert!(change(&world, with(&large)).await && change(&world, with(&small)).await);
    assert_eq!(contents(&world, &large).await, large);
    assert_eq!(contents(&world, &small).await, small);
    let ranges = [
        wanted_blocks(&large, KeyRange::whole("own01234")),
        wanted_blocks(&small, KeyRange::whole("calm")),
        wanted_blocks(&large, KeyRange::with_prefix("own012")),
        wanted_blocks(&large, KeyRange::whole("aaa")),
        wanted_blocks(&large, KeyRange::with_prefix("zzz")),
        wanted_blocks(&large, KeyRange::whole("calm")),
    ];
    let blocks = world.store.index_blocks(world.tenant, &ranges).await.unwrap();
    assert_eq!(blocks.len(), ranges.len());
    for (wanted, blocks) in ranges.iter().zip(blocks) {
        let source_segment = if wanted.segment == large.segment.id { &large } else { &small };
        // Expects the blocks that start in the range, and the one before, which may contain the start of the
        // range.
        let first = source_segment.blocks.iter().rposition(|block| block.first <= wanted.range.from).unwrap_or(0);
        let all: Vec<_> = source_segment
            .blocks
            .iter()
            .skip(first)
            .filter(|block| block.first <= wanted.range.to)
            .cloned()
            .collect();
        assert_eq!(blocks, all, "{:?}", wanted.range);
    }
    let chunks = [(large.segment.id, 46), (small.segment.id, 0), (large.segment.id, 3), (large.segment.id, 47)];
    let blocks = world.store.index_chunks(world.tenant, &chunks).await.unwrap();
    assert_eq!(blocks, [large.chunks[46].clone(), small.chunks[0].clone(), large.chunks[3].clone(), vec![]]);
    assert_eq!(world.store.index_blocks(world.tenant, &[]).await.unwrap().len(), 0);
}

async fn merged_segment_replaces_its_sources_once(world: CaseContext) {
    let (one, other, merged) = (segment(1, 10), segment(2, 20), segment(3, 30));
    assert!(change(&world, with(&one)).await && change(&world, with(&other)).await);
    let replacing = IndexChange { replaced: vec![one.segment.id, other.segment.id], ..with(&merged) };
    assert!(change(&world, replacing.clone()).await);
    assert_eq!(state(&world).await.segments, std::slice::from_ref(&merged.segment));
    let second_change = IndexChange { segment: Some(segment(4, 30)), ..replacing };
    assert!(!change(&world, second_change).await);
    assert_eq!(state(&world).await.segments, [merged.segment]);
}

async fn replaced_segment_is_readable_until_removed(world: CaseContext) {
    let (one, merged) = (segment(1, 100), segment(2, 100));
    assert!(change(&world, with(&one)).await);
    assert!(change(&world, IndexChange { replaced: vec![one.segment.id], ..with(&merged) }).await);
    assert_eq!(world.store.remove_replaced(AT, 10).await.unwrap(), 0, "nothing was replaced earlier");
    assert_eq!(contents(&world, &one).await, one);
    let later_time = Timestamp::from_millis(AT.millis() + 1);
    assert_eq!(world.store.remove_replaced(later_time, 10).await.unwrap(), 1);
    let contents_after = contents(&world, &one).await;
    assert!(contents_after.blocks.is_empty() && contents_after.chunks.concat().is_empty());
    assert_eq!(contents(&world, &merged).await, merged);
    assert_eq!(world.store.remove_replaced(later_time, 10).await.unwrap(), 0);
}

async fn search_index_belongs_to_one_tenant(world: CaseContext) {
    let own = segment(1, 50);
    let mine = write_observation(&world, world.hire().await.id).await;
    assert!(change(&world, with(&own)).await);
    for other in [world.in_other_tenant(), world.test_environment()] {
        assert_eq!(state(&other).await, IndexState::default());
        let theirs = contents(&other, &own).await;
        assert!(theirs.blocks.is_empty() && theirs.chunks.concat().is_empty());
        let replacing = IndexChange { replaced: vec![own.segment.id], ..IndexChange::created_at(AT) };
        assert!(!change(&other, replacing).await);
        let taking =
            IndexChange { indexed: vec![pending_row(&mine, Version::FIRST)], ..IndexChange::created_at(AT) };
        assert!(!change(&other, taking).await);
    }
    let objectives = world.store.index_state(world.tenant, "objectives", MOST).await.unwrap();
    assert_eq!(objectives, IndexState::default(), "each table has its own index");
    assert_eq!(
        state(&world).await,
        IndexState { segments: vec![own.segment], pending: vec![pending_row(&mine, Version::FIRST)] }
    );
}

async fn emptied_data_set_has_no_search_index(world: CaseContext) {
    let (world, other) = (world.test_environment(), world);
    let mut kept_contents = BTreeMap::new();
    for it in [&world, &other] {
        write_observation(it, it.hire().await.id).await;
        assert!(change(it, with(&segment(1, 200))).await);
        kept_contents.insert(it.tenant, state(it).await);
    }
    for table in schema::test_data() {
        while world.store.empty(world.tenant, table, 10).await.unwrap() > 0 {}
    }
    assert_eq!(state(&world).await, IndexState::default());
    let removed_contents = contents(&world, &segment(1, 200)).await;
    assert!(removed_contents.blocks.is_empty() && removed_contents.chunks.concat().is_empty());
    assert_eq!(Some(&state(&other).await), kept_contents.get(&other.tenant));
    assert_eq!(contents(&other, &segment(1, 200)).await, segment(1, 200));
}

async fn search_backlog_is_indexed_once(world: CaseContext) {
    let person = world.hire().await.id;
    let mut all = vec![];
    for _ in 0..5 {
        all.push(write_observation(&world, person).await.id.to_bytes());
    }
    all.sort_unstable();
    // The backlog starts after the id of the person. The ids of all observations sort after this id.
    let backlog_insertion = format!("INSERT INTO search_backlog SELECT tenant_id, '{TABLE}', id FROM employees");
    (world.sql)(backlog_insertion).await;
    let backlog = async |tenant| world.store.index_backlog(tenant, 10).await.unwrap();
    let unindexed_table =
        UnindexedTable { tenant: world.tenant, table: TABLE.to_owned(), after: person.to_bytes() };
    assert_eq!(backlog(Some(world.tenant)).await, std::slice::from_ref(&unindexed_table));
    assert_eq!(backlog(None).await, std::slice::from_ref(&unindexed_table));
    assert_eq!(backlog(Some(world.make.tenant())).await, []);
    let next = async |backlog: &UnindexedTable| {
        let rows = world.store.entries(world.tenant, backlog.next::<Observation>(3)).await.unwrap();
        rows.into_iter().map(|row| row.value.id.to_bytes()).collect::<Vec<_>>()
    };
    assert_eq!(next(&unindexed_table).await, all[..3]);
    let backlog_change = |of: &UnindexedTable, up_to| IndexChange {
        backlog: Some((of.clone(), up_to)),
        ..IndexChange::created_at(AT)
    };
    assert!(change(&world, backlog_change(&unindexed_table, Some(all[2]))).await);
    assert!(!change(&world, backlog_change(&unindexed_table, Some(all[2]))).await, "this part is done");
    let gone_on = UnindexedTable { after: all[2], ..unindexed_table };
    assert_eq!(backlog(None).await, std::slice::from_ref(&gone_on));
    assert_eq!(next(&gone_on).await, all[3..]);
    assert!(change(&world, backlog_change(&gone_on, None)).await);
    assert_eq!(backlog(None).await, []);
}

//! The store's own state: master keys are added one at a time, and a test write proves that changes can be
//! saved.

use candor_domain::observation::Observation;
use candor_domain::people::Employee;
use candor_port_storage::StorageExt;
use candor_port_storage::upkeep::MasterKey;
use candor_tables::schema;
use candor_tables::sizes::{SAMPLE_ROWS, measured_tables};

use super::population::Population;
use crate::Case;
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(new_store_has_no_master_key),
        Case::new(master_keys_round_trip_in_order_of_their_ids),
        Case::new(one_of_concurrently_added_master_keys_is_stored),
        Case::new(master_key_replaces_all_earlier_keys),
        Case::new(write_probe_succeeds_repeatedly_and_really_writes),
        Case::new(store_clock_moves_forward),
        Case::new(data_set_is_emptied_in_pieces_without_touching_another),
        Case::new(tenant_size_is_measured_in_pieces),
    ]
}

fn key(world: &CaseContext, id: &str, mark: u8) -> MasterKey {
    MasterKey {
        key_id: id.to_owned(),
        fingerprint: format!("{mark:016x}"),
        sealed: vec![0, mark, 255],
        recorded_at: world.make.tick(),
    }
}

async fn new_store_has_no_master_key(world: CaseContext) {
    assert_eq!(world.store.master_keys().await.unwrap(), []);
}

async fn master_keys_round_trip_in_order_of_their_ids(world: CaseContext) {
    let [one, two, upper] = [key(&world, "k1", 1), key(&world, "k2", 2), key(&world, "Z9", 3)];
    for (seen, it) in [&two, &upper, &one].into_iter().enumerate() {
        world.store.add_master_key(it.clone(), seen).await.unwrap();
    }
    assert_eq!(world.store.master_keys().await.unwrap(), [upper, one, two]);
}

async fn one_of_concurrently_added_master_keys_is_stored(world: CaseContext) {
    for seen in 0..3 {
        let keys: Vec<_> = (0..8).map(|number| key(&world, &format!("round{seen}key{number}"), number)).collect();
        let add = |master_key: MasterKey| {
            let store = world.store.clone();
            async move { store.add_master_key(master_key, seen).await.unwrap() }
        };
        at_once(keys.into_iter().map(add)).await;
        assert_eq!(world.store.master_keys().await.unwrap().len(), seen + 1);
    }
    let other = key(&world, "round0key9", 9);
    world.store.add_master_key(other, 0).await.unwrap();
    assert_eq!(
        world.store.master_keys().await.unwrap().len(),
        3,
        "a count of earlier keys that is too low adds no key"
    );
    let stored_key = world.store.master_keys().await.unwrap().remove(0);
    world
        .store
        .add_master_key(MasterKey { fingerprint: "other".to_owned(), ..stored_key.clone() }, 3)
        .await
        .unwrap();
    assert_eq!(world.store.master_keys().await.unwrap()[0], stored_key, "one id is one key");
}

async fn master_key_replaces_all_earlier_keys(world: CaseContext) {
    let [one, two, new] = [key(&world, "k1", 1), key(&world, "k2", 2), key(&world, "k2", 9)];
    world.store.add_master_key(one, 0).await.unwrap();
    world.store.add_master_key(two, 1).await.unwrap();
    world.store.replace_master_keys(new.clone()).await.unwrap();
    assert_eq!(world.store.master_keys().await.unwrap(), [new]);
}

async fn write_probe_succeeds_repeatedly_and_really_writes(world: CaseContext) {
    for _ in 0..3 {
        world.store.probe_write(world.make.tick()).await.unwrap();
    }
    world.spoil("DROP TABLE write_probes").await;
    assert!(world.store.probe_write(world.make.tick()).await.is_err(), "the probe really writes");
}

async fn store_clock_moves_forward(world: CaseContext) {
    let Some(first) = world.store.time().await.unwrap() else { return };
    let second = world.store.time().await.unwrap();
    assert!(second >= Some(first) && first.millis() > 1_700_000_000_000, "{first}");
}

async fn tenant_size_is_measured_in_pieces(world: CaseContext) {
    let other = world.test_environment();
    let population = Population::new(&world, 30, 40).await;
    Population::new(&other, 5, 7).await;
    let count = async |tenant, name: &str, after: [u8; 16]| {
        let table = measured_tables().into_iter().find(|table| table.name == name).unwrap();
        world.store.measure(tenant, &table, after).await.unwrap()
    };
    let observations = count(world.tenant, "observations", [0; 16]).await;
    assert_eq!((observations.rows, observations.sampled_rows, observations.last), (40, SAMPLE_ROWS.into(), None));
    assert!(observations.bytes() > 40 * 50, "{observations:?}");
    assert_eq!(count(other.tenant, "observations", [0; 16]).await.rows, 7);
    let mut ids: Vec<_> = population.people.iter().map(|person| person.id.to_bytes()).collect();
    ids.sort_unstable();
    assert_eq!(count(world.tenant, "employees", ids[11]).await.rows, 18, "only the rows behind the twelfth");
    for table in measured_tables() {
        world.store.measure(world.tenant, &table, [0xff; 16]).await.unwrap();
    }
}

async fn data_set_is_emptied_in_pieces_without_touching_another(world: CaseContext) {
    const PIECE: u32 = 7;
    let other = world.test_environment();
    let (gone, stays) = (Population::new(&world, 30, 40).await, Population::new(&other, 5, 5).await);
    let mut removed_count = 0;
    for table in schema::test_data() {
        loop {
            let piece = world.store.empty(world.tenant, table, PIECE).await.unwrap();
            assert!(piece <= u64::from(PIECE), "{piece} rows of {}", table.name);
            removed_count += piece;
            if piece == 0 {
                break;
            }
        }
    }
    assert!(removed_count > 30 + 40 + 12 + 12, "{removed_count}");
    let people: Vec<_> = gone.people.iter().map(|person| person.id).collect();
    assert_eq!(world.store.rows::<Employee>(world.tenant, &people).await.unwrap(), []);
    let observations: Vec<_> = gone.observations.iter().map(|observation| observation.id).collect();
    assert_eq!(world.store.rows::<Observation>(world.tenant, &observations).await.unwrap(), []);
    let (people, observations): (Vec<_>, Vec<_>) = (
        stays.people.iter().map(|person| person.id).collect(),
        stays.observations.iter().map(|observation| observation.id).collect(),
    );
    assert_eq!(world.store.rows::<Employee>(other.tenant, &people).await.unwrap().len(), 5);
    assert_eq!(world.store.rows::<Observation>(other.tenant, &observations).await.unwrap().len(), 5);
    // Old closure rows of removed people must not conflict with closure rows of new people.
    Population::new(&world, 12, 3).await;
}

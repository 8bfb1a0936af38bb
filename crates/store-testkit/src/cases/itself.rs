//! The store itself: master keys get in one at a time, and a write proves that it can be written.

use candor_port_storage::upkeep::MasterKey;

use crate::Case;
use crate::world::{World, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(a_new_store_knows_no_master_key),
        Case::new(master_keys_come_back_to_the_letter_in_the_order_of_their_ids),
        Case::new(of_master_keys_that_are_added_at_once_one_gets_in),
        Case::new(a_master_key_takes_the_place_of_all_others),
        Case::new(a_store_takes_a_write_again_and_again),
        Case::new(a_clock_of_its_own_goes_on),
    ]
}

fn key(world: &World, id: &str, mark: u8) -> MasterKey {
    MasterKey {
        key_id: id.to_owned(),
        fingerprint: format!("{mark:016x}"),
        sealed: vec![0, mark, 255],
        recorded_at: world.make.tick(),
    }
}

async fn a_new_store_knows_no_master_key(world: World) {
    assert_eq!(world.store.master_keys().await.unwrap(), []);
}

async fn master_keys_come_back_to_the_letter_in_the_order_of_their_ids(world: World) {
    let [one, two, upper] = [key(&world, "k1", 1), key(&world, "k2", 2), key(&world, "Z9", 3)];
    for (seen, it) in [&two, &upper, &one].into_iter().enumerate() {
        world.store.add_master_key(it.clone(), seen).await.unwrap();
    }
    assert_eq!(world.store.master_keys().await.unwrap(), [upper, one, two]);
}

async fn of_master_keys_that_are_added_at_once_one_gets_in(world: World) {
    for seen in 0..3 {
        let keys: Vec<_> = (0..8).map(|it| key(&world, &format!("round{seen}key{it}"), it)).collect();
        let add = |it: MasterKey| {
            let store = world.store.clone();
            async move { store.add_master_key(it, seen).await.unwrap() }
        };
        at_once(keys.into_iter().map(add)).await;
        assert_eq!(world.store.master_keys().await.unwrap().len(), seen + 1);
    }
    let other = key(&world, "round0key9", 9);
    world.store.add_master_key(other, 0).await.unwrap();
    assert_eq!(world.store.master_keys().await.unwrap().len(), 3, "whoever has not seen the others is too late");
    let known = world.store.master_keys().await.unwrap().remove(0);
    world.store.add_master_key(MasterKey { fingerprint: "other".to_owned(), ..known.clone() }, 3).await.unwrap();
    assert_eq!(world.store.master_keys().await.unwrap()[0], known, "one id is one key");
}

async fn a_master_key_takes_the_place_of_all_others(world: World) {
    let [one, two, new] = [key(&world, "k1", 1), key(&world, "k2", 2), key(&world, "k2", 9)];
    world.store.add_master_key(one, 0).await.unwrap();
    world.store.add_master_key(two, 1).await.unwrap();
    world.store.replace_master_keys(new.clone()).await.unwrap();
    assert_eq!(world.store.master_keys().await.unwrap(), [new]);
}

async fn a_store_takes_a_write_again_and_again(world: World) {
    for _ in 0..3 {
        world.store.probe_write(world.make.tick()).await.unwrap();
    }
    world.spoil("DROP TABLE write_probes").await;
    assert!(world.store.probe_write(world.make.tick()).await.is_err(), "it is written, and not only asked");
}

async fn a_clock_of_its_own_goes_on(world: World) {
    let Some(first) = world.store.time().await.unwrap() else { return };
    let second = world.store.time().await.unwrap();
    assert!(second >= Some(first) && first.millis() > 1_700_000_000_000, "{first}");
}

//! Removal of rows in a change set: versions, side tables, all or nothing.

use candor_domain::keyed::KeyedMap;
use candor_domain::observation::Observation;
use candor_domain::people::{Employee, Hold};
use candor_port_storage::change::RowKey;
use candor_port_storage::erasing::ErasureChange;
use candor_port_storage::{CommitError, Row, StorageExt, Version, Write};
use candor_tables::flat::{Column, MemberTable, SqlValue, Stored, Type};
use candor_tables::read::ID;

use super::population::metadata;
use crate::Case;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![Case::new(row_is_removed_only_with_its_version), Case::new(piece_fails_while_one_of_its_people_is_held)]
}

const fn key(row: &Observation) -> RowKey {
    RowKey { table: Observation::TABLE, id: row.id.to_bytes() }
}

/// Returns the write that deletes the rows of an observation in its side tables.
fn without_members(row: &Observation) -> Write {
    let removal_of = |members: &MemberTable| ErasureChange::Delete {
        table: members.name,
        by: Column::new(members.owner, Type::Id),
        values: vec![SqlValue::Id(row.id.to_bytes())],
    };
    Write::Erase(Observation::TABLE.members.iter().map(removal_of).collect())
}

async fn row_is_removed_only_with_its_version(world: CaseContext) {
    let person = world.hire().await;
    let observation_to_remove = Observation { metadata: metadata(&world), ..world.make.observation(person.id) };
    world.save(vec![Write::put(&Row::new(observation_to_remove.clone()))]).await;
    let changed_observation = world.observe(person.id).await;
    let newer = Observation { observation: "Restored.".to_owned(), ..changed_observation.clone() };
    world.save(vec![Write::put(&Row::at_version(newer, Version::FIRST))]).await;

    let values = Observation::TABLE.members[1];
    let digests: Vec<[u8; 16]> = observation_to_remove.metadata.digests();
    let members_in = async |of: &CaseContext| {
        let mut member_ids =
            of.store.members_among(of.tenant, values, &[&digests[..], &[[7; 16]]].concat()).await.unwrap();
        member_ids.sort_unstable();
        member_ids
    };
    let mut sorted_digests = digests.clone();
    sorted_digests.sort_unstable();
    assert!(!sorted_digests.is_empty());
    assert_eq!(members_in(&world).await, sorted_digests, "members are found, an unknown one is not");

    let both = |version| {
        let removals = [(&observation_to_remove, Version::FIRST), (&changed_observation, version)];
        let rows = removals.map(|(row, version)| Write::Removed(key(row), version));
        [without_members(&observation_to_remove), without_members(&changed_observation)]
            .into_iter()
            .chain(rows)
            .collect::<Vec<_>>()
    };
    let late = world.commit(world.make.change(both(Version::FIRST))).await;
    assert!(matches!(late, Err(CommitError::Stale)), "{late:?}");
    assert_eq!(members_in(&world).await, sorted_digests, "a stale change removes nothing");
    for others in [world.in_other_tenant(), world.test_environment()] {
        assert_eq!(members_in(&others).await, [[0; 16]; 0]);
        let foreign = others.try_save(Write::Removed(key(&observation_to_remove), Version::FIRST)).await;
        assert!(matches!(foreign, Err(CommitError::Stale)), "{foreign:?}");
    }
    world.save(both(Version(2))).await;
    let remaining_rows = world
        .store
        .rows::<Observation>(world.tenant, &[observation_to_remove.id, changed_observation.id])
        .await
        .unwrap();
    assert_eq!((remaining_rows, members_in(&world).await), (vec![], vec![]));
}

async fn piece_fails_while_one_of_its_people_is_held(world: CaseContext) {
    let (person, other) = (world.hire().await, world.hire().await);
    let row = world.observe(person.id).await;
    let values = vec![SqlValue::Id(row.id.to_bytes())];
    let delete = ErasureChange::Delete { table: Observation::TABLE.name, by: ID, values };
    let piece = [ErasureChange::RequireUnheld { people: vec![other.id, person.id] }, delete];
    let hold = Some(Hold { reason: "Lawsuit".to_owned(), held_at: world.make.tick() });
    let held_person = Employee { hold, ..person.clone() };
    world.save(vec![Write::employee(&Row::at_version(held_person.clone(), Version::FIRST), None)]).await;
    world.store.apply_erasure(world.tenant, &piece).await.unwrap_err();
    let commit_result = world.commit(world.make.change(vec![Write::Erase(piece.to_vec())])).await;
    assert!(matches!(commit_result, Err(CommitError::Storage(_))), "{commit_result:?}");
    assert!(
        world.store.row::<Observation>(world.tenant, row.id).await.unwrap().is_some(),
        "a failed piece removes nothing"
    );
    let unheld = Employee { hold: None, ..held_person };
    world.save(vec![Write::employee(&Row::at_version(unheld, Version(2)), None)]).await;
    world.store.apply_erasure(world.tenant, &piece).await.unwrap();
    assert!(world.store.row::<Observation>(world.tenant, row.id).await.unwrap().is_none());
}

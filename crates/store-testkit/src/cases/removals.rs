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

/// Deletes the rows of an observation in its side tables.
fn without_members(row: &Observation) -> Write {
    let of = |members: &MemberTable| ErasureChange::Delete {
        table: members.name,
        by: Column::new(members.owner, Type::Id),
        values: vec![SqlValue::Id(row.id.to_bytes())],
    };
    Write::Erase(Observation::TABLE.members.iter().map(of).collect())
}

async fn row_is_removed_only_with_its_version(world: CaseContext) {
    let person = world.hired().await;
    let removed = Observation { metadata: metadata(&world), ..world.make.observation(person.id) };
    world.save(vec![Write::put(&Row::new(removed.clone()))]).await;
    let changed = world.observed(person.id).await;
    let newer = Observation { observation: "Restored.".to_owned(), ..changed.clone() };
    world.save(vec![Write::put(&Row::expecting(newer, Version::FIRST))]).await;

    let values = Observation::TABLE.members[1];
    let digests: Vec<[u8; 16]> = removed.metadata.digests();
    let found = async |of: &CaseContext| {
        let mut found =
            of.store.members_among(of.tenant, values, &[&digests[..], &[[7; 16]]].concat()).await.unwrap();
        found.sort_unstable();
        found
    };
    let mut sorted = digests.clone();
    sorted.sort_unstable();
    assert!(!sorted.is_empty());
    assert_eq!(found(&world).await, sorted, "members are found, an unknown one is not");

    let both = |version| {
        let removals = [(&removed, Version::FIRST), (&changed, version)];
        let rows = removals.map(|(row, version)| Write::Removed(key(row), version));
        [without_members(&removed), without_members(&changed)].into_iter().chain(rows).collect::<Vec<_>>()
    };
    let late = world.commit(world.make.change(both(Version::FIRST))).await;
    assert!(matches!(late, Err(CommitError::Stale)), "{late:?}");
    assert_eq!(found(&world).await, sorted, "nothing of it was saved");
    for others in [world.in_other_tenant(), world.test_environment()] {
        assert_eq!(found(&others).await, [[0; 16]; 0]);
        let foreign = others.try_save(Write::Removed(key(&removed), Version::FIRST)).await;
        assert!(matches!(foreign, Err(CommitError::Stale)), "{foreign:?}");
    }
    world.save(both(Version(2))).await;
    let left = world.store.rows::<Observation>(world.tenant, &[removed.id, changed.id]).await.unwrap();
    assert_eq!((left, found(&world).await), (vec![], vec![]));
}

async fn piece_fails_while_one_of_its_people_is_held(world: CaseContext) {
    let (person, other) = (world.hired().await, world.hired().await);
    let row = world.observed(person.id).await;
    let values = vec![SqlValue::Id(row.id.to_bytes())];
    let delete = ErasureChange::Delete { table: Observation::TABLE.name, by: ID, values };
    let piece = [ErasureChange::RequireUnheld { people: vec![other.id, person.id] }, delete];
    let hold = Some(Hold { reason: "Lawsuit".to_owned(), held_at: world.make.tick() });
    let held = Employee { hold, ..person.clone() };
    world.save(vec![Write::employee(&Row::expecting(held.clone(), Version::FIRST), None)]).await;
    world.store.apply_erasure(world.tenant, &piece).await.unwrap_err();
    let committed = world.commit(world.make.change(vec![Write::Erase(piece.to_vec())])).await;
    assert!(matches!(committed, Err(CommitError::Storage(_))), "{committed:?}");
    assert!(
        world.store.row::<Observation>(world.tenant, row.id).await.unwrap().is_some(),
        "nothing of it was saved"
    );
    let unheld = Employee { hold: None, ..held };
    world.save(vec![Write::employee(&Row::expecting(unheld, Version(2)), None)]).await;
    world.store.apply_erasure(world.tenant, &piece).await.unwrap();
    assert!(world.store.row::<Observation>(world.tenant, row.id).await.unwrap().is_none());
}

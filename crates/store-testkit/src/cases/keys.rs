//! API keys: lookup of a key and its person by the hash of a secret, and recording of the last use.

use candor_domain::access::api_key::{ApiKey, Holder, KeyHash, KeyRecord};
use candor_domain::access::{AccessLevel, Environment, Permission, Permissions, Tenant};
use candor_domain::people::{Employee, Role, Status};
use candor_domain::time::Timestamp;
use candor_port_storage::{Row, StorageExt, Version, Versioned, Write};
use candor_tables::rows;

use crate::Case;
use crate::fixtures::joins;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(key_is_found_by_current_and_previous_secret),
        Case::new(rotated_key_is_not_found_by_the_secret_before_the_previous),
        Case::new(bound_person_is_read_in_the_environment_of_the_key),
        Case::new(key_lookup_returns_the_current_state_of_its_person),
        Case::new(key_use_does_not_change_the_version),
        Case::new(key_belongs_to_its_organization),
        Case::new(expiring_keys_are_found_across_organizations),
    ]
}

async fn keep(world: &CaseContext, key: &ApiKey) {
    let change = world.make.change(vec![Write::put(&Row::new(key.clone()))]);
    world.store.commit(Tenant::live(world.tenant.organization), change).await.unwrap();
}

async fn find_key(world: &CaseContext, hash: KeyHash) -> Option<KeyRecord> {
    world.store.key_by_hash(hash).await.unwrap()
}

async fn key_is_found_by_current_and_previous_secret(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let overlap_end = Timestamp::from_millis(1_800_000_000_123);
    let previous = KeyHash(make.bytes32());
    let rotated_key = ApiKey { previous: Some((previous, overlap_end)), ..make.api_key() };
    let plain = make.api_key();
    for key in [&rotated_key, &plain] {
        keep(&world, key).await;
    }
    let record =
        |key: &ApiKey| KeyRecord { organization: world.tenant.organization, key: key.clone(), holder: None };
    assert_eq!(find_key(&world, rotated_key.hash).await, Some(record(&rotated_key)));
    assert_eq!(find_key(&world, plain.hash).await, Some(record(&plain)));
    // The store returns the key for the previous secret too; the domain decides whether that secret is still
    // valid.
    assert_eq!(find_key(&world, previous).await, Some(record(&rotated_key)));
    for unknown_hash in [KeyHash(make.bytes32()), KeyHash([0; 32]), KeyHash([0xff; 32])] {
        assert_eq!(find_key(&world, unknown_hash).await, None);
    }
}

async fn rotated_key_is_not_found_by_the_secret_before_the_previous(world: CaseContext) {
    let mut key = world.make.api_key();
    keep(&world, &key).await;
    let mut hashes = vec![key.hash];
    for version in 1..=2 {
        let overlap_end = world.make.tick();
        let next = KeyHash(world.make.bytes32());
        key = ApiKey { hash: next, previous: Some((key.hash, overlap_end)), ..key };
        hashes.push(next);
        world.save(vec![Write::put(&Row::at_version(key.clone(), Version(version)))]).await;
    }
    let record = KeyRecord { organization: world.tenant.organization, key, holder: None };
    assert_eq!(find_key(&world, hashes[0]).await, None);
    assert_eq!(find_key(&world, hashes[1]).await, Some(record.clone()));
    assert_eq!(find_key(&world, hashes[2]).await, Some(record));
}

async fn bound_person_is_read_in_the_environment_of_the_key(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let test = world.test_environment();
    let both = Employee { role: Role::Manager, ..make.employee() };
    let both_test = Employee { role: Role::OrgAdmin, status: Status::PendingInvite, ..both.clone() };
    let returned_at = Some(make.tick());
    let live_only = Employee { returned_at, ..make.employee() };
    world.save(vec![joins(both.clone()), joins(live_only.clone())]).await;
    test.save(vec![joins(both_test)]).await;
    let holder = |id, role, status| Holder { id, role, status, returned_at: None };
    let returned_holder = Holder { returned_at, ..holder(live_only.id, Role::Employee, Status::Active) };
    let table = [
        (Environment::Live, both.id, Some(holder(both.id, Role::Manager, Status::Active))),
        (Environment::Test, both.id, Some(holder(both.id, Role::OrgAdmin, Status::PendingInvite))),
        (Environment::Live, live_only.id, Some(returned_holder)),
        (Environment::Test, live_only.id, None),
        (Environment::Live, make.id(), None),
    ];
    for (environment, employee_id, holder) in table {
        let key = ApiKey { environment, employee_id: Some(employee_id), ..make.api_key() };
        keep(&world, &key).await;
        let record = KeyRecord { organization: world.tenant.organization, key: key.clone(), holder };
        assert_eq!(find_key(&world, key.hash).await, Some(record), "{environment:?} {employee_id}");
    }
}

async fn key_lookup_returns_the_current_state_of_its_person(world: CaseContext) {
    let person = world.hire().await;
    let key = ApiKey { employee_id: Some(person.id), ..world.make.api_key() };
    keep(&world, &key).await;
    let former_employee = Employee { status: Status::Deactivated, role: Role::OrgAdmin, ..person.clone() };
    world.save(vec![Write::employee(&Row::at_version(former_employee, Version::FIRST), None)]).await;
    let record = find_key(&world, key.hash).await.unwrap();
    let facts = record.holder.map(|holder| (holder.id, holder.role, holder.status));
    assert_eq!(facts, Some((person.id, Role::OrgAdmin, Status::Deactivated)));
}

async fn key_use_does_not_change_the_version(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let organization = tenant.organization;
    let (used, idle) = (make.api_key(), make.api_key());
    for key in [&used, &idle] {
        keep(&world, key).await;
    }
    let use_time = Timestamp::from_millis(1_772_500_020_000);
    let unknown = (organization, make.id(), use_time);
    store.touch_keys(&[]).await.unwrap();
    store.touch_keys(&[(organization, used.id, use_time), unknown]).await.unwrap();
    let used_key = ApiKey { last_used_at: Some(use_time), ..used.clone() };
    let used_row = store.row::<ApiKey>(Tenant::live(organization), used.id).await.unwrap();
    assert_eq!(used_row, Some(Versioned { value: used_key.clone(), version: Version::FIRST }));
    let idle_row = store.row::<ApiKey>(Tenant::live(organization), idle.id).await.unwrap();
    assert_eq!(idle_row, Some(Versioned { value: idle, version: Version::FIRST }));
    // Instances may record uses in any order, so an earlier use must not replace a later one.
    let earlier = Timestamp::from_millis(use_time.millis() - 60_000);
    store.touch_keys(&[(organization, used.id, earlier)]).await.unwrap();
    let row_after_use = store.row::<ApiKey>(Tenant::live(organization), used.id).await.unwrap().unwrap();
    assert_eq!(row_after_use.value.last_used_at, Some(use_time), "the last use stays the last");
    // Recording a use does not change the version, so an earlier decision is not stale.
    let renamed_key = ApiKey { name: "Renamed".to_owned(), ..used_key };
    world.save(vec![Write::put(&Row::at_version(renamed_key, Version::FIRST))]).await;
    assert_eq!(
        store.row::<ApiKey>(Tenant::live(organization), used.id).await.unwrap().unwrap().version,
        Version(2)
    );
}

async fn key_belongs_to_its_organization(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let key = ApiKey {
        environment: Environment::Test,
        access_level: AccessLevel::Admin,
        scopes: Permissions::NONE.with(Permission::AuditRead).with(Permission::EmployeesWrite),
        reads_per_minute: Some(u32::MAX),
        writes_per_minute: Some(0),
        expires_at: Some(Timestamp::from_millis(1_900_000_000_999)),
        revoked_at: Some(Timestamp::from_millis(1_800_000_000_001)),
        remind_at: Some(Timestamp::from_millis(1_850_000_000_002)),
        ..make.api_key()
    };
    keep(&world, &key).await;
    let other = make.tenant().organization;
    let stored_key = Some(Versioned { value: key.clone(), version: Version::FIRST });
    assert_eq!(store.row::<ApiKey>(*tenant, key.id).await.unwrap(), stored_key);
    assert_eq!(store.row::<ApiKey>(Tenant::live(other), key.id).await.unwrap(), None);
    let owned_key = stored_key.clone().map(|key| (Tenant::live(tenant.organization), key));
    assert_eq!(store.row_in_any_tenant(rows::api_keys::BY_ID, key.id).await.unwrap(), owned_key);
    assert_eq!(
        store.row_in_any_tenant(rows::api_keys::BY_ID, make.id::<candor_domain::id::KeyKind>()).await.unwrap(),
        None
    );
    store.touch_keys(&[(other, key.id, make.tick())]).await.unwrap();
    assert_eq!(store.row::<ApiKey>(*tenant, key.id).await.unwrap(), stored_key, "another organization's touch");
}

async fn expiring_keys_are_found_across_organizations(world: CaseContext) {
    let other = world.in_other_tenant();
    let time = |seconds| Timestamp::from_millis(1_750_000_000_000).plus_seconds(seconds);
    let mut expected_keys = vec![];
    for (world, remind_at) in
        [(&world, Some(3)), (&other, Some(1)), (&world, Some(2)), (&other, None), (&world, Some(4))]
    {
        let key = ApiKey { remind_at: remind_at.map(time), ..world.make.api_key() };
        keep(world, &key).await;
        if remind_at.is_some_and(|remind_at| remind_at <= 3) {
            expected_keys.push((
                Tenant::live(world.tenant.organization),
                Versioned { value: key, version: Version::FIRST },
            ));
        }
    }
    expected_keys.sort_by_key(|(_, row)| row.value.remind_at);
    let due = |most| world.store.due(rows::api_keys::REMIND_AT, time(3), most);
    assert_eq!(due(9).await.unwrap(), expected_keys);
    assert_eq!(due(2).await.unwrap(), expected_keys[..2], "the longest due first");
}

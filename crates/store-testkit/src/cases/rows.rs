//! Encoding of rows: every value is read back unchanged, and a corrupt value is reported with its column.

use candor_domain::access::api_key::ApiKey;
use candor_domain::audit::{Actor, ActorKind, AuditEntry, Change, KeyUsed, Origin, Via};
use candor_domain::catalog::{Attribute, Department};
use candor_domain::event::{Event, EventType};
use candor_domain::id::{Id, Kind};
use candor_domain::observation::{Observation, Visibility};
use candor_domain::organization::{Organization, Review};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::people::{Custom, CustomFields, Employee, Invitation};
use candor_domain::time::{Date, Timestamp};
use candor_domain::visibility::Viewer;
use candor_domain::{audit, observation};
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::{ChangeSet, Row, StorageExt, Version, Versioned, Write};
use candor_provisioning::Connector;
use candor_provisioning::connector::{Sync, SyncStatus};
use candor_tables::rows;

use super::lists;
use crate::Case;
use crate::fixtures::joins;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(texts_and_times_round_trip),
        Case::new(custom_values_keep_their_type),
        Case::new(settings_connectors_and_audit_entries_round_trip),
        Case::new(rows_are_read_by_several_ids),
        Case::new(newest_invitation_is_returned),
        Case::new(managed_people_are_walked_by_id),
        Case::new(corrupt_row_names_its_column),
        Case::new(corrupt_row_fails_its_list),
    ]
}

/// Texts that a faulty encoding might change.
pub(super) const TEXTS: [&str; 8] = [
    "plain",
    "it's \"quoted\" \\ and % _ ? $1 :a",
    " tab\tand\r\nlines ",
    "👍🏽 漢字 e\u{301} \u{202e}",
    "-- '; DROP TABLE employees; --",
    "{\"json\": [1, null]}",
    "\u{7f}\u{85}\u{feff}\u{ffff}",
    "NULL",
];

async fn texts_and_times_round_trip(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let instants = [0, 1, 999, 1_772_442_000_123, 253_402_300_799_999, -62_135_596_800_000];
    let dates = [0, -1, 19_000, -719_162, 2_932_896];
    for (number, text) in TEXTS.iter().enumerate() {
        let time = |offset: usize| Timestamp::from_millis(instants[(number + offset) % instants.len()]);
        let employee = Employee {
            first_name: (*text).to_owned(),
            last_name: text.repeat(3),
            job_title: Some((*text).to_owned()),
            hris_source: (*text).to_owned(),
            external_id: Some((*text).to_owned()),
            created_at: time(0),
            updated_at: time(1),
            deactivated_at: Some(time(2)),
            ..make.employee()
        };
        world.add_employee(employee.clone()).await;
        let employee_row = store.row::<Employee>(*tenant, employee.id).await.unwrap();
        assert_eq!(employee_row, Some(Versioned { value: employee.clone(), version: Version::FIRST }), "{text:?}");
        let observation = Observation {
            observation: text.repeat(100),
            impact: Some(String::new()),
            recommended_action: Some((*text).to_owned()),
            observation_date: Date::from_epoch_days(dates[number % dates.len()]),
            visibility: Visibility::Managers,
            requester_id: Some(employee.id),
            created_at: time(3),
            updated_at: time(4),
            archived_at: Some(time(5)),
            ..make.observation(employee.id)
        };
        world.save(vec![Write::put(&Row::new(observation.clone()))]).await;
        let observation_row = store.row::<Observation>(*tenant, observation.id).await.unwrap();
        assert_eq!(observation_row, Some(Versioned { value: observation, version: Version::FIRST }), "{text:?}");
    }
}

async fn custom_values_keep_their_type(world: CaseContext) {
    let number = |text: &str| Custom::Number(serde_json::from_str(text).unwrap());
    let mut fields = CustomFields::default();
    for (at, it) in ["0", "-1", "1.5", "18446744073709551615", "-9223372036854775808", "1e300"].iter().enumerate()
    {
        fields.0.insert(format!("number {at}"), number(it));
    }
    for (at, it) in TEXTS.iter().enumerate() {
        fields.0.insert(format!("{it}{at}"), Custom::Text((*it).to_owned()));
    }
    fields.0.insert("yes".to_owned(), Custom::Flag(true));
    fields.0.insert("long".to_owned(), Custom::Text("é".repeat(1024)));
    let it = world.add_employee(Employee { custom_fields: fields, ..world.make.employee() }).await;
    assert_eq!(world.employee(it.id).await.value, it);
}

async fn settings_connectors_and_audit_entries_round_trip(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let settings = Organization {
        name: TEXTS[3].to_owned(),
        objective_review: Review::Required,
        summary_review: Review::Disabled,
        ..make.organization(tenant.organization)
    };
    let mapped_custom_field_keys = TEXTS.iter().map(|text| (*text).to_owned()).collect();
    let last_sync = Sync { at: make.tick(), status: SyncStatus::Partial, message: Some(TEXTS[1].to_owned()) };
    let connector = Connector { mapped_custom_field_keys, last_sync: Some(last_sync), ..make.connector() };
    let change = |from: &str, to: serde_json::Value| Change::new(&from, &to);
    let entry = AuditEntry {
        actor: Actor { kind: ActorKind::Connector, id: Some("con_1".to_owned()), name: TEXTS[1].to_owned() },
        changes: [
            ("name".to_owned(), change(TEXTS[4], serde_json::Value::Null)),
            ("fields".to_owned(), change("", serde_json::json!({"a": [1.5, true, TEXTS[3]]}))),
        ]
        .into(),
        comment: Some(TEXTS[2].to_owned()),
        request_id: Some("req_1".to_owned()),
        context: Origin {
            ip: Some("2001:db8::1".to_owned()),
            user_agent: Some(TEXTS[0].to_owned()),
            api_key: Some(KeyUsed { id: "key_1".to_owned(), name: TEXTS[1].to_owned() }),
            via: Some(Via { identity_provider_id: make.id() }),
        },
        ..make.audit("organization.update", "org_1")
    };
    let data = serde_json::json!({"text": TEXTS[3], "z": 1, "a": [null]}).to_string();
    let event = Event { data, ..make.event(EventType::ConversationMessageCreated) };
    let writes = vec![Write::put(&Row::new(settings.clone())), Write::put(&Row::new(connector.clone()))];
    let events = vec![event.clone()];
    world.commit(ChangeSet { writes, events, ..ChangeSet::new(entry.clone()) }).await.unwrap();
    let version = Version::FIRST;
    assert_eq!(
        store.row::<Organization>(*tenant, tenant.organization).await.unwrap(),
        Some(Versioned { value: settings, version })
    );
    let connector_row = store.row::<Connector>(*tenant, connector.id).await.unwrap();
    assert_eq!(connector_row, Some(Versioned { value: connector, version }));
    assert_eq!(world.events().await, [event]);
    let filter = audit::Filter { target_id: Some("org_1".to_owned()), ..Default::default() };
    assert_eq!(lists::audit_log(&world, filter).walk(Sort::ascending_by(SortBy::OccurredAt), 9).await, [entry]);
}

fn ids<K: Kind>(ids: impl IntoIterator<Item = Id<K>>) -> Vec<Id<K>> {
    let mut ids: Vec<_> = ids.into_iter().collect();
    ids.sort();
    ids
}

async fn rows_are_read_by_several_ids(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let people: Vec<_> = (0..120).map(|_| make.employee()).collect();
    let (departments, attributes) = ([make.department(), make.department()], [make.attribute(), make.attribute()]);
    let mut writes: Vec<_> = people.iter().cloned().map(joins).collect();
    writes.extend(departments.iter().map(|department| Write::put(&Row::new(department.clone()))));
    writes.extend(attributes.iter().map(|attribute| Write::put(&Row::new(attribute.clone()))));
    world.save(writes).await;
    for wanted in [0, 1, 2, 7, 100, 120] {
        let mut ids_to_read: Vec<_> = people.iter().take(wanted).map(|person| person.id).collect();
        let sorted_ids = ids(ids_to_read.clone());
        ids_to_read.insert(ids_to_read.len() / 2, make.id());
        let people_rows = store.rows::<Employee>(*tenant, &ids_to_read).await.unwrap();
        assert_eq!(ids(people_rows.iter().map(|row| row.value.id)), sorted_ids);
        assert!(people_rows.iter().all(|row| people.contains(&row.value) && row.version == Version::FIRST));
    }
    let department_rows =
        store.rows::<Department>(*tenant, &[departments[1].id, make.id(), departments[0].id]).await.unwrap();
    assert_eq!(
        ids(department_rows.into_iter().map(|row| row.value.id)),
        ids(departments.map(|department| department.id))
    );
    let tags = [attributes[1].id, make.id(), attributes[0].id];
    let attribute_rows = store.rows::<Attribute>(*tenant, &tags).await.unwrap();
    assert_eq!(
        ids(attribute_rows.into_iter().map(|row| row.value.id)),
        ids(attributes.map(|attribute| attribute.id))
    );
    assert_eq!(store.rows::<Department>(*tenant, &[]).await.unwrap(), []);
    assert_eq!(store.rows::<Employee>(*tenant, &[]).await.unwrap(), []);
}

async fn newest_invitation_is_returned(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let person = world.hire().await;
    assert_eq!(store.first(*tenant, rows::invitations::newest(person.id)).await.unwrap(), None);
    let older = make.invitation(person.id);
    let newer = make.invitation(person.id);
    let others = make.invitation(world.hire().await.id);
    // The write order of the rows differs from the order of their ids.
    for it in [&newer, &others, &older] {
        world.save(vec![Write::put(&Row::new(it.clone()))]).await;
    }
    let version = Version::FIRST;
    let newest_invitation = store.first(*tenant, rows::invitations::newest(person.id)).await.unwrap();
    assert_eq!(newest_invitation, Some(Versioned { value: newer.clone(), version }));
    let by_token = store.row_in_any_tenant(rows::invitations::BY_TOKEN, older.token_hash).await.unwrap();
    assert_eq!(by_token, Some((*tenant, Versioned { value: older, version })));
    assert_eq!(store.row_in_any_tenant(rows::invitations::BY_TOKEN, make.bytes32()).await.unwrap(), None);
    let accepted_invitation = Invitation { accepted_at: Some(make.tick()), ..newer };
    world.save(vec![Write::put(&Row::at_version(accepted_invitation.clone(), version))]).await;
    let invitation_after = store.first(*tenant, rows::invitations::newest(person.id)).await.unwrap();
    assert_eq!(invitation_after, Some(Versioned { value: accepted_invitation, version: Version(2) }));
}

async fn managed_people_are_walked_by_id(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let connectors = [make.connector(), make.connector()];
    world.save(connectors.iter().map(|connector| Write::put(&Row::new(connector.clone()))).collect()).await;
    let managed_person = |connector: &Connector| Employee {
        connector_id: Some(connector.id),
        is_hris_managed: true,
        hris_source: connector.hris_source.clone(),
        ..make.employee()
    };
    let mine: Vec<_> = (0..25).map(|_| managed_person(&connectors[0])).collect();
    let writes = mine.iter().cloned().chain([managed_person(&connectors[1]), make.employee()]).map(joins);
    world.save(writes.collect()).await;
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = store.entries(*tenant, rows::employees::managed_by(connectors[0].id, after, 10)).await.unwrap();
        assert!(page.len() <= 10);
        let Some(last) = page.last() else { break };
        after = Some(last.value.id);
        found.extend(page.into_iter().map(|page| page.value));
    }
    // Ids ascend in order of creation.
    assert_eq!(found, mine);
}

/// Returns the table and column that an error names.
pub(super) fn name_of_result<T: std::fmt::Debug>(result: Read<T>) -> (&'static str, &'static str) {
    match result {
        Err(StorageError::Corrupt { table, column, .. }) => (table, column),
        other => panic!("{other:?}"),
    }
}

async fn corrupt_row_names_its_column(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let (attribute, connector, key) = (make.attribute(), make.connector(), make.api_key());
    let person = world.hire().await;
    let observation = world.observe(person.id).await;
    world
        .save(vec![
            Write::put(&Row::new(make.organization(tenant.organization))),
            Write::put(&Row::new(attribute.clone())),
            Write::put(&Row::new(connector.clone())),
            Write::put(&Row::new(key.clone())),
        ])
        .await;
    for column in ["role", "status", "custom_fields"] {
        world.spoil(&format!("UPDATE employees SET {column} = 'spoilt'")).await;
        assert_eq!(name_of_result(store.row::<Employee>(*tenant, person.id).await), ("employees", column));
        assert_eq!(name_of_result(store.rows::<Employee>(*tenant, &[person.id]).await), ("employees", column));
        world.spoil("UPDATE employees SET role = 'manager', status = 'active', custom_fields = '{}'").await;
    }
    world.spoil("UPDATE observations SET type = 'spoilt'").await;
    assert_eq!(name_of_result(store.row::<Observation>(*tenant, observation.id).await), ("observations", "type"));
    world.spoil("UPDATE attributes SET tone = 'spoilt'").await;
    assert_eq!(name_of_result(store.row::<Attribute>(*tenant, attribute.id).await), ("attributes", "tone"));
    world.spoil("UPDATE organizations SET summary_review = 'spoilt'").await;
    assert_eq!(
        name_of_result(store.row::<Organization>(*tenant, tenant.organization).await),
        ("organizations", "summary_review")
    );
    world.spoil("UPDATE connectors SET mapped_custom_field_keys = '{'").await;
    assert_eq!(
        name_of_result(store.row::<Connector>(*tenant, connector.id).await),
        ("connectors", "mapped_custom_field_keys")
    );
    world.spoil("UPDATE api_keys SET scopes = 'spoilt'").await;
    assert_eq!(name_of_result(store.row::<ApiKey>(*tenant, key.id).await), ("api_keys", "scopes"));
    assert_eq!(name_of_result(store.key_by_hash(key.hash).await), ("api_keys", "scopes"));
    world.spoil("UPDATE api_keys SET scopes = '*', writes_per_minute = -1").await;
    assert_eq!(name_of_result(store.key_by_hash(key.hash).await), ("api_keys", "writes_per_minute"));
}

async fn corrupt_row_fails_its_list(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let person = world.hire().await;
    world.observe(person.id).await;
    let change = ChangeSet { events: vec![make.event(EventType::EmployeeCreated)], ..make.change(vec![]) };
    world.commit(change).await.unwrap();
    world.events().await;
    world.spoil("UPDATE observations SET type = 'spoilt'").await;
    world.spoil("UPDATE employees SET role = 'spoilt'").await;
    world.spoil("UPDATE audit_entries SET actor_type = 'spoilt'").await;
    world.spoil("UPDATE events SET type = 'spoilt'").await;
    let page = PageRequest { limit: 10, after: None };
    let (created, occurred) = (Sort::ascending_by(SortBy::CreatedAt), Sort::descending_by(SortBy::OccurredAt));
    let filter = observation::Filter::default();
    let observations =
        store.page(*tenant, rows::observations::list(&filter, Viewer::Everything, created, &page)).await;
    assert_eq!(name_of_result(observations), ("observations", "type"));
    let people = store
        .page(*tenant, rows::employees::list(&candor_domain::people::Filter::default(), created, &page))
        .await;
    assert_eq!(name_of_result(people), ("employees", "role"));
    let entries = store.page(*tenant, rows::audit::list(&audit::Filter::default(), occurred, &page)).await;
    assert_eq!(name_of_result(entries), ("audit_entries", "actor_type"));
    let filter = candor_domain::event::FeedFilter::default();
    let feed =
        store.feed(*tenant, &filter, crate::world::EVER, &candor_domain::event::FeedStart::Oldest, 10).await;
    assert_eq!(name_of_result(feed), ("events", "type"));
}

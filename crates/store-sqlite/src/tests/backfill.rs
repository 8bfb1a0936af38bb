//! Data migrations of existing rows.

use candor_domain::access::api_key::{ApiKey, ApiKeyKind};
use candor_domain::assignment::{Assignment, SubmissionStatus};
use candor_domain::audit::AuditEntry;
use candor_domain::catalog::Department;
use candor_domain::id::{EmployeeId, ObservationId};
use candor_domain::people::Employee;
use candor_domain::people::connector::Type as ConnectorType;
use candor_domain::text::fold_case;
use candor_port_storage::{ChangeSet, Row, Write};
use candor_provisioning::Connector;
use candor_provisioning::connector::{Sync, SyncStatus};
use candor_store_testkit::Fixtures;
use candor_store_testkit::fixtures::joins;
use candor_tables::flat::CellReader;

use super::{database, save};
use crate::sql::{Db, Sql};
use crate::{commit, migrate};

const VISIBILITY: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/sqlite/0017_visibility/up.sql"));
const ADDRESS_CHANGES: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/sqlite/0066_address_changes/up.sql"));

const ATTENTION: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/sqlite/0067_attention/up.sql"));

#[test]
fn former_connectors_get_the_time_of_an_incomplete_sync() {
    let (mut db, make) = (database(), Fixtures::new(67));
    let tenant = make.tenant();
    let kinds = [ConnectorType::CsvFeed, ConnectorType::Scim];
    let statuses = [SyncStatus::Succeeded, SyncStatus::Partial, SyncStatus::Failed];
    let connectors =
        kinds.into_iter().flat_map(|kind| statuses.map(|status| (kind, status))).map(|(kind, status)| {
            let last_sync = Some(Sync { at: make.tick(), status, message: None });
            [None, Some(make.tick())].map(|paused_at| Connector {
                kind,
                last_sync: last_sync.clone(),
                paused_at,
                ..make.connector()
            })
        });
    let connectors: Vec<_> = connectors.flatten().collect();
    save(&mut db, &make, tenant, connectors.iter().map(|one| Write::put(&Row::new(one.clone()))).collect());
    db.batch("UPDATE connectors SET incomplete_at = NULL").unwrap();
    let backfill = ATTENTION.split(';').find(|statement| statement.contains("UPDATE connectors"));
    db.batch(backfill.unwrap()).unwrap();
    for connector in connectors {
        let sql = Sql::new("SELECT incomplete_at FROM connectors WHERE id = ?").bind(connector.id.to_bytes());
        let stored_time = db.first(sql, |row| Ok(row.time().unwrap())).unwrap().flatten();
        assert_eq!(stored_time, connector.incomplete_at(), "{connector:?}");
    }
}

#[test]
fn former_keys_get_their_notable_end() {
    let (mut db, make) = (database(), Fixtures::new(68));
    let tenant = make.tenant();
    let mut keys = vec![];
    for kind in [ApiKeyKind::Key, ApiKeyKind::Session] {
        for (life, is_revoked) in
            [(None, false), (Some(86_400), false), (Some(86_401), false), (Some(86_401), true)]
        {
            let key = make.api_key();
            let expires_at = life.map(|seconds| key.created_at.plus_seconds(seconds));
            let revoked_at = is_revoked.then_some(key.created_at);
            keys.push(ApiKey { kind, expires_at, revoked_at, ..key });
        }
    }
    save(&mut db, &make, tenant, keys.iter().map(|one| Write::put(&Row::new(one.clone()))).collect());
    db.batch("UPDATE api_keys SET notable_end = NULL").unwrap();
    let backfill = ATTENTION.split(';').find(|statement| statement.contains("UPDATE api_keys"));
    db.batch(backfill.unwrap()).unwrap();
    for key in keys {
        let sql = Sql::new("SELECT notable_end FROM api_keys WHERE id = ?").bind(key.id.to_bytes());
        let stored_time = db.first(sql, |row| Ok(row.time().unwrap())).unwrap().flatten();
        assert_eq!(stored_time, key.notable_end(), "{key:?}");
    }
}

#[test]
fn submitted_observations_get_the_requester() {
    let (mut db, make) = (database(), Fixtures::new(17));
    let tenant = make.tenant();
    let [requester, reviewer, subject] = [make.employee(), make.employee(), make.employee()];
    let observations: Vec<_> = (0..40).map(|_| make.observation(subject.id)).collect();
    let ids: Vec<ObservationId> = observations.iter().map(|observation| observation.id).collect();
    let requests = [(Some(requester.id), &ids[..30]), (None, &ids[30..35])];
    let assignments = requests.map(|(requester_id, submitted)| {
        let mut assignment = Assignment { requester_id, ..make.assignment(subject.id, vec![reviewer.id]) };
        assignment.submissions[0].status = SubmissionStatus::Submitted;
        assignment.submissions[0].observation_ids = submitted.to_vec();
        assignment.submissions[0].submitted_at = Some(assignment.created_at);
        Write::put(&Row::new(assignment))
    });
    let requester_id = requester.id;
    save(&mut db, &make, tenant, [requester, reviewer, subject].map(joins).into());
    save(
        &mut db,
        &make,
        tenant,
        observations.into_iter().map(|observation| Write::put(&Row::new(observation))).collect(),
    );
    save(&mut db, &make, tenant, assignments.into());
    let backfill = VISIBILITY.split(';').find(|statement| statement.contains("UPDATE observations"));
    db.batch(backfill.unwrap()).unwrap();
    for (number, id) in ids.iter().enumerate() {
        let sql = Sql::new("SELECT requester_id FROM observations WHERE id = ?").bind(id.to_bytes());
        let stored_requester = db.first(sql, |row| Ok(row.id().unwrap())).unwrap().flatten();
        let expected_requester = (number < 30).then_some(requester_id);
        assert_eq!(stored_requester.map(EmployeeId::from_bytes), expected_requester, "{number}");
    }
}

#[test]
fn changed_mailboxes_get_the_time_of_their_audit_entry() {
    let (mut db, make) = (database(), Fixtures::new(66));
    let tenant = make.tenant();
    let people: Vec<_> = (0..40).map(|_| make.employee()).collect();
    save(&mut db, &make, tenant, people.iter().cloned().map(joins).collect());
    let mut wanted_times = vec![None; people.len()];
    for (number, person) in people.iter().enumerate().take(30) {
        for action in ["employee.change_sign_in_address", "employee.change_sign_in_address", "employee.update"] {
            let occurred_at = make.tick();
            if action != "employee.update" {
                wanted_times[number] = Some(occurred_at);
            }
            let entry = AuditEntry { occurred_at, ..make.audit(action, &person.id.to_string()) };
            commit::carry_out(&mut db, tenant, &ChangeSet::new(entry)).unwrap();
        }
    }
    let backfill = ADDRESS_CHANGES.split(';').find(|statement| statement.contains("UPDATE employees"));
    db.batch(backfill.unwrap()).unwrap();
    for (number, person) in people.iter().enumerate() {
        let sql = Sql::new("SELECT address_changed_at FROM employees WHERE id = ?").bind(person.id.to_bytes());
        let stored_time = db.first(sql, |row| Ok(row.time().unwrap())).unwrap().flatten();
        assert_eq!(stored_time, wanted_times[number], "{number}");
    }
}

/// Returns for each row its key, and `true` if it is marked as a twin.
fn keys(db: &mut Db, table: &str, key: &str, ids: [[u8; 16]; 4]) -> [(String, bool); 4] {
    ids.map(|id| {
        let sql = Sql::new(format!("SELECT {key}, twin FROM {table} WHERE id = ?")).bind(id);
        let read =
            |row: &mut dyn CellReader| Ok((row.text().unwrap().unwrap(), row.flag().unwrap() == Some(true)));
        db.first(sql, read).unwrap().unwrap()
    })
}

#[test]
fn former_text_keys_are_replaced_and_twins_keep_theirs() {
    let (mut db, make) = (database(), Fixtures::new(49));
    let tenant = make.tenant();
    let emails = ["anna@xn--mller-kva.example", "Anna@Müller.example", "bo@Müller.example", "cy@example.com"];
    let names = ["Straße", "STRASSE", "CAFE\u{301}", "Care"];
    // Marked as twins, so that the rows get the keys of an earlier version: lower-case texts.
    let people = emails.map(|email| Employee { email: email.to_owned(), is_twin: true, ..make.employee() });
    let departments = names.map(|name| Department { name: name.to_owned(), is_twin: true, ..make.department() });
    let writes = departments.iter().map(|department| Write::put(&Row::new(department.clone())));
    save(&mut db, &make, tenant, people.iter().cloned().map(joins).chain(writes).collect());
    db.batch("UPDATE employees SET twin = NULL; UPDATE departments SET twin = NULL").unwrap();
    let (people, departments) =
        (people.map(|person| person.id.to_bytes()), departments.map(|department| department.id.to_bytes()));
    let read = |db: &mut Db| {
        (keys(db, "employees", "email_key", people), keys(db, "departments", "name_key", departments))
    };
    let former = |texts: [&str; 4]| texts.map(|text| (fold_case(text), false));
    assert_eq!(read(&mut db), (former(emails), former(names)));
    let expected_pairs = |pairs: [(&str, bool); 4]| pairs.map(|(key, is_twin)| (key.to_owned(), is_twin));
    let of_people = expected_pairs([
        ("anna@xn--mller-kva.example", false),
        ("anna@müller.example", true),
        ("bo@xn--mller-kva.example", false),
        ("cy@example.com", false),
    ]);
    let of_departments = expected_pairs([("straße", true), ("strasse", false), ("café", false), ("care", false)]);
    for _ in 0..2 {
        migrate::apply(&mut db).unwrap();
        assert_eq!(read(&mut db), (of_people.clone(), of_departments.clone()));
    }
    let sql = Sql::new("UPDATE employees SET email = 'x@example.com', email_key = 'x@example.com' WHERE id = ?");
    db.execute(&sql.bind(people[0])).unwrap();
    migrate::apply(&mut db).unwrap();
    let freed_key = &read(&mut db).0[1];
    assert_eq!(*freed_key, ("anna@xn--mller-kva.example".to_owned(), false), "the key is free");
}

#[test]
fn former_keys_of_user_names_are_replaced_once() {
    let (mut db, make) = (database(), Fixtures::new(55));
    let (tenant, connector) = (make.tenant(), make.connector());
    let names = ["anna@xn--mller-kva.example", "Anna@Müller.example", "bo@Müller.example", "cy@example.com"];
    let people = names.map(|_| make.employee());
    let links = [0, 1, 2, 3].map(|index: usize| make.scim_link(people[index].id, connector.id));
    let writes = links.iter().map(|link| Write::put(&Row::new(link.clone())));
    let connector_id = connector.id;
    let writes = people.into_iter().map(joins).chain([Write::put(&Row::new(connector))]).chain(writes);
    save(&mut db, &make, tenant, writes.collect());
    for (link, name) in links.iter().zip(names) {
        let key = format!("{connector_id}:{}", fold_case(name));
        let former = Sql::new("UPDATE scim_users SET user_name = ?, user_name_key = ? WHERE id = ?");
        assert_eq!(db.execute(&former.bind(name).bind(key.as_str()).bind(link.id.to_bytes())).unwrap(), 1);
    }
    let expected_keys =
        ["anna@xn--mller-kva.example", "anna@müller.example", "bo@xn--mller-kva.example", "cy@example.com"];
    let expected_keys = expected_keys.map(|key| format!("{connector_id}:{key}"));
    for _ in 0..2 {
        migrate::apply(&mut db).unwrap();
        let keys = links.each_ref().map(|link| {
            let sql = Sql::new("SELECT user_name_key FROM scim_users WHERE id = ?").bind(link.id.to_bytes());
            db.first(sql, |row| Ok(row.text().unwrap())).unwrap().flatten().unwrap()
        });
        assert_eq!(keys, expected_keys);
    }
}

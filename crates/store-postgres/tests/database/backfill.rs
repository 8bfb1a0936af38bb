//! Data migrations: their effect on existing rows.

use std::collections::BTreeMap;

use candor_domain::assignment::{Assignment, SubmissionStatus};
use candor_domain::audit::AuditEntry;
use candor_domain::catalog::Department;
use candor_domain::id::ObservationId;
use candor_domain::observation::Observation;
use candor_domain::people::Employee;
use candor_domain::text::fold_case;
use candor_port_storage::Storage;
use candor_port_storage::{ChangeSet, Row, StorageExt, Write};
use candor_store_postgres::{PostgresOptions, replace_former_keys};
use candor_store_testkit::Fixtures;
use candor_store_testkit::fixtures::joins;

use crate::support;

const VISIBILITY: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/postgres/0017_visibility/up.sql"));
const ADDRESS_CHANGES: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/postgres/0066_address_changes/up.sql"));

#[tokio::test(flavor = "multi_thread")]
async fn submitted_observations_get_the_requester() {
    let Some(database) = support::database() else { return };
    let (store, make) = (support::store(&database, None).await, Fixtures::new(17));
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
    store.commit(tenant, make.change([requester, reviewer, subject].map(joins).into())).await.unwrap();
    let writes = observations.into_iter().map(|observation| Write::put(&Row::new(observation)));
    store.commit(tenant, make.change(writes.chain(assignments).collect())).await.unwrap();
    let backfill = VISIBILITY.split(';').find(|statement| statement.contains("UPDATE observations"));
    support::client(database.url()).await.batch_execute(backfill.unwrap()).await.unwrap();
    for (number, id) in ids.into_iter().enumerate() {
        let stored_observation = store.row::<Observation>(tenant, id).await.unwrap().unwrap().value;
        assert_eq!(stored_observation.requester_id, (number < 30).then_some(requester_id), "{number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_mailboxes_get_the_time_of_their_audit_entry() {
    let Some(database) = support::database() else { return };
    let (store, make) = (support::store(&database, None).await, Fixtures::new(66));
    let tenant = make.tenant();
    let people: Vec<_> = (0..40).map(|_| make.employee()).collect();
    store.commit(tenant, make.change(people.iter().cloned().map(joins).collect())).await.unwrap();
    let mut wanted_times = vec![None; people.len()];
    for (number, person) in people.iter().enumerate().take(30) {
        for action in ["employee.change_sign_in_address", "employee.change_sign_in_address", "employee.update"] {
            let occurred_at = make.tick();
            if action != "employee.update" {
                wanted_times[number] = Some(occurred_at);
            }
            let entry = AuditEntry { occurred_at, ..make.audit(action, &person.id.to_string()) };
            store.commit(tenant, ChangeSet::new(entry)).await.unwrap();
        }
    }
    let backfill = ADDRESS_CHANGES.split(';').find(|statement| statement.contains("UPDATE employees"));
    support::client(database.url()).await.batch_execute(backfill.unwrap()).await.unwrap();
    for (number, person) in people.iter().enumerate() {
        let stored_person = store.row::<Employee>(tenant, person.id).await.unwrap().unwrap().value;
        assert_eq!(stored_person.address_changed_at, wanted_times[number], "{number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn former_text_keys_are_replaced_and_twins_keep_theirs() {
    let Some(database) = support::database() else { return };
    let (store, make) = (support::store(&database, None).await, Fixtures::new(49));
    let tenant = make.tenant();
    let emails = ["anna@xn--mller-kva.example", "Anna@Müller.example", "bo@Müller.example", "cy@example.com"];
    let names = ["Straße", "STRASSE", "CAFE\u{301}", "Care"];
    // Marked as twins, so that the rows get the keys of an earlier version: lower-case texts.
    let people = emails.map(|email| Employee { email: email.to_owned(), is_twin: true, ..make.employee() });
    let departments = names.map(|name| Department { name: name.to_owned(), is_twin: true, ..make.department() });
    let writes = departments.iter().map(|department| Write::put(&Row::new(department.clone())));
    let writes = people.iter().cloned().map(joins).chain(writes);
    store.commit(tenant, make.change(writes.collect())).await.unwrap();
    let client = support::client(database.url()).await;
    let unmark = "UPDATE employees SET twin = NULL; UPDATE departments SET twin = NULL";
    client.batch_execute(unmark).await.unwrap();
    let read = async || {
        let text = "SELECT text, key, COALESCE(twin, FALSE) FROM (SELECT email AS text, email_key AS key, twin \
                    FROM employees UNION ALL SELECT name, name_key, twin FROM departments) AS keyed";
        let rows = client.query(text, &[]).await.unwrap();
        let row = |row: &tokio_postgres::Row| (row.get(0), (row.get(1), row.get(2)));
        rows.iter().map(row).collect::<BTreeMap<String, (String, bool)>>()
    };
    let former = emails.iter().chain(&names).map(|text| ((*text).to_owned(), (fold_case(text), false)));
    assert_eq!(read().await, former.collect());
    let expected_keys = [
        (emails[0], ("anna@xn--mller-kva.example", false)),
        (emails[1], ("anna@müller.example", true)),
        (emails[2], ("bo@xn--mller-kva.example", false)),
        (emails[3], ("cy@example.com", false)),
        (names[0], ("straße", true)),
        (names[1], ("strasse", false)),
        (names[2], ("café", false)),
        (names[3], ("care", false)),
    ];
    let expected_rows: BTreeMap<_, _> =
        expected_keys.into_iter().map(|(text, (key, twin))| (text.to_owned(), (key.to_owned(), twin))).collect();
    let options = PostgresOptions::new(database.url(), 1);
    for _ in 0..2 {
        replace_former_keys(&options).await.unwrap();
        assert_eq!(read().await, expected_rows);
    }
    let free = "UPDATE employees SET email = 'x@example.com', email_key = 'x@example.com' \
                WHERE email = 'anna@xn--mller-kva.example'";
    client.batch_execute(free).await.unwrap();
    replace_former_keys(&options).await.unwrap();
    assert_eq!(read().await[emails[1]], (emails[0].to_owned(), false), "the key is free");
}

#[tokio::test(flavor = "multi_thread")]
async fn former_keys_of_user_names_are_replaced_once() {
    let Some(database) = support::database() else { return };
    let (store, make) = (support::store(&database, None).await, Fixtures::new(55));
    let (tenant, connector) = (make.tenant(), make.connector());
    let names = ["anna@xn--mller-kva.example", "Anna@Müller.example", "bo@Müller.example", "cy@example.com"];
    let people = names.map(|_| make.employee());
    let links = [0, 1, 2, 3].map(|index: usize| make.scim_link(people[index].id, connector.id));
    let writes = links.iter().map(|link| Write::put(&Row::new(link.clone())));
    let connector_id = connector.id;
    let writes = people.into_iter().map(joins).chain([Write::put(&Row::new(connector))]).chain(writes);
    store.commit(tenant, make.change(writes.collect())).await.unwrap();
    let client = support::client(database.url()).await;
    for (link, name) in links.iter().zip(names) {
        let key = format!("{connector_id}:{}", fold_case(name));
        let former = "UPDATE scim_users SET user_name = $1, user_name_key = $2 WHERE user_name = $3";
        assert_eq!(client.execute(former, &[&name, &key, &link.user_name]).await.unwrap(), 1);
    }
    let expected_keys =
        ["anna@müller.example", "anna@xn--mller-kva.example", "bo@xn--mller-kva.example", "cy@example.com"];
    for _ in 0..2 {
        replace_former_keys(&PostgresOptions::new(database.url(), 1)).await.unwrap();
        let rows = client.query("SELECT user_name_key FROM scim_users ORDER BY 1", &[]).await.unwrap();
        let keys: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let mut expected_keys = expected_keys.map(|key| format!("{connector_id}:{key}"));
        expected_keys.sort();
        assert_eq!(keys, expected_keys);
    }
}

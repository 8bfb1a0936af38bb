//! Uploads that are interrupted, repeated or concurrent.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use candor_domain::access::Caller;
use candor_domain::id::{EmployeeId, KeyId};
use candor_port_clock::SeededIds;
use candor_service::context::vault::Vault;
use candor_service::usecases::employees::csv::{PIECE, upsert};
use candor_service::{RequestContext, ServiceSettings, Services};
use candor_store_testkit::{Fault, Faulty, FaultyCall};
use ulid::Ulid;

use super::{assert_tree, counts, everybody, send, standard, upload};
use crate::support::{KEY, Receivers, TestServices, json, kind, params};

/// Creates a file of people in a tree in which each manager has four reports. `name` is every first name.
fn file(people: usize, name: &str) -> String {
    let mut file = "email,first_name,last_name,manager_email,department_name\n".to_owned();
    for it in 0..people {
        let manager = if it == 0 { String::new() } else { format!("p{}@example.com", (it - 1) / 4) };
        writeln!(file, "p{it}@example.com,{name},Example,{manager},D{}", it % 7).unwrap();
    }
    file
}

#[tokio::test]
async fn interrupted_upload_keeps_whole_rows_and_resumes() {
    let people = PIECE * 3;
    for (piece, fault) in [(1, Fault::Before), (2, Fault::Before), (2, Fault::After), (3, Fault::After)] {
        let world = TestServices::new().await;
        world.store.fail(FaultyCall::Commit, piece, fault);
        let file = file(people, "Ada");
        let with_key = || world.with_idempotency_key("key", "file");
        assert_eq!(kind(send(with_key(), &[], &file).await), "unavailable");
        let people_before = everybody(&world).await;
        let saved_pieces = if fault == Fault::After { piece } else { piece - 1 };
        assert_eq!(people_before.len(), saved_pieces * PIECE);
        assert!(people_before.values().all(|person| person.department_id.is_some() && person.first_name == "Ada"));
        let second_reply = send(with_key(), &[], &file).await.unwrap();
        let (created, _, _, skipped, errors) = counts(&json(&second_reply));
        assert!(errors.is_empty());
        if second_reply.replayed {
            assert_eq!((saved_pieces, created, skipped), (3, people as u64, 0), "the retry gets the replay");
        } else {
            assert_eq!(
                (created, skipped),
                ((people - saved_pieces * PIECE) as u64, (saved_pieces * PIECE) as u64)
            );
        }
        assert_eq!(everybody(&world).await.len(), people);
        assert_tree(&world).await;
    }
}

#[tokio::test]
async fn retried_upload_with_one_idempotency_key_gets_the_same_answer() {
    let world = TestServices::new().await;
    let file = file(PIECE + 10, "Ada");
    let first = send(world.with_idempotency_key("key", &file), &[], &file).await.unwrap();
    let second = send(world.with_idempotency_key("key", &file), &[], &file).await.unwrap();
    assert_eq!((first.replayed, second.replayed, &first.body), (false, true, &second.body));
    let other = send(world.with_idempotency_key("key", "another file"), &[], "email\n").await;
    assert_eq!(kind(other), "key reused");
}

/// The store reports the standard key's commits as stale, as if the other upload kept overtaking this one.
#[tokio::test]
async fn overtaken_upload_of_a_standard_key_gets_key_reused() {
    let world = TestServices::new().await;
    let store = Arc::new(Faulty::from_shared(Arc::clone(&world.store)));
    store.set_outrun(true);
    let (ids, vault) = (Arc::new(SeededIds::new(8)), Vault::parse(KEY).unwrap());
    let settings = ServiceSettings::with_public_url("http://localhost:8080".to_owned());
    let services =
        Services::new(Arc::clone(&store) as _, world.clock.clone(), ids, vault, Arc::new(Receivers), settings);
    let file = "email,first_name,last_name\nada@example.com,Ada,Example\n";
    let caller = Caller { key: KeyId::from_ulid(Ulid(2)), ..(*standard(&world).caller).clone() };
    let standard_context = RequestContext {
        services: Arc::new(services),
        idempotency: world.with_idempotency_key("key", "file").idempotency,
        ..world.call(caller)
    };
    let body = Bytes::copy_from_slice(file.as_bytes());
    let upload = tokio::spawn(async move { upsert(standard_context, params(&[]), body).await });
    let gives_up_without_a_key_after = 8;
    let outrun = async {
        while store.calls(FaultyCall::Commit) < gives_up_without_a_key_after {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), outrun).await.unwrap();
    send(world.with_idempotency_key("key", "file"), &[], file).await.unwrap();
    assert_eq!(kind(upload.await.unwrap()), "key reused");
}

#[tokio::test]
async fn truncated_csv_applies_whole_rows_and_the_rest_follows() {
    let whole = file(12, "Ada Lovelace");
    let complete = {
        let world = TestServices::new().await;
        upload(&world, &whole).await;
        describe_people(&world).await
    };
    for cut in (0..whole.len()).step_by(3) {
        let world = TestServices::new().await;
        let reply = send(world.admin(), &[], &whole[..cut]).await;
        if reply.is_ok() {
            for person in everybody(&world).await.values() {
                assert_eq!(person.first_name, "Ada Lovelace", "cut at {cut}");
            }
        }
        assert!(counts(&upload(&world, &whole).await).4.is_empty(), "cut at {cut}");
        assert_eq!(describe_people(&world).await, complete, "cut at {cut}");
    }
}

/// Returns every person with the values that a file sets.
async fn describe_people(world: &TestServices) -> Vec<(String, String, Option<String>, Option<String>)> {
    let all = everybody(world).await;
    let email = |id: EmployeeId| all.values().find(|person| person.id == id).map(|person| person.email.clone());
    let mut descriptions = vec![];
    for it in all.values() {
        let department = super::department_of(world, it).await;
        descriptions.push((it.email.clone(), it.first_name.clone(), it.manager_id.and_then(email), department));
    }
    descriptions
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_overlapping_uploads_end_in_one_state() {
    let world = Arc::new(TestServices::new().await);
    let (one, two) = (file(PIECE * 2 + 20, "One"), file(PIECE * 3, "Two"));
    let uploads = [one, two.clone(), two].map(|file| {
        let world = Arc::clone(&world);
        tokio::spawn(async move { counts(&upload(&world, &file).await) })
    });
    let mut created_count = 0;
    for it in uploads {
        let reply = it.await.unwrap();
        assert_eq!(reply.4, vec![]);
        created_count += reply.0;
    }
    assert_eq!(created_count, PIECE as u64 * 3, "each person is created once");
    assert_eq!(everybody(&world).await.len(), PIECE * 3);
    assert_tree(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn upload_succeeds_while_its_people_are_being_moved() {
    let world = Arc::new(TestServices::new().await);
    let people = PIECE + 50;
    upload(&world, &file(people, "Ada")).await;
    let ids: Vec<_> = everybody(&world).await.into_values().map(|person| person.id).collect();
    let mover = {
        let (world, ids) = (Arc::clone(&world), ids.clone());
        tokio::spawn(async move {
            for step in 0..60 {
                let (person, manager) = (ids[step * 5 % ids.len()], ids[step * 3 % ids.len()]);
                let body = crate::support::body(&format!(r#"{{"manager_id":"{manager}"}}"#));
                let move_result = candor_service::usecases::employees::update(&world.admin(), person, body).await;
                assert!(["done", "unprocessable"].contains(&kind(move_result)));
            }
        })
    };
    assert_eq!(counts(&upload(&world, &file(people, "Eva")).await).4, vec![]);
    mover.await.unwrap();
    assert_tree(&world).await;
}

//! Invitation mails through the service: sending, retries, and mails that must not be sent (decisions G, B6).

mod events;
mod kills;
mod limits;
mod stage;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use candor_domain::access::{Caller, Environment, Tenant};
use candor_domain::id::RequestId;
use candor_domain::people::invitation::{MailFailure, VALID_SECONDS};
use candor_port_clock::Clock;
use candor_service::RequestContext;
use candor_service::runtime::mail;
use candor_service::usecases::{employees, invitations};
use candor_store_testkit::{Fault, FaultyCall};
use serde_json::{Value, json};
use tokio::sync::{Barrier, mpsc, oneshot};
use ulid::Ulid;

use crate::support::{body, json as parsed, kind};
use stage::{DEADLINE, MailTest, token_of};

#[tokio::test]
async fn invitation_mail_has_a_working_link_and_its_token_is_erased() {
    let stage = MailTest::new().await;
    let person = stage.invite("ada").await;
    let admin = stage.world.admin();
    let read_invitation = || invitations::get(&admin, person);
    let invitation_before = read_invitation().await.unwrap();
    assert_eq!(parsed(&invitation_before)["mail"]["status"], "queued");
    assert_eq!(stage.mailer().run_once().await, 1);
    assert_ne!(
        read_invitation().await.unwrap().version,
        invitation_before.version,
        "the version of the invitation changes with its mail"
    );
    let mail = stage.post.single_mail();
    assert_eq!((mail.to.as_str(), mail.subject.as_str()), ("ada@example.com", "An invitation to Candor"));
    let mail_json = stage.mail_of(person).await;
    let attempt_time = stage.world.clock.now().to_string();
    let expected_mail = json!({"status": "sent", "attempts": 1, "last_attempt_at": attempt_time, "next_attempt_at": null, "failure": null});
    assert_eq!(mail_json, expected_mail);
    assert_eq!(stage.stored_tokens().await, 0);
    let accept_body = format!(r#"{{"token":"{}"}}"#, token_of(&mail));
    let request = RequestId::from_ulid(Ulid(3));
    let reply = invitations::accept(&stage.world.services, request, Default::default(), body(&accept_body)).await;
    assert_eq!(kind(reply), "done");
    assert_eq!(stage.mailer().run_once().await, 0, "nothing more is sent");
}

#[tokio::test]
async fn resent_invitation_replaces_the_mail_and_its_link() {
    let stage = MailTest::new().await;
    let person = stage.invite("ada").await;
    stage.world.clock.advance_seconds(60);
    let second_reply = invitations::invite(&stage.world.admin(), person).await.unwrap();
    let second_invitation = parsed(&second_reply);
    assert_eq!(
        (second_invitation.get("accept_url"), second_invitation["mail"]["status"].as_str()),
        (None, Some("queued"))
    );
    assert_eq!(stage.mailer().run_once().await, 1, "the re-send cancels the first mail");
    let mail = stage.post.single_mail();
    assert_eq!(Value::from(mail.id), second_invitation["id"]);
}

#[tokio::test]
async fn deferred_mail_is_retried_with_growing_pauses_then_given_up() {
    let stage = MailTest::new().await;
    let person = stage.invite("ada").await;
    stage.post.answers(Err(MailFailure::Deferred));
    let mut mailer = stage.mailer();
    for (attempts, minutes) in [(1, 1), (2, 5), (3, 15), (4, 60)] {
        assert_eq!(mailer.run_once().await, 1);
        let mail_json = stage.mail_of(person).await;
        assert_eq!((&mail_json["attempts"], &mail_json["failure"]), (&json!(attempts), &json!("deferred")));
        stage.world.clock.advance_millis(minutes * 60_000 - 1);
        assert_eq!(mailer.run_once().await, 0, "not before its time");
        stage.world.clock.advance_millis(1);
    }
    while stage.mail_of(person).await["status"] == "queued" {
        mailer.run_once().await;
        stage.world.clock.advance_millis(3_600_000);
    }
    let final_mail = stage.mail_of(person).await;
    assert_eq!((&final_mail["status"], &final_mail["next_attempt_at"]), (&json!("failed"), &Value::Null));
    assert_eq!((stage.stored_tokens().await, stage.post.accepted_mails().len()), (0, 0));
    let ids: Vec<_> = stage.post.all().into_iter().map(|mail| mail.id).collect();
    assert!(ids.len() > 10 && ids.iter().all(|id| *id == ids[0]), "one Message-ID: {ids:?}");
}

#[tokio::test]
async fn refused_mail_is_not_sent_again() {
    for failure in [MailFailure::Refused, MailFailure::Unsendable] {
        let stage = MailTest::new().await;
        let person = stage.invite("ada").await;
        stage.post.answers(Err(failure));
        assert_eq!(stage.mailer().run_once().await, 1);
        let mail_json = stage.mail_of(person).await;
        assert_eq!((&mail_json["status"], &mail_json["attempts"]), (&json!("failed"), &json!(1)));
        stage.world.clock.advance_millis(86_400_000);
        assert_eq!((stage.mailer().run_once().await, stage.stored_tokens().await), (0, 0));
    }
}

#[tokio::test]
async fn canceled_or_expired_invitation_sends_no_mail() {
    let stage = MailTest::new().await;
    let (left, late) = (stage.invite("left").await, stage.invite("late").await);
    employees::deactivate(&stage.world.admin(), left).await.unwrap();
    assert_eq!(stage.mail_of(left).await["status"], "canceled");
    stage.world.clock.advance_millis(VALID_SECONDS * 1000);
    stage.mailer().run_once().await;
    let mail_json = stage.mail_of(late).await;
    assert_eq!(
        (&mail_json["status"], &mail_json["failure"], &mail_json["attempts"]),
        (&json!("failed"), &json!("expired"), &json!(0))
    );
    assert_eq!((stage.post.all().len(), stage.stored_tokens().await), (0, 0));
}

#[tokio::test]
async fn unsent_mail_is_given_up_when_its_invitation_expires() {
    let stage = MailTest::new().await;
    let people = [stage.invite("a").await, stage.invite("b").await];
    stage.world.clock.advance_millis(VALID_SECONDS * 1000 - 1);
    assert_eq!(mail::give_up_expired(&stage.world.services).await.unwrap(), 0);
    assert_eq!(stage.mail_of(people[0]).await["status"], "queued");
    stage.world.clock.advance_millis(1_000);
    assert_eq!(mail::give_up_expired(&stage.world.services).await.unwrap(), 2);
    for person in people {
        assert_eq!(stage.mail_of(person).await["failure"], "expired");
    }
    assert_eq!(stage.stored_tokens().await, 0);
}

#[tokio::test]
async fn test_data_sends_no_mail_and_returns_the_link() {
    let stage = MailTest::new().await;
    let RequestContext { caller, .. } = stage.world.admin();
    let tenant = Tenant { environment: Environment::Test, ..caller.tenant };
    let context = stage.world.call(Caller { tenant, ..(*caller).clone() });
    let text = r#"{"email":"t@example.com","first_name":"T","last_name":"T","send_invite":true}"#;
    let creation = employees::create(&context, body(text)).await.unwrap();
    let person = parsed(&creation)["id"].as_str().unwrap().parse().unwrap();
    let invitation = parsed(&invitations::invite(&context, person).await.unwrap());
    assert!(invitation["mail"].is_null() && invitation["accept_url"].is_string(), "{invitation}");
    assert_eq!((stage.mailer().run_once().await, stage.post.all().len()), (0, 0));
}

#[tokio::test]
async fn rejecting_mail_server_gets_one_mail_at_a_time() {
    let stage = MailTest::new().await;
    for number in 0..20 {
        stage.invite(&format!("p{number}")).await;
    }
    stage.post.answers(Err(MailFailure::Sender));
    let mut mailer = stage.mailer();
    let first = mailer.run_once().await;
    assert!(first <= 8, "{first} mails were sent before the first refusal was known");
    assert_eq!(mailer.run_once().await, 1);
    assert_eq!(mailer.run_once().await, 1);
    stage.post.answers(Ok(()));
    mailer.run_once().await;
    stage.world.clock.advance_millis(60 * 60_000);
    mailer.run_once().await;
    assert_eq!(stage.post.accepted_mails().len(), 20);
}

#[tokio::test]
async fn panicking_attempt_delays_no_other_mail_and_is_retried() {
    let stage = MailTest::new().await;
    let (bad, good) = (stage.invite("bad").await, stage.invite("good").await);
    stage.post.on_send(|mail| Box::pin(async move { assert_ne!(mail.to, "bad@example.com") }));
    let mut mailer = stage.mailer();
    assert_eq!(mailer.run_once().await, 2);
    let statuses = [stage.mail_of(bad).await, stage.mail_of(good).await].map(|item| item["status"].clone());
    assert_eq!(statuses, ["queued", "sent"]);
    stage.post.on_send(|_| Box::pin(async {}));
    stage.world.clock.advance_millis(600_000);
    assert_eq!(mailer.run_once().await, 1);
    assert_eq!(stage.mail_of(bad).await["status"], "sent");
}

#[tokio::test]
async fn many_mails_are_sent_eight_at_a_time() {
    const MAILS: usize = 48;
    let (stage, eight) = (MailTest::new().await, Arc::new(Barrier::new(8)));
    for number in 0..MAILS {
        stage.invite(&format!("p{number}")).await;
    }
    // The transport answers only when eight mails are in flight, which proves the concurrency.
    stage.post.on_send(move |_| {
        let eight = Arc::clone(&eight);
        Box::pin(async move {
            eight.wait().await;
        })
    });
    assert_eq!(stage.mailer().run_once().await, MAILS);
    let ids: BTreeSet<_> = stage.post.accepted_mails().into_iter().map(|mail| mail.id).collect();
    assert_eq!((ids.len(), stage.post.most_at_once()), (MAILS, 8));
}

#[tokio::test]
async fn invitation_accepted_during_sending_has_a_sent_mail() {
    let stage = MailTest::new().await;
    let person = stage.invite("ada").await;
    let services = Arc::clone(&stage.world.services);
    stage.post.on_send(move |mail| {
        let (services, text) = (Arc::clone(&services), format!(r#"{{"token":"{}"}}"#, token_of(&mail)));
        Box::pin(async move {
            let request = RequestId::from_ulid(Ulid(3));
            invitations::accept(&services, request, Default::default(), body(&text)).await.unwrap();
        })
    });
    assert_eq!(stage.mailer().run_once().await, 1);
    let invitation = stage.invitation_of(person).await;
    assert_eq!((&invitation["status"], &invitation["mail"]["status"]), (&json!("accepted"), &json!("sent")));
}

#[tokio::test]
async fn token_sealed_by_another_master_key_waits_for_its_process() {
    let stage = MailTest::new().await;
    let person = stage.invite("ada").await;
    let stranger = stage.process_with("k2:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=");
    assert_eq!(stage.mailer_of(&stranger).run_once().await, 1);
    assert_eq!(stage.mail_of(person).await["failure"], "sealed");
    stage.world.clock.advance_millis(60_000);
    assert_eq!(stage.mailer().run_once().await, 1);
    assert_eq!(stage.mail_of(person).await["status"], "sent");
}

#[tokio::test]
async fn shutdown_finishes_mails_in_flight_and_returns_the_rest() {
    let stage = MailTest::new().await;
    for number in 0..30 {
        stage.invite(&format!("p{number}")).await;
    }
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stop = Mutex::new(Some(stop));
    stage.post.on_send(move |_| {
        // The first mail in flight requests the stop.
        drop(stop.lock().unwrap().take());
        Box::pin(async {})
    });
    stage.mailer().run(async move { drop(stopped.await) }, DEADLINE).await;
    let accepted_count = stage.post.accepted_mails().len();
    assert!((1..30).contains(&accepted_count), "{accepted_count}");
    // The leases were returned, so another process can send the rest immediately.
    stage.post.on_send(|_| Box::pin(async {}));
    assert_eq!(stage.mailer().run_once().await, 30 - accepted_count);
}

#[tokio::test]
async fn result_of_a_failed_record_is_recorded_before_the_next_claim() {
    let stage = MailTest::new().await;
    let person = stage.invite("ada").await;
    stage.world.store.fail(FaultyCall::Commit, 1, Fault::Before);
    let mut mailer = stage.mailer();
    assert_eq!(mailer.run_once().await, 1);
    assert_eq!(stage.mail_of(person).await["status"], "queued");
    stage.world.clock.advance_millis(600_000);
    assert_eq!(mailer.run_once().await, 0, "the mail is not sent again, although its lease has ended");
    assert_eq!(
        (stage.mail_of(person).await["status"].clone(), stage.post.accepted_mails().len()),
        (json!("sent"), 1)
    );
}

#[tokio::test]
async fn mails_that_hang_leave_places_to_other_organizations() {
    let stage = MailTest::new().await;
    for number in 0..20 {
        stage.invite(&format!("hangs{number}")).await;
    }
    let hanging = Arc::new(AtomicUsize::new(0));
    let (counted, (sent, mut was_sent)) = (Arc::clone(&hanging), mpsc::unbounded_channel());
    stage.post.on_send(move |mail| {
        let (hangs, counted, sent) = (mail.to.starts_with("hangs"), Arc::clone(&counted), sent.clone());
        Box::pin(async move {
            if hangs {
                counted.fetch_add(1, Ordering::Relaxed);
                std::future::pending().await
            } else {
                sent.send(mail.to).unwrap();
            }
        })
    });
    let (stop, stopped) = oneshot::channel::<()>();
    let mailer = tokio::spawn(stage.mailer().run(async move { drop(stopped.await) }, Duration::ZERO));
    for number in 0..3 {
        let other = stage.organization(&format!("Other {number}")).await;
        for person in ["ada", "grace"] {
            stage.invite_to(other, &format!("{person}{number}")).await;
        }
        for _ in 0..2 {
            assert!(was_sent.recv().await.is_some(), "organization {number}");
        }
    }
    assert_eq!(hanging.load(Ordering::Relaxed), 8, "one organization gets half of the places");
    stop.send(()).unwrap();
    mailer.await.unwrap();
}

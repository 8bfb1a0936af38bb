//! Limits of invitation mails: the pause before a re-send, and the number of mails on one day to a mailbox, to a
//! domain and from an organization (decisions G).

use candor_domain::access::{Caller, Tenant};
use candor_domain::id::EmployeeId;
use candor_service::usecases::{employees, invitations, operator};
use candor_service::{Error, Reply, RequestContext};
use serde_json::{Value, json};

use super::stage::{MailTest, token_of};
use crate::support::{TestServices, body, json as parsed, kind, member};

/// Returns the seconds of `Retry-After` if the answer is a temporary conflict.
fn retry_after(reply: Result<Reply, Error>) -> Option<i64> {
    match reply {
        Err(Error::Refused(candor_domain::refusal::DomainError::Conflict(conflict))) => {
            conflict.retry_after.map(|retry_after| retry_after.seconds)
        }
        Ok(_) | Err(_) => None,
    }
}

/// Creates an admin of another organization on the same store.
async fn another_admin(world: &TestServices, name: &str) -> RequestContext {
    let organization = operator::create_organization(&world.services, name).await.unwrap();
    let admin = world.admin();
    world.call(Caller { tenant: Tenant::live(organization), ..(*admin.caller).clone() })
}

async fn invited(context: &RequestContext, email: &str) -> EmployeeId {
    let text =
        json!({"email": email, "first_name": "Ada", "last_name": "Example", "send_invite": true}).to_string();
    let creation = employees::create(context, body(&text)).await.unwrap();
    member(&creation, "id").parse().unwrap()
}

async fn mail(context: &RequestContext, person: EmployeeId) -> Value {
    parsed(&invitations::get(context, person).await.unwrap())["mail"].clone()
}

#[tokio::test]
async fn resend_within_60_seconds_is_a_temporary_conflict() {
    let stage = MailTest::new().await;
    let person = stage.invite("ada").await;
    let invite = || async { invitations::invite(&stage.world.admin(), person).await };
    assert_eq!(retry_after(invite().await), Some(60));
    stage.mailer().run_once().await;
    stage.world.clock.advance_millis(59_500);
    assert_eq!(retry_after(invite().await), Some(1), "the limit does not depend on the result of the mail");
    stage.world.clock.advance_millis(500);
    assert_eq!(kind(invite().await), "done");
    assert_eq!(retry_after(invite().await), Some(60));
}

#[tokio::test]
async fn resend_without_a_mail_server_has_no_limit() {
    let world = TestServices::new().await;
    let text = r#"{"email":"a@example.com","first_name":"A","last_name":"A","send_invite":true}"#;
    let creation = employees::create(&world.admin(), body(text)).await.unwrap();
    let person: EmployeeId = member(&creation, "id").parse().unwrap();
    for _ in 0..7 {
        assert_eq!(kind(invitations::invite(&world.admin(), person).await), "done");
    }
}

#[tokio::test]
async fn sixth_mail_to_a_mailbox_on_a_day_is_not_sent() {
    let stage = MailTest::new().await;
    let context = another_admin(&stage.world, "One").await;
    let mut people = vec![];
    for number in 0..5 {
        people.push(invited(&context, &format!("Ada+{number}@Example.com")).await);
        assert_eq!(stage.mailer().run_once().await, 1);
    }
    people.push(invited(&context, "ada@example.com").await);
    let mail_json = mail(&context, people[5]).await;
    assert_eq!((&mail_json["status"], &mail_json["failure"]), (&json!("failed"), &json!("recipient_limit")));
    assert_eq!(stage.mailer().run_once().await, 0);
    // At noon, the next day begins in twelve hours.
    for person in &people {
        let second_result = invitations::invite(&context, *person).await;
        assert_eq!(retry_after(second_result), Some(43_200));
    }
    assert_eq!(stage.post.all().len(), 5);
    stage.world.clock.advance_seconds(43_200);
    assert_eq!(kind(invitations::invite(&context, people[0]).await), "done");
    assert_eq!(stage.mailer().run_once().await, 1);
}

#[tokio::test]
async fn mails_queued_at_once_stay_within_the_limit() {
    let stage = MailTest::new().await;
    let context = another_admin(&stage.world, "One").await;
    let mut people = vec![];
    for number in 0..8 {
        let person = invited(&context, &format!("ada+{number}@example.com")).await;
        assert_eq!(mail(&context, person).await["status"], "queued");
        people.push(person);
    }
    stage.mailer().run_once().await;
    assert_eq!(stage.post.all().len(), 5);
    let mut limited_count = 0;
    for person in &people {
        let mail_json = mail(&context, *person).await;
        if mail_json["status"] == "failed" {
            assert_eq!((&mail_json["failure"], &mail_json["attempts"]), (&json!("recipient_limit"), &json!(0)));
            limited_count += 1;
        }
    }
    assert_eq!(limited_count, 3);
}

#[tokio::test]
async fn full_mailbox_delays_only_mails_of_unknown_organizations() {
    let stage = MailTest::new().await;
    let known_admin = another_admin(&stage.world, "Known").await;
    invited(&known_admin, "ida@example.com").await;
    assert_eq!(send_all(&stage).await, 1);
    accept_last(&stage).await;
    for name in ["One", "Two"] {
        let context = another_admin(&stage.world, name).await;
        for number in 0..5 {
            invited(&context, &format!("ada+{number}@example.com")).await;
        }
        assert_eq!(send_all(&stage).await, 5, "{name}");
    }
    let last = another_admin(&stage.world, "Last").await;
    let person = invited(&last, "ada@example.com").await;
    assert_eq!(mail(&last, person).await["status"], "queued");
    assert_eq!(send_all(&stage).await, 0);
    let mail_json = mail(&last, person).await;
    assert_eq!(
        (&mail_json["status"], &mail_json["attempts"], &mail_json["failure"]),
        (&json!("queued"), &json!(0), &json!(null)),
        "nothing names the mails of other organizations"
    );
    stage.world.clock.advance_seconds(61);
    let second_result = invitations::invite(&last, person).await;
    assert_eq!(kind(second_result), "done", "a shared limit refuses no request");
    assert_eq!(send_all(&stage).await, 0);
    invited(&known_admin, "ada@example.com").await;
    assert_eq!(send_all(&stage).await, 1, "an organization that is known at the domain is not delayed");
    stage.world.clock.advance_seconds(43_200);
    assert_eq!(send_all(&stage).await, 1, "the delayed mail is sent on the next day");
    assert_eq!(mail(&last, person).await["status"], "sent");
}

#[tokio::test]
async fn mail_that_is_tried_again_is_counted_once() {
    let stage = MailTest::new().await;
    let person = stage.invite("ada").await;
    stage.post.answers(Err(candor_domain::people::invitation::MailFailure::Deferred));
    let mut mailer = stage.mailer();
    for _ in 0..7 {
        mailer.run_once().await;
        stage.world.clock.advance_seconds(3_600);
    }
    let mail_json = stage.mail_of(person).await;
    assert_eq!((&mail_json["status"], &mail_json["failure"]), (&json!("queued"), &json!("deferred")));
}

/// Sends all mails that are due. Returns the number of sent mails.
async fn send_all(stage: &MailTest) -> usize {
    let count_before = stage.post.all().len();
    let mut mailer = stage.mailer();
    while mailer.run_once().await > 0 {}
    stage.post.all().len() - count_before
}

/// Accepts the invitation of the last mail.
async fn accept_last(stage: &MailTest) {
    let mails = stage.post.all();
    let token = json!({"token": token_of(mails.last().unwrap())}).to_string();
    let request = candor_domain::id::RequestId::from_ulid(ulid::Ulid(3));
    let reply = invitations::accept(&stage.world.services, request, Default::default(), body(&token)).await;
    assert_eq!(kind(reply), "done");
}

#[tokio::test]
async fn domain_is_limited_until_an_invitation_is_accepted() {
    let stage = MailTest::new().await;
    let (one, two) = (another_admin(&stage.world, "One").await, another_admin(&stage.world, "Two").await);
    for number in 0..10 {
        invited(&one, &format!("ada@{number}.example")).await;
        assert_eq!(send_all(&stage).await, 1);
        accept_last(&stage).await;
    }
    let mut people = vec![];
    for number in 0..53 {
        people.push(invited(&one, &format!("one-{number}@bank.example")).await);
    }
    assert_eq!(send_all(&stage).await, 50, "an organization sends 50 mails to a domain, whatever its budget");
    let mut limited_people = vec![];
    for person in people {
        let mail_json = mail(&one, person).await;
        if mail_json["status"] == "failed" {
            assert_eq!(mail_json["failure"], json!("recipient_limit"));
            limited_people.push(person);
        }
    }
    assert_eq!(limited_people.len(), 3, "mails are sent concurrently, so these may be any three");
    let second_result = invitations::invite(&one, limited_people[0]).await;
    assert_eq!(retry_after(second_result), Some(43_200));
    for number in 0..25 {
        invited(&two, &format!("two-{number}@bank.example")).await;
    }
    assert_eq!(send_all(&stage).await, 25, "the domain is open to a second organization");
    invited(&one, "ada@other.example").await;
    assert_eq!(send_all(&stage).await, 1, "another domain");
    stage.world.clock.advance_seconds(43_200);
    invited(&one, "next@bank.example").await;
    assert_eq!(send_all(&stage).await, 1);
    accept_last(&stage).await;
    for number in 0..60 {
        invited(&one, &format!("known-{number}@bank.example")).await;
    }
    assert_eq!(send_all(&stage).await, 60, "an accepted invitation ends the limit of the domain");
}

#[tokio::test]
async fn organization_sends_a_budget_of_mails_a_day_that_grows() {
    let stage = MailTest::new().await;
    let admin = another_admin(&stage.world, "One").await;
    let mut people = vec![];
    for number in 0..60 {
        people.push(invited(&admin, &format!("ada@{number}.example")).await);
    }
    assert_eq!(send_all(&stage).await, 50);
    let mut waiting = vec![];
    for person in &people {
        let mail_json = mail(&admin, *person).await;
        if mail_json["status"] == "queued" {
            assert_eq!((&mail_json["failure"], &mail_json["attempts"]), (&json!("organization_limit"), &json!(0)));
            assert_eq!(mail_json["next_attempt_at"].as_str().unwrap().get(11..19), Some("00:00:00"));
            waiting.push(*person);
        }
    }
    assert_eq!(waiting.len(), 10);
    let other = another_admin(&stage.world, "Two").await;
    invited(&other, "ida@1.example").await;
    assert_eq!(send_all(&stage).await, 1, "another organization has its own budget");
    stage.world.clock.advance_seconds(43_200);
    assert_eq!(send_all(&stage).await, 10, "on the next day");
    for number in 0..10 {
        invited(&admin, &format!("ida@{number}.org.example")).await;
        assert_eq!(send_all(&stage).await, 1);
        accept_last(&stage).await;
    }
    for number in 0..60 {
        invited(&admin, &format!("eve@{number}.example")).await;
    }
    assert_eq!(send_all(&stage).await, 60, "accepted invitations raise the budget");
}

#[tokio::test]
async fn panicked_attempt_gives_its_place_back() {
    let stage = MailTest::new().await;
    // An organization has at most 16 places, so more attempts than that panic.
    for number in 0..20 {
        stage.invite(&format!("person{number}")).await;
    }
    stage.post.on_send(|_| Box::pin(async { panic!("a defect of the transport") }));
    let mut mailer = stage.mailer();
    assert_eq!(mailer.run_once().await, 20);
    stage.post.stop_action();
    // The leases of the panicked attempts end.
    stage.world.clock.advance_seconds(3_600);
    assert_eq!((mailer.run_once().await, stage.post.accepted_mails().len()), (20, 20));
}

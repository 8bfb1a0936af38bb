//! Limits of invitation mails: the pause before a re-send, and the mails to one address on one day (decisions G).

use candor_domain::access::{Caller, Tenant};
use candor_domain::id::EmployeeId;
use candor_service::usecases::{employees, invitations, operator};
use candor_service::{Error, Reply, RequestContext};
use serde_json::{Value, json};

use super::stage::MailTest;
use crate::support::{TestServices, body, json as parsed, kind, member};

/// Returns the seconds of `Retry-After` if the answer is a temporary conflict.
fn retry_after(answer: Result<Reply, Error>) -> Option<i64> {
    match answer {
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

async fn invited(stage: &MailTest, context: &RequestContext, email: &str) -> EmployeeId {
    let text =
        json!({"email": email, "first_name": "Ada", "last_name": "Example", "send_invite": true}).to_string();
    let made = employees::create(&stage.world.services, context, body(&text)).await.unwrap();
    member(&made, "id").parse().unwrap()
}

async fn mail(stage: &MailTest, context: &RequestContext, person: EmployeeId) -> Value {
    parsed(&invitations::get(&stage.world.services, context, person).await.unwrap())["mail"].clone()
}

#[tokio::test]
async fn resend_within_60_seconds_is_a_conflict_that_ends() {
    let stage = MailTest::new().await;
    let person = stage.invite("ada").await;
    let invite = || async { invitations::invite(&stage.world.services, &stage.world.admin(), person).await };
    assert_eq!(retry_after(invite().await), Some(60));
    stage.mailer().run_once().await;
    stage.world.clock.advance_millis(59_500);
    assert_eq!(retry_after(invite().await), Some(1), "sent or not");
    stage.world.clock.advance_millis(500);
    assert_eq!(kind(invite().await), "done");
    assert_eq!(retry_after(invite().await), Some(60));
}

#[tokio::test]
async fn resend_without_a_mail_server_has_no_limit() {
    let world = TestServices::new().await;
    let text = r#"{"email":"a@example.com","first_name":"A","last_name":"A","send_invite":true}"#;
    let made = employees::create(&world.services, &world.admin(), body(text)).await.unwrap();
    let person: EmployeeId = member(&made, "id").parse().unwrap();
    for _ in 0..7 {
        assert_eq!(kind(invitations::invite(&world.services, &world.admin(), person).await), "done");
    }
}

#[tokio::test]
async fn sixth_mail_to_an_address_on_a_day_is_not_sent() {
    let stage = MailTest::new().await;
    let mut invitations_made = vec![];
    for number in 0..5 {
        let context = another_admin(&stage.world, &format!("Org {number}")).await;
        let email = if number % 2 == 0 { "ada@example.com" } else { "ADA@example.com" };
        let person = invited(&stage, &context, email).await;
        assert_eq!(stage.mailer().run_once().await, 1);
        invitations_made.push((context, person));
    }
    let context = another_admin(&stage.world, "Last").await;
    let person = invited(&stage, &context, "Ada@Example.com").await;
    let shown = mail(&stage, &context, person).await;
    assert_eq!((&shown["status"], &shown["failure"]), (&json!("failed"), &json!("recipient_limit")));
    assert_eq!(stage.mailer().run_once().await, 0);
    // At noon, the next day begins in twelve hours.
    for (context, person) in invitations_made.iter().chain([&(context, person)]) {
        let again = invitations::invite(&stage.world.services, context, *person).await;
        assert_eq!(retry_after(again), Some(43_200));
    }
    assert_eq!(stage.post.all().len(), 5);
    stage.world.clock.advance_seconds(43_200);
    let (context, person) = &invitations_made[0];
    assert_eq!(kind(invitations::invite(&stage.world.services, context, *person).await), "done");
    assert_eq!(stage.mailer().run_once().await, 1);
}

#[tokio::test]
async fn mails_queued_at_once_stay_within_the_limit() {
    let stage = MailTest::new().await;
    let mut queued = vec![];
    for number in 0..8 {
        let context = another_admin(&stage.world, &format!("Org {number}")).await;
        let person = invited(&stage, &context, "ada@example.com").await;
        assert_eq!(mail(&stage, &context, person).await["status"], "queued");
        queued.push((context, person));
    }
    stage.mailer().run_once().await;
    assert_eq!(stage.post.all().len(), 5);
    let mut limited = 0;
    for (context, person) in &queued {
        let shown = mail(&stage, context, *person).await;
        if shown["status"] == "failed" {
            assert_eq!((&shown["failure"], &shown["attempts"]), (&json!("recipient_limit"), &json!(0)));
            limited += 1;
        }
    }
    assert_eq!(limited, 3);
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
    let shown = stage.mail_of(person).await;
    assert_eq!((&shown["status"], &shown["failure"]), (&json!("queued"), &json!("deferred")));
}

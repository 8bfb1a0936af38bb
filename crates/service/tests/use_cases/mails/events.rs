//! Each state of an invitation's mail is in the feed (decision F9).

use candor_domain::event::{Event, EventType, FeedFilter, FeedStart};
use candor_domain::people::invitation::{MailFailure, VALID_SECONDS};
use candor_domain::time::Timestamp;
use candor_port_storage::store::History;
use candor_service::runtime::mail;
use candor_store_testkit::{Fault, FaultyCall};
use serde_json::Value;

use super::stage::MailTest;

/// Returns the events of mails in commit order.
async fn mail_events(stage: &MailTest) -> Vec<Event> {
    let filter = FeedFilter { kinds: vec![EventType::InvitationUpdated] };
    let (tenant, since) = (stage.world.admin().caller.tenant, Timestamp::from_millis(0));
    stage.world.store.feed(tenant, &filter, since, &FeedStart::Oldest, 100).await.unwrap().events
}

fn data(event: &Event) -> Value {
    serde_json::from_str(&event.data).unwrap()
}

#[tokio::test]
async fn each_attempt_of_a_mail_fires_one_event() {
    for fault in [None, Some(Fault::Before), Some(Fault::After)] {
        let stage = MailTest::new().await;
        let person = stage.invite("ada").await;
        stage.post.answers(Err(MailFailure::Deferred));
        let mut mailer = stage.mailer();
        assert_eq!(mailer.run_once().await, 1);
        let deferred_events = mail_events(&stage).await;
        assert_eq!(deferred_events.iter().map(data).collect::<Vec<_>>(), [stage.invitation_of(person).await]);
        stage.post.answers(Ok(()));
        stage.world.clock.advance_millis(60_000);
        if let Some(fault) = fault {
            stage.world.store.fail(FaultyCall::Commit, 1, fault);
        }
        assert_eq!(mailer.run_once().await, 1);
        mailer.run_once().await;
        let events = mail_events(&stage).await;
        assert_eq!(events.len(), 2, "{fault:?}: a failed commit causes no further event");
        assert_eq!(data(&events[1]), stage.invitation_of(person).await, "{fault:?}");
    }
}

#[tokio::test]
async fn expired_mail_fires_an_event() {
    let stage = MailTest::new().await;
    let person = stage.invite("ada").await;
    stage.world.clock.advance_millis(VALID_SECONDS * 1000);
    assert_eq!(mail::give_up_expired(&stage.world.services).await.unwrap(), 1);
    let events = mail_events(&stage).await;
    assert_eq!(events.iter().map(data).collect::<Vec<_>>(), [stage.invitation_of(person).await]);
}

//! Every mail is sent, whenever the process dies. A mail is sent twice only if its result was not recorded.

use candor_store_testkit::{Fault, FaultyCall};

use super::stage::{DEADLINE, MailTest};

/// Time after which every lease has expired, in milliseconds.
const LEASES_EXPIRED_MILLIS: i64 = DEADLINE.as_millis() as i64 * 2;

/// Moment at which the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KillPoint {
    /// The claim is committed, but the process does not learn of it.
    AfterTheClaim,
    /// The mail is in flight.
    WhileItIsSent,
    /// The mail server has accepted the mail, but the result is not recorded.
    BeforeTheRecord,
    /// The result is recorded, but the process does not learn of it.
    AfterTheRecord,
}

#[tokio::test]
async fn process_death_at_any_step_loses_no_mail() {
    use KillPoint::{AfterTheClaim, AfterTheRecord, BeforeTheRecord, WhileItIsSent};
    for (point, copies) in [(AfterTheClaim, 1), (WhileItIsSent, 1), (BeforeTheRecord, 2), (AfterTheRecord, 1)] {
        let stage = MailTest::new().await;
        let person = stage.invite("ada").await;
        run_until(&stage, point).await;
        let mut other = stage.mailer();
        assert_eq!(
            other.run_once().await,
            0,
            "{point:?}: the mail is still leased to the dead process, or it is sent and recorded"
        );
        stage.world.clock.advance_millis(LEASES_EXPIRED_MILLIS);
        other.run_once().await;
        assert_eq!(stage.mail_of(person).await["status"], "sent", "{point:?}");
        let ids: Vec<_> = stage.post.accepted_mails().into_iter().map(|mail| mail.id).collect();
        assert_eq!(ids.len(), copies, "{point:?}");
        assert!(ids.iter().all(|id| *id == ids[0]), "{point:?}: the same Message-ID");
        assert_eq!(stage.stored_tokens().await, 0, "{point:?}");
    }
}

/// Runs a mailer up to the kill point and drops it, as if the process died there.
async fn run_until(stage: &MailTest, point: KillPoint) {
    let store = &stage.world.store;
    let mut mailer = stage.mailer();
    match point {
        KillPoint::AfterTheClaim => store.fail(FaultyCall::Claim, 1, Fault::After),
        KillPoint::BeforeTheRecord => store.fail(FaultyCall::Commit, 1, Fault::Before),
        KillPoint::AfterTheRecord => store.fail(FaultyCall::Commit, 1, Fault::After),
        KillPoint::WhileItIsSent => {
            let (begun, is_begun) = tokio::sync::oneshot::channel::<()>();
            let start_sender = std::sync::Mutex::new(Some(begun));
            stage.post.on_send(move |_| {
                drop(start_sender.lock().unwrap().take());
                Box::pin(std::future::pending())
            });
            tokio::select! {
                _ = mailer.run_once() => unreachable!("nothing is answered"),
                _ = is_begun => {}
            }
            drop(mailer);
            return stage.post.on_send(|_| Box::pin(async {}));
        }
    }
    mailer.run_once().await;
}

//! Tests power cuts around mails: every mail is sent. A mail is repeated only if its result could not be
//! recorded.

use std::thread;

use candor_test_smtp::{Reply, ServerState, Step, TestSmtp, Wire};

use super::{invite, mailing, wait_for_status};
use crate::support::{Installation, Service, freeze};

/// Name of the invited person.
const NAME: &str = "ada";

#[test]
fn kill_between_any_two_steps_loses_no_mail_on_sqlite() {
    kills(|| Some(Installation::sqlite()));
}

#[test]
fn kill_between_any_two_steps_loses_no_mail_on_postgres() {
    kills(Installation::postgres);
}

/// Moment at which the process is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KillPoint {
    /// The invitation is committed, but its mail is not claimed.
    BeforeTheClaim,
    /// The mail server received this step, but has not replied.
    Asked(Step),
    /// The mail server has accepted the mail, but the result is not recorded.
    AfterTheResponse,
    /// The result is recorded.
    AfterTheRecord,
}

const POINTS: [KillPoint; 9] = [
    KillPoint::BeforeTheClaim,
    KillPoint::Asked(Step::Greeting),
    KillPoint::Asked(Step::Hello),
    KillPoint::Asked(Step::Sender),
    KillPoint::Asked(Step::Recipient),
    KillPoint::Asked(Step::Data),
    KillPoint::Asked(Step::Message),
    KillPoint::AfterTheResponse,
    KillPoint::AfterTheRecord,
];

/// Runs all kill points in parallel, each in its own installation, so that their leases expire at the same time.
fn kills(place: impl Fn() -> Option<Installation> + Sync) {
    thread::scope(|scope| {
        for point in POINTS {
            let place = &place;
            scope.spawn(move || {
                if let Some(place) = place() {
                    killed_at(place, point);
                }
            });
        }
    });
}

fn killed_at(place: Installation, point: KillPoint) {
    let server = TestSmtp::start(Wire::Plain).unwrap();
    let place = mailing(place, &server);
    let key = place.key("*", &["--admin"]).secret;
    let person = dies(&place, &key, &server, point);
    // Closes the connections of the killed process.
    server.replies(|_| Reply::HangUp);
    assert!(server.wait_until(|server| server.open == 0), "{point:?}: a connection of the killed process stays");
    server.replies(|_| Reply::Usual);
    let service = Service::serve(&place);
    wait_for_status(&mut service.client(&key), &person, "sent");
    let ids: Vec<_> = server.received_mails().iter().map(|mail| mail.header("Message-ID").unwrap()).collect();
    // After `AfterTheResponse`, the next process has no record that the mail was accepted, and sends it again.
    let copies = if point == KillPoint::AfterTheResponse { 2 } else { 1 };
    assert_eq!(ids.len(), copies, "{point:?}: {ids:?}");
    assert!(ids.iter().all(|id| *id == ids[0]), "{point:?}: {ids:?}");
    service.stop();
}

/// Invites a person and kills the process at the given point. Returns the person's id.
fn dies(place: &Installation, key: &str, server: &TestSmtp, point: KillPoint) -> String {
    let role = if point == KillPoint::BeforeTheClaim { "api" } else { "all" };
    let held_step = match point {
        KillPoint::Asked(step) => Some(step),
        KillPoint::AfterTheResponse => Some(Step::Message),
        KillPoint::BeforeTheClaim | KillPoint::AfterTheRecord => None,
    };
    if let Some(step) = held_step {
        server.replies_to(step, Reply::Hold);
    }
    let service = Service::start(place, &["serve", "--role", role]);
    let mut client = service.client(key);
    let person = invite(&mut client, NAME);
    if held_step.is_some() {
        assert!(server.wait_until(|server| server.held > 0), "{point:?}");
    }
    match point {
        KillPoint::BeforeTheClaim | KillPoint::Asked(_) => {}
        KillPoint::AfterTheRecord => drop(wait_for_status(&mut client, &person, "sent")),
        KillPoint::AfterTheResponse => {
            let process = service.process_id();
            server.replies(move |asked| {
                if asked.step == Step::Message {
                    freeze(process);
                }
                Reply::Usual
            });
            assert!(
                server.wait_until(|server: &ServerState| server.mails.iter().any(|mail| mail.taken)),
                "{point:?}"
            );
        }
    }
    service.kill();
    person
}

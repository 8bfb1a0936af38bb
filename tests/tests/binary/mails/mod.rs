//! Invitations by mail: the built binary with a mail server, on both stores.

mod kills;

use std::fs;

use candor_test_smtp::{Received, Reply, Step, TestSmtp, Wire};
use serde_json::{Value, json};

use crate::support::{Client, Installation, PATIENCE, Service, candor, wait_until};

/// Timeout for the mail server. It is much longer than a session, or the kill of a process during a session, takes. A
/// lease lasts 1.5 times this timeout plus five seconds.
const TIMEOUT: &str = "15s";

/// Configures mails over plain text to a server on the loopback address.
fn mailing(place: Installation, server: &TestSmtp) -> Installation {
    let url = format!("smtp://127.0.0.1:{}?tls=none&timeout={TIMEOUT}", server.port());
    with_server(place, &url)
}

fn with_server(place: Installation, url: &str) -> Installation {
    let place = place.with("CANDOR_SMTP_URL", url).with("CANDOR_SMTP_FROM", "Candor <no-reply@example.com>");
    place.with("CANDOR_PUBLIC_URL", "https://candor.example.com")
}

/// Invites a new person and returns its id.
fn invite(client: &mut Client, name: &str) -> String {
    let email = format!("{name}@example.org");
    let body = json!({"email": email, "first_name": name, "last_name": "Example", "send_invite": true});
    let response = client.post("/v1/employees", &body).unwrap();
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()["id"].as_str().unwrap().to_owned()
}

fn invitation(client: &mut Client, person: &str) -> Value {
    client.get(&format!("/v1/employees/{person}/invitation")).unwrap().json()
}

/// Waits until a person's mail has this status. Returns the invitation.
fn wait_for_status(client: &mut Client, person: &str, status: &str) -> Value {
    let mut last_mail = Value::Null;
    let came = wait_until(PATIENCE, || {
        last_mail = invitation(client, person);
        last_mail["mail"]["status"] == status
    });
    assert!(came.is_some(), "not {status}: {last_mail}");
    last_mail
}

/// Returns the token from the link of a mail, after undoing quoted-printable.
fn token(mail: &Received) -> String {
    let text = mail.text.replace("=\r\n", "").replace("=3D", "=");
    let (_, rest) = text.split_once("/v1/invitations/accept?token=").unwrap();
    rest.chars().take_while(|character| character.is_ascii_alphanumeric() || "-_".contains(*character)).collect()
}

fn places() -> impl Iterator<Item = Installation> {
    [Some(Installation::sqlite()), Installation::postgres()].into_iter().flatten()
}

#[test]
fn invited_person_gets_a_mail_with_a_working_link() {
    for place in places() {
        let server = TestSmtp::start(Wire::Plain).unwrap();
        let place = mailing(place, &server);
        let key = place.key("*", &["--admin"]).secret;
        let service = Service::serve(&place);
        let mut client = service.client(&key);
        let person = invite(&mut client, "ada");
        wait_for_status(&mut client, &person, "sent");
        let [mail] = server.received_mails().try_into().unwrap();
        assert_eq!(
            (mail.to.as_slice(), mail.from.as_str()),
            (["ada@example.org".to_owned()].as_slice(), "no-reply@example.com")
        );
        assert!(mail.text.contains("Subject: An invitation to Candor\r\n"), "{}", mail.text);
        let acceptance =
            service.anonymous().unwrap().post("/v1/invitations/accept", &json!({"token": token(&mail)})).unwrap();
        assert_eq!((acceptance.status, acceptance.json()["status"].as_str()), (200, Some("active")));
        assert!(server.wait_until(|server| server.open == 0), "no connection stays open");
        let (log, secret) = (service.stop_and_read_log(), token(&mail));
        assert!(!log.contains("ada@example.org") && !log.contains(&secret), "{log}");
    }
}

#[test]
fn starttls_requires_a_certificate_trusted_by_the_system() {
    let server = TestSmtp::start(Wire::StartTls).unwrap();
    let url = format!("smtp://ada:secret@localhost:{}", server.port());
    let place = with_server(Installation::sqlite(), &url);
    let doctor = candor(&place, &["doctor"]);
    assert!(doctor.stdout.contains("fails the TLS handshake"), "{}", doctor.stdout);
    let file = place.folder.path().join("authority.pem");
    fs::write(&file, &server.certificate().pem).unwrap();
    let place = place.with("SSL_CERT_FILE", &file.display().to_string());
    let doctor = candor(&place, &["doctor"]);
    assert!(
        doctor.stdout.contains("accepts this machine") && !doctor.stdout.contains("secret"),
        "{}",
        doctor.stdout
    );
    let key = place.key("*", &["--admin"]).secret;
    let service = Service::serve(&place);
    let mut client = service.client(&key);
    let person = invite(&mut client, "ada");
    wait_for_status(&mut client, &person, "sent");
    let [mail] = server.received_mails().try_into().unwrap();
    assert!(mail.encrypted && mail.login.is_some());
    service.stop();
}

#[test]
fn refused_mail_fails_without_affecting_another() {
    let server = TestSmtp::start(Wire::Plain).unwrap();
    server.replies(|asked| match asked.step {
        Step::Recipient if asked.line.contains("nobody@") => Reply::Say("550 no such mailbox"),
        Step::Recipient if asked.line.contains("full@") => Reply::Say("452 full"),
        Step::Greeting
        | Step::Hello
        | Step::Login
        | Step::Sender
        | Step::Recipient
        | Step::Data
        | Step::Message => Reply::Usual,
    });
    let place = mailing(Installation::sqlite(), &server);
    let key = place.key("*", &["--admin"]).secret;
    let service = Service::serve(&place);
    let mut client = service.client(&key);
    let [nobody, full, ada] = ["nobody", "full", "ada"].map(|name| invite(&mut client, name));
    let failed_mail = wait_for_status(&mut client, &nobody, "failed");
    assert_eq!((&failed_mail["status"], &failed_mail["mail"]["failure"]), (&json!("pending"), &json!("refused")));
    wait_for_status(&mut client, &ada, "sent");
    let came = wait_until(PATIENCE, || invitation(&mut client, &full)["mail"]["attempts"] == 1);
    assert!(came.is_some());
    let put_off = invitation(&mut client, &full)["mail"].clone();
    assert_eq!((&put_off["status"], &put_off["failure"]), (&json!("queued"), &json!("deferred")));
    assert!(put_off["next_attempt_at"].is_string(), "{put_off}");
    let metrics = service.anonymous().unwrap().get("/metrics").unwrap().text();
    for (outcome, count) in [("sent", 1), ("refused", 1), ("deferred", 1)] {
        let line = format!("candor_mail_attempts_total{{outcome=\"{outcome}\"}} {count}");
        assert!(metrics.contains(&line), "{line} is not in {metrics}");
    }
    service.stop();
}

#[test]
fn hanging_or_absent_mail_server_delays_no_request() {
    let server = TestSmtp::start(Wire::Plain).unwrap();
    server.replies_to(Step::Greeting, Reply::Hold);
    let place = mailing(Installation::sqlite(), &server);
    let key = place.key("*", &["--admin"]).secret;
    let service = Service::serve(&place);
    let mut client = service.client(&key);
    let people: Vec<_> = (0..10).map(|number| invite(&mut client, &format!("p{number}"))).collect();
    assert!(server.wait_until(|server| server.held > 0), "no connection reaches the mail server");
    let came = wait_until(PATIENCE, || invitation(&mut client, &people[0])["mail"]["failure"] == "connect");
    assert!(came.is_some(), "{}", service.log());
    server.replies(|_| Reply::Usual);
    // The first mail was postponed for a minute. The last mails are sent as soon as the server answers again.
    for person in &people[8..] {
        wait_for_status(&mut client, person, "sent");
    }
    service.stop();
}

#[test]
fn mails_queued_by_an_api_process_are_sent_by_a_worker() {
    let Some(place) = Installation::postgres() else { return };
    let server = TestSmtp::start(Wire::Plain).unwrap();
    let place = mailing(place, &server);
    let key = place.key("*", &["--admin"]).secret;
    let api = Service::start(&place, &["serve", "--role", "api"]);
    let mut client = api.client(&key);
    let people: Vec<_> = (0..40).map(|number| invite(&mut client, &format!("p{number}"))).collect();
    assert_eq!(
        (invitation(&mut client, &people[0])["mail"]["status"].as_str(), server.seen().connections),
        (Some("queued"), 0)
    );
    let workers = [(); 2].map(|()| Service::start(&place, &["serve", "--role", "worker"]));
    for person in &people {
        wait_for_status(&mut client, person, "sent");
    }
    assert_eq!(server.received_mails().len(), 40, "each mail once");
    for worker in workers {
        worker.stop();
    }
    api.stop();
}

#[test]
fn shutdown_sends_mails_in_flight_and_repeats_none() {
    let server = TestSmtp::start(Wire::Plain).unwrap();
    server.replies_to(Step::Message, Reply::Hold);
    let place = mailing(Installation::sqlite(), &server);
    let key = place.key("*", &["--admin"]).secret;
    let service = Service::serve(&place);
    let mut client = service.client(&key);
    let people: Vec<_> = (0..20).map(|number| invite(&mut client, &format!("p{number}"))).collect();
    assert!(server.wait_until(|server| server.held == 8), "eight mails are in progress");
    std::thread::scope(|scope| {
        let stopping = scope.spawn(move || service.stop());
        server.replies(|_| Reply::Usual);
        stopping.join().unwrap();
    });
    let count_before = server.received_mails().len();
    assert!((8..=20).contains(&count_before), "{count_before}");
    let service = Service::serve(&place);
    let mut client = service.client(&key);
    for person in &people {
        wait_for_status(&mut client, person, "sent");
    }
    assert_eq!(server.received_mails().len(), 20, "each mail once");
    service.stop();
}

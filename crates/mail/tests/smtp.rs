//! Tests against a real SMTP server: delivery, classification of failures, and the number of connections.

#![cfg(test)]

use std::sync::Arc;
use std::time::Duration;

use candor_domain::time::Timestamp;
use candor_mail::{SenderAddress, SmtpServer, SmtpSettings, SmtpTransport};
use candor_port_events::{Mail, MailFailure, MailTransport};
use candor_test_smtp::{Reply, Step, TestSmtp, Wire};

fn settings(url: &str) -> SmtpSettings {
    SmtpSettings {
        server: SmtpServer::parse(url).unwrap(),
        from: SenderAddress::parse("Candor <no-reply@example.com>").unwrap(),
        authorities: vec![],
    }
}

/// Creates a transport without encryption.
fn plain_transport(server: &TestSmtp) -> SmtpTransport {
    SmtpTransport::new(settings(&format!("smtp://127.0.0.1:{}?tls=none", server.port()))).unwrap()
}

/// Creates a transport that uses TLS and a password, and trusts the server's certificate.
fn trusting_transport(server: &TestSmtp, scheme: &str) -> SmtpTransport {
    let url = format!("{scheme}://ada:secret@localhost:{}", server.port());
    let authorities = vec![server.certificate().der.clone()];
    SmtpTransport::new(SmtpSettings { authorities, ..settings(&url) }).unwrap()
}

fn mail(number: usize) -> Mail {
    Mail {
        id: format!("inv_{number}"),
        to: format!("person{number}@example.org"),
        subject: "Hello".to_owned(),
        text: "One line.\n.\n..two dots\n".to_owned(),
        html: "<p>One line.</p>".to_owned(),
        date: Timestamp::from_millis(1_772_442_000_000),
        deadline: Duration::from_secs(90),
    }
}

#[tokio::test]
async fn mail_arrives_as_written() {
    let server = TestSmtp::start(Wire::Plain).unwrap();
    assert_eq!(plain_transport(&server).send(mail(1)).await, Ok(()));
    let [it] = server.received_mails().try_into().unwrap();
    assert_eq!((it.from.as_str(), it.to.concat().as_str()), ("no-reply@example.com", "person1@example.org"));
    for (header, value) in [
        ("Message-ID", "<inv_1@example.com>"),
        ("Auto-Submitted", "auto-generated"),
        ("To", "person1@example.org"),
        ("Date", "Mon, 02 Mar 2026 09:00:00 +0000"),
    ] {
        assert_eq!(it.header(header).as_deref(), Some(value), "{}", it.text);
    }
    assert!(it.text.contains("\r\n.\r\n..two dots\r\n"), "{}", it.text);
    assert!(it.text.contains("<p>One line.</p>"), "{}", it.text);
}

#[tokio::test]
async fn mail_and_password_are_encrypted_over_tls() {
    for (wire, scheme) in [(Wire::StartTls, "smtp"), (Wire::Tls, "smtps")] {
        let server = TestSmtp::start(wire).unwrap();
        assert_eq!(trusting_transport(&server, scheme).send(mail(1)).await, Ok(()), "{wire:?}");
        let [it] = server.received_mails().try_into().unwrap();
        assert_eq!((it.encrypted, it.login.as_deref()), (true, Some("PLAIN AGFkYQBzZWNyZXQ=")), "{wire:?}");
    }
}

#[tokio::test]
async fn untrusted_certificate_ends_the_session() {
    for (wire, scheme) in [(Wire::StartTls, "smtp"), (Wire::Tls, "smtps")] {
        let server = TestSmtp::start(wire).unwrap();
        let distrusting =
            SmtpTransport::new(settings(&format!("{scheme}://localhost:{}", server.port()))).unwrap();
        assert_eq!(distrusting.send(mail(1)).await, Err(MailFailure::Tls), "{wire:?}");
        let url = format!("{scheme}://127.0.0.1:{}", server.port());
        let authorities = vec![server.certificate().der.clone()];
        let another_name = SmtpTransport::new(SmtpSettings { authorities, ..settings(&url) }).unwrap();
        assert_eq!(another_name.send(mail(1)).await, Err(MailFailure::Tls), "{wire:?}");
        assert_eq!(server.seen().mails, [], "{wire:?}");
    }
}

#[tokio::test]
async fn required_tls_never_falls_back_to_plain_text() {
    let server = TestSmtp::start(Wire::Plain).unwrap();
    assert_eq!(trusting_transport(&server, "smtp").send(mail(1)).await, Err(MailFailure::Tls));
    let mails = server.seen();
    assert_eq!((mails.mails.len(), mails.connections), (0, 1));
}

#[tokio::test]
async fn smtp_failure_is_classified_by_step_and_reply() {
    use MailFailure::{Busy, Closed, Connect, Deferred, Refused, Sender};
    let table = [
        (Step::Greeting, Reply::Say("421 too many"), Busy),
        (Step::Greeting, Reply::Say("554 no service"), Busy),
        (Step::Greeting, Reply::Say("SSH-2.0-x"), Connect),
        (Step::Greeting, Reply::HangUp, Connect),
        (Step::Hello, Reply::Say("550 who are you"), Busy),
        (Step::Sender, Reply::Say("451 later"), Busy),
        (Step::Sender, Reply::Say("530 log in first"), Sender),
        (Step::Sender, Reply::HangUp, Closed),
        (Step::Recipient, Reply::Say("450 greylisted"), Deferred),
        (Step::Recipient, Reply::Say("550 no such mailbox"), Refused),
        (Step::Recipient, Reply::HangUp, Closed),
        (Step::Data, Reply::Say("451 later"), Deferred),
        (Step::Data, Reply::Say("554 no"), Refused),
        (Step::Message, Reply::Say("452 full"), Deferred),
        (Step::Message, Reply::Say("552 too much"), Refused),
        (Step::Message, Reply::HangUp, Closed),
    ];
    for (step, reply, wanted) in table {
        let server = TestSmtp::start(Wire::Plain).unwrap();
        server.replies_to(step, reply.clone());
        let transport = plain_transport(&server);
        assert_eq!(transport.send(mail(1)).await, Err(wanted), "{step:?} {reply:?}");
        // The failure does not affect the next email.
        server.replies(|_| Reply::Usual);
        assert_eq!(transport.send(mail(2)).await, Ok(()), "{step:?} {reply:?}");
        assert_eq!(server.received_mails().len(), 1, "{step:?} {reply:?}");
    }
}

#[tokio::test]
async fn rejected_password_is_reported_as_credentials_failure() {
    let server = TestSmtp::start(Wire::Tls).unwrap();
    server.replies_to(Step::Login, Reply::Say("535 no"));
    let transport = trusting_transport(&server, "smtps");
    assert_eq!(transport.send(mail(1)).await, Err(MailFailure::Credentials));
    assert_eq!(transport.check().await, Err(MailFailure::Credentials));
}

#[tokio::test]
async fn hanging_server_is_abandoned_at_the_deadline() {
    for step in [Step::Sender, Step::Recipient, Step::Data, Step::Message] {
        let server = TestSmtp::start(Wire::Plain).unwrap();
        server.replies_to(step, Reply::Hold);
        let impatient = Mail { deadline: Duration::from_millis(200), ..mail(1) };
        assert_eq!(plain_transport(&server).send(impatient).await, Err(MailFailure::Timeout), "{step:?}");
        server.replies(|_| Reply::Usual);
        assert!(server.wait_until(|server| server.open == 0), "{step:?}: the connection is given up");
    }
}

#[tokio::test]
async fn closed_port_is_a_connect_failure() {
    let port = TestSmtp::start(Wire::Plain).unwrap().port();
    // Port 1 is used instead of the released port, which another process may take.
    assert_ne!(port, 1);
    let transport = SmtpTransport::new(settings("smtp://127.0.0.1:1?tls=none")).unwrap();
    assert_eq!(transport.send(mail(1)).await, Err(MailFailure::Connect));
    assert_eq!(transport.check().await, Err(MailFailure::Connect));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_mails_share_sixteen_connections_and_close_them() {
    const MAILS: usize = 60;
    let server = TestSmtp::start(Wire::Plain).unwrap();
    let transport = Arc::new(plain_transport(&server));
    let sending = (0..MAILS).map(|number| {
        let transport = Arc::clone(&transport);
        tokio::spawn(async move { transport.send(mail(number)).await })
    });
    for it in sending.collect::<Vec<_>>() {
        assert_eq!(it.await.unwrap(), Ok(()));
    }
    let mails = server.seen();
    assert_eq!(mails.mails.len(), MAILS);
    assert!(
        mails.most_open <= 16 && mails.connections <= 16,
        "{} at once, {}",
        mails.most_open,
        mails.connections
    );
    transport.rest().await;
    assert!(server.wait_until(|server| server.open == 0));
}

#[tokio::test]
async fn connection_is_reused_after_refusal_and_replaced_if_closed() {
    let server = TestSmtp::start(Wire::Plain).unwrap();
    let transport = plain_transport(&server);
    server.replies_to(Step::Recipient, Reply::Say("550 no such mailbox"));
    assert_eq!(transport.send(mail(1)).await, Err(MailFailure::Refused));
    server.replies_to(Step::Message, Reply::Last);
    assert_eq!(transport.send(mail(2)).await, Ok(()));
    assert_eq!(server.seen().connections, 1);
    assert!(server.wait_until(|server| server.open == 0));
    server.replies(|_| Reply::Usual);
    assert_eq!(transport.send(mail(3)).await, Ok(()));
    assert_eq!((server.seen().connections, server.received_mails().len()), (2, 2));
}

#[tokio::test]
async fn check_sends_no_mail() {
    let server = TestSmtp::start(Wire::StartTls).unwrap();
    assert_eq!(trusting_transport(&server, "smtp").check().await, Ok(()));
    assert!(server.wait_until(|server| server.open == 0));
    assert_eq!(server.seen().mails, []);
}

#[tokio::test]
async fn non_ascii_address_without_smtputf8_is_not_sent() {
    let server = TestSmtp::start(Wire::Plain).unwrap();
    let abroad = Mail { to: "jürgen@example.org".to_owned(), ..mail(1) };
    assert_eq!(
        plain_transport(&server).send(abroad).await,
        Err(MailFailure::Unsendable),
        "the server has no SMTPUTF8"
    );
    assert_eq!(server.seen().mails, []);
}

//! Invitations by mail: the speed of a long queue, and its effect on other requests.

use super::*;
use crate::service::Service;
use candor_domain::time::Timestamp;
use candor_mail::{SenderAddress, SmtpServer, SmtpSettings, SmtpTransport};
use candor_port_events::{Mail, MailTransport};
use candor_test_smtp::{Reply, Step, TestSmtp, Wire};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

/// Number of mails that are due at once.
const MAILS: usize = 10_000;
/// Time that the server takes to accept a mail, like a fast server nearby.
const SERVER_TIME: Duration = Duration::from_millis(10);
/// Connections of the service to the server, a limit that a test of the transport checks.
const CONNECTIONS: usize = 8;
/// Minimum mails per second of the service, as a share of the rate of its transport alone.
const MIN_SPEED: f64 = 0.9;
/// Upper bound for the p99 latency of a create while mails are sent, as a multiple of that without mails.
const MAX_CREATE_DELAY: f64 = 1.2;
/// Deadline for sending all mails.
const PATIENCE: Duration = Duration::from_secs(120);

struct Round {
    /// Mails per second of the service.
    rate: f64,
    /// Mails per second of the transport without the service.
    alone: f64,
    /// Processor time of the service per mail, in milliseconds.
    millis: f64,
    /// Creates while mails are sent.
    with: Sample,
    /// Creates for the same time without mails.
    without: Sample,
}

/// A service whose mails go to a server on this machine.
struct MailService {
    server: TestSmtp,
    service: Service,
    person: Person,
}

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let service = MailService::start(instance)?;
    let rounds = (0..=data.options.rounds()).map(|number| service.round(number as u64));
    Ok(results(instance, rounds.collect::<Result<Vec<_>>>()?.get(1..).unwrap_or_default()))
}

impl MailService {
    fn start(instance: &Instance) -> Result<Self> {
        let server = TestSmtp::start(Wire::Plain)?;
        let candor = instance.on_empty_database("mails")?;
        let candor =
            candor.with_setting("CANDOR_SMTP_URL", format!("smtp://127.0.0.1:{}?tls=none", server.port()));
        let candor = candor.with_setting("CANDOR_SMTP_FROM", "no-reply@example.com");
        let candor = candor.with_setting("CANDOR_PUBLIC_URL", "https://candor.example");
        let key = candor.migrate_with_account()?.key;
        let service = candor.serve()?;
        let person = service.api(&key).create_person()?;
        Ok(Self { server, service, person })
    }

    fn round(&self, number: u64) -> Result<Round> {
        let address = self.service.address;
        let creates = Traffic::creates_about(std::slice::from_ref(&self.person));
        let invited = self.queue(number)?;
        let seed = |kind: u64| 20_000 + 10 * number + kind;
        let ((took, millis), with) = beside(address, &creates, seed(0), || self.deliver(invited))?;
        let (_, without) = beside(address, &creates, seed(1), || wait(took))?;
        let alone = self.transport_rate(invited)?;
        self.server.forget();
        let invited = invited as f64;
        Ok(Round { rate: invited / took.as_secs_f64(), alone, millis: millis / invited, with, without })
    }

    /// Invites people while the server accepts no connection. Returns their number.
    fn queue(&self, number: u64) -> Result<usize> {
        self.server.replies_to(Step::Greeting, Reply::Hold);
        let shape = Shape { connections: CLIENTS, time: PATIENCE, requests: MAILS, seed: 30_000 + number };
        Ok(burst(self.service.address, &Traffic::invitations(&self.person.key), shape)?.micros.len())
    }

    /// Lets the server accept `count` mails. Returns the duration, and the processor time of the service in ms.
    fn deliver(&self, count: usize) -> Result<(Duration, f64)> {
        let (expected, before) = (self.server.look(|seen| seen.taken) + count, self.service.usage()?);
        let started = Instant::now();
        self.server.replies(|asked| {
            if asked.step == Step::Message {
                take_server_time();
            }
            Reply::Usual
        });
        if !self.server.until(|seen| seen.taken >= expected) {
            return Err(format!("not all of {count} mails came").into());
        }
        let took = started.elapsed();
        Ok((took, (self.service.usage()? - before).processor.as_secs_f64() * 1000.0))
    }

    /// Returns the mails per second of the transport alone.
    fn transport_rate(&self, count: usize) -> Result<f64> {
        let server = SmtpServer::parse(&format!("smtp://127.0.0.1:{}?tls=none", self.server.port()))?;
        let from = SenderAddress::parse("no-reply@example.com").ok_or("no sender")?;
        let transport = Arc::new(SmtpTransport::new(SmtpSettings { server, from, authorities: vec![] })?);
        let left = Arc::new(AtomicUsize::new(count));
        let started = Instant::now();
        Builder::new_multi_thread().enable_all().build()?.block_on(async {
            let mut senders = JoinSet::new();
            for _ in 0..CONNECTIONS {
                senders.spawn(send_mails(Arc::clone(&transport), Arc::clone(&left)));
            }
            while let Some(sent) = senders.join_next().await {
                sent??;
            }
            transport.rest().await;
            Result::Ok(())
        })?;
        Ok(count as f64 / started.elapsed().as_secs_f64())
    }
}

/// Sends mails until none is left.
async fn send_mails(transport: Arc<SmtpTransport>, left: Arc<AtomicUsize>) -> std::result::Result<(), String> {
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
        let mail = Mail {
            id: "inv_bench".to_owned(),
            to: "ada@example.com".to_owned(),
            subject: "Bench invites you".to_owned(),
            text: "Open the link, and join everybody.\n".repeat(10),
            html: "<p>Open the link, and join everybody.</p>\n".repeat(20),
            date: Timestamp::from_millis(1_767_225_600_000),
            deadline: PATIENCE,
        };
        transport.send(mail).await.map_err(|error| format!("the transport alone failed: {error:?}"))?;
    }
    Ok(())
}

fn results(instance: &Instance, rounds: &[Round]) -> Vec<Line> {
    let samples = |sample: fn(&Round) -> &Sample| figures(&rounds.iter().map(sample).cloned().collect::<Vec<_>>());
    let (mails, millis) = (grouped(MAILS as f64), typical(rounds, |round| round.millis));
    let rate = per_second(typical(rounds, |round| round.rate));
    let alone = per_second(typical(rounds, |round| round.alone));
    vec![
        Line::new(
            format!("{mails} invitations by mail, to a server that takes {} ms for each", SERVER_TIME.as_millis()),
            instance.store,
            [format!("{rate}, {millis:.2} ms of processor time each"), format!("{alone} by the transport alone")],
            (typical(rounds, |round| round.rate / round.alone), "×"),
            Limit::AtLeast(MIN_SPEED),
        ),
        Line::new(
            format!("p99 of a create beside {mails} invitations by mail"),
            instance.store,
            [samples(|round| &round.with), samples(|round| &round.without)],
            (typical(rounds, |round| round.with.within(0.99) / round.without.within(0.99)), "×"),
            Limit::AtMost(MAX_CREATE_DELAY),
        ),
    ]
}

#[expect(clippy::disallowed_methods, reason = "the server takes this time for a mail")]
fn take_server_time() {
    thread::sleep(SERVER_TIME);
}

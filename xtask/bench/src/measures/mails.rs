//! Invitations by mail: how fast a long queue of them goes out, and who notices.

use crate::Outcome;
use crate::burst::{Sample, Shape, beside, burst};
use crate::http::post;
use crate::options::Options;
use crate::report::{Limit, Line, grouped, per_second};
use crate::rounds::median;
use crate::service::{Service, pause};
use crate::stage::{CLIENTS, Side, Stage};
use crate::traffic;
use candor_domain::id::EmployeeId;
use candor_domain::time::Timestamp;
use candor_mail::{SenderAddress, SmtpServer, SmtpSettings, SmtpTransport};
use candor_port_events::{Mail, MailTransport};
use candor_test_smtp::{Reply, Step, TestSmtp, Wire};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use super::reads::figures;

/// Mails that are due at once.
const MAILS: usize = 10_000;
/// How long the server takes for a mail: one that is near, and quick.
const EACH: Duration = Duration::from_millis(10);
/// As many as the service has open to it at most, which a test of the transport holds it to.
const CONNECTIONS: usize = 8;
/// Part of the speed that the server allows.
const SPEED_AT_LEAST: f64 = 0.9;
/// How much longer a create may take beside that.
const SLOWER_AT_MOST: f64 = 1.2;
/// Longer than all mails take.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a round came to.
struct Round {
    /// Mails per second by the service, and by its transport alone.
    rate: f64,
    alone: f64,
    /// Milliseconds of processor time that a mail cost the service.
    cost: f64,
    /// Creates beside the mails, and beside nothing.
    with: Sample,
    without: Sample,
}

/// A service of its own whose mails go to a server on this machine.
struct Scene {
    server: TestSmtp,
    service: Service,
    key: String,
    person: EmployeeId,
}

pub(super) fn run(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let scene = Scene::set(side)?;
        let rounds = (0..=options.rounds()).map(|number| scene.round(number as u64)).collect::<Outcome<Vec<_>>>()?;
        lines.extend(results(side, rounds.get(1..).unwrap_or_default()));
    }
    Ok(lines)
}

impl Scene {
    fn set(side: &Side) -> Outcome<Self> {
        let server = TestSmtp::start(Wire::Plain)?;
        let candor = side.on_an_empty_database("mails")?.mailing(server.port());
        let key = candor.account()?.key;
        let service = candor.serve()?;
        let body = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Example"}).to_string();
        let (_, made) = post(service.address, "/v1/employees", &key, "application/json", &body, 201)?;
        let person = made["id"].as_str().ok_or("nobody was made")?.parse()?;
        Ok(Self { server, service, key, person })
    }

    fn round(&self, number: u64) -> Outcome<Round> {
        let address = self.service.address;
        let creates = traffic::creates_of(vec![(self.key.clone(), self.person)]);
        let invited = self.queue(number)?;
        let seed = |kind: u64| 20_000 + 10 * number + kind;
        let ((took, cost), with) = beside(address, &creates, seed(0), || self.worked_off(invited))?;
        let (_, without) = beside(address, &creates, seed(1), || wait(took))?;
        let alone = self.alone(invited)?;
        self.server.forget();
        let invited = invited as f64;
        Ok(Round { rate: invited / took.as_secs_f64(), alone, cost: cost / invited, with, without })
    }

    /// Invites many while the server greets nobody; says how many.
    fn queue(&self, number: u64) -> Outcome<usize> {
        self.server.replies_to(Step::Greeting, Reply::Hold);
        let shape = Shape { connections: CLIENTS, time: PATIENCE, requests: MAILS, seed: 30_000 + number };
        Ok(burst(self.service.address, &traffic::invite(&self.key), shape)?.micros.len())
    }

    /// Lets the server take so many mails; how long that took, and what it cost the service in milliseconds.
    fn worked_off(&self, count: usize) -> Outcome<(Duration, f64)> {
        let (wanted, before) = (self.server.look(|it| it.taken) + count, self.service.processor_time()?);
        let begun = Instant::now();
        self.takes_its_time();
        if !self.server.until(|it| it.taken >= wanted) {
            return Err(format!("not all of {count} mails came").into());
        }
        let took = begun.elapsed();
        Ok((took, (self.service.processor_time()? - before).as_secs_f64() * 1000.0))
    }

    fn takes_its_time(&self) {
        self.server.replies(|asked| {
            if asked.step == Step::Message {
                a_while();
            }
            Reply::Usual
        });
    }

    /// The rate at which the transport alone hands over so many mails.
    fn alone(&self, count: usize) -> Outcome<f64> {
        let server = SmtpServer::parse(&format!("smtp://127.0.0.1:{}?tls=none", self.server.port()))?;
        let from = SenderAddress::parse("no-reply@example.com").ok_or("no sender")?;
        let transport = Arc::new(SmtpTransport::new(SmtpSettings { server, from, authorities: vec![] })?);
        let left = Arc::new(AtomicUsize::new(count));
        let begun = Instant::now();
        Builder::new_multi_thread().enable_all().build()?.block_on(async {
            let mut senders = JoinSet::new();
            for _ in 0..CONNECTIONS {
                senders.spawn(many(Arc::clone(&transport), Arc::clone(&left)));
            }
            while let Some(sent) = senders.join_next().await {
                sent??;
            }
            transport.rest().await;
            Outcome::Ok(())
        })?;
        Ok(count as f64 / begun.elapsed().as_secs_f64())
    }
}

/// Sends as long as there is one left.
async fn many(transport: Arc<SmtpTransport>, left: Arc<AtomicUsize>) -> Result<(), String> {
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| it.checked_sub(1)).is_ok() {
        let mail = Mail {
            id: "inv_bench".to_owned(),
            to: "ada@example.com".to_owned(),
            subject: "Bench invites you".to_owned(),
            text: "Open the link, and join everybody.\n".repeat(10),
            html: "<p>Open the link, and join everybody.</p>\n".repeat(20),
            date: Timestamp::from_millis(1_767_225_600_000),
            deadline: PATIENCE,
        };
        transport.send(mail).await.map_err(|it| format!("the transport alone failed: {it:?}"))?;
    }
    Ok(())
}

fn results(side: &Side, rounds: &[Round]) -> [Line; 2] {
    let typical = |property: &dyn Fn(&Round) -> f64| median(rounds.iter().map(property));
    let samples = |of: &dyn Fn(&Round) -> Sample| rounds.iter().map(of).collect::<Vec<_>>();
    let mails = grouped(MAILS as f64);
    let speed = Line {
        what: format!("{mails} invitations by mail, to a server that takes {} ms for each", EACH.as_millis()),
        store: Some(side.store),
        measured: format!(
            "{}, {:.2} ms of processor time each",
            per_second(typical(&|it| it.rate)),
            typical(&|it| it.cost)
        ),
        against: format!("{} by the transport alone", per_second(typical(&|it| it.alone))),
        value: typical(&|it| it.rate / it.alone),
        unit: "×",
        limit: Limit::AtLeast(SPEED_AT_LEAST),
    };
    let noticed = Line {
        what: format!("p99 of a create beside {mails} invitations by mail"),
        measured: figures(&samples(&|it| it.with.clone())),
        against: figures(&samples(&|it| it.without.clone())),
        value: typical(&|it| it.with.within(0.99) / it.without.within(0.99)),
        limit: Limit::AtMost(SLOWER_AT_MOST),
        ..speed.clone()
    };
    [speed, noticed]
}

/// Lets so much time pass.
fn wait(time: Duration) -> Outcome {
    let begun = Instant::now();
    while begun.elapsed() < time {
        pause();
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "this is how long the server takes")]
fn a_while() {
    thread::sleep(EACH);
}

//! A mail server for tests. The test scripts the reply to each step; the server records mails and counts
//! connections.
//!
//! It listens on the loopback address. Over TLS it is `localhost`, with a self-signed certificate.

mod session;
mod tls;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

pub use tls::Certificate;

/// Limit on every wait of a test. No awaited step takes this long, not even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// Transport security of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Plain text, without `STARTTLS`.
    Plain,
    /// Plain text until the client sends `STARTTLS`.
    StartTls,
    /// TLS from the first byte.
    Tls,
}

/// A step of the SMTP dialogue that the server replies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// The client connected and expects a greeting.
    Greeting,
    /// The client sent `EHLO`.
    Hello,
    /// The client sent `AUTH`.
    Login,
    /// The client sent `MAIL FROM`.
    Sender,
    /// The client sent `RCPT TO`.
    Recipient,
    /// The client sent `DATA`.
    Data,
    /// The client sent the whole message.
    Message,
}

/// One step that a client has reached in the SMTP dialogue.
#[derive(Debug, Clone)]
pub struct DialogueStep {
    /// Number of the connection, from 0.
    pub connection: usize,
    /// The step of the dialogue.
    pub step: Step,
    /// The command line as received; empty for a greeting and for a message.
    pub line: String,
}

/// The server's reply to a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The positive reply to the step.
    Usual,
    /// The given reply line.
    Say(&'static str),
    /// The usual reply, followed by the end of the connection.
    Last,
    /// No reply until the test changes the script.
    Hold,
    /// Ends the connection without a reply.
    HangUp,
}

/// A mail that was received completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Number of the connection that delivered the mail.
    pub connection: usize,
    /// `true` if the connection was encrypted.
    pub encrypted: bool,
    /// The credentials as received, if the client logged in.
    pub login: Option<String>,
    /// The sender of the envelope.
    pub from: String,
    /// The recipients of the envelope.
    pub to: Vec<String>,
    /// Headers and body, without dot stuffing.
    pub text: String,
    /// `true` if the server acknowledged the mail to the client.
    pub taken: bool,
}

impl Received {
    /// Returns the value of a header, unfolded into one line. `None` if the header is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        let head = self.text.split("\r\n\r\n").next().unwrap_or_default().replace("\r\n ", " ");
        let line =
            head.split("\r\n").find_map(|part| part.split_once(": ").filter(|(found, _)| *found == name))?;
        Some(line.1.to_owned())
    }
}

/// State of the mail server, as tests observe it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerState {
    /// Received mails, in order of arrival.
    pub mails: Vec<Received>,
    /// Number of acknowledged mails.
    pub taken: usize,
    /// Number of connections since the start.
    pub connections: usize,
    /// Number of open connections.
    pub open: usize,
    /// Highest number of connections open at the same time.
    pub most_open: usize,
    /// Number of steps that wait for a new script ([`Reply::Hold`]).
    pub held: usize,
}

type Script = Arc<dyn Fn(&DialogueStep) -> Reply + Send + Sync>;

struct State {
    seen: ServerState,
    script: Script,
    /// Number of script changes; held steps compare it to notice a new script.
    said: usize,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    wire: Wire,
    certificate: Certificate,
}

/// A mail server on the loopback address.
pub struct TestSmtp {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl TestSmtp {
    /// Starts a server that accepts every mail.
    ///
    /// # Errors
    /// No port is free, or the certificate cannot be created.
    pub fn start(wire: Wire) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let state = State { seen: ServerState::default(), script: Arc::new(|_| Reply::Usual), said: 0 };
        let certificate = Certificate::for_name("localhost")?;
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), wire, certificate });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let number = accepting.opened();
                let shared = Arc::clone(&accepting);
                thread::spawn(move || {
                    // Broken connections are expected: some tests cause them.
                    let _ = session::serve(&shared, number, stream);
                    shared.change(|state| state.seen.open -= 1);
                });
            }
        });
        Ok(Self { address, shared })
    }

    /// Returns the port that the server listens on.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the server's certificate.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        &self.shared.certificate
    }

    /// Sets the script that replies to every step from now on, including steps that are held.
    pub fn replies(&self, script: impl Fn(&DialogueStep) -> Reply + Send + Sync + 'static) {
        self.shared.change(|state| {
            state.script = Arc::new(script);
            state.said += 1;
        });
    }

    /// Sets the reply to one step. All other steps get the usual reply.
    pub fn replies_to(&self, step: Step, reply: Reply) {
        self.replies(move |asked| if asked.step == step { reply.clone() } else { Reply::Usual });
    }

    /// Returns a copy of the server's state.
    #[must_use]
    pub fn seen(&self) -> ServerState {
        self.look(ServerState::clone)
    }

    /// Reads a part of the state without copying all mails.
    pub fn look<T>(&self, at: impl FnOnce(&ServerState) -> T) -> T {
        at(&self.shared.lock().seen)
    }

    /// Discards the received mails. No mail may be in transfer.
    pub fn forget(&self) {
        self.shared.change(|state| state.seen.mails.clear());
    }

    /// Returns the mails that were acknowledged.
    #[must_use]
    pub fn received_mails(&self) -> Vec<Received> {
        self.seen().mails.into_iter().filter(|mail| mail.taken).collect()
    }

    /// Waits until the state fulfils the condition. Returns `false` on timeout.
    #[must_use]
    pub fn wait_until(&self, holds: impl Fn(&ServerState) -> bool) -> bool {
        let wait_result =
            self.shared.changed.wait_timeout_while(self.shared.lock(), PATIENCE, |state| !holds(&state.seen));
        wait_result.is_ok_and(|(_, ended)| !ended.timed_out())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        result
    }

    fn opened(&self) -> usize {
        self.change(|state| {
            let log = &mut state.seen;
            (log.connections, log.open) = (log.connections + 1, log.open + 1);
            log.most_open = log.most_open.max(log.open);
            log.connections - 1
        })
    }

    /// Returns the scripted reply to a step; blocks while the script holds it.
    fn reply(&self, asked: &DialogueStep) -> Reply {
        loop {
            let (script, said) = {
                let state = self.lock();
                (Arc::clone(&state.script), state.said)
            };
            let reply = script(asked);
            if reply != Reply::Hold {
                return reply;
            }
            self.change(|state| state.seen.held += 1);
            let wait_result = self.changed.wait_while(self.lock(), |state| state.said == said);
            drop(wait_result);
            self.change(|state| state.seen.held -= 1);
        }
    }
}

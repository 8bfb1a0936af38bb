//! A mail server for tests: it answers every step as the test says, keeps what it takes, and counts connections.
//!
//! It listens on this machine alone. Over TLS it is `localhost`, by a certificate of its own.

mod session;
mod tls;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

pub use tls::Certificate;

/// Longer than anything takes that a test waits for.
const PATIENCE: Duration = Duration::from_secs(90);

/// How it is talked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Readably; TLS is not offered.
    Plain,
    /// Readably until STARTTLS.
    StartTls,
    /// Over TLS from the first byte.
    Tls,
}

/// What a client wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// To be greeted.
    Greeting,
    /// To say who it is.
    Hello,
    /// To log in.
    Login,
    /// To begin a mail.
    Sender,
    /// To name a receiver.
    Recipient,
    /// To send what the mail says.
    Data,
    /// To have sent it.
    Message,
}

/// A step of a client.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The number of its connection, from 0.
    pub connection: usize,
    /// The step.
    pub step: Step,
    /// The line as it came; empty for a greeting and a message.
    pub line: String,
}

/// What a client gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// What a server says that takes everything.
    Usual,
    /// This line.
    Say(&'static str),
    /// The usual, and then the end of the connection.
    Last,
    /// Nothing, until the test says something else.
    Hold,
    /// The end of the connection.
    HangUp,
}

/// A mail that has arrived, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The number of the connection it came over.
    pub connection: usize,
    /// Whether nobody could read it on the way.
    pub encrypted: bool,
    /// Who logged in, as it came.
    pub login: Option<String>,
    /// The sender of the envelope.
    pub from: String,
    /// The receivers of the envelope.
    pub to: Vec<String>,
    /// Headers and body, without what the wire added.
    pub text: String,
    /// Whether it was answered that it was taken.
    pub taken: bool,
}

impl Received {
    /// The value of a header of the mail, in one line.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        let head = self.text.split("\r\n\r\n").next().unwrap_or_default().replace("\r\n ", " ");
        let line = head.split("\r\n").find_map(|it| it.split_once(": ").filter(|(found, _)| *found == name))?;
        Some(line.1.to_owned())
    }
}

/// How the server does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// What has arrived, in its order.
    pub mails: Vec<Received>,
    /// How many of these were taken.
    pub taken: usize,
    /// How many connections there ever were.
    pub connections: usize,
    /// How many there are.
    pub open: usize,
    /// The most that there were at once.
    pub most_open: usize,
    /// How many steps wait for what the test says.
    pub held: usize,
}

type Script = Arc<dyn Fn(&Asked) -> Reply + Send + Sync>;

struct State {
    seen: Seen,
    script: Script,
    /// Counts what the test has said.
    said: usize,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    wire: Wire,
    certificate: Certificate,
}

/// A mail server on this machine.
pub struct TestSmtp {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl TestSmtp {
    /// A server that takes everything.
    ///
    /// # Errors
    /// No address is free, or no certificate can be made.
    pub fn start(wire: Wire) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let state = State { seen: Seen::default(), script: Arc::new(|_| Reply::Usual), said: 0 };
        let certificate = Certificate::of("localhost")?;
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), wire, certificate });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let number = accepting.opened();
                let shared = Arc::clone(&accepting);
                thread::spawn(move || {
                    // A connection that breaks is what some tests are for.
                    let _ = session::serve(&shared, number, stream);
                    shared.change(|it| it.seen.open -= 1);
                });
            }
        });
        Ok(Self { address, shared })
    }

    /// The port that it listens on.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// Its certificate.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        &self.shared.certificate
    }

    /// How steps are answered from now on, those included that wait for an answer.
    pub fn replies(&self, script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) {
        self.shared.change(|it| {
            it.script = Arc::new(script);
            it.said += 1;
        });
    }

    /// How one step is answered from now on, and the others as usual.
    pub fn replies_to(&self, step: Step, reply: Reply) {
        self.replies(move |asked| if asked.step == step { reply.clone() } else { Reply::Usual });
    }

    /// How it does.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.look(Seen::clone)
    }

    /// A part of how it does, without a copy of all that has arrived.
    pub fn look<T>(&self, at: impl FnOnce(&Seen) -> T) -> T {
        at(&self.shared.lock().seen)
    }

    /// Forgets what has arrived; only while nothing is on its way.
    pub fn forget(&self) {
        self.shared.change(|it| it.seen.mails.clear());
    }

    /// What has arrived and was taken.
    #[must_use]
    pub fn taken(&self) -> Vec<Received> {
        self.seen().mails.into_iter().filter(|it| it.taken).collect()
    }

    /// Waits until it does as described; says whether it came to that.
    #[must_use]
    pub fn until(&self, holds: impl Fn(&Seen) -> bool) -> bool {
        let waited = self.shared.changed.wait_timeout_while(self.shared.lock(), PATIENCE, |it| !holds(&it.seen));
        waited.is_ok_and(|(_, ended)| !ended.timed_out())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.lock());
        self.changed.notify_all();
        changed
    }

    fn opened(&self) -> usize {
        self.change(|it| {
            let seen = &mut it.seen;
            (seen.connections, seen.open) = (seen.connections + 1, seen.open + 1);
            seen.most_open = seen.most_open.max(seen.open);
            seen.connections - 1
        })
    }

    /// The answer to a step, which the test may keep waiting.
    fn reply(&self, asked: &Asked) -> Reply {
        loop {
            let (script, said) = {
                let state = self.lock();
                (Arc::clone(&state.script), state.said)
            };
            let reply = script(asked);
            if reply != Reply::Hold {
                return reply;
            }
            self.change(|it| it.seen.held += 1);
            let waited = self.changed.wait_while(self.lock(), |it| it.said == said);
            drop(waited);
            self.change(|it| it.seen.held -= 1);
        }
    }
}

//! TCP proxy between a service and its database that can cut connections or stop forwarding.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// Default port of PostgreSQL.
const POSTGRES: u16 = 5432;

/// A proxy in front of one database server.
pub(crate) struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    cut: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
    silent: Mutex<bool>,
    heard: Condvar,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        *self.state.silent.lock().unwrap() = false;
        self.state.heard.notify_all();
        self.cut();
    }
}

/// Listening socket of the database server: a Unix socket or a TCP address.
#[derive(Clone)]
enum Server {
    Socket(String),
    Address(String),
}

impl Proxy {
    /// Starts a proxy to the server of this URL.
    pub(crate) fn forward_to(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (server, state) = (Server::parse(url), Arc::new(State::default()));
        let passing = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if !passing.cut.load(Ordering::SeqCst) {
                    let _ = server.pass(client, &passing);
                }
            }
        });
        Self { address, state }
    }

    /// Returns the database URL with the proxy as host.
    pub(crate) fn url(&self, url: &str) -> String {
        let (scheme, rest) = url.split_once("://").unwrap();
        let (authority, path) = rest.split_once('/').unwrap();
        let user = authority.rsplit_once('@').map_or(String::new(), |(user, _)| format!("{user}@"));
        format!("{scheme}://{user}{}/{path}", self.address)
    }

    /// Closes every connection and refuses new ones.
    pub(crate) fn cut(&self) {
        self.state.cut.store(true, Ordering::SeqCst);
        for stream in self.state.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Keeps every connection open, but forwards nothing until the proxy is dropped.
    pub(crate) fn fall_silent(&self) {
        *self.state.silent.lock().unwrap() = true;
    }

    /// Accepts connections again after a cut.
    pub(crate) fn mend(&self) {
        self.state.cut.store(false, Ordering::SeqCst);
    }
}

impl Server {
    fn parse(url: &str) -> Self {
        let rest = url.split_once("://").unwrap().1;
        let authority = rest.split('/').next().unwrap();
        let host = authority.rsplit('@').next().unwrap().split(',').next().unwrap();
        if let Some(folder) = host.strip_prefix("%2F") {
            let folder = folder.replace("%2F", "/").replace("%25", "%");
            return Self::Socket(format!("/{folder}/.s.PGSQL.{POSTGRES}"));
        }
        Self::Address(if host.contains(':') { host.to_owned() } else { format!("{host}:{POSTGRES}") })
    }

    fn pass(&self, client: TcpStream, state: &Arc<State>) -> io::Result<()> {
        let open = client.try_clone()?;
        match self {
            Self::Socket(path) => {
                let server = UnixStream::connect(path)?;
                let (to, from) = (server.try_clone()?, server);
                both_ways(client, to, from, UnixStream::shutdown, state)?;
            }
            Self::Address(address) => {
                let server = TcpStream::connect(address)?;
                let (to, from) = (server.try_clone()?, server);
                both_ways(client, to, from, TcpStream::shutdown, state)?;
            }
        }
        state.open.lock().unwrap().push(open);
        Ok(())
    }
}

/// Copies in both directions in two threads. When one side ends its stream, the other side is closed.
fn both_ways<S: Read + Write + Send + 'static>(
    client: TcpStream,
    mut to: S,
    mut from: S,
    end: fn(&S, Shutdown) -> io::Result<()>,
    state: &Arc<State>,
) -> io::Result<()> {
    let (mut asks, mut hears) = (client.try_clone()?, client);
    let (asking, hearing) = (Arc::clone(state), Arc::clone(state));
    thread::spawn(move || {
        let _ = copy(&mut asks, &mut to, &asking);
        let _ = end(&to, Shutdown::Both);
    });
    thread::spawn(move || {
        let _ = copy(&mut from, &mut hears, &hearing);
        let _ = hears.shutdown(Shutdown::Both);
    });
    Ok(())
}

fn copy(from: &mut impl Read, to: &mut impl Write, state: &State) -> io::Result<()> {
    let mut buffer = [0; 8192];
    loop {
        let length = from.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        let silent = state.silent.lock().unwrap();
        drop(state.heard.wait_while(silent, |is_silent| *is_silent).unwrap());
        to.write_all(&buffer[..length])?;
    }
}

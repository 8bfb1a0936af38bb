//! Sign-in of a person in the browser: the session comes back over a listener on this machine (decision B10).
//!
//! The browser brings a code that is useless to every other program: the service gives the session only to the holder
//! of the verifier. The sign-in contains only the hash of the verifier. The verifier leaves this process only in the
//! exchange.

use std::borrow::Cow;
use std::io::{self, IsTerminal};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_client::{Method, Secret};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;
use url::Url;

use crate::error::CommandError;
use crate::output::tell;
use crate::private_file;
use crate::remote::{Account, ApiKey, Profile, RemoteError};

/// Time limit of a sign-in, the same as in the service.
const SIGN_IN_LIMIT: Duration = Duration::from_secs(600);
/// Time limit of one connection, so that an idle connection of the browser ends.
const CONNECTION_LIMIT: Duration = Duration::from_secs(10);
/// Size limit of the head of a request, in bytes. The service's redirect has a few hundred.
const MAX_HEAD: usize = 8_192;
/// Random bytes of the state and of the verifier.
const RANDOM_BYTES: usize = 32;
/// Bytes of the challenge that the terminal and the browser show, so that the person compares them.
const SHOWN_BYTES: usize = 4;
/// Program that opens an address in the browser of the user.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
/// Name of the file that the opener gets, beside the profiles. A further sign-in replaces the file that an interrupted one
/// has left.
const OPENED_FILE: &str = "sign-in.html";
/// Placeholder of the code before the sign-in. With it, the URL of the service is checked before the browser opens.
const NO_CODE_YET: &str = "cdr_link_none";

/// The secrets of one sign-in.
struct Attempt {
    /// State of the sign-in. The redirect must have the same state, so that no other page can hand over a code.
    state: String,
    /// Secret that the service gets with the code, as proof that this process began the sign-in.
    verifier: Secret,
    challenge: [u8; 32],
}

/// The file that leads the browser to the console, until the sign-in ends. Other users of the machine read the arguments of
/// the opener, and with the state they could sign in here as themselves. So the arguments have the path of the file alone,
/// which only its owner can read.
struct OpenedFile(PathBuf);

impl Drop for OpenedFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Result of a sign-in, as the redirect brings it.
#[derive(Debug, PartialEq, Eq)]
enum SignInResult {
    /// The code, which the service exchanges for the session.
    Code(String),
    /// The reason of a refusal.
    Refusal(String),
}

/// The session of an exchange.
#[derive(Deserialize)]
struct Exchange {
    key: String,
}

/// Signs a person in at the service, and returns the key of the session. `folder` is that of the profiles.
///
/// # Errors
/// [`RemoteError`] if the URL is not usable, the sign-in is refused or takes too long, or the code is not exchanged;
/// [`CommandError::Io`] if this machine has no free port.
pub(super) async fn sign_in(
    (url, may_be_insecure): (&str, bool),
    agent: &str,
    folder: &Path,
) -> Result<ApiKey, CommandError> {
    let account = |key: &str| -> Result<Account, RemoteError> {
        let profile = Profile { url: url.to_owned(), key: ApiKey::parse(key)?, is_session: true };
        Ok(Account::new(profile, may_be_insecure))
    };
    account(NO_CODE_YET)?.client(agent)?;
    let attempt = Attempt::new()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.map_err(CommandError::io("listen", "on 127.0.0.1"))?;
    let port = listener.local_addr().map_err(CommandError::io("listen", "on 127.0.0.1"))?.port();
    let opened_file = show(&attempt.address(url, port), &attempt.shown_code(), folder);
    let redirect = timeout(SIGN_IN_LIMIT, wait_for_redirect(&listener, &attempt.state)).await;
    drop(opened_file);
    let code = match redirect.map_err(|_| RemoteError::SignInTimeout)? {
        SignInResult::Code(code) => code,
        SignInResult::Refusal(reason) => return Err(RemoteError::SignInRefused(explain(&reason)).into()),
    };
    let body = json!({"code": code, "verifier": attempt.verifier.expose()});
    let candor = account(&code)?.client(agent)?;
    let response = candor.request(Method::POST, "portal-links/exchange").json(&body).send().await;
    let exchange = response.and_then(|response| response.json::<Exchange>());
    let exchange = exchange.map_err(RemoteError::naming_request(format!("sign in at {url}")))?.data;
    Ok(ApiKey::parse(&exchange.key)?)
}

impl Attempt {
    fn new() -> Result<Self, CommandError> {
        Ok(Self::with(create_random_text()?, &create_random_text()?))
    }

    fn with(state: String, verifier: &str) -> Self {
        let mut challenge = [0; 32];
        challenge.copy_from_slice(digest(&SHA256, verifier.as_bytes()).as_ref());
        Self { state, verifier: Secret::from(verifier), challenge }
    }

    /// Returns the address of the console that begins the sign-in. The fragment stays in the browser.
    fn address(&self, url: &str, port: u16) -> String {
        format!("{url}/console/#command-line={port}.{}.{}", URL_SAFE_NO_PAD.encode(self.challenge), self.state)
    }

    /// Returns the code that the console shows, too: the beginning of the challenge.
    fn shown_code(&self) -> String {
        let digits: String = self.challenge.iter().take(SHOWN_BYTES).map(|byte| format!("{byte:02x}")).collect();
        let (first, second) = digits.split_at(SHOWN_BYTES);
        format!("{first}-{second}")
    }
}

impl OpenedFile {
    /// Writes the file into a folder. It leads to an address.
    fn write(folder: &Path, address: &str) -> io::Result<Self> {
        private_file::create_folder(folder)?;
        let path = folder.join(OPENED_FILE);
        let address = address.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
        let text = format!(
            "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta http-equiv=\"refresh\" content=\"0;url={address}\">\n<a href=\"{address}\">Sign in</a>\n"
        );
        private_file::replace(&path, &text)?;
        Ok(Self(path))
    }
}

fn create_random_text() -> Result<String, CommandError> {
    let mut bytes = [0; RANDOM_BYTES];
    let result = SystemRandom::new().fill(&mut bytes);
    let result = result.map_err(|_| io::Error::other("the system gives no random bytes"));
    result.map_err(CommandError::io("read", "random bytes"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Prints the address, and opens it if a person is at the terminal. Returns the file that the browser reads.
fn show(address: &str, code: &str, folder: &Path) -> Option<OpenedFile> {
    tell(format!(
        "Open this address in a browser on this computer:\n{address}\nGo on there only if the page shows the code {code}.\n"
    ));
    if !io::stderr().is_terminal() {
        return None;
    }
    // Without the file or the program, the person opens the address.
    let opened_file = OpenedFile::write(folder, address).ok()?;
    let mut opener = Command::new(OPENER);
    opener.arg(&opened_file.0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = opener.spawn();
    Some(opened_file)
}

/// Waits for the redirect of this sign-in. Connections are served concurrently, because browsers open spare ones.
async fn wait_for_redirect(listener: &TcpListener, state: &str) -> SignInResult {
    let (sender, mut responses) = mpsc::channel(1);
    loop {
        tokio::select! {
            Some(response) = responses.recv() => return response,
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                let (sender, state) = (sender.clone(), state.to_owned());
                tokio::spawn(async move {
                    if let Ok(Ok(Some(response))) = timeout(CONNECTION_LIMIT, serve(stream, &state)).await {
                        let _ = sender.try_send(response);
                    }
                });
            },
        }
    }
}

/// Answers one request. Returns the result of the sign-in if the request is its redirect.
async fn serve(mut stream: TcpStream, state: &str) -> io::Result<Option<SignInResult>> {
    let mut head = vec![];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > MAX_HEAD || stream.read_buf(&mut head).await? == 0 {
            return Ok(None);
        }
    }
    let sign_in_result = read_redirect(&head, state);
    let (status, text) = match &sign_in_result {
        Some(SignInResult::Code(_)) => {
            ("200 OK", "You are signed in. The command line goes on, and you can close this page.")
        }
        Some(SignInResult::Refusal(_)) => ("200 OK", "The sign-in was refused. The command line says why."),
        None => (
            "404 Not Found",
            "This page belongs to another sign-in, or is no sign-in. Run the sign-in command again and use the page \
             that it opens.",
        ),
    };
    let length = text.len();
    let response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\
         Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{text}"
    );
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await?;
    Ok(sign_in_result)
}

/// Reads the redirect: a GET of `/` with the state of this sign-in, and a code or an error.
fn read_redirect(head: &[u8], state: &str) -> Option<SignInResult> {
    let line = std::str::from_utf8(head).ok()?.lines().next()?;
    let target = line.strip_prefix("GET ")?.split(' ').next()?;
    let url = Url::parse("http://127.0.0.1").ok()?.join(target).ok()?;
    let value =
        |name: &str| url.query_pairs().find(|(known, _)| known == name).map(|(_, value)| Cow::into_owned(value));
    // Hashes are compared, so that the time says nothing about the state.
    let hash = |text: &str| digest(&SHA256, text.as_bytes()).as_ref().to_vec();
    if url.path() != "/" || hash(&value("state")?) != hash(state) {
        return None;
    }
    value("code").map(SignInResult::Code).or_else(|| value("error").map(SignInResult::Refusal))
}

/// Returns the cause of a refusal with its remedy.
fn explain(reason: &str) -> &'static str {
    match reason {
        "denied" => {
            "you or the provider canceled the sign-in; try again, or ask an admin whether you may use Candor"
        }
        "expired" => "the sign-in took too long, or went on in another browser; begin again",
        "not_linked" => {
            "the account leads to no active person of the organization; ask an admin to link the account"
        }
        _ => "the provider could not be reached, or its answer was not valid; try again in a few minutes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: &str = "3q2-7wEjRWeJq83vASNFZ4mrze8BI0VniavN7wEjRWc";
    /// The example of RFC 7636, appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    async fn ask(port: u16, target: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        let request = format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        response
    }

    #[test]
    fn address_has_the_challenge_and_not_the_verifier() {
        let attempt = Attempt::with(STATE.to_owned(), VERIFIER);
        let address = attempt.address("https://feedback.example.com", 49_152);
        assert_eq!(
            address,
            format!("https://feedback.example.com/console/#command-line=49152.{CHALLENGE}.{STATE}")
        );
        assert!(!address.contains(VERIFIER));
        assert_eq!(attempt.shown_code(), "13d3-1e96");
    }

    #[test]
    fn sign_ins_share_neither_state_nor_verifier() {
        let [first, second] = [Attempt::new().unwrap(), Attempt::new().unwrap()];
        assert_eq!((first.state.len(), first.verifier.expose().len()), (43, 43));
        assert!(first.state != second.state && first.verifier.expose() != second.verifier.expose());
        assert_ne!(first.state, first.verifier.expose());
    }

    #[test]
    fn only_the_redirect_with_the_state_is_an_answer() {
        let response_to =
            |line: &str| read_redirect(format!("{line}\r\nHost: 127.0.0.1\r\n\r\n").as_bytes(), STATE);
        let code = SignInResult::Code("cdr_link_a".to_owned());
        assert_eq!(response_to(&format!("GET /?code=cdr_link_a&state={STATE} HTTP/1.1")), Some(code));
        let refusal = SignInResult::Refusal("denied".to_owned());
        assert_eq!(response_to(&format!("GET /?error=denied&state={STATE} HTTP/1.1")), Some(refusal));
        for line in [
            "GET /?code=cdr_link_a HTTP/1.1".to_owned(),
            "GET /?code=cdr_link_a&state= HTTP/1.1".to_owned(),
            format!("GET /?code=cdr_link_a&state={}A HTTP/1.1", &STATE[..42]),
            format!("GET /?state=other&code=cdr_link_a&state={STATE} HTTP/1.1"),
            format!("GET /other?code=cdr_link_a&state={STATE} HTTP/1.1"),
            format!("GET /?state={STATE} HTTP/1.1"),
            format!("POST /?code=cdr_link_a&state={STATE} HTTP/1.1"),
            String::new(),
        ] {
            assert_eq!(response_to(&line), None, "{line}");
        }
    }

    #[tokio::test]
    async fn redirect_is_taken_beside_idle_and_foreign_requests() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = async {
            let idle = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
            let foreign = ask(port, "/?code=cdr_link_foreign&state=foreign").await;
            let own = ask(port, &format!("/?code=cdr_link_own&state={STATE}")).await;
            drop(idle);
            (foreign, own)
        };
        let (response, (foreign, own)) = tokio::join!(wait_for_redirect(&listener, STATE), client);
        assert_eq!(response, SignInResult::Code("cdr_link_own".to_owned()));
        assert!(foreign.starts_with("HTTP/1.1 404 ") && !foreign.contains("cdr_link"), "{foreign}");
        assert!(own.starts_with("HTTP/1.1 200 ") && own.contains("no-store"), "{own}");
    }

    #[test]
    fn file_for_the_browser_is_read_by_its_owner_alone() {
        let folder = std::env::temp_dir().join(format!("candor-sign-in-{}", std::process::id()));
        let address = "https://feedback.example.com/console/#command-line=1.a.b&\"<";
        // The file of an interrupted sign-in is replaced.
        std::mem::forget(OpenedFile::write(&folder, "https://former.example").unwrap());
        let opened_file = OpenedFile::write(&folder, address).unwrap();
        let path = opened_file.0.clone();
        assert!(!private_file::grants(&path, 0o077) && private_file::open_to_others(&folder) == 0);
        let text = std::fs::read_to_string(&path).unwrap();
        let escaped_address = "https://feedback.example.com/console/#command-line=1.a.b&amp;&quot;&lt;";
        assert_eq!(text.matches(escaped_address).count(), 2, "{text}");
        drop(opened_file);
        assert!(!private_file::is_there(&path));
        std::fs::remove_dir(&folder).unwrap();
    }
}

//! An OpenID Connect provider for tests and measurements. It signs the claims that its user states, and grants a code
//! without a question.
//!
//! It listens on the loopback address without TLS and has one Ed25519 key.

mod browser;

use std::collections::HashMap;
use std::fmt::Display;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

/// Client id of the service at the provider.
pub const CLIENT_ID: &str = "candor";
/// Client secret of the service, which the provider does not check.
pub const CLIENT_SECRET: &str = "secret of the tests";
/// Audience of bearer tokens.
pub const AUDIENCE: &str = "api://candor";
/// Domain of the addresses of the people.
pub const DOMAIN: &str = "acme.example";
/// Id and seed of the key.
const KEY: (&str, [u8; 32]) = ("1", [7; 32]);
/// Lifetime of tokens in seconds.
const LIFETIME: u64 = 3_600;

/// A running provider. It listens until the process ends.
#[derive(Debug, Clone)]
pub struct Provider {
    /// Address of the provider, which its tokens name.
    pub issuer: String,
    key: Arc<Ed25519KeyPair>,
    /// ID tokens by code.
    grants: Arc<Mutex<HashMap<String, String>>>,
}

impl Provider {
    /// Starts a provider.
    ///
    /// # Errors
    /// The listener cannot be opened, or the key cannot be created.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let key =
            Ed25519KeyPair::from_seed_unchecked(&KEY.1).map_err(|error| io::Error::other(error.to_string()))?;
        let issuer = format!("http://{}", listener.local_addr()?);
        let provider = Self { issuer, key: Arc::new(key), grants: Arc::default() };
        let server = provider.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let provider = server.clone();
                // A client that hangs up ends its connection alone.
                thread::spawn(move || provider.serve(&stream).is_ok());
            }
        });
        Ok(provider)
    }

    /// Returns the body of this provider for `POST /identity-providers`.
    #[must_use]
    pub fn body(&self) -> Value {
        json!({"name": "Tests", "issuer": self.issuer, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET,
               "audiences": [AUDIENCE], "link_by": "verified_email", "email_domains": [DOMAIN],
               "scopes": ["employees:read", "observations:read"]})
    }

    /// Returns a bearer token of an account.
    #[must_use]
    pub fn bearer_token(&self, subject: impl Display + Copy) -> String {
        self.sign("at+jwt", AUDIENCE, &claims_of(subject))
    }

    /// Returns a bearer token that proves its audience for the identity provider with this id.
    #[must_use]
    pub fn proof_token(&self, provider_id: &str) -> String {
        let mut claims = claims_of("nobody");
        claims["candor_provider"] = json!(provider_id);
        self.sign("at+jwt", AUDIENCE, &claims)
    }

    /// Returns a bearer token of an account with the signature of another token.
    #[must_use]
    pub fn forged_token(&self, subject: impl Display + Copy) -> String {
        let [own, other] = [self.bearer_token(subject), self.sign("JWT", AUDIENCE, &claims_of(subject))];
        let message = own.rsplit_once('.').unwrap_or_default().0;
        let signature = other.rsplit_once('.').unwrap_or_default().1;
        format!("{message}.{signature}")
    }

    /// Returns a logout token with these claims: `sub`, `sid` or both. Its `jti` must be new.
    #[must_use]
    pub fn logout_token(&self, claims: &Value, token_id: &str) -> String {
        let mut claims = claims.clone();
        claims["jti"] = json!(token_id);
        claims["events"] = json!({"http://schemas.openid.net/event/backchannel-logout": {}});
        self.sign("logout+jwt", CLIENT_ID, &claims)
    }

    /// Grants a code for an authorization request to an account. Returns the address to which the provider
    /// sends the browser.
    fn authorize(&self, request: &str, subject: impl Display + Copy) -> String {
        let query: HashMap<_, _> =
            Url::parse(request).map(|url| url.query_pairs().into_owned().collect()).unwrap_or_default();
        let value = |name: &str| query.get(name).cloned().unwrap_or_default();
        let mut claims = claims_of(subject);
        claims["nonce"] = json!(value("nonce"));
        let mut grants = self.grants.lock().unwrap_or_else(PoisonError::into_inner);
        let code = format!("code-{}", value("nonce"));
        grants.insert(code.clone(), self.sign("JWT", CLIENT_ID, &claims));
        let response = form_urlencoded::Serializer::new(String::new())
            .append_pair("state", &value("state"))
            .append_pair("code", &code)
            .finish();
        format!("{}?{response}", value("redirect_uri"))
    }

    #[expect(clippy::disallowed_methods, reason = "the service compares tokens with the time of the machine")]
    fn sign(&self, kind: &str, audience: &str, claims: &Value) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let mut claims = claims.clone();
        claims["iss"] = json!(self.issuer);
        claims["aud"] = json!(audience);
        claims["iat"] = json!(now);
        claims["exp"] = json!(now + LIFETIME);
        let header = json!({"alg": "EdDSA", "kid": KEY.0, "typ": kind});
        let message = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".");
        let signature = URL_SAFE_NO_PAD.encode(self.key.sign(message.as_bytes()));
        format!("{message}.{signature}")
    }

    /// Answers one request and closes the connection.
    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream);
        let (mut request, mut length) = (String::new(), 0);
        reader.read_line(&mut request)?;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let response = self.answer(request.split(' ').nth(1).unwrap_or_default(), &body);
        let (status, text) =
            response.map_or(("400 Bad Request", json!({"error": "invalid_grant"})), |json| ("200 OK", json));
        let text = text.to_string();
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            text.len()
        );
        let mut stream = stream;
        stream.write_all(format!("{head}{text}").as_bytes())
    }

    fn answer(&self, path: &str, body: &[u8]) -> Option<Value> {
        let issuer = &self.issuer;
        match path {
            "/.well-known/openid-configuration" => Some(json!({
                "issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
                "token_endpoint": format!("{issuer}/token"), "jwks_uri": format!("{issuer}/keys"),
                "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
                "id_token_signing_alg_values_supported": ["EdDSA", "RS256"], "subject_types_supported": ["public"],
            })),
            "/keys" => {
                let bytes = URL_SAFE_NO_PAD.encode(self.key.public_key());
                Some(json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": KEY.0, "x": bytes}]}))
            }
            _ => {
                let code = form_urlencoded::parse(body).find(|(name, _)| name == "code")?.1.into_owned();
                let id_token = self.grants.lock().unwrap_or_else(PoisonError::into_inner).remove(&code)?;
                Some(json!({"id_token": id_token, "access_token": "none", "token_type": "Bearer"}))
            }
        }
    }
}

/// Returns the claims of an account, whose session and verified address have its name.
fn claims_of(subject: impl Display + Copy) -> Value {
    json!({"sub": subject.to_string(), "sid": subject.to_string(), "email": address_of(subject), "email_verified": true})
}

/// Returns the address of an account.
#[must_use]
pub fn address_of(subject: impl Display + Copy) -> String {
    format!("{subject}@{DOMAIN}")
}

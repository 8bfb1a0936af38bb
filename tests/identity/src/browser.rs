//! A browser that signs an account in: it keeps the cookie of the service and goes to the provider and back.

use std::fmt::Display;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::{Value, json};
use url::Url;

use crate::Provider;

/// A browser of a person.
struct Browser<'a> {
    service: SocketAddr,
    /// Address of the browser, for a service that trusts this machine as its proxy.
    address: &'a str,
    cookie: String,
}

/// The parts of a response that a sign-in needs.
struct Response {
    location: String,
    body: Value,
}

impl Provider {
    /// Signs an account in at a service, in a new browser with this address. `provider` is the id of this provider at the
    /// service. Returns the key of the session.
    ///
    /// # Errors
    /// The service does not answer, or refuses the sign-in; the text names the address at which it ends.
    pub fn sign_in(
        &self,
        (service, provider): (SocketAddr, &str),
        subject: impl Display + Copy,
        address: &str,
    ) -> io::Result<Value> {
        let mut browser = Browser { service, address, cookie: String::new() };
        let first_response = browser.send("POST /v1/sign-in", Some(&json!({"identity_provider_id": provider})))?;
        let request = first_response.body["url"]
            .as_str()
            .ok_or_else(|| io::Error::other(first_response.body.to_string()))?;
        let callback = Url::parse(&self.authorize(request, subject)).map_err(io::Error::other)?;
        let callback = format!("GET {}?{}", callback.path(), callback.query().unwrap_or_default());
        let end = browser.send(&callback, None)?.location;
        let Some((_, code)) = end.split_once("#code=") else { return Err(io::Error::other(end)) };
        Ok(browser.send("POST /v1/portal-links/exchange", Some(&json!({"code": code})))?.body)
    }
}

impl Browser<'_> {
    /// Sends a request on a new connection.
    fn send(&mut self, line: &str, body: Option<&Value>) -> io::Result<Response> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut stream = TcpStream::connect(self.service)?;
        let request = format!(
            "{line} HTTP/1.1\r\nHost: service\r\nConnection: close\r\nX-Forwarded-For: {}\r\nCookie: {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.cookie,
            body.len(),
        );
        stream.write_all(request.as_bytes())?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        let (head, body) = response.split_once("\r\n\r\n").unwrap_or_default();
        let header = |wanted: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            lines.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map_or("", |(_, value)| value)
        };
        if let Some((cookie, _)) = header("set-cookie").split_once(';') {
            cookie.clone_into(&mut self.cookie);
        }
        Ok(Response {
            location: header("location").to_owned(),
            body: serde_json::from_str(body).unwrap_or_default(),
        })
    }
}

//! A small HTTP/1.1 client with one persistent connection, on which tests control every byte.

use std::io::{self, BufReader, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use super::PATIENCE;
use super::wire::{self, Headers};

/// Status, headers and body of an answer.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Headers,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        wire::header(&self.headers, name)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text()))
    }
}

/// A connection to a service.
pub(crate) struct Client {
    reader: BufReader<TcpStream>,
    key: String,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr, key: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self { reader: BufReader::new(stream), key: key.to_owned() })
    }

    /// Sends the next requests with this key. Returns the key before.
    pub(crate) fn switch_key(&mut self, key: &str) -> String {
        std::mem::replace(&mut self.key, key.to_owned())
    }

    /// Sends the bytes unchanged.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    pub(crate) fn get(&mut self, path: &str) -> io::Result<Response> {
        self.request("GET", path, &[], None)
    }

    pub(crate) fn post(&mut self, path: &str, body: &Value) -> io::Result<Response> {
        self.request("POST", path, &[], Some(body))
    }

    pub(crate) fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> io::Result<Response> {
        self.send_request(method, path, headers, body)?;
        self.receive()
    }

    /// Sends a request and does not wait for the response.
    pub(crate) fn send_request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> io::Result<()> {
        let body = body.map(Value::to_string);
        let mut head = self.head(method, path, body.as_ref().map(String::len));
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        self.send(format!("{head}\r\n{}", body.unwrap_or_default()).as_bytes())
    }

    /// Builds the head of a request without its final empty line.
    pub(crate) fn head(&self, method: &str, path: &str, length: Option<usize>) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: test\r\n");
        if !self.key.is_empty() {
            head += &format!("Authorization: Bearer {}\r\n", self.key);
        }
        if let Some(length) = length {
            head += &format!("Content-Type: application/json\r\nContent-Length: {length}\r\n");
        }
        head
    }

    /// Reads one answer from the connection.
    pub(crate) fn receive(&mut self) -> io::Result<Response> {
        let status = wire::line(&mut self.reader)?;
        let code = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = code.ok_or_else(|| io::Error::other(format!("no status in {status:?}")))?;
        let headers = wire::headers(&mut self.reader)?;
        // These statuses never have a body.
        let body =
            if matches!(status, 100..=199 | 204 | 304) { vec![] } else { wire::body(&mut self.reader, &headers)? };
        Ok(Response { status, headers, body })
    }

    /// Returns all items of a list, across its pages.
    pub(crate) fn all(&mut self, path: &str) -> Vec<Value> {
        let join = if path.contains('?') { '&' } else { '?' };
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let response = self.get(&format!("{path}{join}limit=100{cursor}")).unwrap();
            assert_eq!(response.status, 200, "{}", response.text());
            let page = response.json();
            all.extend(page["data"].as_array().unwrap().clone());
            if page["has_more"] != Value::Bool(true) {
                return all;
            }
            cursor = format!("&cursor={}", page["next_cursor"].as_str().unwrap());
        }
    }
}

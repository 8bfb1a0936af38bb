//! Single requests to the service, whose rate does not matter.

use crate::Result;
use candor_domain::id::EmployeeId;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use ureq::Agent;
use ureq::http::Request;

pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

/// An API key of an organization, and the address of the service.
#[derive(Debug, Clone)]
pub(crate) struct Api {
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
}

/// A person and a key of their organization. Observations about the person are created with this key.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) key: String,
    pub(crate) id: EmployeeId,
}

impl Api {
    pub(crate) fn get(&self, path: &str) -> Result<Value> {
        Ok(self.exchange("GET", path, "application/json", "")?.1)
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        Ok(self.exchange(method, path, "application/json", &body.to_string())?.1)
    }

    /// Creates a resource and returns its id.
    pub(crate) fn create(&self, path: &str, body: &Value) -> Result<String> {
        let response = self.send("POST", path, body)?;
        Ok(response["id"].as_str().ok_or_else(|| format!("{path} answered without an id: {response}"))?.to_owned())
    }

    pub(crate) fn create_person(&self) -> Result<Person> {
        let body = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Example"});
        Ok(Person { key: self.key.clone(), id: self.create("/v1/employees", &body)?.parse()? })
    }

    /// Uploads a file of people. Returns the seconds of the request and its answer.
    pub(crate) fn upload(&self, file: &str) -> Result<(f64, Value)> {
        self.exchange("POST", "/v1/employees/csv", "text/csv", file)
    }

    /// Reads a response of lines until its end or until `most` has passed. Returns the last line that was read.
    pub(crate) fn read_lines(&self, path: &str, most: Duration) -> Result<String> {
        let start = Instant::now();
        let request = Request::builder().uri(format!("http://{}{path}", self.address));
        let request = request.header("authorization", format!("Bearer {}", self.key)).body(())?;
        let response = agent().run(request)?;
        if !response.status().is_success() {
            return Err(format!("{path} answered {}", response.status()).into());
        }
        let mut lines = BufReader::new(response.into_body().into_reader());
        let (mut line, mut last) = (vec![], vec![]);
        while start.elapsed() < most && lines.read_until(b'\n', &mut line)? > 0 {
            (line, last) = (last, line);
            line.clear();
        }
        Ok(String::from_utf8(last)?)
    }

    fn exchange(&self, method: &str, path: &str, content_type: &str, body: &str) -> Result<(f64, Value)> {
        let request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        let request = request.header("authorization", format!("Bearer {}", self.key));
        let request = if method == "GET" { request } else { request.header("content-type", content_type) };
        let start = Instant::now();
        let mut response = agent().run(request.body(body.to_owned())?)?;
        let text = response.body_mut().read_to_string()?;
        let seconds = start.elapsed().as_secs_f64();
        if response.status().is_success() {
            return Ok((seconds, serde_json::from_str(&text)?));
        }
        Err(format!("{method} {path} answered {}: {text}", response.status()).into())
    }
}

fn agent() -> Agent {
    let settings = Agent::config_builder().timeout_global(Some(TIMEOUT)).http_status_as_error(false);
    // A proxy of this machine does not know its loopback addresses.
    settings.proxy(None).build().new_agent()
}

//! A client that chooses its requests by a seed, and records when they began and ended.

use std::io;

use candor_test_histories::{NEVER, Operation};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use serde_json::Value;

use super::fleet::Fleet;
use crate::support::{Client, Response};

/// One request in this number is sent by a client that leaves before the response.
const LEAVE: usize = 64;
/// One request in this number goes to another instance than the one before.
const SWITCH: usize = 8;

/// A request of a client.
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    pub(super) path: String,
    pub(super) headers: Vec<(&'a str, String)>,
    pub(super) body: Option<Value>,
}

impl Request<'_> {
    pub(super) fn get(path: String) -> Self {
        Self { method: "GET", path, headers: vec![], body: None }
    }

    pub(super) fn post(path: &str, body: Value) -> Self {
        Self { method: "POST", path: path.to_owned(), headers: vec![], body: Some(body) }
    }

    pub(super) fn patch(path: String, body: Value) -> Self {
        Self { method: "PATCH", path, headers: vec![], body: Some(body) }
    }
}

impl<'a> Request<'a> {
    pub(super) fn with(mut self, name: &'a str, value: Option<String>) -> Self {
        self.headers.extend(value.map(|value| (name, value)));
        self
    }
}

/// A client with a connection to one of the instances.
pub(super) struct Actor<'a> {
    pub(super) fleet: &'a Fleet,
    number: usize,
    random: Xoshiro256PlusPlus,
    instance: usize,
    connection: Option<Client>,
}

impl<'a> Actor<'a> {
    pub(super) fn new(fleet: &'a Fleet, number: usize) -> Self {
        // Clients of neighbouring seeds make different choices.
        let random = Xoshiro256PlusPlus::seed_from_u64(fleet.seed.wrapping_mul(1000).wrapping_add(number as u64));
        Self { fleet, number, random, instance: number, connection: None }
    }

    /// Returns a number below `bound`.
    pub(super) fn draw(&mut self, bound: usize) -> usize {
        usize::try_from(self.random.next_u64() % bound as u64).unwrap()
    }

    /// Returns the number of the client.
    pub(super) const fn number(&self) -> usize {
        self.number
    }

    /// A third of the clients has a proxy that breaks responses.
    const fn is_spoiled(&self) -> bool {
        self.number.is_multiple_of(3)
    }

    /// Sends a request and records it with the answer that `read` finds in the response. A lost connection and an error
    /// of the server are an unknown result, and so is the refusal by the proxy.
    pub(super) fn send<C, A>(
        &mut self,
        call: C,
        request: &Request<'_>,
        read: impl FnOnce(&Response) -> A,
    ) -> Operation<C, A> {
        self.fleet.wait_for_turn();
        let is_leaving = self.draw(LEAVE) == 0;
        if self.draw(SWITCH) == 0 {
            self.connection = None;
            self.instance += 1;
        }
        let mut connection = self.connect();
        let began = self.fleet.tick();
        let result = self.fleet.count(|| exchange(&mut connection, request, is_leaving));
        let http_response = result.ok();
        let response =
            http_response.as_ref().filter(|http_response| !matches!(http_response.status, 429 | 502..)).map(read);
        let end_tick = self.fleet.tick();
        if http_response.is_some() && !self.is_spoiled() {
            self.connection = Some(connection);
        }
        let last_tick = if response.is_some() { end_tick } else { NEVER };
        Operation { client: self.number, began, ended: last_tick, call, response }
    }

    /// Returns the connection, or a new one to the next instance that runs.
    fn connect(&mut self) -> Client {
        if let Some(connection) = self.connection.take() {
            return connection;
        }
        loop {
            let routes = self.fleet.routes(self.instance);
            let address = if self.is_spoiled() { routes.spoiler } else { routes.front };
            if let Ok(connection) = Client::connect(address, &self.fleet.key) {
                return connection;
            }
            self.instance += 1;
        }
    }
}

fn exchange(connection: &mut Client, request: &Request<'_>, is_leaving: bool) -> io::Result<Response> {
    let headers: Vec<_> = request.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    if is_leaving {
        connection.send_request(request.method, &request.path, &headers, request.body.as_ref())?;
        return Err(io::ErrorKind::ConnectionAborted.into());
    }
    connection.request(request.method, &request.path, &headers, request.body.as_ref())
}

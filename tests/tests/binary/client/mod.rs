//! The client library for Rust against the built binary, on the embedded database.

mod errors;
mod events;
mod exports;
mod faults;
mod generated;
mod operations;
mod readme;
mod settings;
mod webhooks;

use candor_client::types::EmployeeCreate;
use candor_client::{Candor, ClientBuilder, Error};

use crate::support::{Installation, Key, Service};

/// A running service with an admin key.
struct Fixture {
    service: Service,
    key: Key,
    _installation: Installation,
}

impl Fixture {
    fn start() -> Self {
        let installation = Installation::sqlite()
            .with("CANDOR_WEBHOOKS_TRUSTED_TARGETS", "127.0.0.0/8")
            .with("CANDOR_CONSOLE", "on");
        let key = installation.key("*", &["--admin"]);
        Self { service: Service::serve(&installation), key, _installation: installation }
    }

    fn url(&self) -> String {
        format!("http://{}", self.service.address)
    }

    fn builder(&self) -> ClientBuilder {
        Candor::builder().api_key(&self.key.secret).base_url(self.url())
    }

    fn client(&self) -> Candor {
        self.builder().build().unwrap()
    }
}

async fn hire(client: &Candor, number: usize) -> Result<String, Error> {
    let email = format!("p{number}@example.com");
    Ok(client.employees().create(EmployeeCreate::new(email, "P", number.to_string())).await?.email)
}

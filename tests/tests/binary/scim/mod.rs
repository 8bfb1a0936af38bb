//! Identity providers at the SCIM endpoints of the built binary.

mod arrival;
mod check;
mod guide;
mod okta;

use serde_json::json;

use crate::support::{Client, Installation, Key, Service, candor};

/// A service with a connector and its token.
struct Provider {
    service: Service,
    admin: Key,
    connector: String,
    token: String,
}

impl Provider {
    fn new(place: &Installation) -> Self {
        let admin = place.key("*", &["--admin"]);
        let create = ["connector", "create", "--kind", "scim", "--org", &admin.organization];
        let connector_json = candor(place, &[&create[..], &["--source", "okta", "--json"]].concat()).json();
        let text = |member: &str| connector_json[member].as_str().unwrap().to_owned();
        let (connector, token) = (text("id"), text("token"));
        Self { service: Service::serve(place), admin, connector, token }
    }

    fn administrator(&self) -> Client {
        self.service.client(&self.admin.secret)
    }

    /// Creates a person without a connector and returns the id.
    fn employee(&self, email: &str) -> String {
        let body = json!({"email": email, "first_name": "Ada", "last_name": "Lovelace"});
        let response = self.administrator().post("/v1/employees", &body).unwrap();
        assert_eq!(response.status, 201, "{}", response.text());
        response.json()["id"].as_str().unwrap().to_owned()
    }

    fn url(&self) -> String {
        format!("http://{}", self.service.address)
    }
}

//! `candor connector check`: sends the requests of an identity provider and judges the responses.

use std::time::Duration;

use candor_client::{Candor, ClientBuilder, Error as ClientError, Method};
use candor_port_clock::{SystemIds, random32};
use serde_json::{Value, json};

use crate::arguments::ConnectorCheck;
use crate::error::{CommandError, CommandFailure};
use crate::output::{Output, table};
use crate::remote::{API_KEY, Account};

/// Time limit for one request.
const PATIENCE: Duration = Duration::from_secs(30);
/// Media type of SCIM.
const SCIM: &str = "application/scim+json";
/// Schema of a list.
const LIST: &str = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
/// Schema of a user.
const USER: &str = "urn:ietf:params:scim:schemas:core:2.0:User";
const PATCH: &str = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
/// Schema of the body of an error.
const ERROR: &str = "urn:ietf:params:scim:api:messages:2.0:Error";

/// Failures of the check.
#[derive(Debug, thiserror::Error)]
enum CheckError {
    #[error(
        "cannot create a person with a token of the live data set: people stay in its history; set {API_KEY} to a \
         token of `candor key create --test`, or leave out --write"
    )]
    LiveToken,
    #[error("{failed} of {all} requests had the wrong response; see the list above")]
    Wrong { failed: usize, all: usize },
}

impl CommandFailure for CheckError {}

/// Response of the service: its status, media type and body.
struct ServiceResponse {
    status: u16,
    media_type: String,
    body: Value,
}

/// A request and the problem of its response, if there is one.
struct Step {
    request: String,
    problem: Option<String>,
}

/// Sends the requests and prints a line for each.
///
/// # Errors
/// `CheckError` for wrong responses, and with `--write` for a token of the live data set; see `Account::find`.
pub async fn run(check: ConnectorCheck, output: Output) -> Result<(), CommandError> {
    let mut choice = check.account;
    choice.url = choice.url.map(|url| url.trim_end_matches('/').trim_end_matches("/scim/v2").to_owned());
    let account = Account::find(choice)?;
    if check.write && !account.key().is_test() {
        return Err(CheckError::LiveToken.into());
    }
    let random = random32(&SystemIds::default())
        .map_err(|error| CommandError::Defect { what: "create a name", reason: error.to_string() })?;
    let unknown: String = random.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let provider = Provider::new(&account)?;
    let mut steps = vec![
        provider.step("GET", "/Users?startIndex=1&count=2", None, first_page).await,
        provider.step("GET", &by_user_name(&unknown), None, |response| matches(response, 0)).await,
        provider
            .step("GET", &format!("/Users?filter=externalId eq \"{unknown}\""), None, |response| {
                matches(response, 0)
            })
            .await,
        provider.step("GET", "/ServiceProviderConfig", None, offers_patch).await,
        provider.step("GET", "/Schemas", None, list).await,
        provider.step("GET", &format!("/Users/{unknown}"), None, |response| has_status(response, 404)).await,
    ];
    if check.write {
        provider.write(&unknown, &mut steps).await;
    }
    let failure_count = steps.iter().filter(|step| step.problem.is_some()).count();
    let rows: Vec<_> = steps
        .iter()
        .map(|step| vec![step.request.clone(), step.problem.clone().unwrap_or_else(|| "good".to_owned())])
        .collect();
    let object: Vec<_> =
        steps.iter().map(|step| json!({"request": step.request, "problem": step.problem})).collect();
    output.say(&json!({"data": object, "failed": failure_count}), &table(&rows))?;
    match failure_count {
        0 => Ok(()),
        failure_count => Err(CheckError::Wrong { failed: failure_count, all: steps.len() }.into()),
    }
}

/// Client of the SCIM endpoints.
struct Provider {
    candor: Candor,
}

impl Provider {
    fn new(account: &Account) -> Result<Self, CommandError> {
        let set = |builder: ClientBuilder| builder.timeout(PATIENCE).max_retries(0);
        Ok(Self { candor: account.client_with("candor-connector-check", set)? })
    }

    async fn send(&self, method: &Method, path: &str, body: Option<&Value>) -> Result<ServiceResponse, String> {
        // The paths of the client are below /v1.
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = self.candor.request(method.clone(), &format!("/../scim/v2{path}"));
        let query = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut request = query.fold(request, |request, (name, value)| request.query(name, value));
        if let Some(body) = body {
            request = request.body(SCIM, body.to_string());
        }
        let (status, headers, bytes) = match request.send().await {
            Ok(response) => (response.status, response.headers, response.data),
            Err(ClientError::Api(error)) => (error.status, error.headers, error.body),
            Err(error) => return Err(error.to_string()),
        };
        let media_type = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Ok(ServiceResponse { status: status.as_u16(), media_type: media_type.to_owned(), body })
    }

    /// Sends one request and judges the response.
    async fn step(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        judge: impl Fn(&ServiceResponse) -> Result<(), String>,
    ) -> Step {
        self.step_with_response(method, path, body, judge).await.0
    }

    async fn step_with_response(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        judge: impl Fn(&ServiceResponse) -> Result<(), String>,
    ) -> (Step, Value) {
        let verb = Method::from_bytes(method.as_bytes()).unwrap_or(Method::GET);
        let request = format!("{method} {path}");
        match self.send(&verb, path, body).await {
            Err(problem) => (Step { request, problem: Some(problem) }, Value::Null),
            Ok(response) => {
                let problem = scim_form(&response).and_then(|()| judge(&response)).err();
                (Step { request, problem }, response.body)
            }
        }
    }

    /// Creates a person, deactivates them as Entra ID does, reactivates them as Okta does, and removes them.
    async fn write(&self, name: &str, steps: &mut Vec<Step>) {
        let user = json!({
            "schemas": [USER], "userName": user_name(name), "externalId": name, "active": true,
            "name": {"givenName": "Candor", "familyName": "Check"},
            "emails": [{"value": user_name(name), "type": "work", "primary": true}],
        });
        let was_created = |response: &ServiceResponse| has_status(response, 201);
        let (step, body) = self.step_with_response("POST", "/Users", Some(&user), was_created).await;
        let is_created = step.problem.is_none();
        steps.push(step);
        let Some(id) = body["id"].as_str().filter(|_| is_created) else { return };
        let path = format!("/Users/{id}");
        let deactivation =
            json!({"schemas": [PATCH], "Operations": [{"op": "Replace", "path": "active", "value": "False"}]});
        steps.push(self.step("POST", "/Users", Some(&user), |response| has_status(response, 409)).await);
        steps.push(self.step("GET", &by_user_name(name), None, |response| matches(response, 1)).await);
        steps.push(self.step("PATCH", &path, Some(&deactivation), |response| is_active(response, false)).await);
        steps.push(self.step("PUT", &path, Some(&user), |response| is_active(response, true)).await);
        steps.push(self.step("DELETE", &path, None, |response| has_status(response, 204)).await);
        steps.push(self.step("GET", &path, None, |response| has_status(response, 404)).await);
    }
}

fn user_name(name: &str) -> String {
    format!("{name}@example.com")
}

/// Returns the path with which providers look for a person before they create one.
fn by_user_name(name: &str) -> String {
    format!("/Users?filter=userName eq \"{}\"", user_name(name))
}

/// Checks the media type of a response with a body, and the form of an error.
fn scim_form(response: &ServiceResponse) -> Result<(), String> {
    let ServiceResponse { status, media_type, body } = response;
    if *status != 204 && !media_type.starts_with(SCIM) {
        return Err(format!("status {status}: the media type is {media_type:?} instead of {SCIM}"));
    }
    // The status of SCIM's errors is a text.
    let has_status = body["status"].as_str() == Some(status.to_string().as_str());
    let is_error = body["schemas"] == json!([ERROR]) && has_status;
    if *status < 400 || is_error {
        return Ok(());
    }
    Err(format!("status {status}: the body is not an error of SCIM with this status as text"))
}

fn has_status(response: &ServiceResponse, wanted: u16) -> Result<(), String> {
    if response.status == wanted {
        return Ok(());
    }
    let detail = response.body["detail"].as_str().unwrap_or("no detail");
    Err(format!("status {} instead of {wanted}: {detail}", response.status))
}

fn list(response: &ServiceResponse) -> Result<(), String> {
    has_status(response, 200)?;
    let is_list = response.body["schemas"] == json!([LIST]) && response.body["totalResults"].is_u64();
    if is_list { Ok(()) } else { Err("the body is not a ListResponse with a number in totalResults".to_owned()) }
}

fn first_page(response: &ServiceResponse) -> Result<(), String> {
    list(response)?;
    let total = response.body["totalResults"].as_u64().unwrap_or_default();
    let row_count = response.body["Resources"].as_array().map_or(0, Vec::len);
    match usize::try_from(total.min(2)) {
        Ok(wanted) if wanted == row_count => Ok(()),
        _ => Err(format!("a page of 2 has {row_count} people instead of {}, of {total} in total", total.min(2))),
    }
}

fn matches(response: &ServiceResponse, wanted: u64) -> Result<(), String> {
    list(response)?;
    let total = &response.body["totalResults"];
    if *total == wanted { Ok(()) } else { Err(format!("the filter matches {total} people instead of {wanted}")) }
}

fn offers_patch(response: &ServiceResponse) -> Result<(), String> {
    has_status(response, 200)?;
    let is_offered = response.body["patch"]["supported"] == true;
    if is_offered { Ok(()) } else { Err("patch.supported is not true".to_owned()) }
}

fn is_active(response: &ServiceResponse, wanted: bool) -> Result<(), String> {
    has_status(response, 200)?;
    let active = &response.body["active"];
    if *active == wanted { Ok(()) } else { Err(format!("active is {active} instead of {wanted}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, body: Value) -> ServiceResponse {
        ServiceResponse { status, media_type: format!("{SCIM};charset=utf-8"), body }
    }

    fn page(total: u64, shown: usize) -> ServiceResponse {
        response(200, json!({"schemas": [LIST], "totalResults": total, "Resources": vec![json!({}); shown]}))
    }

    #[test]
    fn page_has_as_many_people_as_the_total_allows() {
        for (total, shown, is_good) in [(0, 0, true), (1, 1, true), (9, 2, true), (9, 3, false), (1, 0, false)] {
            assert_eq!(first_page(&page(total, shown)).is_ok(), is_good, "{shown} of {total}");
        }
        assert!(matches(&page(0, 0), 0).is_ok() && matches(&page(1, 1), 0).is_err());
        assert!(list(&response(200, json!({"schemas": [LIST], "totalResults": "1"}))).is_err());
    }

    #[test]
    fn response_in_another_form_is_refused() {
        let plain = ServiceResponse { media_type: "application/json".to_owned(), ..response(200, Value::Null) };
        assert!(scim_form(&plain).is_err());
        assert!(scim_form(&ServiceResponse { media_type: String::new(), ..response(204, Value::Null) }).is_ok());
        let error = has_status(&response(401, json!({"detail": "The key is revoked."})), 200).unwrap_err();
        assert_eq!(error, "status 401 instead of 200: The key is revoked.");
        assert!(is_active(&response(200, json!({"active": "False"})), false).is_err());
        let number = response(404, json!({"schemas": [ERROR], "status": 404}));
        let text = response(404, json!({"schemas": [ERROR], "status": "404"}));
        assert!(scim_form(&number).is_err() && scim_form(&text).is_ok());
        assert!(offers_patch(&response(200, json!({"patch": {"supported": true}}))).is_ok());
    }
}

//! The request of `candor api`, from its arguments.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use candor_client::{Candor, Method, RawRequest};
use serde::de::IgnoredAny;
use serde_json::Value;
use url::form_urlencoded;

use super::field;
use crate::arguments::{ApiMethod, ApiRequest};
use crate::error::CommandError;
use crate::remote::RemoteError;

const JSON: &str = "application/json";
const CSV: &str = "text/csv";
/// File argument that means standard input.
const STANDARD_INPUT: &str = "-";

/// The checked request of `candor api`, sent once or once per page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    method: Method,
    /// Path below `/v1`, without a leading slash.
    path: String,
    query: Vec<(String, String)>,
    /// Content type and bytes.
    body: Option<(&'static str, Vec<u8>)>,
    idempotency_key: Option<String>,
}

impl Call {
    /// Checks the arguments, and reads the body.
    ///
    /// # Errors
    /// [`RemoteError::Usage`] if arguments conflict or are invalid; [`CommandError::Io`] if the body cannot be read.
    pub(super) fn new(request: ApiRequest) -> Result<Self, CommandError> {
        let ApiRequest { method, path, query, fields, input, dry_run, idempotency_key } = request;
        let has_body = matches!(method, ApiMethod::Post | ApiMethod::Put | ApiMethod::Patch);
        let usage = |message: &str| Err(RemoteError::Usage(message.to_owned()).into());
        if dry_run && method == ApiMethod::Get {
            return usage("--dry-run is for writes: a GET changes nothing");
        }
        if input.is_some() && !has_body {
            return usage("--input is for POST, PUT and PATCH: a GET or DELETE has parameters, as -q NAME=VALUE");
        }
        if idempotency_key.is_some() && method != ApiMethod::Post {
            return usage("--idempotency-key is for POST: repetitions of other methods have no second effect");
        }
        let (path, mut parameters) = split_path(&path)?;
        parameters.extend(field::parameters(query)?);
        let mut body = None;
        if !has_body {
            parameters.extend(field::parameters(fields)?);
        } else if let Some(file) = input {
            body = Some(read(&file, &path)?);
        } else if !fields.is_empty() {
            body = Some((JSON, Value::Object(field::object(fields)?).to_string().into_bytes()));
        }
        if dry_run {
            parameters.push(("dry_run".to_owned(), "true".to_owned()));
        }
        let method = match method {
            ApiMethod::Get => Method::GET,
            ApiMethod::Post => Method::POST,
            ApiMethod::Put => Method::PUT,
            ApiMethod::Patch => Method::PATCH,
            ApiMethod::Delete => Method::DELETE,
        };
        Ok(Self { method, path, query: parameters, body, idempotency_key })
    }

    /// Checks that the method is GET, because only lists have pages.
    ///
    /// # Errors
    /// [`RemoteError::Usage`] for another method.
    pub(super) fn check_pages(&self) -> Result<(), RemoteError> {
        if self.method == Method::GET {
            return Ok(());
        }
        Err(RemoteError::Usage("--paginate is for GET: only lists have pages".to_owned()))
    }

    /// Creates the HTTP request. With `cursor`, the request reads the page of a list that begins at the cursor, which
    /// replaces the parameters `cursor` and `since` of the command line.
    pub(super) fn request(&self, candor: &Candor, cursor: Option<&str>) -> RawRequest {
        let mut request = candor.request(self.method.clone(), &self.path);
        for (name, value) in &self.query {
            if cursor.is_none() || (name != "cursor" && name != "since") {
                request = request.query(name, value);
            }
        }
        if let Some(cursor) = cursor {
            request = request.query("cursor", cursor);
        }
        if let Some((kind, bytes)) = &self.body {
            request = request.body(kind, bytes.clone());
        }
        match &self.idempotency_key {
            Some(key) => request.idempotency_key(key),
            None => request,
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} /{}", self.method, self.path)
    }
}

/// Splits the argument PATH into the path below `/v1` and the query parameters behind `?`.
fn split_path(path: &str) -> Result<(String, Vec<(String, String)>), RemoteError> {
    let (place, query) = path.split_once('?').unwrap_or((path, ""));
    let place = place.trim_start_matches('/');
    let place = place.strip_prefix("v1/").unwrap_or(place);
    let is_odd = |letter: char| letter == '#' || letter.is_whitespace() || letter.is_control();
    if place.is_empty() || place.contains("://") || place.contains(is_odd) {
        let remedy = "expected a path below /v1, such as employees; the URL is that of the profile or --url";
        return Err(RemoteError::Usage(format!("PATH is {path:?}: {remedy}")));
    }
    Ok((place.to_owned(), form_urlencoded::parse(query.as_bytes()).into_owned().collect()))
}

/// Reads the body from a file or standard input. Checks that the body is JSON, unless the path ends with `/csv`.
fn read(file: &Path, path: &str) -> Result<(&'static str, Vec<u8>), CommandError> {
    let bytes = if file.as_os_str() == STANDARD_INPUT {
        let mut bytes = Vec::new();
        let all = io::stdin().lock().read_to_end(&mut bytes);
        all.map_err(CommandError::io("read", "standard input")).map(|_| bytes)?
    } else {
        std::fs::read(file).map_err(CommandError::io("read", file))?
    };
    if path.ends_with("/csv") {
        return Ok((CSV, bytes));
    }
    let wrong = |error| RemoteError::Usage(format!("the body in {} is not JSON: {error}", file.display()));
    serde_json::from_slice::<IgnoredAny>(&bytes).map_err(wrong)?;
    Ok((JSON, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: ApiMethod, path: &str) -> ApiRequest {
        let (query, fields) = (vec![], vec![]);
        ApiRequest {
            method,
            path: path.to_owned(),
            query,
            fields,
            input: None,
            dry_run: false,
            idempotency_key: None,
        }
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn path_is_accepted_with_and_without_version() {
        for path in ["employees", "/employees", "/v1/employees", "v1/employees"] {
            assert_eq!(split_path(path).unwrap(), ("employees".to_owned(), vec![]), "{path}");
        }
        let (place, query) = split_path("/v1/employees/emp_1?filter[a]=x%20y&limit=5").unwrap();
        assert_eq!((place.as_str(), query), ("employees/emp_1", pairs(&[("filter[a]", "x y"), ("limit", "5")])));
        for path in ["", "/", "v1/", "https://a.example/v1/employees", "employees#x", "a b", "a\nb"] {
            assert!(split_path(path).unwrap_err().to_string().contains("below /v1"), "{path:?}");
        }
    }

    #[test]
    fn fields_are_the_query_of_a_read_and_the_body_of_a_write() {
        let field = |text: &str| text.parse().unwrap();
        let make = |method, dry_run| {
            let (query, fields) = (vec![field("a=b")], vec![field("limit:=5")]);
            Call::new(ApiRequest { query, fields, dry_run, ..request(method, "x?y=z") }).unwrap()
        };
        let get = make(ApiMethod::Get, false);
        assert_eq!((get.query, get.body), (pairs(&[("y", "z"), ("a", "b"), ("limit", "5")]), None));
        for method in [ApiMethod::Post, ApiMethod::Put, ApiMethod::Patch] {
            let write = make(method, true);
            assert_eq!(write.query, pairs(&[("y", "z"), ("a", "b"), ("dry_run", "true")]));
            assert_eq!(write.body, Some((JSON, b"{\"limit\":5}".to_vec())));
        }
        let bare = Call::new(request(ApiMethod::Post, "employees/emp_1/deactivate")).unwrap();
        assert_eq!((bare.to_string().as_str(), bare.body), ("POST /employees/emp_1/deactivate", None));
    }

    #[test]
    fn flags_of_another_method_are_refused() {
        let error_of = |request| Call::new(request).unwrap_err().to_string();
        let get = || request(ApiMethod::Get, "employees");
        assert!(error_of(ApiRequest { dry_run: true, ..get() }).contains("--dry-run is for writes"));
        assert!(error_of(ApiRequest { input: Some("x".into()), ..get() }).contains("--input is for POST"));
        let patch = request(ApiMethod::Patch, "employees/emp_1");
        let key = Some("x".to_owned());
        assert!(error_of(ApiRequest { idempotency_key: key, ..patch }).contains("--idempotency-key is for POST"));
        let delete = Call::new(request(ApiMethod::Delete, "webhooks/whk_1")).unwrap();
        assert!(delete.check_pages().unwrap_err().to_string().contains("--paginate is for GET"));
    }
}

//! Calls of generated operations, with their query, body and path.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;
use crate::generated::tables::KEYED_FILTERS;
use crate::generated::types::{CsvReport, DryRun};
use crate::request::{Core, Options, Spec, header_setters, limit_setters};
use crate::response::ApiResponse;

const CSV: &str = "text/csv";
/// Characters that are percent-encoded in a path: all except letters, digits, `-`, `_`, `.` and `~`.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A call that is sent when it is awaited. Awaiting it returns the body of the response.
///
/// `D` is the type of the body that a dry run returns. An operation without a dry run has the type `()` and no
/// method `dry_run`.
#[must_use = "a call is sent when it is awaited"]
pub struct Call<T, D = ()> {
    core: Arc<Core>,
    spec: Spec,
    options: Options,
    data: PhantomData<fn() -> (T, D)>,
}

impl<T, D> Call<T, D> {
    pub(crate) fn new(core: &Arc<Core>, spec: Spec) -> Self {
        Self { core: Arc::clone(core), spec, options: Options::default(), data: PhantomData }
    }

    header_setters!();

    /// Sets the ETag of the version to change; the call fails if the resource has another version.
    pub fn if_match(mut self, etag: impl Into<String>) -> Self {
        self.options.if_match = Some(etag.into());
        self
    }

    /// Sets the ETag of a known version; the call fails with [`Error::NotModified`] if the resource still has this
    /// version.
    pub fn if_none_match(mut self, etag: impl Into<String>) -> Self {
        self.options.if_none_match = Some(etag.into());
        self
    }

    limit_setters!();
}

impl<T> Call<T, DryRun> {
    /// Turns the call into a dry run, which returns the effects of the write and changes nothing.
    pub fn dry_run(self) -> Call<DryRun> {
        self.into_preview()
    }
}

impl<T> Call<T, CsvReport> {
    /// Turns the call into a dry run, which returns the effects of the file and changes nothing.
    pub fn dry_run(self) -> Call<CsvReport> {
        self.into_preview()
    }
}

impl<T, D> Call<T, D> {
    fn into_preview(mut self) -> Call<D> {
        self.spec.query.push(("dry_run".to_owned(), "true".to_owned()));
        Call { core: self.core, spec: self.spec, options: self.options, data: PhantomData }
    }
}

impl<T: DeserializeOwned, D> Call<T, D> {
    /// Sends the call, and returns the body together with status, headers, request id and quota.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn with_response(self) -> Result<ApiResponse<T>, Error> {
        self.core.send(&self.spec, &self.options).await?.json()
    }
}

impl<T: DeserializeOwned + Send + 'static, D: 'static> IntoFuture for Call<T, D> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(self.with_response().await?.data) })
    }
}

impl<T, D> fmt::Debug for Call<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.spec.method, self.spec.path)
    }
}

impl Spec {
    pub(crate) fn optional_json(self, body: &Option<impl Serialize>) -> Self {
        match body {
            Some(body) => self.json(body),
            None => self,
        }
    }

    pub(crate) fn csv(mut self, text: String) -> Self {
        self.body = Some((CSV, text.into()));
        self
    }

    /// Adds the members of `query` as parameters. A list whose member is in `joined` becomes one parameter with
    /// commas, another list one parameter for each element.
    pub(crate) fn query(mut self, query: &impl Serialize, joined: &[&str]) -> Self {
        match serde_json::to_value(query) {
            Ok(members) => add_query(&mut self.query, &members, joined),
            Err(error) => self.problem = Some(format!("The query cannot be written: {error}.")),
        }
        self
    }
}

/// Encodes an id for a path.
pub(crate) fn segment(id: &str) -> String {
    utf8_percent_encode(id, SEGMENT).to_string()
}

fn add_query(pairs: &mut Vec<(String, String)>, members: &Value, joined: &[&str]) {
    for (name, value) in members.as_object().into_iter().flatten() {
        match value {
            Value::Array(elements) if joined.contains(&name.as_str()) => {
                pairs.push((name.clone(), elements.iter().map(plain).collect::<Vec<_>>().join(",")));
            }
            Value::Object(conditions) => {
                for (field, condition) in conditions {
                    add_condition(pairs, name, field, condition);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                add(pairs, name, value);
            }
        }
    }
}

/// Adds a filter as parameters such as `filter[status]`, `filter[updated_at][gte]`, `filter[custom_fields.city]`.
fn add_condition(pairs: &mut Vec<(String, String)>, name: &str, field: &str, condition: &Value) {
    let Value::Object(parts) = condition else { return add(pairs, &format!("{name}[{field}]"), condition) };
    for (key, part) in parts {
        let name = if KEYED_FILTERS.contains(&field) {
            format!("{name}[{field}.{key}]")
        } else {
            format!("{name}[{field}][{key}]")
        };
        add(pairs, &name, part);
    }
}

fn add(pairs: &mut Vec<(String, String)>, name: &str, value: &Value) {
    match value {
        Value::Null => {}
        Value::Array(elements) => elements.iter().for_each(|element| add(pairs, name, element)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            pairs.push((name.to_owned(), plain(value)));
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

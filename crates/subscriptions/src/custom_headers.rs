//! Custom headers of a subscription, such as the `Authorization` of a gateway. Their values are secrets.

use std::collections::BTreeMap;

use candor_domain::fields::Fields;
use candor_domain::json::Value;
use candor_domain::problem::{Code, ValidationErrors, ValueError};
use candor_domain::rule::{self, Field, Shape};
use candor_domain::secret::Secret;
use candor_domain::text::check_length;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// Maximum number of custom headers of one subscription.
pub const MAX_HEADERS: usize = 10;
/// Length of the longest name, in characters.
pub const HEADER_NAME_CHARS: usize = 64;
/// Length of the longest value, in characters.
pub const HEADER_VALUE_CHARS: usize = 1024;

/// Number of characters at the end of a value that answers show.
const SHOWN_CHARS: usize = 4;
/// Minimum length of a value of which answers show some characters: more characters stay secret than are shown.
const SHOWN_FROM_CHARS: usize = 2 * SHOWN_CHARS + 1;
/// Sign in front of the shown characters. It is not ASCII, so a masked value cannot become a value.
const MASK: char = '…';

/// Names that the service or the connection sets.
const RESERVED_NAMES: &[&str] = &[
    "accept-encoding",
    "connection",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];
/// Beginnings of the names that the service or the connection sets.
const RESERVED_PREFIXES: &[&str] = &["content-", "proxy-", "webhook-", "x-service-"];

/// A custom header in its stored form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedHeader {
    /// The value as answers show it: `…` and its last four characters, or only `…` if it is short.
    pub masked: String,
    /// The value, sealed by the key ring of the service.
    pub sealed: Vec<u8>,
}

/// The custom headers of a subscription by their lower-case names. The JSON form has the masked values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CustomHeaders(pub BTreeMap<String, SealedHeader>);

impl Serialize for CustomHeaders {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, header)| (name, &header.masked)))
    }
}

impl JsonSchema for CustomHeaders {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CustomHeaders".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object", "additionalProperties": {"type": "string"}})
    }
}

/// The change of one custom header in a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderChange {
    /// Sets the header to this value.
    Set(Secret),
    /// Removes the header of this name.
    Remove,
    /// Keeps the header, which must have this masked value. Clients may send back what an answer showed (decision
    /// A7).
    Keep(String),
}

/// Changes of custom headers by lower-case name.
pub type HeaderPatch = BTreeMap<String, HeaderChange>;

/// Changes of custom headers with sealed values; `None` removes the header.
pub type SealedHeaderPatch = BTreeMap<String, Option<SealedHeader>>;

impl CustomHeaders {
    /// Returns the headers with a patch applied.
    #[must_use]
    pub fn apply_patch(&self, patch: SealedHeaderPatch) -> Self {
        let mut headers = self.0.clone();
        for (name, header) in patch {
            match header {
                Some(header) => headers.insert(name, header),
                None => headers.remove(&name),
            };
        }
        Self(headers)
    }

    /// Returns the headers with `…` in place of each value, for the audit log and for events, which other
    /// subscriptions get.
    #[must_use]
    pub fn without_values(&self) -> Self {
        let mask_header = |header: &SealedHeader| SealedHeader { masked: MASK.into(), ..header.clone() };
        Self(self.0.iter().map(|(name, header)| (name.clone(), mask_header(header))).collect())
    }

    /// Requires that a patch sets or removes each header: stored values must not be sent to a new destination.
    pub(super) fn require_anew(&self, patch: &HeaderPatch, fields: &mut Fields) {
        for name in self.0.keys() {
            if matches!(patch.get(name), None | Some(HeaderChange::Keep(_))) {
                let message = "must be given again for the new destination, or be null";
                fields.problem(&format!("headers.{name}"), ValueError::new(Code::Required, message));
            }
        }
    }

    /// Checks that masked values in a patch are those of the headers, and that the patch leaves at most `MAX_HEADERS`
    /// headers.
    pub(super) fn check_patch(&self, patch: &HeaderPatch, fields: &mut Fields) {
        for (name, change) in patch {
            let HeaderChange::Keep(masked) = change else { continue };
            if self.0.get(name).is_none_or(|header| header.masked != *masked) {
                let flaw = ValueError::format("the whole value; this is the masked form of an answer");
                fields.problem(&format!("headers.{name}"), flaw);
            }
        }
        let remaining_count = self.0.keys().filter(|name| !patch.contains_key(*name)).count();
        if remaining_count + patch.values().filter(|change| **change != HeaderChange::Remove).count() > MAX_HEADERS
        {
            let message = format!("must have at most {MAX_HEADERS} names");
            fields.problem("headers", ValueError::new(Code::TooLong, message));
        }
    }
}

/// Returns a value as answers show it.
#[must_use]
pub fn mask_value(value: &Secret) -> String {
    let text = value.reveal();
    let visible_end = if text.len() < SHOWN_FROM_CHARS { "" } else { &text[text.len() - SHOWN_CHARS..] };
    format!("{MASK}{visible_end}")
}

/// Checks a name, which is in lower case.
fn check_name(name: &str) -> Result<(), ValueError> {
    check_length(name, 1..=HEADER_NAME_CHARS)
        .map_err(|flaw| ValueError { message: format!("the name {}", flaw.message), ..flaw })?;
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)) {
        return Err(ValueError::format("named with letters, digits and characters of !#$%&'*+-.^_`|~ only"));
    }
    let is_reserved =
        RESERVED_NAMES.contains(&name) || RESERVED_PREFIXES.iter().any(|part| name.starts_with(part));
    if is_reserved {
        let message = "is set by the service or the connection; choose another name, such as authorization";
        return Err(ValueError::new(Code::ReadOnly, message));
    }
    Ok(())
}

/// Parses a value: null removes the header, and a masked value keeps it. Any other value has visible ASCII characters
/// with spaces between them, because line ends would add headers.
fn parse_value(value: &Value) -> Result<HeaderChange, ValueError> {
    let text = match value {
        Value::Null => return Ok(HeaderChange::Remove),
        Value::Text(text) if text.starts_with(MASK) => return Ok(HeaderChange::Keep(text.clone())),
        Value::Text(text) => text,
        Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Object(_) => {
            return Err(ValueError::format(format!("a string or null, not {}", value.kind())));
        }
    };
    check_length(text, 1..=HEADER_VALUE_CHARS)?;
    if text.starts_with(' ') || text.ends_with(' ') || !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err(ValueError::format("visible ASCII characters, with spaces only between them"));
    }
    Ok(HeaderChange::Set(Secret::new(text.clone())))
}

/// The rule for the member `headers` of a body. Problems name the header.
#[derive(Clone, Copy)]
pub(super) struct Rule;

impl rule::Rule for Rule {
    type Value = Result<HeaderPatch, ValidationErrors>;

    fn parse(&self, value: &Value) -> Result<Self::Value, ValueError> {
        Ok(parse(value))
    }

    fn shape(&self) -> Shape {
        Shape::TextMap { max: MAX_HEADERS, key_chars: HEADER_NAME_CHARS, value_chars: HEADER_VALUE_CHARS }
    }
}

/// Reads the member `headers`. Without it there are no changes.
pub(super) fn read(fields: &mut Fields, field: &Field<Rule>) -> HeaderPatch {
    match fields.present(field) {
        Some(Ok(patch)) => patch,
        Some(Err(problems)) => {
            fields.problems(problems);
            HeaderPatch::new()
        }
        None => HeaderPatch::new(),
    }
}

fn parse(value: &Value) -> Result<HeaderPatch, ValidationErrors> {
    let Value::Object(members) = value else {
        let flaw = ValueError::format(format!("an object, not {}", value.kind()));
        return Err(ValidationErrors::one("headers", flaw));
    };
    let (mut patch, mut problems) = (HeaderPatch::new(), ValidationErrors::none());
    for (name, value) in members {
        let (field, name) = (format!("headers.{name}"), name.to_ascii_lowercase());
        if let Err(flaw) = check_name(&name) {
            problems.add(field, flaw);
        } else if let Some(change) = problems.take(&field, parse_value(value))
            && patch.insert(name, change).is_some()
        {
            problems.add(field, ValueError::format("given only once; upper and lower case are equal"));
        }
    }
    problems.or(patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_text(text: &str) -> Result<HeaderPatch, Vec<(String, Code)>> {
        parse(&serde_json::from_str(text).unwrap()).map_err(|problems| {
            problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
        })
    }

    fn secret(text: &str) -> Secret {
        Secret::new(text.to_owned())
    }

    #[test]
    fn header_names_are_read_in_lower_case() {
        let patch = parse_text(r#"{"Authorization":"Bearer a b","X-Old":null}"#);
        let bearer = HeaderChange::Set(secret("Bearer a b"));
        let expected_changes = [("authorization".to_owned(), bearer), ("x-old".to_owned(), HeaderChange::Remove)];
        assert_eq!(patch, Ok(expected_changes.into()));
    }

    #[test]
    fn invalid_header_is_refused_by_name() {
        let (name, value) = ("n".repeat(64), "v".repeat(1024));
        assert!(parse_text(&format!(r#"{{"{name}":"{value}"}}"#)).is_ok());
        for (body, field, code) in [
            (format!(r#"{{"{name}n":"v"}}"#), format!("headers.{name}n"), Code::TooLong),
            (format!(r#"{{"k":"{value}v"}}"#), "headers.k".to_owned(), Code::TooLong),
            (r#"{"":"v"}"#.to_owned(), "headers.".to_owned(), Code::TooShort),
            (r#"{"k":""}"#.to_owned(), "headers.k".to_owned(), Code::TooShort),
            (r#"{"a b":"v"}"#.to_owned(), "headers.a b".to_owned(), Code::InvalidFormat),
            (r#"{"é":"v"}"#.to_owned(), "headers.é".to_owned(), Code::InvalidFormat),
            (r#"{"a:":"v"}"#.to_owned(), "headers.a:".to_owned(), Code::InvalidFormat),
            (r#"{"k":1}"#.to_owned(), "headers.k".to_owned(), Code::InvalidFormat),
            (r#"{"k":"é"}"#.to_owned(), "headers.k".to_owned(), Code::InvalidFormat),
            (r#"{"k":"a\r\nHost: b"}"#.to_owned(), "headers.k".to_owned(), Code::InvalidFormat),
            (r#"{"k":"a\tb"}"#.to_owned(), "headers.k".to_owned(), Code::InvalidFormat),
            (r#"{"k":" a"}"#.to_owned(), "headers.k".to_owned(), Code::InvalidFormat),
            (r#"{"k":"a "}"#.to_owned(), "headers.k".to_owned(), Code::InvalidFormat),
            (r#"{"K":"a","k":"b"}"#.to_owned(), "headers.k".to_owned(), Code::InvalidFormat),
            (r#"{"Host":"a"}"#.to_owned(), "headers.Host".to_owned(), Code::ReadOnly),
            (r#"{"Content-Type":"a"}"#.to_owned(), "headers.Content-Type".to_owned(), Code::ReadOnly),
            (r#"{"webhook-id":null}"#.to_owned(), "headers.webhook-id".to_owned(), Code::ReadOnly),
            (r#"{"X-Service-Event":"a"}"#.to_owned(), "headers.X-Service-Event".to_owned(), Code::ReadOnly),
            ("[]".to_owned(), "headers".to_owned(), Code::InvalidFormat),
        ] {
            assert_eq!(parse_text(&body).unwrap_err(), [(field, code)], "{body:.40}");
        }
    }

    #[test]
    fn every_reserved_header_is_refused() {
        let names_with_prefix = RESERVED_PREFIXES.iter().map(|prefix| format!("{prefix}x"));
        for name in RESERVED_NAMES.iter().map(|name| (*name).to_owned()).chain(names_with_prefix) {
            assert_eq!(check_name(&name).unwrap_err().code, Code::ReadOnly, "{name}");
        }
        assert_eq!(check_name("authorization"), Ok(()));
    }

    #[test]
    fn masked_value_keeps_its_header_only() {
        assert_eq!(mask_value(&secret("Bearer 9abc")), "…9abc");
        assert_eq!(mask_value(&secret("key-9abc")), "…");
        let patch = parse_text(r#"{"k":"…9abc"}"#).unwrap();
        assert_eq!(patch["k"], HeaderChange::Keep("…9abc".to_owned()));
        let problems = |masked: &str| {
            let header = SealedHeader { masked: masked.to_owned(), sealed: vec![] };
            let mut fields = Fields::new(serde_json::from_str("{}").unwrap());
            CustomHeaders([("k".to_owned(), header)].into()).check_patch(&patch, &mut fields);
            fields.finish(Some(())).map_err(|problems| problems.as_slice()[0].code)
        };
        assert_eq!((problems("…9abc"), problems("…")), (Ok(()), Err(Code::InvalidFormat)));
    }

    #[test]
    fn json_form_has_masked_values_only() {
        let header = SealedHeader { masked: "…9abc".to_owned(), sealed: b"sealed".to_vec() };
        let headers = CustomHeaders([("authorization".to_owned(), header)].into());
        assert_eq!(serde_json::to_string(&headers).unwrap(), r#"{"authorization":"…9abc"}"#);
        assert_eq!(serde_json::to_string(&headers.without_values()).unwrap(), r#"{"authorization":"…"}"#);
    }
}

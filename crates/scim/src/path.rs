//! Attribute paths of SCIM (RFC 7644 §3.5.2 and §3.10), in the forms that identity providers send.
//!
//! A path names an attribute of a schema: `userName`, `name.givenName`, `emails[type eq "work"].value`,
//! `urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager.value`. A URN has dots of its own, so a
//! path is divided at a dot only behind its last colon.

use super::error::{ScimError, ScimErrorType};
use super::filter::{self, Comparison};
use super::schemas::{self, CORE, ENTERPRISE};

/// Length of the longest path and filter, in bytes.
pub const MAX_PATH_BYTES: usize = 4096;

/// The schema of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScimSchema {
    /// The core schema of a user.
    Core,
    /// The enterprise extension of a user.
    Enterprise,
    /// An extension that Candor does not model, with its URN as sent.
    Other(String),
}

impl ScimSchema {
    /// Returns the URN of the schema.
    #[must_use]
    pub fn urn(&self) -> &str {
        match self {
            Self::Core => CORE,
            Self::Enterprise => ENTERPRISE,
            Self::Other(urn) => urn,
        }
    }

    fn from_urn(urn: &str) -> Self {
        if urn.eq_ignore_ascii_case(CORE) {
            Self::Core
        } else if urn.eq_ignore_ascii_case(ENTERPRISE) {
            Self::Enterprise
        } else {
            Self::Other(urn.to_owned())
        }
    }
}

/// A parsed path. Names of known attributes have their canonical case.
#[derive(Debug, Clone, PartialEq)]
pub struct ScimPath {
    /// The schema of the attribute.
    pub schema: ScimSchema,
    /// The attribute; `None` if the path names a whole schema.
    pub attribute: Option<String>,
    /// Conditions in brackets, which select entries of a multi-valued attribute.
    pub conditions: Option<Vec<Comparison>>,
    /// Name of the sub-attribute.
    pub sub: Option<String>,
}

impl ScimPath {
    /// Parses a path.
    ///
    /// # Errors
    /// `invalidPath` for a malformed path, `invalidFilter` for malformed conditions.
    pub fn parse(text: &str) -> Result<Self, ScimError> {
        Self::parse_below(None, text.trim())
    }

    /// Parses the name of a member of a schema's object, which may have a sub-attribute and conditions.
    pub(super) fn parse_in(schema: &ScimSchema, text: &str) -> Result<Self, ScimError> {
        // A plain name belongs to the extension, because its attributes may have the names of core attributes.
        let is_own = *schema != ScimSchema::Core && !is_urn(text);
        Self::parse_below(is_own.then_some(schema), text.trim())
    }

    /// Parses a path. An attribute belongs to `schema`; without one, the path may begin with a URN.
    fn parse_below(schema: Option<&ScimSchema>, text: &str) -> Result<Self, ScimError> {
        let plain = |text: &str| match schema {
            Some(schema) => parse_attribute(Some(schema.clone()), text).ok_or_else(|| invalid_path(text)),
            None => parse_plain(text),
        };
        if text.len() > MAX_PATH_BYTES {
            return Err(invalid(&format!("The path must have at most {MAX_PATH_BYTES} bytes.")));
        }
        let Some(open) = text.find('[') else { return plain(text) };
        let (head, rest) = text.split_at(open);
        let inner = rest.get(1..).unwrap_or_default();
        let close = closing_bracket(inner).ok_or_else(|| invalid_path(text))?;
        let (conditions, tail) = (&inner[..close], &inner[close + 1..]);
        let path = plain(head)?;
        if path.attribute.is_none() || path.sub.is_some() {
            return Err(invalid_path(text));
        }
        let sub = match tail.strip_prefix('.') {
            Some(sub) if is_name(sub) => Some(schemas::canonical_sub(sub)),
            Some(_) => return Err(invalid_path(text)),
            None if tail.is_empty() => None,
            None => return Err(invalid_path(text)),
        };
        Ok(Self { conditions: Some(filter::parse_conditions(conditions)?), sub, ..path })
    }

    /// Returns the path of a whole extension that Candor does not model.
    pub(super) fn extension(urn: &str) -> Self {
        whole(ScimSchema::Other(urn.to_owned()))
    }

    /// Returns the URN of another extension that the path may mean instead of an attribute. If a URN does not end
    /// in `:User`, the text alone does not decide between the two.
    pub(super) fn possible_urn(&self) -> Option<String> {
        let Self { schema: ScimSchema::Other(urn), attribute: Some(attribute), conditions: None, sub } = self
        else {
            return None;
        };
        Some(match sub {
            Some(sub) => format!("{urn}:{attribute}.{sub}"),
            None => format!("{urn}:{attribute}"),
        })
    }
}

/// Returns `true` if a URN ends like the URN of an extension of users.
fn is_user_urn(urn: &str) -> bool {
    urn.rsplit_once(':').is_some_and(|(_, last)| last.eq_ignore_ascii_case("user"))
}

/// Returns `true` if the name of a member is the URN of an extension that Candor does not model. `is_object` is `true`
/// if the value of the member is an object; `is_known` returns `true` for the URN of an extension of the document.
pub(super) fn is_extension(name: &str, is_object: bool, is_known: impl Fn(&str) -> bool) -> bool {
    let is_modeled = [CORE, ENTERPRISE]
        .iter()
        .any(|known| name.get(..known.len()).is_some_and(|prefix| prefix.eq_ignore_ascii_case(known)));
    let Some((prefix, _)) = name.rsplit_once(':').filter(|_| is_urn(name) && !is_modeled) else { return false };
    let is_attribute = is_known(prefix) || is_user_urn(prefix) || prefix.eq_ignore_ascii_case("urn");
    is_known(name) || (is_object && !is_attribute)
}

fn is_urn(text: &str) -> bool {
    text.trim().get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case("urn:"))
}

/// Returns the position of the bracket that ends the conditions, outside of quoted text.
fn closing_bracket(text: &str) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ']' if !is_quoted => return Some(at),
            _ => {}
        }
    }
    None
}

/// Parses a path without conditions.
fn parse_plain(text: &str) -> Result<ScimPath, ScimError> {
    if !is_urn(text) {
        return parse_attribute(None, text).ok_or_else(|| invalid_path(text));
    }
    for known in [CORE, ENTERPRISE] {
        let Some(prefix) = text.get(..known.len()).filter(|prefix| prefix.eq_ignore_ascii_case(known)) else {
            continue;
        };
        let schema = ScimSchema::from_urn(prefix);
        return match text[known.len()..].strip_prefix([':', '.']) {
            Some(attribute) => parse_attribute(Some(schema), attribute).ok_or_else(|| invalid_path(text)),
            None if text.len() == known.len() => Ok(whole(schema)),
            None => Err(invalid_path(text)),
        };
    }
    let Some((urn, attribute)) = text.rsplit_once(':') else { return Err(invalid_path(text)) };
    if is_user_urn(text) {
        return Ok(whole(ScimSchema::Other(text.to_owned())));
    }
    if urn.eq_ignore_ascii_case("urn") || urn.is_empty() {
        return Err(invalid_path(text));
    }
    parse_attribute(Some(ScimSchema::Other(urn.to_owned())), attribute).ok_or_else(|| invalid_path(text))
}

const fn whole(schema: ScimSchema) -> ScimPath {
    ScimPath { schema, attribute: None, conditions: None, sub: None }
}

/// Parses `attribute` or `attribute.sub`; returns `None` for a malformed text. Without a schema, a name of the
/// enterprise extension belongs to that schema.
fn parse_attribute(schema: Option<ScimSchema>, text: &str) -> Option<ScimPath> {
    let (attribute, sub) = match text.split_once('.') {
        Some((attribute, sub)) => (attribute, Some(sub)),
        None => (text, None),
    };
    if !is_name(attribute) || sub.is_some_and(|sub| !is_name(sub)) {
        return None;
    }
    let (schema, attribute) = match schema {
        Some(ScimSchema::Other(urn)) => (ScimSchema::Other(urn), attribute.to_owned()),
        Some(ScimSchema::Enterprise) => schemas::canonical_enterprise(attribute),
        Some(ScimSchema::Core) | None => schemas::canonical(attribute),
    };
    Some(ScimPath { schema, attribute: Some(attribute), conditions: None, sub: sub.map(schemas::canonical_sub) })
}

/// Returns `true` for the name of an attribute or sub-attribute, such as `userName` and `$ref`.
pub(super) fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$');
    !text.is_empty() && text.bytes().all(is_part)
}

fn invalid(detail: &str) -> ScimError {
    ScimError::new(ScimErrorType::InvalidPath, detail)
}

fn invalid_path(text: &str) -> ScimError {
    let excerpt: String = text.chars().take(200).collect();
    let example = r#"`name.givenName` or `emails[type eq "work"].value`"#;
    ScimError::new(
        ScimErrorType::InvalidPath,
        format!("`{excerpt}` is not a path. Send a path such as {example}."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<(String, Option<String>, usize, Option<String>)> {
        let path = ScimPath::parse(text).ok()?;
        let conditions = path.conditions.map_or(0, |conditions| conditions.len());
        Some((path.schema.urn().to_owned(), path.attribute, conditions, path.sub))
    }

    #[test]
    fn path_is_divided_into_schema_attribute_and_sub_attribute() {
        let other = "urn:ietf:params:scim:schemas:extension:acme:2.0:User";
        let table = [
            ("userName", CORE, "userName", 0, None),
            ("USERNAME", CORE, "userName", 0, None),
            (" name.givenname ", CORE, "name", 0, Some("givenName")),
            ("nickNames", CORE, "nickNames", 0, None),
            (r#"emails[type eq "work"].value"#, CORE, "emails", 1, Some("value")),
            (r#"emails[type EQ "work" And primary eq true]"#, CORE, "emails", 2, None),
            (r#"emails[type eq "a]b\"]"].value"#, CORE, "emails", 1, Some("value")),
            (&format!("{CORE}:userName"), CORE, "userName", 0, None),
            (&format!("{CORE}:name.familyName"), CORE, "name", 0, Some("familyName")),
            (&format!("{ENTERPRISE}:manager"), ENTERPRISE, "manager", 0, None),
            (&format!("{ENTERPRISE}.manager"), ENTERPRISE, "manager", 0, None),
            (&format!("{}:Manager.Value", ENTERPRISE.to_uppercase()), ENTERPRISE, "manager", 0, Some("value")),
            (&format!("{ENTERPRISE}:manager.$ref"), ENTERPRISE, "manager", 0, Some("$ref")),
            ("manager", ENTERPRISE, "manager", 0, None),
            ("department", ENTERPRISE, "department", 0, None),
            (&format!("{other}:badge"), other, "badge", 0, None),
            (&format!("{other}:desk.floor"), other, "desk", 0, Some("floor")),
            (&format!(r#"{other}:desks[type eq "x:y"].floor"#), other, "desks", 1, Some("floor")),
        ];
        for (text, urn, attribute, conditions, sub) in table {
            let expected_parts = (urn.to_owned(), Some(attribute.to_owned()), conditions, sub.map(str::to_owned));
            assert_eq!(parts(text), Some(expected_parts), "{text}");
        }
        let own = ScimPath::parse_in(&ScimSchema::Other(other.to_owned()), "department").unwrap();
        assert_eq!((own.schema.urn(), own.attribute.as_deref()), (other, Some("department")));
        for urn in [CORE, ENTERPRISE, other] {
            assert_eq!(parts(urn), Some((urn.to_owned(), None, 0, None)), "{urn}");
        }
    }

    #[test]
    fn malformed_path_is_refused() {
        let bad = [
            "",
            " ",
            ".",
            "a.",
            ".a",
            "a..b",
            "a.b.c",
            "a b",
            "emails[",
            "emails]",
            r#"emails[type eq "work""#,
            r#"emails[type eq "work"]value"#,
            r#"emails[type eq "work"]."#,
            r#"emails[type eq "work"].a.b"#,
            r#"emails.value[type eq "work"]"#,
            "urn:",
            "urn:x",
            "urn:x:",
            "é",
            "a/b",
        ];
        for text in bad {
            let error = ScimPath::parse(text).unwrap_err();
            assert_eq!(error.kind, Some(ScimErrorType::InvalidPath), "{text}");
        }
        assert!(ScimPath::parse(&"a".repeat(MAX_PATH_BYTES + 1)).is_err());
        for text in ["emails[]", "emails[type]", r#"emails[type co "work"]"#, "emails[type eq work]"] {
            let error = ScimPath::parse(text).unwrap_err();
            assert_eq!(error.kind, Some(ScimErrorType::InvalidFilter), "{text}");
        }
    }
}

//! Selection of attributes of a response: `attributes` and `excludedAttributes` (RFC 7644 §3.9).

use candor_forms::json::{Object, Value};

use super::error::ScimError;
use super::path::ScimPath;

/// Maximum number of names of a selection.
const MOST_PATHS: usize = 100;
/// Members that every resource has.
const ALWAYS: [&str; 2] = ["schemas", "id"];

/// The attributes of a response.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Projection {
    /// All attributes of the resource.
    #[default]
    All,
    /// Only these attributes, with `schemas` and `id`.
    Only(Vec<ScimPath>),
    /// All attributes but these.
    Without(Vec<ScimPath>),
}

fn paths(name: &str, text: &str) -> Result<Vec<ScimPath>, ScimError> {
    // The number of paths is limited, because each path is compared with each member of each resource.
    if text.split(',').count() > MOST_PATHS {
        return Err(ScimError::value(format!(
            "`{name}` has more than {MOST_PATHS} names. Select fewer attributes."
        )));
    }
    Ok(text.split(',').filter_map(|name| ScimPath::parse(name).ok()).collect())
}

impl Projection {
    /// Reads the parameters `attributes` and `excludedAttributes`. With both, only `attributes` counts. Names that are
    /// no attributes are ignored.
    ///
    /// # Errors
    /// `invalidValue` for more than 100 names.
    pub fn parse(attributes: Option<&str>, excluded: Option<&str>) -> Result<Self, ScimError> {
        let paths_of = |name, text: Option<&str>| {
            text.filter(|text| !text.trim().is_empty()).map(|text| paths(name, text)).transpose()
        };
        Ok(match (paths_of("attributes", attributes)?, paths_of("excludedAttributes", excluded)?) {
            (Some(only), _) => Self::Only(only),
            (None, Some(without)) => Self::Without(without),
            (None, None) => Self::All,
        })
    }

    /// Returns the number of names, each of which is compared with the members of a resource.
    #[must_use]
    pub const fn names(&self) -> usize {
        match self {
            Self::All => 0,
            Self::Only(paths) | Self::Without(paths) => paths.len(),
        }
    }

    /// Returns the selected attributes of a resource.
    #[must_use]
    pub fn apply(&self, resource: Object) -> Object {
        match self {
            Self::All => resource,
            Self::Only(paths) => resource.into_iter().filter_map(|member| keep(member, paths)).collect(),
            Self::Without(paths) => resource.into_iter().filter_map(|member| omit(member, paths)).collect(),
        }
    }
}

/// Returns `true` if a path names an attribute of the section: the core schema or the extension with this URN.
fn is_in(path: &ScimPath, urn: Option<&str>) -> bool {
    match urn {
        Some(urn) => path.schema.urn().eq_ignore_ascii_case(urn),
        None => path.schema == super::ScimSchema::Core,
    }
}

fn is_whole(path: &ScimPath) -> bool {
    path.attribute.is_none()
}

/// Returns `true` if a path names the extension with this URN as a whole.
fn names_extension(path: &ScimPath, urn: &str) -> bool {
    let is_urn = |text: String| text.eq_ignore_ascii_case(urn);
    (is_whole(path) && is_in(path, Some(urn))) || path.possible_urn().is_some_and(is_urn)
}

fn names(path: &ScimPath, name: &str) -> bool {
    path.attribute.as_deref().is_some_and(|attribute| attribute.eq_ignore_ascii_case(name))
}

/// Applies `change` to a value, or to each entry of an array.
fn each_object(value: Value, change: &dyn Fn(Object) -> Object) -> Value {
    match value {
        Value::Object(members) => Value::Object(change(members)),
        Value::List(items) => Value::List(items.into_iter().map(|item| each_object(item, change)).collect()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_)) => other,
    }
}

fn keep((name, value): (String, Value), paths: &[ScimPath]) -> Option<(String, Value)> {
    if ALWAYS.contains(&name.as_str()) {
        return Some((name, value));
    }
    if !name.contains(':') {
        let is_core = paths.iter().any(|path| is_whole(path) && is_in(path, None));
        return if is_core { Some((name, value)) } else { keep_attribute((name, value), paths, None) };
    }
    if paths.iter().any(|path| names_extension(path, &name)) {
        return Some((name, value));
    }
    each_member((name, value), |member, urn| keep_attribute(member, paths, Some(urn)))
}

/// Applies `change` to the attributes of an extension. An extension without attributes is dropped.
fn each_member(
    (urn, value): (String, Value),
    change: impl Fn((String, Value), &str) -> Option<(String, Value)>,
) -> Option<(String, Value)> {
    let Value::Object(members) = value else { return None };
    let remaining_members: Object = members.into_iter().filter_map(|member| change(member, &urn)).collect();
    if remaining_members.is_empty() { None } else { Some((urn, Value::Object(remaining_members))) }
}

fn keep_attribute(
    (name, value): (String, Value),
    paths: &[ScimPath],
    urn: Option<&str>,
) -> Option<(String, Value)> {
    let matching_paths: Vec<_> = paths.iter().filter(|path| is_in(path, urn) && names(path, &name)).collect();
    if matching_paths.is_empty() {
        return None;
    }
    if matching_paths.iter().any(|path| path.sub.is_none()) {
        return Some((name, value));
    }
    let is_wanted = |member: &str| {
        matching_paths.iter().any(|path| path.sub.as_deref().is_some_and(|sub| sub.eq_ignore_ascii_case(member)))
    };
    let select = |members: Object| members.into_iter().filter(|(member, _)| is_wanted(member)).collect();
    Some((name, each_object(value, &select)))
}

fn omit((name, value): (String, Value), paths: &[ScimPath]) -> Option<(String, Value)> {
    if ALWAYS.contains(&name.as_str()) {
        return Some((name, value));
    }
    if !name.contains(':') {
        return omit_attribute((name, value), paths, None);
    }
    if paths.iter().any(|path| names_extension(path, &name)) {
        return None;
    }
    each_member((name, value), |member, urn| omit_attribute(member, paths, Some(urn)))
}

fn omit_attribute(
    (name, value): (String, Value),
    paths: &[ScimPath],
    urn: Option<&str>,
) -> Option<(String, Value)> {
    let matching_paths: Vec<_> = paths.iter().filter(|path| is_in(path, urn) && names(path, &name)).collect();
    if matching_paths.iter().any(|path| path.sub.is_none()) {
        return None;
    }
    let is_named = |member: &str| {
        matching_paths.iter().any(|path| path.sub.as_deref().is_some_and(|sub| sub.eq_ignore_ascii_case(member)))
    };
    let select = |members: Object| members.into_iter().filter(|(member, _)| !is_named(member)).collect();
    Some((name, each_object(value, &select)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str = r#"{"schemas":["s"],"id":"1","userName":"ada","name":{"givenName":"Ada","familyName":"L"},
        "emails":[{"value":"a@x","type":"work"}],
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User":{"department":"Care","costCenter":"7"},
        "meta":{"version":"1"}}"#;

    fn apply_projection(attributes: Option<&str>, excluded: Option<&str>) -> String {
        let user: Object = serde_json::from_str(USER).unwrap();
        let projected_user = Projection::parse(attributes, excluded).unwrap().apply(user);
        let names = projected_user.iter().map(|(name, value)| match value {
            Value::Object(members) => {
                let inner: Vec<_> = members.iter().map(|(name, _)| name.as_str()).collect();
                format!("{}({})", name.rsplit(':').next().unwrap_or(name), inner.join(","))
            }
            Value::List(items) => match items.first() {
                Some(Value::Object(members)) => format!("{name}[{}]", members.iter().count()),
                _ => name.clone(),
            },
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => name.clone(),
        });
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn selected_attributes_keep_id_and_schemas() {
        let enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
        let table = [
            ("userName", "schemas id userName"),
            ("USERNAME, name.givenname", "schemas id userName name(givenName)"),
            ("emails.value", "schemas id emails[1]"),
            ("department", "schemas id User(department)"),
            (&format!("{enterprise}:costCenter"), "schemas id User(costCenter)"),
            (enterprise, "schemas id User(department,costCenter)"),
            ("nothing", "schemas id"),
        ];
        for (attributes, wanted) in table {
            assert_eq!(apply_projection(Some(attributes), Some("userName")), wanted, "{attributes}");
        }
    }

    #[test]
    fn selection_of_over_100_names_is_refused() {
        let names = |count: usize| vec!["userName"; count].join(",");
        assert!(Projection::parse(Some(&names(100)), None).is_ok());
        for (only, without) in [(Some(names(101)), None), (None, Some(names(101)))] {
            assert!(Projection::parse(only.as_deref(), without.as_deref()).is_err());
        }
    }

    #[test]
    fn excluded_attributes_are_absent() {
        let all =
            "schemas id userName name(givenName,familyName) emails[2] User(department,costCenter) meta(version)";
        assert_eq!(apply_projection(None, None), all);
        assert_eq!(apply_projection(Some(""), Some(" ")), all);
        let table = [
            ("id,schemas", all.to_owned()),
            ("emails", all.replace(" emails[2]", "")),
            ("emails.type", all.replace("[2]", "[1]")),
            ("name.familyName", all.replace(",familyName", "")),
            ("department", all.replace("department,", "")),
            ("meta", all.replace(" meta(version)", "")),
        ];
        for (excluded, wanted) in table {
            assert_eq!(apply_projection(None, Some(excluded)), wanted, "{excluded}");
        }
    }
}

//! Selection of attributes of a response: `attributes` and `excludedAttributes` (RFC 7644 §3.9).

use std::collections::{BTreeMap, BTreeSet};

use candor_forms::json::{Object, Value};

use super::error::ScimError;
use super::path::{ScimPath, ScimSchema};

/// Maximum number of names of a selection.
const MOST_PATHS: usize = 100;
/// Members that every resource has.
const ALWAYS: [&str; 2] = ["schemas", "id"];
/// Stands for the URN of the core schema, whose attributes are members of the resource itself.
const CORE: &str = "";

/// The attributes of a response.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Projection {
    /// All attributes of the resource.
    #[default]
    All,
    /// Only these attributes, with `schemas` and `id`.
    Only(Selection),
    /// All attributes but these.
    Without(Selection),
}

/// Names of attributes without case, by schema: the members of a resource are looked up in it, whatever their number.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// URNs of schemas that are named as a whole.
    whole: BTreeSet<String>,
    /// Attributes by URN and name, with the sub-attributes that are named; `None` for the whole attribute.
    attributes: BTreeMap<String, BTreeMap<String, Vec<Option<String>>>>,
}

impl Selection {
    fn parse(name: &str, text: &str) -> Result<Self, ScimError> {
        if text.split(',').count() > MOST_PATHS {
            return Err(ScimError::value(format!(
                "`{name}` has more than {MOST_PATHS} names. Select fewer attributes."
            )));
        }
        let mut selection = Self::default();
        text.split(',').filter_map(|name| ScimPath::parse(name).ok()).for_each(|path| selection.add(&path));
        Ok(selection)
    }

    fn add(&mut self, path: &ScimPath) {
        let urn = match path.schema {
            ScimSchema::Core => CORE.to_owned(),
            ScimSchema::Enterprise | ScimSchema::Other(_) => path.schema.urn().to_ascii_lowercase(),
        };
        self.whole.extend(path.possible_urn().map(|urn| urn.to_ascii_lowercase()));
        match &path.attribute {
            None => drop(self.whole.insert(urn)),
            Some(attribute) => {
                let subs = self.attributes.entry(urn).or_default().entry(attribute.to_ascii_lowercase());
                subs.or_default().push(path.sub.as_ref().map(|sub| sub.to_ascii_lowercase()));
            }
        }
    }

    /// Returns the sub-attributes that are named of an attribute; `None` if the attribute is not named.
    fn subs(&self, urn: &str, name: &str) -> Option<&[Option<String>]> {
        self.attributes.get(urn)?.get(&name.to_ascii_lowercase()).map(Vec::as_slice)
    }

    fn keep(&self, (name, value): (String, Value)) -> Option<(String, Value)> {
        if ALWAYS.contains(&name.as_str()) {
            return Some((name, value));
        }
        let urn = urn_of(&name);
        match self.whole.contains(&urn) {
            true => Some((name, value)),
            false if urn == CORE => self.keep_attribute((name, value), CORE),
            false => each_member((name, value), |member| self.keep_attribute(member, &urn)),
        }
    }

    fn keep_attribute(&self, (name, value): (String, Value), urn: &str) -> Option<(String, Value)> {
        let subs = self.subs(urn, &name)?;
        if subs.contains(&None) {
            return Some((name, value));
        }
        Some((name, each_object(value, &|member| is_named(subs, member))))
    }

    fn omit(&self, (name, value): (String, Value)) -> Option<(String, Value)> {
        if ALWAYS.contains(&name.as_str()) {
            return Some((name, value));
        }
        let urn = urn_of(&name);
        match urn.as_str() {
            CORE => self.omit_attribute((name, value), CORE),
            urn if self.whole.contains(urn) => None,
            urn => each_member((name, value), |member| self.omit_attribute(member, urn)),
        }
    }

    fn omit_attribute(&self, (name, value): (String, Value), urn: &str) -> Option<(String, Value)> {
        match self.subs(urn, &name) {
            None => Some((name, value)),
            Some(subs) if subs.contains(&None) => None,
            Some(subs) => Some((name, each_object(value, &|member| !is_named(subs, member)))),
        }
    }
}

impl Projection {
    /// Reads the parameters `attributes` and `excludedAttributes`. With both, only `attributes` counts. Names that are
    /// no attributes are ignored.
    ///
    /// # Errors
    /// `invalidValue` for more than 100 names.
    pub fn parse(attributes: Option<&str>, excluded: Option<&str>) -> Result<Self, ScimError> {
        let selection_of = |name, text: Option<&str>| {
            text.filter(|text| !text.trim().is_empty()).map(|text| Selection::parse(name, text)).transpose()
        };
        Ok(match (selection_of("attributes", attributes)?, selection_of("excludedAttributes", excluded)?) {
            (Some(only), _) => Self::Only(only),
            (None, Some(without)) => Self::Without(without),
            (None, None) => Self::All,
        })
    }

    /// Returns the selected attributes of a resource.
    #[must_use]
    pub fn apply(&self, resource: Object) -> Object {
        match self {
            Self::All => resource,
            Self::Only(selection) => resource.into_iter().filter_map(|member| selection.keep(member)).collect(),
            Self::Without(selection) => resource.into_iter().filter_map(|member| selection.omit(member)).collect(),
        }
    }
}

/// Returns the URN that a member of a resource is: an extension, or [`CORE`] for an attribute of the core schema.
fn urn_of(name: &str) -> String {
    if name.contains(':') { name.to_ascii_lowercase() } else { CORE.to_owned() }
}

fn is_named(subs: &[Option<String>], member: &str) -> bool {
    subs.iter().any(|sub| sub.as_deref().is_some_and(|sub| sub.eq_ignore_ascii_case(member)))
}

/// Keeps the members of a value, or of each entry of an array, for which `keep` returns `true`.
fn each_object(value: Value, keep: &dyn Fn(&str) -> bool) -> Value {
    match value {
        Value::Object(members) => Value::Object(members.into_iter().filter(|(name, _)| keep(name)).collect()),
        Value::List(items) => Value::List(items.into_iter().map(|item| each_object(item, keep)).collect()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_)) => other,
    }
}

/// Applies `change` to the attributes of an extension. An extension without attributes is dropped.
fn each_member(
    (urn, value): (String, Value),
    change: impl Fn((String, Value)) -> Option<(String, Value)>,
) -> Option<(String, Value)> {
    let Value::Object(members) = value else { return None };
    let remaining_members: Object = members.into_iter().filter_map(change).collect();
    if remaining_members.is_empty() { None } else { Some((urn, Value::Object(remaining_members))) }
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

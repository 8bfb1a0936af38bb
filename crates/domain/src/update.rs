//! Updates that are read before the stored resource is known.

use serde::Serialize;

use crate::fields::Fields;
use crate::json::{Object, Value};
use crate::problem::{Code, ValidationErrors, ValueError};

/// An update whose body was read once. Each attempt of a retried commit checks the update against the state that
/// is stored then.
#[derive(Debug, Clone)]
pub struct Update<P> {
    patch: P,
    /// Members that must have their stored value.
    fixed: Vec<(String, Value)>,
    /// Members of the body that no field has read.
    unknown: Vec<(String, Value)>,
    problems: ValidationErrors,
}

impl<P: Clone> Update<P> {
    /// Reads the fields of a body. Members named in `fixed` wait for [`Update::compare`].
    pub fn read(body: Object, fixed: &[&[&str]], read: impl FnOnce(&mut Fields) -> P) -> Self {
        let mut fields = Fields::new(body);
        let fixed_values =
            fixed.iter().copied().flatten().filter_map(|name| Some(((*name).to_owned(), fields.remove(name)?)));
        let fixed_members = fixed_values.collect();
        let patch = read(&mut fields);
        let (unknown, problems) = fields.into_unread();
        Self { patch, fixed: fixed_members, unknown, problems }
    }

    /// Returns the patch, and the fields with the problems found so far, for rules that need the stored resource.
    /// Fixed members may be sent with their stored value, so that clients can send back a resource as they read
    /// it. Another value is a problem (decision A7).
    pub fn compare<S: Serialize>(&self, stored: &S) -> (P, Fields) {
        let mut problems = ValidationErrors::none();
        let stored_value = if self.fixed.is_empty() { None } else { serde_json::to_value(stored).ok() };
        for (name, given) in &self.fixed {
            let value = stored_value.as_ref().and_then(|members| members.get(name));
            let is_equal =
                value.is_some_and(|value| serde_json::to_value(given).is_ok_and(|given| given == *value));
            if !is_equal {
                problems.add(name, ValueError::new(Code::ReadOnly, "cannot be changed"));
            }
        }
        problems.extend(self.problems.clone());
        let fields = Fields::from_unread(self.unknown.clone(), problems);
        (self.patch.clone(), fields)
    }

    /// Returns the patch of an update whose only rule about the stored resource is that fixed members keep their
    /// values.
    ///
    /// # Errors
    /// Returns every field that is invalid or that cannot be changed.
    pub fn finish<S: Serialize>(&self, stored: &S) -> Result<P, ValidationErrors> {
        let (patch, fields) = self.compare(stored);
        fields.finish(Some(patch))
    }
}

/// Writes the function `parse` of the body of a creation, from its function `read` and the fields that only the service
/// sets.
#[doc(hidden)]
#[macro_export]
macro_rules! __parse_new {
    ($body:ty, $read_only:expr) => {
        impl $body {
            /// Reads the body of a creation.
            ///
            /// # Errors
            /// One problem for each wrong field.
            pub fn parse(body: $crate::json::Object) -> Result<Self, $crate::problem::ValidationErrors> {
                $crate::fields::Fields::parse_new(body, $read_only, Self::read)
            }
        }
    };
}
pub use __parse_new as parse_new;

/// Writes the function `parse` of the body of an update, from its function `read` and the lists of members that must
/// have their stored values.
#[doc(hidden)]
#[macro_export]
macro_rules! __parse_update {
    ($body:ty, [$($fixed:expr),*]) => {
        impl $body {
            /// Reads the body of an update.
            #[must_use]
            pub fn parse(body: $crate::json::Object) -> $crate::update::Update<Self> {
                $crate::update::Update::read(body, &[$($fixed),*], Self::read)
            }
        }
    };
}
pub use __parse_update as parse_update;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Field, text};

    fn update(body: &str) -> Update<Option<String>> {
        let Ok(Value::Object(body)) = serde_json::from_str(body) else { panic!("not an object: {body}") };
        Update::read(body, &[&["id", "n"], &["at"]], |fields| fields.present(&Field::new("a", text(1..=5))))
    }

    #[test]
    fn stored_value_of_a_fixed_field_is_accepted() {
        let stored_state = |id: &str| serde_json::json!({"id": id, "n": 5, "at": null});
        let update = update(r#"{"id":"obs_1","n":5,"at":null,"a":"x"}"#);
        assert_eq!(update.finish(&stored_state("obs_1")), Ok(Some("x".to_owned())));
        let problems = update.finish(&stored_state("obs_2")).unwrap_err();
        let codes = problems.as_slice().iter().map(|problem| (problem.field.as_str(), problem.code));
        assert_eq!(codes.collect::<Vec<_>>(), [("id", Code::ReadOnly)]);
        assert_eq!(
            update.finish(&stored_state("obs_1")),
            Ok(Some("x".to_owned())),
            "the update stays as it was read"
        );
    }

    #[test]
    fn problem_of_an_update_is_reported_for_every_stored_state() {
        let update = update(r#"{"a":"","x":1}"#);
        for id in ["obs_1", "obs_2"] {
            let problems = update.finish(&serde_json::json!({"id": id})).unwrap_err();
            let codes = problems.as_slice().iter().map(|problem| (problem.field.as_str(), problem.code));
            assert_eq!(codes.collect::<Vec<_>>(), [("a", Code::TooShort), ("x", Code::UnknownField)]);
        }
    }
}

//! Problems of a request, collected per field so that one response lists them all (§7, decision A3).

use std::fmt;

use serde::Serialize;
use strum::VariantArray;

/// The reason why a field was refused; stable across versions (§7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The field is missing or null.
    Required,
    /// The text or list is shorter than allowed.
    TooShort,
    /// The text or list is longer than allowed.
    TooLong,
    /// The value has the wrong format or JSON type.
    InvalidFormat,
    /// The value is not one of the allowed words.
    InvalidEnum,
    /// The value is outside the bounds of a number, date or range.
    OutOfRange,
    /// The id does not exist in the organization.
    NotFoundInOrganization,
    /// An HR system owns this field.
    FieldManagedExternally,
    /// The body has a field that the endpoint does not know.
    UnknownField,
    /// A request cannot set or change the field.
    ReadOnly,
    /// The change would make an employee their own manager, directly or through others.
    ReportingCycle,
    /// The change would put too many managers above a person.
    TooDeep,
    /// The referenced resource is in a state that does not allow the request.
    InvalidState,
    /// The largest allowed number is reached.
    LimitReached,
    /// The person is not a participant of the conversation.
    NotAParticipant,
    /// The person is not a reviewer of the assignment.
    NotAReviewer,
    /// The operation does not support the field or parameter.
    NotPossible,
    /// The scope of the referenced objective is not wider.
    ScopeMismatch,
}

impl Code {
    /// Name of the set of codes in the OpenAPI document.
    pub const NAME: &str = "FieldErrorCode";
    /// Every code, for the OpenAPI document and tests.
    pub const ALL: &'static [Self] = Self::VARIANTS;
}

/// A problem with a value whose field is not known yet. Its text omits the value, which may be personal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ValueError {
    /// The stable code of the problem.
    pub code: Code,
    /// Message for people: the condition that the value must meet.
    pub message: String,
    /// The offending value, where the contract wants it in the response.
    pub value: Option<String>,
}

impl ValueError {
    /// Creates an error without the offending value.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), value: None }
    }

    /// Creates the error of a field that is missing or null.
    #[must_use]
    pub fn required() -> Self {
        Self::new(Code::Required, "is required")
    }

    /// Creates the error of a null in a field that may be absent but not null.
    #[must_use]
    pub fn not_null() -> Self {
        let text =
            "must not be null; omit the field: a PATCH then keeps its value, other requests take the default";
        Self::new(Code::Required, text)
    }

    /// Creates the error of a value with the wrong JSON type or format; `wanted` completes "must be".
    #[must_use]
    pub fn format(wanted: impl AsRef<str>) -> Self {
        Self::new(Code::InvalidFormat, format!("must be {}", wanted.as_ref()))
    }

    /// Creates the error of a value that is not one of `words`.
    #[must_use]
    pub fn one_of(words: &[&str]) -> Self {
        Self::new(Code::InvalidEnum, format!("must be one of: {}", words.join(", ")))
    }

    /// Creates the error of an id that does not exist in the organization. The error repeats the id.
    #[must_use]
    pub fn not_found(value: impl ToString) -> Self {
        let message = "does not exist in the organization".to_owned();
        Self { code: Code::NotFoundInOrganization, message, value: Some(value.to_string()) }
    }

    /// Returns the error as a problem of this field.
    #[must_use]
    pub fn in_field(self, field: impl Into<String>) -> FieldError {
        FieldError { field: field.into(), code: self.code, message: self.message, value: self.value }
    }
}

/// One entry of `error.details`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldError {
    /// Name of the body member or query parameter.
    pub field: String,
    /// The stable code of the problem.
    pub code: Code,
    /// Message for people: the condition that the value must meet.
    pub message: String,
    /// The offending value, for [`Code::NotFoundInOrganization`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

impl fmt::Display for FieldError {
    /// Writes field and message. The value is omitted because it may be personal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// Maximum number of collected problems. A request of 256 KiB can have 100,000 problems, whose list would be twelve
/// times as large as the request.
pub const MAX_PROBLEMS: usize = 100;

/// Problems in the order in which they were found. Problems beyond [`MAX_PROBLEMS`] are counted, but not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ValidationErrors {
    listed: Vec<FieldError>,
    #[serde(skip)]
    unlisted: usize,
}

impl std::error::Error for ValidationErrors {}

impl fmt::Display for ValidationErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.listed.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl ValidationErrors {
    /// Creates an empty collection.
    #[must_use]
    pub const fn none() -> Self {
        Self { listed: Vec::new(), unlisted: 0 }
    }

    /// Creates a collection with exactly one problem.
    #[must_use]
    pub fn one(field: impl Into<String>, flaw: ValueError) -> Self {
        Self { listed: vec![flaw.in_field(field)], unlisted: 0 }
    }

    /// Adds a problem of this field.
    pub fn add(&mut self, field: impl Into<String>, flaw: ValueError) {
        if self.listed.len() < MAX_PROBLEMS {
            self.listed.push(flaw.in_field(field));
        } else {
            self.unlisted += 1;
        }
    }

    /// Returns the value of `result`, or records its error as a problem of this field.
    pub fn take<T>(&mut self, field: &str, result: Result<T, ValueError>) -> Option<T> {
        result.map_err(|flaw| self.add(field, flaw)).ok()
    }

    /// Adds all problems of another collection.
    pub fn extend(&mut self, others: Self) {
        let room = MAX_PROBLEMS - self.listed.len();
        self.unlisted += others.unlisted + others.listed.len().saturating_sub(room);
        self.listed.extend(others.listed.into_iter().take(room));
    }

    /// Removes the problems of the fields for which `is_left_out` returns `true`.
    pub fn except(mut self, is_left_out: impl Fn(&str) -> bool) -> Self {
        self.listed.retain(|problem| !is_left_out(&problem.field));
        self
    }

    /// Returns the first [`MAX_PROBLEMS`] problems as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[FieldError] {
        &self.listed
    }

    /// Returns the number of problems beyond [`MAX_PROBLEMS`].
    #[must_use]
    pub const fn unlisted_count(&self) -> usize {
        self.unlisted
    }

    /// Returns `true` if there are no problems.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Prefixes the field of every problem with `name`, for problems within an object.
    #[must_use]
    pub fn prefix_fields(mut self, name: &str) -> Self {
        self.listed.iter_mut().for_each(|problem| problem.field.insert_str(0, name));
        self
    }

    /// Returns `value` if there are no problems.
    ///
    /// # Errors
    /// Returns the collected problems, if any.
    pub fn or<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_beyond_the_maximum_are_counted_only() {
        let mut problems = ValidationErrors::none();
        for number in 0..MAX_PROBLEMS - 1 {
            problems.add(number.to_string(), ValueError::required());
        }
        let mut others = ValidationErrors::one("last", ValueError::required());
        others.add("beyond", ValueError::required());
        problems.extend(others);
        problems.add("beyond", ValueError::required());
        assert_eq!((problems.as_slice().len(), problems.unlisted_count()), (MAX_PROBLEMS, 2));
        assert_eq!(problems.as_slice().last().map(|problem| &*problem.field), Some("last"));
    }

    #[test]
    fn problems_display_field_and_message_without_the_value() {
        let mut problems = ValidationErrors::one("title", ValueError::required());
        problems.add("manager_id", ValueError::not_found("emp_1"));
        let text = "title: is required; manager_id: does not exist in the organization";
        assert_eq!(problems.to_string(), text);
    }
}

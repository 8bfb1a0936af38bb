//! What is wrong with a request, collected per field so that one answer names everything (§7, decision A3).

use std::fmt;

use serde::Serialize;
use strum::VariantArray;

/// Why a field was not accepted; stable across versions (§7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The field must be given, and not be null.
    Required,
    /// Shorter, or fewer, than allowed.
    TooShort,
    /// Longer, or more, than allowed.
    TooLong,
    /// Not of the shape that is wanted, a wrong JSON type included.
    InvalidFormat,
    /// Not one of the words that are allowed.
    InvalidEnum,
    /// Outside the bounds of a number, date or range.
    OutOfRange,
    /// The id does not name anything in the organization.
    NotFoundInOrganization,
    /// An HR system owns this field.
    FieldManagedExternally,
    /// The body has a field that the endpoint does not know.
    UnknownField,
    /// The field cannot be set, or not be changed, by a request.
    ReadOnly,
    /// The change would make someone their own manager, directly or further up.
    ReportingCycle,
    /// What is referenced is in a state that does not allow it.
    InvalidState,
    /// There are as many as there may be.
    LimitReached,
    /// The person does not take part in the conversation.
    NotAParticipant,
    /// The person is not asked for feedback.
    NotAReviewer,
}

impl Code {
    /// Every code, for documents and tests.
    pub const ALL: &'static [Self] = Self::VARIANTS;
}

/// What is wrong with a value, before the field is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The stable code.
    pub code: Code,
    /// What would be right, for people.
    pub message: String,
    /// The offending value, where the contract wants it repeated.
    pub value: Option<String>,
}

impl Flaw {
    /// A flaw without a repeated value.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), value: None }
    }

    /// The field is missing, or null where null means nothing.
    #[must_use]
    pub fn required() -> Self {
        Self::new(Code::Required, "is required")
    }

    /// The field is null where it may only be absent or have a value.
    #[must_use]
    pub fn not_null() -> Self {
        Self::new(Code::Required, "must not be null; leave it out to say nothing about it")
    }

    /// The value has another JSON type, or not the wanted shape.
    #[must_use]
    pub fn format(wanted: impl AsRef<str>) -> Self {
        Self::new(Code::InvalidFormat, format!("must be {}", wanted.as_ref()))
    }

    /// The value is not one of these words.
    #[must_use]
    pub fn one_of(words: &[&str]) -> Self {
        Self::new(Code::InvalidEnum, format!("must be one of: {}", words.join(", ")))
    }

    /// The id, repeated, names nothing in the organization.
    #[must_use]
    pub fn not_found(value: impl ToString) -> Self {
        let message = "does not exist in the organization".to_owned();
        Self { code: Code::NotFoundInOrganization, message, value: Some(value.to_string()) }
    }

    /// Names the field the flaw is in.
    #[must_use]
    pub fn at(self, field: impl Into<String>) -> Problem {
        Problem { field: field.into(), code: self.code, message: self.message, value: self.value }
    }
}

/// One entry of `error.details`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The body member or query parameter.
    pub field: String,
    /// The stable code.
    pub code: Code,
    /// What would be right, for people.
    pub message: String,
    /// The offending value, for [`Code::NotFoundInOrganization`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

impl fmt::Display for Problem {
    /// Writes field and message. The value is left out: it may be personal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// Problems in the order they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Problems(Vec<Problem>);

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl Problems {
    /// No problem so far.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Exactly one problem.
    #[must_use]
    pub fn one(field: impl Into<String>, flaw: Flaw) -> Self {
        Self(vec![flaw.at(field)])
    }

    /// Adds a problem.
    pub fn add(&mut self, field: impl Into<String>, flaw: Flaw) {
        self.0.push(flaw.at(field));
    }

    /// Keeps the value, or collects why there is none.
    pub fn take<T>(&mut self, field: &str, result: Result<T, Flaw>) -> Option<T> {
        result.map_err(|flaw| self.add(field, flaw)).ok()
    }

    /// Adds all of another collection.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The problems.
    #[must_use]
    pub fn as_slice(&self) -> &[Problem] {
        &self.0
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same problems of members of a field, whose name is put in front of theirs.
    #[must_use]
    pub fn below(mut self, name: &str) -> Self {
        self.0.iter_mut().for_each(|it| it.field.insert_str(0, name));
        self
    }

    /// `value` if nothing is wrong, the problems otherwise.
    ///
    /// # Errors
    /// The collected problems, when there are any.
    pub fn or<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_display_field_and_message_without_the_value() {
        let mut problems = Problems::one("title", Flaw::required());
        problems.add("manager_id", Flaw::not_found("emp_1"));
        let text = "title: is required; manager_id: does not exist in the organization";
        assert_eq!(problems.to_string(), text);
    }
}

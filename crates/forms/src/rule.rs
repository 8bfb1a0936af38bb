//! Rules: each parses one value of a body and describes the accepted values. So the documented limits are the
//! enforced ones (§7, §8, decision A3).

mod kinds;
mod nested;
mod texts;

pub use kinds::{
    Checked, Flag, IdRule, List, OneOf, ReferenceRule, Url, Whole, date, datetime, email, flag, id, list, one_of,
    recent, reference, rule, url, whole, word,
};

pub use nested::{Nested, Several, nested, several};
pub use texts::{Line, Text, line, text};

pub use kinds::as_text;

use crate::fields::StringEnum;
use crate::json::Value;
use crate::problem::ValueError;

/// Parser of one value of a body, with a description of the accepted values.
pub trait Rule {
    /// Type of the parsed value.
    type Value;

    /// Parses the value.
    ///
    /// # Errors
    /// The problem of an invalid value, without its field.
    fn parse(&self, value: &Value) -> Result<Self::Value, ValueError>;

    /// Returns the description of the accepted values.
    fn shape(&self) -> Shape;
}

/// Description of the values that a rule accepts, for the OpenAPI document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Text with a limited number of characters. If `min` is at least 1, one character must not be blank.
    Text {
        /// Minimum number of characters.
        min: usize,
        /// Maximum number of characters.
        max: usize,
    },
    /// Text without line ends and with a limited number of characters, one of which must not be blank.
    Line {
        /// Minimum number of characters.
        min: usize,
        /// Maximum number of characters.
        max: usize,
    },
    /// Email address with this maximum number of characters.
    Email(usize),
    /// URL with this maximum number of characters.
    Url(usize),
    /// Lower-case letters and digits, with `-` and `_` between them.
    Slug {
        /// Maximum number of characters.
        max: usize,
        /// Reserved word that is refused.
        except: &'static str,
    },
    /// Word of the enumeration with this name in the OpenAPI document.
    Word(&'static str),
    /// The boolean `true` or `false`.
    Flag,
    /// A whole number between two bounds.
    Whole {
        /// Smallest accepted value, inclusive.
        min: i64,
        /// Largest accepted value, inclusive.
        max: i64,
    },
    /// A decimal number within the bounds of [`Decimal`](crate::decimal::Decimal).
    Decimal,
    /// A decimal number within the bounds of [`Decimal`](crate::decimal::Decimal), or a boolean.
    DecimalOrFlag,
    /// A calendar date, `YYYY-MM-DD`.
    Date,
    /// An ISO 8601 duration of at least 30 days.
    Period,
    /// Datetime with an offset.
    Datetime,
    /// Datetime within this number of past days.
    Recent(i64),
    /// Id of another resource.
    Reference {
        /// Prefix of the resource's ids.
        prefix: &'static str,
    },
    /// Id with a prefix. The resource need not exist.
    Id {
        /// Prefix of the resource's ids.
        prefix: &'static str,
    },
    /// An array of values of one shape.
    List {
        /// Description of each entry.
        of: Box<Shape>,
        /// Minimum number of entries.
        min: usize,
        /// Maximum number of entries.
        max: usize,
        /// `true` if the entries must be distinct.
        is_set: bool,
    },
    /// Object with these members.
    Object(Vec<FieldDescription>),
    /// Flat map of texts, numbers and booleans.
    Map {
        /// Maximum number of keys.
        max: usize,
        /// Maximum length of a key, in characters.
        key_chars: usize,
        /// Maximum length of a text, in characters.
        value_chars: usize,
    },
    /// Flat map of texts, in which null removes a key.
    TextMap {
        /// Maximum number of keys.
        max: usize,
        /// Maximum length of a key, in characters.
        key_chars: usize,
        /// Maximum length of a text, in characters.
        value_chars: usize,
    },
}

/// A field of request bodies, declared once for all bodies that have it.
#[derive(Debug, Clone, Copy)]
pub struct Field<R> {
    /// Member name in the body.
    pub name: &'static str,
    /// Parser of the value.
    pub rule: R,
    /// Remarks for the OpenAPI document, in addition to the description of the member that the field sets and to the
    /// bounds of the rule. If the field sets no member, the remarks are the whole description. `{max}` is replaced
    /// by the upper bound of the rule; the document then does not repeat the bounds.
    pub about: &'static str,
}

impl<R: Rule> Field<R> {
    /// Declares a field that sets the member of this name. The docs of the member are its description.
    pub const fn new(name: &'static str, rule: R) -> Self {
        Self { name, rule, about: "" }
    }

    /// Declares a field with remarks for the OpenAPI document, see [`Field::about`].
    pub const fn with_about(name: &'static str, rule: R, about: &'static str) -> Self {
        Self { name, rule, about }
    }

    /// Returns the field with an additional condition that depends on more than the value.
    pub fn and<T, F: Fn(R::Value) -> Result<T, ValueError>>(self, then: F) -> Field<WithCheck<R, F>> {
        Field { name: self.name, rule: WithCheck(self.rule, then), about: self.about }
    }
}

/// A rule with an additional condition on its parsed value.
pub struct WithCheck<R, F>(R, F);

impl<R: Rule, T, F: Fn(R::Value) -> Result<T, ValueError>> Rule for WithCheck<R, F> {
    type Value = T;

    fn parse(&self, value: &Value) -> Result<T, ValueError> {
        self.1(self.0.parse(value)?)
    }

    fn shape(&self) -> Shape {
        self.0.shape()
    }
}

/// Description of a field for the OpenAPI document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDescription {
    /// Member name in the body.
    pub name: &'static str,
    /// Sentence for the OpenAPI document; see [`Field::about`].
    pub about: &'static str,
    /// Description of the accepted values.
    pub shape: Shape,
    /// `true` if a body must have the field.
    pub is_required: bool,
    /// `true` if null is accepted.
    pub is_nullable: bool,
    /// Value that applies if the field is absent, as the OpenAPI document shows it.
    pub default: Option<String>,
}

/// A value that can be the default of an absent field.
pub trait DefaultValue {
    /// Returns the value as the OpenAPI document shows it.
    fn to_document_text(&self) -> String;
}

impl<T: StringEnum> DefaultValue for T {
    fn to_document_text(&self) -> String {
        self.word().to_owned()
    }
}

impl DefaultValue for bool {
    fn to_document_text(&self) -> String {
        self.to_string()
    }
}

impl DefaultValue for String {
    fn to_document_text(&self) -> String {
        self.clone()
    }
}

impl DefaultValue for i64 {
    fn to_document_text(&self) -> String {
        self.to_string()
    }
}

//! Rules: each reads one value of a body and says what it takes, so that what is documented is what is enforced
//! (§7, §8, decision A3).

mod kinds;
mod nested;

pub use kinds::{
    Checked, Flag, Line, List, OneOf, Refers, Text, Url, Whole, date, datetime, email, flag, line, list, one_of,
    recent, reference, rule, text, url, whole, word,
};

pub use nested::{Nested, Several, nested, several};

pub(crate) use kinds::as_text;

use crate::fields::Word;
use crate::json::Value;
use crate::problem::Flaw;

/// Reads one value of a body.
pub trait Rule {
    /// What it is read as.
    type Value;

    /// Reads the value.
    ///
    /// # Errors
    /// What is wrong with it.
    fn parse(&self, value: &Value) -> Result<Self::Value, Flaw>;

    /// What it takes.
    fn shape(&self) -> Shape;
}

/// What a rule takes, as documents show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A text of so many characters; one that must have a character must have one that is not blank.
    Text {
        /// At least so many.
        min: usize,
        /// At most so many.
        max: usize,
    },
    /// A text of so many characters without line ends; it must have one that is not blank.
    Line {
        /// The least number of characters.
        min: usize,
        /// The greatest number of characters.
        max: usize,
    },
    /// An e-mail address of at most so many characters.
    Email(usize),
    /// A URL of at most so many characters.
    Url(usize),
    /// Lower-case letters and digits, with `-` and `_` between them.
    Slug {
        /// At most so many characters.
        max: usize,
        /// The one that is not taken.
        except: &'static str,
    },
    /// One of the words of the set that documents call this.
    Word(&'static str),
    /// A boolean.
    Flag,
    /// A whole number.
    Whole {
        /// Not less.
        min: i64,
        /// Not more.
        max: i64,
    },
    /// A day.
    Date,
    /// An instant.
    Datetime,
    /// An instant of the last so many days.
    Recent(i64),
    /// The id of another resource.
    Reference {
        /// The prefix of its ids.
        prefix: &'static str,
        /// What it is, as documents say it: "the manager".
        what: &'static str,
    },
    /// An array.
    List {
        /// What its entries are.
        of: Box<Shape>,
        /// At least so many.
        min: usize,
        /// At most so many.
        max: usize,
        /// Whether none may be there twice.
        is_set: bool,
    },
    /// An object with these members.
    Object(Vec<Described>),
    /// A flat map of texts, numbers and booleans.
    Map {
        /// At most so many keys.
        max: usize,
        /// The longest key, in characters.
        key_chars: usize,
        /// The longest text, in characters.
        value_chars: usize,
    },
}

/// A field of a body, declared once for every body that has it.
#[derive(Debug, Clone, Copy)]
pub struct Field<R> {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub rule: R,
    /// What it means, as a sentence of a document. `{max}` stands for the upper bound of its rule; where it is missing,
    /// the bounds of a text are said behind the sentence. Empty where the rule says enough.
    pub about: &'static str,
}

impl<R: Rule> Field<R> {
    /// Declares a field.
    pub const fn new(name: &'static str, rule: R, about: &'static str) -> Self {
        Self { name, rule, about }
    }

    /// The same field, with one more condition, which depends on more than the value.
    pub fn and<T, F: Fn(R::Value) -> Result<T, Flaw>>(self, then: F) -> Field<And<R, F>> {
        Field { name: self.name, rule: And(self.rule, then), about: self.about }
    }
}

/// A rule with a condition behind it.
pub struct And<R, F>(R, F);

impl<R: Rule, T, F: Fn(R::Value) -> Result<T, Flaw>> Rule for And<R, F> {
    type Value = T;

    fn parse(&self, value: &Value) -> Result<T, Flaw> {
        self.1(self.0.parse(value)?)
    }

    fn shape(&self) -> Shape {
        self.0.shape()
    }
}

/// A field as documents show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// Its name.
    pub name: &'static str,
    /// What it means; see [`Field::about`].
    pub about: &'static str,
    /// What it takes.
    pub shape: Shape,
    /// Whether it must be given.
    pub is_required: bool,
    /// Whether it may be null.
    pub is_nullable: bool,
    /// What is meant when it is left out.
    pub default: Option<String>,
}

/// A value that is meant when a field is left out.
pub trait Implied {
    /// As a document writes it.
    fn written(&self) -> String;
}

impl<T: Word> Implied for T {
    fn written(&self) -> String {
        self.word().to_owned()
    }
}

impl Implied for bool {
    fn written(&self) -> String {
        self.to_string()
    }
}

impl Implied for i64 {
    fn written(&self) -> String {
        self.to_string()
    }
}

//! Rules of plain texts.

use std::ops::RangeInclusive;

use super::kinds::as_text;
use super::{Rule, Shape};
use crate::json::Value;
use crate::problem::ValueError;
use crate::text;

/// The rule that [`text()`] creates.
#[derive(Debug, Clone)]
pub struct Text {
    chars: RangeInclusive<usize>,
    is_trimmed: bool,
}

/// Creates the rule of a text with a limited number of characters.
#[must_use]
pub const fn text(chars: RangeInclusive<usize>) -> Text {
    Text { chars, is_trimmed: false }
}

impl Text {
    /// Returns the rule of an identifier: white space around the identifier is dropped.
    #[must_use]
    pub const fn with_trimming(self) -> Self {
        Self { is_trimmed: true, ..self }
    }
}

impl Rule for Text {
    type Value = String;

    fn parse(&self, value: &Value) -> Result<String, ValueError> {
        let text = as_text(value)?;
        let trimmed_text = if self.is_trimmed { text.trim() } else { text };
        text::check_length(trimmed_text, self.chars.clone())?;
        Ok(trimmed_text.to_owned())
    }

    fn shape(&self) -> Shape {
        Shape::Text { min: *self.chars.start(), max: *self.chars.end() }
    }
}

/// The rule that [`line()`] creates.
#[derive(Debug, Clone)]
pub struct Line(RangeInclusive<usize>);

/// Creates the rule of a text without line breaks, with a limited number of characters.
#[must_use]
pub const fn line(chars: RangeInclusive<usize>) -> Line {
    Line(chars)
}

impl Rule for Line {
    type Value = String;

    fn parse(&self, value: &Value) -> Result<String, ValueError> {
        let text = as_text(value)?;
        text::single_line(text, self.0.clone())?;
        Ok(text.to_owned())
    }

    fn shape(&self) -> Shape {
        Shape::Line { min: *self.0.start(), max: *self.0.end() }
    }
}

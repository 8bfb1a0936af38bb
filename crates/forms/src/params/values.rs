//! Values that parameters of every kind share.

use super::MAX_VALUE_CHARS;
use crate::page::MAX_LIMIT;
use crate::problem::{Code, ValueError};

/// Returns the value. Refuses a value that is longer than [`MAX_VALUE_CHARS`] or contains U+0000: no stored text can
/// match such a value.
pub(super) fn check_value_size(value: &str) -> Result<&str, ValueError> {
    if value.chars().nth(MAX_VALUE_CHARS).is_some() {
        return Err(ValueError::new(Code::TooLong, format!("must have at most {MAX_VALUE_CHARS} characters")));
    }
    if value.contains('\0') { Err(ValueError::format("text without U+0000")) } else { Ok(value) }
}

/// Reads the size of a page.
pub(super) fn limit(text: &str) -> Result<u16, ValueError> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ValueError::format("a whole number"));
    }
    let limit = text.parse().ok().filter(|number| (1..=MAX_LIMIT).contains(number));
    limit.ok_or_else(|| ValueError::new(Code::OutOfRange, format!("must be from 1 to {MAX_LIMIT}")))
}

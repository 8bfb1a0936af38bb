//! Generated files that are committed, and comparisons of texts.

use crate::process::{Outcome, root};
use std::fs;

/// Writes a generated file, or with the argument `--check` compares the generated text with the committed file.
pub(crate) fn write_or_check(
    arguments: &[String],
    file: &str,
    generate: fn() -> Outcome<String>,
    hint: &str,
) -> Outcome {
    match arguments {
        [] => {
            fs::write(root().join(file), generate()?)?;
            println!("{file} written");
            Ok(())
        }
        [only] if only == "--check" => {
            let committed_text = fs::read_to_string(root().join(file)).unwrap_or_default();
            match first_difference(&committed_text, &generate()?) {
                None => Ok(()),
                Some(line) => Err(format!("{file}:{line}: {hint}").into()),
            }
        }
        _ => Err("the only argument is --check".into()),
    }
}

/// Returns `true` if a text has a word with no letter, digit or underscore beside it.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

/// Returns the number of the first line that differs, from 1; `None` if the texts are equal.
pub(crate) fn first_difference(one: &str, other: &str) -> Option<usize> {
    if one == other {
        return None;
    }
    Some(1 + one.lines().zip(other.lines()).take_while(|(one, other)| one == other).count())
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn first_difference_is_the_number_of_a_line() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
        assert_eq!(first_difference("", "a\n"), Some(1));
    }
}

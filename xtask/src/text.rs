//! Comparing texts.

/// The number of the first line that is not the same in both.
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
    fn the_first_line_that_differs_is_named() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
        assert_eq!(first_difference("", "a\n"), Some(1));
    }
}

//! Entity tags: a row's version, in a form that invites nobody to count (decision A14).

use candor_port_storage::Version;
use candor_service::Precondition;

/// Odd, so that multiplication by it is one-to-one on 64 bits.
const SCRAMBLE: u64 = 0x9e37_79b9_7f4a_7c15;
/// Its inverse: `SCRAMBLE * UNSCRAMBLE == 1` modulo 2^64.
const UNSCRAMBLE: u64 = 0xf1de_83e1_9937_733d;
/// Hexadecimal digits of a tag.
const DIGITS: usize = 16;

/// The tag of a version, quotes included.
pub(crate) fn tag(version: Version) -> String {
    format!("\"{:0DIGITS$x}\"", version.0.cast_unsigned().wrapping_mul(SCRAMBLE))
}

/// The version behind a strong tag; `None` for what is no tag of ours.
fn version(tag: &str) -> Option<Version> {
    let digits = tag.strip_prefix('"')?.strip_suffix('"')?;
    if digits.len() != DIGITS || !digits.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let number = u64::from_str_radix(digits, 16).ok()?;
    Some(Version(number.wrapping_mul(UNSCRAMBLE).cast_signed()))
}

/// Reads `If-Match`. Weak tags never match there (RFC 9110 §13.1.1), and what is no tag of ours matches nothing.
pub(crate) fn precondition<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Precondition> {
    let mut versions = None;
    for line in lines {
        if line.trim() == "*" {
            return Some(Precondition::Any);
        }
        versions.get_or_insert_with(Vec::new).extend(line.split(',').filter_map(|it| version(it.trim())));
    }
    versions.map(Precondition::OneOf)
}

/// Whether `If-None-Match` names the tag; weak comparison (RFC 9110 §13.1.2).
pub(crate) fn names<'a>(mut lines: impl Iterator<Item = &'a str>, tag: &str) -> bool {
    lines.any(|line| {
        line.trim() == "*" || line.split(',').any(|it| it.trim().strip_prefix("W/").unwrap_or(it.trim()) == tag)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_leads_back_to_its_version() {
        for number in [1, 2, 3, 1_000_000, i64::MAX] {
            assert_eq!(version(&tag(Version(number))), Some(Version(number)));
        }
    }

    #[test]
    fn if_match_is_strong_and_what_is_no_tag_matches_nothing() {
        let (one, two) = (tag(Version(1)), tag(Version(2)));
        let read = |line: &str| precondition([line].into_iter());
        assert_eq!(precondition(std::iter::empty()), None);
        assert_eq!(read("*"), Some(Precondition::Any));
        assert_eq!(read(&format!("{one} , {two}")), Some(Precondition::OneOf(vec![Version(1), Version(2)])));
        for nothing in [format!("W/{one}"), "1".to_owned(), "\"\"".to_owned(), one.to_uppercase(), String::new()] {
            assert_eq!(read(&nothing), Some(Precondition::OneOf(vec![])), "{nothing}");
        }
    }

    #[test]
    fn if_none_match_is_weak() {
        let one = tag(Version(1));
        for line in [one.clone(), format!("\"x\", W/{one}"), "*".to_owned()] {
            assert!(names([line.as_str()].into_iter(), &one), "{line}");
        }
        for line in [tag(Version(2)), String::new(), "W/".to_owned()] {
            assert!(!names([line.as_str()].into_iter(), &one), "{line}");
        }
    }
}

//! Entity tags: the scrambled version of a row, so that clients do not increment it (decision A14).
//!
//! Some resources show data that the version does not count, such as the delivery status of a webhook. Their tag
//! ends with a mark of that data.
//!
//! `If-None-Match` compares version and mark. `If-Match` compares only the version if clients cannot change the
//! data behind the mark. For a SCIM user it compares both: the mark is the version of their link, which clients
//! change.

use candor_port_storage::Version;
use candor_service::Precondition;

use crate::response::error_response::ErrorResponse;

/// Odd multiplier, so that multiplication modulo 2^64 is a bijection.
const SCRAMBLE: u64 = 0x9e37_79b9_7f4a_7c15;
/// Multiplicative inverse: `SCRAMBLE * UNSCRAMBLE == 1` modulo 2^64.
const UNSCRAMBLE: u64 = 0xf1de_83e1_9937_733d;
/// Number of hexadecimal digits in a tag.
const DIGITS: usize = 16;

/// Returns the quoted tag for a version and for the mark of related data.
pub(crate) fn tag(version: Version, mark: u64) -> String {
    let digits = |number: u64| format!("{:0DIGITS$x}", number.wrapping_mul(SCRAMBLE));
    let first = digits(version.0.cast_unsigned());
    if mark == 0 { format!("\"{first}\"") } else { format!("\"{first}-{}\"", digits(mark)) }
}

/// Parses the version and the mark of a tag without its quotes. Returns `None` for tags that this service did not
/// create.
fn parse(text: &str) -> Option<(Version, u64)> {
    let (first, mark) = text.split_once('-').map_or((text, None), |(first, mark)| (first, Some(mark)));
    let mark = mark.map_or(Some(0), number)?;
    Some((Version(number(first)?.cast_signed()), mark))
}

fn number(digits: &str) -> Option<u64> {
    if digits.len() != DIGITS || !digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    Some(u64::from_str_radix(digits, 16).ok()?.wrapping_mul(UNSCRAMBLE))
}

/// Parses `If-Match`. A weak tag counts as a strong one, because a tag is a version of the resource and not of the
/// bytes: proxies that compress weaken tags, or add the name of the compression. Foreign tags match nothing.
///
/// # Errors
/// 400 for a text that is no tag, such as one without quotes.
pub(crate) fn precondition<'a>(
    lines: impl Iterator<Item = &'a str>,
) -> Result<Option<Precondition>, ErrorResponse> {
    let mut versions = None;
    for line in lines {
        if line.trim() == "*" {
            return Ok(Some(Precondition::Any));
        }
        let versions = versions.get_or_insert_with(Vec::new);
        for part in line.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let tag = part.strip_prefix("W/").unwrap_or(part);
            let text =
                tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).filter(|text| !text.contains('"'));
            let Some(text) = text else {
                let message = "If-Match is malformed. Send the ETag of the resource with its quotes, or *.";
                return Err(ErrorResponse::malformed_request(message));
            };
            versions.extend(parse(strip_compression(text)));
        }
    }
    Ok(versions.map(Precondition::OneOf))
}

/// Removes the name of a compression that a proxy has added to a tag.
fn strip_compression(text: &str) -> &str {
    const COMPRESSIONS: [&str; 4] = ["-gzip", "-br", "-zstd", "-deflate"];
    COMPRESSIONS.iter().find_map(|name| text.strip_suffix(name)).unwrap_or(text)
}

/// Returns whether `If-None-Match` names the tag, by weak comparison (RFC 9110 §13.1.2).
pub(crate) fn names<'a>(mut lines: impl Iterator<Item = &'a str>, tag: &str) -> bool {
    lines.any(|line| {
        line.trim() == "*"
            || line.split(',').any(|part| part.trim().strip_prefix("W/").unwrap_or(part.trim()) == tag)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_read_back_from_its_tag() {
        for number in [1, 2, 3, 1_000_000, i64::MAX] {
            for mark in [0, u64::MAX] {
                assert_eq!(parse(tag(Version(number), mark).trim_matches('"')), Some((Version(number), mark)));
            }
        }
    }

    #[test]
    fn tag_differs_by_version_and_extra() {
        let tags = [tag(Version(1), 0), tag(Version(1), 1), tag(Version(1), 2), tag(Version(2), 1)];
        for (at, one) in tags.iter().enumerate() {
            let is_named: Vec<_> = tags.iter().map(|tag| names([tag.as_str()].into_iter(), one)).collect();
            assert_eq!(is_named.iter().position(|is_match| *is_match), Some(at), "{one}");
            assert_eq!(is_named.iter().filter(|is_match| **is_match).count(), 1, "{one}");
        }
    }

    #[test]
    fn if_match_takes_weakened_tags_and_ignores_foreign_ones() {
        let (one, two) = (tag(Version(1), 0), tag(Version(2), 7));
        let read = |line: &str| precondition([line].into_iter()).unwrap();
        assert_eq!(precondition(std::iter::empty()).unwrap(), None);
        assert_eq!(read("*"), Some(Precondition::Any));
        assert_eq!(
            read(&format!("{one} , {two}")),
            Some(Precondition::OneOf(vec![(Version(1), 0), (Version(2), 7)]))
        );
        for weakened in [format!("W/{one}"), format!("\"{}-gzip\"", one.trim_matches('"'))] {
            assert_eq!(read(&weakened), Some(Precondition::OneOf(vec![(Version(1), 0)])), "{weakened}");
        }
        let foreign =
            ["\"\"".to_owned(), one.to_uppercase(), String::new(), two.replace('-', ""), two.replace('-', "--")];
        for nothing in foreign {
            assert_eq!(read(&nothing), Some(Precondition::OneOf(vec![])), "{nothing}");
        }
    }

    #[test]
    fn malformed_if_match_is_refused() {
        let one = tag(Version(1), 0);
        for malformed in ["1", one.trim_matches('"'), "W/1", "\"", "\"a\"b\"", "*, *"] {
            let result = precondition([malformed].into_iter());
            assert!(result.is_err(), "{malformed}");
        }
    }

    #[test]
    fn if_none_match_compares_weakly() {
        let one = tag(Version(1), 0);
        for line in [one.clone(), format!("\"x\", W/{one}"), "*".to_owned()] {
            assert!(names([line.as_str()].into_iter(), &one), "{line}");
        }
        for line in [tag(Version(2), 0), String::new(), "W/".to_owned()] {
            assert!(!names([line.as_str()].into_iter(), &one), "{line}");
        }
    }
}

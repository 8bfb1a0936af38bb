//! Length limits and formats of texts (§8, decision A9). Texts are counted in Unicode scalar values and stored as
//! sent.

mod mail_domain;

use std::ops::RangeInclusive;

use unicode_normalization::UnicodeNormalization;
use validator::{ValidateEmail, ValidateLength, ValidateUrl};

use crate::problem::{Code, ValueError};
use mail_domain::{changed_letter, is_domain_name};

/// Length of the longest e-mail address, in characters (decision D4).
pub const EMAIL_CHARS: usize = 254;
/// Domain of the addresses of erased people (decision H4). No other person has an address there.
pub const ERASED_DOMAIN: &str = "erased.invalid";

/// Checks the number of characters of a text and refuses control characters.
///
/// If at least one character is required, one must not be white space.
///
/// ```
/// use candor_forms::problem::Code;
/// use candor_forms::text::check_length;
///
/// assert!(check_length("çok iyi", 1..=7).is_ok());
/// assert_eq!(check_length("   ", 1..=7).unwrap_err().code, Code::TooShort);
/// ```
///
/// # Errors
/// Returns `too_short`, `too_long`, or `invalid_format` for a control character other than tab and line ends.
pub fn check_length(text: &str, chars: RangeInclusive<usize>) -> Result<(), ValueError> {
    let (min, max) = (*chars.start(), *chars.end());
    let range_text = format!("must have {min} to {max} characters");
    if !text.validate_length(None, Some(u64::try_from(max).unwrap_or(u64::MAX)), None) {
        return Err(ValueError::new(Code::TooLong, range_text));
    }
    if !text.validate_length(Some(u64::try_from(min).unwrap_or(u64::MAX)), None, None) {
        return Err(ValueError::new(Code::TooShort, range_text));
    }
    if min > 0 && text.chars().all(is_blank) {
        return Err(ValueError::new(Code::TooShort, "must have at least one character that is not blank"));
    }
    if text.chars().any(is_forbidden_control) {
        return Err(ValueError::format("text without control characters other than tab and line ends"));
    }
    Ok(())
}

/// Checks a text that must fit in one line, such as a name shown in tables and logs.
///
/// ```
/// use candor_forms::problem::Code;
/// use candor_forms::text::single_line;
///
/// assert!(single_line("HR sync", 1..=80).is_ok());
/// assert_eq!(single_line("HR\nsync", 1..=80).unwrap_err().code, Code::InvalidFormat);
/// ```
///
/// # Errors
/// Returns the errors of [`check_length`], and `invalid_format` for a line end.
pub fn single_line(text: &str, chars: RangeInclusive<usize>) -> Result<(), ValueError> {
    check_length(text, chars)?;
    if text.contains(is_line_end) {
        Err(ValueError::format("text in one line, without line ends"))
    } else {
        Ok(())
    }
}

/// Returns `true` for white space, and for the characters without a shape of their own (Default_Ignorable_Code_Point),
/// such as U+200B.
const fn is_blank(letter: char) -> bool {
    letter.is_whitespace()
        || matches!(
            letter,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fff8}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns `true` for the characters that end a line in Unicode and that [`check_length`] accepts.
const fn is_line_end(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns `true` for U+0000 and the other C0 controls except `\t`, `\n` and `\r`.
const fn is_forbidden_control(letter: char) -> bool {
    (letter as u32) < 0x20 && !matches!(letter, '\t' | '\n' | '\r')
}

/// Checks an e-mail address.
///
/// # Errors
/// Returns `too_long` above [`EMAIL_CHARS`], `too_short` if blank, `invalid_format` otherwise.
pub fn email(text: &str) -> Result<(), ValueError> {
    check_length(text, 1..=EMAIL_CHARS)?;
    if !text.validate_email() {
        // The user does not see the character, so the message names it.
        let hidden_letter = text.chars().find(|letter| *letter != ' ' && is_blank(*letter));
        return Err(hidden_letter.map_or_else(
            || ValueError::format("an e-mail address"),
            |letter| {
                ValueError::format(format!("an e-mail address, without the character {}", code_point(letter)))
            },
        ));
    }
    let domain = fold_case(text.rsplit_once('@').map_or("", |(_, domain)| domain));
    if domain == ERASED_DOMAIN {
        return Err(ValueError::format(
            "the address of a person: the addresses of `erased.invalid` stand for erased people",
        ));
    }
    if !is_domain_name(&domain) {
        return Err(ValueError::format("an e-mail address at the name of a domain, not at the address of a host"));
    }
    if let Some(letter) = changed_letter(&domain) {
        let name = code_point(letter);
        return Err(ValueError::format(format!(
            "an e-mail address with its domain as it is registered, without the character {name}, which mail servers \
             ignore or read as another character"
        )));
    }
    Ok(())
}

/// Returns the name of a character by its code, such as `U+200B`.
fn code_point(letter: char) -> String {
    format!("U+{:04X}", u32::from(letter))
}

/// Checks a URL, which needs a scheme and a host.
///
/// # Errors
/// Returns `invalid_format` for any other text.
pub fn url(text: &str) -> Result<(), ValueError> {
    if text.validate_url() { Ok(()) } else { Err(ValueError::format("an absolute URL")) }
}

/// Returns the words of a text in one line, separated by single spaces.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes a text for HTML, between tags or within a quoted attribute.
#[must_use]
pub fn escaped_html(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

/// Returns the lower-case text by which texts are compared regardless of case, and by which the names of people
/// are sorted (decision A11).
#[must_use]
pub fn fold_case(text: &str) -> String {
    text.to_lowercase()
}

/// Returns the key by which e-mail addresses are compared: one for each mailbox, however it is written (decision
/// D4). The local part is in lower case, the domain as it is registered (its A-labels).
///
/// ```
/// use candor_forms::text::address_key;
///
/// assert_eq!(address_key("Anna@Müller.example"), "anna@xn--mller-kva.example");
/// assert_eq!(address_key("Anna@XN--MLLER-KVA.example"), "anna@xn--mller-kva.example");
/// ```
#[must_use]
pub fn address_key(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // No address is this long, and the time to encode a domain grows faster than its length.
    let is_long = text.len() > 4 * EMAIL_CHARS;
    let Some((local, domain)) = text.rsplit_once('@').filter(|_| !is_long) else {
        return fold_case(text).nfc().collect();
    };
    let local: String = fold_case(local).nfc().collect();
    format!("{local}@{}", domain_key(domain))
}

/// Returns a domain as it is registered (its A-labels), in lower case.
pub fn domain_key(domain: &str) -> String {
    if domain.is_ascii() {
        return domain.to_ascii_lowercase();
    }
    // A text that is no domain is compared as it is: names of users, and addresses from before the checks.
    idna::domain_to_ascii(domain).unwrap_or_else(|_| fold_case(domain))
}

/// Returns the key by which names of departments and attributes are compared and sorted (decision D4): trimmed,
/// composed (NFC), and with the full case folding of Unicode.
///
/// ```
/// use candor_forms::text::name_key;
///
/// assert_eq!(name_key(" STRASSE"), name_key("Straße"));
/// assert_eq!(name_key("CAFE\u{301}"), name_key("Café"));
/// ```
#[must_use]
pub fn name_key(text: &str) -> String {
    let text = text.trim();
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfd().flat_map(without_case).nfc().collect()
}

/// Returns the full case folding of a character.
fn without_case(letter: char) -> impl Iterator<Item = char> {
    // The dotless i is a letter of its own, though its capital is that of `i`.
    let is_kept = letter == 'ı';
    let lower = (!is_kept).then_some(letter).into_iter().flat_map(char::to_lowercase);
    let folding = lower.flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    folding.chain(is_kept.then_some(letter))
}

/// Returns `true` if texts have the same [`fold_case`] form. Stops at the first difference, and copies nothing.
#[must_use]
pub fn is_same_folded(one: &str, other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() {
        return one.eq_ignore_ascii_case(other);
    }
    // Texts with the same lower case differ at most threefold in bytes: the Kelvin sign has three, its lower case `k` has
    // one.
    if one.len() > 3 * other.len() || other.len() > 3 * one.len() {
        return false;
    }
    // The lower case of Σ depends on its neighbours, which single characters do not show.
    if one.contains('Σ') || other.contains('Σ') {
        return fold_case(one) == fold_case(other);
    }
    one.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_comparison_equals_comparison_of_folded_texts() {
        let texts = ["", "a", "A", "Straße", "STRASSE", "İ", "i̇", "ΟΔΟΣ", "οδος", "οδοσ", "漢", "漢字", "É", "é"];
        for one in texts {
            for other in texts {
                assert_eq!(is_same_folded(one, other), fold_case(one) == fold_case(other), "{one} {other}");
            }
        }
    }

    /// Checks that the texts of a group have one key, which no other group has.
    fn assert_keys(key: fn(&str) -> String, groups: &[&[&str]]) {
        let keys: Vec<_> = groups.iter().map(|group| key(group[0])).collect();
        for (group, own) in groups.iter().zip(&keys) {
            assert!(group.iter().all(|text| key(text) == *own), "{group:?}");
            assert_eq!(key(own), *own, "the key of a key");
            assert_eq!(keys.iter().filter(|other| *other == own).count(), 1, "{own}");
        }
    }

    #[test]
    fn spellings_of_a_mailbox_have_one_address_key() {
        assert_keys(
            address_key,
            &[
                &["ada@example.com", "ADA@Example.COM"],
                &[
                    "anna@müller.example",
                    "Anna@MÜLLER.example",
                    "anna@mu\u{308}ller.example",
                    "ANNA@XN--MLLER-KVA.EXAMPLE",
                ],
                &["ada@straße.example", "ada@xn--strae-oqa.example"],
                &["ada@strasse.example"],
                &["ada@[127.0.0.1]"],
                &["élan@example.com", "e\u{301}lan@example.com", "ÉLAN@example.com"],
                &["anna"],
            ],
        );
        let older = "ada@example.com\u{200b}";
        assert_eq!(address_key(older), "ada@example.com", "stored before it was refused");
    }

    #[test]
    fn spellings_of_a_name_have_one_name_key() {
        assert_keys(
            name_key,
            &[
                &["Straße", "STRASSE", "strasse", "STRAẞE", " Strasse\t"],
                &["Café", "cafe\u{301}", "CAFÉ", "CAFE\u{301}"],
                &["İzmir", "i\u{307}zmir", "I\u{307}ZMIR"],
                &["izmir", "IZMIR"],
                &["ızmir"],
                &["ΟΔΟΣ", "οδος", "οδοσ"],
                &["Research & Care", "RESEARCH & CARE"],
            ],
        );
    }

    #[test]
    fn length_limit_counts_characters_instead_of_bytes() {
        for max in [1_usize, 80, 4000] {
            for unit in ["a", "é", "漢", "👍"] {
                assert_eq!(check_length(&unit.repeat(max), 1..=max), Ok(()), "{max} × {unit}");
                assert_eq!(
                    check_length(&unit.repeat(max + 1), 1..=max).unwrap_err().code,
                    Code::TooLong,
                    "{max} × {unit}"
                );
            }
        }
        assert_eq!(check_length("", 0..=5), Ok(()));
        assert_eq!(check_length("  ", 0..=5), Ok(()), "an optional text may be blank");
        assert_eq!(check_length("", 1..=5).unwrap_err().code, Code::TooShort);
        for blank in ["\u{3000}\t", "\u{200b}", " \u{200b}\n", "\u{feff}\u{ad}", "\u{3164}", "\u{fe0f}"] {
            assert_eq!(check_length(blank, 1..=5).unwrap_err().code, Code::TooShort, "{blank:?}");
        }
        assert_eq!(check_length("a\u{200d}", 1..=5), Ok(()), "beside another character");
    }

    #[test]
    fn control_characters_except_tab_and_line_ends_are_refused() {
        for code in 0..0x20_u8 {
            let text = format!("a{}b", char::from(code));
            assert_eq!(check_length(&text, 1..=5).is_ok(), matches!(code, 9 | 10 | 13), "U+{code:04X}");
        }
    }

    #[test]
    fn single_line_refuses_every_line_end() {
        for end in ["\n", "\r", "\r\n", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}"] {
            let error = single_line(&format!("HR{end}sync"), 1..=80).unwrap_err();
            assert_eq!(error.code, Code::InvalidFormat, "{}", end.escape_unicode());
        }
        assert_eq!(single_line("HR\tsync \u{202e}", 1..=80), Ok(()));
        assert_eq!(single_line(" ", 1..=80).unwrap_err().code, Code::TooShort);
        assert_eq!(single_line("HR\n", 1..=2).unwrap_err().code, Code::TooLong);
    }

    #[test]
    fn email_of_over_254_characters_is_refused() {
        let domain = format!("{}.{}.{}.example", "d".repeat(63), "e".repeat(63), "f".repeat(53));
        let local = |len: usize| format!("{}@{domain}", "l".repeat(len));
        let room = EMAIL_CHARS - domain.len() - 1;
        assert_eq!(email(&local(room)), Ok(()));
        assert_eq!(email(&local(room + 1)).unwrap_err().code, Code::TooLong);
        let twins = ["\u{200b}", "\u{ad}", "\u{2060}", "\u{feff}", "\u{ff4d}", "\u{24d1}"];
        for twin in twins.map(|letter| format!("ada@exa{letter}mple.com")) {
            assert_eq!(email(&twin).unwrap_err().code, Code::InvalidFormat, "{}", twin.escape_unicode());
        }
        for hidden in ["\u{200b}ada@example.com", "ada\u{200b}@example.com", "ada@example.com\u{200b}"] {
            let message = email(hidden).unwrap_err().message;
            assert!(message.contains("without the character U+200B"), "{message}");
        }
        for dot in ["\u{3002}", "\u{ff0e}"] {
            assert!(email(&format!("ada@example{dot}com")).is_err(), "{}", dot.escape_unicode());
        }
        for good in [
            "anna@m\u{fc}ller.example",
            "anna@xn--mller-kva.example",
            "ada@\u{4f8b}.example",
            "a@1.example",
            "a@0xg",
        ] {
            assert_eq!(email(good), Ok(()), "{good}");
        }
        for reserved in ["erased-emp_1@erased.invalid", "x@ERASED.invalid"] {
            assert_eq!(email(reserved).unwrap_err().code, Code::InvalidFormat, "{reserved}");
        }
        for bad in ["ada", "ada@", "@example.com", "a b@example.com", "ada@exa mple.com"] {
            assert_eq!(email(bad).unwrap_err().code, Code::InvalidFormat, "{bad}");
        }
    }
}

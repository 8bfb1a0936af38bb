//! Finds the address of a person in a text. Each spelling counts (decision D4), also where a message was truncated.

use unicode_normalization::UnicodeNormalization;

use crate::text::{EMAIL_CHARS, domain_key, fold_case};

/// Characters besides letters and digits that continue the local part of an address.
const ATOM: &str = "._%+-";
/// Minimum length of a truncated address or name that counts as a mention of the person, in characters. Many words
/// have a shorter beginning in common.
const TELLING_CHARS: usize = 4;
/// Character that ends a truncated text.
const ELLIPSIS: char = '…';

/// Maximum number of hexadecimal digits in an escape such as `\u{10ffff}`.
const CODE_CHARS: usize = 6;

/// A text in the form in which mailboxes and names are compared.
///
/// The text is in lower case and composed (NFC). Its escapes of letters, as messages about CSV files have them, are
/// replaced by the letters.
#[derive(Debug, Clone)]
pub(super) struct ComparedText(String);

impl ComparedText {
    pub(super) fn new(text: &str) -> Self {
        Self(fold_case(&without_escapes(text)).nfc().collect())
    }

    /// Returns `true` if the text may have an address or a quoted name.
    pub(super) fn may_name(text: &str) -> bool {
        text.contains(['@', ELLIPSIS]) || text.contains(is_quote)
    }

    /// Returns `true` if a quoted value of the text is `name`, or a truncated quoted value is the beginning of
    /// `name`.
    pub(super) fn quotes(&self, name: &Self) -> bool {
        let is_whole = self.0.match_indices(name.0.as_str()).any(|(at, found)| {
            self.0[..at].ends_with(is_quote) && self.0[at + found.len()..].starts_with(is_quote)
        });
        is_whole || ends_with_beginning(&self.0, &name.0, |before| before.ends_with(is_quote))
    }
}

/// Returns `true` for the characters between which messages put values.
const fn is_quote(letter: char) -> bool {
    matches!(letter, '`' | '"')
}

/// The mailbox of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mailbox {
    /// The part before the last `@`, in the form of a [`ComparedText`].
    local: String,
    /// The domain as it is registered.
    domain: String,
}

impl Mailbox {
    /// Returns the mailbox of an address; `None` if the text is no address.
    pub(super) fn new(address: &str) -> Option<Self> {
        let (local, domain) = address.rsplit_once('@')?;
        let is_address = !local.is_empty() && !domain.is_empty() && domain.len() <= 4 * EMAIL_CHARS;
        is_address.then(|| Self { local: ComparedText::new(local).0, domain: domain_key(domain) })
    }

    /// Returns `true` if the text has an address of the mailbox, or was truncated within one.
    pub(super) fn is_in(&self, text: &ComparedText) -> bool {
        let text = text.0.as_str();
        text.match_indices('@').any(|(at, _)| {
            let text_before = text[..at].strip_suffix(self.local.as_str());
            text_before.is_some_and(is_boundary) && self.begins_with_domain(&text[at + 1..])
        }) || self.is_truncated_in(text)
    }

    /// Returns `true` if a text begins with the domain, in any spelling.
    fn begins_with_domain(&self, text: &str) -> bool {
        let letters = text.char_indices().map(|(at, letter)| (at, Some(letter))).chain([(text.len(), None)]);
        // Bounded: the time to encode a domain grows faster than its length.
        for (at, letter) in letters.take(EMAIL_CHARS) {
            if letter.is_some_and(|letter| continues_domain(letter, &text[at..])) {
                continue;
            }
            if domain_key(&text[..at]) == self.domain {
                return true;
            }
            if letter.is_none_or(ends_domain) {
                return false;
            }
        }
        false
    }

    /// Returns `true` if a truncated part of the text ends with the beginning of the address. The domain may be in letters or
    /// as it is registered.
    fn is_truncated_in(&self, text: &str) -> bool {
        let Self { local, domain } = self;
        let (letters, _) = idna::domain_to_unicode(domain);
        [domain, &letters].iter().any(|domain| {
            let address = format!("{local}@{domain}");
            ends_with_beginning(text, &address, is_boundary)
        })
    }
}

/// Returns `true` if a beginning of `word` stands at a boundary and before an ellipsis of the text. The text may be
/// truncated between a letter and its accent, so text and word are decomposed.
fn ends_with_beginning(text: &str, word: &str, is_boundary: impl Fn(&str) -> bool) -> bool {
    if !text.contains(ELLIPSIS) {
        return false;
    }
    let (text, word): (String, String) = (text.nfd().collect(), word.nfd().collect());
    let ends = word.char_indices().map(|(at, letter)| at + letter.len_utf8()).skip(TELLING_CHARS - 1);
    let beginnings: Vec<&str> = ends.map(|end| &word[..end]).collect();
    text.match_indices(ELLIPSIS).any(|(at, _)| {
        let part = &text[..at];
        beginnings.iter().any(|beginning| part.strip_suffix(beginning).is_some_and(&is_boundary))
    })
}

/// Returns `true` if an address may begin behind the text.
fn is_boundary(before: &str) -> bool {
    let continues_local = |letter: char| letter.is_alphanumeric() || ATOM.contains(letter);
    ends_with_escape(before) || !before.ends_with(continues_local)
}

/// Returns `true` if a letter continues a domain. `rest` is the text from the letter on. A full stop behind an
/// address ends a sentence, unless the domain goes on.
fn continues_domain(letter: char, rest: &str) -> bool {
    let is_within = || rest[1..].starts_with(char::is_alphanumeric);
    letter.is_alphanumeric() || letter == '-' || (letter == '.' && is_within())
}

/// Returns `true` for a character that no spelling of a domain contains.
fn ends_domain(letter: char) -> bool {
    letter.is_whitespace() || (letter.is_ascii_punctuation() && !"-.[]:".contains(letter))
}

/// Returns `true` if a JSON text ends with an escape, such as `\n` or `\u00a0`. The letters of the escape are no
/// part of an address.
fn ends_with_escape(text: &str) -> bool {
    let escape = |length: usize| text.len().checked_sub(length).and_then(|at| text.get(at..));
    let is_short = escape(2).is_some_and(|end| end.starts_with('\\') && end.ends_with(['b', 'f', 'n', 'r', 't']));
    is_short || escape(6).is_some_and(|end| end.starts_with("\\u"))
}

/// Replaces escapes such as `\u{308}` by their letters. Messages about files have such escapes in place of
/// accents. In JSON, the backslash of an escape is doubled.
fn without_escapes(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(position) = rest.find("\\u{") {
        let (before, escape) = rest.split_at(position);
        let mut letters = escape.char_indices().skip(3).take(CODE_CHARS + 1);
        let code = letters.find(|(_, letter)| *letter == '}').map_or("", |(end, _)| &escape[3..end]);
        let letter = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
        match letter {
            Some(letter) => {
                result.push_str(before.trim_end_matches('\\'));
                result.push(letter);
                rest = &escape[3 + code.len() + 1..];
            }
            None => {
                result.push_str(before);
                result.push_str("\\u{");
                rest = &escape[3..];
            }
        }
    }
    result.push_str(rest);
    result
}

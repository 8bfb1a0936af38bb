//! Words of a text: what is indexed of it, what a query asks for, and where in the text each of them stands.
//!
//! A word is a run of letters and digits, without case and accents. Scripts that are written without blanks have no
//! such runs: there, each two signs that stand beside each other are a word, and so is the last one by itself. An emoji
//! is a word. Everything else, quotes and operators of query languages included, stands between words.

use std::ops::Range;

use unicode_normalization::char::{canonical_combining_class, decompose_compatible, is_combining_mark};
use unicode_properties::UnicodeEmoji;

/// Words are told apart by so many bytes of them, which is more than people write.
pub const MAX_WORD_BYTES: usize = 64;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextWord {
    /// The word without case and accents, as it is compared.
    pub folded: String,
    /// Where it stands in the text, in Unicode scalar values.
    pub place: Range<usize>,
}

/// Letters and digits in a row, or signs of a script without blanks.
#[derive(Debug)]
pub(super) struct Run {
    /// The folded characters, and the place in the text of what each was made of.
    signs: Vec<(char, usize)>,
    /// Whether the script sets no blanks between words.
    pub(super) is_unspaced: bool,
    /// The end of the last character, with the accents that follow it.
    end: usize,
}

/// What a character is to the words around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Part of a word.
    Letter,
    /// A sign of a script without blanks.
    Sign,
    /// A word by itself.
    Emoji,
    /// An accent and the like, which changes nothing.
    Mark,
    /// Between words.
    Other,
}

fn role(it: char) -> Role {
    if it.is_ascii() {
        return if it.is_ascii_alphanumeric() { Role::Letter } else { Role::Other };
    }
    if is_ignored(it) || is_combining_mark(it) {
        return Role::Mark;
    }
    if it.is_alphanumeric() {
        // By what is left of it: a sign in a circle is a sign.
        let mut first = None;
        fold(it, &mut |folded| first = first.or(Some(folded)));
        return if first.is_some_and(is_unspaced) { Role::Sign } else { Role::Letter };
    }
    if it.is_emoji_char() { Role::Emoji } else { Role::Other }
}

/// What only says how the characters around it are shown: joiners, directions, skin tones.
const fn is_ignored(it: char) -> bool {
    matches!(it,
        '\u{ad}' | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0100}'..='\u{e01ef}')
}

/// Thai, Lao, Burmese, Khmer, Hiragana and Han.
const fn is_unspaced(it: char) -> bool {
    matches!(it,
        '\u{e01}'..='\u{e5b}' | '\u{e81}'..='\u{edf}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309f}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Adds what is left of a character without case and accents.
fn fold(it: char, add: &mut impl FnMut(char)) {
    if it.is_ascii() {
        return add(it.to_ascii_lowercase());
    }
    bare(it, &mut |it| {
        // By way of the capital letter, which forms of one letter have in common: ß is SS, a final sigma is a sigma.
        for it in it.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase) {
            bare(it, add);
        }
    });
}

/// Adds the parts of a character that are no accents. Vowel signs without which words are others are not accents.
fn bare(it: char, add: &mut impl FnMut(char)) {
    decompose_compatible(it, |part| {
        if canonical_combining_class(part) == 0 && (part.is_alphanumeric() || is_combining_mark(part)) {
            add(part);
        }
    });
}

impl Run {
    const fn new(is_unspaced: bool) -> Self {
        Self { signs: vec![], is_unspaced, end: 0 }
    }

    fn add(&mut self, it: char, at: usize) {
        let signs = &mut self.signs;
        fold(it, &mut |folded| {
            // A vowel sign without anything before it is of no word.
            if !(signs.is_empty() && is_combining_mark(folded)) {
                signs.push((folded, at));
            }
        });
        self.end = at + 1;
    }

    /// Where the sign with this number ends.
    fn end_of(&self, sign: usize) -> usize {
        let at = self.signs[sign].1;
        // What follows has a place of its own, unless it was made of the same character.
        self.signs[sign..].iter().map(|(_, next)| *next).find(|next| *next > at).unwrap_or(self.end)
    }

    /// Its words in their order.
    pub(super) fn words(&self) -> Vec<TextWord> {
        let word = |signs: Range<usize>| TextWord {
            folded: shortened(self.signs[signs.clone()].iter().map(|(it, _)| *it).collect()),
            place: self.signs[signs.start].1..self.end_of(signs.end - 1),
        };
        if !self.is_unspaced {
            return vec![word(0..self.signs.len())];
        }
        // A vowel sign belongs to the sign before it.
        let is_start = |at: &usize| *at == 0 || !is_combining_mark(self.signs[*at].0);
        let starts: Vec<_> = (0..self.signs.len()).filter(is_start).collect();
        let behind = |second: usize| starts.get(second + 1).copied().unwrap_or(self.signs.len());
        (0..starts.len()).map(|at| word(starts[at]..behind((at + 1).min(starts.len() - 1)))).collect()
    }
}

/// The beginning of a word that is longer than words are.
fn shortened(mut word: String) -> String {
    if word.len() > MAX_WORD_BYTES {
        let end = (0..=MAX_WORD_BYTES).rev().find(|it| word.is_char_boundary(*it)).unwrap_or(0);
        word.truncate(end);
    }
    word
}

/// The runs of a text in their order.
pub(super) fn runs(text: &str) -> Vec<Run> {
    let (mut runs, mut open) = (vec![], None::<Run>);
    for (at, it) in text.chars().enumerate() {
        let role = role(it);
        match (role, &mut open) {
            (Role::Letter, Some(run)) if !run.is_unspaced => run.add(it, at),
            (Role::Sign, Some(run)) if run.is_unspaced => run.add(it, at),
            (Role::Mark, Some(run)) => run.add(it, at),
            (Role::Mark, None) => {}
            (Role::Letter | Role::Sign, _) => {
                runs.extend(open.take());
                open.insert(Run::new(role == Role::Sign)).add(it, at);
            }
            (Role::Emoji, _) => {
                runs.extend(open.take());
                runs.push(Run { signs: vec![(it, at)], is_unspaced: false, end: at + 1 });
            }
            (Role::Other, _) => runs.extend(open.take()),
        }
    }
    runs.extend(open);
    runs.retain(|it| !it.signs.is_empty());
    runs
}

/// The words of a text in their order.
///
/// ```
/// use candor_domain::search::words;
///
/// let found: Vec<_> = words("Élan & \"Straße\"").into_iter().map(|it| (it.folded, it.place)).collect();
/// assert_eq!(found, [("elan".to_owned(), 0..4), ("strasse".to_owned(), 8..14)]);
/// ```
#[must_use]
pub fn words(text: &str) -> Vec<TextWord> {
    if text.is_ascii() { words_of_ascii(text) } else { words_of_any(text) }
}

fn words_of_any(text: &str) -> Vec<TextWord> {
    runs(text).iter().flat_map(Run::words).collect()
}

/// The same for the usual text, at a fraction of the cost: every write reads its words.
fn words_of_ascii(text: &str) -> Vec<TextWord> {
    let (bytes, mut words, mut at) = (text.as_bytes(), vec![], 0);
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|it| it.is_ascii_alphanumeric()).count();
        if length > 0 {
            let folded = shortened(text[at..at + length].to_ascii_lowercase());
            words.push(TextWord { folded, place: at..at + length });
        }
        at += length + 1;
    }
    words
}

#[cfg(test)]
#[path = "words/tests.rs"]
mod tests;

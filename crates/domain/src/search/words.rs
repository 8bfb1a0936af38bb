//! Words of a text: what is indexed of it, what a query asks for, and where in the text each of them stands.
//!
//! A word is a run of letters and digits, without case and accents. Scripts that are written without blanks have no
//! such runs: there, each two signs that stand beside each other are a word, and so is the last one by itself. An emoji
//! is a word. Everything else, quotes and operators of query languages included, stands between words.

use std::collections::VecDeque;
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

/// A word as it is met in a text. Nothing of it outlives the next one.
#[derive(Debug)]
pub(super) struct MetWord<'a> {
    /// The word without case and accents, as it is compared.
    pub(super) folded: &'a str,
    /// Its place in the text, in Unicode scalar values.
    pub(super) place: Range<usize>,
    /// Number of the run that it belongs to.
    run: usize,
    /// Whether the script sets no blanks between words.
    is_unspaced: bool,
}

/// The words of letters and digits in a row, or of signs of a script without blanks.
#[derive(Debug)]
pub(super) struct Run {
    /// Whether the script sets no blanks between words.
    pub(super) is_unspaced: bool,
    /// Its words in their order.
    pub(super) words: Vec<TextWord>,
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
    if is_plain_sign(it) {
        return Role::Sign;
    }
    if is_emoticon(it) {
        return Role::Emoji;
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

/// Han signs that are their own folded form, which spares most texts of them every table of Unicode.
const fn is_plain_sign(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

/// A block of nothing but emoji, among them the usual ones.
const fn is_emoticon(character: char) -> bool {
    matches!(character, '\u{1f600}'..='\u{1f64f}')
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

/// The beginning of a word that is longer than words are.
fn shortened(word: &str) -> &str {
    &word[..word.floor_char_boundary(MAX_WORD_BYTES)]
}

/// A sign of a script without blanks, with the vowel signs that follow it.
#[derive(Debug, Clone, Copy)]
struct Group {
    /// Its length in the buffer, in bytes.
    bytes: usize,
    /// Place of its first character in the text.
    start: usize,
    /// Place of its last character in the text.
    last: usize,
}

/// The most signs of a folded character that are remembered. Few characters have more.
const MOST_REMEMBERED_SIGNS: usize = 4;
/// The number of characters that are remembered; alphabets and syllabaries have neighbours in as few places.
const REMEMBERED_CHARACTERS: usize = 64;

/// A character with its role and its folded form.
#[derive(Debug, Clone, Copy)]
struct FoldedCharacter {
    character: char,
    role: Role,
    signs: [char; MOST_REMEMBERED_SIGNS],
    /// The number of signs, which may be more than there is room for.
    count: usize,
}

impl FoldedCharacter {
    /// Looks a character up in the tables of Unicode.
    fn new(character: char) -> Self {
        let mut folded = Self { character, role: role(character), signs: ['\0'; MOST_REMEMBERED_SIGNS], count: 0 };
        if is_plain_sign(character) {
            (folded.signs[0], folded.count) = (character, 1);
        } else if matches!(folded.role, Role::Letter | Role::Sign | Role::Mark) {
            fold(character, &mut |sign| {
                if let Some(room) = folded.signs.get_mut(folded.count) {
                    *room = sign;
                }
                folded.count += 1;
            });
        }
        folded
    }
}

/// The characters that a text had last: the tables of Unicode take most of the time of reading words.
struct FoldCache([FoldedCharacter; REMEMBERED_CHARACTERS]);

impl FoldCache {
    fn new() -> Self {
        Self([FoldedCharacter::new('\0'); REMEMBERED_CHARACTERS])
    }

    fn get(&mut self, character: char) -> FoldedCharacter {
        let entry = &mut self.0[character as usize % REMEMBERED_CHARACTERS];
        if entry.character != character {
            *entry = FoldedCharacter::new(character);
        }
        *entry
    }
}

/// Reads the words of a text into one buffer and hands each of them out when it is complete.
struct WordReader<F> {
    /// The groups that words are still made of, one behind the other; a run of letters is one group.
    buffer: String,
    groups: VecDeque<Group>,
    /// The number of the run, and whether its script sets no blanks.
    run: usize,
    is_unspaced: bool,
    /// The end of the last character, with the accents that follow it.
    end: usize,
    each: F,
}

impl<F: FnMut(MetWord<'_>)> WordReader<F> {
    const fn new(each: F) -> Self {
        Self { buffer: String::new(), groups: VecDeque::new(), run: 0, is_unspaced: false, end: 0, each }
    }

    fn read(mut self, text: &str) {
        let mut cache = FoldCache::new();
        for (at, character) in text.chars().enumerate() {
            let folded = cache.get(character);
            match folded.role {
                Role::Letter => self.add_to_run(false, &folded, at),
                Role::Sign => self.add_to_run(true, &folded, at),
                // The end is 0 outside of a run.
                Role::Mark if self.end > 0 => self.add(&folded, at),
                Role::Mark => {}
                Role::Emoji => {
                    self.end_run();
                    let mut bytes = [0; 4];
                    let folded = &*character.encode_utf8(&mut bytes);
                    (self.each)(MetWord { folded, place: at..at + 1, run: self.run, is_unspaced: false });
                    self.run += 1;
                }
                Role::Other => self.end_run(),
            }
        }
        self.end_run();
    }

    fn add_to_run(&mut self, is_unspaced: bool, character: &FoldedCharacter, at: usize) {
        if is_unspaced != self.is_unspaced {
            self.end_run();
            self.is_unspaced = is_unspaced;
        }
        self.add(character, at);
    }

    /// Adds a character to the open run.
    fn add(&mut self, character: &FoldedCharacter, at: usize) {
        if let Some(signs) = character.signs.get(..character.count) {
            signs.iter().for_each(|sign| self.add_sign(*sign, at));
        } else {
            fold(character.character, &mut |sign| self.add_sign(sign, at));
        }
        self.end = at + 1;
    }

    fn add_sign(&mut self, sign: char, at: usize) {
        match self.groups.back_mut() {
            // A vowel sign without anything before it is of no word.
            None if is_combining_mark(sign) => return,
            Some(group) if !self.is_unspaced || is_combining_mark(sign) => {
                group.last = at;
                // More is never part of a word.
                if group.bytes <= MAX_WORD_BYTES {
                    self.buffer.push(sign);
                    group.bytes += sign.len_utf8();
                }
            }
            None | Some(_) => {
                self.buffer.push(sign);
                self.groups.push_back(Group { bytes: sign.len_utf8(), start: at, last: at });
            }
        }
        // A pair ends where the next sign of another character begins.
        while let [Some(_), Some(second), Some(_)] = [self.groups.front(), self.groups.get(1), self.groups.get(2)]
            && second.last < at
        {
            self.emit(at);
        }
    }

    /// Hands out the first group, with the one behind it if there is one, as a word that ends at this place.
    fn emit(&mut self, end: usize) {
        let Some(first) = self.groups.pop_front() else { return };
        let bytes = first.bytes + self.groups.front().map_or(0, |second| second.bytes);
        let folded = shortened(&self.buffer[..bytes]);
        (self.each)(MetWord { folded, place: first.start..end, run: self.run, is_unspaced: self.is_unspaced });
        self.buffer.drain(..first.bytes);
    }

    fn end_run(&mut self) {
        let (end, has_words) = (std::mem::take(&mut self.end), !self.groups.is_empty());
        while !self.groups.is_empty() {
            self.emit(end);
        }
        self.run += usize::from(has_words);
    }
}

/// Calls a function with each word of a text in their order, without a copy of any.
pub(super) fn each_word(text: &str, each: impl FnMut(MetWord<'_>)) {
    if text.is_ascii() { each_word_of_ascii(text, each) } else { WordReader::new(each).read(text) }
}

/// The same for the usual text, at a fraction of the cost: every write reads its words.
fn each_word_of_ascii(text: &str, mut each: impl FnMut(MetWord<'_>)) {
    let (bytes, mut folded, mut run, mut at) = (text.as_bytes(), String::new(), 0, 0);
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if length > 0 {
            folded.clear();
            folded.push_str(&text[at..at + length.min(MAX_WORD_BYTES)]);
            folded.make_ascii_lowercase();
            each(MetWord { folded: &folded, place: at..at + length, run, is_unspaced: false });
            run += 1;
        }
        at += length + 1;
    }
}

/// The runs of a text in their order.
pub(super) fn runs(text: &str) -> Vec<Run> {
    let (mut runs, mut numbers) = (Vec::<Run>::new(), 0);
    each_word(text, |met| {
        if met.run == numbers {
            runs.push(Run { is_unspaced: met.is_unspaced, words: vec![] });
            numbers += 1;
        }
        if let Some(run) = runs.last_mut() {
            run.words.push(TextWord { folded: met.folded.to_owned(), place: met.place });
        }
    });
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
    let mut words = vec![];
    each_word(text, |met| words.push(TextWord { folded: met.folded.to_owned(), place: met.place }));
    words
}

#[cfg(test)]
#[path = "words/tests.rs"]
mod tests;

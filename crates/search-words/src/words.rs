//! Words of a text: the terms of the index and of a query, and their positions in the text.
//!
//! A word is a run of letters and digits, without case and accents. Scripts without spaces between words (such as
//! Chinese) have no such runs: there, every two adjacent characters form a word, and so does the last character
//! alone. An emoji is a word. All other characters separate words, including quotes and operators of query
//! languages.

use std::collections::VecDeque;
use std::ops::Range;

use unicode_normalization::char::{canonical_combining_class, decompose_compatible, is_combining_mark};
use unicode_properties::UnicodeEmoji;

/// Length of the longest word, in bytes. Longer words are truncated and compared by their beginning.
pub const MAX_WORD_BYTES: usize = 64;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextWord {
    /// The word without case and accents, as used in comparisons.
    pub folded: String,
    /// Position in the text, in Unicode scalar values.
    pub place: Range<usize>,
}

/// A word while a text is being read. Borrows a buffer that the next word overwrites.
#[derive(Debug)]
pub struct BorrowedWord<'a> {
    /// The word without case and accents, as used in comparisons.
    pub folded: &'a str,
    /// Position in the text, in Unicode scalar values.
    pub place: Range<usize>,
    /// Number of the [`Run`] in the text that contains the word.
    run: usize,
    /// `true` if the script has no spaces between words.
    is_unspaced: bool,
}

/// Adjacent words: one word of letters and digits, or the words of consecutive characters of a script without
/// spaces.
#[derive(Debug)]
pub(super) struct Run {
    /// `true` if the script has no spaces between words.
    pub(super) is_unspaced: bool,
    /// Words in the order of the text.
    pub(super) words: Vec<TextWord>,
}

/// The effect of a character on words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A letter or digit, part of a word.
    Letter,
    /// A character of a script without spaces.
    Sign,
    /// An emoji, which is a word of its own.
    Emoji,
    /// An accent or similar mark, which does not change the word.
    Mark,
    /// A separator between words.
    Other,
}

fn role(character: char) -> Role {
    if character.is_ascii() {
        return if character.is_ascii_alphanumeric() { Role::Letter } else { Role::Other };
    }
    if is_plain_sign(character) {
        return Role::Sign;
    }
    if is_emoticon(character) {
        return Role::Emoji;
    }
    if is_ignored(character) || is_combining_mark(character) {
        return Role::Mark;
    }
    if character.is_alphanumeric() {
        // Decided by the folded form, because an encircled character counts as the character.
        let mut first = None;
        fold(character, &mut |folded| first = first.or(Some(folded)));
        return if first.is_some_and(is_unspaced) { Role::Sign } else { Role::Letter };
    }
    if character.is_emoji_char() { Role::Emoji } else { Role::Other }
}

/// Returns `true` for characters that only control the display of other characters: joiners, directions, skin tones.
const fn is_ignored(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns `true` for Han characters that equal their folded form, so that most Chinese texts need no lookups in the
/// Unicode tables.
const fn is_plain_sign(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

/// Returns `true` for the block that contains only emoji, including the most common ones.
const fn is_emoticon(character: char) -> bool {
    matches!(character, '\u{1f600}'..='\u{1f64f}')
}

/// Returns `true` for scripts without spaces: Thai, Lao, Burmese, Khmer, Hiragana and Han.
const fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{e01}'..='\u{e5b}' | '\u{e81}'..='\u{edf}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309f}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Passes the characters that remain of a character without case and accents to `add`.
fn fold(character: char, add: &mut impl FnMut(char)) {
    if character.is_ascii() {
        return add(character.to_ascii_lowercase());
    }
    without_accents(character, &mut |part| {
        // Upper case first, because variants of a letter share it: ß becomes SS, and a final sigma becomes a
        // sigma.
        for part in part.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase) {
            without_accents(part, add);
        }
    });
}

/// Passes the parts of a character that are not accents to `add`. Vowel signs that distinguish words are kept.
fn without_accents(character: char, add: &mut impl FnMut(char)) {
    decompose_compatible(character, |part| {
        if canonical_combining_class(part) == 0 && (part.is_alphanumeric() || is_combining_mark(part)) {
            add(part);
        }
    });
}

/// Returns the first [`MAX_WORD_BYTES`] bytes of a word, cut between characters.
fn truncate_word(word: &str) -> &str {
    &word[..word.floor_char_boundary(MAX_WORD_BYTES)]
}

/// A character of a script without spaces, with the vowel signs that follow it.
#[derive(Debug, Clone, Copy)]
struct Group {
    /// Length in the buffer, in bytes.
    bytes: usize,
    /// Position of the first character in the text.
    start: usize,
    /// Position of the last character in the text.
    last: usize,
}

/// Maximum number of folded characters that the cache keeps of one character. Few characters have more.
const MOST_REMEMBERED_SIGNS: usize = 4;
/// Size of the cache, in characters; enough for alphabets and syllabaries, whose code points are close together.
const REMEMBERED_CHARACTERS: usize = 64;

/// A character with its role and its folded form.
#[derive(Debug, Clone, Copy)]
struct FoldedCharacter {
    character: char,
    role: Role,
    signs: [char; MOST_REMEMBERED_SIGNS],
    /// Number of folded characters, which may exceed the capacity of `signs`.
    count: usize,
}

impl FoldedCharacter {
    /// Looks up a character in the Unicode tables.
    fn new(character: char) -> Self {
        let mut folding =
            Self { character, role: role(character), signs: ['\0'; MOST_REMEMBERED_SIGNS], count: 0 };
        if is_plain_sign(character) {
            (folding.signs[0], folding.count) = (character, 1);
        } else if matches!(folding.role, Role::Letter | Role::Sign | Role::Mark) {
            fold(character, &mut |sign| {
                if let Some(room) = folding.signs.get_mut(folding.count) {
                    *room = sign;
                }
                folding.count += 1;
            });
        }
        folding
    }
}

/// A cache of recent characters. Lookups in the Unicode tables dominate the time for splitting a text.
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

/// Splits a text into words in one buffer and passes each complete word to `each`.
struct WordReader<F> {
    /// Text of the groups that are not emitted yet; a run of letters is one group.
    buffer: String,
    groups: VecDeque<Group>,
    /// Number of the current run.
    run: usize,
    is_unspaced: bool,
    /// End of the last character of the run, including following accents; 0 outside of a run.
    end: usize,
    each: F,
}

impl<F: FnMut(BorrowedWord<'_>)> WordReader<F> {
    const fn new(each: F) -> Self {
        Self { buffer: String::new(), groups: VecDeque::new(), run: 0, is_unspaced: false, end: 0, each }
    }

    fn read(mut self, text: &str) {
        let mut cache = FoldCache::new();
        for (at, character) in text.chars().enumerate() {
            let folding = cache.get(character);
            match folding.role {
                Role::Letter => self.add_to_run(false, &folding, at),
                Role::Sign => self.add_to_run(true, &folding, at),
                // A mark outside of a run, where `end` is 0, belongs to no word.
                Role::Mark if self.end > 0 => self.add(&folding, at),
                Role::Mark => {}
                Role::Emoji => {
                    self.end_run();
                    let mut bytes = [0; 4];
                    let letter_text = &*character.encode_utf8(&mut bytes);
                    (self.each)(BorrowedWord {
                        folded: letter_text,
                        place: at..at + 1,
                        run: self.run,
                        is_unspaced: false,
                    });
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

    /// Adds a character to the current run.
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
            // A vowel sign without a preceding character belongs to no word.
            None if is_combining_mark(sign) => return,
            Some(group) if !self.is_unspaced || is_combining_mark(sign) => {
                group.last = at;
                // Longer words are truncated.
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
        // A pair is complete when the next character begins.
        while let [Some(_), Some(second), Some(_)] = [self.groups.front(), self.groups.get(1), self.groups.get(2)]
            && second.last < at
        {
            self.emit(at);
        }
    }

    /// Emits the first group, together with the second one if there is one, as a word that ends at `end`.
    fn emit(&mut self, end: usize) {
        let Some(first) = self.groups.pop_front() else { return };
        let bytes = first.bytes + self.groups.front().map_or(0, |second| second.bytes);
        let word = truncate_word(&self.buffer[..bytes]);
        (self.each)(BorrowedWord {
            folded: word,
            place: first.start..end,
            run: self.run,
            is_unspaced: self.is_unspaced,
        });
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

/// Calls `each` with every word of a text in order, without copying the words.
pub fn each_word(text: &str, each: impl FnMut(BorrowedWord<'_>)) {
    if text.is_ascii() { each_ascii_word(text, each) } else { WordReader::new(each).read(text) }
}

/// Calls `each` with every word of an ASCII text. Much faster than the general form, which matters because every
/// write splits its texts.
fn each_ascii_word(text: &str, mut each: impl FnMut(BorrowedWord<'_>)) {
    let (bytes, mut folded, mut run, mut at) = (text.as_bytes(), String::new(), 0, 0);
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if length > 0 {
            folded.clear();
            folded.push_str(&text[at..at + length.min(MAX_WORD_BYTES)]);
            folded.make_ascii_lowercase();
            each(BorrowedWord { folded: &folded, place: at..at + length, run, is_unspaced: false });
            run += 1;
        }
        at += length + 1;
    }
}

/// Returns the runs of a text in order.
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

/// Returns the words of a text in order.
///
/// ```
/// use candor_search_words::words;
///
/// let folded_words: Vec<_> = words("Élan & \"Straße\"").into_iter().map(|word| (word.folded, word.place)).collect();
/// assert_eq!(folded_words, [("elan".to_owned(), 0..4), ("strasse".to_owned(), 8..14)]);
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

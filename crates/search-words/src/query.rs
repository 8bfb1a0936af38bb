//! The query of a search, and its matches in the texts of a resource.

use std::collections::BTreeSet;
use std::ops::Range;

use candor_forms::page::Score;
use candor_forms::problem::{Code, ValueError};
use candor_forms::text::check_length;
use schemars::JsonSchema;
use serde::Serialize;

use super::words::{Run, each_word, runs};

/// Length of the longest query, in characters.
pub const QUERY_CHARS: usize = 200;
/// Maximum number of words of a query.
pub const MAX_WORDS: usize = 10;
/// Approximate length of the longest snippet, in characters.
const SNIPPET_CHARS: usize = 200;
/// Length of the snippet before the first match, in characters.
const BEFORE_CHARS: usize = 60;

/// Words that must all match; the last word may match the beginning of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// All words but the last.
    words: Vec<QueryWord>,
    /// The last word; `None` if it is in a script without spaces, where no word has a beginning to match.
    last: Option<String>,
}

/// A word to find, without case and accents.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueryWord {
    /// Matches exactly this word.
    Whole(String),
    /// Matches words with this beginning.
    Beginning(String),
}

/// The lookup in an index that finds the resources with one score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordLookup {
    /// Words that a resource must have.
    pub all: Vec<QueryWord>,
    /// A word that a resource must not have, because it would then have a better score.
    pub without: Option<String>,
}

/// A part of a text around its first match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Highlight {
    /// Member of the resource that contains the text.
    pub field: &'static str,
    /// The stored text, or about 200 characters of it around the first match.
    pub snippet: String,
    /// Positions of the matched words in the snippet: start (inclusive) and end (exclusive), counted from 0 in
    /// Unicode scalar values.
    #[schemars(extend("items" = {
        "type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2,
    }))]
    pub ranges: Vec<(usize, usize)>,
}

impl QueryWord {
    fn text(&self) -> &str {
        match self {
            Self::Whole(text) | Self::Beginning(text) => text,
        }
    }

    fn matches(&self, word: &str) -> bool {
        match self {
            Self::Whole(wanted) => word == wanted,
            Self::Beginning(wanted) => word.starts_with(wanted.as_str()),
        }
    }
}

impl SearchQuery {
    /// Parses a query. Only words have a meaning; there are no operators.
    ///
    /// ```
    /// use candor_search_words::SearchQuery;
    ///
    /// let query = SearchQuery::parse("calm under pres").unwrap();
    /// let matches = query.find(&[("observation", "Stays calm under pressure.")]).unwrap();
    /// assert_eq!(matches.1[0].ranges, [(6, 10), (11, 16), (17, 25)]);
    /// assert!(SearchQuery::parse("?!").is_err());
    /// ```
    ///
    /// # Errors
    /// Returns `too_short`, `too_long`, or `invalid_format` for a control character. Also returns `too_short` for
    /// a query without a word, `too_long` for a query with more than [`MAX_WORDS`] words.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        check_length(text, 1..=QUERY_CHARS)?;
        let mut runs = runs(text);
        if runs.len() > MAX_WORDS {
            return Err(ValueError::new(Code::TooLong, format!("must have at most {MAX_WORDS} words")));
        }
        let Some(last) = runs.pop() else {
            return Err(ValueError::new(Code::TooShort, "must have a word: a letter, a digit or an emoji"));
        };
        let last = if last.is_unspaced { Err(last) } else { Ok(last.words) };
        let rest = runs.iter().chain(last.as_ref().err()).flat_map(wanted_words);
        let words = rest.collect::<BTreeSet<_>>().into_iter().collect();
        let last = last.ok().and_then(|words| words.into_iter().next());
        Ok(Self { words, last: last.map(|word| word.folded) })
    }

    /// Returns the index lookup that finds the resources with this score; `None` if no resource can have the
    /// score.
    #[must_use]
    pub fn lookup(&self, score: Score) -> Option<WordLookup> {
        let with = |last: Option<QueryWord>| {
            let mut all = self.words.clone();
            all.extend(last.filter(|word| !self.words.contains(word)));
            all
        };
        let last = self.last.clone();
        match score {
            Score::Whole => Some(WordLookup { all: with(last.map(QueryWord::Whole)), without: None }),
            Score::Begun => {
                last.filter(|word| !self.words.contains(&QueryWord::Whole(word.clone()))).map(|word| WordLookup {
                    all: with(Some(QueryWord::Beginning(word.clone()))),
                    without: Some(word),
                })
            }
        }
    }

    fn wanted_texts(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(QueryWord::text).chain(self.last.as_deref())
    }

    /// Returns the score and the highlights of these texts; `None` if a word is missing.
    #[must_use]
    pub fn find(&self, texts: &[(&'static str, &str)]) -> Option<(Score, Vec<Highlight>)> {
        if !self.wanted_texts().all(|wanted| texts.iter().any(|(_, text)| may_contain(text, wanted))) {
            return None;
        }
        let mut progress = MatchedWords { query: self, has: vec![false; self.words.len()], last: None };
        let places: Vec<_> = texts.iter().map(|(_, text)| progress.read(text)).collect();
        let score = progress.score()?;
        let matching_places = texts.iter().zip(places);
        let highlights = matching_places.filter_map(|((field, text), places)| highlight(field, text, &places));
        Some((score, highlights.collect()))
    }
}

/// The words of a query that were found so far.
struct MatchedWords<'q> {
    query: &'q SearchQuery,
    /// `true` for each of `query.words` that was found.
    has: Vec<bool>,
    /// Best match of the last word so far.
    last: Option<Score>,
}

impl MatchedWords<'_> {
    /// Reads a text and returns the positions of its matches: the first match, and the matches that fit in a
    /// snippet with it.
    fn read(&mut self, text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::<Range<usize>>::new();
        each_word(text, |met| {
            let is_far = |first: &Range<usize>| met.place.start >= (first.start + SNIPPET_CHARS).max(first.end);
            if self.record(met.folded) && !places.first().is_some_and(is_far) {
                places.push(met.place);
            }
        });
        places
    }

    /// Records a word of a text and returns `true` if it matches.
    fn record(&mut self, word: &str) -> bool {
        let mut is_wanted = false;
        for (wanted, has) in self.query.words.iter().zip(&mut self.has) {
            if wanted.matches(word) {
                (*has, is_wanted) = (true, true);
            }
        }
        if let Some(rest) = self.query.last.as_ref().and_then(|last| word.strip_prefix(last.as_str())) {
            self.last = self.last.max(Some(if rest.is_empty() { Score::Whole } else { Score::Begun }));
            is_wanted = true;
        }
        is_wanted
    }

    fn score(&self) -> Option<Score> {
        let last = if self.query.last.is_some() { self.last } else { Some(Score::Whole) };
        last.filter(|_| self.has.iter().all(|has| *has))
    }
}

/// Returns `false` if no word of the text can begin with `wanted`. A hundred times faster than splitting the text.
fn may_contain(text: &str, wanted: &str) -> bool {
    let word_bytes = wanted.as_bytes();
    !text.is_ascii()
        || text.as_bytes().windows(word_bytes.len()).any(|bytes| bytes.eq_ignore_ascii_case(word_bytes))
}

/// Returns the words that a text must have for one run of the query. Not used for a final word of a script with
/// spaces, which matches as a prefix.
fn wanted_words(run: &Run) -> Vec<QueryWord> {
    let texts = run.words.iter().map(|word| word.folded.clone());
    if run.is_unspaced && run.words.len() > 1 {
        // Leaves out the word of the last character alone, which only a text that ends there has. The last
        // word of two characters contains it.
        return texts.take(run.words.len() - 1).map(QueryWord::Whole).collect();
    }
    texts.map(if run.is_unspaced { QueryWord::Beginning } else { QueryWord::Whole }).collect()
}

fn highlight(field: &'static str, text: &str, places: &[Range<usize>]) -> Option<Highlight> {
    let first = places.first()?;
    let excerpt = snippet_range(text, first);
    let mut ranges: Vec<(usize, usize)> = vec![];
    for place in places.iter().filter(|place| place.start >= excerpt.start && place.end <= excerpt.end) {
        let (from, to) = (place.start - excerpt.start, place.end - excerpt.start);
        match ranges.last_mut() {
            // In scripts without spaces words are pairs of characters, which overlap: merge their ranges.
            Some(last) if from < last.1 => last.1 = last.1.max(to),
            _ => ranges.push((from, to)),
        }
    }
    Some(Highlight { field, snippet: text.chars().skip(excerpt.start).take(excerpt.len()).collect(), ranges })
}

/// Returns the part of a text to show around a match, cut at white space where possible.
fn snippet_range(text: &str, first: &Range<usize>) -> Range<usize> {
    let length = text.chars().count();
    if length <= SNIPPET_CHARS {
        return 0..length;
    }
    let earliest = first.start.saturating_sub(BEFORE_CHARS).min(length - SNIPPET_CHARS);
    let latest = (first.start + SNIPPET_CHARS).max(first.end).min(length);
    // Copies only the part that can be shown, plus one character on either side: the text may be far longer.
    let begin = earliest.saturating_sub(1);
    let chars: Vec<char> = text.chars().skip(begin).take(latest + 1 - begin).collect();
    let is_start = |at: &usize| *at == 0 || chars[*at - 1 - begin].is_whitespace();
    let start = (earliest..=first.start).find(is_start).unwrap_or(earliest);
    let latest = (start + SNIPPET_CHARS).max(first.end).min(length);
    let is_end = |at: &usize| *at == length || chars[*at - begin].is_whitespace();
    let end = (first.end..=latest).rev().find(is_end).unwrap_or(latest);
    start..end
}

#[cfg(test)]
#[path = "query/tests.rs"]
mod tests;

//! What is searched for, and what of a resource answers it.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Serialize;

use super::words::{Run, each_word, runs};
use crate::problem::{Code, Flaw};
use crate::text::bounded;

/// The longest query.
pub const QUERY_CHARS: usize = 200;
/// The most words of a query.
pub const MAX_WORDS: usize = 10;
/// About the longest part of a text that is shown around its first match.
const SNIPPET_CHARS: usize = 200;
/// So much of it stands before the match.
const BEFORE_CHARS: usize = 60;

/// Words that are all wanted, the last one at least as the beginning of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// All but the last one.
    words: Vec<WantedWord>,
    /// The last one; none where it ends in a script without blanks, whose words have no beginnings.
    last: Option<String>,
}

/// A word that is wanted, without case and accents.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum WantedWord {
    /// The word itself.
    Whole(String),
    /// Words that begin like this.
    Beginning(String),
}

/// How well something matches; the better is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Score {
    /// The last word is there only as the beginning of another one.
    Begun,
    /// Every word is there.
    Whole,
}

/// What an index is asked for to find what has one score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedWords {
    /// All of these.
    pub all: Vec<WantedWord>,
    /// But not this word.
    pub without: Option<String>,
}

/// A part of a text that shows why it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Highlight {
    /// The member of the resource that has the text.
    pub field: &'static str,
    /// The text around the first match, as it is stored.
    pub snippet: String,
    /// Where in the snippet the words stand, in Unicode scalar values: from the first to behind the last.
    pub ranges: Vec<(usize, usize)>,
}

impl Score {
    /// The scores, the best one first.
    pub const ALL: [Self; 2] = [Self::Whole, Self::Begun];

    /// As answers show it.
    #[must_use]
    pub const fn value(self) -> f64 {
        match self {
            Self::Whole => 1.0,
            Self::Begun => 0.5,
        }
    }
}

impl WantedWord {
    fn text(&self) -> &str {
        match self {
            Self::Whole(it) | Self::Beginning(it) => it,
        }
    }

    fn is(&self, word: &str) -> bool {
        match self {
            Self::Whole(wanted) => word == wanted,
            Self::Beginning(wanted) => word.starts_with(wanted.as_str()),
        }
    }
}

impl SearchQuery {
    /// Reads a query. Nothing in it has a meaning but its words.
    ///
    /// ```
    /// use candor_domain::search::SearchQuery;
    ///
    /// let query = SearchQuery::parse("calm under pres").unwrap();
    /// let found = query.find(&[("observation", "Stays calm under pressure.")]).unwrap();
    /// assert_eq!(found.1[0].ranges, [(6, 10), (11, 16), (17, 25)]);
    /// assert!(SearchQuery::parse("?!").is_err());
    /// ```
    ///
    /// # Errors
    /// `too_short`, `too_long`, `invalid_format` for a control character; `too_short` without a word, `too_long` with more
    /// than [`MAX_WORDS`].
    pub fn parse(text: &str) -> Result<Self, Flaw> {
        bounded(text, 1..=QUERY_CHARS)?;
        let mut runs = runs(text);
        if runs.len() > MAX_WORDS {
            return Err(Flaw::new(Code::TooLong, format!("must have at most {MAX_WORDS} words")));
        }
        let Some(last) = runs.pop() else {
            return Err(Flaw::new(Code::TooShort, "must have a word: a letter, a digit or an emoji"));
        };
        let last = if last.is_unspaced { Err(last) } else { Ok(last.words) };
        let rest = runs.iter().chain(last.as_ref().err()).flat_map(wanted);
        let words = rest.collect::<BTreeSet<_>>().into_iter().collect();
        Ok(Self { words, last: last.ok().and_then(|it| it.into_iter().next()).map(|it| it.folded) })
    }

    /// What an index is asked for to find what has this score; none if nothing can have it.
    #[must_use]
    pub fn wanted(&self, score: Score) -> Option<WantedWords> {
        let with = |last: Option<WantedWord>| {
            let mut all = self.words.clone();
            all.extend(last.filter(|it| !self.words.contains(it)));
            all
        };
        let last = self.last.clone();
        match score {
            Score::Whole => Some(WantedWords { all: with(last.map(WantedWord::Whole)), without: None }),
            Score::Begun => last
                .filter(|it| !self.words.contains(&WantedWord::Whole(it.clone())))
                .map(|it| WantedWords { all: with(Some(WantedWord::Beginning(it.clone()))), without: Some(it) }),
        }
    }

    fn wanted_texts(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(WantedWord::text).chain(self.last.as_deref())
    }

    /// How well these texts match together, and where; none if a word is missing.
    #[must_use]
    pub fn find(&self, texts: &[(&'static str, &str)]) -> Option<(Score, Vec<Highlight>)> {
        if !self.wanted_texts().all(|wanted| texts.iter().any(|(_, text)| may_have(text, wanted))) {
            return None;
        }
        let mut progress = Progress { query: self, has: vec![false; self.words.len()], last: None };
        let places: Vec<_> = texts.iter().map(|(_, text)| progress.read(text)).collect();
        let score = progress.score()?;
        let shown = texts.iter().zip(places);
        let highlights = shown.filter_map(|((field, text), places)| highlight(field, text, &places));
        Some((score, highlights.collect()))
    }
}

/// What of a query was met in some texts.
struct Progress<'q> {
    query: &'q SearchQuery,
    /// Whether each of the words is there.
    has: Vec<bool>,
    /// How well the last word is there.
    last: Option<Score>,
}

impl Progress<'_> {
    /// Reads a text, and answers where it has words that are wanted: the first one, and those that can be shown with it.
    fn read(&mut self, text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::<Range<usize>>::new();
        each_word(text, |met| {
            let is_far = |first: &Range<usize>| met.place.start >= (first.start + SNIPPET_CHARS).max(first.end);
            if self.meet(met.folded) && !places.first().is_some_and(is_far) {
                places.push(met.place);
            }
        });
        places
    }

    /// Notes a word, and whether it is wanted.
    fn meet(&mut self, word: &str) -> bool {
        let mut is_wanted = false;
        for (wanted, has) in self.query.words.iter().zip(&mut self.has) {
            if wanted.is(word) {
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

/// Whether a word in the text can begin like this. It takes a hundredth of the time that reading the words does.
fn may_have(text: &str, wanted: &str) -> bool {
    let wanted = wanted.as_bytes();
    !text.is_ascii() || text.as_bytes().windows(wanted.len()).any(|it| it.eq_ignore_ascii_case(wanted))
}

/// What is wanted of a run that is not the last one, or that has no beginnings.
fn wanted(run: &Run) -> Vec<WantedWord> {
    let texts = run.words.iter().map(|word| word.folded.clone());
    if run.is_unspaced && run.words.len() > 1 {
        // The last sign by itself is in the pair before it.
        return texts.take(run.words.len() - 1).map(WantedWord::Whole).collect();
    }
    texts.map(if run.is_unspaced { WantedWord::Beginning } else { WantedWord::Whole }).collect()
}

fn highlight(field: &'static str, text: &str, places: &[Range<usize>]) -> Option<Highlight> {
    let first = places.first()?;
    let shown = around(text, first);
    let mut ranges: Vec<(usize, usize)> = vec![];
    for it in places.iter().filter(|it| it.start >= shown.start && it.end <= shown.end) {
        let (from, to) = (it.start - shown.start, it.end - shown.start);
        match ranges.last_mut() {
            // Pairs of signs overlap.
            Some(last) if from < last.1 => last.1 = last.1.max(to),
            _ => ranges.push((from, to)),
        }
    }
    Some(Highlight { field, snippet: text.chars().skip(shown.start).take(shown.len()).collect(), ranges })
}

/// The part of a text that is shown around a match, from the beginning of a word to the end of one where it has blanks.
fn around(text: &str, first: &Range<usize>) -> Range<usize> {
    let length = text.chars().count();
    if length <= SNIPPET_CHARS {
        return 0..length;
    }
    let earliest = first.start.saturating_sub(BEFORE_CHARS).min(length - SNIPPET_CHARS);
    let latest = (first.start + SNIPPET_CHARS).max(first.end).min(length);
    // Only what can be shown, with one character on either side: the text may be a hundred times as long.
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

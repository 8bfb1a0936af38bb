//! Words of a search: the words of texts in any script, the quality of a match, and the highlights of a hit (decision G,
//! "Search").
//!
//! Indexes of stores find candidates by the result of [`words`]; [`SearchQuery::find`] scores them and finds the
//! highlights. Both split texts into words in the same way, so that all stores return equal hits.

mod query;
mod words;

pub use candor_forms::page::Score;
pub use query::{Highlight, MAX_WORDS, QUERY_CHARS, QueryWord, SearchQuery, WordLookup};
pub use words::{BorrowedWord, MAX_WORD_BYTES, TextWord, each_word, words};

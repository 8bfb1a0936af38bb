//! What 40 queries find among 200 sentences as people write them, in two dozen languages. What was judged by hand is in
//! `docs/search.md`; this keeps it so.

#![cfg(test)]

use candor_domain::search::{Score, SearchQuery};

const SENTENCES: &str = include_str!("search/sentences.txt");
const QUERIES: &str = include_str!("search/queries.txt");
const FOUND: &str = include_str!("search/found.txt");

/// Each query, and below it what it finds: whole words (`=`) before beginnings (`~`), the last line first as the newest.
fn found() -> String {
    let mut text = String::new();
    for asked in QUERIES.lines() {
        let query = SearchQuery::parse(asked).unwrap();
        let hits: Vec<_> =
            SENTENCES.lines().filter_map(|it| Some((query.find(&[("observation", it)])?.0, it))).collect();
        text.push_str(&format!("{asked}\n"));
        for score in Score::ALL {
            let sign = if score == Score::Whole { '=' } else { '~' };
            for (_, it) in hits.iter().rev().filter(|(it, _)| *it == score) {
                text.push_str(&format!("  {sign} {it}\n"));
            }
        }
    }
    text
}

#[test]
fn what_was_judged_good_is_found_still() {
    assert_eq!(SENTENCES.lines().count(), 200);
    let found = found();
    assert!(found == FOUND, "tests/search/found.txt is to be judged anew, now this is found:\n{found}");
}

//! Results of 40 queries on 200 natural sentences in two dozen languages, compared with the results that were
//! judged by hand in `docs/search.md`.

use candor_search_words::{Score, SearchQuery};

const SENTENCES: &str = include_str!("search_relevance/sentences.txt");
const QUERIES: &str = include_str!("search_relevance/queries.txt");
const FOUND: &str = include_str!("search_relevance/found.txt");

/// Lists each query with its results: whole words (`=`) before prefixes (`~`), newest first. The last line of
/// the sentences is the newest.
fn find_all() -> String {
    let mut text = String::new();
    for line in QUERIES.lines() {
        let query = SearchQuery::parse(line).unwrap();
        let hits: Vec<_> = SENTENCES
            .lines()
            .filter_map(|sentence| Some((query.find(&[("observation", sentence)])?.0, sentence)))
            .collect();
        text.push_str(&format!("{line}\n"));
        for score in Score::ALL {
            let sign = if score == Score::Whole { '=' } else { '~' };
            for (_, sentence) in hits.iter().rev().filter(|(hit, _)| *hit == score) {
                text.push_str(&format!("  {sign} {sentence}\n"));
            }
        }
    }
    text
}

#[test]
fn results_equal_those_judged_by_hand() {
    assert_eq!(SENTENCES.lines().count(), 200);
    let results = find_all();
    let file = "tests/rules/search_relevance/found.txt";
    assert!(
        results == FOUND,
        "results differ from {file}; judge the new results and store them there:\n{results}"
    );
}

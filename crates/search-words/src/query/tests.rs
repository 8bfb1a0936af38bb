use super::*;
use crate::words;
use proptest::prelude::*;

const FIELD: &str = "observation";

fn query(text: &str) -> SearchQuery {
    SearchQuery::parse(text).unwrap()
}

fn score(asked: &str, text: &str) -> Option<Score> {
    query(asked).find(&[(FIELD, text)]).map(|(score, _)| score)
}

#[test]
fn every_word_must_match_and_the_last_may_match_a_beginning() {
    for (asked, text, wanted) in [
        ("calm", "Kept calm.", Some(Score::Whole)),
        ("CALM kept", "Kept calm.", Some(Score::Whole)),
        ("kept cal", "Kept calm.", Some(Score::Begun)),
        ("cal kept", "Kept calm.", None),
        ("kept calmly", "Kept calm.", None),
        ("kept kept kep", "Kept calm.", Some(Score::Begun)),
        ("cal calm", "Kept calm.", None),
        ("日本", "日本語の本", Some(Score::Whole)),
        ("日", "日本語", Some(Score::Whole)),
        ("語", "日本語", Some(Score::Whole)),
        ("本日", "日本語", None),
        ("日 kep", "kept 日本", Some(Score::Begun)),
        ("🎉", "done 🎉", Some(Score::Whole)),
    ] {
        assert_eq!(score(asked, text), wanted, "{asked} in {text}");
    }
}

#[test]
fn words_match_across_texts_and_each_text_has_a_highlight() {
    let texts = [("observation", "Kept calm."), ("impact", "The customer stayed calm."), ("note", "Nothing.")];
    let (score, highlights) = query("calm customer").find(&texts).unwrap();
    assert_eq!(score, Score::Whole);
    let ranges: Vec<_> =
        highlights.iter().map(|highlight| (highlight.field, highlight.ranges.as_slice())).collect();
    assert_eq!(ranges, [("observation", &[(5, 9)][..]), ("impact", &[(4, 12), (20, 24)])]);
}

#[test]
fn query_without_words_or_with_too_many_is_refused() {
    let code = |text: &str| SearchQuery::parse(text).err().map(|flaw| flaw.code);
    assert_eq!(code(""), Some(Code::TooShort));
    assert_eq!(code("  "), Some(Code::TooShort));
    assert_eq!(code("\"*\" & !"), Some(Code::TooShort));
    assert_eq!(code(&"a".repeat(201)), Some(Code::TooLong));
    assert_eq!(code(&"é".repeat(200)), None);
    assert_eq!(code(&"ab ".repeat(11)), Some(Code::TooLong));
    assert_eq!(code(&"ab ".repeat(10)), None);
    assert_eq!(code(&"漢".repeat(200)), None, "one run");
    assert_eq!(code("a\u{1}b"), Some(Code::InvalidFormat));
}

#[test]
fn snippet_surrounds_the_first_match_and_is_cut_between_words() {
    let text = format!("{}needle {}", "before ".repeat(100), "after ".repeat(100));
    let (_, highlights) = query("needle").find(&[(FIELD, &text)]).unwrap();
    let Highlight { snippet, ranges, .. } = &highlights[0];
    assert!(snippet.starts_with("before ") && snippet.ends_with("after"), "{snippet}");
    assert!((180..=SNIPPET_CHARS).contains(&snippet.chars().count()), "{snippet}");
    assert_eq!(ranges.len(), 1);
    let marked_text: String = snippet.chars().skip(ranges[0].0).take(ranges[0].1 - ranges[0].0).collect();
    assert_eq!(marked_text, "needle");
}

#[test]
fn snippet_of_a_text_without_spaces_is_cut() {
    let text = format!("{}針{}", "山".repeat(1000), "川".repeat(1000));
    let (_, highlights) = query("針").find(&[(FIELD, &text)]).unwrap();
    assert!(highlights[0].snippet.chars().count() <= SNIPPET_CHARS + 1);
    let word = "a".repeat(3000);
    let (_, highlights) = query("a").find(&[(FIELD, &word)]).unwrap();
    assert_eq!(highlights[0].snippet.chars().count(), 3000, "a word is whole");
}

/// Returns `true` if a full-text index would find the text.
fn is_found(wanted: &WordLookup, text: &str) -> bool {
    let words_of_text: BTreeSet<_> = words(text).into_iter().map(|word| word.folded).collect();
    let has = |wanted: &QueryWord| words_of_text.iter().any(|word| wanted.matches(word));
    wanted.all.iter().all(has) && wanted.without.as_ref().is_none_or(|word| !words_of_text.contains(word))
}

/// Texts over a small alphabet, so that words of query and text are often equal.
fn texts(chars: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let alphabet: Vec<char> = "abAB  áÁßsS日本語👍\u{301}\"*'.-".chars().collect();
    proptest::collection::vec(proptest::sample::select(alphabet), chars)
        .prop_map(|chars| chars.into_iter().collect())
}

proptest! {
    #[test]
    fn index_lookup_finds_exactly_the_texts_with_its_score(
        asked in texts(1..13), text in texts(0..60)
    ) {
        let Ok(query) = SearchQuery::parse(&asked) else { return Ok(()) };
        let index_score = query.find(&[(FIELD, &text)]).map(|(score, _)| score);
        for score in Score::ALL {
            let by_index = query.lookup(score).is_some_and(|wanted| is_found(&wanted, &text));
            prop_assert_eq!(by_index, index_score == Some(score), "{:?}", score);
        }
    }

    #[test]
    fn highlight_ranges_are_within_the_snippet(
        asked in texts(1..7), text in texts(0..500)
    ) {
        let Ok(query) = SearchQuery::parse(&asked) else { return Ok(()) };
        let Some((_, highlights)) = query.find(&[(FIELD, &text)]) else { return Ok(()) };
        prop_assert!(!highlights.is_empty());
        for highlight in highlights {
            let length = highlight.snippet.chars().count();
            prop_assert!(text.contains(&highlight.snippet) && !highlight.ranges.is_empty());
            prop_assert!(highlight.ranges.iter().all(|(from, to)| from < to && *to <= length));
            prop_assert!(highlight.ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        }
    }

    #[test]
    fn any_query_and_text_can_be_read(query in "\\PC{0,210}", any in any::<String>()) {
        for text in [query, any] {
            let _ = SearchQuery::parse(&text).map(|query| query.find(&[(FIELD, &text)]));
        }
    }
}

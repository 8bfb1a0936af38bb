//! Property tests: a search of the index finds the documents that a naive scan of all documents finds.

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::id::EmployeeId;
use candor_domain::time::Timestamp;
use candor_search_words::{QueryWord, WordLookup};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;

use crate::block::{Block, KeyRange};
use crate::query::{IndexQuery, Term, with_all};
use crate::segment::{Document, DocumentKey, SegmentContents, keys};
use crate::terms::{CHANGED, EVERY_READER, reader_term, subject_term};
use crate::visible::VisibleTerms;

/// Words of the documents and queries. Several words are prefixes of longer ones.
const WORDS: [&str; 12] = ["a", "ab", "abc", "abcd", "abcde", "abd", "b", "ba", "kept", "keep", "日本", "日本語"];
const PEOPLE: u8 = 6;

fn person(number: u8) -> EmployeeId {
    EmployeeId::from_bytes([number; 16])
}

/// One document of the naive model.
#[derive(Debug, Clone)]
struct Text {
    words: BTreeSet<&'static str>,
    subject: u8,
    readers: BTreeSet<u8>,
    is_public: bool,
}

impl Text {
    fn terms(&self) -> Vec<String> {
        let words = self.words.iter().map(|word| (*word).to_owned());
        let readers = self.readers.iter().map(|reader| reader_term(person(*reader)));
        let every = self.is_public.then(|| EVERY_READER.to_owned());
        words.chain([subject_term(person(self.subject))]).chain(readers).chain(every).collect()
    }

    fn has(&self, wanted: &QueryWord) -> bool {
        match wanted {
            QueryWord::Whole(word) => self.words.contains(word.as_str()),
            QueryWord::Beginning(begin) => self.words.iter().any(|word| word.starts_with(begin.as_str())),
        }
    }

    fn answers(&self, query: &WordLookup, subject: Option<u8>) -> bool {
        query.all.iter().all(|wanted| self.has(wanted))
            && query.without.as_ref().is_none_or(|word| !self.words.contains(word.as_str()))
            && subject.is_none_or(|subject| self.subject == subject)
    }
}

fn texts() -> impl Strategy<Value = Vec<Text>> {
    let text = (
        btree_set(select(&WORDS[..]), 1..5),
        0..PEOPLE,
        btree_set(0..PEOPLE, 0..3),
        proptest::bool::weighted(0.1),
    );
    let text = text.prop_map(|(words, subject, readers, is_public)| Text { words, subject, readers, is_public });
    vec(text, 1..300)
}

/// A query of some words. Its last word is either complete or a prefix.
fn queries() -> impl Strategy<Value = WordLookup> {
    let words = btree_set(select(&WORDS[..]), 0..3).prop_map(|words| words.into_iter().collect::<Vec<_>>());
    (words, select(&WORDS[..]), any::<bool>()).prop_map(|(words, last, is_begun)| {
        let words = words.into_iter().filter(|word| *word != last);
        let mut all: Vec<_> = words.map(|word| QueryWord::Whole(word.to_owned())).collect();
        let own = last.to_owned();
        all.push(if is_begun { QueryWord::Beginning(own.clone()) } else { QueryWord::Whole(own.clone()) });
        WordLookup { all, without: is_begun.then_some(own) }
    })
}

fn key(number: usize) -> DocumentKey {
    let number = u8::try_from(number % 256).unwrap();
    DocumentKey { created_at: Timestamp::from_millis(i64::from(number / 3)), id: [number; 16] }
}

/// Builds segments with `each` texts per segment, or merges them into one if `is_merged`.
fn segments(texts: &[Text], each: usize, is_merged: bool) -> Vec<SegmentContents> {
    let documents = texts.iter().enumerate().map(|(number, text)| {
        let id = [&u64::try_from(number).unwrap().to_be_bytes()[..], &[0; 8]].concat();
        Document { key: DocumentKey { id: id.try_into().unwrap(), ..key(number) }, terms: text.terms() }
    });
    let documents: Vec<_> = documents.collect();
    let parts = (0_u8..).zip(documents.chunks(each));
    let parts: Vec<_> = parts.map(|(id, part)| SegmentContents::build([id; 16], part.to_vec()).unwrap()).collect();
    if is_merged { vec![SegmentContents::merge([255; 16], &parts).unwrap()] } else { parts }
}

/// Returns the blocks that a store returns for a range: those that overlap it.
fn read<'b>(blocks: &'b [Block], range: &KeyRange) -> &'b [Block] {
    let from = blocks.partition_point(|block| block.first <= range.from).saturating_sub(1);
    let to = blocks.partition_point(|block| block.first <= range.to);
    &blocks[from..to.max(from)]
}

/// Runs a search on a segment as the service does, and returns the document numbers.
fn search(segment: &SegmentContents, query: &IndexQuery, visible: Option<Vec<u32>>) -> Vec<u32> {
    let read_term = |term: &Term| read(&segment.blocks, &term.read);
    let all = query.steps().fold(visible, |among, step| {
        Some(with_all(among, step.iter().map(|term| (term, read(&segment.blocks, &term.read)))))
    });
    match query.prefix() {
        Some(prefix) => {
            prefix.find_extensions_only(all.as_deref(), [read_term(&prefix.terms[0]), read_term(&prefix.terms[1])])
        }
        None => all.unwrap_or_default(),
    }
}

/// Returns the index in the naive model of each document with one of these numbers in the segment.
fn text_numbers(segment: &SegmentContents, numbers: &[u32]) -> Vec<usize> {
    let all: Vec<_> = segment.chunks.iter().flat_map(|chunk| keys(chunk)).collect();
    let number = |at: &u32| {
        let id = all[usize::try_from(*at).unwrap()].id;
        usize::try_from(u64::from_be_bytes(id[..8].try_into().unwrap())).unwrap()
    };
    numbers.iter().map(number).collect()
}

fn naive(texts: &[Text], answers: impl Fn(&Text) -> bool) -> BTreeSet<usize> {
    (0..).zip(texts).filter(|(_, text)| answers(text)).map(|(number, _)| number).collect()
}

proptest! {
    #[test]
    fn index_finds_the_same_documents_as_a_naive_scan(
        texts in texts(), query in queries(), subject in proptest::option::of(0..PEOPLE), each in 1_usize..200,
        is_merged: bool,
    ) {
        let index_query = IndexQuery::new(&query, subject.map(person));
        let segments = segments(&texts, each.max(texts.len().div_ceil(200)), is_merged);
        let by_index: BTreeSet<_> =
            segments.iter().flat_map(|segment| text_numbers(segment, &search(segment, &index_query, None))).collect();
        prop_assert_eq!(by_index, naive(&texts, |text| text.answers(&query, subject)));
    }

    #[test]
    fn bound_search_finds_visible_documents_only(
        texts in texts(), query in queries(), viewer in 0..PEOPLE, team in btree_set(0..PEOPLE, 0..4),
    ) {
        let [segment] = &segments(&texts, texts.len(), false)[..] else { panic!("one segment") };
        let members: Vec<_> = team.iter().map(|member| person(*member)).collect();
        let visible = VisibleTerms::new(person(viewer), &members);
        let numbers = visible.numbers(|term| read(&segment.blocks, &term.read));
        let by_index = search(segment, &IndexQuery::new(&query, None), Some(numbers));
        let is_visible =
            |text: &Text| text.is_public || text.readers.contains(&viewer) || team.contains(&text.subject);
        let expected_documents = naive(&texts, |text| is_visible(text) && text.answers(&query, None));
        prop_assert_eq!(text_numbers(segment, &by_index).into_iter().collect::<BTreeSet<_>>(), expected_documents);
    }

    #[test]
    fn changed_document_with_the_whole_word_is_a_prefix_match(word in select(&WORDS[..])) {
        let terms = vec![word.to_owned(), CHANGED.to_owned()];
        let document = Document { key: key(0), terms };
        let segment = SegmentContents::build([1; 16], vec![document]).unwrap();
        let lookup = WordLookup { all: vec![QueryWord::Beginning(word.to_owned())], without: Some(word.to_owned()) };
        prop_assert_eq!(search(&segment, &IndexQuery::new(&lookup, None), None), [0]);
    }

    #[test]
    fn documents_of_a_segment_are_numbered_from_the_newest(texts in texts(), each in 1_usize..200) {
        let newest: BTreeMap<_, _> = (0..texts.len()).map(|number| (key(number), number)).collect();
        prop_assume!(newest.len() == texts.len());
        for segment in segments(&texts, each.max(texts.len().div_ceil(200)), true) {
            let all: Vec<_> = segment.chunks.iter().flat_map(|chunk| keys(chunk)).collect();
            prop_assert!(all.is_sorted_by(|one, next| one > next));
            prop_assert_eq!(all.len(), texts.len());
        }
    }
}

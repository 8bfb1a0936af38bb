//! Queries on a segment: the terms to read, and the documents that match.

use candor_domain::id::EmployeeId;
use candor_search_words::{QueryWord, WordLookup};

use crate::block::{Block, KeyRange, common_within, numbers_within};
use crate::terms::{CHANGED, subject_term};

/// Minimum length of a long prefix, in characters. Few words begin with a long prefix, so one read fetches them
/// together with the word that equals the prefix.
const LONG: usize = 4;

/// A term to look up, or all terms with a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    wanted: KeyRange,
    /// The range to read. It may exceed the wanted range if a later step of the search needs the rest.
    pub read: KeyRange,
}

impl Term {
    pub(crate) fn whole(term: &str) -> Self {
        Self { wanted: KeyRange::whole(term), read: KeyRange::whole(term) }
    }

    /// Creates the term for the last word of a query. For a long word, the range to read includes the longer words
    /// that begin with it: the search for the word as a prefix needs the same blocks next.
    fn last(word: &str) -> Self {
        Self {
            read: if is_long(word) { KeyRange::with_prefix(word) } else { KeyRange::whole(word) },
            ..Self::whole(word)
        }
    }

    fn with_prefix(text: &str) -> Self {
        Self::range(KeyRange::with_prefix(text))
    }

    /// Creates a `Term` that stands for all terms of a range.
    pub(crate) fn range(range: KeyRange) -> Self {
        Self { wanted: range.clone(), read: range }
    }
}

/// The terms of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexQuery {
    whole: Vec<Term>,
    begun: Vec<Term>,
    prefix: Option<PrefixTerm>,
}

/// Words that have the last word of a query as a proper prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefixTerm {
    /// Terms to read: the words with the prefix, and the changed documents, which may no longer have the word
    /// itself.
    pub terms: [Term; 2],
    /// `true` if the words with the prefix are read together with the word itself.
    pub is_long: bool,
    own: KeyRange,
    others: KeyRange,
}

impl IndexQuery {
    /// Creates a query for documents with these words, optionally only about one person.
    #[must_use]
    pub fn new(words: &WordLookup, subject: Option<EmployeeId>) -> Self {
        let (mut whole, mut begun, mut prefix) = (vec![], vec![], None);
        for (at, it) in words.all.iter().enumerate() {
            match it {
                QueryWord::Whole(word) if at + 1 == words.all.len() => whole.push(Term::last(word)),
                QueryWord::Whole(word) => whole.push(Term::whole(word)),
                QueryWord::Beginning(word) if words.without.as_ref() == Some(word) => {
                    prefix = Some(PrefixTerm::new(word))
                }
                QueryWord::Beginning(word) => begun.push(Term::with_prefix(word)),
            }
        }
        whole.extend(subject.map(|subject| Term::whole(&subject_term(subject))));
        Self { whole, begun, prefix }
    }

    /// Returns the required terms in steps, the rarer ones first.
    pub fn steps(&self) -> impl Iterator<Item = &[Term]> {
        [self.whole.as_slice(), self.begun.as_slice()].into_iter().filter(|part| !part.is_empty())
    }

    /// Returns the prefix of the query, if its last word is one.
    #[must_use]
    pub const fn prefix(&self) -> Option<&PrefixTerm> {
        self.prefix.as_ref()
    }
}

impl PrefixTerm {
    fn new(word: &str) -> Self {
        let (own, begun) = (KeyRange::whole(word), Term::with_prefix(word));
        // The word itself sorts before its extensions.
        let others = KeyRange { from: own.to.clone(), to: begun.read.to.clone() };
        Self { terms: [begun, Term::whole(CHANGED)], is_long: is_long(word), own, others }
    }

    /// Returns the numbers of the documents that have an extension of the word but not the word itself. Adds
    /// changed documents with the word itself, because they may have lost the word. Considers only the documents
    /// in `some`, if it is given. Expects the blocks that were read for each of [`PrefixTerm::terms`].
    #[must_use]
    pub fn find_extensions_only(&self, some: Option<&[u32]>, [begun, changed]: [&[Block]; 2]) -> Vec<u32> {
        let mut numbers = in_range(some, &self.others, begun);
        let own = in_range(Some(&numbers), &self.own, begun);
        numbers.retain(|number| own.binary_search(number).is_err());
        let changed_terms = in_range(some, &self.terms[1].wanted, changed);
        numbers.extend(in_range(Some(&changed_terms), &self.own, begun));
        numbers.sort_unstable();
        numbers
    }
}

fn is_long(word: &str) -> bool {
    word.chars().nth(LONG - 1).is_some()
}

/// Returns the numbers of the documents that have all of these terms, each given with its blocks. Restricted
/// to `among` if it is given.
#[must_use]
pub fn with_all<'b>(
    among: Option<Vec<u32>>,
    terms: impl IntoIterator<Item = (&'b Term, &'b [Block])>,
) -> Vec<u32> {
    let (mut all, mut terms) = (among, Vec::from_iter(terms));
    // The rarest term first, so that the intersections stay small.
    terms.sort_by_key(|(_, blocks)| blocks.len());
    for (term, blocks) in terms {
        all = Some(in_range(all.as_deref(), &term.wanted, blocks));
    }
    all.unwrap_or_default()
}

/// Returns the documents with a term in the range, among `some` or all.
pub(crate) fn in_range(some: Option<&[u32]>, range: &KeyRange, blocks: &[Block]) -> Vec<u32> {
    let mut numbers = vec![];
    for it in blocks {
        match some {
            Some(some) => common_within(&it.body, range, some, &mut numbers),
            None => numbers_within(&it.body, range, &mut numbers),
        }
    }
    if !numbers.is_sorted_by(|a, b| a < b) {
        numbers.sort_unstable();
        numbers.dedup();
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{Document, DocumentKey, SegmentContents};
    use candor_domain::time::Timestamp;
    use candor_search_words::{Score, SearchQuery};

    fn find_documents(asked: &str, score: Score) -> Vec<u32> {
        found_in(&["kept calm", "calmly kept", "kept it calm, calmly", "calm", "lost it"], asked, score)
    }

    fn found_in(texts: &[&str], asked: &str, score: Score) -> Vec<u32> {
        let documents = (0..).zip(texts).map(|(at, text)| Document {
            key: DocumentKey { created_at: Timestamp::from_millis(100 - at), id: [0; 16] },
            terms: text.split(' ').map(|part| part.trim_end_matches(',').to_owned()).collect(),
        });
        let segment = SegmentContents::build([1; 16], documents.collect()).unwrap();
        let query = IndexQuery::new(&SearchQuery::parse(asked).unwrap().lookup(score).unwrap(), None);
        let blocks = segment.blocks.as_slice();
        let all =
            query.steps().fold(None, |among, step| Some(with_all(among, step.iter().map(|term| (term, blocks)))));
        match query.prefix() {
            Some(it) => it.find_extensions_only(all.as_deref(), [blocks, blocks]),
            None => all.unwrap_or_default(),
        }
    }

    #[test]
    fn document_with_every_word_is_found() {
        assert_eq!(find_documents("kept calm", Score::Whole), [0, 2]);
        assert_eq!(find_documents("calm", Score::Whole), [0, 2, 3]);
        assert!(find_documents("never", Score::Whole).is_empty());
    }

    #[test]
    fn prefix_match_excludes_whole_word_matches() {
        assert_eq!(find_documents("kept calm", Score::Begun), [1]);
        assert_eq!(find_documents("i", Score::Begun), [2, 4]);
    }

    #[test]
    fn changed_document_may_have_lost_the_word() {
        let changed_text = format!("calm calmly {CHANGED}");
        assert_eq!(found_in(&["calm calmly", &changed_text, "calmly"], "calm", Score::Begun), [1, 2]);
        assert_eq!(found_in(&["calm calmly", &changed_text, "calmly"], "calm", Score::Whole), [0, 1]);
    }

    #[test]
    fn word_order_does_not_matter() {
        let texts = ["rare all", "all", "all rare", "rare"];
        assert_eq!(found_in(&texts, "rare all", Score::Whole), [0, 2]);
        assert_eq!(found_in(&texts, "all rare", Score::Whole), [0, 2]);
    }
}

//! Visibility filter: the documents of a segment that a bound key may see, computed before any word is looked
//! up.
//!
//! The search intersects its words with these documents. Therefore neither the rows that it reads nor its
//! requests to the store depend on documents that are hidden from the key.

use candor_domain::id::EmployeeId;

use crate::block::{Block, KeyRange, numbers_of_terms};
use crate::query::{Term, in_range};
use crate::terms::{EVERY_READER, SUBJECT, reader_term, subject_of, subject_term};

/// Maximum number of subjects that are looked up individually. For more, all subjects of a segment are read,
/// about 30 bytes each.
const SINGLE_SUBJECTS: usize = 64;

/// Terms of the documents that a person may see: those that they may read themselves, and those about people
/// below them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleTerms {
    single: Vec<Term>,
    team: Option<PeopleBelow>,
}

/// Subjects that are too many for individual lookups.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PeopleBelow {
    all_subjects: Term,
    /// The people below, ascending.
    members: Vec<EmployeeId>,
}

impl VisibleTerms {
    /// Creates the terms of a person with the people below them at any depth.
    #[must_use]
    pub fn new(person: EmployeeId, team: &[EmployeeId]) -> Self {
        let mut single = vec![Term::whole(EVERY_READER), Term::whole(&reader_term(person))];
        if team.len() <= SINGLE_SUBJECTS {
            single.extend(team.iter().map(|member| Term::whole(&subject_term(*member))));
            return Self { single, team: None };
        }
        let mut members = team.to_vec();
        members.sort_unstable();
        Self { single, team: Some(PeopleBelow { all_subjects: Term::range(subjects()), members }) }
    }

    /// Returns the terms whose blocks [`VisibleTerms::numbers`] needs.
    pub fn terms(&self) -> impl Iterator<Item = &Term> + Clone {
        self.single.iter().chain(self.team.as_ref().map(|team| &team.all_subjects))
    }

    /// Returns the ascending numbers of the visible documents of a segment, from the blocks of each term.
    #[must_use]
    pub fn numbers<'b>(&self, blocks_of: impl Fn(&Term) -> &'b [Block]) -> Vec<u32> {
        let mut numbers = vec![];
        for term in &self.single {
            numbers.extend(in_range(None, &term.read, blocks_of(term)));
        }
        if let Some(PeopleBelow { all_subjects, members }) = &self.team {
            for block in blocks_of(all_subjects) {
                let is_wanted =
                    |term: &[u8]| subject_of(term).is_some_and(|subject| members.binary_search(&subject).is_ok());
                numbers_of_terms(&block.body, &all_subjects.read, is_wanted, &mut numbers);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// Returns the range of all subjects' terms. A ULID begins with a digit from 0 to 7.
fn subjects() -> KeyRange {
    KeyRange { from: format!("{SUBJECT}0").into_bytes(), to: format!("{SUBJECT}8").into_bytes() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{Document, DocumentKey, SegmentContents};
    use crate::terms::CHANGED;
    use candor_domain::time::Timestamp;

    fn person(number: u128) -> EmployeeId {
        EmployeeId::from_bytes((number << 100 | number).to_be_bytes())
    }

    /// Creates a segment with these terms per document, newest first, plus a word and the term of changed
    /// documents.
    fn segment(documents: &[Vec<String>]) -> SegmentContents {
        let document = |(at, terms): (i64, &Vec<String>)| Document {
            key: DocumentKey { created_at: Timestamp::from_millis(100_000 - at), id: [0; 16] },
            terms: terms.iter().cloned().chain(["word".to_owned(), CHANGED.to_owned()]).collect(),
        };
        SegmentContents::build([1; 16], (0..).zip(documents).map(document).collect()).unwrap()
    }

    #[test]
    fn person_sees_documents_of_readers_and_of_team() {
        let (me, below, other) = (person(1), person(2), person(3));
        let segment = segment(&[
            vec![subject_term(below), reader_term(other)],
            vec![subject_term(me)],
            vec![subject_term(other), reader_term(me)],
            vec![subject_term(other), EVERY_READER.to_owned()],
            vec![subject_term(other), reader_term(other)],
            vec![subject_term(below), reader_term(me)],
        ]);
        let visible = |team: &[EmployeeId]| VisibleTerms::new(me, team).numbers(|_| &segment.blocks);
        assert_eq!(visible(&[below]), [0, 2, 3, 5]);
        assert_eq!(visible(&[]), [2, 3, 5]);
    }

    #[test]
    fn large_team_sees_the_same_as_its_members_one_by_one() {
        let documents: Vec<_> = (0..3_000).map(|number| vec![subject_term(person(2 + number % 300))]).collect();
        let segment = segment(&documents);
        let team: Vec<_> = (0..200).map(|number| person(2 + number * 2)).collect();
        let whole = VisibleTerms::new(person(1), &team);
        assert_eq!(whole.terms().count(), 3, "both readers' terms and one range of subjects");
        let mut single: Vec<u32> = team
            .chunks(SINGLE_SUBJECTS)
            .flat_map(|some| VisibleTerms::new(person(1), some).numbers(|_| &segment.blocks))
            .collect();
        single.sort_unstable();
        assert_eq!(single.len(), 1_500);
        assert_eq!(whole.numbers(|_| &segment.blocks), single);
    }
}

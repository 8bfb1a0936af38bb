//! Searches against pages of the list, by the frequency of their words.

use super::*;
use crate::data::words::{Vocabulary, load};
use candor_test_load::Random;

/// Number of concurrent clients. Each search is so long that few clients keep the machine busy.
const SEARCHERS: usize = 4;
/// Number of different searches of a class.
const SEARCHES: u32 = 40;

/// Range of places in the vocabulary, from which searches take a word.
type Places = (u32, u32);
const FREQUENT: Places = (20, 28);
const MIDDLE: Places = (70, 100);
const RARE: Places = (2_000, 4_000);

/// Searches with words of some frequency: name of the class, places of both words in the vocabulary, number of
/// characters that the second word is cut to, and limits on PostgreSQL and on SQLite.
type Class = (&'static str, [Places; 2], Option<usize>, [f64; 2]);

const CLASSES: [Class; 7] = [
    ("two rare words", [RARE, RARE], None, [5.0, 5.0]),
    ("a rare and a frequent word", [(8_000, 12_000), FREQUENT], None, [5.0, 8.0]),
    ("two frequent words", [FREQUENT, FREQUENT], None, [8.0, 10.0]),
    ("two words that some 2,000 texts have", [MIDDLE, MIDDLE], None, [25.0, 15.0]),
    ("a word and a beginning of 1 character", [MIDDLE, MIDDLE], Some(1), [25.0, 25.0]),
    ("a word and a beginning of 3 characters", [MIDDLE, MIDDLE], Some(3), [25.0, 25.0]),
    ("a word and a beginning of 6 characters", [MIDDLE, RARE], Some(6), [25.0, 25.0]),
];

/// Compares the searches of each class with pages of the list.
pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let (vocabulary, key) = (Vocabulary::new(), &instance.api.key);
    load(&instance.database()?, &vocabulary, instance.tenant, data.options.texts())?;
    let mut random = Random::from_seed(23);
    let mut any = |(from, to): Places| vocabulary.word(random.number(from, to));
    let mut lines = vec![];
    for (name, [first, last], characters, [postgres, sqlite]) in CLASSES {
        let searches = (0..SEARCHES).map(|_| {
            let (first, last) = (any(first), any(last));
            let last = &last[..characters.unwrap_or(last.len())];
            format!("/v1/search?types=observations&limit=50&q={first}+{last}")
        });
        let contenders = [Traffic::read_any(key, searches.collect()), Traffic::first_page(key)]
            .map(|traffic| instance.contender(traffic, SEARCHERS, 0));
        let what = format!("Search of {name}, against a page of the list");
        let at_most = instance.store.pick(postgres, sqlite);
        lines.push(data.compare(instance, &contenders)?.cost(what, at_most));
    }
    Ok(lines)
}

//! Texts with word frequencies as in natural language. The service indexes them as rows from before the search
//! existed.

use super::{DAYS, FIRST_DAY, MILLIS_PER_DAY, Series, person};
use crate::Result;
use crate::database::Database;
use crate::service::wait_until;
use candor_test_load::Random;
use std::time::Duration;

const WORDS_PER_TEXT: usize = 60;
/// Number of different words in all texts.
const VOCABULARY: u32 = 50_000;
/// Number of rows of an `INSERT` statement.
const BATCH: u32 = 2_000;
/// Number of people that the texts are about.
const PEOPLE: u32 = 10_000;
/// Upper bound for the duration of indexing all texts.
const PATIENCE: Duration = Duration::from_secs(1_800);

const TEXTS: Series = Series { before: "01a", after: "00b1a96c40d2e85f7733c4" };

/// Words by descending frequency. The `n`-th word has an `n`-th of the frequency of the first word (Zipf's law).
#[derive(Debug)]
pub(crate) struct Vocabulary {
    words: Vec<String>,
    /// Sums of the frequencies up to each word.
    sums: Vec<f64>,
}

impl Vocabulary {
    pub(crate) fn new() -> Self {
        let mut sum = 0.0;
        let sums = (0..VOCABULARY).map(|place| {
            sum += 1.0 / f64::from(place + 1);
            sum
        });
        Self { sums: sums.collect(), words: (0..VOCABULARY).map(word).collect() }
    }

    /// Returns the word at a place, counted from 0.
    pub(crate) fn word(&self, place: u32) -> &str {
        &self.words[place as usize]
    }

    fn any(&self, random: &mut Random) -> &str {
        let all = self.sums[self.sums.len() - 1];
        let target = random.draw() as f64 / u64::MAX as f64 * all;
        let place = self.sums.partition_point(|sum| *sum < target);
        &self.words[place.min(self.words.len() - 1)]
    }

    fn text(&self, random: &mut Random) -> String {
        let words: Vec<&str> = (0..WORDS_PER_TEXT).map(|_| self.any(random)).collect();
        words.join(" ")
    }
}

/// Returns the word with a number: a syllable for each digit in base 70. Many words share each beginning.
fn word(number: u32) -> String {
    const FIRST: &[u8] = b"bdfgklmnprstvz";
    const SECOND: &[u8] = b"aeiou";
    // Two random digits before the number itself: words of similar frequency start differently.
    let mut rest = Random::from_seed(u64::from(number)).draw() % 4_900 + 4_900 * u64::from(number + 1);
    let mut text = String::new();
    while rest > 0 {
        text.push(char::from(FIRST[(rest % 14) as usize]));
        text.push(char::from(SECOND[(rest / 14 % 5) as usize]));
        rest /= 70;
    }
    text
}

/// Loads this number of texts of a tenant, and waits until the service has indexed them.
pub(crate) fn load(database: &Database, vocabulary: &Vocabulary, tenant: [u8; 16], count: u32) -> Result {
    const LEFT: &str = "((SELECT count(*) FROM search_backlog) + (SELECT count(*) FROM search_pending))";
    database.begin_load()?;
    let (store, mut random) = (database.store(), Random::from_seed(5));
    let tenant = store.bytes(tenant);
    let mut rows = vec![];
    for number in 0..count {
        let day = FIRST_DAY + number / (count / DAYS).max(1);
        let created_at = store.time(&format!("{} + {number}", u64::from(day) * MILLIS_PER_DAY));
        let (id, about) = (store.bytes(TEXTS.id(number)), store.bytes(person(number % PEOPLE).to_bytes()));
        // The text consists of letters and blanks, so it needs no escapes.
        rows.push(format!(
            "({tenant}, {id}, {about}, 'strength', '{}', {}, {}, {created_at}, {created_at}, {}, 1)",
            vocabulary.text(&mut random),
            store.ids(&[]),
            store.date(&day.to_string()),
            store.no(),
        ));
        if rows.len() == BATCH as usize || number == count - 1 {
            let columns = "tenant_id, id, employee_id, type, observation, attribute_ids, observation_date, \
                           created_at, updated_at, archived, version";
            database.run(&format!("INSERT INTO observations ({columns}) VALUES {}", rows.join(", ")))?;
            rows.clear();
        }
    }
    let insert = "INSERT INTO search_backlog (tenant_id, table_name, after_id) VALUES";
    database.run(&format!("{insert} ({tenant}, 'observations', {})", store.bytes([0; 16])))?;
    database.end_load()?;
    wait_until("all texts are indexed", PATIENCE, || Ok(database.number(LEFT)? == 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn words_differ_and_share_beginnings() {
        let all = Vocabulary::new().words;
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        for length in [1, 3] {
            let beginning = &all[80][..length];
            assert!(all.iter().filter(|word| word.starts_with(beginning)).count() > 10, "{beginning}");
        }
    }
}

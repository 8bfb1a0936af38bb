//! Texts with word frequencies as in natural language, in tenants of very different size. The service indexes them
//! as rows from before the search existed.

use super::{DAYS, FIRST_DAY, MILLIS_PER_DAY, Series, hex, person};
use crate::Result;
use crate::database::Database;
use crate::random::Random;
use crate::service::wait_until;
use crate::store::Store;
use candor_domain::id::ObservationId;
use std::time::{Duration, Instant};

pub(crate) const WORDS_PER_TEXT: usize = 60;
/// Number of different words in all texts.
const VOCABULARY: u32 = 50_000;
/// Two frequent words that never occur in the same text. One in `APART_SHARE` texts has the first word, and as
/// many have the second.
pub(crate) const APART: [&str; 2] = ["northward", "southward"];
const APART_SHARE: u64 = 5;
/// Number of rows of an `INSERT` statement.
const BATCH: u32 = 2_000;
/// Number of people that the texts are about.
const PEOPLE: u32 = 10_000;
/// Upper bound for the duration of indexing all texts.
const PATIENCE: Duration = Duration::from_secs(1_800);

const TEXTS: Series = Series { before: "01a", after: "00b1a96c40d2e85f7733c4" };

/// Words by descending frequency. The word at place `n` has an `n`-th of the frequency of the first (Zipf's law).
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

    /// Returns the word at a place.
    pub(crate) fn word(&self, place: u32) -> &str {
        &self.words[place as usize]
    }

    fn any(&self, random: &mut Random) -> &str {
        let all = self.sums[self.sums.len() - 1];
        let wanted = random.next() as f64 / u64::MAX as f64 * all;
        let place = self.sums.partition_point(|sum| *sum < wanted);
        &self.words[place.min(self.words.len() - 1)]
    }

    /// Returns a random text.
    pub(crate) fn text(&self, random: &mut Random) -> String {
        let words: Vec<&str> = (0..WORDS_PER_TEXT).map(|_| self.any(random)).collect();
        words.join(" ")
    }
}

/// Returns the word with a number: a syllable for each digit in base 70. Many words share each beginning.
fn word(number: u32) -> String {
    const FIRST: &[u8] = b"bdfgklmnprstvz";
    const SECOND: &[u8] = b"aeiou";
    // Two random digits before the number itself: words of similar frequency start differently.
    let mut rest = Random::seeded(u64::from(number)).next() % 4_900 + 4_900 * u64::from(number + 1);
    let mut text = String::new();
    while rest > 0 {
        text.push(char::from(FIRST[(rest % 14) as usize]));
        text.push(char::from(SECOND[(rest / 14 % 5) as usize]));
        rest /= 70;
    }
    text
}

/// Number of texts of a tenant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Texts {
    pub(crate) tenant: [u8; 16],
    pub(crate) count: u32,
}

impl Texts {
    /// Divides texts among tenants without other data, by Zipf's law.
    pub(crate) fn divide(tenants: u32, texts: u32) -> Vec<Self> {
        let shares: Vec<f64> = (1..=tenants).map(|place| 1.0 / f64::from(place)).collect();
        let all: f64 = shares.iter().sum();
        let mut random = Random::seeded(11);
        let each = shares.into_iter().map(|share| {
            let mut tenant = [0; 16];
            tenant[8..].copy_from_slice(&random.next().to_be_bytes());
            Self { tenant, count: (f64::from(texts) * share / all) as u32 }
        });
        each.collect()
    }
}

/// Loads the texts of all tenants in random order, and queues them for the index.
pub(crate) fn load(database: &Database, vocabulary: &Vocabulary, tenants: &[Texts]) -> Result {
    database.begin_load()?;
    let store = database.store();
    let mut random = Random::seeded(5);
    let mut left = tenants.to_vec();
    let all = tenants.iter().map(|texts| texts.count).sum();
    let mut rows = vec![];
    for number in 0..all {
        let tenant = take_one(&mut left, random.between(0, all - number)).ok_or("no tenant has texts left")?;
        let mut text = vocabulary.text(&mut random);
        if let Some(word) = usize::try_from(random.next() % APART_SHARE).ok().and_then(|place| APART.get(place)) {
            text = format!("{text} {word}");
        }
        rows.push(row(store, (number, all), tenant, &text));
        if number % BATCH == BATCH - 1 || number == all - 1 {
            let columns = "tenant_id, id, employee_id, type, observation, attribute_ids, observation_date, \
                           created_at, updated_at, archived, version";
            database.run(&format!("INSERT INTO observations ({columns}) VALUES {}", rows.join(", ")))?;
            rows.clear();
        }
    }
    let queued =
        |texts: &Texts| format!("({}, 'observations', {})", store.bytes(texts.tenant), store.bytes([0; 16]));
    let queued: Vec<String> = tenants.iter().map(queued).collect();
    let insert = "INSERT INTO search_backlog (tenant_id, table_name, after_id) VALUES";
    database.run(&format!("{insert} {}", queued.join(", ")))?;
    database.end_load()
}

/// Removes one text from those left and returns its tenant. `turn` is the position of the text among all of them;
/// `None` if there are fewer.
fn take_one(left: &mut [Texts], mut turn: u32) -> Option<[u8; 16]> {
    for texts in left {
        match turn.checked_sub(texts.count) {
            Some(rest) => turn = rest,
            None => {
                texts.count -= 1;
                return Some(texts.tenant);
            }
        }
    }
    None
}

/// The values of an observation. The text consists of letters and blanks, so it needs no escapes.
fn row(store: Store, (number, all): (u32, u32), tenant: [u8; 16], text: &str) -> String {
    let per_day = (all / DAYS).max(1);
    let day = FIRST_DAY + number / per_day;
    let at = u64::from(day) * MILLIS_PER_DAY + u64::from(number % per_day) * (MILLIS_PER_DAY / u64::from(per_day));
    let (id, about) = (ObservationId::from_bytes(TEXTS.id(number)), person(number % PEOPLE));
    let (tenant, id, about) = (hex(&tenant), hex(&id.to_bytes()), hex(&about.to_bytes()));
    store.pick(
        format!(
            "('{tenant}', '{id}', '{about}', 'strength', '{text}', '{{}}', date '1970-01-01' + {day}, \
             to_timestamp({at} / 1000.0), to_timestamp({at} / 1000.0), false, 1)"
        ),
        format!("(X'{tenant}', X'{id}', X'{about}', 'strength', '{text}', X'', {day}, {at}, {at}, 0, 1)"),
    )
}

/// Waits until the service has indexed everything. Returns the seconds.
pub(crate) fn wait_until_indexed(database: &Database) -> Result<f64> {
    const LEFT: &str = "(SELECT count(*) FROM search_backlog) + (SELECT count(*) FROM search_pending)";
    let started = Instant::now();
    wait_until("all texts are indexed", PATIENCE, || Ok(database.number(&format!("({LEFT})"))? == 0))?;
    Ok(started.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn words_differ_and_share_beginnings() {
        let all = Vocabulary::new().words;
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert!(all.iter().all(|word| word.bytes().all(|letter| letter.is_ascii_lowercase())));
        for length in [1, 3] {
            let beginning = &all[80][..length];
            assert!(all.iter().filter(|word| word.starts_with(beginning)).count() > 10, "{beginning}");
        }
    }

    #[test]
    fn few_words_are_in_most_texts() {
        let vocabulary = Vocabulary::new();
        let mut random = Random::seeded(3);
        let texts: Vec<String> = (0..1_000).map(|_| vocabulary.text(&mut random)).collect();
        let count = |place| {
            let word = vocabulary.word(place);
            texts.iter().filter(|text| text.split(' ').any(|other| other == word)).count()
        };
        assert!(count(0) > 900);
        assert!((100..300).contains(&count(23)), "{}", count(23));
        assert!(count(10_000) < 10);
    }

    #[test]
    fn every_tenant_gets_its_texts() {
        let mut left = Texts::divide(20, 10_000);
        let all: u32 = left.iter().map(|texts| texts.count).sum();
        assert!(left[0].count > 10 * left[19].count && left[19].count > 0);
        assert!((0..all).all(|taken| take_one(&mut left, all - taken - 1).is_some()));
        assert_eq!(take_one(&mut left, 0), None);
    }
}

//! Texts of a vocabulary as languages have it, where few words are in most texts and most words in few, in tenants of
//! very different size. The service indexes them as what was there before the search.

use std::thread::park_timeout;
use std::time::{Duration, Instant};

use super::{DAYS, FIRST_DAY, Series, hex, person};
use crate::Outcome;
use crate::admin::Admin;
use crate::options::Store;
use crate::random::Random;
use candor_domain::id::ObservationId;
use diesel::RunQueryDsl;
use diesel::connection::{Connection, SimpleConnection};
use diesel::sql_types::BigInt;
use diesel::sqlite::SqliteConnection;

/// Words of a text.
pub(crate) const WORDS_OF_A_TEXT: usize = 60;
/// Different words.
const VOCABULARY: u32 = 50_000;
/// Two words that many texts have, and none both: every fifth text one of them, and every fifth the other.
pub(crate) const APART: [&str; 2] = ["northward", "southward"];
const EVERY: u64 = 5;
const MILLIS_PER_DAY: i64 = 86_400_000;
/// Rows that are sent at once.
const BATCH: u32 = 2_000;
/// People that texts are about.
const PEOPLE: u32 = 10_000;
/// How often it is looked whether all is indexed, …
const PAUSE: Duration = Duration::from_millis(200);
/// … and for how long at the most.
const PATIENCE: Duration = Duration::from_secs(1_800);

const TEXTS: Series = Series { before: "01a", behind: "00b1a96c40d2e85f7733c4" };

/// Words by how often they occur: the one at place `n` an `n`-th as often as the first.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    words: Vec<String>,
    /// Up to each word, the sum of how often they occur.
    sums: Vec<f64>,
}

impl Vocabulary {
    pub(crate) fn new() -> Self {
        let mut sum = 0.0;
        let sums = (0..VOCABULARY).map(|it| {
            sum += 1.0 / f64::from(it + 1);
            sum
        });
        Self { sums: sums.collect(), words: (0..VOCABULARY).map(word).collect() }
    }

    /// The word at a place, the first of which is the most frequent.
    pub(crate) fn word(&self, place: u32) -> &str {
        &self.words[place as usize]
    }

    fn any(&self, random: &mut Random) -> &str {
        let all = self.sums[self.sums.len() - 1];
        let wanted = random.next() as f64 / u64::MAX as f64 * all;
        let place = self.sums.partition_point(|it| *it < wanted);
        &self.words[place.min(self.words.len() - 1)]
    }

    /// A text of so many words.
    pub(crate) fn text(&self, random: &mut Random) -> String {
        let words: Vec<&str> = (0..WORDS_OF_A_TEXT).map(|_| self.any(random)).collect();
        words.join(" ")
    }
}

/// Syllables by the number's digits; every beginning is that of many words.
fn word(number: u32) -> String {
    const FIRST: &[u8] = b"bdfgklmnprstvz";
    const SECOND: &[u8] = b"aeiou";
    // Two digits by chance before the number itself: words that are as frequent begin differently.
    let mut rest = Random::seeded(u64::from(number)).next() % 4_900 + 4_900 * u64::from(number + 1);
    let mut text = String::new();
    while rest > 0 {
        text.push(char::from(FIRST[(rest % 14) as usize]));
        text.push(char::from(SECOND[(rest / 14 % 5) as usize]));
        rest /= 70;
    }
    text
}

/// How many texts a tenant gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Texts {
    pub(crate) tenant: [u8; 16],
    pub(crate) count: u32,
}

impl Texts {
    /// Tenants without anything else, the largest with most of so many texts.
    pub(crate) fn of_others(tenants: u32, texts: u32) -> Vec<Self> {
        let shares: Vec<f64> = (1..=tenants).map(|it| 1.0 / f64::from(it)).collect();
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

/// Loads the texts of all these tenants, mixed as they would have come in.
pub(crate) fn load(store: Store, database: &str, vocabulary: &Vocabulary, tenants: &[Texts]) -> Outcome {
    let mut database = Loading::begin(store, database)?;
    let mut random = Random::seeded(5);
    let mut left = tenants.to_vec();
    let all = tenants.iter().map(|it| it.count).sum();
    let mut rows = Rows { store, all, texts: vec![] };
    for number in 0..all {
        let tenant = next(&mut left, random.between(0, all - number)).ok_or("no tenant has texts left")?;
        let mut text = vocabulary.text(&mut random);
        if let Some(word) = usize::try_from(random.next() % EVERY).ok().and_then(|it| APART.get(it)) {
            text = format!("{text} {word}");
        }
        rows.add(number, tenant, &text);
        if number % BATCH == BATCH - 1 || number == all - 1 {
            database.run(&rows.statements())?;
        }
    }
    database.run(&to_be_indexed(store, tenants))?;
    database.end()
}

/// A tenant by chance: each comes as often as it has texts left.
fn next(left: &mut [Texts], mut turn: u32) -> Option<[u8; 16]> {
    for it in left {
        match turn.checked_sub(it.count) {
            Some(rest) => turn = rest,
            None => {
                it.count -= 1;
                return Some(it.tenant);
            }
        }
    }
    None
}

/// A database that is being loaded.
enum Loading {
    Server(Box<Admin>),
    File(Box<SqliteConnection>),
}

impl Loading {
    fn begin(store: Store, database: &str) -> Outcome<Self> {
        Ok(match store {
            Store::Postgres => {
                let admin = Admin::connect(database)?;
                // Rows are known to be right, and are not worth a flush each.
                admin.run("SET session_replication_role = replica; SET synchronous_commit = off")?;
                Self::Server(Box::new(admin))
            }
            Store::Sqlite => {
                let mut file = SqliteConnection::establish(database.trim_start_matches("sqlite://"))?;
                file.batch_execute(
                    "PRAGMA busy_timeout = 5000; PRAGMA synchronous = off; PRAGMA foreign_keys = off; \
                     PRAGMA cache_size = -1000000;",
                )?;
                Self::File(Box::new(file))
            }
        })
    }

    fn run(&mut self, statements: &str) -> Outcome {
        match self {
            Self::Server(admin) => admin.run(statements),
            Self::File(file) => Ok(file.batch_execute(statements)?),
        }
    }

    fn end(mut self) -> Outcome {
        match &mut self {
            Self::Server(admin) => {
                // Beside commits that are not flushed, rows are not marked as visible to all.
                admin.run("SET synchronous_commit = on; CHECKPOINT")?;
                admin.run("VACUUM (ANALYZE, FREEZE)")?;
                admin.run("CHECKPOINT")
            }
            Self::File(file) => Ok(file.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)")?),
        }
    }
}

/// Rows on their way to a store.
struct Rows {
    store: Store,
    all: u32,
    /// What stands behind `VALUES`.
    texts: Vec<String>,
}

impl Rows {
    fn add(&mut self, number: u32, tenant: [u8; 16], text: &str) {
        let per_day = (self.all / DAYS).max(1);
        let day = FIRST_DAY + number / per_day;
        let at = i64::from(day) * MILLIS_PER_DAY + i64::from(number % per_day) * (MILLIS_PER_DAY / i64::from(per_day));
        let (id, about) = (ObservationId::from_bytes(TEXTS.id(number)), person(number % PEOPLE));
        let (tenant, id, about) = (hex(&tenant), hex(&id.to_bytes()), hex(&about.to_bytes()));
        // Words are letters only.
        match self.store {
            Store::Postgres => self.texts.push(format!(
                "('{tenant}', '{id}', '{about}', 'strength', '{text}', '{{}}', date '1970-01-01' + {day}, \
                 to_timestamp({at} / 1000.0), to_timestamp({at} / 1000.0), false, 1)"
            )),
            Store::Sqlite => self.texts.push(format!(
                "(X'{tenant}', X'{id}', X'{about}', 'strength', '{text}', X'', {day}, {at}, {at}, 0, 1)"
            )),
        }
    }

    /// What puts them into the store; there are none left then.
    fn statements(&mut self) -> String {
        let columns = "tenant_id, id, employee_id, type, observation, attribute_ids, observation_date, created_at, \
                       updated_at, archived, version";
        let texts = std::mem::take(&mut self.texts).join(", ");
        format!("INSERT INTO observations ({columns}) VALUES {texts}")
    }
}

/// The observations of these tenants are from before the index of words.
fn to_be_indexed(store: Store, tenants: &[Texts]) -> String {
    let mark = if store == Store::Sqlite { "X" } else { "" };
    let row = |it: &Texts| format!("({mark}'{}', 'observations', {mark}'{}')", hex(&it.tenant), hex(&[0; 16]));
    let rows = tenants.iter().map(row).collect::<Vec<_>>().join(", ");
    format!("INSERT INTO search_backlog (tenant_id, table_name, after_id) VALUES {rows}")
}

/// Waits until a service has indexed everything; says how many seconds that took.
pub(crate) fn wait_until_indexed(store: Store, database: &str) -> Outcome<f64> {
    const LEFT: &str = "SELECT (SELECT count(*) FROM search_backlog) + (SELECT count(*) FROM search_pending)";
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let left = match store {
            Store::Postgres => i64::try_from(Admin::connect(database)?.number(LEFT)?)?,
            Store::Sqlite => {
                let mut file = SqliteConnection::establish(database.trim_start_matches("sqlite://"))?;
                file.batch_execute("PRAGMA busy_timeout = 5000")?;
                diesel::dsl::sql::<BigInt>(LEFT).get_result(&mut file)?
            }
        };
        if left == 0 {
            return Ok(begun.elapsed().as_secs_f64());
        }
        park_timeout(PAUSE);
    }
    Err("the service does not index what was there before".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn words_differ_and_begin_alike() {
        let all = Vocabulary::new().words;
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert!(all.iter().all(|it| it.bytes().all(|it| it.is_ascii_lowercase())));
        for length in [1, 3] {
            let beginning = &all[80][..length];
            assert!(all.iter().filter(|it| it.starts_with(beginning)).count() > 10, "{beginning}");
        }
    }

    #[test]
    fn few_words_are_in_most_texts() {
        let vocabulary = Vocabulary::new();
        let mut random = Random::seeded(3);
        let texts: Vec<String> = (0..1_000).map(|_| vocabulary.text(&mut random)).collect();
        let with = |word: &str| texts.iter().filter(|it| it.split(' ').any(|it| it == word)).count();
        assert!(with(vocabulary.word(0)) > 900);
        assert!((100..300).contains(&with(vocabulary.word(23))), "{}", with(vocabulary.word(23)));
        assert!(with(vocabulary.word(10_000)) < 10);
    }

    #[test]
    fn every_tenant_gets_its_texts() {
        let mut left = Texts::of_others(20, 10_000);
        let all: u32 = left.iter().map(|it| it.count).sum();
        assert!(left[0].count > 10 * left[19].count && left[19].count > 0);
        assert!((0..all).all(|it| next(&mut left, all - it - 1).is_some()));
        assert_eq!(next(&mut left, 0), None);
    }
}

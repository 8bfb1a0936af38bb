//! Searches against pages of the list, by the frequency of their words; and the cost of the index for a create.

use super::*;
use crate::data;
use crate::data::words::{APART, Texts, Vocabulary, WORDS_PER_TEXT, load, wait_until_indexed};
use crate::random::Random;
use crate::service::Account;
use serde_json::json;

/// Number of concurrent clients. Each search is so long that few clients keep the machine busy.
const SEARCHERS: usize = 4;
const TENANTS: u32 = 200;
/// Number of texts of a small tenant. The largest tenant has half of all texts.
const SMALL: u32 = 1_000;
/// Number of different searches of a class.
const SEARCHES: u32 = 40;
const PAGE: u32 = 50;
const MAX_DEPTH_COST: f64 = 1.5;
const MAX_NEIGHBOUR_COST: f64 = 1.3;
const MAX_CREATE_COST: f64 = 1.3;
const MAX_APART_MILLIS: f64 = 40.0;
/// Average length of a text, in characters.
const TEXT_CHARS: usize = 420;
const SEEDS: u64 = 90_000;

/// Range of places in the vocabulary, from which searches take a word.
type Places = (u32, u32);
const FREQUENT: Places = (20, 28);
const MIDDLE: Places = (70, 100);
const RARE: Places = (2_000, 4_000);

/// Searches with words of some frequency: name, places of both words, characters of the second one, limits on
/// PostgreSQL and SQLite.
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

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let vocabulary = Vocabulary::new();
    let small = load_texts(data, instance, &vocabulary)?;
    let searches = Searches { data, instance, vocabulary };
    let mut lines = searches.classes()?;
    lines.push(searches.apart()?);
    lines.push(searches.deep()?);
    lines.push(searches.beside_large_tenant(&small)?);
    lines.push(searches.create()?);
    Ok(lines)
}

/// Loads half of the texts into the tenant of the data, few into a small tenant, the rest into others. Returns the
/// small one.
fn load_texts(data: &DataSet<'_>, instance: &Instance, vocabulary: &Vocabulary) -> Result<Account> {
    let (small, texts) = (instance.create_account()?, data.options.texts());
    let mut tenants = Texts::divide(TENANTS - 2, texts / 2 - SMALL);
    tenants.push(Texts { tenant: instance.tenant, count: texts / 2 });
    tenants.push(Texts { tenant: small.tenant(), count: SMALL });
    let database = instance.database()?;
    load(&database, vocabulary, &tenants)?;
    let seconds = wait_until_indexed(&database)?;
    eprintln!("{texts} texts indexed in {seconds:.1} s");
    Ok(small)
}

fn path(search: &str) -> String {
    format!("/v1/search?types=observations&limit={PAGE}&q={search}")
}

struct Searches<'a> {
    data: &'a DataSet<'a>,
    instance: &'a Instance,
    vocabulary: Vocabulary,
}

impl Searches<'_> {
    fn contender(&self, paths: Vec<String>) -> Contender<'_> {
        self.instance.contender(Traffic::read_any(&self.instance.api.key, paths), SEARCHERS, 0)
    }

    /// Compares the searches of each class with pages of the list.
    fn classes(&self) -> Result<Vec<Line>> {
        let mut random = Random::seeded(23);
        let mut any = |(from, to): Places| self.vocabulary.word(random.between(from, to));
        let mut lines = vec![];
        for (name, [first, last], characters, [postgres, sqlite]) in CLASSES {
            let searches = (0..SEARCHES).map(|_| {
                let (first, last) = (any(first), any(last));
                path(&format!("{first}+{}", &last[..characters.unwrap_or(last.len())]))
            });
            let page = Traffic::first_page(&self.instance.api.key, "");
            let contenders = [self.contender(searches.collect()), self.instance.contender(page, SEARCHERS, 0)];
            let comparison = self.data.compare_reads(self.instance, &contenders)?;
            let what = format!("Search of {name}, against a page of the list");
            lines.push(comparison.cost(what, self.instance.store.pick(postgres, sqlite)));
        }
        Ok(lines)
    }

    fn apart(&self) -> Result<Line> {
        let search = path(&APART.join("+"));
        let found = self.instance.api.get(&search)?;
        if found["data"].as_array().is_none_or(|texts| !texts.is_empty()) {
            return Err(format!("{search} finds something").into());
        }
        let traffic = Traffic::read(&self.instance.api.key, search);
        let comparison = self.data.compare_reads(self.instance, &[self.instance.contender(traffic, 1, 0)])?;
        let what = "Search of two frequent words that are never together, p99";
        Ok(comparison.p99(what, Limit::AtMost(MAX_APART_MILLIS)))
    }

    /// Measures a page far after the first one, against the first one.
    fn deep(&self) -> Result<Line> {
        let first = path(&format!("{}+{}", self.vocabulary.word(20), self.vocabulary.word(23)));
        let pages = if self.data.options.quick { 20 } else { 100 };
        let mut deep = first.clone();
        for _ in 1..pages {
            let page = self.instance.api.get(&deep)?;
            let cursor = page["next_cursor"].as_str().ok_or("the search has too few pages")?;
            deep = format!("{first}&cursor={cursor}");
        }
        let contenders = [deep, first].map(|path| self.contender(vec![path]));
        let what = format!("Page {pages} of a search of two frequent words, against page 1");
        Ok(self.data.compare_reads(self.instance, &contenders)?.cost(what, MAX_DEPTH_COST))
    }

    /// A small tenant beside a large one, against a tenant with the same number of texts in a database of its own.
    fn beside_large_tenant(&self, small: &Account) -> Result<Line> {
        let candor = self.instance.on_empty_database("alone")?;
        let account = candor.migrate_with_account()?;
        let database = Database::connect(&candor.database)?;
        load(&database, &self.vocabulary, &[Texts { tenant: account.tenant(), count: SMALL }])?;
        let service = candor.serve()?;
        wait_until_indexed(&database)?;
        let searches = |key: &str| {
            let words = (MIDDLE.0..MIDDLE.1).map(|place| self.vocabulary.word(place));
            let paths = words.map(|word| path(&format!("{word}+{}", self.vocabulary.word(10)))).collect();
            Traffic::read_any(key, paths)
        };
        let alone = searches(&account.key);
        let contenders = [
            self.instance.contender(searches(&small.key), SEARCHERS, 0),
            Box::new(|time, round| burst(service.address, &alone, Shape::for_time(SEARCHERS, time, round))),
        ];
        let what = "Search in a tenant of 1,000 texts beside a large one, against the tenant alone";
        Ok(self.data.compare_reads(self.instance, &contenders)?.cost(what, MAX_NEIGHBOUR_COST))
    }

    /// Compares creates of observations with words and creates with texts of similar length without words.
    fn create(&self) -> Result<Line> {
        let (people, vocabulary) = (self.data.size.people, Vocabulary::new());
        let creates = |text: Box<dyn Fn(&mut Random) -> String>| {
            let body = move |random: &mut Random| {
                let person = data::person(random.between(0, people));
                json!({"employee_id": person, "type": "strength", "observation": text(random)})
            };
            Traffic::post(&self.instance.api.key, |_| "/v1/observations".to_owned(), body)
        };
        let with = creates(Box::new(move |random| vocabulary.text(random)));
        let without = creates(Box::new(|_| "- ".repeat(TEXT_CHARS / 2)));
        let contenders = [(with, SEEDS), (without, SEEDS + 500)]
            .map(|(traffic, seeds)| self.instance.contender(traffic, CLIENTS, seeds));
        let what = format!("Create of an observation with {WORDS_PER_TEXT} words, against one without any");
        Ok(self.data.compare(self.instance, &contenders)?.cost(what, MAX_CREATE_COST))
    }
}

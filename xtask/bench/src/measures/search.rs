//! Searches against pages of the list, by how often their words occur; and what an index of words costs a create.

use crate::Outcome;
use crate::burst::{Sample, Shape, burst};
use crate::data::words::{APART, Texts, Vocabulary, load, wait_until_indexed};
use crate::http::get;
use crate::options::{Options, Store};
use crate::random::Random;
use crate::report::{Limit, Line};
use crate::rounds::{Contender, ratio, take_turns, take_warm_turns, typical};
use crate::service::Account;
use crate::stage::{CLIENTS, Side, Stage};
use crate::traffic;
use candor_domain::access::Tenant;
use serde_json::{Value, json};

use super::reads::figures;

/// Each search is long enough that a few clients keep the machine busy.
const SEARCHERS: usize = 4;
const TENANTS: u32 = 200;
/// The largest tenant has half of all texts, a small one so many.
const SMALL: u32 = 1_000;
/// Different searches of a class.
const SEARCHES: u32 = 40;
const PAGE: u32 = 50;
const MOST_FOR_DEPTH: f64 = 1.5;
const MOST_BESIDE: f64 = 1.3;
const MOST_FOR_CREATE: f64 = 1.3;
const MOST_MILLIS_APART: f64 = 40.0;
/// Characters of a text without words, as many as the others have on average.
const WORDLESS: usize = 420;
const SEEDS: u64 = 90_000;

/// Searches that are alike by how often their words occur.
struct Class {
    name: &'static str,
    searches: Vec<String>,
    /// On PostgreSQL and on SQLite.
    at_most: [f64; 2],
}

fn classes(vocabulary: &Vocabulary) -> Vec<Class> {
    let mut random = Random::seeded(23);
    let mut of = |name, [one, other]: [(u32, u32); 2], characters: Option<usize>, at_most| {
        let searches = (0..SEARCHES).map(|_| {
            let first = vocabulary.word(random.between(one.0, one.1));
            let last = vocabulary.word(random.between(other.0, other.1));
            format!("{first}+{}", characters.map_or(last, |it| &last[..it]))
        });
        Class { name, searches: searches.collect(), at_most }
    };
    let (frequent, middle, rare) = ((20, 28), (70, 100), (2_000, 4_000));
    vec![
        of("two rare words", [rare, rare], None, [5.0, 5.0]),
        of("a rare and a frequent word", [(8_000, 12_000), frequent], None, [5.0, 8.0]),
        of("two frequent words", [frequent, frequent], None, [8.0, 10.0]),
        of("two words that some 2,000 texts have", [middle, middle], None, [25.0, 15.0]),
        of("a word and a beginning of 1 character", [middle, middle], Some(1), [25.0, 25.0]),
        of("a word and a beginning of 3 characters", [middle, middle], Some(3), [25.0, 25.0]),
        of("a word and a beginning of 6 characters", [middle, rare], Some(6), [25.0, 25.0]),
    ]
}

pub(super) fn run(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let vocabulary = Vocabulary::new();
    let mut lines = vec![];
    for side in stage.measured(options) {
        let small = filled(side, options, &vocabulary)?;
        let searched = Searched { side, options, vocabulary: &vocabulary };
        for class in classes(&vocabulary) {
            lines.push(searched.against_a_page(class)?);
        }
        lines.push(searched.apart()?);
        lines.push(searched.deep()?);
        lines.push(searched.beside_a_large_one(&small)?);
        lines.push(searched.create(stage)?);
    }
    Ok(lines)
}

/// Loads the texts and leaves it at that.
pub(crate) fn load_texts(stage: &Stage, options: &Options) -> Outcome {
    stage.measured(options).try_for_each(|it| filled(it, options, &Vocabulary::new()).map(drop))
}

/// Loads the texts; the account of a small tenant among those that have them.
fn filled(side: &Side, options: &Options, vocabulary: &Vocabulary) -> Outcome<Account> {
    let small = side.another_account()?;
    load(side.store, &side.database, vocabulary, &tenants(side, &small, options.texts())?)?;
    let seconds = wait_until_indexed(side.store, &side.database)?;
    eprintln!("{} texts indexed in {seconds:.1} s", options.texts());
    Ok(small)
}

/// Half of the texts in one tenant, few in another that is looked at, the rest in others.
fn tenants(side: &Side, small: &Account, texts: u32) -> Outcome<Vec<Texts>> {
    let mut tenants = Texts::of_others(TENANTS - 2, texts / 2 - SMALL);
    tenants.push(Texts { tenant: side.tenant, count: texts / 2 });
    tenants.push(Texts { tenant: tenant(small)?, count: SMALL });
    Ok(tenants)
}

fn tenant(account: &Account) -> Outcome<[u8; 16]> {
    Ok(Tenant::live(account.organization.parse()?).to_bytes())
}

fn path(search: &str) -> String {
    format!("/v1/search?types=observations&limit={PAGE}&q={search}")
}

struct Searched<'a> {
    side: &'a Side,
    options: &'a Options,
    vocabulary: &'a Vocabulary,
}

impl Searched<'_> {
    fn searches<'a>(&'a self, paths: Vec<String>) -> Contender<'a> {
        self.side.contender(traffic::one_of(&self.side.key, paths), SEARCHERS)
    }

    /// The same in turns, with how many times as long the first takes as the second.
    fn compared(&self, what: String, contenders: &[Contender<'_>; 2], most: f64) -> Outcome<Line> {
        let samples = take_warm_turns(contenders, self.options.rounds(), self.options.turn())?;
        Ok(self.line(what, &samples, ratio(&samples[1], &samples[0]), most))
    }

    fn line(&self, what: String, samples: &[Vec<Sample>], value: f64, most: f64) -> Line {
        Line {
            what,
            store: Some(self.side.store),
            measured: figures(&samples[0]),
            against: samples.get(1).map_or_else(String::new, |it| figures(it)),
            value,
            unit: "×",
            limit: Limit::AtMost(most),
        }
    }

    fn against_a_page(&self, class: Class) -> Outcome<Line> {
        let page = self.side.contender(traffic::first_page(&self.side.key, ""), SEARCHERS);
        let contenders = [self.searches(class.searches.iter().map(|it| path(it)).collect()), page];
        let [postgres, sqlite] = class.at_most;
        let most = if self.side.store == Store::Postgres { postgres } else { sqlite };
        self.compared(format!("Search of {}, against a page of the list", class.name), &contenders, most)
    }

    fn apart(&self) -> Outcome<Line> {
        let search = path(&APART.join("+"));
        let found = self.get(&search)?;
        if found["data"].as_array().is_none_or(|it| !it.is_empty()) {
            return Err(format!("{search} finds something").into());
        }
        let contender = self.side.contender(traffic::one_of(&self.side.key, vec![search]), 1);
        let samples = take_warm_turns(&[contender], self.options.rounds(), self.options.turn())?;
        let millis = typical(&samples[0], |it| it.within(0.99));
        let what = "Search of two frequent words that are never together, p99";
        Ok(Line { unit: "ms", ..self.line(what.to_owned(), &samples, millis, MOST_MILLIS_APART) })
    }

    fn get(&self, path: &str) -> Outcome<Value> {
        get(self.side.service.address, path, &self.side.key)
    }

    /// A page far behind the first one, as far as the texts go.
    fn deep(&self) -> Outcome<Line> {
        let first = path(&format!("{}+{}", self.vocabulary.word(20), self.vocabulary.word(23)));
        let pages = if self.options.quick { 20 } else { 100 };
        let mut deep = first.clone();
        for _ in 1..pages {
            let page = self.get(&deep)?;
            let cursor = page["next_cursor"].as_str().ok_or("the search has too few pages")?;
            deep = format!("{first}&cursor={cursor}");
        }
        let what = format!("Page {pages} of a search of two frequent words, against page 1");
        self.compared(what, &[self.searches(vec![deep]), self.searches(vec![first])], MOST_FOR_DEPTH)
    }

    /// The same texts in a tenant of its own database, and beside a large one.
    fn beside_a_large_one(&self, small: &Account) -> Outcome<Line> {
        let candor = self.side.on_an_empty_database("alone")?;
        let account = candor.account()?;
        let texts = Texts { tenant: tenant(&account)?, count: SMALL };
        load(self.side.store, candor.database(), self.vocabulary, &[texts])?;
        let service = candor.serve()?;
        wait_until_indexed(self.side.store, candor.database())?;
        let middle = |key: &str| {
            let words = (70..100).map(|it| self.vocabulary.word(it));
            let paths = words.map(|it| path(&format!("{it}+{}", self.vocabulary.word(10)))).collect();
            traffic::one_of(key, paths)
        };
        let (beside, alone) = (middle(&small.key), middle(&account.key));
        let contenders = [
            self.side.contender(beside, SEARCHERS),
            Box::new(|time, round| burst(service.address, &alone, Shape::of_time(SEARCHERS, time, round))),
        ];
        let what = "Search in a tenant of 1,000 texts beside a large one, against the tenant alone".to_owned();
        self.compared(what, &contenders, MOST_BESIDE)
    }

    /// Observations with words, and with as many characters that are none.
    fn create(&self, stage: &Stage) -> Outcome<Line> {
        let people = stage.size.people;
        let creates = |text: Box<dyn Fn(&mut Random) -> String>| {
            traffic::new_ones(
                &self.side.key,
                |_| "/v1/observations".to_owned(),
                move |random| {
                    let person = crate::data::person(random.between(0, people));
                    json!({"employee_id": person, "type": "strength", "observation": text(random)})
                },
            )
        };
        let vocabulary = Vocabulary::new();
        let with = creates(Box::new(move |random| vocabulary.text(random)));
        let without = creates(Box::new(|_| "- ".repeat(WORDLESS / 2)));
        let contenders =
            [self.side.contender_from(with, CLIENTS, SEEDS), self.side.contender_from(without, CLIENTS, SEEDS + 500)];
        let samples = take_turns(&contenders, self.options.rounds(), self.options.turn())?;
        let what = "Create of an observation with 60 words, against one without any".to_owned();
        Ok(self.line(what, &samples, ratio(&samples[1], &samples[0]), MOST_FOR_CREATE))
    }
}

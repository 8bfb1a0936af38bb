//! What is found by words, compared with a scan of everything that is stored by the domain's own matcher.

use candor_domain::id::EmployeeId;
use candor_domain::objective::{self, Objective, Scope, Sight};
use candor_domain::observation::{Observation, Type};
use candor_domain::page::{Listed, PageRequest, Sort, SortBy};
use candor_domain::params::Bounds;
use candor_domain::people::{Employee, Status};
use candor_domain::search::{Filter, Score, SearchQuery, Searchable, WantedWords};
use candor_domain::summary::{self, Summary};
use candor_port_storage::flat::Stored;
use candor_port_storage::listing::TypedListing;
use candor_port_storage::rows::search;
use candor_port_storage::test_data::TEST_TABLES;
use candor_port_storage::{Row, StorageExt, Versioned, Write};

use super::lists;
use super::population::{Population, instant};
use crate::Case;
use crate::world::World;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(what_is_written_is_found_by_its_words_and_by_no_other),
        Case::new(a_search_is_narrowed_by_people_type_and_time),
        Case::new(what_is_out_of_sight_is_not_found),
        Case::new(a_page_is_full_however_many_were_made_in_one_millisecond),
        Case::new(nobody_finds_what_another_data_set_has),
        Case::new(what_was_emptied_is_not_found_and_can_be_written_anew),
    ]
}

const NEWEST: Sort = Sort::down(SortBy::CreatedAt);
const LIMITS: [u16; 4] = [1, 4, 17, 100];

/// Words that differ in little, that mean something to a query language, and in many scripts.
const WORDS: [&str; 34] = [
    "calm",
    "Calm",
    "calmly",
    "kept",
    "Café",
    "cafe\u{301}",
    "CAFÉS",
    "Straße",
    "strasse",
    "naïve",
    "İyi",
    "iyi",
    "ışık",
    "and",
    "OR",
    "NOT",
    "NEAR(",
    "\"quoted\"",
    "it's",
    "a*",
    "a",
    "!b",
    "(b)",
    "b & c | <->",
    "c:*",
    "title:",
    "--",
    "日本語",
    "日本",
    "שָׁלוֹם",
    "שלום",
    "👍",
    "👍🏽",
    "ไทย",
];

/// What people are found by.
const NAMES: [&str; 6] = ["adam", "von", "ev", "job", "engineer", "漢"];

/// A text of some of these words: mostly short, seldom as long as texts can be.
fn text(world: &World) -> String {
    let count = if world.random.chance(3) { 600 } else { 1 + world.random.below(8) };
    let words: Vec<_> = (0..count).map(|_| *world.random.pick(&WORDS)).collect();
    words.join(*world.random.pick(&[" ", ", ", "\n"]))
}

/// Some of these words, of which the last one may be begun only.
fn query(world: &World) -> SearchQuery {
    loop {
        let mut asked: String =
            (0..1 + world.random.below(3)).map(|_| format!("{} ", world.random.pick(&WORDS))).collect();
        asked.pop();
        if world.random.chance(40) {
            asked.pop();
        }
        if let Ok(query) = SearchQuery::parse(&asked) {
            return query;
        }
    }
}

/// Walks what is found by a query, score by score, and compares it with what should be.
async fn must_find<T>(
    world: &World,
    query: &SearchQuery,
    list: impl Fn(&WantedWords, &PageRequest) -> TypedListing<T> + Clone + Send + Sync + 'static,
    all: &[T],
    wanted: impl Fn(&T) -> bool,
) where
    T: Searchable + Stored + Listed + std::fmt::Debug,
{
    for score in Score::ALL {
        let Some(words) = query.wanted(score) else { continue };
        let (list, what) = (list.clone(), format!("{query:?} {score:?}"));
        let list = lists::found(world, move |page| list(&words, page));
        let matches = |it: &T| it.is_found() && query.find(&it.texts()).is_some_and(|(it, _)| it == score);
        list.must_show(NEWEST, *world.random.pick(&LIMITS), all, |it| matches(it) && wanted(it), &what).await;
    }
}

async fn stored<T: Stored>(world: &World, it: &T) -> Versioned<T> {
    world.store.row::<T>(world.tenant, it.key()).await.unwrap().unwrap()
}

fn written(world: &World, about: EmployeeId) -> Observation {
    Observation {
        observation: text(world),
        impact: world.random.chance(30).then(|| text(world)),
        kind: *world.random.pick(&[Type::Strength, Type::Opportunity]),
        created_at: instant(world),
        ..world.make.observation(about)
    }
}

/// Changes an observation in one of the ways in which observations change, or adds one.
async fn change(world: &World, all: &mut Vec<Observation>, about: EmployeeId) {
    if world.random.chance(30) {
        let it = written(world, about);
        world.save(vec![Write::put(&Row::new(it.clone()))]).await;
        all.push(it);
        return;
    }
    let at = world.random.below(all.len());
    let Versioned { mut value, version } = stored(world, &all[at]).await;
    match value.archived_at {
        Some(_) => value.archived_at = None,
        None if world.random.chance(50) => value.archived_at = Some(world.make.tick()),
        None => value.observation = text(world),
    }
    world.save(vec![Write::put(&Row::seen(value.clone(), version))]).await;
    all[at] = value;
}

async fn what_is_written_is_found_by_its_words_and_by_no_other(world: World) {
    let person = world.hired().await.id;
    let mut all: Vec<_> = (0..60).map(|_| written(&world, person)).collect();
    world.save(all.iter().map(|it| Write::put(&Row::new(it.clone()))).collect()).await;
    for _ in 0..80 {
        change(&world, &mut all, person).await;
        let query = query(&world);
        let list = |words: &WantedWords, page: &PageRequest| search::observations(&Filter::default(), words, page);
        must_find(&world, &query, list, &all, |_| true).await;
    }
}

async fn a_search_is_narrowed_by_people_type_and_time(world: World) {
    let population = Population::new(&world, 40, 0).await;
    let people: Vec<_> = population.people.iter().map(|it| it.id).collect();
    let all: Vec<_> = (0..300).map(|_| written(&world, *world.random.pick(&people))).collect();
    for some in all.chunks(100) {
        world.save(some.iter().map(|it| Write::put(&Row::new(it.clone()))).collect()).await;
    }
    for _ in 0..60 {
        let (one, other) = (instant(&world), instant(&world));
        let bound = |it| world.random.chance(20).then_some(it);
        let filter = Filter {
            employee_id: world.random.maybe(20, &people),
            manager_id: world.random.maybe(40, &people),
            kind: world.random.maybe(30, &[Type::Strength, Type::Opportunity]),
            created_at: Bounds { gte: bound(one.min(other)), lte: bound(one.max(other)) },
        };
        let wanted = |it: &Observation| {
            filter.employee_id.is_none_or(|id| it.employee_id == id)
                && filter.manager_id.is_none_or(|id| population.is_below(it.employee_id, id))
                && filter.kind.is_none_or(|kind| it.kind == kind)
                && filter.created_at.gte.is_none_or(|at| it.created_at >= at)
                && filter.created_at.lte.is_none_or(|at| it.created_at <= at)
        };
        let asked = filter.clone();
        let list = move |words: &WantedWords, page: &PageRequest| search::observations(&asked, words, page);
        must_find(&world, &query(&world), list, &all, wanted).await;
    }
}

async fn what_is_out_of_sight_is_not_found(world: World) {
    let population = Population::new(&world, 20, 0).await;
    let people: Vec<_> = population.people.iter().map(|it| it.id).collect();
    let objectives: Vec<_> = (0..60).map(|_| objective(&world, *world.random.pick(&people))).collect();
    let summaries: Vec<_> = (0..60).map(|_| summary(&world, &people)).collect();
    world.save(objectives.iter().map(|it| Write::put(&Row::new(it.clone()))).collect()).await;
    world.save(summaries.iter().map(|it| Write::put(&Row::new(it.clone()))).collect()).await;
    for _ in 0..60 {
        let acts_for = world.random.maybe(70, &people);
        let manager_id = world.random.maybe(30, &people);
        let filter = Filter { manager_id, employee_id: world.random.maybe(10, &people), ..Filter::default() };
        let is_wanted = |about: EmployeeId| {
            filter.employee_id.is_none_or(|it| it == about)
                && manager_id.is_none_or(|it| population.is_below(about, it))
        };
        let (sight, query) = (acts_for.map_or(Sight::All, Sight::Of), query(&world));
        let below = |about: EmployeeId| acts_for.is_some_and(|it| population.is_below(about, it));
        let asked = filter.clone();
        let list = move |words: &WantedWords, page: &PageRequest| search::objectives(&asked, words, sight, page);
        let sees = |it: &Objective| sight.sees(it, below(it.owner_id)) && is_wanted(it.owner_id);
        must_find(&world, &query, list, &objectives, sees).await;
        let asked = filter.clone();
        let list = move |words: &WantedWords, page: &PageRequest| search::summaries(&asked, words, acts_for, page);
        let sees = |it: &Summary| it.is_seen_by(acts_for, below(it.employee_id)) && is_wanted(it.employee_id);
        must_find(&world, &query, list, &summaries, sees).await;
        let asked = filter.clone();
        let list = move |words: &WantedWords, page: &PageRequest| search::employees(&asked, words, page);
        let name = *world.random.pick(&NAMES);
        let by_name = SearchQuery::parse(name).unwrap();
        must_find(&world, &by_name, list, &population.people, |it: &Employee| is_wanted(it.id)).await;
    }
    assert!(population.people.iter().any(|it| it.status == Status::Deactivated), "some have left");
}

fn objective(world: &World, owner: EmployeeId) -> Objective {
    Objective {
        title: text(world),
        description: world.random.chance(50).then(|| text(world)),
        scope: *world.random.pick(&[Scope::Employee, Scope::Manager, Scope::Org]),
        status: *world.random.pick(&[
            objective::Status::Proposed,
            objective::Status::Approved,
            objective::Status::Archived,
        ]),
        created_at: instant(world),
        ..world.make.objective(owner)
    }
}

fn summary(world: &World, people: &[EmployeeId]) -> Summary {
    use summary::Status::{Archived, Draft, Shared};
    let status = *world.random.pick(&[Draft, Shared, Archived]);
    let at = instant(world);
    Summary {
        title: text(world),
        body: text(world),
        author_id: world.random.maybe(60, people),
        status,
        shared_at: (status == Shared).then_some(at),
        archived_at: (status == Archived).then_some(at),
        created_at: at,
        ..world.make.summary(*world.random.pick(people))
    }
}

async fn a_page_is_full_however_many_were_made_in_one_millisecond(world: World) {
    let person = world.hired().await.id;
    let at = instant(&world);
    let all: Vec<_> = (0..700)
        .map(|number| Observation {
            observation: match number {
                // Far behind what a walk meets first.
                1..4 => "seldom calm".to_owned(),
                4 => "seldom".to_owned(),
                _ if number % 7 == 0 => "calm and rare".to_owned(),
                _ => "calm".to_owned(),
            },
            created_at: at,
            ..world.make.observation(person)
        })
        .collect();
    for some in all.chunks(100) {
        world.save(some.iter().map(|it| Write::put(&Row::new(it.clone()))).collect()).await;
    }
    for asked in ["calm", "rar", "calm rare", "calm never", "seldom cal", "rare cal"] {
        let list = |words: &WantedWords, page: &PageRequest| search::observations(&Filter::default(), words, page);
        must_find(&world, &SearchQuery::parse(asked).unwrap(), list, &all, |_| true).await;
    }
}

async fn nobody_finds_what_another_data_set_has(world: World) {
    let mut worlds = vec![];
    for it in [world.clone(), world.elsewhere(), world.test_environment()] {
        let person = it.hired().await.id;
        let written = Observation { observation: "Kept calm.".to_owned(), ..it.make.observation(person) };
        it.save(vec![Write::put(&Row::new(written.clone()))]).await;
        worlds.push((it, written));
    }
    for (world, own) in &worlds {
        let list = |words: &WantedWords, page: &PageRequest| search::observations(&Filter::default(), words, page);
        must_find(world, &SearchQuery::parse("calm").unwrap(), list, std::slice::from_ref(own), |_| true).await;
    }
}

async fn what_was_emptied_is_not_found_and_can_be_written_anew(world: World) {
    let (world, other) = (world.test_environment(), world);
    let list = |words: &WantedWords, page: &PageRequest| search::observations(&Filter::default(), words, page);
    let calm = SearchQuery::parse("calm").unwrap();
    let written = async |world: &World| {
        let person = world.hired().await.id;
        let written = Observation { observation: "Kept calm.".to_owned(), ..world.make.observation(person) };
        world.save(vec![Write::put(&Row::new(written.clone()))]).await;
        written
    };
    let kept = written(&other).await;
    let gone = written(&world).await;
    for table in TEST_TABLES {
        while world.store.empty(world.tenant, *table, 10).await.unwrap() > 0 {}
    }
    must_find(&world, &calm, list, &[], |_| true).await;
    must_find(&other, &calm, list, &[kept], |_| true).await;
    let anew = world.hired().await.id;
    let anew = Observation { employee_id: anew, ..gone };
    world.save(vec![Write::put(&Row::new(anew.clone()))]).await;
    must_find(&world, &calm, list, &[anew], |_| true).await;
}

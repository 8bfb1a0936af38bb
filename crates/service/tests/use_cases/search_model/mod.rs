//! Property test of search on both stores: results are compared with a scan by the domain's matcher while rows
//! are written, indexed and merged.

mod stage;

use candor_domain::id::EmployeeId;
use candor_domain::observation::Observation;
use candor_domain::search::Searchable;
use candor_search_words::SearchQuery;
use candor_service::runtime::search_index;

use self::stage::{Filter, SearchTest};

/// Words for texts and queries: near-duplicates, query syntax, and many scripts.
const WORDS: [&str; 36] = [
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
    "never",
    "seldom",
];

/// Returns a random text of `WORDS`, mostly short and sometimes of maximum length.
fn text(stage: &SearchTest) -> String {
    let count = if stage.random.chance(3) { 500 } else { 1 + stage.random.number_below(8) };
    let words: Vec<_> = (0..count).map(|_| *stage.random.pick(&WORDS[..34])).collect();
    words.join(*stage.random.pick(&[" ", ", ", "\n"]))
}

/// Returns a random query of `WORDS`. The last word may be cut to a prefix.
fn query(stage: &SearchTest) -> String {
    loop {
        let count = 1 + stage.random.number_below(3);
        let mut words: String = (0..count).map(|_| format!("{} ", stage.random.pick(&WORDS))).collect();
        words.pop();
        if stage.random.chance(40) {
            words.pop();
        }
        if SearchQuery::parse(&words).is_ok() {
            return words;
        }
    }
}

/// Returns the ids of all visible observations that the domain's matcher finds, in result order.
fn wanted(
    all: &[Observation],
    reader: Option<EmployeeId>,
    asked: &str,
    filter: &Filter,
    stage: &SearchTest,
) -> Vec<String> {
    let query = SearchQuery::parse(asked).unwrap();
    let mut hits: Vec<_> = all
        .iter()
        .filter(|document| {
            document.is_found() && stage.is_seen(reader, document) && stage.lets_through(filter, document)
        })
        .filter_map(|document| {
            Some((
                query.find(&document.texts())?.0,
                document.created_at,
                document.id.to_bytes(),
                document.id.to_string(),
            ))
        })
        .collect();
    hits.sort_by(|a, b| b.cmp(a));
    hits.into_iter().map(|(.., id)| id).collect()
}

async fn must_find(stage: &SearchTest, all: &[Observation], asked: &str, filter: &Filter, limit: u16) {
    let reader = stage.random.maybe(50, &stage.people);
    let page = stage.find(reader, asked, filter, limit).await;
    let expected_ids = wanted(all, reader, asked, filter, stage);
    assert_eq!(page, expected_ids, "{asked:?} {filter:?} for {reader:?}, {limit} a page");
}

/// Creates an observation, or changes one in a random way.
async fn change(stage: &SearchTest, all: &mut Vec<Observation>) {
    if all.is_empty() || stage.random.chance(60) {
        let person = *stage.random.pick(&stage.people);
        all.push(stage.write(person, &text(stage)).await);
        return;
    }
    let index = stage.random.number_below(all.len());
    let it = all[index].clone();
    all[index] = match it.archived_at {
        Some(_) => stage.restored(&it).await,
        None if stage.random.chance(50) => stage.archived(&it).await,
        None => stage.changed(&it, &text(stage)).await,
    };
}

async fn random_writes_are_found_by_exactly_their_words(stage: SearchTest) {
    let mut all = vec![];
    for step in 0..300 {
        change(&stage, &mut all).await;
        if stage.random.chance(15) {
            search_index::index_pending(&stage.services, || true).await.unwrap();
        }
        if step % 3 == 0 {
            let limit = *stage.random.pick(&[1, 4, 17, 100]);
            let filter = if stage.random.chance(40) { stage.filter() } else { Filter::default() };
            must_find(&stage, &all, &query(&stage), &filter, limit).await;
        }
    }
    let state = stage.index().await;
    assert!((1..16).contains(&state.segments.len()), "some were merged: {}", state.segments.len());
}

async fn page_is_full_when_many_rows_share_a_millisecond(stage: SearchTest) {
    let mut all = vec![];
    for number in 0..400 {
        let text = match number {
            // Rare words are in the oldest rows, far behind the first matches.
            1..4 => "seldom calm",
            4 => "seldom",
            _ if number % 7 == 0 => "calm and rare",
            _ => "calm",
        };
        all.push(stage.written_at_once(stage.people[0], text).await);
        if number == 250 {
            search_index::index_pending(&stage.services, || true).await.unwrap();
        }
    }
    for asked in ["calm", "rar", "calm rare", "calm never", "seldom cal", "rare cal"] {
        must_find(&stage, &all, asked, &Filter::default(), 100).await;
        must_find(&stage, &all, asked, &Filter::default(), 7).await;
    }
}

async fn concurrent_indexers_lose_nothing(stage: SearchTest) {
    let mut all = vec![];
    for round in 0..12 {
        for _ in 0..20 {
            all.push(stage.write(*stage.random.pick(&stage.people), &text(&stage)).await);
        }
        let index = stage.random.number_below(all.len());
        let (one, other) = (stage.another_instance(round), stage.another_instance(round + 100));
        let change = async { stage.changed(&all[index].clone(), "Changed meanwhile.").await };
        let (change, one, other) = tokio::join!(
            change,
            search_index::index_pending(&one, || true),
            search_index::index_pending(&other, || true)
        );
        one.unwrap();
        other.unwrap();
        all[index] = change;
    }
    search_index::index_pending(&stage.services, || true).await.unwrap();
    assert_eq!(stage.index().await.pending, []);
    for _ in 0..40 {
        must_find(&stage, &all, &query(&stage), &Filter::default(), 50).await;
    }
    must_find(&stage, &all, "changed mean", &Filter::default(), 50).await;
}

async fn piece_of_the_index_has_a_bounded_size(stage: SearchTest) {
    // Indexes the people of the test, so that only observations are pending afterwards.
    search_index::index_pending(&stage.services, || true).await.unwrap();
    // Each text has 12,000 bytes, so that about 175 texts have 2 MiB.
    let text: String = (0x4e00..).filter_map(char::from_u32).take(4_000).collect();
    for _ in 0..300 {
        stage.write(stage.people[0], &text).await;
    }
    let is_first = std::cell::Cell::new(true);
    let indexed_count = search_index::index_pending(&stage.services, || is_first.replace(false)).await.unwrap();
    assert_eq!(indexed_count, 200, "two reads of 100 rows");
    assert_eq!(stage.index().await.pending.len(), 100);
    assert_eq!(search_index::index_pending(&stage.services, || true).await.unwrap(), 100);
    assert_eq!(stage.index().await.pending, []);
}

macro_rules! on_both_stores {
    ($($case:ident),*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                super::$case(super::SearchTest::on_sqlite().await).await;
            })*
        }

        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                let Some(stage) = super::SearchTest::on_postgres().await else { return };
                super::$case(stage).await;
            })*
        }
    };
}

on_both_stores!(
    random_writes_are_found_by_exactly_their_words,
    page_is_full_when_many_rows_share_a_millisecond,
    concurrent_indexers_lose_nothing,
    piece_of_the_index_has_a_bounded_size
);

//! Key results and check-ins are stored unchanged, and concurrent check-ins are all saved (decisions C11, C12).

use candor_domain::decimal::Decimal;
use candor_domain::event::EventType;
use candor_domain::id::ObjectiveId;
use candor_domain::json::{Value, parse};
use candor_domain::objective::{
    CheckIn, CheckInDraft, CheckedKeyResult, Confidence, KeyResult, Metric, Objective, ReviewedContent,
    ReviewedKeyResult, Scope, Status,
};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::time::{Date, Timestamp};
use candor_port_storage::erasing::ErasureChange;
use candor_port_storage::{ChangeSet, CommitError, Row, StorageExt, Version, Versioned, Write};
use candor_tables::flat::{SqlValue, Stored};
use candor_tables::rows;

use super::objectives::PARENTS;
use crate::Case;
use crate::fixtures::Fixtures;
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(objective_round_trips),
        Case::new(check_in_round_trips),
        Case::new(check_in_of_a_missing_objective_is_refused),
        Case::new(check_ins_at_once_are_all_saved),
        Case::new(check_ins_are_listed_by_objective_and_person),
        Case::new(check_ins_are_deleted_with_their_objective),
        Case::new(objectives_that_support_one_are_found),
    ]
}

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

/// Returns key results with values that binary floating point would change.
pub(super) fn measures(make: &Fixtures) -> Vec<KeyResult> {
    let result = |metric, start: &str, target: &str, checked: Option<&str>| KeyResult {
        id: make.id(),
        title: "\u{1f44d} \"a\"".to_owned(),
        metric,
        unit: (metric == Metric::Number).then(|| "EUR".to_owned()),
        start: decimal(start),
        target: decimal(target),
        current: checked.map_or(decimal(start), decimal),
        weight: 100,
        progress: 0,
        checked: checked.map(decimal),
    };
    let results = [
        result(Metric::Number, "0.1", "999999999999.9998", Some("-999999999999.9999")),
        result(Metric::Percent, "100", "0", None),
        result(Metric::Boolean, "0", "1", Some("1")),
    ];
    let text = candor_domain::objective::key_result::text(&results);
    candor_domain::objective::key_result::parse(&text).unwrap()
}

fn check_in(make: &Fixtures, objective: &Objective) -> CheckIn {
    CheckIn {
        id: make.id(),
        objective_id: objective.id,
        author_id: None,
        progress: None,
        confidence: None,
        note: None,
        key_results: vec![],
        created_at: make.tick(),
        owner_id: objective.owner_id,
    }
}

/// Saves an objective in progress with key results.
async fn save_objective(world: &CaseContext) -> Objective {
    let owner = world.hire().await.id;
    let key_results = measures(&world.make);
    let objective = Objective { status: Status::InProgress, key_results, ..world.make.objective(owner) };
    let active_objective = objective.with_figures();
    world.save(vec![Write::put(&Row::new(active_objective.clone()))]).await;
    active_objective
}

async fn objective_round_trips(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let owner = world.hire().await;
    let time = |millis| Some(Timestamp::from_millis(millis));
    let content = ReviewedContent {
        title: "Before \"it\"".to_owned(),
        description: Some("é\n".to_owned()),
        period_start: "2026-01-01".to_owned(),
        period_end: "9999-12-31".to_owned(),
        key_results: Some(vec![ReviewedKeyResult {
            title: "Balance".to_owned(),
            metric: "number".to_owned(),
            unit: Some("EUR".to_owned()),
            start: Decimal::parse("-999999999999.9999").unwrap(),
            target: Decimal::parse("0.0001").unwrap(),
            weight: 100,
        }]),
    };
    let full = Objective {
        scope: Scope::Org,
        title: "👍".repeat(200),
        description: Some(String::new()),
        status: Status::Completed,
        period_start: Date::from_epoch_days(-719_162),
        period_end: Date::from_epoch_days(2_932_896),
        submitted_at: time(1),
        approved_at: time(2),
        completed_at: time(253_402_300_799_999),
        reviewed: Some(content),
        held_back: true,
        key_results: measures(make),
        stated_progress: Some(100),
        confidence: Some(Confidence::OffTrack),
        last_check_in_at: time(3),
        parent_id: Some(PARENTS[0]),
        ..make.objective(owner.id)
    };
    for (number, it) in [make.objective(owner.id), full].into_iter().enumerate() {
        let it = it.with_figures();
        world.save(vec![Write::put(&Row::new(it.clone()))]).await;
        let stored_row = store.row::<Objective>(*tenant, it.id).await.unwrap();
        assert_eq!(stored_row, Some(Versioned { value: it.clone(), version: Version::FIRST }), "no. {number}");
        world.save(vec![Write::put(&Row::at_version(it.clone(), Version::FIRST))]).await;
        assert_eq!(store.row::<Objective>(*tenant, it.id).await.unwrap().unwrap().version, Version(2));
        let stale = world.try_save(Write::put(&Row::at_version(it, Version::FIRST))).await;
        assert!(matches!(stale, Err(CommitError::Stale)), "{stale:?}");
    }
    let nobodys = world.try_save(Write::put(&Row::new(make.objective(make.id())))).await;
    assert!(matches!(nobodys, Err(CommitError::Missing)), "{nobodys:?}");
}

async fn check_in_round_trips(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let objective = save_objective(&world).await;
    let author = world.hire().await.id;
    let full = CheckIn {
        author_id: Some(author),
        progress: Some(100),
        confidence: Some(Confidence::AtRisk),
        note: Some("\u{e9}\n\"it\"".to_owned()),
        key_results: vec![CheckedKeyResult {
            id: objective.key_results[0].id,
            title: "\u{1f44d}".to_owned(),
            from: decimal("-999999999999.9999"),
            to: decimal("0.0001"),
        }],
        ..check_in(make, &objective)
    };
    for it in [check_in(make, &objective), full] {
        world.save(vec![Write::put(&Row::new(it.clone()))]).await;
        let stored_row = store.row::<CheckIn>(*tenant, it.id).await.unwrap();
        assert_eq!(stored_row, Some(Versioned { value: it.clone(), version: Version::FIRST }));
        for other in [world.in_other_tenant(), world.test_environment()] {
            assert_eq!(store.row::<CheckIn>(other.tenant, it.id).await.unwrap(), None);
        }
    }
}

async fn check_in_of_a_missing_objective_is_refused(world: CaseContext) {
    let objective = world.make.objective(world.hire().await.id);
    let result = world.try_save(Write::put(&Row::new(check_in(&world.make, &objective)))).await;
    assert!(matches!(result, Err(CommitError::Missing)), "{result:?}");
}

/// Saves a check-in as the service does: reads, decides, commits, and retries on stale state.
async fn checks_in(world: &CaseContext, id: ObjectiveId, body: String) {
    let Ok(Value::Object(body)) = parse(body.as_bytes()) else { panic!("{body}") };
    let draft = CheckInDraft::parse(body).unwrap();
    for _ in 0..1000 {
        let objective_row = world.store.row::<Objective>(world.tenant, id).await.unwrap().unwrap();
        let check_in_time = world.make.tick();
        let (state, decision) =
            objective_row.value.check_in(world.make.id(), draft.clone(), false, check_in_time).unwrap();
        let writes = vec![
            Write::put(&Row::new(decision.state)),
            Write::put(&Row::at_version(state, objective_row.version)),
        ];
        let events = vec![world.make.event(EventType::ObjectiveCheckedIn)];
        match world.commit(ChangeSet { events, ..world.make.change(writes) }).await {
            Ok(()) => return,
            Err(CommitError::Stale) => {}
            Err(other) => panic!("{other}"),
        }
    }
    panic!("every attempt was stale");
}

async fn check_ins_at_once_are_all_saved(world: CaseContext) {
    let objective = save_objective(&world).await;
    let (first, second) = (objective.key_results[0].id, objective.key_results[1].id);
    let tasks = (1..=30).map(|number| {
        let (world, id) = (world.clone(), objective.id);
        let result_id = if number % 2 == 0 { first } else { second };
        let body = format!(r#"{{"note":"{number}","key_results":[{{"id":"{result_id}","current":{number}.5}}]}}"#);
        async move { checks_in(&world, id, body).await }
    });
    at_once(tasks).await;
    let objective_row = world.store.row::<Objective>(world.tenant, objective.id).await.unwrap().unwrap();
    assert_eq!(objective_row.version, Version(31));
    let page = PageRequest { limit: 100, after: None };
    let list = rows::check_ins::list(objective.id, Sort::ascending_by(SortBy::CreatedAt), &page);
    let all = world.store.page(world.tenant, list).await.unwrap().items;
    assert_eq!(all.len(), 30);
    // Each value continues from the one before, in the order of the commits.
    for result in &objective.key_results {
        let mut current = result.current;
        for changed in
            all.iter().flat_map(|check_in| &check_in.key_results).filter(|changed| changed.id == result.id)
        {
            assert_eq!(changed.from, current);
            current = changed.to;
        }
        let last = objective_row.value.key_results.iter().find(|stored| stored.id == result.id).unwrap();
        assert_eq!(last.current, current);
    }
    let last = all.last().unwrap();
    assert_eq!(
        (objective_row.value.last_check_in_at, objective_row.value.progress),
        (Some(last.created_at), last.progress)
    );
}

async fn check_ins_are_listed_by_objective_and_person(world: CaseContext) {
    let (one, other) = (save_objective(&world).await, save_objective(&world).await);
    let mut all = vec![];
    for (objective, author) in [
        (&one, None),
        (&other, Some(one.owner_id)),
        (&one, Some(one.owner_id)),
        (&one, Some(other.owner_id)),
        (&other, None),
    ] {
        let it = CheckIn { author_id: author, ..check_in(&world.make, objective) };
        world.save(vec![Write::put(&Row::new(it.clone()))]).await;
        all.push(it);
    }
    let page = |limit| PageRequest { limit, after: None };
    for (sort, wanted) in [
        (Sort::ascending_by(SortBy::CreatedAt), [&all[0], &all[2], &all[3]]),
        (Sort::descending_by(SortBy::CreatedAt), [&all[3], &all[2], &all[0]]),
    ] {
        let check_in_page =
            world.store.page(world.tenant, rows::check_ins::list(one.id, sort, &page(9))).await.unwrap();
        assert_eq!(check_in_page.items.iter().collect::<Vec<_>>(), wanted);
    }
    let list = rows::check_ins::of_person(one.owner_id, &page(9));
    let theirs = world.store.page(world.tenant, list).await.unwrap().items;
    assert_eq!(theirs.iter().collect::<Vec<_>>(), [&all[3], &all[2], &all[1], &all[0]]);
}

async fn check_ins_are_deleted_with_their_objective(world: CaseContext) {
    let (one, other) = (save_objective(&world).await, save_objective(&world).await);
    for objective in [&one, &other, &one] {
        world.save(vec![Write::put(&Row::new(check_in(&world.make, objective)))]).await;
    }
    let values = vec![SqlValue::Id(one.id.to_bytes())];
    let delete = |table, by| ErasureChange::Delete { table, by, values: values.clone() };
    let changes = [
        delete(CheckIn::TABLE.name, rows::check_ins::OBJECTIVE),
        delete(Objective::TABLE.name, candor_tables::read::ID),
    ];
    world.store.apply_erasure(world.tenant, &changes).await.unwrap();
    let page = PageRequest { limit: 9, after: None };
    for (objective, count) in [(&one, 0), (&other, 1)] {
        let list = rows::check_ins::list(objective.id, Sort::ascending_by(SortBy::CreatedAt), &page);
        assert_eq!(world.store.page(world.tenant, list).await.unwrap().items.len(), count);
    }
    assert_eq!(world.store.row::<Objective>(world.tenant, one.id).await.unwrap(), None);
}

async fn objectives_that_support_one_are_found(world: CaseContext) {
    let parent = save_objective(&world).await;
    let child = Objective { parent_id: Some(parent.id), ..world.make.objective(parent.owner_id) };
    let archived_objective = Objective {
        status: Status::Archived,
        parent_id: Some(parent.id),
        ..world.make.objective(parent.owner_id)
    };
    for it in [&child, &archived_objective] {
        world.save(vec![Write::put(&Row::new(it.clone()))]).await;
    }
    let supporting_ids = |world: &CaseContext, id| {
        let (store, tenant) = (world.store.clone(), world.tenant);
        async move { store.entries(tenant, rows::objectives::list_supporting(id, 9)).await.unwrap() }
    };
    let all: Vec<_> = supporting_ids(&world, parent.id).await.into_iter().map(|row| row.value).collect();
    assert_eq!(all, [child.clone(), archived_objective]);
    assert_eq!(supporting_ids(&world, child.id).await, []);
    assert_eq!(supporting_ids(&world.in_other_tenant(), parent.id).await, []);
}

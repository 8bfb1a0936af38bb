//! Visible summaries, and their relations to objectives and observations (decisions B5, G).

use candor_domain::fields::StringEnum;
use candor_domain::id::{EmployeeId, ObjectiveId, ObservationId, SummaryId};
use candor_domain::objective::{MAX_LINKED_SUMMARIES, Objective, Status as ObjectiveStatus};
use candor_domain::observation::Observation;
use candor_domain::page::{PageRequest, Sort, SortBy, Sortable};
use candor_domain::params::Bounds;
use candor_domain::summary::{EmployeeFeedback, Filter, Status, Summary};
use candor_domain::time::{Date, Timestamp};
use candor_domain::visibility::{RestrictedResource, Viewer};
use candor_port_storage::{CommitError, Row, StorageExt, Version, Versioned, Write};
use candor_tables::rows;

use super::lists;
use super::population::{Population, external_id, instant, matches, metadata, metadata_filter};
use crate::Case;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(summary_list_matches_filters_and_visibility),
        Case::new(summary_list_is_walked_in_every_order),
        Case::new(summary_round_trips),
        Case::new(objective_lists_its_unarchived_summaries),
        Case::new(archived_observation_is_left_out_of_open_summaries_only),
        Case::new(summaries_belong_to_one_tenant),
    ]
}

/// Summaries of every kind with their objectives and observations.
struct SummarySet {
    people: Population,
    objectives: Vec<ObjectiveId>,
    observations: Vec<ObservationId>,
    summaries: Vec<Summary>,
}

impl SummarySet {
    async fn new(world: &CaseContext, count: usize) -> Self {
        let people = Population::new(world, 40, 0).await;
        let objectives: Vec<ObjectiveId> = (0..5).map(|_| world.make.id()).collect();
        let observations: Vec<ObservationId> = (0..5).map(|_| world.make.id()).collect();
        let ids: Vec<_> = people.people.iter().map(|person| person.id).collect();
        let some = |about: usize| (0..5).filter(move |_| world.random.chance(about));
        let summaries: Vec<_> = (0..count)
            .map(|number| {
                let status = *world.random.pick(Status::ALL);
                let employee_id = *world.random.pick(&ids);
                // Some authors write about themselves, and some archived summaries were shared before.
                let author_id =
                    if world.random.chance(15) { Some(employee_id) } else { world.random.maybe(70, &ids) };
                let was_shared =
                    status == Status::Shared || (status == Status::Archived && world.random.chance(50));
                Summary {
                    status,
                    author_id,
                    shared_at: was_shared.then(|| instant(world)),
                    included_objective_ids: some(30).map(|index| objectives[index]).collect(),
                    included_observation_ids: some(10).map(|index| observations[index]).collect(),
                    created_at: instant(world),
                    updated_at: instant(world),
                    metadata: metadata(world),
                    external_id: external_id(world, number),
                    ..world.make.summary(employee_id)
                }
            })
            .collect();
        for batch in summaries.chunks(50) {
            world.save(batch.iter().map(|batch| Write::put(&Row::new(batch.clone()))).collect()).await;
        }
        Self { people, objectives, observations, summaries }
    }

    fn shows(&self, filter: &Filter, viewer: Viewer, summary: &Summary) -> bool {
        let is_below = |manager: EmployeeId| self.people.is_below(summary.employee_id, manager);
        let open = filter.statuses.is_empty() && summary.status != Status::Archived;
        (open || filter.statuses.contains(&summary.status))
            && filter.employee_id.is_none_or(|id| summary.employee_id == id)
            && filter.author_id.is_none_or(|id| summary.author_id == Some(id))
            && filter.manager_id.is_none_or(is_below)
            && filter.included_objective_id.is_none_or(|id| summary.included_objective_ids.contains(&id))
            && filter.included_observation_id.is_none_or(|id| summary.included_observation_ids.contains(&id))
            && filter.updated_at.gte.is_none_or(|at| summary.updated_at >= at)
            && filter.updated_at.lte.is_none_or(|at| summary.updated_at <= at)
            && matches((&filter.metadata, &filter.external_id), &summary.metadata, &summary.external_id)
            && summary.is_visible_to(viewer, viewer.person().is_some_and(is_below))
    }
}

async fn summary_list_matches_filters_and_visibility(world: CaseContext) {
    let all = SummarySet::new(&world, 300).await;
    let random = &world.random;
    let people: Vec<_> =
        all.people.people.iter().map(|person| person.id).chain([EmployeeId::from_bytes([0; 16])]).collect();
    for number in 0..120 {
        let statuses = if random.chance(50) { vec![] } else { Status::ALL.to_vec() };
        let start = random.chance(15).then(|| instant(&world));
        let filter = Filter {
            employee_id: random.maybe(20, &people),
            author_id: random.maybe(20, &people),
            manager_id: random.maybe(20, &people),
            statuses: statuses.into_iter().filter(|_| random.chance(60)).collect(),
            included_objective_id: random.maybe(15, &all.objectives),
            included_observation_id: random.maybe(15, &all.observations),
            updated_at: Bounds { gte: start, lte: None },
            metadata: metadata_filter(&world),
            external_id: random.chance(10).then(|| format!("crm-{}", random.number_below(300))),
        };
        // The first people have large subtrees; the last ones have no reports.
        let viewer = random.maybe(60, &people).map_or(Viewer::Everything, Viewer::Person);
        let list = lists::summaries(&world, filter.clone(), viewer);
        let sorts: Vec<_> = Summary::sorts().collect();
        let sort = sorts[number % sorts.len()].1;
        let limit = *random.pick(&[3, 20, 100]);
        let is_expected = |summary: &Summary| all.shows(&filter, viewer, summary);
        list.must_show(sort, limit, &all.summaries, is_expected, &format!("{filter:?} {viewer:?}")).await;
    }
}

async fn summary_list_is_walked_in_every_order(world: CaseContext) {
    let all = SummarySet::new(&world, 80).await;
    let everything = Filter { statuses: Status::ALL.to_vec(), ..Filter::default() };
    for viewer in
        [Viewer::Everything, Viewer::Person(all.people.people[0].id), Viewer::Person(all.people.people[2].id)]
    {
        let list = lists::summaries(&world, everything.clone(), viewer);
        for (_, sort) in Summary::sorts() {
            for limit in [2, 7] {
                let is_expected = |summary: &Summary| all.shows(&everything, viewer, summary);
                list.must_show(sort, limit, &all.summaries, is_expected, &format!("{viewer:?}")).await;
            }
        }
    }
}

async fn summary_round_trips(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let (person, author) = (world.hire().await, world.hire().await);
    let time = |millis| Some(Timestamp::from_millis(millis));
    let feedback = EmployeeFeedback {
        comment: Some("\tThanks\n".to_owned()),
        acknowledged: true,
        submitted_at: Timestamp::from_millis(4),
    };
    let full = Summary {
        author_id: Some(author.id),
        title: "👍".repeat(200),
        body: "漢".repeat(20_000),
        period_start: Some(Date::from_epoch_days(-719_162)),
        period_end: Some(Date::from_epoch_days(2_932_896)),
        status: Status::Archived,
        included_objective_ids: (0..100).map(|_| make.id()).rev().collect(),
        included_observation_ids: (0..200).map(|_| make.id()).rev().collect(),
        employee_feedback: Some(feedback.clone()),
        submitted_at: time(1),
        approved_at: time(2),
        shared_at: time(3),
        archived_at: time(253_402_300_799_999),
        ..make.summary(person.id)
    };
    let silent = EmployeeFeedback { comment: None, acknowledged: false, ..feedback };
    let shared = Summary { status: Status::Shared, employee_feedback: Some(silent), ..make.summary(person.id) };
    for (number, it) in [make.summary(person.id), full, shared].into_iter().enumerate() {
        world.save(vec![Write::put(&Row::new(it.clone()))]).await;
        let summary_row = store.row::<Summary>(*tenant, it.id).await.unwrap();
        assert_eq!(summary_row, Some(Versioned { value: it.clone(), version: Version::FIRST }), "no. {number}");
        world.save(vec![Write::put(&Row::at_version(it.clone(), Version::FIRST))]).await;
        assert_eq!(store.row::<Summary>(*tenant, it.id).await.unwrap().unwrap().version, Version(2));
        let stale = world.try_save(Write::put(&Row::at_version(it, Version::FIRST))).await;
        assert!(matches!(stale, Err(CommitError::Stale)), "{stale:?}");
    }
    for it in [make.summary(make.id()), Summary { author_id: Some(make.id()), ..make.summary(person.id) }] {
        let nobodys = world.try_save(Write::put(&Row::new(it))).await;
        assert!(matches!(nobodys, Err(CommitError::Missing)), "{nobodys:?}");
    }
}

/// Returns the linked summaries of an objective, and checks that every read agrees.
async fn linked_summaries(world: &CaseContext, id: ObjectiveId) -> Vec<SummaryId> {
    let CaseContext { store, tenant, .. } = world;
    let one = store.row::<Objective>(*tenant, id).await.unwrap().unwrap();
    assert_eq!(one.version, Version::FIRST, "links do not count as writes");
    let many = store.rows::<Objective>(*tenant, &[id]).await.unwrap();
    assert_eq!(many, std::slice::from_ref(&one));
    let page = PageRequest { limit: 100, after: None };
    for statuses in [vec![ObjectiveStatus::Proposed], <ObjectiveStatus as StringEnum>::ALL.to_vec()] {
        let filter = candor_domain::objective::Filter {
            scopes: vec![one.value.scope],
            statuses,
            ..candor_domain::objective::Filter::default()
        };
        for viewer in [Viewer::Everything, Viewer::Person(one.value.owner_id)] {
            let list = rows::objectives::list(&filter, viewer, Sort::descending_by(SortBy::CreatedAt), &page);
            let list_entry = store.page(*tenant, list).await.unwrap().items.into_iter().find(|item| item.id == id);
            assert_eq!(list_entry.as_ref(), Some(&one.value));
        }
    }
    one.value.linked_summary_ids
}

async fn objective_lists_its_unarchived_summaries(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let person = world.hire().await;
    let [goal, other] = [make.objective(person.id), make.objective(person.id)];
    world.save([&goal, &other].map(|objective| Write::put(&Row::new(objective.clone()))).into()).await;
    assert_eq!(linked_summaries(&world, goal.id).await, []);
    let including =
        |ids: &[ObjectiveId]| Summary { included_objective_ids: ids.to_vec(), ..make.summary(person.id) };
    let (first, second) = (including(&[goal.id]), including(&[other.id, goal.id]));
    for it in [&second, &first] {
        world.save(vec![Write::put(&Row::new(it.clone()))]).await;
    }
    assert_eq!(linked_summaries(&world, goal.id).await, [first.id, second.id], "in the order of their ids");
    assert_eq!(linked_summaries(&world, other.id).await, [second.id]);
    let archived_summary = Summary { status: Status::Archived, ..first };
    world.save(vec![Write::put(&Row::at_version(archived_summary, Version::FIRST))]).await;
    let summary_without = Summary { included_objective_ids: vec![other.id], ..second.clone() };
    world.save(vec![Write::put(&Row::at_version(summary_without, Version::FIRST))]).await;
    assert_eq!(
        (linked_summaries(&world, goal.id).await, linked_summaries(&world, other.id).await),
        (vec![], vec![second.id])
    );
    let elsewhere = world.in_other_tenant();
    let stranger = elsewhere.hire().await;
    let foreign = Summary { included_objective_ids: vec![other.id], ..make.summary(stranger.id) };
    elsewhere.save(vec![Write::put(&Row::new(foreign))]).await;
    assert_eq!(
        linked_summaries(&world, other.id).await,
        [second.id],
        "summaries of another tenant are not linked"
    );
    let many: Vec<_> = (0..=MAX_LINKED_SUMMARIES).map(|_| including(&[goal.id])).collect();
    world.save(many.iter().map(|summary| Write::put(&Row::new(summary.clone()))).collect()).await;
    let newest_ids: Vec<_> = many[1..].iter().map(|summary| summary.id).collect();
    assert_eq!(linked_summaries(&world, goal.id).await, newest_ids, "the newest 100 (§8)");
    let due = Objective { status: ObjectiveStatus::Approved, ..make.objective(person.id) };
    let about = including(&[due.id]);
    world.save(vec![Write::put(&Row::new(due.clone())), Write::put(&Row::new(about.clone()))]).await;
    let due_objectives = world.store.due(rows::objectives::STARTS_ON, due.period_start, 9).await.unwrap();
    assert_eq!(due_objectives[0].1.value.linked_summary_ids, [about.id]);
}

async fn archived_observation_is_left_out_of_open_summaries_only(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let person = world.hire().await;
    let [kept, gone] = [make.observation(person.id), make.observation(person.id)];
    world.save([&kept, &gone].map(|objective| Write::put(&Row::new(objective.clone()))).into()).await;
    let all: Vec<_> = Status::ALL
        .iter()
        .map(|status| Summary {
            status: *status,
            included_objective_ids: vec![make.id()],
            included_observation_ids: vec![gone.id, kept.id],
            ..make.summary(person.id)
        })
        .collect();
    world.save(all.iter().map(|summary| Write::put(&Row::new(summary.clone()))).collect()).await;
    let archived_observation = Observation { archived_at: Some(make.tick()), ..gone.clone() };
    let everything = Filter { statuses: Status::ALL.to_vec(), ..Filter::default() };
    let everybodys = lists::summaries(&world, everything.clone(), Viewer::Everything);
    let summaries_of_person =
        lists::summaries(&world, Filter { employee_id: Some(person.id), ..everything }, Viewer::Everything);
    for (write, hidden) in [
        (Row::at_version(archived_observation.clone(), Version::FIRST), vec![gone.id]),
        (Row::at_version(gone.clone(), Version(2)), vec![]),
    ] {
        world.save(vec![Write::put(&write)]).await;
        let expected_summaries: Vec<_> =
            all.iter().map(|summary| summary.clone().with_archived_observations(hidden.clone())).collect();
        for it in &expected_summaries {
            let summary_row = store.row::<Summary>(*tenant, it.id).await.unwrap();
            assert_eq!(
                summary_row,
                Some(Versioned { value: it.clone(), version: Version::FIRST }),
                "{:?}",
                it.status
            );
        }
        let sort = Sort::ascending_by(SortBy::CreatedAt);
        for list in [&everybodys, &summaries_of_person] {
            assert_eq!(list.walk(sort, 2).await, crate::sort_entries(expected_summaries.clone(), sort, list.id));
        }
    }
}

async fn summaries_belong_to_one_tenant(world: CaseContext) {
    let person = world.hire().await;
    let summary = Summary { included_objective_ids: vec![world.make.id()], ..world.make.summary(person.id) };
    world.save(vec![Write::put(&Row::new(summary.clone()))]).await;
    for other in [world.in_other_tenant(), world.test_environment()] {
        assert_eq!(other.store.row::<Summary>(other.tenant, summary.id).await.unwrap(), None);
        let including =
            Filter { included_objective_id: summary.included_objective_ids.first().copied(), ..Filter::default() };
        for filter in [Filter::default(), including] {
            for viewer in [Viewer::Everything, Viewer::Person(person.id)] {
                let list = lists::summaries(&other, filter.clone(), viewer);
                assert_eq!(list.walk(Sort::ascending_by(SortBy::CreatedAt), 9).await, []);
            }
        }
        for write in [
            Write::put(&Row::at_version(summary.clone(), Version::FIRST)),
            Write::put(&Row::new(other.make.summary(person.id))),
        ] {
            let result = other.try_save(write).await;
            assert!(matches!(result, Err(CommitError::Stale | CommitError::Missing)), "{result:?}");
        }
    }
}

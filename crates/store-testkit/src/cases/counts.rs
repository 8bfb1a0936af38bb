//! Counts by group, compared with counts in memory.

use std::collections::BTreeMap;

use candor_domain::counts::MAX_GROUPS;
use candor_domain::fields::StringEnum;
use candor_domain::objective::{self, Family};
use candor_domain::observation::{self, Filter, Observation, ObservationGroup, Type};
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::params::{Archived, Params};
use candor_domain::visibility::{RestrictedResource, Viewer};
use candor_fair_share::SlowReads;
use candor_port_storage::{Row, SlowListError, StorageError, StorageExt, TooSlowError, Write};
use candor_tables::counts::{CountedGroups, GROUP_BY};
use candor_tables::flat::{SqlValue, Type as ColumnType};
use candor_tables::rows;

use super::population::Population;
use crate::Case;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    let usual = SlowReads::with_places(2);
    vec![
        Case::new(observation_counts_match_the_list_of_each_viewer),
        Case::new(objective_counts_match_their_list),
        Case::new(counts_are_cut_to_the_largest_groups),
        Case::new(counts_need_a_slot).with_limits(SlowReads { places: 0, ..usual }),
    ]
}

type ExpectedCounts = BTreeMap<Vec<SqlValue>, u64>;

const GROUPS: [&[ObservationGroup]; 8] = [
    &[ObservationGroup::Type],
    &[ObservationGroup::Month],
    &[ObservationGroup::AttributeId],
    &[ObservationGroup::DepartmentId],
    &[ObservationGroup::Type, ObservationGroup::Month],
    &[ObservationGroup::Month, ObservationGroup::DepartmentId],
    &[ObservationGroup::DepartmentId, ObservationGroup::AttributeId],
    &[ObservationGroup::AttributeId, ObservationGroup::Month],
];

async fn counts(
    world: &CaseContext,
    filter: &Filter,
    viewer: Viewer,
    groups: &[ObservationGroup],
    most: usize,
) -> Result<CountedGroups, StorageError> {
    let list = rows::observations::list(filter, viewer, Observation::DEFAULT, &PageRequest::ALL);
    let keys: Vec<_> = groups.iter().map(|group| rows::observations::group_key(*group)).collect();
    world.store.counts(world.tenant, list, &keys, most).await
}

/// Returns the groups of an observation.
fn groups_of(row: &Observation, all: &Population, groups: &[ObservationGroup]) -> Vec<Vec<SqlValue>> {
    let mut combinations = vec![vec![]];
    for group in groups {
        let values = match group {
            ObservationGroup::Type => vec![SqlValue::Text(<&str>::from(row.kind).to_owned())],
            ObservationGroup::Month => vec![SqlValue::Text(row.observation_date.to_string()[..7].to_owned())],
            ObservationGroup::AttributeId if row.attribute_ids.is_empty() => vec![SqlValue::Null(ColumnType::Id)],
            ObservationGroup::AttributeId => row.attribute_ids.iter().map(|id| SqlValue::from(*id)).collect(),
            ObservationGroup::DepartmentId => {
                let person = all.people.iter().find(|person| person.id == row.employee_id);
                let home = person.and_then(|person| person.department_id);
                vec![home.map_or(SqlValue::Null(ColumnType::Id), SqlValue::from)]
            }
        };
        let with = |before: &Vec<SqlValue>| {
            values.iter().map(|value| [before.clone(), vec![value.clone()]].concat()).collect::<Vec<_>>()
        };
        combinations = combinations.iter().flat_map(with).collect();
    }
    combinations
}

fn counts_by_group(counted: CountedGroups) -> ExpectedCounts {
    counted.groups.into_iter().map(|group| (group.values, group.count)).collect()
}

async fn observation_counts_match_the_list_of_each_viewer(world: CaseContext) {
    let all = Population::new(&world, 30, 300).await;
    Population::new(&world.in_other_tenant(), 5, 40).await;
    Population::new(&world.test_environment(), 5, 40).await;
    let filters = [
        Filter::default(),
        Filter { archived: Archived::All, ..Filter::default() },
        Filter { kind: Some(Type::Strength), archived: Archived::Yes, ..Filter::default() },
        Filter { manager_id: Some(all.people[0].id), ..Filter::default() },
        Filter { attribute_ids: vec![all.attributes[0].id, all.attributes[1].id], ..Filter::default() },
        Filter { employee_id: Some(all.people[1].id), ..Filter::default() },
    ];
    let viewers = [Viewer::Everything, Viewer::Person(all.people[1].id), Viewer::Person(all.people[20].id)];
    for filter in &filters {
        for viewer in viewers {
            let is_shown = |row: &&Observation| {
                let readers = row.readers();
                let is_below = |person| viewer.person().is_some_and(|manager| all.is_below(person, manager));
                let is_seen = readers.include(viewer, readers.managers_of.is_some_and(is_below));
                is_seen && super::filters::shows_observation(filter, row, &all)
            };
            let visible_observations: Vec<_> = all.observations.iter().filter(is_shown).collect();
            for groups in GROUPS {
                let mut expected_counts = ExpectedCounts::new();
                for values in visible_observations.iter().flat_map(|row| groups_of(row, &all, groups)) {
                    *expected_counts.entry(values).or_default() += 1;
                }
                let counts_in_store = counts(&world, filter, viewer, groups, MAX_GROUPS).await.unwrap();
                assert_eq!(
                    counts_in_store.total,
                    expected_counts.values().sum::<u64>(),
                    "{filter:?} {viewer:?} {groups:?}"
                );
                assert_eq!(counts_by_group(counts_in_store), expected_counts, "{filter:?} {viewer:?} {groups:?}");
            }
            let total = counts(&world, filter, viewer, &[], 1).await.unwrap().total;
            assert_eq!(total, visible_observations.len() as u64, "{filter:?} {viewer:?}");
        }
    }
}

async fn objective_counts_match_their_list(world: CaseContext) {
    let owner = world.hire().await.id;
    let confidence = || world.random.maybe(60, objective::Confidence::ALL);
    let new_objective = || objective::Objective { confidence: confidence(), ..world.make.objective(owner) };
    let all: Vec<_> = (0..20).map(|_| new_objective()).collect();
    world.save(all.iter().cloned().map(|row| Write::put(&Row::new(row))).collect()).await;
    let filter =
        Params::new(vec![]).parse(|params| objective::Filter::read(Family::Employees, params)).unwrap().filter;
    for group in objective::ObjectiveGroup::ALL.iter().copied() {
        let mut expected_counts = ExpectedCounts::new();
        for row in all.iter().filter(|row| filter.scopes.contains(&row.scope)) {
            let word = match group {
                objective::ObjectiveGroup::Status => <&str>::from(row.status).to_owned(),
                objective::ObjectiveGroup::Scope => <&str>::from(row.scope).to_owned(),
                objective::ObjectiveGroup::Month => row.period_end.to_string()[..7].to_owned(),
                objective::ObjectiveGroup::Confidence => {
                    row.confidence.map_or("none", StringEnum::word).to_owned()
                }
            };
            *expected_counts.entry(vec![SqlValue::Text(word)]).or_default() += 1;
        }
        for viewer in [Viewer::Everything, Viewer::Person(owner)] {
            let list = rows::objectives::list(&filter, viewer, objective::Objective::DEFAULT, &PageRequest::ALL);
            let keys = [rows::objectives::group_key(group)];
            let counts_in_store = world.store.counts(world.tenant, list, &keys, MAX_GROUPS).await.unwrap();
            assert_eq!(counts_by_group(counts_in_store), expected_counts, "{group:?} {viewer:?}");
        }
    }
}

async fn counts_are_cut_to_the_largest_groups(world: CaseContext) {
    let all = Population::new(&world, 10, 200).await;
    let groups = [ObservationGroup::AttributeId];
    let every = counts_by_group(
        counts(&world, &Filter::default(), Viewer::Everything, &groups, MAX_GROUPS).await.unwrap(),
    );
    let cut = counts(&world, &Filter::default(), Viewer::Everything, &groups, 2).await.unwrap();
    assert_eq!(cut.total, every.values().sum::<u64>(), "of {}", all.observations.len());
    let mut sizes: Vec<_> = every.into_values().collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(cut.groups.iter().map(|group| group.count).collect::<Vec<_>>(), sizes[..2]);
}

async fn counts_need_a_slot(world: CaseContext) {
    let error =
        counts(&world, &observation::Filter::default(), Viewer::Everything, &[ObservationGroup::Type], 1).await;
    let Err(StorageError::TooSlow(slow)) = error else { panic!("{error:?}") };
    assert_eq!(slow, TooSlowError { cause: SlowListError::NoPlace, conditions: vec![GROUP_BY.to_owned()] });
}

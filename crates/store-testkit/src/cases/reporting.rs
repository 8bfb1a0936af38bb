//! Reporting lines: no cycles under concurrency, and a closure that matches the lines (decisions D1, D5).

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::id::EmployeeId;
use candor_domain::observation;
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::people::{Employee, MAX_REPORTING_DEPTH, Status};
use candor_domain::visibility::Viewer;
use candor_port_storage::{CommitError, ReportingLineChange, Row, StorageExt, Version, Write};
use candor_tables::rows;

use crate::Case;
use crate::fixtures::joins;
use crate::walk;
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(concurrent_swap_of_managers_succeeds_only_once),
        Case::new(concurrent_moves_never_make_a_cycle),
        Case::new(closure_follows_moves_of_subtrees),
        Case::new(move_decided_on_an_older_tree_is_stale),
        Case::new(lines_beyond_the_greatest_depth_are_stale),
        Case::new(people_hired_during_moves_are_in_the_closure),
        Case::new(one_change_set_may_change_several_lines),
        Case::new(deactivated_manager_still_connects_their_reports),
        Case::new(other_changes_leave_the_tree_unchanged),
        Case::new(reports_are_listed_in_order_and_bounded),
    ]
}

/// The expected manager of each person.
#[derive(Default)]
struct Model(BTreeMap<EmployeeId, Option<EmployeeId>>);

impl Model {
    /// Returns all managers above a person, nearest first. Stops where a cycle closes.
    fn above(&self, id: EmployeeId) -> Vec<EmployeeId> {
        let mut managers = Vec::new();
        let mut next = self.0.get(&id).copied().flatten();
        while let Some(manager) = next.filter(|manager| !managers.contains(manager)) {
            managers.push(manager);
            next = self.0.get(&manager).copied().flatten();
        }
        managers
    }

    fn is_below(&self, id: EmployeeId, manager: EmployeeId) -> bool {
        id == manager || self.above(id).contains(&manager)
    }

    /// Reads the stored lines of these people.
    async fn stored(world: &CaseContext, ids: &[EmployeeId]) -> Self {
        let people_rows = world.store.rows::<Employee>(world.tenant, ids).await.unwrap();
        Self(people_rows.into_iter().map(|row| (row.value.id, row.value.manager_id)).collect())
    }

    fn has_cycle(&self) -> bool {
        self.0.keys().any(|id| self.above(*id).contains(id))
    }

    /// Compares the store's closure with the model for every pair of people.
    async fn must_be_the_closure(&self, world: &CaseContext, when: &str) {
        let ids: Vec<_> = self.0.keys().copied().collect();
        let tasks = ids.clone().into_iter().map(|manager| {
            let (world, ids) = (world.clone(), ids.clone());
            async move {
                let mut people_below = BTreeSet::new();
                for id in ids {
                    // `is_below` is `true` for `manager` and for all people below `manager`: none of them can
                    // become the manager of `manager`.
                    if world.store.read_reporting(world.tenant, manager, id).await.unwrap().is_below {
                        people_below.insert(id);
                    }
                }
                let stored_people = world.store.people_below(world.tenant, manager).await.unwrap();
                (people_below, stored_people.into_iter().chain([manager]).collect::<BTreeSet<_>>())
            }
        });
        for (manager, below) in ids.iter().zip(at_once(tasks).await) {
            let expected_people: BTreeSet<_> =
                ids.iter().copied().filter(|id| self.is_below(*id, *manager)).collect();
            assert_eq!(below, (expected_people.clone(), expected_people), "{when}: below {manager}");
        }
    }
}

async fn people(world: &CaseContext, count: usize) -> Vec<EmployeeId> {
    let people: Vec<_> = (0..count).map(|_| world.make.employee()).collect();
    world.save(people.iter().cloned().map(joins).collect()).await;
    people.into_iter().map(|person| person.id).collect()
}

async fn concurrent_swap_of_managers_succeeds_only_once(world: CaseContext) {
    let mut ids = Vec::new();
    for round in 0..15 {
        let pair = people(&world, 2).await;
        let turns = [(pair[0], pair[1]), (pair[1], pair[0])].map(|(id, manager)| {
            let world = world.clone();
            async move { world.moves(id, Some(manager)).await }
        });
        let results = at_once(turns).await;
        assert_eq!(results.iter().filter(|is_moved| **is_moved).count(), 1, "round {round}: {results:?}");
        ids.extend(pair);
    }
    let model = Model::stored(&world, &ids).await;
    assert!(!model.has_cycle());
    model.must_be_the_closure(&world, "after swaps").await;
}

async fn concurrent_moves_never_make_a_cycle(world: CaseContext) {
    let ids = people(&world, 12).await;
    for round in 0..3 {
        let moves: Vec<_> = (0..30).map(|_| (*world.random.pick(&ids), world.random.maybe(90, &ids))).collect();
        let tasks = moves.into_iter().map(|(id, manager)| {
            let world = world.clone();
            async move { world.moves(id, manager).await }
        });
        at_once(tasks).await;
        let model = Model::stored(&world, &ids).await;
        assert!(!model.has_cycle(), "round {round}: {:?}", model.0);
        model.must_be_the_closure(&world, &format!("round {round}")).await;
    }
}

async fn closure_follows_moves_of_subtrees(world: CaseContext) {
    let ids = people(&world, 24).await;
    let mut model = Model(ids.iter().map(|id| (*id, None)).collect());
    // Builds a chain first, the deepest possible tree, then moves people at random.
    for pair in ids.windows(2) {
        assert!(world.moves(pair[1], Some(pair[0])).await);
        model.0.insert(pair[1], Some(pair[0]));
    }
    model.must_be_the_closure(&world, "a chain").await;
    for number in 0..90 {
        let (id, manager) = (*world.random.pick(&ids), world.random.maybe(85, &ids));
        let is_allowed = manager.is_none_or(|manager_id| !model.is_below(manager_id, id));
        assert_eq!(world.moves(id, manager).await, is_allowed, "move {number}: {id} below {manager:?}");
        if is_allowed {
            model.0.insert(id, manager);
        }
        if number % 30 == 29 {
            model.must_be_the_closure(&world, &format!("after {number} moves")).await;
        }
    }
    // Lists at any depth read the same closure.
    let observations: Vec<_> = ids.iter().map(|id| world.make.observation(*id)).collect();
    world.save(observations.into_iter().map(|observation| Write::put(&Row::new(observation))).collect()).await;
    for manager in &ids {
        let filter = observation::Filter { manager_id: Some(*manager), ..observation::Filter::default() };
        let sort = Sort::descending_by(SortBy::ObservationDate);
        let listed_rows = walk(
            sort,
            10,
            |observation: &observation::Observation| observation.id.to_bytes(),
            |page| {
                let (world, filter) = (world.clone(), filter.clone());
                async move {
                    world
                        .store
                        .page(world.tenant, rows::observations::list(&filter, Viewer::Everything, sort, &page))
                        .await
                }
            },
        )
        .await;
        let subject_ids: BTreeSet<_> = listed_rows.iter().map(|observation| observation.employee_id).collect();
        let expected_ids =
            ids.iter().copied().filter(|id| id != manager && model.is_below(*id, *manager)).collect();
        assert_eq!(subject_ids, expected_ids, "below {manager}");
    }
}

async fn move_decided_on_an_older_tree_is_stale(world: CaseContext) {
    let ids = people(&world, 4).await;
    let tree = world.tree().await;
    let move_below = |id: EmployeeId, manager: EmployeeId, seen: Version| {
        let world = world.clone();
        async move {
            let person = world.employee(id).await;
            let state = Employee { manager_id: Some(manager), ..person.value };
            world
                .try_save(Write::employee(
                    &Row::at_version(state, person.version),
                    Some(ReportingLineChange { seen: Some(seen) }),
                ))
                .await
        }
    };
    move_below(ids[0], ids[1], tree).await.unwrap();
    let later_version = world.tree().await;
    assert!(later_version > tree, "a move increments the version of the tree");
    // The other rows are unchanged; only the reporting tree has a newer version.
    let result = move_below(ids[1], ids[0], tree).await;
    assert!(matches!(result, Err(CommitError::Stale)), "{result:?}");
    assert_eq!(world.employee(ids[1]).await.value.manager_id, None);
    assert_eq!(world.tree().await, later_version, "a refused move does not increment the version");
    move_below(ids[2], ids[3], later_version).await.unwrap();
    let now = world.tree().await;
    assert!(now > later_version);
    // New people and removed managers cannot close a cycle, so they do not make later moves stale.
    world.hired_below(ids[3]).await;
    assert!(world.moves(ids[0], None).await);
    assert_eq!(world.tree().await, now, "only moves increment the version");
    move_below(ids[0], ids[2], now).await.unwrap();
    let elsewhere = world.in_other_tenant();
    let version_before = elsewhere.tree().await;
    assert!(world.moves(ids[1], Some(ids[0])).await);
    assert_eq!(elsewhere.tree().await, version_before, "each tenant has its own tree");
}

/// Requires that one of two concurrent changes fails if both together exceed the maximum reporting depth: the move of
/// a chain of people below another chain, and the hire of a person at the end of the moved chain.
async fn lines_beyond_the_greatest_depth_are_stale(world: CaseContext) {
    let chain = async |length: u32| {
        let mut ids = vec![world.hire().await.id];
        for _ in 1..length {
            ids.push(world.hired_below(ids[ids.len() - 1]).await.id);
        }
        ids
    };
    let (upper, lower) = (chain(MAX_REPORTING_DEPTH - 9).await, chain(10).await);
    let bottom = upper[upper.len() - 1];
    let move_subtree = || async {
        let person = world.employee(lower[0]).await;
        let state = Employee { manager_id: Some(bottom), ..person.value };
        let lines = ReportingLineChange { seen: Some(world.tree().await) };
        world.try_save(Write::employee(&Row::at_version(state, person.version), Some(lines))).await
    };
    let hire_below = |manager: EmployeeId| {
        let newcomer = Employee { manager_id: Some(manager), ..world.make.employee() };
        world.try_save(joins(newcomer))
    };
    let heights = world.store.heights(world.tenant, &[upper[0], lower[0], lower[9]]).await.unwrap();
    let heights: BTreeMap<_, _> = heights.into_iter().collect();
    assert_eq!(heights, BTreeMap::from([(upper[0], MAX_REPORTING_DEPTH - 10), (lower[0], 9)]));
    assert_eq!(world.store.tree_height(world.tenant).await.unwrap(), MAX_REPORTING_DEPTH - 10);
    assert_eq!(world.store.tree_height(world.test_environment().tenant).await.unwrap(), 0);
    let (is_moved, is_hired) = tokio::join!(move_subtree(), hire_below(lower[9]));
    assert!(is_moved.is_ok() != is_hired.is_ok(), "{is_moved:?} {is_hired:?}");
    if is_moved.is_ok() {
        assert!(matches!(hire_below(lower[9]).await, Err(CommitError::Stale)));
    } else {
        assert!(matches!(move_subtree().await, Err(CommitError::Stale)));
        assert_eq!(world.employee(lower[0]).await.value.manager_id, None);
    }
    hire_below(upper[0]).await.unwrap();
}

async fn people_hired_during_moves_are_in_the_closure(world: CaseContext) {
    let ids = people(&world, 8).await;
    let moves = (0..24).map(|number| {
        let (world, ids) = (world.clone(), ids.clone());
        let (id, manager) = (*world.random.pick(&ids), *world.random.pick(&ids));
        async move {
            if number % 2 == 0 {
                return Some(world.hired_below(manager).await.id);
            }
            world.moves(id, Some(manager)).await;
            None
        }
    });
    let new_people = at_once(moves).await.into_iter().flatten();
    let everyone: Vec<_> = ids.iter().copied().chain(new_people).collect();
    let model = Model::stored(&world, &everyone).await;
    assert_eq!(model.0.len(), everyone.len());
    model.must_be_the_closure(&world, "after hiring during moves").await;
}

/// One change set reverses a chain of managers. All lines name the version that the tree had before the change set,
/// as in a CSV import.
async fn one_change_set_may_change_several_lines(world: CaseContext) {
    let ids = people(&world, 5).await;
    for pair in ids.windows(2) {
        assert!(world.moves(pair[1], Some(pair[0])).await);
    }
    // The lowest person of the chain becomes its top, and so on.
    let (tree, mut writes, mut manager_id) = (world.tree().await, Vec::new(), None);
    for id in ids.iter().rev() {
        let person = world.employee(*id).await;
        let state = Employee { manager_id, ..person.value };
        writes.push(Write::employee(
            &Row::at_version(state, person.version),
            Some(ReportingLineChange { seen: Some(tree) }),
        ));
        manager_id = Some(*id);
    }
    let newcomer = Employee { manager_id: Some(ids[0]), ..world.make.employee() };
    writes.push(joins(newcomer.clone()));
    world.save(writes).await;
    let everyone: Vec<_> = ids.iter().copied().chain([newcomer.id]).collect();
    let model = Model::stored(&world, &everyone).await;
    assert_eq!(model.above(newcomer.id), ids, "the reversed chain");
    model.must_be_the_closure(&world, "turned").await;
}

async fn deactivated_manager_still_connects_their_reports(world: CaseContext) {
    let top = world.hire().await;
    let middle = world.hired_below(top.id).await;
    let bottom = world.hired_below(middle.id).await;
    let observation_of_bottom = world.observe(bottom.id).await;
    let former_manager =
        Employee { status: Status::Deactivated, deactivated_at: Some(world.make.tick()), ..middle };
    world.save(vec![Write::employee(&Row::at_version(former_manager, Version::FIRST), None)]).await;
    let filter = observation::Filter { manager_id: Some(top.id), ..observation::Filter::default() };
    let page = PageRequest { limit: 10, after: None };
    let sort = Sort::descending_by(SortBy::CreatedAt);
    let observation_page = world
        .store
        .page(world.tenant, rows::observations::list(&filter, Viewer::Everything, sort, &page))
        .await
        .unwrap();
    assert_eq!(observation_page.items, [observation_of_bottom]);
}

async fn other_changes_leave_the_tree_unchanged(world: CaseContext) {
    let ids = people(&world, 3).await;
    world.moves(ids[1], Some(ids[0])).await;
    world.moves(ids[2], Some(ids[1])).await;
    let tree = world.tree().await;
    for id in &ids {
        let person = world.employee(*id).await;
        let state = Employee { first_name: "Other".to_owned(), ..person.value };
        world.save(vec![Write::employee(&Row::at_version(state, person.version), None)]).await;
    }
    world.hire().await;
    assert_eq!(world.tree().await, tree);
    let model = Model::stored(&world, &ids).await;
    model.must_be_the_closure(&world, "after other changes").await;
}

async fn reports_are_listed_in_order_and_bounded(world: CaseContext) {
    let CaseContext { make, store, tenant, random, .. } = &world;
    let managers = people(&world, 3).await;
    let names = ["Zoe", "adam", "Adam", "Éva", "eva", "O'Neil", "von Berg"];
    let statuses = [Status::Active, Status::Active, Status::PendingInvite, Status::Deactivated];
    let mut everyone = Vec::new();
    for _ in 0..60 {
        everyone.push(Employee {
            first_name: (*random.pick(&names)).to_owned(),
            last_name: (*random.pick(&names)).to_owned(),
            job_title: None,
            status: *random.pick(&statuses),
            // One of the three managers has no reports.
            manager_id: Some(managers[random.number_below(2)]),
            ..make.employee()
        });
    }
    world.save(everyone.iter().cloned().map(joins).collect()).await;
    let place = |person: &Employee| (person.last_name.to_lowercase(), person.first_name.to_lowercase(), person.id);
    for most in [1_u16, 7, 100] {
        let mut reports_by_manager: BTreeMap<EmployeeId, Vec<EmployeeId>> = BTreeMap::new();
        for (manager, report) in store.direct_reports(*tenant, &managers, most).await.unwrap() {
            reports_by_manager.entry(manager).or_default().push(report);
        }
        assert!(!reports_by_manager.contains_key(&managers[2]));
        for manager in &managers[..2] {
            let mut expected_people: Vec<_> = everyone
                .iter()
                .filter(|person| person.manager_id == Some(*manager) && person.status != Status::Deactivated)
                .cloned()
                .collect();
            expected_people.sort_by_key(place);
            expected_people.truncate(usize::from(most));
            let expected_ids: Vec<_> = expected_people.into_iter().map(|person| person.id).collect();
            assert_eq!(reports_by_manager.get(manager), Some(&expected_ids), "at most {most} of {manager}");
        }
    }
    assert_eq!(store.direct_reports(*tenant, &[], 100).await.unwrap(), []);
}

//! Changes of teams. If a person moves, joins or leaves, the next page of every manager above shows the change
//! (decisions B5, D5).

use std::collections::BTreeSet;

use candor_domain::id::EmployeeId;
use candor_domain::objective::{Filter, Scope, Status};
use candor_domain::observation;
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::people::Employee;
use candor_domain::visibility::Viewer;
use candor_port_storage::{ReportingLineChange, Row, StorageExt, Write};
use candor_tables::rows;

use crate::Case;
use crate::fixtures::joins;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(team_list_shows_a_move_on_the_next_page),
        Case::new(team_list_shows_hires_and_releases_on_the_next_page),
        Case::new(team_list_shows_a_moved_subtree_on_the_next_page),
        Case::new(team_list_shows_no_trace_of_a_refused_move),
    ]
}

/// Number of people in the crowd: so many that stores hash the team instead of gathering the rows of each person.
const CROWD: usize = 650;

/// A chain of three managers, another manager, and a crowd below the lowest one of the chain.
struct Teams {
    world: CaseContext,
    /// Managers of the chain, from the top down.
    chain: Vec<EmployeeId>,
    other: EmployeeId,
    /// A person without a manager, who has an observation and an objective.
    loner: EmployeeId,
    /// People of the crowd who have observations and objectives.
    seen: BTreeSet<EmployeeId>,
}

impl Teams {
    async fn new(world: CaseContext) -> Self {
        let top = world.hire().await.id;
        let middle = world.hired_below(top).await.id;
        let low = world.hired_below(middle).await.id;
        let (other, loner) = (world.hire().await.id, world.hire().await.id);
        let new_report = |_| Employee { manager_id: Some(low), ..world.make.employee() };
        let crowd: Vec<Employee> = (0..CROWD).map(new_report).collect();
        for some in crowd.chunks(100) {
            world.save(some.iter().cloned().map(joins).collect()).await;
        }
        let team_ids = crowd.iter().step_by(100).map(|id| id.id).collect();
        let teams = Self { world, chain: vec![top, middle, low], other, loner, seen: team_ids };
        for person in teams.seen.iter().copied().chain([loner]) {
            teams.save_resources_of(person).await;
        }
        teams
    }

    /// Saves an observation and an objective of a person.
    async fn save_resources_of(&self, person: EmployeeId) {
        self.world.observe(person).await;
        self.world.save(vec![Write::put(&Row::new(self.world.make.objective(person)))]).await;
    }

    /// Returns the people on the pages of a manager, and checks that all lists and orders show the same ones.
    async fn shown(&self, manager: EmployeeId) -> BTreeSet<EmployeeId> {
        let CaseContext { store, tenant, .. } = &self.world;
        let page = PageRequest { limit: 100, after: None };
        let (by_date, by_time) =
            (Sort::descending_by(SortBy::ObservationDate), Sort::descending_by(SortBy::CreatedAt));
        let filter = observation::Filter { manager_id: Some(manager), ..observation::Filter::default() };
        let observations = store
            .page(*tenant, rows::observations::list(&filter, Viewer::Everything, by_date, &page))
            .await
            .unwrap();
        let subject_ids: BTreeSet<_> = observations.items.into_iter().map(|item| item.employee_id).collect();
        let second_page = store
            .page(*tenant, rows::observations::list(&filter, Viewer::Everything, by_time, &page))
            .await
            .unwrap();
        assert_eq!(
            second_page.items.into_iter().map(|item| item.employee_id).collect::<BTreeSet<_>>(),
            subject_ids
        );
        let filter =
            Filter { scopes: vec![Scope::Employee], statuses: vec![Status::Proposed], ..Filter::default() };
        let goals = store
            .page(*tenant, rows::objectives::list(&filter, Viewer::Person(manager), by_time, &page))
            .await
            .unwrap();
        assert_eq!(goals.items.into_iter().map(|item| item.owner_id).collect::<BTreeSet<_>>(), subject_ids);
        subject_ids
    }

    /// Checks that each manager of the chain sees the crowd and these people. The second pass detects stale
    /// caches.
    async fn must_show(&self, more: &[EmployeeId], when: &str) {
        let expected_ids: BTreeSet<_> = self.seen.iter().chain(more).copied().collect();
        for manager in [&self.chain[..], &self.chain[..]].concat() {
            assert_eq!(self.shown(manager).await, expected_ids, "{when}");
        }
    }
}

async fn team_list_shows_a_move_on_the_next_page(world: CaseContext) {
    let teams = Teams::new(world).await;
    teams.must_show(&[], "at first").await;
    assert_eq!(teams.shown(teams.other).await, BTreeSet::new());
    for number in 0..2 {
        assert!(teams.world.moves(teams.loner, Some(teams.chain[2])).await);
        teams.must_show(&[teams.loner], &format!("joined, {number}")).await;
        assert!(teams.world.moves(teams.loner, Some(teams.other)).await);
        teams.must_show(&[], &format!("moved on, {number}")).await;
        assert_eq!(teams.shown(teams.other).await, BTreeSet::from([teams.loner]));
    }
}

async fn team_list_shows_hires_and_releases_on_the_next_page(world: CaseContext) {
    let teams = Teams::new(world).await;
    teams.must_show(&[], "at first").await;
    let first = teams.world.hired_below(teams.chain[2]).await.id;
    teams.save_resources_of(first).await;
    teams.must_show(&[first], "hired").await;
    let second = teams.world.hired_below(first).await.id;
    teams.save_resources_of(second).await;
    teams.must_show(&[first, second], "hired below the first").await;
    assert!(teams.world.moves(second, None).await);
    teams.must_show(&[first], "released").await;
    assert!(teams.world.moves(first, None).await);
    teams.must_show(&[], "both released").await;
}

async fn team_list_shows_a_moved_subtree_on_the_next_page(world: CaseContext) {
    let teams = Teams::new(world).await;
    let [top, middle, low] = teams.chain[..] else { panic!("{:?}", teams.chain) };
    teams.must_show(&[], "at first").await;
    assert!(teams.world.moves(low, Some(teams.other)).await);
    for _ in 0..2 {
        for (manager, wanted) in [(top, false), (middle, false), (low, true), (teams.other, true)] {
            let expected_ids = if wanted { teams.seen.clone() } else { BTreeSet::new() };
            assert_eq!(teams.shown(manager).await, expected_ids);
        }
    }
    assert!(teams.world.moves(low, Some(middle)).await);
    assert_eq!(teams.shown(teams.other).await, BTreeSet::new());
    teams.must_show(&[], "back again").await;
}

/// Refuses a move after other rows of its change set were written. No list may show a trace of these rows.
async fn team_list_shows_no_trace_of_a_refused_move(world: CaseContext) {
    let teams = Teams::new(world).await;
    teams.must_show(&[], "at first").await;
    let (world, low) = (&teams.world, teams.chain[2]);
    let tree = world.tree().await;
    let (loner, other) = (world.employee(teams.loner).await, world.employee(teams.other).await);
    let moved_person = Employee { manager_id: Some(low), ..loner.value.clone() };
    let writes = vec![
        Write::employee(
            &Row::at_version(moved_person, loner.version),
            Some(ReportingLineChange { seen: Some(tree) }),
        ),
        // No row has this version, so the store refuses the whole change set.
        Write::employee(&Row::at_version(other.value.clone(), loner.version.next().next()), None),
    ];
    world.commit(world.make.change(writes)).await.unwrap_err();
    teams.must_show(&[], "refused").await;
    assert!(world.moves(teams.other, Some(low)).await);
    teams.save_resources_of(teams.other).await;
    teams.must_show(&[teams.other], "another one joined").await;
}

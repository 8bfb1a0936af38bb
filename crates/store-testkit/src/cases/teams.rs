//! Whoever moves, comes or leaves is on the very next page of everybody above them, or no longer (decisions B5, D5).

use std::collections::BTreeSet;

use candor_domain::id::EmployeeId;
use candor_domain::objective::{Filter, Scope, Status};
use candor_domain::observation;
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::params::Bounds;
use candor_domain::people::Employee;
use candor_domain::visibility::Viewer;
use candor_port_storage::{Lines, Row, StorageExt, Write};
use candor_tables::rows;

use crate::Case;
use crate::fixtures::joins;
use crate::world::World;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(a_move_shows_on_the_next_page_of_every_manager),
        Case::new(who_was_hired_or_released_shows_on_the_next_page_of_every_manager),
        Case::new(a_moved_team_shows_on_the_next_page_of_every_manager),
        Case::new(a_refused_move_shows_on_no_page),
    ]
}

/// More people than are looked for one by one, so that whatever a store knows by heart of a team is asked.
const CROWD: usize = 650;

/// A chain of three managers, another one, and a crowd below the lowest of the chain. A few of them are spoken of.
struct Teams {
    world: World,
    /// From the top down.
    chain: Vec<EmployeeId>,
    other: EmployeeId,
    /// Somebody at the top who is spoken of, and has a goal.
    loner: EmployeeId,
    /// Those of the crowd who are spoken of, and have goals.
    seen: BTreeSet<EmployeeId>,
}

impl Teams {
    async fn new(world: World) -> Self {
        let top = world.hired().await.id;
        let middle = world.hired_below(top).await.id;
        let low = world.hired_below(middle).await.id;
        let (other, loner) = (world.hired().await.id, world.hired().await.id);
        let below = |_| Employee { manager_id: Some(low), ..world.make.employee() };
        let crowd: Vec<Employee> = (0..CROWD).map(below).collect();
        for some in crowd.chunks(100) {
            world.save(some.iter().cloned().map(joins).collect()).await;
        }
        let seen = crowd.iter().step_by(100).map(|it| it.id).collect();
        let teams = Self { world, chain: vec![top, middle, low], other, loner, seen };
        for person in teams.seen.iter().copied().chain([loner]) {
            teams.speaks_of(person).await;
        }
        teams
    }

    async fn speaks_of(&self, person: EmployeeId) {
        self.world.observed(person).await;
        self.world.save(vec![Write::put(&Row::new(self.world.make.objective(person)))]).await;
    }

    /// Everybody on the pages of a manager, which show the same people in whatever list and order.
    async fn shown(&self, manager: EmployeeId) -> BTreeSet<EmployeeId> {
        let World { store, tenant, .. } = &self.world;
        let page = PageRequest { limit: 100, after: None };
        let (by_date, by_time) = (Sort::down(SortBy::ObservationDate), Sort::down(SortBy::CreatedAt));
        let filter = observation::Filter { manager_id: Some(manager), ..observation::Filter::default() };
        let observations =
            store.page(*tenant, rows::observations::list(&filter, Viewer::Everything, by_date, &page)).await.unwrap();
        let shown: BTreeSet<_> = observations.items.into_iter().map(|it| it.employee_id).collect();
        let again =
            store.page(*tenant, rows::observations::list(&filter, Viewer::Everything, by_time, &page)).await.unwrap();
        assert_eq!(again.items.into_iter().map(|it| it.employee_id).collect::<BTreeSet<_>>(), shown);
        let filter = Filter {
            scopes: vec![Scope::Employee],
            owner_id: None,
            statuses: vec![Status::Proposed],
            period_start: Bounds::default(),
            period_end: Bounds::default(),
            updated_at: Bounds::default(),
        };
        let goals = store
            .page(*tenant, rows::objectives::list(&filter, Viewer::Person(manager), by_time, &page))
            .await
            .unwrap();
        assert_eq!(goals.items.into_iter().map(|it| it.owner_id).collect::<BTreeSet<_>>(), shown);
        shown
    }

    /// The chain's managers show the crowd and these people; twice, the second time from what may be remembered.
    async fn must_show(&self, more: &[EmployeeId], when: &str) {
        let wanted: BTreeSet<_> = self.seen.iter().chain(more).copied().collect();
        for manager in [&self.chain[..], &self.chain[..]].concat() {
            assert_eq!(self.shown(manager).await, wanted, "{when}");
        }
    }
}

async fn a_move_shows_on_the_next_page_of_every_manager(world: World) {
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

async fn who_was_hired_or_released_shows_on_the_next_page_of_every_manager(world: World) {
    let teams = Teams::new(world).await;
    teams.must_show(&[], "at first").await;
    let first = teams.world.hired_below(teams.chain[2]).await.id;
    teams.speaks_of(first).await;
    teams.must_show(&[first], "hired").await;
    let second = teams.world.hired_below(first).await.id;
    teams.speaks_of(second).await;
    teams.must_show(&[first, second], "hired below who was hired").await;
    assert!(teams.world.moves(second, None).await);
    teams.must_show(&[first], "released").await;
    assert!(teams.world.moves(first, None).await);
    teams.must_show(&[], "both released").await;
}

async fn a_moved_team_shows_on_the_next_page_of_every_manager(world: World) {
    let teams = Teams::new(world).await;
    let [top, middle, low] = teams.chain[..] else { panic!("{:?}", teams.chain) };
    teams.must_show(&[], "at first").await;
    assert!(teams.world.moves(low, Some(teams.other)).await);
    for _ in 0..2 {
        for (manager, wanted) in [(top, false), (middle, false), (low, true), (teams.other, true)] {
            let wanted = if wanted { teams.seen.clone() } else { BTreeSet::new() };
            assert_eq!(teams.shown(manager).await, wanted);
        }
    }
    assert!(teams.world.moves(low, Some(middle)).await);
    assert_eq!(teams.shown(teams.other).await, BTreeSet::new());
    teams.must_show(&[], "back again").await;
}

/// What a refused change wrote first was never there, whatever comes after it.
async fn a_refused_move_shows_on_no_page(world: World) {
    let teams = Teams::new(world).await;
    teams.must_show(&[], "at first").await;
    let (world, low) = (&teams.world, teams.chain[2]);
    let tree = world.tree().await;
    let (loner, other) = (world.employee(teams.loner).await, world.employee(teams.other).await);
    let moved = Employee { manager_id: Some(low), ..loner.value.clone() };
    let writes = vec![
        Write::employee(&Row::seen(moved, loner.version), Some(Lines { seen: Some(tree) })),
        // Nobody has this version, so the whole change set is refused.
        Write::employee(&Row::seen(other.value.clone(), loner.version.next().next()), None),
    ];
    world.commit(world.make.change(writes)).await.unwrap_err();
    teams.must_show(&[], "refused").await;
    assert!(world.moves(teams.other, Some(low)).await);
    teams.speaks_of(teams.other).await;
    teams.must_show(&[teams.other], "another one joined").await;
}

//! Moves whose reporting lines are rebuilt in pieces. Until the lines are complete, reads find teams by the manager
//! stored with each person.

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::access::Tenant;
use candor_domain::id::{EmployeeId, Id};
use candor_domain::people::Employee;
use candor_port_storage::{CommitError, ReportingLineChange, Row, Version, Write};
use candor_store_testkit::Fixtures;
use candor_test_explore as explore;

use super::{database, save};
use crate::commit::{self, lines, rebuild};
use crate::listing::teams::{TeamSource, people_below};
use crate::sql::{Db, Sql};

/// Number of people at first: several pieces of a rebuild.
const PEOPLE: usize = 300;

/// A tree of people beside the database that stores it.
struct Tree {
    db: Db,
    make: Fixtures,
    tenant: Tenant,
    people: Vec<(Employee, Version)>,
}

impl Tree {
    /// Makes a tree in which each person after the first reports to an earlier one, whose index `choose` returns.
    fn make(seed: u64, choose: &mut impl FnMut(usize) -> usize) -> Self {
        let (db, make) = (database(), Fixtures::new(seed));
        let tenant = make.tenant();
        let mut tree = Self { db, make, tenant, people: vec![] };
        for number in 0..PEOPLE {
            let manager = (number > 0).then(|| choose(number));
            tree.add(manager);
        }
        tree
    }

    fn add(&mut self, manager: Option<usize>) {
        let manager_id = manager.map(|at| self.people[at].0.id);
        let person = Employee { manager_id, ..self.make.employee() };
        let lines = manager_id.map(|_| ReportingLineChange { seen: None });
        save(&mut self.db, &self.make, self.tenant, vec![Write::employee(&Row::new(person.clone()), lines)]);
        self.people.push((person, Version::FIRST));
    }

    fn managers(&self) -> BTreeMap<EmployeeId, EmployeeId> {
        self.people.iter().filter_map(|(person, _)| Some((person.id, person.manager_id?))).collect()
    }

    /// Returns all lines that the people have: ancestor, descendant and depth.
    fn lines(&self) -> BTreeSet<(EmployeeId, EmployeeId, i64)> {
        let managers = self.managers();
        let mut all = BTreeSet::new();
        for (person, _) in &self.people {
            let (mut at, mut depth) = (person.id, 0);
            while let Some(manager) = managers.get(&at) {
                (at, depth) = (*manager, depth + 1);
                all.insert((at, person.id, depth));
            }
        }
        all
    }

    fn is_above(&self, above: usize, below: usize) -> bool {
        let (above, below) = (self.people[above].0.id, self.people[below].0.id);
        above == below || self.lines().iter().any(|(manager, person, _)| (*manager, *person) == (above, below))
    }

    /// Gives people other managers in one change set.
    fn shift(&mut self, moves: &[(usize, Option<usize>)]) -> Result<(), CommitError> {
        let tree_version = Some(lines::version(&mut self.db, self.tenant).unwrap());
        let mut writes = vec![];
        for (person, manager) in moves {
            let manager_id = manager.map(|at| self.people[at].0.id);
            let (before, version) = self.people[*person].clone();
            let person_after = Employee { manager_id, ..before };
            let lines = ReportingLineChange { seen: tree_version.filter(|_| manager.is_some()) };
            writes.push(Write::employee(&Row::at_version(person_after.clone(), version), Some(lines)));
            self.people[*person] = (person_after, version.next());
        }
        commit::carry_out(&mut self.db, self.tenant, &self.make.change(writes)).map(drop)
    }

    /// Compares the teams of some people with those of the tree.
    fn check_teams(&mut self, of: impl Iterator<Item = usize>, case: &str) {
        let lines = self.lines();
        for at in of {
            let manager = self.people[at].0.id;
            let team: BTreeSet<_> =
                people_below(&mut self.db, self.tenant, manager).unwrap().into_iter().collect();
            let expected_team = lines.iter().filter(|(above, ..)| *above == manager).map(|(_, person, _)| *person);
            assert_eq!(team, expected_team.collect(), "{case}: the team of {at}");
        }
    }

    /// Compares the stored lines with those of the tree.
    fn check_lines(&mut self, case: &str) {
        let text = "SELECT ancestor_id, descendant_id, depth FROM reporting_lines WHERE tenant_id = ?";
        let stored_lines = self.db.rows(Sql::new(text).bind(self.tenant), |row| {
            let mut id = || row.id().unwrap().map(Id::from_bytes).unwrap();
            Ok((id(), id(), row.int().unwrap().unwrap()))
        });
        assert_eq!(stored_lines.unwrap().into_iter().collect::<BTreeSet<_>>(), self.lines(), "{case}");
    }

    fn source(&mut self) -> TeamSource {
        TeamSource::now(&mut self.db, self.tenant).unwrap()
    }

    /// Rebuilds all lines. Returns the number of calls that this took.
    fn complete(&mut self) -> usize {
        let mut pieces = 1;
        while rebuild::rebuild_some(&mut self.db, self.tenant).unwrap() {
            pieces += 1;
        }
        pieces
    }
}

#[test]
fn teams_are_right_at_each_piece_of_a_rebuild() {
    let mut choose = random_numbers(explore::seed(7));
    let mut tree = Tree::make(1, &mut choose);
    for round in 0..explore::size(12, 400) {
        let case = format!("round {round}");
        // Every third change set is completed at once.
        tree.db.lines_at_once = if round % 3 == 2 { usize::MAX } else { 0 };
        let mut moves = vec![];
        for _ in 0..=choose(3) {
            let (person, manager) = (choose(tree.people.len()), choose(tree.people.len()));
            if moves.is_empty() && !tree.is_above(person, manager) {
                moves.push((person, Some(manager)));
            } else if moves.iter().all(|(moved, _)| *moved != person) && choose(4) == 0 {
                moves.push((person, None));
            }
        }
        tree.shift(&moves).unwrap();
        let some: Vec<_> = (0..8).map(|_| choose(tree.people.len())).chain([0]).collect();
        tree.check_teams(some.iter().copied(), &case);
        if tree.source() == TeamSource::Lines {
            tree.check_lines(&case);
            continue;
        }
        assert!(rebuild::rebuild_some(&mut tree.db, tree.tenant).unwrap(), "{case}");
        let manager = choose(tree.people.len());
        tree.add(Some(manager));
        tree.check_teams(some.into_iter().chain([manager]), &case);
        assert!(tree.complete() > 1, "{case}: several pieces");
        assert_eq!(tree.source(), TeamSource::Lines, "{case}");
        tree.check_lines(&case);
    }
}

/// Returns a generator of numbers below a bound.
fn random_numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    move |bound| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or_default() % bound.max(1)
    }
}

#[test]
fn move_of_many_people_writes_few_lines() {
    let mut tree = Tree::make(2, &mut |_| 0);
    // A person with 299 people below moves under another one: 300 lines.
    tree.add(None);
    let top = tree.people.len() - 1;
    tree.db.lines_at_once = 299;
    let changes_before = tree.db.number(Sql::new("SELECT total_changes()")).unwrap();
    tree.shift(&[(0, Some(top))]).unwrap();
    let change_count = tree.db.number(Sql::new("SELECT total_changes()")).unwrap() - changes_before;
    assert_eq!(tree.source(), TeamSource::People);
    assert!(change_count < 20, "{change_count} rows");
    tree.check_teams([0, top].into_iter(), "moved");
    tree.complete();
    tree.check_lines("rebuilt");
    tree.db.lines_at_once = 300;
    tree.shift(&[(0, None)]).unwrap();
    assert_eq!(tree.source(), TeamSource::Lines, "just few enough");
    tree.check_lines("at once");
}

#[test]
fn depth_is_checked_also_while_lines_are_incomplete() {
    // A chain of 40 people, and one of 30 with 230 other people below its end.
    let mut tree = Tree::make(3, &mut |number| if number == 40 { 0 } else { (number - 1).min(69) });
    tree.shift(&[(40, None)]).unwrap();
    tree.check_lines("two chains");
    tree.db.lines_at_once = 0;
    assert!(
        matches!(tree.shift(&[(40, Some(39))]), Err(CommitError::Stale)),
        "70 managers would be above the lowest people"
    );
}

#[test]
fn process_that_starts_completes_the_lines() {
    let mut tree = Tree::make(4, &mut |number| number / 3);
    tree.db.lines_at_once = 0;
    tree.shift(&[(5, Some(200))]).unwrap();
    assert_eq!(rebuild::incomplete_tenants(&mut tree.db).unwrap(), [tree.tenant]);
    rebuild::complete_all(&mut tree.db).unwrap();
    assert_eq!(rebuild::incomplete_tenants(&mut tree.db).unwrap(), []);
    tree.check_lines("completed");
}

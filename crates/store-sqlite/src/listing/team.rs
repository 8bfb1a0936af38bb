//! The people below a manager, remembered for as long as no line of the tenant changes.
//!
//! What is remembered is used only in a transaction that has found it to be what is stored, so that it says exactly who
//! is below somebody.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use diesel::define_sql_function;
use diesel::deserialize::{FromSql, FromSqlRow, Result as Parsed};
use diesel::result::QueryResult;
use diesel::sql_types::Binary;
use diesel::sqlite::{Sqlite, SqliteConnection, SqliteValue};

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_port_storage::StorageError;

use crate::sql::{Db, Sql};

/// People of one team who are remembered; the rows of a larger team are met so soon that each is better looked up.
pub(crate) const MOST_PEOPLE: usize = 4_000;
/// People of all teams who are remembered, and teams; everything is forgotten when there are more. Both together take
/// some 8 MB.
const MOST_OF_ALL: usize = 200_000;
const MOST_TEAMS: usize = 10_000;

const CHANGES: &str = "SELECT coalesce((SELECT changes FROM reporting_trees WHERE tenant_id = ?), 0)";

const PEOPLE: &str = "SELECT descendant_id FROM reporting_lines WHERE tenant_id = ? AND ancestor_id = ? LIMIT ?";

define_sql_function! {
    /// Whether somebody is in the team that the connection asks about.
    fn is_in_team(person: Binary) -> Bool;
}

/// The people below somebody.
#[derive(Debug, Default)]
pub(crate) struct Team {
    /// How often lines of the tenant had changed.
    changes: i64,
    /// All of them; nobody if they are too many.
    people: HashSet<u128, BuildHasherDefault<Fold>>,
    is_large: bool,
    /// Whether their rows were too far apart for the walk past those of others.
    is_sparse: AtomicBool,
}

impl Team {
    fn new(changes: i64, people: impl IntoIterator<Item = u128>) -> Self {
        let people: HashSet<u128, _> = people.into_iter().collect();
        let is_large = people.len() > MOST_PEOPLE;
        Self { changes, people: if is_large { HashSet::default() } else { people }, is_large, ..Self::default() }
    }

    /// How many they are, if not too many to be remembered.
    pub(crate) fn size(&self) -> Option<usize> {
        if self.is_large { None } else { Some(self.people.len()) }
    }

    /// Whether a walk has ended before it had met enough of their rows.
    pub(crate) fn is_sparse(&self) -> bool {
        self.is_sparse.load(Ordering::Relaxed)
    }
}

/// The teams that all connections of a store remember.
#[derive(Debug, Default)]
pub(crate) struct Teams {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    teams: HashMap<(Tenant, EmployeeId), Arc<Team>>,
    people: usize,
}

impl Teams {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn recall(&self, tenant: Tenant, manager: EmployeeId, changes: i64) -> Option<Arc<Team>> {
        self.lock().teams.get(&(tenant, manager)).filter(|it| it.changes == changes).map(Arc::clone)
    }

    fn remember(&self, tenant: Tenant, manager: EmployeeId, team: &Arc<Team>) {
        let mut known = self.lock();
        if known.teams.len() >= MOST_TEAMS || known.people + team.people.len() > MOST_OF_ALL {
            *known = Known::default();
        }
        known.people += team.people.len();
        let before = known.teams.insert((tenant, manager), Arc::clone(team));
        known.people -= before.map_or(0, |it| it.people.len());
    }
}

/// The people below somebody, as they are stored at the moment of the connection's transaction.
pub(crate) fn of(db: &mut Db, tenant: Tenant, manager: EmployeeId) -> Result<Arc<Team>, StorageError> {
    let changes = db.number(Sql::new(CHANGES).bind(tenant))?;
    if let Some(team) = db.teams().and_then(|it| it.recall(tenant, manager, changes)) {
        return Ok(team);
    }
    let most = i64::try_from(MOST_PEOPLE + 1).unwrap_or(i64::MAX);
    let corrupt = |reason| StorageError::Corrupt { table: "reporting_lines", column: "descendant_id", reason };
    let found = db.rows(Sql::new(PEOPLE).bind(tenant).bind(manager).bind(most), |row| row.id().map_err(corrupt))?;
    let team = Arc::new(Team::new(changes, found.into_iter().flatten().map(u128::from_be_bytes)));
    if let Some(teams) = db.teams() {
        teams.remember(tenant, manager, &team);
    }
    Ok(team)
}

/// What a connection's statements ask when they ask who is in the team.
#[derive(Debug, Clone, Default)]
pub(crate) struct Question(Arc<Mutex<Asked>>);

#[derive(Debug, Default)]
struct Asked {
    team: Arc<Team>,
    /// How many more people may be asked about.
    left: usize,
}

impl Question {
    /// Lets the statements of a connection ask.
    pub(crate) fn enable(&self, connection: &mut SqliteConnection) -> QueryResult<()> {
        let asked = self.clone();
        is_in_team_utils::register_nondeterministic_impl(connection, move |person: Person| asked.answer(person))
    }

    fn lock(&self) -> MutexGuard<'_, Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks about a team from now on. After so many people the answer is always yes, which soon fills a page and ends
    /// its statement.
    pub(crate) fn ask(&self, team: Arc<Team>, most: usize) {
        *self.lock() = Asked { team, left: most };
    }

    /// Asks about nobody any more, and says whether all answers were true.
    pub(crate) fn settle(&self) -> bool {
        let asked = std::mem::take(&mut *self.lock());
        let all = asked.left > 0;
        asked.team.is_sparse.fetch_or(!all, Ordering::Relaxed);
        all
    }

    fn answer(&self, person: Person) -> bool {
        let mut asked = self.lock();
        asked.left = asked.left.saturating_sub(1);
        asked.left == 0 || asked.team.people.contains(&person.0)
    }
}

/// Somebody's id, read without a copy.
#[derive(Debug, FromSqlRow)]
struct Person(u128);

impl FromSql<Binary, Sqlite> for Person {
    fn from_sql(mut value: SqliteValue<'_, '_, '_>) -> Parsed<Self> {
        Ok(Self(u128::from_be_bytes(value.read_blob().try_into()?)))
    }
}

/// Ids are mostly random, so that folding one spreads it well enough.
#[derive(Debug, Default)]
struct Fold(u64);

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u128(u128::from(*byte));
        }
    }

    fn write_u128(&mut self, number: u128) {
        const ODD: u128 = 0x9E37_79B9_7F4A_7C15;
        let (high, low) = ((number >> 64) as u64, number as u64);
        let product = u128::from(high ^ low.rotate_left(32) ^ self.0) * ODD;
        self.0 = (product ^ (product >> 64)) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::{Id, OrganizationId};

    fn team(changes: i64, people: std::ops::Range<u128>) -> Arc<Team> {
        Arc::new(Team::new(changes, people))
    }

    #[test]
    fn a_team_is_forgotten_with_the_next_change_of_a_line() {
        let (teams, tenant) = (Teams::default(), Tenant::live(OrganizationId::from_bytes([1; 16])));
        let manager = Id::from_bytes([2; 16]);
        teams.remember(tenant, manager, &team(7, 0..3));
        assert_eq!(teams.recall(tenant, manager, 7).and_then(|it| it.size()), Some(3));
        assert!(teams.recall(tenant, manager, 8).is_none());
        assert!(teams.recall(tenant, Id::from_bytes([3; 16]), 7).is_none());
    }

    #[test]
    fn only_so_many_people_are_remembered() {
        let (teams, tenant) = (Teams::default(), Tenant::live(OrganizationId::from_bytes([1; 16])));
        for number in 0..=100_u8 {
            let manager = Id::from_bytes([number; 16]);
            teams.remember(tenant, manager, &team(1, 0..4_000));
            // The same again takes no more room.
            teams.remember(tenant, manager, &team(2, 0..4_000));
            let known = teams.lock();
            assert_eq!(known.people, known.teams.values().map(|it| it.people.len()).sum::<usize>());
            assert!(known.people <= MOST_OF_ALL);
        }
    }

    #[test]
    fn all_answers_are_true_until_there_were_enough() {
        let question = Question::default();
        question.ask(team(1, 5..10), 4);
        let answers = [4, 5, 10].map(|it| question.answer(Person(it)));
        assert_eq!((answers, question.settle()), ([false, true, false], true));
        question.ask(team(1, 5..10), 4);
        let answers = [4, 5, 10, 11].map(|it| question.answer(Person(it)));
        assert_eq!((answers, question.settle()), ([false, true, false, true], false));
    }
}

//! What is remembered of the people below somebody, so that most rows of others are passed by without a look into the
//! reporting lines.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_port_storage::flat::{Cell, Fetch};
use candor_port_storage::store::Read;

use crate::PostgresStore;
use crate::failure::Failure;
use crate::select::int;
use crate::sql::Sql;

/// Teams remembered at once; all are forgotten when there are more. Each takes up to 64 KB.
const MOST_TEAMS: usize = 1000;
/// Pages for which a team is remembered. It decides only how a page is found, never what is on it.
const USES: u32 = 256;
/// Beyond so many people the rows of a page are met so soon that a sieve is not worth its size.
const MOST_PEOPLE: i64 = 16_000;
/// Bits for each person: about one row in a hundred of others passes, and is looked up.
const BITS: usize = 64;
/// More are not sent along with a statement; of the largest teams, one row in thirty of others passes.
const MOST_BITS: usize = 1 << 19;

/// The people below somebody.
#[derive(Debug)]
pub(super) struct Team {
    /// How many they are, counted to one more than the most that have a sieve.
    pub(super) people: i64,
    /// What tells most others from them.
    pub(super) sieve: Option<Arc<Sieve>>,
}

/// A set of bits, one of which is that of each person of a team. Who has another bit is certainly not in the team, as
/// long as no line of the tenant has changed.
#[derive(Debug)]
pub(super) struct Sieve {
    /// How often lines of the tenant had changed.
    changes: i64,
    /// A person and their hash: another server may hash in another way.
    proof: (EmployeeId, i64),
    mask: i64,
    bits: Vec<u8>,
}

/// The teams remembered.
#[derive(Debug, Default)]
pub(crate) struct Teams {
    known: Mutex<HashMap<(Tenant, EmployeeId), Known>>,
}

#[derive(Debug)]
struct Known {
    team: Arc<Team>,
    uses_left: u32,
}

impl Teams {
    fn recall(&self, tenant: Tenant, manager: EmployeeId) -> Option<Arc<Team>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let it = known.get_mut(&(tenant, manager))?;
        it.uses_left = it.uses_left.checked_sub(1)?;
        Some(Arc::clone(&it.team))
    }

    fn remember(&self, tenant: Tenant, manager: EmployeeId, team: &Arc<Team>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_TEAMS {
            known.clear();
        }
        known.insert((tenant, manager), Known { team: Arc::clone(team), uses_left: USES });
    }

    /// Forgets a team whose lines, or those of others, have changed.
    pub(super) fn forget(&self, tenant: Tenant, manager: EmployeeId) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(&(tenant, manager));
    }
}

impl PostgresStore {
    /// The people below somebody, as they are or lately were.
    pub(super) async fn team(&self, tenant: Tenant, manager: EmployeeId) -> Read<Arc<Team>> {
        if let Some(team) = self.teams().recall(tenant, manager) {
            return Ok(team);
        }
        let mut sql = Sql::default();
        let (of, person) = (sql.id(tenant.to_bytes()), sql.id(manager.to_bytes()));
        let most = sql.bind(Cell::Int(MOST_PEOPLE + 1));
        sql.push(&format!(
            "SELECT (SELECT changes FROM reporting_trees WHERE tenant_id = {of}), uuid_hash({person})::bigint, count(*), \
             string_agg(int4send(uuid_hash(l.descendant_id)), '') FROM (SELECT descendant_id FROM reporting_lines \
             WHERE tenant_id = {of} AND ancestor_id = {person} LIMIT {most}) AS l"
        ));
        let found = self.find(&sql, |row| read(row, manager)).await?;
        let team = Arc::new(found.unwrap_or(Team { people: 0, sieve: None }));
        self.teams().remember(tenant, manager, &team);
        Ok(team)
    }
}

fn read(row: &mut dyn Fetch, manager: EmployeeId) -> Result<Team, Failure> {
    let (changes, hash, people) = (row.int().map_err(Failure::Other)?, int(row)?, int(row)?);
    let hashes = row.bytes().map_err(Failure::Other)?.unwrap_or_default();
    let sieve =
        changes.filter(|_| people <= MOST_PEOPLE).map(|changes| Arc::new(Sieve::of(&hashes, changes, (manager, hash))));
    Ok(Team { people, sieve })
}

impl Sieve {
    /// From hashes of four bytes each.
    fn of(hashes: &[u8], changes: i64, proof: (EmployeeId, i64)) -> Self {
        let (hashes, _) = hashes.as_chunks::<4>();
        let size = (hashes.len() * BITS).next_power_of_two().clamp(8, MOST_BITS);
        let mut bits = vec![0; size / 8];
        for hash in hashes {
            let at = u32::from_be_bytes(*hash) as usize & (size - 1);
            if let Some(byte) = bits.get_mut(at / 8) {
                *byte |= 1 << (at % 8);
            }
        }
        Self { changes, proof, mask: i64::try_from(size - 1).unwrap_or_default(), bits }
    }

    /// Whether no line has changed, as an expression that is worked out once.
    pub(super) fn is_fresh(&self, sql: &mut Sql, tenant: &str) -> String {
        let (person, hash) = self.proof;
        let (changes, person, hash) =
            (sql.bind(Cell::Int(self.changes)), sql.id(person.to_bytes()), sql.bind(Cell::Int(hash)));
        format!(
            "coalesce((SELECT changes = {changes} AND uuid_hash({person})::bigint = {hash} FROM reporting_trees \
             WHERE tenant_id = {tenant}), false)"
        )
    }

    /// Whether a person may be in the team, as an expression.
    pub(super) fn passes(&self, sql: &mut Sql, person: &str) -> String {
        let (bits, mask) = (sql.bind(Cell::Bytes(self.bits.clone())), sql.bind(Cell::Int(self.mask)));
        format!("get_bit({bits}, uuid_hash({person}) & {mask}::int) = 1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::Id;

    #[test]
    fn everybody_of_the_team_passes_and_most_others_do_not() {
        let hash = |number: u32| number.wrapping_mul(0x9E37_79B1);
        let hashes: Vec<u8> = (0..500).flat_map(|it| hash(it).to_be_bytes()).collect();
        let sieve = Sieve::of(&hashes, 1, (Id::from_bytes([0; 16]), 0));
        let passes = |number: &u32| {
            let at = i64::from(hash(*number)) & sieve.mask;
            sieve.bits[usize::try_from(at / 8).unwrap()] >> (at % 8) & 1 == 1
        };
        assert!((0..500).all(|it| passes(&it)));
        let others = (500..10_500).filter(passes).count();
        assert!(others < 300, "{others} of 10,000 others pass");
    }
}

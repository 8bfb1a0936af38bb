//! What is remembered of the people below somebody, so that most rows of others are passed by without a look into the
//! reporting lines.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_port_storage::flat::{Cell, Fetch};
use candor_port_storage::listing::Listing;
use candor_port_storage::store::Read;

use super::ways::LIMITS;
use crate::PostgresStore;
use crate::failure::Failure;
use crate::select::int;
use crate::sql::Sql;

/// Teams remembered at once; all are forgotten when there are more. Each takes up to 80 KB.
const MOST_TEAMS: usize = 1000;
/// Pages for which a team is remembered. It decides only how a page is found, never what is on it.
const USES: u32 = 256;
/// The same for teams that are looked up from memory: each page says whether they have changed.
const USES_IF_CHECKED: u32 = 4096;
/// Beyond so many people the rows of a page are met so soon that a Bloom filter is not worth its size.
pub(super) const MOST_PEOPLE: usize = 16_000;
/// People of a team that is remembered by its ids as well.
const MOST_KNOWN: usize = 4000;
/// Bits for each person, four of which are theirs: at most one row in five thousand of others passes.
const BITS: usize = 32;
/// More are not sent along with a statement; of the largest teams, one row in forty of others passes.
const MOST_BITS: usize = 1 << 17;
/// How far a hash is shifted for each of a person's bits.
const SHIFTS: [u32; 4] = [0, 15, 30, 45];

/// The people below somebody.
#[derive(Debug)]
pub(super) struct Team {
    /// How many they are, counted to one more than the most that have a Bloom filter.
    pub(super) people: i64,
    /// What tells most others from them.
    pub(super) bloom: Option<Arc<BloomFilter>>,
    /// The list whose page was last filled by a walk that was not too far.
    filled: Mutex<Option<Listing>>,
    /// Whether so many rows of others passed the Bloom filter that there was no room for the team's.
    is_crowded: AtomicBool,
}

impl Team {
    fn new(people: i64, bloom: Option<BloomFilter>) -> Self {
        Self { people, bloom: bloom.map(Arc::new), filled: Mutex::default(), is_crowded: AtomicBool::new(false) }
    }

    /// Remembers that others took the team's room.
    pub(super) fn note_crowded(&self) {
        self.is_crowded.store(true, Ordering::Relaxed);
    }

    /// Whether rows may be read by somebody who knows the team by its ids, past its Bloom filter alone.
    pub(super) fn is_known(&self) -> bool {
        !self.is_crowded.load(Ordering::Relaxed) && self.bloom.as_ref().is_some_and(|it| it.known.is_some())
    }

    /// Remembers whether a walk filled the first page of a list.
    pub(super) fn note(&self, listing: &Listing, filled: bool) {
        if !filled || !self.was_filled(listing) {
            *self.filled.lock().unwrap_or_else(PoisonError::into_inner) = filled.then(|| listing.clone());
        }
    }

    /// Whether a walk lately filled the first page of a list.
    pub(super) fn was_filled(&self, listing: &Listing) -> bool {
        let filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        let order = |it: &Listing| (it.table().name, it.sort.name, it.descending, it.limit);
        filled.as_ref().is_some_and(|it| {
            (order(it), &it.runs, &it.conditions) == (order(listing), &listing.runs, &listing.conditions)
        })
    }
}

/// A set of bits, four of which are those of each person of a team, and of whoever has it. Who has another bit is certainly
/// none of these, as long as no line of the tenant has changed.
#[derive(Debug)]
pub(super) struct BloomFilter {
    /// How often lines of the tenant had changed.
    changes: i64,
    /// A person and their hash: another server may hash in another way.
    proof: (EmployeeId, i64),
    mask: i64,
    bits: Vec<u8>,
    /// Everybody in the team, in order; none where they are too many to be remembered.
    known: Option<Vec<[u8; 16]>>,
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
        let is_checked = usize::try_from(team.people).is_ok_and(|it| it > LIMITS.firsts) && team.bloom.is_some();
        let uses_left = if is_checked { USES_IF_CHECKED } else { USES };
        known.insert((tenant, manager), Known { team: Arc::clone(team), uses_left });
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
        let most = sql.bind(Cell::Int(i64::try_from(MOST_PEOPLE + 1).unwrap_or(i64::MAX)));
        sql.push(&format!(
            "SELECT (SELECT changes FROM reporting_trees WHERE tenant_id = {of}), uuid_hash_extended({person}, 0), count(*), \
             string_agg(uuid_send(l.descendant_id) || int8send(uuid_hash_extended(l.descendant_id, 0)), '') FROM (SELECT descendant_id FROM reporting_lines \
             WHERE tenant_id = {of} AND ancestor_id = {person} LIMIT {most}) AS l"
        ));
        let found = self.find(&sql, |row| read(row, manager)).await?;
        let team = Arc::new(found.unwrap_or_else(|| Team::new(0, None)));
        self.teams().remember(tenant, manager, &team);
        Ok(team)
    }
}

fn read(row: &mut dyn Fetch, manager: EmployeeId) -> Result<Team, Failure> {
    let (changes, hash, people) = (row.int().map_err(Failure::Other)?, int(row)?, int(row)?);
    let entries = row.bytes().map_err(Failure::Other)?.unwrap_or_default();
    let bloom = changes
        .filter(|_| usize::try_from(people).is_ok_and(|it| it <= MOST_PEOPLE))
        .map(|changes| BloomFilter::of(&entries, changes, (manager, hash)));
    Ok(Team::new(people, bloom))
}

impl BloomFilter {
    /// From entries of sixteen bytes of id and eight of hash.
    fn of(entries: &[u8], changes: i64, proof: (EmployeeId, i64)) -> Self {
        let (entries, _) = entries.as_chunks::<24>();
        let size = (entries.len() * BITS).next_power_of_two().clamp(8, MOST_BITS);
        let hashes = entries.iter().filter_map(|it| it.last_chunk()).map(|it| u64::from_be_bytes(*it));
        let mut ids: Vec<_> = entries.iter().filter_map(|it| it.first_chunk()).copied().collect();
        let mut bits = vec![0; size / 8];
        for hash in hashes.chain([proof.1.cast_unsigned()]) {
            for shift in SHIFTS {
                let at = usize::try_from(hash >> shift & (size - 1) as u64).unwrap_or_default();
                if let Some(byte) = bits.get_mut(at / 8) {
                    *byte |= 1 << (at % 8);
                }
            }
        }
        ids.sort_unstable();
        let known = (ids.len() <= MOST_KNOWN).then_some(ids);
        Self { changes, proof, mask: i64::try_from(size - 1).unwrap_or_default(), bits, known }
    }

    /// Whether a person is in the team, if everybody in it is known.
    pub(super) fn has(&self, person: [u8; 16]) -> bool {
        self.known.as_ref().is_some_and(|it| it.binary_search(&person).is_ok())
    }

    /// Whether no line has changed, as an expression that is worked out once.
    pub(super) fn is_fresh(&self, sql: &mut Sql, tenant: &str) -> String {
        let (person, hash) = self.proof;
        let (changes, person, hash) =
            (sql.bind(Cell::Int(self.changes)), sql.id(person.to_bytes()), sql.bind(Cell::Int(hash)));
        format!(
            "coalesce((SELECT changes = {changes} AND uuid_hash_extended({person}, 0) = {hash} FROM reporting_trees \
             WHERE tenant_id = {tenant}), false)"
        )
    }

    /// Whether a person may be in the team, as an expression.
    pub(super) fn passes(&self, sql: &mut Sql, person: &str) -> String {
        let (bits, mask) = (sql.bind(Cell::Bytes(self.bits.clone())), sql.bind(Cell::Int(self.mask)));
        // Those behind the first one are looked at only for who has that.
        let bit = |shift| {
            let shifted = if shift == 0 { String::new() } else { format!(" >> {shift}") };
            format!("get_bit({bits}, uuid_hash_extended({person}, 0){shifted} & {mask}) = 1")
        };
        SHIFTS.map(bit).join(" AND ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::Id;

    fn hash(number: u64) -> u64 {
        number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
    }

    fn id(number: u64) -> [u8; 16] {
        u128::from(hash(number)).to_be_bytes()
    }

    fn bloom(people: u64) -> BloomFilter {
        let entries: Vec<u8> = (0..people).flat_map(|it| [&id(it)[..], &hash(it).to_be_bytes()].concat()).collect();
        BloomFilter::of(&entries, 1, (Id::from_bytes([0; 16]), 0))
    }

    #[test]
    fn everybody_of_the_team_passes_and_most_others_do_not() {
        let bloom = bloom(500);
        let has_bit = |hash: u64| {
            let at = hash & u64::try_from(bloom.mask).unwrap();
            bloom.bits[usize::try_from(at / 8).unwrap()] >> (at % 8) & 1 == 1
        };
        let passes = |number: &u64| SHIFTS.iter().all(|it| has_bit(hash(*number) >> it));
        assert!((0..500).all(|it| passes(&it)));
        let others = (500..100_500).filter(passes).count();
        assert!(others < 60, "{others} of 100,000 others pass");
    }

    #[test]
    fn a_team_is_known_by_its_ids_unless_it_is_large() {
        let few = Team::new(4000, Some(bloom(4000)));
        let has = |number| few.bloom.as_ref().unwrap().has(id(number));
        assert!(few.is_known() && (0..4000).all(has) && !has(4000));
        few.note_crowded();
        assert!(!few.is_known());
        let many = Team::new(4001, Some(bloom(4001)));
        assert!(!many.is_known() && !many.bloom.unwrap().has(id(0)));
    }
}

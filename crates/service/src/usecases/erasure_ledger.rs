//! The ledger of erasures, which repeats them in a database that was restored from an older backup (decision H4).
//!
//! A ledger is a file of JSON lines: `header`, a `hold` for each legal hold, an `erasure` in each line, and `end` with their number. It contains
//! ids and times only. Each line carries a seal of the master key: an erasure that was written or altered by others is
//! repeated only if the operator names it, and such a hold is not set. Holds are set first, since they keep data from
//! the erasures.

mod holds;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use candor_domain::access::Tenant;
use candor_domain::erasure::{Erasure, Requester};
use candor_domain::id::{EmployeeId, ErasureId, OrganizationId};
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, StorageExt};
use candor_tables::rows;
use serde::{Deserialize, Serialize};

use crate::change::Attempt;
use crate::context::erasing::{ErasureOrigin, begin};
use crate::context::error::Error;
use crate::context::person_data;
use crate::context::services::{Services, render};
use crate::context::vault::SealContext;
use crate::usecases::operator::list_organizations;
pub use holds::{HoldEntry, RepeatedHold, hold_again};

/// Version of the form of a ledger.
const VERSION: u32 = 3;
/// Earlier versions: without seals, and without holds.
const EARLIER: [u32; 2] = [1, 2];
/// Purpose of the seal of a line.
const SEAL: &str = "erasure ledger";
/// Name of this actor in the audit log.
const ACTOR: &str = "operator";

/// A ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Legal holds at the time of the ledger.
    pub holds: Vec<HoldEntry>,
    /// Erasures, the oldest of each organization first.
    pub erasures: Vec<LedgerEntry>,
}

/// An erasure in a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    /// Organization of the person.
    pub organization_id: OrganizationId,
    /// Id of the erasure.
    pub id: ErasureId,
    /// The erased person.
    pub employee_id: EmployeeId,
    /// API key of the request, or the retention run that began the erasure.
    pub requested_by: Requester,
    /// Time of the request.
    pub requested_at: Timestamp,
    /// Seal of the line. `None` in a ledger of version 1.
    seal: Option<Vec<u8>>,
}

fn place(organization: OrganizationId) -> SealContext<'static> {
    SealContext { purpose: SEAL, tenant: Some(Tenant::live(organization)), row: SEAL.as_bytes() }
}

impl LedgerEntry {
    /// Returns the members that the seal covers.
    fn sealed_members(&self) -> String {
        let Self { id, employee_id, requested_by, requested_at, .. } = self;
        format!("{id} {employee_id} {} {requested_at}", requested_by.id)
    }

    /// Returns `true` if a service with this database's master key wrote the line, and it is unaltered.
    fn is_genuine(&self, services: &Services) -> bool {
        let Some(seal) = &self.seal else { return false };
        let opened_seal = services.vault.open(&place(self.organization_id), seal);
        opened_seal.is_ok_and(|members| members == self.sealed_members().as_bytes())
    }
}

/// A line of a ledger.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum LedgerLine {
    Header {
        version: u32,
    },
    Hold {
        organization_id: String,
        employee_id: String,
        held_at: String,
        seal: String,
    },
    Erasure {
        organization_id: String,
        id: String,
        employee_id: String,
        requested_by: String,
        requested_at: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<String>,
    },
    End {
        count: usize,
    },
}

/// A line of a ledger that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct LedgerFlaw {
    /// Number of the line, from 1.
    pub line: usize,
    /// The reason why it is not valid.
    pub reason: String,
}

/// Outcome of a repeated erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatedErasure {
    /// The database has the erasure.
    Present,
    /// The erasure was begun again.
    Begun,
    /// The database does not have the person.
    UnknownPerson,
    /// The erasure must be named by the operator: its line has no seal of this master key.
    NotSealed,
    /// The erasure must be named by the operator: the person is under a legal hold in this database.
    Held,
}

/// Returns the legal holds and the erasures of all organizations.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`].
pub async fn read(services: &Services) -> Result<Ledger, Error> {
    let (mut entries, mut holds) = (vec![], vec![]);
    for organization in list_organizations(services).await? {
        let tenant = Tenant::live(organization.id);
        holds::read(services, tenant, &mut holds).await?;
        let first = entries.len();
        let mut page = PageRequest::ALL;
        loop {
            let rows = services.store.page(tenant, rows::erasures::list(Erasure::DEFAULT, &page)).await?;
            for erasure in &rows.items {
                entries.push(entry(services, organization.id, erasure)?);
            }
            page.after = rows.items.last().and_then(person_data::position);
            if !rows.more || page.after.is_none() {
                break;
            }
        }
        entries[first..].reverse();
    }
    Ok(Ledger { holds, erasures: entries })
}

fn entry(services: &Services, organization_id: OrganizationId, erasure: &Erasure) -> Result<LedgerEntry, Error> {
    let entry = LedgerEntry {
        organization_id,
        id: erasure.id,
        employee_id: erasure.employee_id,
        requested_by: erasure.requested_by.clone(),
        requested_at: erasure.requested_at,
        seal: None,
    };
    let seal = services.vault.seal(&*services.ids, &place(organization_id), entry.sealed_members().as_bytes())?;
    Ok(LedgerEntry { seal: Some(seal), ..entry })
}

/// Returns the lines of a ledger.
///
/// # Errors
/// [`Error::Bug`].
pub fn to_text(ledger: &Ledger) -> Result<String, Error> {
    let holds = ledger.holds.iter().map(|hold| LedgerLine::Hold {
        organization_id: hold.organization_id.to_string(),
        employee_id: hold.employee_id.to_string(),
        held_at: hold.held_at.to_string(),
        seal: STANDARD.encode(&hold.seal),
    });
    let lines = ledger.erasures.iter().map(|entry| LedgerLine::Erasure {
        organization_id: entry.organization_id.to_string(),
        id: entry.id.to_string(),
        employee_id: entry.employee_id.to_string(),
        requested_by: entry.requested_by.id.clone(),
        requested_at: entry.requested_at.to_string(),
        seal: entry.seal.as_ref().map(|seal| STANDARD.encode(seal)),
    });
    let count = ledger.holds.len() + ledger.erasures.len();
    let (header, end) = (LedgerLine::Header { version: VERSION }, LedgerLine::End { count });
    let mut text = String::new();
    for line in [header].into_iter().chain(holds).chain(lines).chain([end]) {
        text.push_str(&serde_json::to_string(&line).map_err(|error| Error::Bug(error.to_string()))?);
        text.push('\n');
    }
    Ok(text)
}

/// Reads the lines of a ledger.
///
/// # Errors
/// The first line that is not valid; a ledger without its last line.
pub fn parse(text: &str) -> Result<Ledger, LedgerFlaw> {
    let (mut ledger, mut is_complete) = (Ledger::default(), false);
    for (at, line) in text.lines().enumerate() {
        let flaw = |reason: String| LedgerFlaw { line: at + 1, reason };
        let entry = serde_json::from_str(line).map_err(|error| flaw(error.to_string()))?;
        match entry {
            _ if is_complete => return Err(flaw("the ledger has lines after `end`".to_owned())),
            LedgerLine::Header { version } if at == 0 && (version == VERSION || EARLIER.contains(&version)) => {}
            LedgerLine::Header { .. } => {
                return Err(flaw(format!("a header of version {VERSION} must be the first line, and only it")));
            }
            LedgerLine::Hold { .. } | LedgerLine::Erasure { .. } | LedgerLine::End { .. } if at == 0 => {
                return Err(flaw("the first line must be the header".to_owned()));
            }
            LedgerLine::Hold { organization_id, employee_id, held_at, seal } => {
                let member = |name: &str| flaw(format!("`{name}` is not valid"));
                ledger.holds.push(HoldEntry {
                    organization_id: organization_id.parse().map_err(|_| member("organization_id"))?,
                    employee_id: employee_id.parse().map_err(|_| member("employee_id"))?,
                    held_at: held_at.parse().map_err(|_| member("held_at"))?,
                    seal: STANDARD.decode(seal).map_err(|_| member("seal"))?,
                });
            }
            LedgerLine::Erasure { organization_id, id, employee_id, requested_by, requested_at, seal } => {
                let member = |name: &str| flaw(format!("`{name}` is not valid"));
                ledger.erasures.push(LedgerEntry {
                    organization_id: organization_id.parse().map_err(|_| member("organization_id"))?,
                    id: id.parse().map_err(|_| member("id"))?,
                    employee_id: employee_id.parse().map_err(|_| member("employee_id"))?,
                    requested_by: Requester::with_id(&requested_by).ok_or_else(|| member("requested_by"))?,
                    requested_at: requested_at.parse().map_err(|_| member("requested_at"))?,
                    seal: seal.map(|seal| STANDARD.decode(seal)).transpose().map_err(|_| member("seal"))?,
                });
            }
            LedgerLine::End { count } => {
                let read = ledger.holds.len() + ledger.erasures.len();
                if count != read {
                    return Err(flaw(format!("the ledger has {read} of {count} holds and erasures")));
                }
                is_complete = true;
            }
        }
    }
    if is_complete {
        return Ok(ledger);
    }
    Err(LedgerFlaw {
        line: text.lines().count() + 1,
        reason: "the ledger is not complete: `end` is missing".to_owned(),
    })
}

/// Returns `true` if the database has an erasure, or the person is erased.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`].
pub async fn is_present(services: &Services, entry: &LedgerEntry) -> Result<bool, Error> {
    let tenant = Tenant::live(entry.organization_id);
    if services.store.row::<Erasure>(tenant, entry.id).await?.is_some() {
        return Ok(true);
    }
    let person = services.store.row::<Employee>(tenant, entry.employee_id).await?;
    Ok(person.is_some_and(|person| person.value.erased_at.is_some()))
}

/// Returns the number of resources and conversations that legal holds keep from an erasure.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`].
pub async fn kept_by_hold(services: &Services, entry: &LedgerEntry) -> Result<u32, Error> {
    let erasure_row = services.store.row::<Erasure>(Tenant::live(entry.organization_id), entry.id).await?;
    Ok(erasure_row.map_or(0, |erasure| erasure.value.kept_by_hold))
}

/// Begins an erasure again if the database does not have it. The erasure keeps its id and the time of its request.
/// With `is_named`, the operator named this erasure, so that neither its seal nor a legal hold counts.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Contended`], [`Error::Bug`].
pub async fn repeat(services: &Services, entry: &LedgerEntry, is_named: bool) -> Result<RepeatedErasure, Error> {
    let tenant = Tenant::live(entry.organization_id);
    let plan = async |at: Timestamp| {
        if is_present(services, entry).await? {
            return Ok(Attempt::Done(RepeatedErasure::Present));
        }
        let Some(employee) = services.store.row::<Employee>(tenant, entry.employee_id).await? else {
            return Ok(Attempt::Done(RepeatedErasure::UnknownPerson));
        };
        if !is_named && !entry.is_genuine(services) {
            return Ok(Attempt::Done(RepeatedErasure::NotSealed));
        }
        if !is_named && employee.value.hold.is_some() {
            return Ok(Attempt::Done(RepeatedErasure::Held));
        }
        let Some(decision) = employee.value.erase_again(at) else {
            return Ok(Attempt::Done(RepeatedErasure::Present));
        };
        let LedgerEntry { id, requested_by, requested_at, .. } = entry.clone();
        let events = services.events(&decision.events, &render(&decision.state)?, at);
        let origin = ErasureOrigin { id, requested_by, requested_at };
        let (_, writes) = begin(services, tenant, (&employee, decision.state), origin, at).await?;
        let entry = services.entry_of_system(ACTOR, decision.audit, at);
        let change = ChangeSet { writes, events, ..ChangeSet::new(entry) };
        Ok(Attempt::Commit(tenant, Box::new(change), RepeatedErasure::Begun))
    };
    services.retry(plan).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::KeyId;

    fn ledger() -> Ledger {
        let holds = vec![HoldEntry {
            organization_id: OrganizationId::from_bytes([1; 16]),
            employee_id: EmployeeId::from_bytes([7; 16]),
            held_at: Timestamp::from_millis(1_772_442_000_000),
            seal: vec![6; 40],
        }];
        let erasures = vec![LedgerEntry {
            organization_id: OrganizationId::from_bytes([1; 16]),
            id: ErasureId::from_bytes([2; 16]),
            employee_id: EmployeeId::from_bytes([3; 16]),
            requested_by: Requester::key(KeyId::from_bytes([4; 16])),
            requested_at: Timestamp::from_millis(1_772_442_000_000),
            seal: Some(vec![5; 40]),
        }];
        Ledger { holds, erasures }
    }

    #[test]
    fn written_ledger_is_read_again() {
        let text = to_text(&ledger()).unwrap();
        assert_eq!(text.lines().count(), 4);
        assert_eq!(parse(&text), Ok(ledger()));
    }

    #[test]
    fn damaged_ledger_is_refused_with_its_line() {
        let text = to_text(&ledger()).unwrap();
        let lines: Vec<_> = text.lines().collect();
        for (damaged, line) in [
            (lines[..3].join("\n"), 4),
            (lines[1..].join("\n"), 1),
            ([lines[0], lines[3]].join("\n"), 2),
            ([lines[0], lines[2], lines[3]].join("\n"), 3),
            (text.replace("emp_", "obs_"), 2),
            (text.replace("\"version\":3", "\"version\":4"), 1),
            (format!("{text}{}", lines[1]), 5),
            ("not a ledger".to_owned(), 1),
            (String::new(), 1),
        ] {
            assert_eq!(parse(&damaged).map_err(|flaw| flaw.line), Err(line), "{damaged}");
        }
    }
}

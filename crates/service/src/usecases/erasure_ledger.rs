//! The ledger of erasures, which repeats them in a database that was restored from an older backup (decision H4).
//!
//! A ledger is a file of JSON lines: `header`, a `revocation` for each revoked API key, a `release` for the last end
//! of a hold on each person, a `hold` for each legal hold, an `erasure` for each erasure, and `end` with their
//! number, the time of writing, and a seal over all lines before it, so that no line can be removed or added. The lines have ids and times in plain text. Each line between `header` and `end` carries a seal of the
//! master key; the seal of a hold also has the reason, encrypted. An erasure without a valid seal is repeated only if
//! the operator names it. A ledger is refused if a revocation, a release or a hold has no valid seal. Keys are
//! revoked first, and then holds are set and ended, since holds keep data from the erasures.

mod apply;
mod form;
mod holds;
mod keys;

use candor_domain::access::Tenant;
use candor_domain::erasure::{Erasure, Requester};
use candor_domain::id::{EmployeeId, ErasureId, OrganizationId};
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, StorageExt, Versioned};
use candor_tables::rows;

use crate::change::Attempt;
use crate::context::erasing::{ErasureOrigin, begin};
use crate::context::error::Error;
use crate::context::person_data;
use crate::context::services::{Services, render};
use crate::context::vault::SealContext;
use crate::usecases::operator::list_organizations;
pub use apply::{AppliedLedger, LedgerDifference, LedgerError, Refusal, apply, compare};
pub use form::{LedgerLineError, parse};
pub use holds::HoldEntry;
pub use keys::KeyRevocation;

/// Purpose of the seal of a line.
const SEAL: &str = "erasure ledger";
/// Context of the seal of the end.
const END: SealContext<'static> = SealContext { purpose: "erasure ledger end", tenant: None, row: b"" };
/// Name of this actor in the audit log.
const ACTOR: &str = "operator";

/// A ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Revocations of API keys.
    pub revocations: Vec<KeyRevocation>,
    /// The last end of a legal hold on each person.
    pub releases: Vec<HoldEntry>,
    /// Legal holds at the time of the ledger.
    pub holds: Vec<HoldEntry>,
    /// Erasures, the oldest of each organization first.
    pub erasures: Vec<LedgerEntry>,
    /// End of the text. `None` for a ledger that was read from the database, or from a text of a version below 6.
    pub end: Option<LedgerEnd>,
}

/// The end of the text of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEnd {
    /// Time at which the ledger was written.
    pub written_at: Timestamp,
    seal: Vec<u8>,
    /// The text that the seal covers: number and digest of the lines before the end, and the time.
    covered_text: String,
}

impl LedgerEnd {
    /// Returns `true` if a service with this database's master key wrote the end, and the lines before it are unaltered
    /// and complete.
    fn is_genuine(&self, services: &Services) -> bool {
        services.vault.open(&END, &self.seal).is_ok_and(|text| text == self.covered_text.as_bytes())
    }
}

impl Ledger {
    /// Returns the number of lines between the header and the end.
    fn count(&self) -> usize {
        self.revocations.len() + self.releases.len() + self.holds.len() + self.erasures.len()
    }
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

/// Outcome of a repeated erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatedErasure {
    /// The database has the erasure.
    Present,
    /// The erasure was begun again.
    Begun,
    /// The database does not have the person, who needs no erasure.
    UnknownPerson,
    /// The erasure was not begun, because its line has no seal of this master key. The operator must name it.
    NotSealed,
    /// The erasure was not begun, because the person is under a legal hold in this database. The operator must
    /// name it.
    Held,
}

/// Returns the legal holds, their ends, the erasures and the revocations of API keys of all organizations. The
/// erasures are read first, so that the ledger has every hold that keeps data from one of its erasures.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`].
pub async fn read(services: &Services) -> Result<Ledger, Error> {
    let mut ledger = Ledger::default();
    for organization in list_organizations(services).await? {
        let tenant = Tenant::live(organization.id);
        let first = ledger.erasures.len();
        let mut page = PageRequest::ALL;
        loop {
            let rows = services.store.page(tenant, rows::erasures::list(Erasure::DEFAULT, &page)).await?;
            for erasure in &rows.items {
                ledger.erasures.push(entry(services, organization.id, erasure)?);
            }
            page.after = rows.items.last().and_then(person_data::position);
            if !rows.more || page.after.is_none() {
                break;
            }
        }
        ledger.erasures[first..].reverse();
        holds::read(services, tenant, &mut ledger).await?;
        keys::read(services, tenant, &mut ledger).await?;
    }
    Ok(ledger)
}

/// Returns the lines of a ledger that is written now.
///
/// # Errors
/// [`Error::Unavailable`] without randomness for the seal; [`Error::Bug`].
pub fn to_text(services: &Services, ledger: &Ledger) -> Result<String, Error> {
    let seal = |text: &str| services.vault.seal(&*services.ids, &END, text.as_bytes()).map_err(Error::from);
    form::to_text(ledger, services.clock.now(), seal)
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

/// State of an erasure of a ledger in the database.
enum ErasureState {
    /// The database has the erasure, or the person is erased.
    Present,
    /// The person is in the database and not erased.
    Missing(Box<Versioned<Employee>>),
    /// The database does not have the person: there is nothing to erase.
    UnknownPerson,
}

async fn find_state(services: &Services, entry: &LedgerEntry) -> Result<ErasureState, Error> {
    let tenant = Tenant::live(entry.organization_id);
    if services.store.row::<Erasure>(tenant, entry.id).await?.is_some() {
        return Ok(ErasureState::Present);
    }
    let person = services.store.row::<Employee>(tenant, entry.employee_id).await?;
    Ok(match person {
        None => ErasureState::UnknownPerson,
        Some(person) if person.value.erased_at.is_some() => ErasureState::Present,
        Some(person) => ErasureState::Missing(Box::new(person)),
    })
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
        let state = find_state(services, entry).await?;
        if matches!(state, ErasureState::Present) {
            return Ok(Attempt::Done(RepeatedErasure::Present));
        }
        // Precedes the answer `UnknownPerson`: an altered line may have an unknown id in place of the id of a person
        // who must be erased.
        if !is_named && !entry.is_genuine(services) {
            return Ok(Attempt::Done(RepeatedErasure::NotSealed));
        }
        let ErasureState::Missing(employee) = state else {
            return Ok(Attempt::Done(RepeatedErasure::UnknownPerson));
        };
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

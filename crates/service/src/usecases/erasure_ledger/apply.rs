//! Application of a ledger to a restored database, and the comparison of both.

use std::collections::BTreeSet;

use candor_domain::access::Tenant;
use candor_domain::erasure::Erasure;
use candor_domain::id::{EmployeeId, ErasureId, KeyId};
use candor_domain::time::Timestamp;
use candor_port_storage::StorageExt;

use super::{ErasureState, Ledger, LedgerEntry, RepeatedErasure, find_state, holds, keys, repeat};
use crate::context::erasing;
use crate::context::error::Error;
use crate::context::services::Services;
use crate::usecases::operator::list_organizations;

/// Failure of [`apply`] and [`compare`]. Nothing was changed unless the service failed.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The database has none of the organizations of the ledger.
    #[error("the database has no organization of the ledger")]
    OtherDatabase,
    /// The line about a legal hold on this person, or about the end of the hold, has no seal of this master key.
    #[error("the line about a legal hold on {0} has no seal of this master key")]
    UnsealedHold(EmployeeId),
    /// The line about the revocation of this key has no seal of this master key.
    #[error("the line about the revocation of {0} has no seal of this master key")]
    UnsealedKey(KeyId),
    /// The end of the ledger has no seal of this master key over the lines before it.
    #[error("the end of the ledger has no seal of this master key over the lines before it")]
    UnsealedEnd,
    /// The service failed.
    #[error(transparent)]
    Service(#[from] Error),
}

/// Reason why an erasure was not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The line has no seal of this master key.
    NotSealed,
    /// The person is under a legal hold.
    Held,
    /// The stored data does not allow the erasure; the log has the reason.
    Failed,
}

/// Outcome of the application of a ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppliedLedger {
    /// Time at which the ledger was written. `None` unless a seal of this master key proves the time and all lines.
    pub written_at: Option<Timestamp>,
    /// API keys that were revoked again.
    pub revoked_keys: Vec<KeyId>,
    /// People whose legal hold was set again.
    pub held: Vec<EmployeeId>,
    /// People whose legal hold was ended again.
    pub released: Vec<EmployeeId>,
    /// People under a legal hold that the ledger does not have.
    pub held_beside_ledger: Vec<EmployeeId>,
    /// Number of erasures that were begun again.
    pub begun: usize,
    /// Number of erasures that the database had.
    pub present: usize,
    /// People of the ledger who are not in the database, and so need no erasure.
    pub unknown_people: Vec<EmployeeId>,
    /// Erasures that were not repeated.
    pub refused: Vec<(LedgerEntry, Refusal)>,
}

/// Differences of a database from a ledger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LedgerDifference {
    /// Number of API keys to revoke.
    pub keys: usize,
    /// Number of legal holds to set or to end.
    pub holds: usize,
    /// Number of erasures to repeat.
    pub erasures: usize,
}

/// Applies a ledger: revokes API keys, sets and ends legal holds, and then begins the erasures that the database does
/// not have. `named` are the erasures that the operator listed with `--force`: they are repeated despite a legal hold or a
/// missing seal, and the end of the ledger may have no seal then.
///
/// # Errors
/// See [`LedgerError`].
pub async fn apply(
    services: &Services,
    ledger: &Ledger,
    named: &[ErasureId],
) -> Result<AppliedLedger, LedgerError> {
    check_organizations(services, ledger).await?;
    let known_holds = holds::open(services, ledger).map_err(LedgerError::UnsealedHold)?;
    keys::check(services, ledger).map_err(LedgerError::UnsealedKey)?;
    if named.is_empty() {
        check_end(services, ledger)?;
    }
    let genuine_end = ledger.end.as_ref().filter(|end| end.is_genuine(services));
    let mut outcome =
        AppliedLedger { written_at: genuine_end.map(|end| end.written_at), ..AppliedLedger::default() };
    for entry in &ledger.revocations {
        if keys::repeat(services, entry).await? {
            outcome.revoked_keys.push(entry.key_id);
        }
    }
    for ((organization, person), known) in known_holds {
        match holds::repeat(services, (Tenant::live(organization), person), &known).await? {
            Some(true) => outcome.held.push(person),
            Some(false) => outcome.released.push(person),
            None => {}
        }
    }
    let listed_people: BTreeSet<_> = ledger.holds.iter().map(|entry| entry.employee_id).collect();
    for organization in list_organizations(services).await? {
        let held_people = holds::held_people(services, Tenant::live(organization.id)).await?;
        let held_ids = held_people.into_iter().map(|(person, _)| person);
        outcome.held_beside_ledger.extend(held_ids.filter(|person| !listed_people.contains(person)));
    }
    for entry in &ledger.erasures {
        match repeat(services, entry, named.contains(&entry.id)).await {
            Ok(RepeatedErasure::Begun) => outcome.begun += 1,
            Ok(RepeatedErasure::Present) => {
                outcome.present += 1;
                resume(services, entry).await?;
            }
            Ok(RepeatedErasure::UnknownPerson) => outcome.unknown_people.push(entry.employee_id),
            Ok(RepeatedErasure::NotSealed) => outcome.refused.push((entry.clone(), Refusal::NotSealed)),
            Ok(RepeatedErasure::Held) => outcome.refused.push((entry.clone(), Refusal::Held)),
            // One erasure that cannot be repeated must not keep the remaining ones from being repeated.
            Err(Error::Bug(reason)) => {
                tracing::error!(erasure = %entry.id, reason, "cannot repeat an erasure");
                outcome.refused.push((entry.clone(), Refusal::Failed));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(outcome)
}

/// Returns the differences that [`apply`] would remove.
///
/// # Errors
/// See [`LedgerError`].
pub async fn compare(services: &Services, ledger: &Ledger) -> Result<LedgerDifference, LedgerError> {
    check_organizations(services, ledger).await?;
    let known_holds = holds::open(services, ledger).map_err(LedgerError::UnsealedHold)?;
    check_end(services, ledger)?;
    let mut difference = LedgerDifference::default();
    for entry in &ledger.revocations {
        difference.keys += usize::from(keys::find_revived(services, entry).await?.is_some());
    }
    for ((organization, person), known) in known_holds {
        let decision = holds::decide(services, (Tenant::live(organization), person), &known).await?;
        difference.holds += usize::from(decision.is_some());
    }
    for entry in &ledger.erasures {
        let is_missing = matches!(find_state(services, entry).await?, ErasureState::Missing(_));
        difference.erasures += usize::from(is_missing);
    }
    Ok(difference)
}

/// Checks that no line of the ledger was altered, removed or added. A ledger of a version below 6 has no such seal.
fn check_end(services: &Services, ledger: &Ledger) -> Result<(), LedgerError> {
    let is_genuine = ledger.end.as_ref().is_none_or(|end| end.is_genuine(services));
    if is_genuine { Ok(()) } else { Err(LedgerError::UnsealedEnd) }
}

/// Checks that the database has an organization of the ledger. A ledger of another database proves nothing about this
/// one.
async fn check_organizations(services: &Services, ledger: &Ledger) -> Result<(), LedgerError> {
    let holds = ledger.holds.iter().chain(&ledger.releases).map(|entry| entry.organization_id);
    let keys = ledger.revocations.iter().map(|entry| entry.organization_id);
    let mut organizations =
        holds.chain(keys).chain(ledger.erasures.iter().map(|entry| entry.organization_id)).peekable();
    if organizations.peek().is_none() {
        return Ok(());
    }
    let own: BTreeSet<_> =
        list_organizations(services).await?.iter().map(|organization| organization.id).collect();
    let is_of_database = organizations.any(|organization| own.contains(&organization));
    if is_of_database { Ok(()) } else { Err(LedgerError::OtherDatabase) }
}

/// Ends the wait of an erasure for the end of a legal hold, if it waits: the erasure is due, and a worker checks for
/// holds again.
async fn resume(services: &Services, entry: &LedgerEntry) -> Result<(), Error> {
    let tenant = Tenant::live(entry.organization_id);
    let erasure_row = services.store.row::<Erasure>(tenant, entry.id).await?;
    if erasure_row.is_some_and(|erasure| erasure.value.resumes_at.is_some()) {
        erasing::resume(services, tenant, entry.id).await?;
    }
    Ok(())
}

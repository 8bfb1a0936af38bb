//! Legal holds in a ledger. They keep data from the erasures, so they are set first.

use candor_domain::access::Tenant;
use candor_domain::id::{EmployeeId, OrganizationId};
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::people::{Employee, Filter, Hold, StatusFilter};
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Row, StorageExt, Write};
use candor_tables::rows;
use serde::{Deserialize, Serialize};

use super::{ACTOR, place};
use crate::change::Attempt;
use crate::context::error::Error;
use crate::context::person_data;
use crate::context::services::{Services, render};

/// A legal hold in a ledger. Its reason is in the seal only, which encrypts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldEntry {
    /// Organization of the person.
    pub organization_id: OrganizationId,
    /// The held person.
    pub employee_id: EmployeeId,
    /// Beginning of the hold.
    pub held_at: Timestamp,
    /// The sealed members.
    pub(super) seal: Vec<u8>,
}

/// The members of a hold under its seal.
#[derive(Serialize, Deserialize)]
struct SealedHold {
    employee_id: String,
    held_at: String,
    reason: String,
}

impl HoldEntry {
    /// Opens the seal, and returns the hold. `None` if another master key wrote the line, or it was altered.
    fn hold(&self, services: &Services) -> Option<Hold> {
        let opened_seal = services.vault.open(&place(self.organization_id), &self.seal).ok()?;
        let hold_data: SealedHold = serde_json::from_slice(&opened_seal).ok()?;
        let is_own = hold_data.employee_id == self.employee_id.to_string();
        let is_whole = is_own && hold_data.held_at == self.held_at.to_string();
        is_whole.then_some(Hold { reason: hold_data.reason, held_at: self.held_at })
    }
}

/// Adds the legal holds of an organization.
pub(super) async fn read(services: &Services, tenant: Tenant, holds: &mut Vec<HoldEntry>) -> Result<(), Error> {
    let everyone = Filter { status: StatusFilter::All, ..Filter::default() };
    let mut page = PageRequest::ALL;
    loop {
        let rows = services.store.page(tenant, rows::employees::list(&everyone, Employee::DEFAULT, &page)).await?;
        for person in &rows.items {
            let Some(hold) = &person.hold else { continue };
            let (employee_id, held_at) = (person.id, hold.held_at);
            let hold_data = SealedHold {
                employee_id: employee_id.to_string(),
                held_at: held_at.to_string(),
                reason: hold.reason.clone(),
            };
            let place = place(tenant.organization);
            let seal = services.vault.seal(&*services.ids, &place, &render(&hold_data)?)?;
            holds.push(HoldEntry { organization_id: tenant.organization, employee_id, held_at, seal });
        }
        page.after = rows.items.last().and_then(person_data::position);
        if !rows.more || page.after.is_none() {
            return Ok(());
        }
    }
}

/// Outcome of a hold that is set again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatedHold {
    /// The person is held, erased, or not in the database.
    Unchanged,
    /// The hold was set again.
    Set,
    /// The line has no seal of this master key.
    NotSealed,
}

/// Sets a legal hold again if the person is not held.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Contended`], [`Error::Bug`].
pub async fn hold_again(services: &Services, entry: &HoldEntry) -> Result<RepeatedHold, Error> {
    let tenant = Tenant::live(entry.organization_id);
    let Some(hold) = entry.hold(services) else { return Ok(RepeatedHold::NotSealed) };
    let plan = async |at: Timestamp| {
        let employee_row = services.store.row::<Employee>(tenant, entry.employee_id).await?;
        let decision = employee_row.as_ref().and_then(|person| person.value.hold_again(hold.clone(), at));
        let (Some(employee_row), Some(decision)) = (employee_row, decision) else {
            return Ok(Attempt::Done(RepeatedHold::Unchanged));
        };
        let events = services.events(&decision.events, &render(&decision.state)?, at);
        let writes = vec![Write::put(&Row::at_version(decision.state, employee_row.version))];
        let entry = services.entry_of_system(ACTOR, decision.audit, at);
        let change = ChangeSet { writes, events, ..ChangeSet::new(entry) };
        Ok(Attempt::Commit(tenant, Box::new(change), RepeatedHold::Set))
    };
    services.retry(plan).await
}

//! Legal holds in a ledger. They keep data from the erasures, so they are set and ended first.

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_domain::audit::{self, AuditEntry};
use candor_domain::decision::Decision;
use candor_domain::id::{EmployeeId, OrganizationId};
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::people::{Employee, Filter, Hold, KnownHold, RELEASE, StatusFilter};
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Row, StorageExt, Version, Write};
use candor_tables::rows;
use serde::{Deserialize, Serialize};

use super::{ACTOR, Ledger, place};
use crate::change::Attempt;
use crate::context::error::Error;
use crate::context::person_data;
use crate::context::services::{Services, render};

/// Number of entries of the audit log that are read at once.
const PAGE: u16 = 100;

/// A legal hold in a ledger, or the last end of the holds on a person. The reason of a hold is in the seal only, which
/// encrypts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldEntry {
    /// Organization of the person.
    pub organization_id: OrganizationId,
    /// The person whose data the hold keeps or kept.
    pub employee_id: EmployeeId,
    /// Beginning of the hold, or its end.
    pub at: Timestamp,
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

/// Returns the members that the seal of the end of a hold covers.
fn members_of_release(person: EmployeeId, released_at: Timestamp) -> String {
    format!("release {person} {released_at}")
}

impl HoldEntry {
    /// Seals a hold.
    fn seal_hold(services: &Services, tenant: Tenant, person: EmployeeId, hold: &Hold) -> Result<Self, Error> {
        let hold_data = SealedHold {
            employee_id: person.to_string(),
            held_at: hold.held_at.to_string(),
            reason: hold.reason.clone(),
        };
        Self::seal(services, tenant, (person, hold.held_at), &render(&hold_data)?)
    }

    fn seal(
        services: &Services,
        tenant: Tenant,
        (employee_id, at): (EmployeeId, Timestamp),
        members: &[u8],
    ) -> Result<Self, Error> {
        let seal = services.vault.seal(&*services.ids, &place(tenant.organization), members)?;
        Ok(Self { organization_id: tenant.organization, employee_id, at, seal })
    }

    fn opened_seal(&self, services: &Services) -> Option<Vec<u8>> {
        services.vault.open(&place(self.organization_id), &self.seal).ok()
    }

    /// Opens the seal, and returns the hold. `None` if the line was sealed with another master key, or was altered.
    fn hold(&self, services: &Services) -> Option<Hold> {
        let hold_data: SealedHold = serde_json::from_slice(&self.opened_seal(services)?).ok()?;
        let is_own = hold_data.employee_id == self.employee_id.to_string();
        let is_whole = is_own && hold_data.held_at == self.at.to_string();
        is_whole.then_some(Hold { reason: hold_data.reason, held_at: self.at })
    }

    /// Opens the seal, and returns the end of the hold. `None` if another master key wrote the line, or it was altered.
    fn released_at(&self, services: &Services) -> Option<Timestamp> {
        let is_whole = self.opened_seal(services)? == members_of_release(self.employee_id, self.at).as_bytes();
        is_whole.then_some(self.at)
    }
}

/// Returns the people under a legal hold, with their holds.
pub(super) async fn held_people(services: &Services, tenant: Tenant) -> Result<Vec<(EmployeeId, Hold)>, Error> {
    let everyone = Filter { status: StatusFilter::All, ..Filter::default() };
    let (mut held_people, mut page) = (vec![], PageRequest::ALL);
    loop {
        let rows = services.store.page(tenant, rows::employees::list(&everyone, Employee::DEFAULT, &page)).await?;
        page.after = rows.items.last().and_then(person_data::position);
        let holds = rows.items.into_iter().filter_map(|person| Some((person.id, person.hold?)));
        held_people.extend(holds);
        if !rows.more || page.after.is_none() {
            return Ok(held_people);
        }
    }
}

/// Adds the last end of a hold of each person, and then the legal holds. A hold that ends in between is in neither
/// list, so the application of the ledger does not touch the hold in the restored database.
pub(super) async fn read(services: &Services, tenant: Tenant, ledger: &mut Ledger) -> Result<(), Error> {
    for (person, released_at) in last_releases(services, tenant).await? {
        let members = members_of_release(person, released_at);
        ledger.releases.push(HoldEntry::seal(services, tenant, (person, released_at), members.as_bytes())?);
    }
    for (person, hold) in held_people(services, tenant).await? {
        ledger.holds.push(HoldEntry::seal_hold(services, tenant, person, &hold)?);
    }
    Ok(())
}

async fn last_releases(services: &Services, tenant: Tenant) -> Result<BTreeMap<EmployeeId, Timestamp>, Error> {
    let filter = audit::Filter { actions: vec![RELEASE.to_owned()], ..audit::Filter::default() };
    let (mut releases, mut after) = (BTreeMap::new(), None);
    loop {
        let (entries, next) = person_data::audit_page(services, tenant, &filter, after, PAGE).await?;
        for entry in entries {
            let Ok(person) = entry.target.id.parse() else { continue };
            releases.insert(person, entry.occurred_at);
        }
        if next.is_none() {
            return Ok(releases);
        }
        after = next;
    }
}

/// The legal holds on each person, as far as a ledger knows them.
pub(super) type KnownHolds = BTreeMap<(OrganizationId, EmployeeId), KnownHold>;

/// Opens the seals of the holds of a ledger.
///
/// # Errors
/// The first person whose line has no seal of this master key.
pub(super) fn open(services: &Services, ledger: &Ledger) -> Result<KnownHolds, EmployeeId> {
    let mut known_holds = KnownHolds::new();
    for entry in &ledger.releases {
        let released_at = entry.released_at(services).ok_or(entry.employee_id)?;
        let known_hold = known_holds.entry((entry.organization_id, entry.employee_id)).or_default();
        known_hold.released_at = known_hold.released_at.max(Some(released_at));
    }
    for entry in &ledger.holds {
        let hold = entry.hold(services).ok_or(entry.employee_id)?;
        known_holds.entry((entry.organization_id, entry.employee_id)).or_default().hold = Some(hold);
    }
    Ok(known_holds)
}

/// Returns the change that gives a person the hold of the ledger, or ends the hold of the person; `None` if nothing
/// changes.
pub(super) async fn decide(
    services: &Services,
    (tenant, person): (Tenant, EmployeeId),
    known: &KnownHold,
) -> Result<Option<(Decision<Employee>, Version)>, Error> {
    let Some(employee_row) = services.store.row::<Employee>(tenant, person).await? else { return Ok(None) };
    let filter = audit::Filter {
        target_id: Some(person.to_string()),
        actions: vec![RELEASE.to_owned()],
        ..audit::Filter::default()
    };
    let newest = PageRequest { limit: 1, after: None };
    let releases = services.store.page(tenant, rows::audit::list(&filter, AuditEntry::DEFAULT, &newest)).await?;
    let released_at = releases.items.first().map(|entry| entry.occurred_at);
    let decision = employee_row.value.hold_again(known, released_at);
    Ok(decision.map(|decision| (decision, employee_row.version)))
}

/// Sets or ends the hold on a person. Returns `true` if a hold was set, `false` if the hold was ended, and `None` if
/// nothing changed.
pub(super) async fn repeat(
    services: &Services,
    (tenant, person): (Tenant, EmployeeId),
    known: &KnownHold,
) -> Result<Option<bool>, Error> {
    let plan = async |at: Timestamp| {
        let Some((decision, version)) = decide(services, (tenant, person), known).await? else {
            return Ok(Attempt::Done(None));
        };
        let is_held = decision.state.hold.is_some();
        let events = services.events(&decision.events, &render(&decision.state)?, at);
        let writes = vec![Write::put(&Row::at_version(decision.state, version))];
        let entry = services.entry_of_system(ACTOR, decision.audit, at);
        let change = ChangeSet { writes, events, ..ChangeSet::new(entry) };
        Ok(Attempt::Commit(tenant, Box::new(change), Some(is_held)))
    };
    services.retry(plan).await
}

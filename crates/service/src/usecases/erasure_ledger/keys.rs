//! Revocations of API keys in a ledger: in a restored backup, the keys that were revoked after the backup are
//! valid again.

use candor_domain::access::Tenant;
use candor_domain::access::api_key::{ApiKey, Filter};
use candor_domain::id::{KeyId, OrganizationId};
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Row, StorageExt, Versioned, Write};
use candor_tables::rows;

use super::{ACTOR, Ledger, place};
use crate::change::Attempt;
use crate::context::error::Error;
use crate::context::person_data;
use crate::context::services::Services;

/// The revocation of an API key in a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRevocation {
    /// Organization of the key.
    pub organization_id: OrganizationId,
    /// The revoked key.
    pub key_id: KeyId,
    /// Time of the revocation.
    pub revoked_at: Timestamp,
    /// The sealed members.
    pub(super) seal: Vec<u8>,
}

impl KeyRevocation {
    /// Returns the members that the seal covers.
    fn sealed_members(key: KeyId, revoked_at: Timestamp) -> String {
        format!("revocation {key} {revoked_at}")
    }

    /// Returns `true` if a service with this database's master key wrote the line, and it is unaltered.
    fn is_genuine(&self, services: &Services) -> bool {
        let opened_seal = services.vault.open(&place(self.organization_id), &self.seal);
        opened_seal.is_ok_and(|members| members == Self::sealed_members(self.key_id, self.revoked_at).as_bytes())
    }
}

/// Adds the revocations of an organization's keys.
pub(super) async fn read(services: &Services, tenant: Tenant, ledger: &mut Ledger) -> Result<(), Error> {
    let mut page = PageRequest::ALL;
    loop {
        let list = rows::api_keys::list(Filter::default(), ApiKey::DEFAULT, &page);
        let keys = services.store.page(tenant, list).await?;
        for (key, revoked_at) in keys.items.iter().filter_map(|key| Some((key, key.revoked_at?))) {
            let members = KeyRevocation::sealed_members(key.id, revoked_at);
            let seal = services.vault.seal(&*services.ids, &place(tenant.organization), members.as_bytes())?;
            let organization_id = tenant.organization;
            ledger.revocations.push(KeyRevocation { organization_id, key_id: key.id, revoked_at, seal });
        }
        page.after = keys.items.last().and_then(person_data::position);
        if !keys.more || page.after.is_none() {
            return Ok(());
        }
    }
}

/// Checks the seals of the revocations of a ledger.
///
/// # Errors
/// The first key whose line has no seal of this master key.
pub(super) fn check(services: &Services, ledger: &Ledger) -> Result<(), KeyId> {
    let forged_line = ledger.revocations.iter().find(|entry| !entry.is_genuine(services));
    forged_line.map_or(Ok(()), |entry| Err(entry.key_id))
}

/// Returns the key of a revocation if the database has it, and it is not revoked.
pub(super) async fn find_revived(
    services: &Services,
    entry: &KeyRevocation,
) -> Result<Option<Versioned<ApiKey>>, Error> {
    let key_row = services.store.row::<ApiKey>(Tenant::live(entry.organization_id), entry.key_id).await?;
    Ok(key_row.filter(|key| key.value.revoked_at.is_none()))
}

/// Revokes a key again. Returns `false` if there was nothing to do.
pub(super) async fn repeat(services: &Services, entry: &KeyRevocation) -> Result<bool, Error> {
    let tenant = Tenant::live(entry.organization_id);
    let plan = async |at: Timestamp| {
        let Some(key) = find_revived(services, entry).await? else { return Ok(Attempt::Done(false)) };
        let decision = key.value.revoke(at)?;
        let mut change = ChangeSet::new(services.entry_of_system(ACTOR, decision.audit, at));
        change.writes.push(Write::put(&Row::at_version(decision.state, key.version)));
        Ok(Attempt::Commit(tenant, Box::new(change), true))
    };
    services.retry(plan).await
}

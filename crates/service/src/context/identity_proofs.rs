//! Reads and writes of the proofs of identity providers. Only one provider of the installation can hold a proof.

use std::collections::BTreeMap;

use candor_domain::id::IdentityProofId;
use candor_domain::time::Timestamp;
use candor_port_storage::erasing::ErasureChange;
use candor_port_storage::{Row, StorageExt, Write};
use candor_sign_in::{IdentityProof, IdentityProvider, ProofHolder};
use candor_tables::flat::{SqlValue, Stored};
use candor_tables::read::ID;
use candor_tables::rows::identity_proofs::BY_ID;

use crate::context::error::Error;
use crate::context::services::Services;

/// Returns the provider that holds each of these proofs, in any organization. Reads one row per proof, because a check
/// has few proofs.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn find_holders(
    services: &Services,
    ids: &[IdentityProofId],
) -> Result<BTreeMap<IdentityProofId, ProofHolder>, Error> {
    let mut holders = BTreeMap::new();
    for id in ids {
        if let Some((tenant, proof)) = services.store.row_in_any_tenant(BY_ID, *id).await? {
            holders.insert(*id, (tenant, proof.value.identity_provider_id));
        }
    }
    Ok(holders)
}

/// Returns the writes that delete the proofs that a provider no longer has, and that add its new proofs. `after` is
/// the changed provider, or `None` if the provider is deleted.
pub(crate) fn proof_writes(
    before: &IdentityProvider,
    after: Option<&IdentityProvider>,
    at: Timestamp,
) -> Vec<Write> {
    let (ids_before, ids_after) = (before.proof_ids(), after.map(IdentityProvider::proof_ids).unwrap_or_default());
    let values: Vec<_> = ids_before.difference(&ids_after).copied().map(SqlValue::from).collect();
    let mut writes = vec![];
    if !values.is_empty() {
        let table = IdentityProof::TABLE.name;
        writes.push(Write::Erase(vec![ErasureChange::Delete { table, by: ID, values }]));
    }
    let proof = |id: &IdentityProofId| IdentityProof { id: *id, identity_provider_id: before.id, proven_at: at };
    writes.extend(ids_after.difference(&ids_before).map(|id| Write::put(&Row::new(proof(id)))));
    writes
}

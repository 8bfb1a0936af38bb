//! Mapping of proofs, each of which one provider of the installation holds.

use candor_domain::id::IdentityProofKind;
use candor_sign_in::IdentityProof;

use crate::flat::Table;
use crate::read::LookupColumn;
use crate::stored::stored;

stored! {
    IdentityProof, id: IdentityProofKind, row: proof;
    columns {
        id: IdColumn,
        identity_provider_id: IdColumn,
        proven_at: Time,
    }
    table Table { versioned: false, ..Table::with_name("identity_proofs") };
}

/// Lookup by id across all tenants.
pub const BY_ID: LookupColumn<IdentityProof> = LookupColumn::column("id", crate::flat::Type::Id);

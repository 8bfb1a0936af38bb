//! Callers of tests.

use candor_domain::access::{AccessLevel, AllowedNetworks, Caller, Permissions, Quotas, Tenant};
use candor_domain::id::{KeyId, OrganizationId};
use ulid::Ulid;

/// Creates a caller with every scope and a key of the organization.
pub(crate) fn unbound(level: AccessLevel) -> Caller {
    Caller {
        tenant: Tenant::live(OrganizationId::from_ulid(Ulid(1))),
        key: KeyId::from_ulid(Ulid(2)),
        name: "Test".to_owned(),
        scopes: Permissions::ALL,
        level,
        person: None,
        connector: None,
        identity_provider: None,
        session: None,
        expires_at: None,
        allowed_networks: AllowedNetworks::EVERYWHERE,
        has_previous_secret: false,
        quotas: Quotas::DEFAULT,
    }
}

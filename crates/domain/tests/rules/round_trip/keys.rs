//! Round trip of API keys.

use super::*;
use candor_domain::access::api_key::{self, ApiKey, ApiKeyKind, KeyHash};
use candor_domain::access::{AllowedNetworks, Environment};

/// A key of the organization that never expires.
pub(crate) fn plain_key() -> ApiKey {
    ApiKey {
        id: id(1),
        name: "Reporting".to_owned(),
        kind: ApiKeyKind::Key,
        session_id: None,
        identity_provider_id: None,
        identity_subject: None,
        identity_sid: None,
        environment: Environment::Live,
        access_level: AccessLevel::Standard,
        scopes: Permissions::ALL,
        employee_id: None,
        last4: "abcd".to_owned(),
        reads_per_minute: None,
        writes_per_minute: None,
        created_at: AT,
        updated_at: AT,
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
        link_expires_at: None,
        hash: KeyHash([1; 32]),
        previous: None,
        remind_at: None,
        expiring_due: None,
        previous_expiring_due: None,
        connector_id: None,
        scim_per_minute: None,
        allowed_networks: AllowedNetworks::EVERYWHERE,
        enabled_at: None,
    }
}

#[test]
fn api_key_sent_back_changes_nothing() {
    let plain = plain_key();
    let full = ApiKey {
        environment: Environment::Test,
        access_level: AccessLevel::Admin,
        scopes: Permissions::NONE.with(Permission::AuditRead).with(Permission::WebhooksWrite),
        employee_id: Some(id(2)),
        reads_per_minute: Some(6000),
        writes_per_minute: Some(1000),
        // An expiry time in the past is accepted if it is unchanged.
        expires_at: Some(AT),
        last_used_at: Some(AT),
        link_expires_at: Some(AT),
        enabled_at: Some(AT),
        kind: ApiKeyKind::Session,
        session_id: Some(id(3)),
        identity_provider_id: Some(id(4)),
        identity_subject: Some("00u1".to_owned()),
        identity_sid: Some("102".to_owned()),
        allowed_networks: AllowedNetworks::from_texts(["2001:db8::/32", "192.0.2.0/24"]).unwrap(),
        previous: Some((KeyHash([2; 32]), LATER)),
        ..plain.clone()
    };
    // The caller lacks the scopes of the key that it sends back.
    let granter = organization_key();
    for key in [plain, full] {
        let patch = api_key::Patch::parse(response_body(&key)).resolve_with(&key, LATER).unwrap();
        assert_eq!(key.update(patch, None, &granter, LATER), Ok(None), "{key:?}");
    }
}

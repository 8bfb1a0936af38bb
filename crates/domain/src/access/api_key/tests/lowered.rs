//! Tests of changes that leave a key less access (decisions B7, B12).

use super::*;

#[test]
fn changing_the_end_of_a_key_requires_its_scopes() {
    let (less, as_much) = (set(&[SettingsWrite]), set(&[ObservationsRead, ObservationsWrite, SettingsWrite]));
    let time_after = |seconds| NOW.plus_seconds(seconds);
    let table = [
        // stored end, wanted end, the end changes
        (Some(time_after(60)), Some(time_after(61)), true),
        (Some(time_after(60)), None, true),
        (Some(time_after(60)), Some(time_after(60)), false),
        (Some(time_after(60)), Some(time_after(59)), true),
        (None, Some(time_after(60)), true),
        (None, None, false),
    ];
    for (before, wanted, changes) in table {
        let stored_key = ApiKey { expires_at: before, ..key() };
        let update_with = |scopes| {
            let patch = Patch { expires_at: Some(wanted), ..Patch::default() };
            stored_key.update(patch, None, &caller(scopes, AccessLevel::Admin), NOW).err()
        };
        assert_eq!(
            update_with(less),
            changes.then_some(DomainError::Denied(PermissionError::CannotGrant)),
            "{before:?} {wanted:?}"
        );
        assert_eq!(update_with(as_much), None, "{before:?} {wanted:?}");
    }
}

/// A caller with less access than a key may rename and revoke it. It may not lower it first and rotate it then: the
/// secret would have all the access of the key as soon as an admin repairs the key.
#[test]
fn caller_with_less_access_renames_and_revokes_only() {
    let scopes = set(&[ObservationsRead, SettingsWrite]);
    let networks = |text: &str| AllowedNetworks::from_texts([text]).unwrap();
    let time_after = |seconds| Some(NOW.plus_seconds(seconds));
    let admin = caller(scopes, AccessLevel::Admin);
    let session = |scopes| {
        let session = Some(KeyId::from_ulid(Ulid(9)));
        Caller { session, expires_at: time_after(3_600), scopes, ..admin.clone() }
    };
    let stored_key = ApiKey { access_level: AccessLevel::Admin, scopes, ..key() };
    let limited_callers = [
        Caller { scopes: set(&[SettingsWrite]), ..admin.clone() },
        Caller { level: AccessLevel::Standard, ..admin.clone() },
        Caller { expires_at: time_after(3_600), ..admin.clone() },
        Caller { allowed_networks: networks("192.0.2.0/24"), ..admin.clone() },
        session(set(&[SettingsWrite])),
    ];
    let narrower = [
        Patch { scopes: Some(set(&[SettingsWrite])), ..Patch::default() },
        Patch { expires_at: Some(time_after(60)), ..Patch::default() },
        Patch { allowed_networks: Some(networks("192.0.2.7/32")), ..Patch::default() },
    ];
    let refusal = DomainError::Denied(PermissionError::CannotGrant);
    for patch in narrower {
        for granter in &limited_callers {
            let result = stored_key.update(patch.clone(), None, granter, NOW);
            assert_eq!(result.err(), Some(refusal.clone()), "{patch:?} by {granter:?}");
        }
        for granter in [admin.clone(), session(scopes)] {
            let narrowed_key = stored_key.update(patch.clone(), None, &granter, NOW).unwrap().unwrap().state;
            let rotation = narrowed_key.rotate(&secret(2), 0, &granter, NOW);
            assert_eq!(
                rotation.is_ok(),
                granter.session.is_none(),
                "a session rotates no key that it did not create"
            );
        }
    }
    // A key may lower itself, but not with its previous secret.
    let own = Caller { key: stored_key.id, ..limited_callers[0].clone() };
    let own_previous = Caller { has_previous_secret: true, ..Caller { key: stored_key.id, ..admin.clone() } };
    let fewer = Patch { scopes: Some(set(&[SettingsWrite])), ..Patch::default() };
    assert!(stored_key.update(fewer.clone(), None, &own, NOW).is_ok());
    assert_eq!(stored_key.update(fewer, None, &own_previous, NOW), Err(refusal.clone()));
    assert_eq!(stored_key.rotate(&secret(2), 60, &own_previous, NOW), Err(refusal));
    for granter in &limited_callers {
        let rename = Patch { name: Some("Other".to_owned()), ..Patch::default() };
        assert!(stored_key.update(rename, None, granter, NOW).is_ok(), "rename by {granter:?}");
        assert!(stored_key.rotate(&secret(2), 60, granter, NOW).is_err(), "rotate by {granter:?}");
    }
}

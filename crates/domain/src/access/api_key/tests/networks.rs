//! Tests of the networks of keys (decision B12).

use super::*;

fn networks(texts: &[&str]) -> AllowedNetworks {
    AllowedNetworks::from_texts(texts.iter().copied()).unwrap()
}

#[test]
fn granted_networks_lie_inside_those_of_the_granter() {
    let table: [(&[&str], &[&str], bool); 8] = [
        // the granter's, the new key's, allowed
        (&[], &[], true),
        (&[], &["10.0.0.0/8"], true),
        (&["10.0.0.0/8"], &[], false),
        (&["10.0.0.0/8"], &["10.0.0.0/8"], true),
        (&["10.0.0.0/8"], &["10.1.0.0/16", "10.2.0.0/16"], true),
        (&["10.0.0.0/8"], &["10.1.0.0/16", "192.0.2.0/24"], false),
        (&["10.1.0.0/16"], &["10.0.0.0/8"], false),
        (&["0.0.0.0/0"], &["2001:db8::/32"], false),
    ];
    for (own, granted, allowed) in table {
        let allowed_networks = networks(granted);
        let granter = Caller { allowed_networks: networks(own), ..caller(Permissions::ALL, AccessLevel::Admin) };
        let expected_error = (!allowed).then_some(DomainError::Denied(PermissionError::CannotGrant));
        let name = format!("{own:?} grants {granted:?}");
        let draft = Draft {
            allowed_networks: allowed_networks.clone(),
            ..draft(set(&[ObservationsRead]), AccessLevel::Standard)
        };
        let creation = ApiKey::create(KeyId::from_ulid(Ulid(3)), draft, &secret(2), Some(&granter), NOTHING, NOW);
        assert_eq!(creation.err(), expected_error, "create: {name}");
        let stored_key = ApiKey { allowed_networks: allowed_networks.clone(), ..key() };
        let rotation = stored_key.rotate(&secret(2), 60, &granter, NOW);
        assert_eq!(rotation.as_ref().err(), expected_error.as_ref(), "rotate: {name}");
        assert!(rotation.iter().all(|decision| decision.state.allowed_networks == allowed_networks), "{name}");
        let narrow = ApiKey { allowed_networks: networks(own), ..key() };
        let patch = Patch { allowed_networks: Some(allowed_networks.clone()), ..Patch::default() };
        assert_eq!(narrow.update(patch, None, &granter, NOW).err(), expected_error, "change: {name}");
        let few = ApiKey { scopes: Permissions::NONE, ..stored_key };
        let patch = Patch { scopes: Some(set(&[ObservationsRead])), ..Patch::default() };
        assert_eq!(few.update(patch, None, &granter, NOW).err(), expected_error, "widen: {name}");
    }
}

#[test]
fn networks_are_narrowed_by_keys_that_contain_them() {
    let narrower = networks(&["198.51.100.0/24"]);
    let patch = Patch { allowed_networks: Some(narrower.clone()), ..Patch::default() };
    let granter = caller(key().scopes, AccessLevel::Admin);
    let decision = key().update(patch.clone(), None, &granter, NOW).unwrap().unwrap();
    assert_eq!((decision.audit.action, &decision.state.allowed_networks), ("api_key.update", &narrower));
    let limited_granter = Caller { allowed_networks: networks(&["10.0.0.0/8"]), ..granter.clone() };
    let refusal = Err(DomainError::Denied(PermissionError::CannotGrant));
    assert_eq!(key().update(patch.clone(), None, &limited_granter, NOW), refusal);
    assert_eq!(decision.state.update(patch, None, &limited_granter, NOW), Ok(None), "nothing changes");
}

#[test]
fn narrower_networks_are_lost_rights() {
    let with = |texts: &[&str]| Caller {
        allowed_networks: networks(texts),
        ..caller(set(&[ObservationsRead]), AccessLevel::Admin)
    };
    assert!(with(&[]).has_kept_rights_of(&with(&["10.0.0.0/8"])));
    assert!(with(&["10.0.0.0/8"]).has_kept_rights_of(&with(&["10.0.0.0/8"])));
    assert!(!with(&["10.1.0.0/16"]).has_kept_rights_of(&with(&["10.0.0.0/8"])));
    assert!(!with(&["10.0.0.0/8"]).has_kept_rights_of(&with(&[])));
    let scopes = [ObservationsRead];
    let key = ApiKey { access_level: AccessLevel::Admin, scopes: set(&scopes), ..key() };
    assert!(key.may_continue(None, &scopes, &networks(&["10.0.0.0/8"]), NOW));
    let narrower_key = ApiKey { allowed_networks: networks(&["10.1.0.0/16"]), ..key };
    assert!(!narrower_key.may_continue(None, &scopes, &networks(&["10.0.0.0/8"]), NOW));
}

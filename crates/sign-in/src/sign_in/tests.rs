//! Choice of the provider, the state and the response of a sign-in.

use super::super::tests::{AT, provider};
use super::*;

const VERIFIED: &str = r#""link_by": "verified_email", "email_domains": ["a.example"]"#;

fn metadata(has_issuer_parameter: bool) -> ProviderMetadata {
    ProviderMetadata {
        issuer: "https://acme.okta.example".to_owned(),
        authorization_endpoint: "https://acme.okta.example/authorize?tenant=1".to_owned(),
        token_endpoint: String::new(),
        jwks_uri: String::new(),
        end_session_endpoint: None,
        client_authentication: candor_tokens::discovery::ClientAuthentication::Basic,
        has_issuer_parameter,
    }
}

fn state() -> SignInState {
    SignInState {
        session: KeyId::from_bytes([1; 16]),
        organization: OrganizationId::from_bytes([2; 16]),
        browser: "browser".to_owned(),
        nonce: "nonce".to_owned(),
        verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned(),
        start: "/webhooks".to_owned(),
        command_line: None,
        expires_at: AT.plus_seconds(STATE_SECONDS).millis(),
    }
}

#[test]
fn state_serves_its_browser_until_its_end() {
    let state = state();
    assert_eq!(serde_json::from_str::<SignInState>(&serde_json::to_string(&state).unwrap()).unwrap(), state);
    let end = AT.plus_seconds(STATE_SECONDS);
    for (browser, at, wanted) in [
        ("browser", AT, true),
        ("browser", Timestamp::from_millis(end.millis() - 1), true),
        ("browser", end, false),
        ("other", AT, false),
        ("", AT, false),
    ] {
        assert_eq!(state.serves(browser, at), wanted, "{browser} {at}");
    }
}

#[test]
fn authorization_request_has_state_nonce_and_challenge() {
    let plain = provider(VERIFIED);
    let strict = IdentityProvider { required_acr: Some("phr".to_owned()), ..plain.clone() };
    let url = |provider: &IdentityProvider, email| {
        let metadata = metadata(true);
        state().authorization_url((provider, &metadata), "sealed", "https://c.example/cb", email).unwrap()
    };
    let common = "https://acme.okta.example/authorize?tenant=1&response_type=code&client_id=0oa1\
                  &redirect_uri=https%3A%2F%2Fc.example%2Fcb&scope=openid+email+profile&state=sealed&nonce=nonce\
                  &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";
    assert_eq!(url(&plain, None), common);
    assert_eq!(
        url(&strict, Some("a@a.example")),
        format!("{common}&acr_values=phr&max_age=43200&login_hint=a%40a.example")
    );
}

#[test]
fn response_needs_the_issuer_and_a_code() {
    let response = |issuer: Option<&str>, code: Option<&str>, error: Option<&str>| SignInResponse {
        state: None,
        code: code.map(str::to_owned),
        issuer: issuer.map(str::to_owned),
        error: error.map(str::to_owned),
    };
    let (own, foreign) = (Some("https://acme.okta.example"), Some("https://evil.example"));
    for (response, announces, wanted) in [
        (response(own, Some("c"), None), true, Ok("c")),
        (response(None, Some("c"), None), false, Ok("c")),
        (response(None, Some("c"), None), true, Err(SignInError::ForeignIssuer)),
        (response(foreign, Some("c"), None), false, Err(SignInError::ForeignIssuer)),
        (response(foreign, None, Some("access_denied")), true, Err(SignInError::ForeignIssuer)),
        (response(own, None, Some("access_denied")), true, Err(SignInError::Denied)),
        (response(own, Some("c"), Some("server_error")), true, Err(SignInError::ProviderError)),
        (response(own, None, None), true, Err(SignInError::ProviderError)),
    ] {
        assert_eq!(response.to_code(&metadata(announces)), wanted, "{response:?}");
    }
}

#[test]
fn organization_signs_in_at_its_only_active_provider() {
    let confidential = IdentityProvider { client_secret: Some(vec![1]), ..provider(VERIFIED) };
    let public = provider(VERIFIED);
    let active = IdentityProvider { status: Status::Active, name: "active".to_owned(), ..confidential.clone() };
    let disabled_provider = IdentityProvider { status: Status::Disabled, ..active.clone() };
    let proven_public = IdentityProvider {
        status: Status::Active,
        proven_audiences: vec![public.client_id.clone()],
        name: "public".to_owned(),
        ..public.clone()
    };
    for (providers, wanted) in [
        (vec![], None),
        (vec![&public], Some("Okta")),
        (vec![&public, &confidential], None),
        (vec![&disabled_provider], None),
        (vec![&confidential], Some("Okta")),
        (vec![&confidential, &confidential], None),
        (vec![&confidential, &active, &disabled_provider], Some("active")),
        (vec![&proven_public, &public], Some("public")),
        (vec![&proven_public, &active], None),
    ] {
        let providers: Vec<_> = providers.into_iter().cloned().collect();
        let name = IdentityProvider::choose_for_sign_in(&providers).map(|provider| provider.name.as_str());
        assert_eq!(name, wanted, "{providers:?}");
    }
}

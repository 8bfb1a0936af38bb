//! Discovery documents: each flaw is reported, and all flaws of a document together.

use candor_tokens::discovery::{ADDRESS_CHARS, ClientAuthentication, DiscoveryError, ProviderMetadata};
use candor_tokens::strict_json::{DocumentError, MAX_SMALL_DOCUMENT_BYTES};
use serde_json::{Value, json};

use super::samples::{ISSUER, with, without};

fn document() -> Value {
    json!({
        "issuer": ISSUER,
        "authorization_endpoint": "https://id.example.com/authorize?tenant=1",
        "token_endpoint": "https://id.example.com/token",
        "jwks_uri": "https://keys.example.net/set",
        "response_types_supported": ["id_token", "code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["HS256", "RS256"],
    })
}

fn parse(document: &Value) -> Result<ProviderMetadata, Vec<DiscoveryError>> {
    ProviderMetadata::parse(document.to_string().as_bytes(), ISSUER)
}

#[test]
fn plain_document_is_read() {
    let metadata = parse(&document()).unwrap();
    let expected_metadata = ProviderMetadata {
        issuer: ISSUER.to_owned(),
        authorization_endpoint: "https://id.example.com/authorize?tenant=1".to_owned(),
        token_endpoint: "https://id.example.com/token".to_owned(),
        jwks_uri: "https://keys.example.net/set".to_owned(),
        end_session_endpoint: None,
        client_authentication: ClientAuthentication::Basic,
        has_issuer_parameter: false,
    };
    assert_eq!(metadata, expected_metadata);
    let document = with(document(), "end_session_endpoint", "https://id.example.com/logout");
    let document = with(document, "token_endpoint_auth_methods_supported", json!(["client_secret_post"]));
    let document = with(document, "authorization_response_iss_parameter_supported", true);
    let metadata = parse(&with(document, "code_challenge_methods_supported", json!(["plain", "S256"]))).unwrap();
    assert_eq!(metadata.end_session_endpoint.as_deref(), Some("https://id.example.com/logout"));
    assert_eq!(metadata.client_authentication, ClientAuthentication::Post);
    assert!(metadata.has_issuer_parameter);
}

#[test]
fn flaw_of_a_document_is_told() {
    use DiscoveryError::{Address, Algorithm, CodeChallenge, Issuer, NoAddress, ResponseType, Type};
    let long_address = format!("https://id.example.com/{}", "a".repeat(ADDRESS_CHARS));
    let base = document;
    let table = [
        (without(base(), "issuer"), Issuer),
        (with(base(), "issuer", format!("{ISSUER}/")), Issuer),
        (with(base(), "issuer", json!([ISSUER])), Issuer),
        (without(base(), "jwks_uri"), NoAddress("jwks_uri")),
        (without(base(), "token_endpoint"), NoAddress("token_endpoint")),
        (without(base(), "authorization_endpoint"), NoAddress("authorization_endpoint")),
        (with(base(), "jwks_uri", "http://id.example.com/keys"), Address("jwks_uri")),
        (with(base(), "jwks_uri", "file:///etc/passwd"), Address("jwks_uri")),
        (with(base(), "jwks_uri", "https://user:secret@id.example.com/"), Address("jwks_uri")),
        (with(base(), "jwks_uri", "/keys"), Address("jwks_uri")),
        (with(base(), "jwks_uri", 1), Address("jwks_uri")),
        (with(base(), "jwks_uri", long_address), Address("jwks_uri")),
        (with(base(), "authorization_endpoint", "javascript:alert(1)"), Address("authorization_endpoint")),
        (with(base(), "authorization_endpoint", "https://a.example/#b"), Address("authorization_endpoint")),
        (with(base(), "end_session_endpoint", "http://id.example.com/"), Address("end_session_endpoint")),
        (with(base(), "response_types_supported", json!(["id_token"])), ResponseType),
        (with(base(), "response_types_supported", "code"), Type("response_types_supported")),
        (with(base(), "code_challenge_methods_supported", json!(["plain"])), CodeChallenge),
        (with(base(), "id_token_signing_alg_values_supported", json!(["HS256", "none"])), Algorithm),
        (
            with(base(), "token_endpoint_auth_methods_supported", json!(["private_key_jwt"])),
            DiscoveryError::ClientAuthentication,
        ),
        (
            with(base(), "authorization_response_iss_parameter_supported", "true"),
            Type("authorization_response_iss_parameter_supported"),
        ),
    ];
    for (document, flaw) in table {
        assert_eq!(parse(&document), Err(vec![flaw]), "{document}");
    }
}

#[test]
fn all_flaws_of_a_document_are_told_together() {
    let document = with(without(document(), "token_endpoint"), "issuer", "https://other.example");
    let document = with(document, "response_types_supported", json!([]));
    let flaws =
        [DiscoveryError::Issuer, DiscoveryError::NoAddress("token_endpoint"), DiscoveryError::ResponseType];
    assert_eq!(parse(&document), Err(flaws.to_vec()));
}

#[test]
fn document_that_is_no_object_is_refused() {
    let large = format!("{{{}}}", " ".repeat(MAX_SMALL_DOCUMENT_BYTES));
    for (text, flaw) in [
        ("", DocumentError::NotAnObject),
        ("<html>", DocumentError::NotAnObject),
        ("[]", DocumentError::NotAnObject),
        (r#"{"issuer":"a","issuer":"b"}"#, DocumentError::RepeatedMember),
        (large.as_str(), DocumentError::TooLarge),
    ] {
        let flaws = ProviderMetadata::parse(text.as_bytes(), ISSUER);
        assert_eq!(flaws, Err(vec![DiscoveryError::Document(flaw)]), "{}", &text[..text.len().min(20)]);
    }
}

#[test]
fn addresses_may_be_plain_if_the_issuer_is() {
    let issuer = "http://10.0.0.1:8080/realm";
    let mut plain = document();
    plain["issuer"] = json!(issuer);
    for name in ["authorization_endpoint", "token_endpoint", "jwks_uri"] {
        plain[name] = json!("http://10.0.0.1:8080/a");
    }
    assert!(ProviderMetadata::parse(plain.to_string().as_bytes(), issuer).is_ok());
    plain["issuer"] = json!(ISSUER);
    assert_eq!(parse(&plain).unwrap_err().len(), 3);
}

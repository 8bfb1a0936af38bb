//! Key sets: documents that are refused, keys that are ignored, and the choice of a key.

use candor_tokens::flaw::TokenError;
use candor_tokens::key_set::{KeySet, KeySetError, MAX_KEYS};
use candor_tokens::strict_json::{DocumentError, MAX_DOCUMENT_BYTES};
use candor_tokens::token::SignedToken;
use serde_json::{Value, json};

use super::mint::{Mint, encode};
use super::samples::{bearer_claims, with, without};

/// Modulus of an RSA key with 1,024 bits.
const WEAK_MODULUS: &str = "5lFSqQs_XINjR-yhnPwVw3Ey4L207OQREW9r8_fJ4k4ZTmMx2FqGieJDwJyqHR8nPbyAqKdzVdS522Zbxtt6edrDKi3Deo2fR_y8C1XwQ7bhD_cfc1WTDAxptTVS0j3MGHLwyDKNydNNHove5JwbGKQpqGN_jrDnQwdMETI4nNU";

fn parse(keys: &[Value]) -> KeySet {
    KeySet::parse(json!({"keys": keys}).to_string().as_bytes()).unwrap()
}

#[test]
fn document_that_is_no_key_set_is_refused() {
    let large = format!("{{\"keys\":[]{}}}", " ".repeat(MAX_DOCUMENT_BYTES));
    let many = json!({"keys": vec![json!({}); MAX_KEYS + 1]}).to_string();
    let table = [
        ("", KeySetError::Document(DocumentError::NotAnObject)),
        ("<html></html>", KeySetError::Document(DocumentError::NotAnObject)),
        ("[]", KeySetError::Document(DocumentError::NotAnObject)),
        (r#"{"keys":[],"keys":[]}"#, KeySetError::Document(DocumentError::RepeatedMember)),
        (r#"{"keys":[{"kid":"1","kid":"2"}]}"#, KeySetError::Document(DocumentError::RepeatedMember)),
        (large.as_str(), KeySetError::Document(DocumentError::TooLarge)),
        ("{}", KeySetError::NoList),
        (r#"{"keys":{}}"#, KeySetError::NoList),
        (many.as_str(), KeySetError::TooManyKeys),
    ];
    for (document, flaw) in table {
        let start: String = document.chars().take(40).collect();
        assert_eq!(KeySet::parse(document.as_bytes()), Err(flaw), "{start}");
    }
    assert_eq!(KeySet::parse(br#"{"keys":[]}"#).map(|set| set.is_empty()), Ok(true));
}

#[test]
fn key_that_cannot_verify_is_ignored() {
    let keys = Mint::new().keys();
    let [rsa, p256, p384, ed25519] = &keys[..] else { panic!("four keys") };
    let large_exponent = encode(&[1; 6]);
    let table = [
        ("for encryption", with(rsa.clone(), "use", "enc")),
        ("for an unknown use", with(rsa.clone(), "use", 1)),
        ("that signs only", with(rsa.clone(), "key_ops", json!(["sign"]))),
        ("with operations of a wrong type", with(rsa.clone(), "key_ops", "verify")),
        ("with its private part", with(rsa.clone(), "d", "AQAB")),
        ("with 1,024 bits", with(rsa.clone(), "n", WEAK_MODULUS)),
        ("with zeros before 1,024 bits", with(rsa.clone(), "n", format!("{}{WEAK_MODULUS}", "A".repeat(172)))),
        ("with 16,384 bits", with(rsa.clone(), "n", encode(&[0xff; 2048]))),
        ("without modulus", without(rsa.clone(), "n")),
        ("without exponent", with(rsa.clone(), "e", "")),
        ("with a large exponent", with(rsa.clone(), "e", large_exponent)),
        ("with an HMAC", with(rsa.clone(), "alg", "HS256")),
        ("with an algorithm of another type", with(rsa.clone(), "alg", "ES256")),
        ("with an encryption", with(rsa.clone(), "alg", "RSA-OAEP")),
        ("with a kid that is a number", with(rsa.clone(), "kid", 1)),
        ("with standard base64", with(rsa.clone(), "e", "AQAB==")),
        ("with a shared secret", json!({"kty": "oct", "kid": "oct", "k": "c2VjcmV0"})),
        ("on P-521", with(p256.clone(), "crv", "P-521")),
        ("on secp256k1", with(p256.clone(), "crv", "secp256k1")),
        ("with the algorithm of another curve", with(p384.clone(), "alg", "ES256")),
        ("with a short coordinate", with(p256.clone(), "y", encode(&[1; 31]))),
        ("without a coordinate", without(p256.clone(), "x")),
        ("on Ed448", with(ed25519.clone(), "crv", "Ed448")),
        ("on X25519", with(ed25519.clone(), "crv", "X25519")),
        ("with a short point", with(ed25519.clone(), "x", encode(&[1; 31]))),
        ("without type", without(ed25519.clone(), "kty")),
        ("that is a text", json!("key")),
    ];
    for (name, key) in table {
        assert_eq!(parse(&[key]).len(), 0, "{name}");
    }
    assert_eq!(parse(&keys).len(), 4);
}

#[test]
fn leading_zero_of_a_modulus_is_no_difference() {
    let mint = Mint::new();
    let (n, _) = mint.rsa_numbers();
    let padded_key = with(mint.keys()[0].clone(), "n", encode(&[&[0], &n[..]].concat()));
    let token = mint.token("RS256", &bearer_claims());
    assert!(SignedToken::parse(&token).unwrap().verify(&parse(&[padded_key])).is_ok());
}

#[test]
fn key_is_chosen_by_kid_and_algorithm() {
    let (mint, other) = (Mint::new(), Mint::new());
    let keys = mint.keys();
    let [rsa, p256, p384, ed25519] = &keys[..] else { panic!("four keys") };
    let with_id = |key: &Value, id: &str| with(key.clone(), "kid", id);
    let without_id = |key: &Value| without(key.clone(), "kid");
    let (named_token, unnamed_token) = (r#"{"alg":"ES256","kid":"a"}"#, r#"{"alg":"ES256"}"#);
    let table = [
        ("one key", named_token, vec![with_id(p256, "a")], Ok(())),
        ("key of another type with the kid", named_token, vec![with_id(rsa, "a"), with_id(p256, "a")], Ok(())),
        ("only another type", named_token, vec![with_id(rsa, "a"), with_id(p384, "a")], Err(TokenError::UnfitKey)),
        ("other kid", named_token, vec![with_id(p256, "b")], Err(TokenError::UnknownKey)),
        ("kid in capitals", named_token, vec![with_id(p256, "A")], Err(TokenError::UnknownKey)),
        ("key without kid", named_token, vec![without_id(p256)], Err(TokenError::UnknownKey)),
        ("no keys", named_token, vec![], Err(TokenError::UnknownKey)),
        (
            "kid twice",
            named_token,
            vec![with_id(p256, "a"), with_id(&other.keys()[1], "a")],
            Err(TokenError::AmbiguousKey),
        ),
        (
            "no kid, one fits",
            unnamed_token,
            vec![with_id(rsa, "a"), with_id(p256, "b"), without_id(ed25519)],
            Ok(()),
        ),
        (
            "no kid, two fit",
            unnamed_token,
            vec![with_id(p256, "a"), without_id(&other.keys()[1])],
            Err(TokenError::AmbiguousKey),
        ),
        ("no kid, none fits", unnamed_token, vec![with_id(p384, "a")], Err(TokenError::UnfitKey)),
    ];
    for (name, header, keys, wanted) in table {
        let token = mint.sign("ES256", header, &bearer_claims().to_string());
        let result = SignedToken::parse(&token).unwrap().verify(&parse(&keys));
        assert_eq!(result.map(|_| ()), wanted, "{name}");
    }
    let named_algorithm = with(rsa.clone(), "alg", "RS256");
    let token = mint.token("PS256", &bearer_claims());
    let result = SignedToken::parse(&token).unwrap().verify(&parse(&[named_algorithm]));
    assert_eq!(result.map(|_| ()), Err(TokenError::UnfitKey));
}

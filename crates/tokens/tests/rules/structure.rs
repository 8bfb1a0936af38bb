//! Structure, algorithms and signatures: tokens that are refused before a claim is read.

use candor_tokens::flaw::TokenError::{
    self, Algorithm, Encrypted, Extension, Kind, Malformed, RepeatedMember, Signature, TooLarge, UnfitKey,
    UnknownKey,
};
use candor_tokens::token::MAX_TOKEN_BYTES;
use serde_json::{Value, json};

use super::mint::{Mint, encode};
use super::samples::{bearer_claims, judge, with};

type Hostile = (&'static str, String, TokenError);

/// Replaces the signature of a token.
fn replace_signature(token: &str, signature: &[u8]) -> String {
    let (message, _) = token.rsplit_once('.').unwrap();
    format!("{message}.{}", encode(signature))
}

/// Returns a token with these members in its header and a valid signature.
fn with_header(mint: &Mint, members: &Value) -> String {
    let mut header = json!({"alg": "EdDSA", "kid": "ed"});
    header.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    mint.sign("EdDSA", &header.to_string(), &bearer_claims().to_string())
}

fn hostile_structures(mint: &Mint) -> Vec<Hostile> {
    let good = mint.token("EdDSA", &bearer_claims());
    let [header, claims, signature] = good.split('.').collect::<Vec<_>>()[..] else { panic!("three parts") };
    let raw = |claims: &str| mint.sign("EdDSA", r#"{"alg":"EdDSA","kid":"ed"}"#, claims);
    let text = bearer_claims().to_string();
    let repeated_subject = format!("{},\"sub\":\"1\"}}", text.trim_end_matches('}'));
    let repeated_inside = format!("{},\"a\":[{{\"b\":{{\"c\":1,\"c\":1}}}}]}}", text.trim_end_matches('}'));
    let deep = format!("{},\"a\":{}{}}}", text.trim_end_matches('}'), "[".repeat(500), "]".repeat(500));
    let huge = with(bearer_claims(), "pad", "a".repeat(MAX_TOKEN_BYTES));
    let repeated_header = r#"{"alg":"EdDSA","kid":"ed","\u0061lg":"none"}"#;
    vec![
        ("empty", String::new(), Malformed),
        ("opaque", "SlAV32hkKG".to_owned(), Malformed),
        ("two parts", format!("{header}.{claims}"), Malformed),
        ("four parts", format!("{good}.{signature}"), Malformed),
        ("five parts", format!("{good}.{signature}.{signature}"), Encrypted),
        ("six parts", format!("{good}.a.b.c"), Malformed),
        ("huge", mint.token("EdDSA", &huge), TooLarge),
        ("padded base64", format!("{header}.{claims}.{signature}=="), Malformed),
        ("standard base64", format!("{header}.{claims}.++//"), Malformed),
        ("base64 with a blank", format!("{header}.{claims}. {signature}"), Malformed),
        ("base64 with bits behind the end", format!("{header}.{claims}.AB"), Malformed),
        ("claims that are no JSON", raw("exp=1"), Malformed),
        ("claims that are a list", raw("[]"), Malformed),
        ("claims with a text behind", raw("{} {}"), Malformed),
        ("claims that are not UTF-8", format!("{header}.{}.{signature}", encode(b"{\"a\":\"\xff\"}")), Malformed),
        ("deep claims", raw(&deep), Malformed),
        ("repeated claim", raw(&repeated_subject), RepeatedMember),
        ("repeated member inside", raw(&repeated_inside), RepeatedMember),
        ("repeated header", mint.sign("EdDSA", repeated_header, &text), RepeatedMember),
    ]
}

fn hostile_headers(mint: &Mint) -> Vec<Hostile> {
    let header = |members: Value| with_header(mint, &members);
    vec![
        ("header with enc", header(json!({"enc": "A256GCM"})), Encrypted),
        ("header with zip", header(json!({"zip": "DEF"})), Encrypted),
        ("header with crit", header(json!({"crit": ["exp"], "exp": 1})), Extension),
        ("header with an empty crit", header(json!({"crit": []})), Extension),
        ("header with b64", header(json!({"b64": true})), Extension),
        ("typ of a DPoP proof", header(json!({"typ": "dpop+jwt"})), Kind),
        ("typ of a security event", header(json!({"typ": "secevent+jwt"})), Kind),
        ("typ of a logout token", header(json!({"typ": "logout+jwt"})), Kind),
        ("typ that is a number", header(json!({"typ": 1})), Malformed),
        ("kid that is a number", header(json!({"kid": 1})), Malformed),
        ("no alg", mint.sign("EdDSA", r#"{"kid":"ed"}"#, "{}"), Malformed),
        ("alg that is a list", header(json!({"alg": ["EdDSA"]})), Malformed),
        ("alg in other letters", header(json!({"alg": "eddsa"})), Algorithm),
        ("alg with a weak curve", header(json!({"alg": "ES256K"})), Algorithm),
        ("alg without a key of ours", header(json!({"alg": "ES512"})), Algorithm),
        ("foreign kid", header(json!({"kid": "other"})), UnknownKey),
        ("kid of a path", header(json!({"kid": "../../dev/null"})), UnknownKey),
        ("kid of another type", header(json!({"kid": "rsa"})), UnfitKey),
        ("kid of another curve", mint.sign("ES384", r#"{"alg":"ES384","kid":"p256"}"#, "{}"), UnfitKey),
    ]
}

fn hostile_signatures(mint: &Mint) -> Vec<Hostile> {
    let claims = bearer_claims().to_string();
    let token = |algorithm| mint.token(algorithm, &bearer_claims());
    let attacker = Mint::new();
    let (modulus, exponent) = mint.rsa_numbers();
    let hmac =
        |key: &[u8], kid: &str| Mint::hmac_token(key, &json!({"alg": "HS256", "kid": kid}).to_string(), &claims);
    let none = |alg: &str| {
        format!("{}.{}.", encode(json!({"alg": alg}).to_string().as_bytes()), encode(claims.as_bytes()))
    };
    let own_key = &attacker.keys()[1];
    let with_own_key = |members: Value| {
        let mut header = json!({"alg": "ES256", "kid": "p256"});
        header.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        attacker.sign("ES256", &header.to_string(), &claims)
    };
    let other_claims = with(bearer_claims(), "sub", "1").to_string();
    let swapped_claims = {
        let good = token("EdDSA");
        let parts: Vec<&str> = good.split('.').collect();
        format!("{}.{}.{}", parts[0], encode(other_claims.as_bytes()), parts[2])
    };
    vec![
        ("alg none", none("none"), Algorithm),
        ("alg None", none("None"), Algorithm),
        ("HMAC with the modulus", hmac(&modulus, "rsa"), Algorithm),
        ("HMAC with the encoded modulus", hmac(encode(&modulus).as_bytes(), "rsa"), Algorithm),
        ("HMAC with the exponent", hmac(&exponent, "rsa"), Algorithm),
        ("HMAC as RS256", Mint::hmac_token(&modulus, r#"{"alg":"RS256","kid":"rsa"}"#, &claims), Signature),
        ("no signature", replace_signature(&token("RS256"), b""), Signature),
        ("zero signature of ES256", replace_signature(&token("ES256"), &[0; 64]), Signature),
        ("zero signature of ES384", replace_signature(&token("ES384"), &[0; 96]), Signature),
        ("zero signature of EdDSA", replace_signature(&token("EdDSA"), &[0; 64]), Signature),
        ("zero signature of RS256", replace_signature(&token("RS256"), &[0; 256]), Signature),
        ("signature of ES256 in DER", replace_signature(&token("ES256"), &[0x30, 6, 2, 1, 1, 2, 1, 1]), Signature),
        ("signature with a byte more", replace_signature(&token("EdDSA"), &[1; 65]), Signature),
        ("claims of another token", swapped_claims, Signature),
        ("RS256 as PS256", mint.sign("RS256", r#"{"alg":"PS256","kid":"rsa"}"#, &claims), Signature),
        ("RS256 as RS512", mint.sign("RS256", r#"{"alg":"RS512","kid":"rsa"}"#, &claims), Signature),
        ("key of the attacker", with_own_key(json!({})), Signature),
        ("key of the attacker as jwk", with_own_key(json!({"jwk": own_key})), Signature),
        ("key of the attacker as jku", with_own_key(json!({"jku": "https://attacker.example/keys"})), Signature),
        ("key of the attacker as x5u", with_own_key(json!({"x5u": "https://attacker.example/cert"})), Signature),
        ("key of the attacker as x5c", with_own_key(json!({"x5c": ["MIIB"]})), Signature),
        ("key of the attacker with its kid", with_own_key(json!({"jwk": own_key, "kid": "attacker"})), UnknownKey),
    ]
}

#[test]
fn hostile_token_is_refused_with_its_cause() {
    let mint = Mint::new();
    let tables = [hostile_structures(&mint), hostile_headers(&mint), hostile_signatures(&mint)];
    for (name, token, flaw) in tables.into_iter().flatten() {
        assert_eq!(judge(&mint, &token).map(|_| ()), Err(flaw), "{name}");
    }
}

#[test]
fn token_of_each_algorithm_is_accepted() {
    let mint = Mint::new();
    for algorithm in ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"] {
        assert!(judge(&mint, &mint.token(algorithm, &bearer_claims())).is_ok(), "{algorithm}");
    }
}

#[test]
fn harmless_headers_are_accepted() {
    let mint = Mint::new();
    for members in [
        json!({}),
        json!({"typ": "at+jwt"}),
        json!({"typ": "AT+JWT"}),
        json!({"typ": "application/at+jwt"}),
        json!({"typ": "jwt"}),
        json!({"x5t": "GvnPApfWMdLRi8PDmisFn7bprKg"}),
        // Some providers name the address of their keys. The address is not used, so it does no harm.
        json!({"jku": "https://id.example.com/keys"}),
    ] {
        assert!(judge(&mint, &with_header(&mint, &members)).is_ok(), "{members}");
    }
}

#[test]
fn every_part_of_a_token_is_signed() {
    let mint = Mint::new();
    let token = mint.token("EdDSA", &bearer_claims());
    assert!(judge(&mint, &token).is_ok());
    for (at, letter) in token.char_indices().filter(|(_, letter)| *letter != '.') {
        let other = if letter == 'A' { "B" } else { "A" };
        let changed_token = format!("{}{other}{}", &token[..at], &token[at + 1..]);
        assert!(judge(&mint, &changed_token).is_err(), "letter {at}");
    }
}

//! Tests with the published vectors, and at the limits of the verification.

use super::*;

// These constants are the vectors of `docs/webhooks.md`, computed by another implementation.
const OLD: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const NEW: &str = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
const BODY: &str = r#"{"message":"çok iyi"}"#;
const SECONDS: i64 = 1_772_352_930;
const OLD_HEX: &str = "29c5e857e54b2cd2994d03eeb3885433d5253a7da770addb08633d60b9c9570f";
const NEW_HEX: &str = "47b6a49decf2e75fbccafe8c43601fc1ba142909236016830d681197f6be5015";
const EMPTY_BODY_HEX: &str = "5e9c6cf176411f81b5ebb1478c7fa7289ee729a2cd87a77e657b3cff3969820a";
const EVENT: &str = "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const OLD_STANDARD: &str = "lM3MTKTx3tUPkQKN3nwlS8TIravwA51zxCQTB4k6RVQ=";
const NEW_STANDARD: &str = "HCpnb+QZUIw8AadGVpnkAVLh42jUjppBEv2YArnhWCM=";

fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned())
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn bytes_from(first: u8) -> [u8; 32] {
    std::array::from_fn(|index| first + u8::try_from(index).unwrap())
}

#[test]
fn secret_is_prefix_and_base64_of_its_bytes() {
    assert_eq!(generate(bytes_from(0)), secret(OLD));
    assert_eq!(generate(bytes_from(32)), secret(NEW));
}

#[test]
fn published_vectors_are_reproduced() {
    let both = [secret(OLD), secret(NEW)];
    let body = BODY.as_bytes();
    assert_eq!(sign(&both[..1], at(SECONDS), body), format!("t={SECONDS},v1={OLD_HEX}"));
    assert_eq!(
        sign(&both, at(SECONDS), body),
        format!("t={SECONDS},v1={OLD_HEX},v1={NEW_HEX}"),
        "oldest secret first"
    );
    assert_eq!(sign(&both[..1], at(SECONDS), b""), format!("t={SECONDS},v1={EMPTY_BODY_HEX}"));
    assert_eq!(sign_standard(&both[..1], EVENT, at(SECONDS), body), format!("v1,{OLD_STANDARD}"));
    assert_eq!(sign_standard(&both, EVENT, at(SECONDS), body), format!("v1,{OLD_STANDARD} v1,{NEW_STANDARD}"));
}

#[test]
fn signature_time_is_in_whole_seconds() {
    assert_eq!(unix_seconds(Timestamp::from_millis(SECONDS * 1000 + 999)), SECONDS);
    assert_eq!(unix_seconds(Timestamp::from_millis(-1)), -1);
}

#[test]
fn delivery_signed_by_two_secrets_verifies_with_either() {
    let header = sign(&[secret(OLD), secret(NEW)], at(SECONDS), BODY.as_bytes());
    for known in [OLD, NEW] {
        assert_eq!(verify(known, &header, BODY.as_bytes(), at(SECONDS)), Ok(()));
    }
    let other = generate([9; 32]);
    assert_eq!(verify(other.reveal(), &header, BODY.as_bytes(), at(SECONDS)), Err(SignatureError::Forged));
}

#[test]
fn empty_secret_is_rejected_despite_a_matching_signature() {
    for empty in ["", PREFIX] {
        let header = sign(&[secret(empty)], at(SECONDS), BODY.as_bytes());
        assert_eq!(
            verify(empty, &header, BODY.as_bytes(), at(SECONDS)),
            Err(SignatureError::NoSecret),
            "{empty:?}"
        );
        assert_eq!(verify(empty, "", b"", at(SECONDS)), Err(SignatureError::NoSecret), "{empty:?}");
    }
}

#[test]
fn signature_is_valid_within_five_minutes_of_its_time() {
    let header = format!("t={SECONDS},v1={OLD_HEX}");
    let table = [
        (-300_001, Err(SignatureError::TooNew)),
        (-300_000, Ok(())),
        (0, Ok(())),
        (300_000, Ok(())),
        (300_001, Err(SignatureError::TooOld)),
    ];
    for (millis, wanted) in table {
        let now = Timestamp::from_millis(SECONDS * 1000 + millis);
        assert_eq!(verify(OLD, &header, BODY.as_bytes(), now), wanted, "{millis} ms");
    }
    for (time, wanted) in [(i64::MAX, SignatureError::TooNew), (i64::MIN, SignatureError::TooOld)] {
        let header = format!("t={time},v1={OLD_HEX}");
        assert_eq!(verify(OLD, &header, BODY.as_bytes(), at(SECONDS)), Err(wanted), "{time}");
    }
}

#[test]
fn one_changed_bit_makes_the_signature_invalid() {
    let header = format!("t={SECONDS},v1={OLD_HEX}");
    for bit in 0..BODY.len() * 8 {
        let mut body = BODY.as_bytes().to_vec();
        body[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(verify(OLD, &header, &body, at(SECONDS)), Err(SignatureError::Forged), "bit {bit}");
    }
    for place in 0..64 {
        let mut hex = OLD_HEX.as_bytes().to_vec();
        hex[place] = if hex[place] == b'0' { b'1' } else { b'0' };
        let header = format!("t={SECONDS},v1={}", String::from_utf8(hex).unwrap());
        assert_eq!(
            verify(OLD, &header, BODY.as_bytes(), at(SECONDS)),
            Err(SignatureError::Forged),
            "place {place}"
        );
    }
    let header = format!("t={},v1={OLD_HEX}", SECONDS + 1);
    assert_eq!(verify(OLD, &header, BODY.as_bytes(), at(SECONDS)), Err(SignatureError::Forged));
}

#[test]
fn header_needs_one_time_and_a_v1_value() {
    let good = [
        format!("t={SECONDS},v1={OLD_HEX}"),
        format!("v1={OLD_HEX},t={SECONDS}"),
        format!("t={SECONDS}, v1={OLD_HEX}"),
        format!("t={SECONDS},v0=x,v1={OLD_HEX},v2=y"),
        format!("t={SECONDS},v1={}", OLD_HEX.to_uppercase()),
        format!("t={SECONDS},v1={},v1={OLD_HEX}", "0".repeat(64)),
    ];
    for header in good {
        assert_eq!(verify(OLD, &header, BODY.as_bytes(), at(SECONDS)), Ok(()), "{header}");
    }
    let bad = [
        String::new(),
        format!("t={SECONDS}"),
        format!("v1={OLD_HEX}"),
        format!("t={SECONDS},t={SECONDS},v1={OLD_HEX}"),
        format!("t=+{SECONDS},v1={OLD_HEX}"),
        format!("t=0{SECONDS},v1={OLD_HEX}"),
        format!("t={SECONDS}.0,v1={OLD_HEX}"),
        format!("t=,v1={OLD_HEX}"),
        format!("t={SECONDS},v1="),
        format!("t={SECONDS},v1={}", &OLD_HEX[1..]),
        format!("t={SECONDS},v1={OLD_HEX}0"),
        format!("t={SECONDS},v1={}", OLD_HEX.replace('c', "g")),
        format!("t={SECONDS},v1={OLD_HEX},"),
        format!("t={SECONDS};v1={OLD_HEX}"),
        format!("t={SECONDS}{}", ",v1=00".repeat(9)),
        format!("t={SECONDS}{}", format!(",v1={OLD_HEX}").repeat(MAX_VALUES + 1)),
        format!("t={SECONDS},v1={}", "é".repeat(32)),
    ];
    for header in bad {
        assert_eq!(verify(OLD, &header, BODY.as_bytes(), at(SECONDS)), Err(SignatureError::Malformed), "{header}");
    }
}

#[test]
fn secret_that_is_not_base64_is_used_as_hmac_key() {
    let odd = sign_standard(&[secret("whsec_!")], EVENT, at(SECONDS), b"");
    let raw = tag(b"whsec_!", &[EVENT.as_bytes(), SECONDS.to_string().as_bytes(), b""]);
    assert_eq!(odd, format!("v1,{}", STANDARD.encode(raw.as_ref())));
}

//! Verifies a delivery as a receiver does: `cargo run --package candor-domain --example verify_webhook`.
//!
//! Checks the raw bytes of the body against the header and the secret before parsing them (§6.3).

#![expect(clippy::print_stdout, reason = "people read what an example prints")]

use candor_domain::secret::Secret;
use candor_domain::signature::{sign, verify};
use candor_domain::time::{TimeError, Timestamp};

fn main() -> Result<(), TimeError> {
    let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let body = br#"{"type":"observation.created"}"#;
    let sent_at: Timestamp = "2026-03-01T08:15:30Z".parse()?;

    // The sender signs with every valid secret; during a rotation there are several.
    let header = sign(&[Secret::new(secret.to_owned())], sent_at, body);
    println!("X-Service-Signature: {header}");

    // The receiver checks four requests. Only the first one is genuine and recent.
    let received_at: Timestamp = "2026-03-01T08:20:31Z".parse()?;
    for (what, header, body, now) in [
        ("as it was sent", header.as_str(), body.as_slice(), sent_at),
        ("another body", header.as_str(), b"{}".as_slice(), sent_at),
        ("five minutes later", header.as_str(), body.as_slice(), received_at),
        ("no signature", "t=1,v2=00", body.as_slice(), sent_at),
    ] {
        match verify(secret, header, body, now) {
            Ok(()) => println!("{what}: accepted"),
            Err(why) => println!("{what}: refused, {why}"),
        }
    }
    Ok(())
}

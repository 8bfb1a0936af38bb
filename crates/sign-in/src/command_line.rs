//! Sign-ins of the command line: a program on the person's machine gets the session instead of the browser (decision B10).
//!
//! The browser cannot exchange the code of such a sign-in: instead of its cookie, the exchange needs the verifier, which the
//! program keeps. So neither the redirect with the code nor another program that listens on the port gives access.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_domain::access::api_key::VERIFIER_CHARS;
use candor_domain::fields::Fields;
use candor_domain::json::Value;
use candor_domain::problem::ValueError;
use candor_domain::rule::{self, Checked, Field, Nested, Rule, Shape, Whole};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use url::Url;

/// Smallest port that a program may name. Lower ones belong to services of the machine.
const MIN_PORT: i64 = 1_024;
/// Largest port.
const MAX_PORT: i64 = 65_535;

const PORT: Field<Whole> =
    Field::with_about("port", rule::whole(MIN_PORT..=MAX_PORT), "Port of 127.0.0.1 on which the program waits.");
const CHALLENGE: Field<Checked<String>> = Field::with_about(
    "challenge",
    BASE64URL,
    "SHA-256 of the program's verifier, as base64url without padding. The code is exchanged with the verifier only.",
);
const STATE: Field<Checked<String>> =
    Field::with_about("state", BASE64URL, "Random text that the program finds in the redirect again.");
const BASE64URL: Checked<String> =
    rule::rule(parse_base64url, || Shape::Text { min: VERIFIER_CHARS, max: VERIFIER_CHARS });
/// The member of a sign-in by which a program asks for the session.
pub const COMMAND_LINE: Field<Nested<CommandLine>> = Field::with_about(
    "command_line",
    rule::nested(CommandLine::read),
    "The program on this machine that gets the session instead of the browser.",
);
/// A program on the person's machine that waits for a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "fields of the contract, decision B10")]
pub struct CommandLine {
    pub port: u16,
    pub challenge: String,
    pub state: String,
}

impl CommandLine {
    /// Reads the members of the object.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let (port, challenge, state) =
            (fields.required(&PORT), fields.required(&CHALLENGE), fields.required(&STATE));
        Some(Self { port: u16::try_from(port?).ok()?, challenge: challenge?, state: state? })
    }

    /// Returns the name of the program that may exchange the code, as [`name_program`] does.
    #[must_use]
    pub fn program(&self) -> String {
        name_by_challenge(&self.challenge)
    }

    /// Returns the address of the program, with the code or the reason of a refusal as the parameter `name`.
    #[must_use]
    pub fn redirect(&self, name: &str, value: &str) -> String {
        let address = format!("http://127.0.0.1:{}/", self.port);
        let parameters = [(name, value), ("state", self.state.as_str())];
        Url::parse_with_params(&address, parameters).map_or(address, String::from)
    }
}

/// Returns the name of the program with this verifier. The name takes the place of a browser's id, so only this
/// program can exchange the code.
#[must_use]
pub fn name_program(verifier: &str) -> String {
    name_by_challenge(&challenge_of(verifier))
}

/// Returns the name of a program from its challenge. The prefix separates names of programs from ids of browsers.
fn name_by_challenge(challenge: &str) -> String {
    format!("command-line {challenge}")
}

/// Returns the challenge of a verifier (RFC 7636, S256).
fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

fn parse_base64url(value: &Value) -> Result<String, ValueError> {
    let text = rule::text(VERIFIER_CHARS..=VERIFIER_CHARS).parse(value)?;
    let is_base64url = URL_SAFE_NO_PAD.decode(&text).is_ok();
    if is_base64url { Ok(text) } else { Err(ValueError::format("base64url of 32 bytes, without padding")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7636, appendix B.
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    const STATE: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

    fn read(text: &str) -> Option<CommandLine> {
        let mut fields = Fields::new(serde_json::from_str(text).unwrap());
        let member = fields.optional(&COMMAND_LINE)?;
        let command_line = fields.nested("command_line", member);
        fields.finish(command_line).ok()
    }

    fn body(port: &str, challenge: &str, state: &str) -> String {
        format!(r#"{{"command_line": {{"port": {port}, "challenge": "{challenge}", "state": "{state}"}}}}"#)
    }

    #[test]
    fn challenge_is_that_of_the_standard() {
        assert_eq!(challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"), CHALLENGE);
        let command_line = read(&body("49152", CHALLENGE, STATE)).unwrap();
        assert_eq!(command_line.program(), name_program("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"));
        assert_ne!(command_line.program(), name_program(CHALLENGE));
    }

    #[test]
    fn redirect_leads_to_this_machine_only() {
        let command_line = read(&body("49152", CHALLENGE, STATE)).unwrap();
        assert_eq!(
            command_line.redirect("code", "cdr_link_a&b"),
            format!("http://127.0.0.1:49152/?code=cdr_link_a%26b&state={STATE}")
        );
        assert_eq!(
            command_line.redirect("error", "denied"),
            format!("http://127.0.0.1:49152/?error=denied&state={STATE}")
        );
    }

    #[test]
    fn ports_of_services_and_other_texts_are_refused() {
        for (port, challenge, state) in [
            ("80", CHALLENGE, STATE),
            ("65536", CHALLENGE, STATE),
            (r#""49152@evil.example""#, CHALLENGE, STATE),
            ("49152", &CHALLENGE[..42], STATE),
            ("49152", CHALLENGE, "dBjftJeZ4CVP/mB92K27uhbUJU1p1r+wW1gFWFOEjXk"),
        ] {
            assert_eq!(read(&body(port, challenge, state)), None, "{port} {challenge} {state}");
        }
    }
}

//! What comes in from elsewhere: its licences, its sources, and what is banned, as `deny.toml` says.
//!
//! `cargo deny` checks it where that is installed. Elsewhere the same settings are read here, so that the step is never
//! passed over; advisories, which change without a change of ours, are for `cargo deny check advisories` alone.

use crate::process::{Outcome, cargo, output, root, run as run_program, succeeds};
use serde_json::Value;
use spdx::expression::Expression;
use spdx::lexer::ParseMode;
use std::fs;

const SETTINGS: &str = "deny.toml";
/// Where packages may come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(crate) fn run() -> Outcome {
    if succeeds(&mut cargo(&["deny", "--version"])) {
        return run_program(&mut cargo(&["deny", "--workspace", "check", "bans", "licenses", "sources"]));
    }
    let settings = Settings::of(&fs::read_to_string(root().join(SETTINGS))?)?;
    let metadata = output(&mut cargo(&["metadata", "--format-version", "1", "--locked", "--all-features"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata has an unknown form")?;
    let findings: Vec<String> = packages.iter().flat_map(|it| settings.judge(it)).collect();
    findings.iter().for_each(|finding| println!("{finding}"));
    if !findings.is_empty() {
        return Err(format!("{} packages against {SETTINGS}", findings.len()).into());
    }
    println!("{} packages are as {SETTINGS} wants them (checked without cargo-deny)", packages.len());
    Ok(())
}

/// What `deny.toml` says.
struct Settings {
    licences: Vec<String>,
    banned: Vec<String>,
}

impl Settings {
    fn of(text: &str) -> Outcome<Self> {
        let table: toml::Table = text.parse()?;
        let list = |section: &str, key: &str| table.get(section)?.get(key)?.as_array().cloned();
        let allowed = list("licenses", "allow").ok_or("deny.toml has no [licenses] allow")?;
        let licences = allowed.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect();
        let denied = list("bans", "deny").ok_or("deny.toml has no [bans] deny")?;
        let banned = denied.iter().filter_map(|it| it.get("crate")?.as_str().map(str::to_owned)).collect();
        Ok(Self { licences, banned })
    }

    /// What is wrong with a package as cargo describes it.
    fn judge(&self, package: &Value) -> Vec<String> {
        let text = |key: &str| package[key].as_str();
        let name = text("name").unwrap_or_default();
        let mut findings = Vec::new();
        if self.banned.iter().any(|it| it == name) {
            findings.push(format!("{name}: is banned"));
        }
        // What has no source is of this workspace.
        let Some(source) = text("source") else { return findings };
        if source != REGISTRY {
            findings.push(format!("{name}: comes from {source}"));
        }
        if !text("license").is_some_and(|it| self.allows(it)) {
            let licence = text("license").unwrap_or("none");
            findings.push(format!("{name}: its licence, {licence}, is not among those that are allowed"));
        }
        findings
    }

    /// Whether it may be used under licences that are all allowed; older manifests write `MIT/Apache-2.0`.
    fn allows(&self, expression: &str) -> bool {
        let allowed = |it: &spdx::LicenseReq| self.licences.contains(&it.to_string());
        Expression::parse_mode(expression, ParseMode::LAX).is_ok_and(|it| it.evaluate(allowed))
    }
}

#[cfg(test)]
mod tests {
    use super::{REGISTRY, Settings};
    use serde_json::json;

    fn settings() -> Settings {
        let text =
            "[licenses]\nallow = [\"MIT\", \"Apache-2.0\"]\n[bans]\ndeny = [{ crate = \"a\", reason = \"b\" }]\n";
        Settings::of(text).unwrap()
    }

    #[test]
    fn a_licence_is_allowed_when_every_part_that_must_hold_is() {
        for (licence, right) in [
            ("MIT", true),
            ("MIT OR GPL-3.0-only", true),
            ("MIT AND GPL-3.0-only", false),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0-only", false),
            ("Apache-2.0 WITH LLVM-exception", false),
            ("no licence", false),
        ] {
            assert_eq!(settings().allows(licence), right, "{licence}");
        }
    }

    #[test]
    fn what_is_banned_unlicensed_or_from_elsewhere_is_found() {
        let judged = |name: &str, source: Option<&str>, licence: Option<&str>| {
            settings().judge(&json!({"name": name, "source": source, "license": licence})).len()
        };
        assert_eq!(judged("b", Some(REGISTRY), Some("MIT")), 0);
        assert_eq!(judged("ours", None, None), 0);
        assert_eq!(judged("a", Some(REGISTRY), Some("MIT")), 1);
        assert_eq!(judged("b", Some("git+https://example.com/b"), Some("MIT")), 1);
        assert_eq!(judged("b", Some(REGISTRY), None), 1);
    }
}

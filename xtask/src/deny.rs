//! Licences, sources and bans of dependencies, by the rules of `deny.toml`.
//!
//! An installed `cargo deny` does the check. Otherwise this module reads the same rules, so that the step is never
//! skipped. Advisories, which change without a change of the project, are for `cargo deny check advisories`.

use crate::process::{Outcome, cargo, output, root, run as run_program, succeeds};
use serde_json::Value;
use spdx::expression::Expression;
use spdx::lexer::ParseMode;
use std::fs;

const SETTINGS: &str = "deny.toml";
/// Allowed source of packages.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(crate) fn run() -> Outcome {
    if succeeds(&mut cargo(&["deny", "--version"])) {
        return run_program(&mut cargo(&["deny", "--workspace", "check", "bans", "licenses", "sources"]));
    }
    let settings = Settings::parse(&fs::read_to_string(root().join(SETTINGS))?)?;
    let metadata = output(&mut cargo(&["metadata", "--format-version", "1", "--locked", "--all-features"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata has an unknown form")?;
    let findings: Vec<String> = packages.iter().flat_map(|package| settings.findings(package)).collect();
    findings.iter().for_each(|finding| println!("{finding}"));
    if !findings.is_empty() {
        return Err(format!("{} packages break {SETTINGS}", findings.len()).into());
    }
    println!("{} packages follow {SETTINGS} (checked without cargo-deny)", packages.len());
    Ok(())
}

/// Licences and banned crates of `deny.toml`.
struct Settings {
    licences: Vec<String>,
    banned: Vec<String>,
}

impl Settings {
    fn parse(text: &str) -> Outcome<Self> {
        let table: toml::Table = text.parse()?;
        let list = |section: &str, key: &str| table.get(section)?.get(key)?.as_array().cloned();
        let allowed_licences = list("licenses", "allow").ok_or("deny.toml has no [licenses] allow")?;
        let licences = allowed_licences.iter().filter_map(|licence| licence.as_str().map(str::to_owned)).collect();
        let bans = list("bans", "deny").ok_or("deny.toml has no [bans] deny")?;
        let banned_crates = bans.iter().filter_map(|ban| ban.get("crate")?.as_str().map(str::to_owned)).collect();
        Ok(Self { licences, banned: banned_crates })
    }

    /// Returns findings for a package, as cargo describes it.
    fn findings(&self, package: &Value) -> Vec<String> {
        let text = |key: &str| package[key].as_str();
        let name = text("name").unwrap_or_default();
        let mut findings = Vec::new();
        if self.banned.iter().any(|banned| banned == name) {
            findings.push(format!("{name}: {SETTINGS} bans this crate"));
        }
        // Packages of this workspace have no source.
        let Some(source) = text("source") else { return findings };
        if source != REGISTRY {
            findings.push(format!("{name}: comes from {source} instead of crates.io"));
        }
        if !text("license").is_some_and(|licence| self.allows(licence)) {
            let licence = text("license").unwrap_or("none");
            findings.push(format!("{name}: {SETTINGS} does not allow the licence {licence}"));
        }
        findings
    }

    /// Returns `true` if allowed licences suffice for the expression. Older manifests write `MIT/Apache-2.0`.
    fn allows(&self, expression: &str) -> bool {
        let is_allowed = |required: &spdx::LicenseReq| self.licences.contains(&required.to_string());
        Expression::parse_mode(expression, ParseMode::LAX).is_ok_and(|parsed| parsed.evaluate(is_allowed))
    }
}

#[cfg(test)]
mod tests {
    use super::{REGISTRY, Settings};
    use serde_json::json;

    fn settings() -> Settings {
        let text =
            "[licenses]\nallow = [\"MIT\", \"Apache-2.0\"]\n[bans]\ndeny = [{ crate = \"a\", reason = \"b\" }]\n";
        Settings::parse(text).unwrap()
    }

    #[test]
    fn licence_is_allowed_if_every_required_part_is() {
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
    fn banned_unlicensed_or_foreign_package_is_found() {
        let count = |name: &str, source: Option<&str>, licence: Option<&str>| {
            settings().findings(&json!({"name": name, "source": source, "license": licence})).len()
        };
        assert_eq!(count("b", Some(REGISTRY), Some("MIT")), 0);
        assert_eq!(count("ours", None, None), 0);
        assert_eq!(count("a", Some(REGISTRY), Some("MIT")), 1);
        assert_eq!(count("b", Some("git+https://example.com/b"), Some("MIT")), 1);
        assert_eq!(count("b", Some(REGISTRY), None), 1);
    }
}

//! `candor doctor`: checks an installation and names remedies. It changes no more than a start of the service.

mod data;
mod erasures;
mod finding;
mod limits;
mod listener;
mod mail;
mod sign_ins;
mod twins;
mod upgrades;

use std::path::Path;

use serde_json::json;

use crate::wiring::{self, OpenFile};
use candor_cli::error::{CommandError, CommandFailure};
use candor_cli::output::{Output, count_noun, table};
use candor_settings::{Config, Setting, SettingError};
use finding::{Finding, State};

/// Result of `candor doctor` when at least one check is broken, with the names of the broken checks.
#[derive(Debug, thiserror::Error)]
#[error("problems found: {0}; the output above names the remedies")]
struct ProblemsFoundError(String);

impl CommandFailure for ProblemsFoundError {}

/// Runs all checks.
///
/// # Errors
/// [`ProblemsFoundError`] if a check is broken; [`CommandError::Io`] if the output cannot be written.
pub(crate) async fn run(config: &Config, ledger: Option<&Path>, output: Output) -> Result<(), CommandError> {
    let mut findings = vec![Finding::good("settings", "all settings are valid; `candor config` shows them")];
    findings.extend(open_files(config));
    data::look(config, &mut findings).await;
    findings.extend(erasures::look_for_restore(config));
    if let Some(ledger) = ledger {
        findings.push(erasures::look(config, ledger).await);
    }
    findings.extend(mail::look(config).await);
    findings.extend(limits::look(config).await);
    findings.push(listener::look(config.listen, Setting::Listen).await);
    if let Some(address) = config.admin_listen {
        findings.push(listener::look(address, Setting::AdminListen).await);
    }
    report(&findings, output)
}

/// Returns a warning for every file with secrets that other users can read.
fn open_files(config: &Config) -> impl Iterator<Item = Finding> {
    let warning = |file: OpenFile| {
        Finding::warn("secrets", format!("other users can read {}", file.path.display()), file.remedy)
    };
    wiring::open_files(config).into_iter().map(warning)
}

/// Reports invalid settings, without which no other check can run.
///
/// # Errors
/// Those of [`run`].
pub(crate) fn without_settings(problems: &[SettingError], output: Output) -> Result<(), CommandError> {
    let mut findings: Vec<Finding> =
        problems.iter().map(|problem| Finding::from_error("settings", problem)).collect();
    findings.push(Finding::skip("everything else", "the settings must be correct first"));
    report(&findings, output)
}

fn report(findings: &[Finding], output: Output) -> Result<(), CommandError> {
    let count = |state| findings.iter().filter(|finding| finding.state == state).count();
    let (broken, warnings) = (count(State::Broken), count(State::Warning));
    let rows: Vec<Vec<String>> = findings.iter().flat_map(Finding::lines).collect();
    let sum = match (broken, warnings) {
        (0, 0) => "No problems found.".to_owned(),
        _ => format!("{}, {}.", count_noun(broken, "problem"), count_noun(warnings, "warning")),
    };
    let object = json!({
        "broken": broken, "warnings": warnings,
        "checks": findings.iter().map(Finding::object).collect::<Vec<_>>(),
    });
    output.say(&object, &format!("{}\n\n{sum}", table(&rows)))?;
    let mut names: Vec<&str> =
        findings.iter().filter(|finding| finding.state == State::Broken).map(|finding| finding.check).collect();
    names.dedup();
    if names.is_empty() { Ok(()) } else { Err(ProblemsFoundError(names.join(", ")).into()) }
}

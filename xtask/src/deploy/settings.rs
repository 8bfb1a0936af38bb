//! Every variable that is named is one that the program knows.

use super::documents::words;
use super::{Machine, Outcome, Tried, judged};
use crate::process::output;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// Those that are no settings: the file of settings, and the key of a client.
const OTHERS: [&str; 2] = ["CANDOR_CONFIG", "CANDOR_API_KEY"];

pub(super) fn check(machine: &Machine) -> Outcome<Tried> {
    let known = known(machine)?;
    let named = machine.documents.all().flat_map(|(path, text)| unknown(path, text, &known)).collect();
    judged(named, format!("every variable is one of the {} settings", known.len() - OTHERS.len()))
}

/// The variables of the settings, as the program says them.
fn known(machine: &Machine) -> Outcome<BTreeSet<String>> {
    let mut command = Command::new(&machine.binary);
    let settings: Value = serde_json::from_str(&output(command.env_clear().args(["config", "--json"]))?)?;
    let settings = settings.as_object().ok_or("candor config --json has an unknown form")?;
    let variables = settings.values().filter_map(|it| it["variable"].as_str());
    Ok(variables.chain(OTHERS).map(str::to_owned).collect())
}

fn unknown(path: &str, text: &str, known: &BTreeSet<String>) -> Vec<String> {
    // `CANDOR_WEBHOOKS_*` means several of them.
    let named = words(text, "CANDOR_").map(|(word, _)| word).filter(|word| !word.ends_with('_'));
    let lost: BTreeSet<&str> = named.filter(|word| !known.contains(*word)).collect();
    lost.into_iter().map(|word| format!("{path}: {word} is no setting, see `candor config`")).collect()
}

#[cfg(test)]
mod tests {
    use super::unknown;

    #[test]
    fn a_variable_that_the_program_does_not_know_is_found() {
        let known = ["CANDOR_LISTEN".to_owned()].into();
        let found = unknown("a.yaml", "CANDOR_LISTEN: a\nCANDOR_LISTN: b\n# CANDOR_WEBHOOKS_*\n", &known);
        assert_eq!(found, ["a.yaml: CANDOR_LISTN is no setting, see `candor config`"]);
    }
}

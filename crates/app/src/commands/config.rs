//! `candor config`: the effective settings and their sources.

use std::io::Write;

use serde_json::{Map, Value, json};

use candor_cli::error::CommandError;
use candor_cli::output::{Output, table};
use candor_settings::{ConfigurationError, LoadedConfig};

/// Prints the configuration with secrets masked, even if it has problems. The problems are the error of the command.
///
/// # Errors
/// [`ConfigurationError`] with all problems; [`CommandError::Io`] if the output cannot be written.
pub(crate) fn run(loaded: LoadedConfig, output: Output) -> Result<(), CommandError> {
    let LoadedConfig { config, problems, warnings } = loaded;
    let object: Map<String, Value> = config
        .shown
        .iter()
        .map(|item| {
            let entry =
                json!({"value": item.value, "origin": item.origin.to_string(), "variable": item.setting.variable()});
            (item.setting.name().to_owned(), entry)
        })
        .collect();
    let rows: Vec<Vec<String>> = config
        .shown
        .iter()
        .map(|item| {
            let value = item.value.clone().unwrap_or_else(|| "(not set)".to_owned());
            vec![item.setting.variable(), value, item.origin.to_string()]
        })
        .collect();
    output.say(&Value::Object(object), &table(&rows))?;
    if !problems.is_empty() {
        return Err(ConfigurationError { problems, warnings, shown: true }.into());
    }
    for warning in warnings {
        let _ = writeln!(std::io::stderr(), "candor: warning: {warning}");
    }
    Ok(())
}

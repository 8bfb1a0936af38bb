use std::collections::BTreeMap;

use candor_client::{Candor, ChangesOptions, Error, ExportOptions};
use serde_json::Value;

/// Copies all resources of the organization, and returns the position from which their changes follow.
pub async fn copy(candor: &Candor, rows: &mut BTreeMap<String, Value>) -> Result<Option<String>, Error> {
    let (mut lines, mut position) = (candor.export(ExportOptions::new()), None);
    // As text: the copy then has all members, also those that this version of the library does not describe.
    while let Some(line) = lines.next_text().await? {
        let mut line: Value = serde_json::from_slice(&line).map_err(Error::Unreadable)?;
        if line["type"] == "header" {
            position = line["events_cursor"].as_str().map(str::to_owned);
        } else if let Some(id) = line["data"]["id"].as_str().map(str::to_owned) {
            rows.insert(id, line["data"].take());
        }
    }
    Ok(position)
}

/// Waits for the next changes and applies them, removals of erased people included. Returns the position behind
/// them.
pub async fn follow(
    candor: &Candor,
    rows: &mut BTreeMap<String, Value>,
    position: Option<String>,
) -> Result<Option<String>, Error> {
    let batch = candor.changes(ChangesOptions::new().cursor(position)).next().await?;
    batch.apply_to(rows)?;
    Ok(batch.cursor)
}

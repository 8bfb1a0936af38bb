use std::collections::BTreeMap;

use candor_client::types::ExportLine;
use candor_client::{Candor, ChangesOptions, Error, ExportOptions};
use serde_json::Value;

/// Copies all resources of the organization, and returns the position from which their changes follow.
pub async fn copy(candor: &Candor, rows: &mut BTreeMap<String, Value>) -> Result<Option<String>, Error> {
    let (mut lines, mut position) = (candor.export(ExportOptions::new()), None);
    while let Some(line) = lines.next().await? {
        if let ExportLine::ExportHeader(header) = line {
            position = Some(header.events_cursor);
        } else if let ExportLine::ExportRow(row) = line {
            let id = row.data.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            rows.insert(id, row.data.into_iter().collect());
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

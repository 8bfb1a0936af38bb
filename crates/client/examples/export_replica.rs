use std::collections::BTreeMap;

use candor_client::types::ExportLine;
use candor_client::{Candor, Error, ExportOptions, FollowOptions};
use serde_json::Value;

/// Copies all resources of the organization, and returns the position from which their changes follow.
pub async fn copy(candor: &Candor, rows: &mut BTreeMap<String, Value>) -> Result<Option<String>, Error> {
    let (mut lines, mut position) = (candor.export(ExportOptions::new()), None);
    while let Some(line) = lines.next().await? {
        if let ExportLine::ExportHeader(header) = line {
            position = Some(header.events_cursor);
        } else if let ExportLine::ExportRow(row) = line {
            store(rows, row.data.into_iter().collect());
        }
    }
    Ok(position)
}

/// Applies the next events to the copy.
pub async fn follow(
    candor: &Candor,
    rows: &mut BTreeMap<String, Value>,
    position: Option<String>,
    count: usize,
) -> Result<(), Error> {
    let mut feed = candor.events().follow(FollowOptions::new().cursor(position));
    for _ in 0..count {
        let event = serde_json::to_value(feed.next().await?).unwrap_or_default();
        if event["event"] == "retention.removed" {
            let removed = event["data"]["ids"].as_array().into_iter().flatten();
            removed.filter_map(Value::as_str).for_each(|id| drop(rows.remove(id)));
        } else if event["data"]["erased"] != true {
            store(rows, event["data"].clone());
        }
    }
    Ok(())
}

fn store(rows: &mut BTreeMap<String, Value>, resource: Value) {
    if let Some(id) = resource["id"].as_str() {
        rows.insert(id.to_owned(), resource);
    }
}

//! Rows of the statistics of a delivery log, which both stores read in the same form.

use candor_domain::attempt_failure::FailureReason;
use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use candor_subscriptions::{AttemptCount, LogFigures, Status};

use crate::error::CorruptRowError;
use crate::flat::CellReader;

/// Adds a row to the figures. A row counts the attempts with one duration, or those of one hour with one status
/// and failure. Its columns are: `true` for a count by duration; the duration in milliseconds, or the hour; the
/// status; the failure; the number of attempts. Status and failure are null in a count by duration.
///
/// # Errors
/// [`CorruptRowError`] naming the column.
pub fn add_figure(row: &mut dyn CellReader, figures: &mut LogFigures) -> Result<(), CorruptRowError> {
    let corrupt = |column| move |reason| CorruptRowError { table: "deliveries", column, reason };
    let is_duration = row.flag().map_err(corrupt("status"))? == Some(true);
    let key = row.int().map_err(corrupt("attempted_at"))?.unwrap_or_default();
    let status = row.text().map_err(corrupt("status"))?;
    let failure = row.text().map_err(corrupt("failure"))?;
    let count = row.int().map_err(corrupt("id"))?.unwrap_or_default().unsigned_abs();
    if is_duration {
        let duration = u32::try_from(key).map_err(|error| corrupt("response_duration_ms")(error.to_string()))?;
        figures.durations.push((duration, count));
        return Ok(());
    }
    let unknown = |_| corrupt("failure")("unknown word".to_owned());
    let failure = failure.map(|word| FailureReason::from_word(&word).map_err(unknown)).transpose()?;
    let is_success = status.as_deref() == Some(Status::Success.word());
    figures.counts.push(AttemptCount { hour: key, is_success, failure, count });
    Ok(())
}

/// Returns the condition that leaves out attempts and queued deliveries of events of these types: SQL behind other
/// conditions, empty if there are no types.
#[must_use]
pub fn without_types(hidden: &[EventType]) -> String {
    if hidden.is_empty() {
        return String::new();
    }
    let words: Vec<_> = hidden.iter().map(|kind| format!("'{}'", kind.word())).collect();
    format!(" AND event_type NOT IN ({})", words.join(", "))
}

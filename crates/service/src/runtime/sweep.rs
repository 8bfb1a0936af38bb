//! Removes expired rows: replays, events, notifications and delivery attempts.

use std::time::Duration;

use candor_domain::event::FEED_DAYS;
use candor_domain::notification::READ_DAYS;
use candor_domain::time::Timestamp;
use candor_port_storage::store::Expiry;
use candor_subscriptions::LOG_DAYS;

use crate::context::error::Error;
use crate::context::services::Services;

/// Number of rows removed in one commit: few, so that other writers do not wait long.
const BATCH: u32 = 500;
/// Number of seconds of a day.
const DAY_SECONDS: i64 = 86_400;
/// Cutoff that removes nothing.
const NEVER: Timestamp = Timestamp::from_millis(0);

/// Removes expired rows by the store's time, unless the clocks are untrustworthy. Returns the number of rows
/// removed.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; the next call removes the rest.
pub async fn run_once(services: &Services) -> Result<u64, Error> {
    let mut removed_count = 0;
    loop {
        let judgment = services.clocks.judge(services).await?;
        if !judgment.is_believed {
            return Ok(removed_count + prune_log(services).await?);
        }
        let batch =
            services.store.sweep(expiry(judgment.now, services.settings.notification_retention), BATCH).await?;
        removed_count += batch;
        if batch < u64::from(BATCH) {
            return Ok(removed_count + prune_log(services).await?);
        }
    }
}

/// Returns the cutoff of each kind of row at `now`.
fn expiry(now: Timestamp, notifications: Duration) -> Expiry {
    let oldest_kept = now.plus_seconds(-i64::try_from(notifications.as_secs()).unwrap_or(i64::MAX));
    Expiry {
        replays: now,
        events: now.plus_seconds(-FEED_DAYS * DAY_SECONDS),
        read_notifications: now.plus_seconds(-READ_DAYS * DAY_SECONDS).max(oldest_kept),
        notifications: oldest_kept,
    }
}

/// Prepares the delivery log for the next days, and removes attempts older than its retention (§6.4) unless the
/// clocks are untrustworthy. Returns the number of attempts removed row by row.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; the next call continues with the rest.
pub async fn prune_log(services: &Services) -> Result<u64, Error> {
    let mut removed_count = 0;
    loop {
        let judgment = services.clocks.judge(services).await?;
        let oldest_kept =
            if judgment.is_believed { judgment.now.plus_seconds(-LOG_DAYS * DAY_SECONDS) } else { NEVER };
        let batch = services.store.keep_log(judgment.now, oldest_kept, BATCH).await?;
        removed_count += batch;
        if batch < u64::from(BATCH) {
            return Ok(removed_count);
        }
    }
}

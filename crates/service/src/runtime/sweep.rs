//! Work that is due without anybody asking: expired answers, old events, notifications and attempts go.

use std::time::Duration;

use candor_domain::event::FEED_DAYS;
use candor_domain::notification::READ_DAYS;
use candor_domain::time::Timestamp;
use candor_domain::webhook::LOG_DAYS;
use candor_port_storage::store::Expiry;

use crate::context::error::Error;
use crate::context::services::Services;

/// Rows removed at once; small, so that no writer waits for long.
const BATCH: u32 = 500;
const DAY_SECONDS: i64 = 86_400;
/// Nothing is older.
const NEVER: Timestamp = Timestamp::from_millis(0);

/// Removes what has expired by the store's time; says how many rows went. None go while the clocks are not believed.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; what is left goes the next time.
pub async fn run_once(services: &Services) -> Result<u64, Error> {
    let mut removed = 0;
    loop {
        let judged = services.clocks.judge(services).await?;
        if !judged.is_believed {
            return Ok(removed + prune_log(services).await?);
        }
        let batch = services.store.sweep(expiry(judged.now, services.settings.notification_retention), BATCH).await?;
        removed += batch;
        if batch < u64::from(BATCH) {
            return Ok(removed + prune_log(services).await?);
        }
    }
}

/// What has expired at a time.
fn expiry(now: Timestamp, notifications: Duration) -> Expiry {
    let kept = now.plus_seconds(-i64::try_from(notifications.as_secs()).unwrap_or(i64::MAX));
    Expiry {
        answers: now,
        events: now.plus_seconds(-FEED_DAYS * DAY_SECONDS),
        read_notifications: now.plus_seconds(-READ_DAYS * DAY_SECONDS).max(kept),
        notifications: kept,
    }
}

/// Makes room in the log of deliveries for the days to come, and removes what is older than it goes back (§6.4), unless
/// the clocks are not believed; says how many attempts went one by one.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; what is left is done the next time.
pub async fn prune_log(services: &Services) -> Result<u64, Error> {
    let mut removed = 0;
    loop {
        let judged = services.clocks.judge(services).await?;
        let before = if judged.is_believed { judged.now.plus_seconds(-LOG_DAYS * DAY_SECONDS) } else { NEVER };
        let batch = services.store.keep_log(judged.now, before, BATCH).await?;
        removed += batch;
        if batch < u64::from(BATCH) {
            return Ok(removed);
        }
    }
}

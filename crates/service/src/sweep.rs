//! Work that is due without anybody asking: expired answers, old events and old attempts go.

use candor_domain::event::FEED_DAYS;
use candor_domain::webhook::LOG_DAYS;

use crate::{Error, Shell};

/// Rows removed at once; small, so that no writer waits for long.
const BATCH: u32 = 500;
const DAY_SECONDS: i64 = 86_400;

/// Removes what has expired; says how many rows went.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; what is left goes the next time.
pub async fn run_once(shell: &Shell) -> Result<u64, Error> {
    let mut removed = 0;
    loop {
        let now = shell.clock.now();
        let batch = shell.store.sweep(now, now.plus_seconds(-FEED_DAYS * DAY_SECONDS), BATCH).await?;
        removed += batch;
        if batch < u64::from(BATCH) {
            return Ok(removed + keep_log(shell).await?);
        }
    }
}

/// Makes room in the log of deliveries for the days to come, and removes what is older than it goes back (§6.4); says
/// how many attempts went one by one.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; what is left is done the next time.
pub async fn keep_log(shell: &Shell) -> Result<u64, Error> {
    let mut removed = 0;
    loop {
        let now = shell.clock.now();
        let batch = shell.store.keep_log(now, now.plus_seconds(-LOG_DAYS * DAY_SECONDS), BATCH).await?;
        removed += batch;
        if batch < u64::from(BATCH) {
            return Ok(removed);
        }
    }
}

//! Work that is due without anybody asking: expired answers and old events go.

use candor_domain::event::FEED_DAYS;

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
            return Ok(removed);
        }
    }
}

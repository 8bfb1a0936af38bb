//! Outcome of the last commit, for the readiness check. If the store lacks room, the small row of a readiness probe may
//! still be written while commits fail.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use candor_port_storage::{CommitError, StorageError};

/// Time for which the instance is not ready after a commit failed for want of room. Then it takes requests again,
/// because only the commit of a request shows that there is room.
const COUNTS: Duration = Duration::from_secs(10);

/// Steady time and cause of the newest commit that failed for want of room (disk space or memory). `None` once a
/// later commit succeeded.
#[derive(Default)]
pub struct CommitHealth(Mutex<Option<(Duration, String)>>);

impl CommitHealth {
    /// Records that a commit succeeded, or failed for want of room at `now` of the steady clock. Ignores other failures.
    pub(crate) fn record<T>(&self, outcome: &Result<T, CommitError>, now: Duration) {
        let failure = match outcome {
            Ok(_) => None,
            Err(CommitError::Storage(StorageError::NoRoom(cause))) => Some((now, cause.clone())),
            // Other failures tell nothing about the room.
            Err(_) => return,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    /// Returns the cause if the last commit failed for want of room less than 10 seconds ago.
    pub fn lacks_room(&self, now: Duration) -> Option<String> {
        let last_failure = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, cause) = last_failure.as_ref()?;
        (now.saturating_sub(*at) < COUNTS).then(|| cause.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_commit_counts_until_a_success_or_ten_seconds() {
        let (health, at) = (CommitHealth::default(), Duration::from_secs);
        let no_room = || Err::<(), _>(CommitError::Storage(StorageError::NoRoom("the disk is full".to_owned())));
        assert_eq!(health.lacks_room(at(1)), None);
        health.record(&no_room(), at(1));
        health.record(&Err::<(), _>(CommitError::Stale), at(2));
        assert_eq!(health.lacks_room(at(10)).as_deref(), Some("the disk is full"));
        assert_eq!(health.lacks_room(at(11)), None);
        health.record(&no_room(), at(12));
        health.record(&Ok(()), at(13));
        assert_eq!(health.lacks_room(at(13)), None);
    }
}

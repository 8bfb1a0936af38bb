//! Bounds the concurrent large reads of an API key.
//!
//! The rows of a page stay in memory from the query until the answer is rendered. Without a bound, a client that
//! requests hundreds of pages at once holds all of their rows before the first answer is counted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candor_domain::id::KeyId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum concurrent reads of one key: more than most machines have cores. The rows of these reads take less
/// memory than `ByteLimits::per_key` allows for the unsent answers of the key.
const MOST_AT_ONCE: usize = 16;

/// Semaphores of the keys with reads in progress.
#[derive(Debug, Default)]
pub(crate) struct ReadTurns(Mutex<HashMap<KeyId, Turns>>);

#[derive(Debug)]
struct Turns {
    semaphore: Arc<Semaphore>,
    /// Number of reads that hold or await a turn.
    users: usize,
}

impl ReadTurns {
    /// Waits for a free turn of the key. Dropping the turn releases it.
    pub(crate) async fn take(self: &Arc<Self>, key: KeyId) -> ReadTurn {
        let semaphore = {
            let mut all = self.all();
            let turns = all
                .entry(key)
                .or_insert_with(|| Turns { semaphore: Arc::new(Semaphore::new(MOST_AT_ONCE)), users: 0 });
            turns.users += 1;
            Arc::clone(&turns.semaphore)
        };
        // Created before the wait: if the client leaves during the wait, dropping the turn uncounts it.
        let mut turn = ReadTurn { turns: Arc::clone(self), key, permit: None };
        turn.permit = semaphore.acquire_owned().await.ok();
        turn
    }

    fn all(&self) -> MutexGuard<'_, HashMap<KeyId, Turns>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Permission for one read.
#[derive(Debug)]
pub(crate) struct ReadTurn {
    turns: Arc<ReadTurns>,
    key: KeyId,
    permit: Option<OwnedSemaphorePermit>,
}

impl Drop for ReadTurn {
    fn drop(&mut self) {
        self.permit = None;
        let mut all = self.turns.all();
        if let Some(turns) = all.get_mut(&self.key) {
            turns.users -= 1;
            if turns.users == 0 {
                all.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn key_without_a_free_turn_waits_while_other_keys_proceed() {
        let turns = Arc::new(ReadTurns::default());
        let [key, other] = [1, 2].map(|number: u128| KeyId::from_bytes(number.to_be_bytes()));
        let mut turns_of_key = Vec::new();
        for _ in 0..MOST_AT_ONCE {
            turns_of_key.push(turns.take(key).await);
        }
        let mut waiting = Box::pin(turns.take(key));
        assert!(waiting.as_mut().now_or_never().is_none());
        let abandoned_turn = Box::pin(turns.take(key)).now_or_never();
        assert!(abandoned_turn.is_none() && turns.take(other).now_or_never().is_some());
        turns_of_key.pop();
        drop(waiting.await);
        drop(turns_of_key);
        assert!(turns.all().is_empty(), "idle keys are forgotten");
    }
}

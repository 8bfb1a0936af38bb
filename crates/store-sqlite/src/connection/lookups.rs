//! Connections for lookups that run on the calling thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::connection::readers::stopped_error;
use crate::sql::Db;
use candor_port_storage::error::Read;

/// Pool of idle connections. Empty for a database in memory, where a lookup may have to wait for the writer.
pub(crate) struct LookUps {
    idle: Mutex<Vec<Db>>,
}

impl LookUps {
    pub(crate) const fn new(idle: Vec<Db>) -> Self {
        Self { idle: Mutex::new(idle) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Db>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a lookup on the calling thread, or returns it if no connection is idle.
    pub(crate) fn now<T, R>(&self, read: R) -> Result<Read<T>, R>
    where
        R: FnOnce(&mut Db) -> Read<T>,
    {
        let idle = self.lock().pop();
        let Some(mut db) = idle else { return Err(read) };
        let read_result = catch_unwind(AssertUnwindSafe(|| read(&mut db)));
        self.lock().push(db);
        Ok(read_result.unwrap_or_else(|_| Err(stopped_error())))
    }

    /// Closes all idle connections; later lookups go to the readers.
    pub(crate) fn close(&self) {
        self.lock().clear();
    }
}

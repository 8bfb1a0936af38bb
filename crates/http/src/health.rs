//! Whether the process lives, and whether it is ready for work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use bytes::Bytes;
use candor_service::Shell;

use crate::answer::{Answer, JSON};
use crate::fault::Fault;

const STARTING: u8 = 0;
const READY: u8 = 1;
const DRAINING: u8 = 2;

/// What the process says of itself; shared with whoever starts and stops it.
#[derive(Debug, Clone, Default)]
pub struct Readiness(Arc<AtomicU8>);

impl Readiness {
    /// Starts as not ready.
    #[must_use]
    pub fn starting() -> Self {
        Self::default()
    }

    /// The schema is there and work may come.
    pub fn set_ready(&self) {
        self.0.store(READY, Ordering::SeqCst);
    }

    /// No new work, please: the process is about to stop.
    pub fn set_draining(&self) {
        self.0.store(DRAINING, Ordering::SeqCst);
    }

    /// Ready, and the database answers.
    pub(crate) async fn check(&self, shell: &Shell) -> Result<(), Fault> {
        match self.0.load(Ordering::SeqCst) {
            READY => {
                let answered = shell.store.ping().await;
                answered.map_err(|it| Fault::unavailable("The database does not answer.", Some(it.to_string())))
            }
            STARTING => Err(Fault::unavailable("The service is starting.", None)),
            _ => Err(Fault::unavailable("The service is stopping.", None)),
        }
    }
}

/// What a process says that is well.
pub(crate) fn status(word: &str) -> Answer {
    Answer::with_body(JSON, Bytes::from(format!(r#"{{"status":"{word}"}}"#)))
}

//! The statements that a store sends, read from its trace log.

use std::fmt;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Texts of the statements since they were last taken, in order. The values are parameters and not in the texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct SentStatements(Arc<Mutex<Vec<String>>>);

impl SentStatements {
    /// Returns the statements that were sent since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Reader of the text of a statement in an event.
struct StatementText(Option<String>);

impl Visit for StatementText {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "statement" {
            self.0 = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

impl Subscriber for SentStatements {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "candor_store_postgres::connection::session"
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = StatementText(None);
        event.record(&mut text);
        self.0.lock().unwrap().extend(text.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

//! Hand-over of the deliveries that a commit queues to the engine of this process.
//!
//! The engine lives in `runtime` and registers itself here, so that this layer depends on none above it.

use std::sync::{Arc, PoisonError, RwLock, Weak};

use candor_domain::access::Tenant;
use candor_port_storage::{ChangeSet, Committed};

/// A delivery engine that takes work straight from the commits of its process.
pub(crate) trait LocalEngine: Send + Sync {
    /// Leases to the engine what the change set queues, where the engine has room. Returns `None` if the change set
    /// concerns neither deliveries nor subscriptions.
    fn prepare(self: Arc<Self>, tenant: Tenant, change: &mut ChangeSet) -> Option<Box<dyn HandOver>>;
}

/// The work of one commit for the engine.
pub(crate) trait HandOver: Send {
    /// Gives the engine what the commit queued; `None` if the commit failed or its result is unknown.
    fn complete(self: Box<Self>, committed: Option<&Committed>);
}

/// The engine of this process, if there is one.
#[derive(Default)]
pub(crate) struct Deliveries(RwLock<Option<Weak<dyn LocalEngine>>>);

impl Deliveries {
    /// Makes `engine` the one that commits hand their deliveries to, for as long as it exists.
    pub(crate) fn register(&self, engine: Weak<dyn LocalEngine>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(engine);
    }

    /// Prepares a change set for its commit; see [`LocalEngine::prepare`].
    pub(crate) fn prepare(&self, tenant: Tenant, change: &mut ChangeSet) -> Option<Box<dyn HandOver>> {
        let engine = self.0.read().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(Weak::upgrade)?;
        engine.prepare(tenant, change)
    }
}

//! Handover of the deliveries that a commit queues to the delivery engine of this process.
//!
//! The engine is in `runtime` and registers itself here, so that this layer depends on none above it.

use std::sync::{Arc, PoisonError, RwLock, Weak};

use candor_domain::access::Tenant;
use candor_port_storage::{ChangeSet, Committed};

/// A delivery engine that takes over deliveries directly from commits of its process.
pub(crate) trait LocalEngine: Send + Sync {
    /// Leases the deliveries of the change set to the engine if the deliveries are few and the engine has room for
    /// all of them. Returns `None` if the change set affects neither deliveries nor subscriptions.
    fn prepare(self: Arc<Self>, tenant: Tenant, change: &mut ChangeSet) -> Option<Box<dyn HandOver>>;
}

/// Handover of one commit to the engine.
pub(crate) trait HandOver: Send {
    /// Passes the queued deliveries to the engine. `committed` is `None` if the commit failed or its result is
    /// unknown.
    fn complete(self: Box<Self>, committed: Option<&Committed>);
}

/// The registered engine of this process, if there is one.
#[derive(Default)]
pub(crate) struct Deliveries(RwLock<Option<Weak<dyn LocalEngine>>>);

impl Deliveries {
    /// Registers `engine` as the receiver of deliveries for as long as it exists.
    pub(crate) fn register(&self, engine: Weak<dyn LocalEngine>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(engine);
    }

    /// Prepares the handover of a change set; see [`LocalEngine::prepare`].
    pub(crate) fn prepare(&self, tenant: Tenant, change: &mut ChangeSet) -> Option<Box<dyn HandOver>> {
        let engine = self.0.read().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(Weak::upgrade)?;
        engine.prepare(tenant, change)
    }
}

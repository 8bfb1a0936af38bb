//! The organization's settings (decision C10).

use candor_domain::json::Object;
use candor_domain::organization::{Organization, Patch};
use candor_domain::time::Timestamp;
use candor_port_storage::Versioned;

use crate::context::call::Call;
use crate::context::change::Planned;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::shell::Shell;

/// The organization of the caller.
///
/// # Errors
/// Those of the store.
pub(crate) async fn stored(shell: &Shell, call: &Call) -> Result<Versioned<Organization>, Error> {
    shell.stored(call, call.caller.tenant.organization).await
}

/// `GET /organization`
///
/// # Errors
/// See [`Error`].
pub async fn get(shell: &Shell, call: &Call) -> Result<Reply, Error> {
    expand::plain(shell, call, &stored(shell, call).await?).await
}

/// `PATCH /organization`
///
/// # Errors
/// Invalid fields, not an admin; see [`Error`].
pub async fn update(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let stored = stored(shell, call).await?;
        let patch = call.admit(stored.version, || Patch::parse(body.clone(), &stored.value))?;
        let decision = stored.value.update(&patch, at);
        Ok((stored, decision.map(Planned::of)))
    };
    shell.update(call, decide).await
}

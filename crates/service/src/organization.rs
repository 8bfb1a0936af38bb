//! The organization's settings (decision C10).

use candor_domain::json::Object;
use candor_domain::organization::{Organization, Patch};
use candor_domain::time::Timestamp;
use candor_port_storage::{Row, StorageExt, Write};

use crate::reply::Reply;
use crate::shell::{ChangePlan, or_not_found, render};
use crate::{Call, Error, Shell};

/// `GET /organization`
///
/// # Errors
/// See [`Error`].
pub async fn get(shell: &Shell, call: &Call) -> Result<Reply, Error> {
    let stored =
        or_not_found(shell.store.row::<Organization>(call.caller.tenant, call.caller.tenant.organization).await?)?;
    Ok(Reply::done(render(&stored.value)?, Some(stored.version)))
}

/// `PATCH /organization`
///
/// # Errors
/// Invalid fields, not an admin; see [`Error`].
pub async fn update(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let stored =
            or_not_found(shell.store.row::<Organization>(call.caller.tenant, call.caller.tenant.organization).await?)?;
        call.check(stored.version)?;
        let patch = Patch::parse(body.clone(), &stored.value)?;
        call.caller.require_admin()?;
        let Some(decision) = stored.value.update(&patch, at) else {
            return Ok(ChangePlan::Unchanged(Reply::done(render(&stored.value)?, Some(stored.version))));
        };
        let (change, body, version) = shell
            .plan(call, decision, Some(stored.version), at, |it| vec![Write::put(&Row::seen(it, stored.version))])?;
        Ok(ChangePlan::Commit(change, Reply::done(body, Some(version))))
    };
    shell.change(call, plan).await
}

//! Records the result of an upload at its connector (decisions G).

use candor_domain::access::AdminContext;
use candor_domain::id::ConnectorId;
use candor_domain::time::Timestamp;
use candor_people_csv::{CsvFileError, Report};
use candor_port_storage::{ChangeSet, Row, StorageExt, Write};
use candor_provisioning::Connector;
use candor_provisioning::connector::Sync;

use super::Upload;
use crate::change::Attempt;
use crate::context::error::Error;
use crate::context::notices::build_notifications;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::render;

/// Returns the change set that records the result `sync` of an upload at its connector. `None` if the connector does
/// not exist.
async fn record_sync(
    context: &RequestContext,
    id: ConnectorId,
    sync: Sync,
    at: Timestamp,
) -> Result<Option<ChangeSet>, Error> {
    let Some(connector_row) = context.services.store.row::<Connector>(context.caller.tenant, id).await? else {
        return Ok(None);
    };
    let decision = connector_row.value.record_sync(sync, at);
    Ok(Some(ChangeSet {
        writes: vec![Write::put(&Row::at_version(decision.state.clone(), connector_row.version))],
        notices: build_notifications(&context.services, context.caller.tenant, &decision.notices, at).await?,
        events: context.services.events(&decision.events, &render(&decision.state)?, at),
        ..ChangeSet::new(context.audit(context.services.id(at), decision.audit, at))
    }))
}

impl Upload<'_> {
    /// Creates the change set that records a report at the connector of the upload. Returns `None` if the upload has
    /// no connector, or if the connector does not exist any more.
    pub(super) async fn connector_change_set(
        &self,
        report: &Report,
        at: Timestamp,
    ) -> Result<Option<ChangeSet>, Error> {
        let Some(connector) = &self.asked.connector else { return Ok(None) };
        record_sync(self.context, connector.id, report.sync(at), at).await
    }

    /// Stores the reply to an upload that changes no person, and the result at its connector if there is one. Returns
    /// `None` if another change was committed first.
    pub(super) async fn changes_nothing(
        &self,
        report: &Report,
        reply: Reply,
        at: Timestamp,
    ) -> Result<Option<Reply>, Error> {
        let Some(mut change) = self.connector_change_set(report, at).await? else {
            return self.context.services.store_replay(self.context, reply, at).await.map(Some);
        };
        change.replay = self.context.services.seal_replay(self.context, &reply, at)?;
        self.context.save_piece(change).await?.reply(reply)
    }
}

/// Records at the connector that a file could not be read. Only logs its own errors, because the request fails
/// anyway.
pub(super) async fn record_refused(context: &RequestContext, connector: Option<&str>, why: &CsvFileError) {
    let may_act = context.caller.require_admin(AdminContext::Settings).is_ok() && context.authorize().is_ok();
    let Some(id) = connector.and_then(|text| text.parse().ok()).filter(|_| may_act) else { return };
    if let Err(error) = try_to_note(context, id, why).await {
        tracing::warn!(
            connector = %id, %error,
            "cannot record at the connector that its file was rejected; the connector still shows the previous sync, \
             and the client gets the reason"
        );
    }
}

async fn try_to_note(context: &RequestContext, id: ConnectorId, why: &CsvFileError) -> Result<(), Error> {
    let plan = async |at: Timestamp| {
        Ok(match record_sync(context, id, why.sync(at), at).await? {
            Some(change) => Attempt::Commit(context.caller.tenant, Box::new(change), ()),
            None => Attempt::Done(()),
        })
    };
    context.services.retry(plan).await
}

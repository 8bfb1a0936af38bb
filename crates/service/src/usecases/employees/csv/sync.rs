//! Records the result of an upload at its connector (decisions G).

use candor_domain::access::AdminContext;
use candor_domain::audit::AuditEntry;
use candor_domain::csv::{Report, UnreadableFile};
use candor_domain::event::Event;
use candor_domain::id::ConnectorId;
use candor_domain::notification::Notification;
use candor_domain::people::Connector;
use candor_domain::people::connector::Sync;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, CommitError, Row, StorageExt, Version, Write};

use super::Upload;
use crate::context::error::Error;
use crate::context::notices::addressed;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{Services, render};

/// Maximum attempts if concurrent changes of the connector are committed first.
const ATTEMPTS: usize = 8;

/// Changes of the connector that are saved with an upload.
pub(super) struct Synced {
    connector: Connector,
    seen: Version,
    entry: AuditEntry,
    notices: Vec<Notification>,
    events: Vec<Event>,
}

impl Synced {
    /// Creates the changes for the result `sync`. Returns `None` if the connector does not exist.
    async fn load(
        services: &Services,
        context: &RequestContext,
        id: ConnectorId,
        sync: Sync,
        at: Timestamp,
    ) -> Result<Option<Self>, Error> {
        let Some(stored) = services.store.row::<Connector>(context.caller.tenant, id).await? else {
            return Ok(None);
        };
        let decision = stored.value.synced(sync, at);
        let notices = addressed(services, context.caller.tenant, &decision.notices, at).await?;
        let events = services.events(&decision.events, &render(&decision.state)?, at);
        let entry = context.audit(services.id(at), decision.audit, at);
        Ok(Some(Self { connector: decision.state, seen: stored.version, entry, notices, events }))
    }

    /// Adds these changes to a change set.
    pub(super) fn add_to(self, change: &mut ChangeSet) {
        change.more_audit.push(self.entry);
        change.writes.push(Write::put(&Row::expecting(self.connector, self.seen)));
        change.notices.extend(self.notices);
        change.events.extend(self.events);
    }

    fn alone(self) -> ChangeSet {
        let mut change = ChangeSet::new(self.entry);
        change.writes = vec![Write::put(&Row::expecting(self.connector, self.seen))];
        change.notices = self.notices;
        change.events = self.events;
        change
    }
}

impl Upload<'_> {
    /// Creates the connector's changes for a report. Returns `None` if the upload has no connector.
    pub(super) async fn synced(&self, report: &Report, at: Timestamp) -> Result<Option<Synced>, Error> {
        let Some(connector) = &self.asked.connector else { return Ok(None) };
        Synced::load(self.services, self.context, connector.id, report.sync(at), at).await
    }

    /// Saves the reply to a file that changes no person, and the result at the connector if there is one. Returns
    /// `None` if another change was committed first.
    pub(super) async fn changes_nothing(
        &self,
        report: &Report,
        reply: Reply,
        at: Timestamp,
    ) -> Result<Option<Reply>, Error> {
        let Some(synced) = self.synced(report, at).await? else {
            return self.services.store_reply(self.context, reply, at).await.map(Some);
        };
        let mut change = synced.alone();
        change.replay = self.services.replay_of(self.context, &reply, at)?;
        match self.services.commit(self.context.caller.tenant, change).await {
            Ok(()) => Ok(Some(reply)),
            Err(CommitError::Replayed) => {
                self.services.replay_or(self.context, Err(Error::Contended)).await.map(Some)
            }
            Err(CommitError::Storage(error)) => Err(error.into()),
            Err(CommitError::Stale | CommitError::Taken(_) | CommitError::Broken(_) | CommitError::Missing) => {
                Ok(None)
            }
        }
    }
}

/// Records at the connector that a file could not be read. Only logs its own errors, because the request fails
/// anyway.
pub(super) async fn record_refused(
    services: &Services,
    context: &RequestContext,
    connector: Option<&str>,
    why: &UnreadableFile,
) {
    let may_act = context.caller.require_admin(AdminContext::Settings).is_ok() && context.authorize().is_ok();
    let Some(id) = connector.and_then(|text| text.parse().ok()).filter(|_| may_act) else { return };
    if let Err(error) = try_to_note(services, context, id, why).await {
        tracing::warn!(connector = %id, %error, "could not note that a file for a connector was refused");
    }
}

async fn try_to_note(
    services: &Services,
    context: &RequestContext,
    id: ConnectorId,
    why: &UnreadableFile,
) -> Result<(), Error> {
    for _ in 0..ATTEMPTS {
        let at = services.clock.now();
        let Some(synced) = Synced::load(services, context, id, why.sync(at), at).await? else { return Ok(()) };
        match services.commit(context.caller.tenant, synced.alone()).await {
            Ok(()) => return Ok(()),
            Err(CommitError::Stale) => {}
            Err(CommitError::Storage(error)) => return Err(error.into()),
            Err(other) => return Err(Error::Bug(other.to_string())),
        }
    }
    Err(Error::Contended)
}

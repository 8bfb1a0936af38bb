//! The three operations of use cases that change one resource: create, update, act.
//!
//! Each takes one closure, which loads the rows of the decision and makes the decision. This module does the
//! rest for every resource: `If-Match`, admin context, rendering, events, audit, notifications, replays,
//! and retries after a concurrent change.

use std::future::Future;

use bytes::Bytes;
use candor_domain::access::Tenant;
use candor_domain::audit::{self, Side};
use candor_domain::decision::{Decision, Resource};
use candor_domain::event::Event;
use candor_domain::id::{EmployeeId, Id, Kind};
use candor_domain::people::Employee;
use candor_domain::refusal::DomainError;
use candor_domain::time::Timestamp;
use candor_domain::visibility::LinkedId;
use candor_port_storage::{ChangeSet, ReportingLineChange, Require, Row, StorageExt, Version, Versioned, Write};
use candor_tables::flat::Stored;
use futures_util::TryFutureExt;

use crate::change::ChangePlan;
use crate::context::error::Error;
use crate::context::notices;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{Services, or_not_found, render};
use crate::context::visible::{self, NarrowedResource};

/// Builder of a change: a decision about one resource and the rows saved with it.
#[must_use = "a pending change is saved only if the closure of `create`, `update` or `act` returns it"]
pub(crate) struct PendingChange<T> {
    decision: Decision<T>,
    requires: Vec<Require>,
    writes: Vec<Write>,
    events: Vec<Event>,
    reporting: Option<(Option<EmployeeId>, ReportingLineChange)>,
    body: Option<Bytes>,
    made_members: &'static [&'static str],
    made_ids: Vec<[u8; 16]>,
    others: Vec<ChangeSet>,
    fresh: Vec<LinkedId>,
}

impl<T> PendingChange<T> {
    /// Creates a change that saves only its resource.
    pub(crate) const fn new(decision: Decision<T>) -> Self {
        Self {
            decision,
            requires: vec![],
            writes: vec![],
            events: vec![],
            reporting: None,
            body: None,
            made_members: &[],
            made_ids: vec![],
            others: vec![],
            fresh: vec![],
        }
    }

    /// Adds conditions that must hold at commit time.
    pub(crate) fn with_requirements(mut self, requires: impl IntoIterator<Item = Require>) -> Self {
        self.requires.extend(requires);
        self
    }

    /// Adds rows that are written with the resource.
    pub(crate) fn with_writes(mut self, writes: impl IntoIterator<Item = Write>) -> Self {
        self.writes.extend(writes);
        self
    }

    /// Adds events of the rows that are written with the resource. They follow the events of the decision.
    pub(crate) fn with_events(mut self, events: impl IntoIterator<Item = Event>) -> Self {
        self.events.extend(events);
        self
    }

    /// Adds another new resource, whose events and audit entry are saved in the same commit. The notices of its
    /// decision are dropped.
    ///
    /// # Errors
    /// [`Error::Bug`] if the other resource cannot be rendered.
    pub(crate) fn with_resource<U: Resource + Stored>(
        mut self,
        context: &RequestContext,
        other: Decision<U>,
        at: Timestamp,
    ) -> Result<Self, Error> {
        let json = render(&other.state)?;
        let (mut change, state) = context.change_set(other, &json, at)?;
        change.writes.push(Write::put(&Row::new(state)));
        self.others.push(change);
        Ok(self)
    }

    /// Adds new ids within the resource that are not ids of rows.
    pub(crate) fn with_new_ids<K: Kind>(mut self, ids: impl IntoIterator<Item = Id<K>>) -> Self {
        self.made_ids.extend(ids.into_iter().map(Id::to_bytes));
        self
    }

    /// Adds ids of resources that this change creates. The response may show these ids to the caller.
    pub(crate) fn with_visible(mut self, ids: impl IntoIterator<Item = LinkedId>) -> Self {
        self.fresh.extend(ids);
        self
    }

    /// Replaces the response body, for instance to include a secret that is shown once. `made_members` are the
    /// members with the secret or a part of it, see [`Reply::made_members`].
    pub(crate) fn with_body(self, body: Bytes, made_members: &'static [&'static str]) -> Self {
        Self { body: Some(body), made_members, ..self }
    }
}

impl PendingChange<Employee> {
    /// Adds the change of the person's reporting line, if there is one.
    pub(crate) fn with_lines(mut self, lines: Option<ReportingLineChange>) -> Self {
        self.reporting = lines.map(|line| (self.decision.state.manager_id, line));
        self
    }
}

impl RequestContext {
    /// Creates a resource.
    ///
    /// # Errors
    /// Errors of the closure and of [`RequestContext::change`].
    pub(crate) async fn create<T, F>(&self, decide: impl Fn(Timestamp) -> F) -> Result<Reply, Error>
    where
        T: Resource + Stored,
        F: Future<Output = Result<PendingChange<T>, Error>>,
    {
        let plan = async |at: Timestamp| {
            let pending = decide(at).await?;
            let id = pending.decision.state.id().to_string();
            let (change, body) = self.build_change_set(pending, None, at).await?;
            Ok(ChangePlan::Commit(change, body.reply(|bytes| Reply::created(id, bytes, Some(Version::FIRST)))))
        };
        self.change(plan).await
    }

    /// Updates a resource, or leaves it unchanged if the closure returns no decision. The closure also returns
    /// the stored resource.
    ///
    /// # Errors
    /// Errors of the closure and of [`RequestContext::change`].
    pub(crate) async fn update<T, F>(&self, decide: impl Fn(Timestamp) -> F) -> Result<Reply, Error>
    where
        T: Resource + Stored,
        F: Future<Output = Result<(Versioned<T>, Option<PendingChange<T>>), Error>>,
    {
        let plan = async |at: Timestamp| {
            let (stored, pending) = decide(at).await?;
            let Some(pending) = pending else {
                return Ok(ChangePlan::Unchanged(visible::reply(self, &stored).await?));
            };
            let (change, body) = self.build_change_set(pending, Some(&stored), at).await?;
            Ok(ChangePlan::Commit(
                change,
                body.reply(|bytes| Reply::ok(bytes, Some(stored.shown_version().next()))),
            ))
        };
        self.change(plan).await
    }

    /// Runs an action that always changes the resource, such as archiving.
    ///
    /// # Errors
    /// Errors of the closure and of [`RequestContext::change`].
    pub(crate) async fn act<T, F>(&self, decide: impl Fn(Timestamp) -> F) -> Result<Reply, Error>
    where
        T: Resource + Stored,
        F: Future<Output = Result<(Versioned<T>, PendingChange<T>), Error>>,
    {
        self.update(|at| decide(at).map_ok(|(stored, planned)| (stored, Some(planned)))).await
    }

    /// Runs an action that depends only on the state of the resource, such as archiving.
    ///
    /// # Errors
    /// Not found, errors of [`RequestContext::validate_action`], of the decision and of [`RequestContext::change`].
    pub(crate) async fn act_on<T: Resource + Stored>(
        &self,
        id: Id<<T as Stored>::Kind>,
        decide: impl Fn(&T, Timestamp) -> Result<Decision<T>, DomainError>,
    ) -> Result<Reply, Error> {
        let decide = async |at: Timestamp| {
            let resource = self.find_stored::<T>(id).await?;
            self.validate_action(resource.shown_version())?;
            let decision = decide(&resource.value, at)?;
            Ok((resource, PendingChange::new(decision)))
        };
        self.act(decide).await
    }

    /// Loads a resource of the caller's tenant.
    ///
    /// # Errors
    /// Not found; errors of the store.
    pub(crate) async fn find_stored<T: Stored>(&self, id: Id<T::Kind>) -> Result<Versioned<T>, Error> {
        or_not_found(self.services.store.row(self.caller.tenant, id).await?)
    }

    /// Builds the change set of one decision and its response body.
    async fn build_change_set<T: Resource + Stored>(
        &self,
        pending: PendingChange<T>,
        before: Option<&Versioned<T>>,
        at: Timestamp,
    ) -> Result<(Box<ChangeSet>, ResponseBody), Error> {
        let PendingChange {
            decision,
            requires,
            writes,
            events,
            reporting,
            body,
            made_members,
            made_ids,
            others,
            fresh,
        } = pending;
        let notices =
            notices::build_notifications(&self.services, self.caller.tenant, &decision.notices, at).await?;
        let json = render(&decision.state)?;
        // Events carry all fields; the response only those that the caller may see.
        let visible_state = visible::narrow_resource(self, &decision.state, &fresh).await?;
        let (mut change, state) = self.change_set(decision, &json, at)?;
        if let Some(state_before) = before.filter(|_| self.dry_run) {
            // The caller sees the audit entry of a dry run, which must not show hidden fields. It is not stored.
            let visible_before = visible::as_shown(self, state_before).await?;
            let state_after = visible_state.as_ref().map_or(&state, |visible_state| &visible_state.value);
            let side_before = Side { whole: &state_before.value, shown: &visible_before.value };
            audit::narrow(&mut change.audit.changes, side_before, Side { whole: &state, shown: state_after });
        }
        let (bytes, etag_extra) = match visible_state {
            None => (json, state.shown_mark()),
            Some(NarrowedResource { value, mark }) => (render(&value)?, mark),
        };
        let row = Row { value: state, seen: before.map(|before| before.version) };
        change.writes.push(match reporting {
            None => Write::put(&row),
            Some((manager, lines)) => Write::put_reporting(&row, manager, lines),
        });
        change.writes.extend(writes);
        change.events.extend(events);
        for it in others.into_iter().rev() {
            change.writes.extend(it.writes);
            change.events.splice(..0, it.events);
            change.more_audit.insert(0, it.audit);
        }
        change.requires = requires;
        change.notices = notices;
        let bytes = body.unwrap_or(bytes);
        Ok((Box::new(change), ResponseBody { bytes, etag_extra, made_members, made_ids }))
    }
}

impl Services {
    /// Commits a decision that the service itself makes about one resource, with these events and the notifications
    /// of the decision. Returns `false` if another change was committed first.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn commit_of_system<T: Resource + Stored>(
        &self,
        tenant: Tenant,
        name: &str,
        decision: Decision<T>,
        events: Vec<Event>,
        seen: Version,
        at: Timestamp,
    ) -> Result<bool, Error> {
        let change = self.change_of_system(tenant, name, decision, events, seen, at).await?;
        self.commit_unless_stale(tenant, change).await
    }

    /// Creates the change set of a decision that the service itself makes about one resource.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn change_of_system<T: Resource + Stored>(
        &self,
        tenant: Tenant,
        name: &str,
        decision: Decision<T>,
        events: Vec<Event>,
        seen: Version,
        at: Timestamp,
    ) -> Result<ChangeSet, Error> {
        Ok(ChangeSet {
            events,
            notices: notices::build_notifications(self, tenant, &decision.notices, at).await?,
            writes: vec![Write::put(&Row::at_version(decision.state, seen))],
            ..ChangeSet::new(self.entry_of_system(name, decision.audit, at))
        })
    }
}

/// Response body of a change, with its part of the `ETag`, and the members and ids that each run of the change
/// creates.
struct ResponseBody {
    bytes: Bytes,
    etag_extra: u64,
    made_members: &'static [&'static str],
    made_ids: Vec<[u8; 16]>,
}

impl ResponseBody {
    fn reply(self, reply: impl FnOnce(Bytes) -> Reply) -> Reply {
        let reply = reply(self.bytes).with_etag_extra(self.etag_extra).with_made_members(self.made_members);
        reply.with_made_ids(self.made_ids)
    }
}

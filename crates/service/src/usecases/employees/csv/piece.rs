//! Converts a piece of a plan to one change set, with all its events and audit entries.

use std::collections::HashSet;

use candor_domain::catalog::Department;
use candor_domain::decision::{Decision, Resource};
use candor_domain::event::Event;
use candor_domain::id::{DepartmentId, EmployeeId};
use candor_domain::people::{Employee, Status};
use candor_domain::time::Timestamp;
use candor_people_csv::{Plan, PlannedStep};
use candor_port_storage::{ChangeSet, ReportingLineChange, Require, Row, Version, Write};
use candor_subscriptions::Subscribers;

use super::load::LoadedRows;
use super::{COMMIT_BYTES, Upload, refused_later};
use crate::change::Batch;
use crate::context::error::Error;
use crate::context::fan_out::DELIVERIES;
use crate::context::invitation_events;
use crate::context::services::render;

/// Builds the change sets of a plan, piece by piece.
pub(super) struct PieceBuilder<'a> {
    upload: &'a Upload<'a>,
    loaded: &'a LoadedRows,
    plan: &'a Plan,
    /// Steps that are not in a piece yet.
    rest: &'a [PlannedStep],
    at: Timestamp,
    created: HashSet<DepartmentId>,
    /// Maximum number of rows of a piece.
    most_rows: usize,
    /// Version of the reporting tree, which increases with each piece that changes reporting lines.
    tree: Version,
}

/// A piece of a plan.
pub(super) struct PlanPiece<'a> {
    /// Steps of this piece.
    pub(super) steps: &'a [PlannedStep],
    /// Change set of the steps. Valid only if all earlier pieces were saved.
    pub(super) change: ChangeSet,
    /// `true` if the piece changes reporting lines of existing people.
    pub(super) moves: bool,
    /// `true` for the last piece of the plan.
    pub(super) is_last: bool,
}

/// A change set under construction.
struct ChangeParts<'a> {
    batch: Batch,
    subscribers: &'a Subscribers,
    /// Number of deliveries that the events so far queue.
    deliveries: usize,
    /// Size of the states so far, as bytes of JSON.
    bytes: usize,
}

impl ChangeParts<'_> {
    /// Adds the events and the audit entry of a decision, and returns its state.
    fn add<T: Resource>(&mut self, upload: &Upload<'_>, decision: Decision<T>, at: Timestamp) -> Result<T, Error> {
        let state_json = render(&decision.state)?;
        self.bytes += state_json.len();
        let (mut one, state) = upload.context.change_set(decision, &state_json, at)?;
        if let Some(connector) = &upload.asked.connector {
            one.audit.act_as(connector.id, &connector.hris_source);
        }
        self.deliveries += self.subscribers.deliveries_of(one.events.iter().map(|event| event.kind));
        self.batch.add(one);
        Ok(state)
    }

    /// Adds events of a row that is written with the last decision.
    fn fire(&mut self, events: Vec<Event>) {
        self.deliveries += self.subscribers.deliveries_of(events.iter().map(|event| event.kind));
        if let Some(change) = self.batch.so_far() {
            change.events.extend(events);
        }
    }
}

impl<'a> PieceBuilder<'a> {
    pub(super) fn new(
        upload: &'a Upload<'a>,
        loaded: &'a LoadedRows,
        plan: &'a Plan,
        most_rows: usize,
        at: Timestamp,
    ) -> Self {
        let rest = plan.steps.as_slice();
        Self { upload, loaded, plan, rest, at, created: HashSet::new(), most_rows, tree: loaded.tree }
    }

    /// Builds the next piece; `None` after the last one. Reads the subscriptions each time, because new ones can be
    /// created meanwhile.
    pub(super) async fn next(&mut self) -> Result<Option<PlanPiece<'a>>, Error> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let context = self.upload.context;
        let subscribers = context.services.store.subscribers(context.caller.tenant).await?;
        let (change, count) = self.change_set(&subscribers)?;
        let (steps, rest) = self.rest.split_at(count);
        self.rest = rest;
        let moves = change.moves_people();
        self.tree = if moves { self.tree.next() } else { self.tree };
        Ok(Some(PlanPiece { steps, change, moves, is_last: rest.is_empty() }))
    }

    /// Builds the change set of the next steps, up to its maximum size, and returns it with their number. Writes
    /// departments before the people who join them.
    fn change_set(&mut self, subscribers: &Subscribers) -> Result<(ChangeSet, usize), Error> {
        let upload = self.upload;
        let mut parts = ChangeParts { batch: Batch::default(), subscribers, deliveries: 0, bytes: 0 };
        let (mut departments, mut people, mut joined) = (vec![], vec![], HashSet::new());
        let mut fresh = HashSet::new();
        let (mut count, mut loses_admin) = (0, false);
        for step in self.rest.iter().take(self.most_rows) {
            if parts.deliveries >= DELIVERIES || parts.bytes >= COMMIT_BYTES {
                break;
            }
            count += 1;
            let decisions =
                Plan::decisions(&upload.asked.file, &self.loaded.known, &upload.asked.options(self.at), step)
                    .map_err(|error| refused_later(&error))?;
            let department = decisions.last().and_then(|decision| decision.state.department_id);
            let person_before = step.before.and_then(|before| self.loaded.known.people.get(before));
            if let Some(id) =
                department.filter(|department| person_before.and_then(|id| id.department_id) != Some(*department))
            {
                match self.plan.departments.get(&id) {
                    Some(decision) if self.created.insert(id) => {
                        let department = parts.add(upload, decision.clone(), self.at)?;
                        departments.push(Write::put(&Row::new(department)));
                        fresh.insert(id);
                    }
                    _ => drop(joined.insert(id)),
                }
            }
            let mut last_state = None;
            for decision in decisions {
                last_state = Some(parts.add(upload, decision, self.at)?);
            }
            if let Some(state_after) = last_state {
                loses_admin |= Employee::ceases_as_admin(person_before, &state_after);
                self.revoke_invitation(&mut parts, &state_after, &mut people)?;
                self.write(person_before, state_after, &mut people);
            }
        }
        let mut change =
            parts.batch.finish().ok_or_else(|| Error::Bug("a piece of a file changes nothing".to_owned()))?;
        departments.append(&mut people);
        change.writes = departments;
        change.requires = joined.difference(&fresh).map(|id| Require::open::<Department>(*id)).collect();
        change.requires.extend(self.other_admin().filter(|_| loses_admin));
        Ok((change, count))
    }

    /// Returns the condition that an active org admin without a row in the file is unchanged at commit time; `None`
    /// if each of the loaded org admins has a row. The versions of org admins with a row are conditions already.
    fn other_admin(&self) -> Option<Require> {
        let is_other = |(admin, _): &(&EmployeeId, &Version)| !self.loaded.versions.contains_key(admin);
        self.loaded
            .admins
            .iter()
            .find(is_other)
            .map(|(id, version)| Require::has_version::<Employee>(*id, *version))
    }

    fn write(&self, before: Option<&Employee>, after: Employee, writes: &mut Vec<Write>) {
        let is_changed = before.and_then(|person| person.manager_id) != after.manager_id;
        let tree_version = before.and(after.manager_id).map(|_| self.tree);
        let lines = is_changed.then_some(ReportingLineChange { seen: tree_version });
        let version = before.and_then(|person| self.loaded.versions.get(&person.id));
        let row = match version {
            Some(version) => Row::at_version(after, *version),
            None => Row::new(after),
        };
        writes.push(Write::employee(&row, lines));
    }

    /// Revokes the invitation of a person who leaves.
    fn revoke_invitation(
        &self,
        parts: &mut ChangeParts<'_>,
        after: &Employee,
        writes: &mut Vec<Write>,
    ) -> Result<(), Error> {
        let invitation = self.loaded.invitations.get(&after.id);
        let Some(invitation) = invitation.filter(|_| after.status == Status::Deactivated) else { return Ok(()) };
        let revocation = invitation.value.revoke(self.at);
        let events = invitation_events::events(
            &self.upload.context.services,
            Some(&invitation.value),
            &revocation,
            after.status,
            self.at,
        )?;
        parts.fire(events);
        writes.push(Write::put(&Row::at_version(revocation, invitation.version)));
        Ok(())
    }
}

//! A piece of a plan as one change set, with all its events and audit entries.

use std::collections::HashSet;
use std::slice::Chunks;

use candor_domain::audit::{Actor, ActorKind};
use candor_domain::csv::{Plan, Step};
use candor_domain::decision::{Decision, Resource};
use candor_domain::id::DepartmentId;
use candor_domain::people::{Employee, Status};
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Lines, Require, Row, Version, Write};

use super::load::Loaded;
use super::{PIECE, Upload};
use crate::Error;
use crate::shell::render;

/// Makes change sets of a plan, piece after piece.
pub(super) struct Pieces<'a> {
    upload: &'a Upload<'a>,
    loaded: &'a Loaded,
    plan: &'a Plan,
    steps: Chunks<'a, Step>,
    at: Timestamp,
    created: HashSet<DepartmentId>,
    /// The version of the reporting tree, which counts up with every piece that moves somebody.
    tree: Version,
}

/// A piece of a plan.
pub(super) struct Piece<'a> {
    /// What it does.
    pub(super) steps: &'a [Step],
    /// All of that at once, if every piece before it was saved.
    pub(super) change: ChangeSet,
    /// Whether it moves somebody within the reporting tree.
    pub(super) moves: bool,
    /// Whether none comes behind it.
    pub(super) is_last: bool,
}

fn moves(change: &ChangeSet) -> bool {
    change.writes.iter().any(|it| matches!(it, Write::Employee(_, Some(Lines { seen: Some(_) }))))
}

/// What a change set is made of, before it is known to have an audit entry.
#[derive(Default)]
struct Parts(Option<ChangeSet>);

impl Parts {
    /// Adds the events and the audit entry of a decision, and answers its state.
    fn add<T: Resource>(&mut self, upload: &Upload<'_>, decision: Decision<T>, at: Timestamp) -> Result<T, Error> {
        let rendered = render(&decision.state)?;
        let (mut one, state) = upload.shell.change_set(upload.call, decision, &rendered, at);
        if let Some(connector) = &upload.asked.connector {
            let (id, name) = (Some(connector.id.to_string()), connector.hris_source.clone());
            one.audit.actor = Actor { kind: ActorKind::Connector, id, name };
        }
        match &mut self.0 {
            None => self.0 = Some(one),
            Some(all) => {
                all.events.append(&mut one.events);
                all.more_audit.push(one.audit);
            }
        }
        Ok(state)
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Result<Piece<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let steps = self.steps.next()?;
        let is_last = self.steps.len() == 0;
        Some(self.change_set(steps).map(|change| {
            let moves = moves(&change);
            self.tree = if moves { self.tree.next() } else { self.tree };
            Piece { steps, change, moves, is_last }
        }))
    }
}

impl<'a> Pieces<'a> {
    pub(super) fn new(upload: &'a Upload<'a>, loaded: &'a Loaded, plan: &'a Plan, at: Timestamp) -> Self {
        let steps = plan.steps.chunks(PIECE);
        Self { upload, loaded, plan, steps, at, created: HashSet::new(), tree: loaded.tree }
    }

    /// The change set of these steps. Departments come before those who join them.
    fn change_set(&mut self, steps: &[Step]) -> Result<ChangeSet, Error> {
        let upload = self.upload;
        let mut parts = Parts::default();
        let (mut departments, mut people, mut joined) = (vec![], vec![], HashSet::new());
        let mut fresh = HashSet::new();
        for step in steps {
            let decisions =
                Plan::decisions(&upload.asked.file, &self.loaded.known, &upload.asked.options(self.at), step);
            let Some(department) = decisions.last().map(|it| it.state.department_id) else { continue };
            let before = step.before.and_then(|it| self.loaded.known.people.get(it));
            if let Some(id) = department.filter(|it| before.and_then(|it| it.department_id) != Some(*it)) {
                match self.plan.departments.get(&id) {
                    Some(decision) if self.created.insert(id) => {
                        let department = parts.add(upload, decision.clone(), self.at)?;
                        departments.push(Write::Department(Row::new(department)));
                        fresh.insert(id);
                    }
                    _ => drop(joined.insert(id)),
                }
            }
            let mut after = None;
            for decision in decisions {
                after = Some(parts.add(upload, decision, self.at)?);
            }
            if let Some(after) = after {
                self.write(before, after, &mut people);
            }
        }
        let mut change = parts.0.ok_or_else(|| Error::Bug("a piece of a file changes nothing".to_owned()))?;
        departments.append(&mut people);
        change.writes = departments;
        change.requires = joined.difference(&fresh).map(|it| Require::DepartmentOpen(*it)).collect();
        Ok(change)
    }

    fn write(&self, before: Option<&Employee>, after: Employee, writes: &mut Vec<Write>) {
        let is_changed = before.and_then(|it| it.manager_id) != after.manager_id;
        let seen = before.and(after.manager_id).map(|_| self.tree);
        let lines = is_changed.then_some(Lines { seen });
        let version = before.and_then(|it| self.loaded.versions.get(&it.id));
        let leaves = after.status == Status::Deactivated;
        let invitation = self.loaded.invitations.get(&after.id).filter(|_| leaves);
        let row = match version {
            Some(version) => Row::seen(after, *version),
            None => Row::new(after),
        };
        writes.push(Write::Employee(row, lines));
        writes.extend(invitation.map(|it| Write::Invitation(Row::seen(it.value.revoke(self.at), it.version))));
    }
}

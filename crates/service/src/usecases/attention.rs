//! Resources that wait for a person (decision A21): one bounded read of each list.

use std::collections::HashMap;

use candor_attention::{
    Attention, AttentionKind, MAX_OF_KIND, Matter, PartOfAttention, bound_ends, filter_awaited, filter_quiet,
    find_return_reasons, of_assignment, of_connector, of_key, of_objective, of_returned_draft,
    of_returned_objective, of_shared_summary, of_summary, of_webhook,
};
use candor_domain::access::{Access, Permission};
use candor_domain::assignment::{self, Assignment};
use candor_domain::id::EmployeeId;
use candor_domain::notification::{self, Notification};
use candor_domain::objective::{self, Objective};
use candor_domain::page::{Page, PageRequest, Sort, SortBy, Sortable};
use candor_domain::params::Bounds;
use candor_domain::people::Employee;
use candor_domain::summary::{self, Summary};
use candor_domain::time::Timestamp;
use candor_port_storage::StorageExt;
use candor_tables::flat::Stored;
use candor_tables::listing::TypedListing;
use candor_tables::rows;

use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::render;

/// First entries of a list whose entries all wait.
const FIRST: PageRequest = PageRequest { limit: MAX_OF_KIND, after: None };

/// `GET /attention`: returns what waits for the caller.
///
/// # Errors
/// See [`Error`].
pub async fn get(context: &RequestContext) -> Result<Reply, Error> {
    context.authorize()?;
    let reader = Reader { context, now: context.services.clock.now() };
    let (of_settings, of_own, of_reviews, of_assignments) = tokio::try_join!(
        reader.read_settings(),
        reader.read_own(),
        reader.read_reviews(),
        reader.read_assignments(),
    )?;
    let parts = [of_settings, of_own, of_reviews, of_assignments].into_iter().flatten().collect();
    let mut attention = Attention::from_parts(parts);
    let may_name = Access::scope(Permission::EmployeesRead).check(&context.caller).is_ok();
    let ids = attention.data.iter().filter_map(|matter| matter.employee_id);
    let people = expand::find_referenced::<Employee>(context, may_name, ids).await?.unwrap_or_default();
    attention.name_people(|id| people.get(&id).map(Employee::full_name));
    Ok(Reply::ok(render(&attention)?, None))
}

/// Reads the lists of one request.
struct Reader<'a> {
    context: &'a RequestContext,
    now: Timestamp,
}

/// Matters of some lists.
type Parts = Vec<PartOfAttention>;

impl Reader<'_> {
    /// Returns the kinds that the caller gets; `None` if there are none, so that nothing has to be read.
    fn open(&self, kinds: &'static [AttentionKind]) -> Option<&'static [AttentionKind]> {
        kinds.iter().all(|kind| kind.is_open_to(&self.context.caller)).then_some(kinds)
    }

    /// Reads a page of a list, and the matter of each of its entries that waits; nothing for kinds that the caller does
    /// not get.
    async fn read<T: Stored>(
        &self,
        kinds: &'static [AttentionKind],
        listing: TypedListing<T>,
        matter: impl Fn(&T) -> Option<Matter>,
    ) -> Result<Parts, Error> {
        let Some(kinds) = self.open(kinds) else { return Ok(vec![]) };
        let Page { items, more } = self.context.services.store.page(self.context.caller.tenant, listing).await?;
        Ok(vec![PartOfAttention { kinds, matters: items.iter().filter_map(matter).collect(), has_more: more }])
    }

    /// Reads subscriptions, connectors and keys.
    async fn read_settings(&self) -> Result<Parts, Error> {
        let keys = rows::api_keys::ending_within(bound_ends(self.now), MAX_OF_KIND);
        let (inactive, failing, paused, incomplete, keys) = tokio::try_join!(
            self.read(&[AttentionKind::WebhookInactive], rows::webhooks::list_inactive(&FIRST), of_webhook),
            self.read(&[AttentionKind::WebhookFailing], rows::webhooks::list_failing(&FIRST), of_webhook),
            self.read(&[AttentionKind::ConnectorPaused], rows::connectors::list_paused(MAX_OF_KIND), of_connector),
            self.read(
                &[AttentionKind::ConnectorFailing],
                rows::connectors::list_incomplete(MAX_OF_KIND),
                of_connector
            ),
            self.read(&[AttentionKind::ApiKeyExpiring], keys, |key| of_key(key, self.now)),
        )?;
        Ok([inactive, failing, paused, incomplete, keys].concat())
    }

    /// Reads what was sent back to the caller's person, and the summaries shared with that person.
    async fn read_own(&self) -> Result<Parts, Error> {
        let Some(person) = self.context.caller.bound_to() else { return Ok(vec![]) };
        let shared = summary::Filter {
            employee_id: Some(person),
            statuses: vec![summary::Status::Shared],
            ..summary::Filter::default()
        };
        let (shared, returned) = tokio::try_join!(
            self.read(&[AttentionKind::SummaryShared], self.summaries(&shared), |summary| of_shared_summary(
                summary, person
            )),
            self.read_returned(person),
        )?;
        Ok([shared, returned].concat())
    }

    /// Reads the objectives and drafts of a person that were sent back. The newest notifications have the reasons; without
    /// one, nothing else is read.
    async fn read_returned(&self, person: EmployeeId) -> Result<Parts, Error> {
        const KINDS: [&[AttentionKind]; 2] =
            [&[AttentionKind::ObjectiveReturned], &[AttentionKind::SummaryReturned]];
        let kinds: Vec<_> = KINDS.into_iter().filter_map(|kinds| self.open(kinds)).collect();
        if kinds.is_empty() {
            return Ok(vec![]);
        }
        let filter = notification::Filter { recipient_id: Some(person), unread: None };
        let newest = rows::notifications::list(&filter, Notification::DEFAULT, &PageRequest::ALL);
        let notifications = self.context.services.store.page(self.context.caller.tenant, newest).await?.items;
        let reasons = find_return_reasons(&notifications);
        if reasons.is_empty() {
            let empty_part = |kinds| PartOfAttention { kinds, matters: vec![], has_more: false };
            return Ok(kinds.into_iter().map(empty_part).collect());
        }
        let (objectives, drafts) = tokio::try_join!(
            self.read_returned_objectives(person, &reasons),
            self.read_returned_drafts(person, &reasons)
        )?;
        Ok([objectives, drafts].concat())
    }

    async fn read_returned_objectives(
        &self,
        person: EmployeeId,
        reasons: &HashMap<&str, &str>,
    ) -> Result<Parts, Error> {
        let filter = objective::Filter {
            owner_id: Some(person),
            ..objective::Filter::of_everyone(&[objective::Status::Proposed])
        };
        let listing = self.objectives(&filter, Objective::DEFAULT, &PageRequest::ALL);
        self.read(&[AttentionKind::ObjectiveReturned], listing, |objective| {
            of_returned_objective(objective, reasons)
        })
        .await
    }

    async fn read_returned_drafts(
        &self,
        person: EmployeeId,
        reasons: &HashMap<&str, &str>,
    ) -> Result<Parts, Error> {
        let filter = summary::Filter {
            author_id: Some(person),
            statuses: vec![summary::Status::Draft],
            ..summary::Filter::default()
        };
        let listing = self.summaries(&filter);
        self.read(&[AttentionKind::SummaryReturned], listing, |draft| of_returned_draft(draft, reasons)).await
    }

    /// Reads what waits for a review, and the objectives without a check-in.
    async fn read_reviews(&self) -> Result<Parts, Error> {
        let quiet_sort = Sort::ascending_by(SortBy::CheckedInAt);
        let awaited_list = self.objectives(&filter_awaited(), Objective::DEFAULT, &FIRST);
        let quiet_list = self.objectives(&filter_quiet(self.now), quiet_sort, &FIRST);
        let pending =
            summary::Filter { statuses: vec![summary::Status::PendingReview], ..summary::Filter::default() };
        let (objectives, quiet, summaries) = tokio::try_join!(
            self.read(&[AttentionKind::ObjectiveInReview], awaited_list, |one| Some(of_objective(
                one,
                AttentionKind::ObjectiveInReview
            ))),
            self.read(&[AttentionKind::ObjectiveQuiet], quiet_list, |one| Some(of_objective(
                one,
                AttentionKind::ObjectiveQuiet
            ))),
            self.read(&[AttentionKind::SummaryInReview], self.summaries(&pending), of_summary),
        )?;
        Ok([objectives, quiet, summaries].concat())
    }

    /// Reads the open assignments that ask the caller's person for feedback, and those that are overdue.
    async fn read_assignments(&self) -> Result<Parts, Error> {
        let (today, person) = (self.now.date(), self.context.caller.bound_to());
        let sort = Sort::ascending_by(SortBy::DueBy);
        let viewer = self.context.caller.viewer();
        let list = |filter: &assignment::Filter| rows::assignments::list(filter, viewer, sort, &FIRST);
        let open =
            assignment::Filter { statuses: vec![assignment::Status::Open], ..assignment::Filter::default() };
        let is_of = |kind: AttentionKind| {
            move |one: &Assignment| of_assignment(one, person, today).filter(|matter| matter.kind == kind)
        };
        let due_date = Bounds { gte: None, lte: Some(today) };
        let (requested, overdue) = tokio::try_join!(
            self.read(
                &[AttentionKind::FeedbackRequested],
                list(&assignment::Filter { reviewer_id: person, ..open.clone() }),
                is_of(AttentionKind::FeedbackRequested),
            ),
            self.read(
                &[AttentionKind::AssignmentOverdue],
                list(&assignment::Filter { due_date, ..open }),
                is_of(AttentionKind::AssignmentOverdue),
            ),
        )?;
        Ok([requested, overdue].concat())
    }

    fn objectives(&self, filter: &objective::Filter, sort: Sort, page: &PageRequest) -> TypedListing<Objective> {
        rows::objectives::list(filter, self.context.caller.viewer(), sort, page)
    }

    fn summaries(&self, filter: &summary::Filter) -> TypedListing<Summary> {
        rows::summaries::list(filter, self.context.caller.viewer(), Summary::DEFAULT, &FIRST)
    }
}

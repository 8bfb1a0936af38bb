//! Archived resources and people whose retention has ended, in pages. Previews count them, runs remove them.

use std::collections::BTreeSet;

use candor_domain::access::Tenant;
use candor_domain::conversation::{self, Conversation};
use candor_domain::decision::Resource;
use candor_domain::id::{EmployeeId, ObjectiveId};
use candor_domain::objective::{self, Family, Objective};
use candor_domain::observation::{self, Observation};
use candor_domain::page::{PageRequest, Position, Sort, SortBy, Sortable};
use candor_domain::params::{Archived, Bounds};
use candor_domain::people::Employee;
use candor_domain::retention::{Retained, RetentionRule};
use candor_domain::summary::{self, Summary};
use candor_domain::time::Timestamp;
use candor_domain::visibility::Viewer;
use candor_port_storage::{StorageExt, Version, Versioned};
use candor_tables::flat::{Stored, Table};
use candor_tables::listing::TypedListing;
use candor_tables::rows;
use candor_tables::rows::summaries::INCLUDES;

use crate::context::error::Error;
use crate::context::holds::{HeldPeople, check_in_authors};
use crate::context::services::Services;

/// Order of the archived resources: the longest archived first. `updated_at` is the time of the archiving: an
/// archived resource does not change any more, except that an objective may lose its parent, which moves `updated_at`
/// by a millisecond.
const ORDER: Sort = Sort::ascending_by(SortBy::UpdatedAt);

/// A kind of archived resources that a rule removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Summaries,
    Observations,
    Objectives(Family),
    Conversations,
}

impl Source {
    /// Returns the kinds of resources that a rule removes; none for the rule about people.
    pub(crate) const fn removed_by(rule: RetentionRule) -> &'static [Self] {
        match rule {
            RetentionRule::ArchivedSummaries => &[Self::Summaries],
            RetentionRule::ArchivedObservations => &[Self::Observations],
            RetentionRule::ArchivedObjectives => {
                &[Self::Objectives(Family::Employees), Self::Objectives(Family::Managers)]
            }
            RetentionRule::ArchivedConversations => &[Self::Conversations],
            RetentionRule::DeactivatedPeople => &[],
        }
    }

    /// Returns the name of the resource, as in exports.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Summaries => "summaries",
            Self::Observations => "observations",
            Self::Objectives(Family::Employees) => "employee_objectives",
            Self::Objectives(Family::Managers) => "manager_objectives",
            Self::Conversations => "conversations",
        }
    }

    /// Returns the table of the resource.
    pub(crate) const fn table(self) -> &'static Table {
        match self {
            Self::Summaries => Summary::TABLE,
            Self::Observations => Observation::TABLE,
            Self::Objectives(_) => Objective::TABLE,
            Self::Conversations => Conversation::TABLE,
        }
    }
}

/// An archived resource that may be removed.
#[derive(Debug)]
pub(crate) struct ExpiredResource {
    pub(crate) id: [u8; 16],
    /// The people whose legal hold would keep the resource.
    pub(crate) people: Vec<EmployeeId>,
    /// The id with its prefix.
    pub(crate) text: String,
    pub(crate) version: Version,
}

/// Part of the archived resources of one kind.
#[derive(Debug)]
pub(crate) struct ExpiredPage {
    /// Resources that may be removed.
    pub(crate) rows: Vec<ExpiredResource>,
    /// Position of the next part; `None` after the last one.
    pub(crate) next: Option<Position>,
}

impl Retained for ExpiredResource {
    fn people(&self) -> Vec<EmployeeId> {
        self.people.clone()
    }
}

/// Returns the resources of a page that were archived until `last`. Resources of people under a legal hold are left
/// out, as are observations and objectives that a summary includes.
pub(crate) async fn read_expired_page(
    services: &Services,
    tenant: Tenant,
    source: Source,
    last: Timestamp,
    page: &PageRequest,
) -> Result<ExpiredPage, Error> {
    let updated_at = Bounds { gte: None, lte: Some(last) };
    let (mut rows, next) = match source {
        Source::Summaries => {
            let statuses = vec![summary::Status::Archived];
            let filter = summary::Filter { statuses, updated_at, ..summary::Filter::default() };
            let list = rows::summaries::list(&filter, Viewer::Everything, ORDER, page);
            read::<Summary>(services, tenant, list).await?
        }
        Source::Observations => {
            let filter =
                observation::Filter { archived: Archived::Yes, updated_at, ..observation::Filter::default() };
            let list = rows::observations::list(&filter, Viewer::Everything, ORDER, page);
            read::<Observation>(services, tenant, list).await?
        }
        Source::Objectives(family) => {
            let filter = objective::Filter::archived_until(last, family);
            let list = rows::objectives::list(&filter, Viewer::Everything, ORDER, page);
            let (mut found, next) = read::<Objective>(services, tenant, list).await?;
            for row in &mut found {
                row.people.extend(check_in_authors(services, tenant, ObjectiveId::from_bytes(row.id)).await?);
            }
            (found, next)
        }
        Source::Conversations => {
            let filter =
                conversation::Filter { archived: Archived::Yes, updated_at, participant_id: None, about: None };
            let list = rows::conversations::list(&filter, Viewer::Everything, ORDER, page);
            read::<Conversation>(services, tenant, list).await?
        }
    };
    let held_people = HeldPeople::find(services, tenant, &rows).await?;
    rows.retain(|row| !held_people.keep(row));
    if matches!(source, Source::Observations | Source::Objectives(_)) && !rows.is_empty() {
        let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
        let included_ids: BTreeSet<_> =
            services.store.members_among(tenant, INCLUDES, &ids).await?.into_iter().collect();
        rows.retain(|row| !included_ids.contains(&row.id));
    }
    Ok(ExpiredPage { rows, next })
}

/// Returns the resources of a page of a list, and the position of the next page; `None` after the last page.
async fn read<T: Stored + Resource + Sortable + Retained>(
    services: &Services,
    tenant: Tenant,
    list: TypedListing<T>,
) -> Result<(Vec<ExpiredResource>, Option<Position>), Error> {
    let limit = usize::from(list.limit());
    let rows = services.store.entries(tenant, list).await?;
    let last = rows.last().filter(|_| rows.len() >= limit);
    let next = last.and_then(|row| {
        Some(Position { key: Sortable::key(&row.value, ORDER.by)?, id: row.value.id().to_bytes() })
    });
    let expired_rows = rows.into_iter().map(|row| ExpiredResource {
        id: row.value.id().to_bytes(),
        people: row.value.people(),
        text: row.value.id().to_string(),
        version: row.version,
    });
    Ok((expired_rows.collect(), next))
}

/// People who left, and the position of the next part; `None` after the last one.
pub(crate) type LeftPeople = (Vec<Versioned<Employee>>, Option<(Timestamp, EmployeeId)>);

/// Returns people who were deactivated until `last`, are not erased and not under a legal hold.
pub(crate) async fn people_who_left(
    services: &Services,
    tenant: Tenant,
    last: Timestamp,
    after: Option<(Timestamp, EmployeeId)>,
    limit: u16,
) -> Result<LeftPeople, Error> {
    let list = rows::employees::left_until(last, after, limit);
    let mut people = services.store.entries(tenant, list).await?;
    let end = people.last().filter(|_| people.len() >= usize::from(limit));
    let next = end.and_then(|row| Some((row.value.left_at()?, row.value.id)));
    people.retain(|row| row.value.hold.is_none());
    Ok((people, next))
}

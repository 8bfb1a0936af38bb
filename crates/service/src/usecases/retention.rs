//! Preview of the retention, and its runs with their receipts (decision H5).

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_domain::fields::StringEnum;
use candor_domain::id::RetentionRunId;
use candor_domain::page::PageRequest;
use candor_domain::params::Params;
use candor_domain::retention::{Filter, PreviewRequest, RetentionPreview, RetentionRule, RetentionRun};
use candor_domain::time::Timestamp;
use candor_tables::rows;

use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::retained::{Source, people_who_left, read_expired_page};
use crate::context::services::{Services, render};
use crate::usecases::organization;

/// Number of rows read at once.
const PAGE: u16 = 500;
/// Maximum number of pages that a preview reads for a rule. Bounds the work if legal holds keep all rows.
const PAGES: usize = 100;

/// `GET /retention/runs`: lists the runs with their receipts.
///
/// # Errors
/// Invalid parameters, no admin-level key; see [`Error`].
pub async fn list(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = params.parse(Filter::read)?;
    context.authorize()?;
    let listing = rows::retention_runs::list(request.sort, &request.page);
    expand::plain_page(context, &request, listing).await
}

/// `GET /retention/runs/{id}`: returns a run with its receipt.
///
/// # Errors
/// Not found, no admin-level key; see [`Error`].
pub async fn get(context: &RequestContext, id: RetentionRunId) -> Result<Reply, Error> {
    let run = context.find_stored::<RetentionRun>(id).await?;
    context.authorize()?;
    Ok(Reply::ok(render(&run.value)?, None))
}

/// `GET /retention/preview`: counts what the next runs would remove.
///
/// # Errors
/// Invalid parameters, no admin-level key; see [`Error`].
pub async fn preview(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = params.parse(PreviewRequest::read)?;
    context.authorize()?;
    let tenant = context.caller.tenant;
    let organization = organization::load(context).await?;
    let rules = request.rules(&organization.value, context.services.clock.now());
    let (mut applies_at, mut counts) = (BTreeMap::new(), BTreeMap::new());
    for (rule, run, last) in rules.scheduled_rules() {
        applies_at.insert(rule.word().to_owned(), run);
        counts.insert(rule.word().to_owned(), count(&context.services, tenant, rule, last).await?);
    }
    let preview = RetentionPreview { next_run_at: rules.next_run_at, applies_at, counts };
    Ok(Reply::ok(render(&preview)?, None))
}

/// Counts what one run would remove by a rule.
async fn count(services: &Services, tenant: Tenant, rule: RetentionRule, last: Timestamp) -> Result<u64, Error> {
    if rule == RetentionRule::DeactivatedPeople {
        return count_people(services, tenant, last, rule.max_per_run()).await;
    }
    let (mut counted, mut pages) = (0, 0);
    for source in Source::removed_by(rule) {
        let mut page = PageRequest { limit: PAGE, after: None };
        loop {
            pages += 1;
            let expired_page = read_expired_page(services, tenant, *source, last, &page).await?;
            counted += expired_page.rows.len() as u64;
            if counted >= rule.max_per_run() {
                return Ok(rule.max_per_run());
            }
            if expired_page.next.is_none() || pages >= PAGES {
                break;
            }
            page.after = expired_page.next;
        }
    }
    Ok(counted)
}

async fn count_people(services: &Services, tenant: Tenant, last: Timestamp, most: u64) -> Result<u64, Error> {
    let (mut counted, mut after) = (0, None);
    for _ in 0..PAGES {
        let (people, next) = people_who_left(services, tenant, last, after, PAGE).await?;
        counted += people.len() as u64;
        if counted >= most {
            return Ok(most);
        }
        if next.is_none() {
            break;
        }
        after = next;
    }
    Ok(counted)
}

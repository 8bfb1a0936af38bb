//! Resets the test environment of an organization (decision B6).

use std::time::Duration;

use candor_domain::audit::AuditDraft;
use candor_domain::catalog::{Attribute, starter_set};
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Row, Write};
use candor_tables::schema;
use schemars::JsonSchema;
use serde::Serialize;

use crate::change::ChangePlan;
use crate::change::commit::unless_overtaken;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{ATTEMPTS, render};
use crate::usecases::organization;

/// Result of a reset of test data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TestDataReset {
    /// Number of removed rows of all kinds.
    removed: u64,
    /// `true` if all test data is removed. If `false`, send the request again to continue.
    complete: bool,
}

/// Number of rows removed in one commit: few, so that other writers do not wait long, also if each row has 139 KB.
const PIECE: u32 = 100;
/// Working time after which a reset stops and reports that rows are left, well before its request
/// times out.
const WORK: Duration = Duration::from_secs(15);

/// `POST /test-data/reset`: removes all rows except the organization with its settings, its keys and the audit
/// log. Restores the starter set of attributes.
///
/// # Errors
/// A live key, not an admin; [`Error::Contended`] while other requests keep writing test data; see [`Error`].
pub async fn reset(context: &RequestContext) -> Result<Reply, Error> {
    if let Some(reply) = context.services.find_replay(context).await? {
        return Ok(reply);
    }
    let organization = organization::load(context).await?;
    context.validate_action(organization.version)?;
    let deadline = context.services.clock.steady() + WORK;
    let (removed, complete) = empty(context, deadline).await?;
    let plan = async |at: Timestamp| {
        let mut change = ChangeSet::new(context.audit(
            context.services.id(at),
            AuditDraft::new(&organization.value, "test_data.reset"),
            at,
        ));
        if complete {
            for draft in starter_set() {
                let attribute = Attribute::create(context.services.id(at), draft, None, at)?.state;
                change.writes.push(Write::put(&Row::new(attribute)));
            }
        }
        let body = render(&TestDataReset { removed, complete })?;
        Ok(ChangePlan::Commit(Box::new(change), Reply::ok(body, None)))
    };
    context.change(plan).await
}

/// Empties table after table until a deadline. A concurrent request can add rows that refer to rows about to be
/// removed, which starts another pass. Returns the number of removed rows, and `true` if no row is left.
async fn empty(context: &RequestContext, until: Duration) -> Result<(u64, bool), Error> {
    let tenant = context.caller.tenant;
    let mut removed_count = 0;
    'attempts: for _ in 0..ATTEMPTS {
        for table in schema::test_data() {
            loop {
                context.confirm_caller().await?;
                let piece_result = context.services.store.empty(tenant, table, PIECE).await;
                let Some(piece_count) = unless_overtaken(piece_result)? else { continue 'attempts };
                removed_count += piece_count;
                if piece_count == 0 {
                    break;
                }
                if context.services.clock.steady() >= until {
                    return Ok((removed_count, false));
                }
            }
        }
        return Ok((removed_count, true));
    }
    Err(Error::Contended)
}

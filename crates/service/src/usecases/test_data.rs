//! Emptying the data set of test keys (decision B6).

use candor_domain::audit::AuditDraft;
use candor_domain::library::{Attribute, starter_set};
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, CommitError, Row, Write};
use candor_tables::schema;

use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{ChangePlan, Services, render};
use crate::usecases::organization;

/// Rows removed at once; few, so that no other writer waits for long.
const PIECE: u32 = 500;
/// Whoever writes meanwhile can add what refers to rows that are about to go; then everything is gone through again.
const ATTEMPTS: usize = 8;
/// A reset that has worked for so long ends and says that something is left, well before its request is given up.
const WORK_SECONDS: i64 = 15;

/// `POST /test-data/reset`: everything goes but the organization with its settings, its keys and the audit log. The
/// starter set of attributes is put back.
///
/// # Errors
/// A live key, not an admin; [`Error::Contended`] while others go on writing test data; see [`Error`].
pub async fn reset(services: &Services, context: &RequestContext) -> Result<Reply, Error> {
    if let Some(reply) = services.stored_reply(context).await? {
        return Ok(reply);
    }
    let stored = organization::stored(services, context).await?;
    context.validate_action(stored.version)?;
    let begun = services.clock.now();
    let (removed, complete) = empty(services, context, begun.plus_seconds(WORK_SECONDS)).await?;
    let plan = async |at: Timestamp| {
        let mut change =
            ChangeSet::new(context.audit(services.id(at), AuditDraft::of(&stored.value, "test_data.reset"), at));
        if complete {
            for draft in starter_set() {
                let attribute = Attribute::create(services.id(at), draft, None, at)?.state;
                change.writes.push(Write::put(&Row::new(attribute)));
            }
        }
        let body = render(&serde_json::json!({ "removed": removed, "complete": complete }))?;
        Ok(ChangePlan::Commit(Box::new(change), Reply::done(body, None)))
    };
    services.change(context, plan).await
}

/// Empties table after table, until that time; says how many rows went, and whether none is left.
async fn empty(services: &Services, context: &RequestContext, until: Timestamp) -> Result<(u64, bool), Error> {
    let tenant = context.caller.tenant;
    let mut removed = 0;
    'attempts: for _ in 0..ATTEMPTS {
        for table in schema::test_data() {
            loop {
                let gone = match services.store.empty(tenant, table, PIECE).await {
                    Ok(gone) => gone,
                    Err(CommitError::Storage(error)) => return Err(error.into()),
                    Err(_) => continue 'attempts,
                };
                removed += gone;
                if gone == 0 {
                    break;
                }
                if services.clock.now() >= until {
                    return Ok((removed, false));
                }
            }
        }
        return Ok((removed, true));
    }
    Err(Error::Contended)
}

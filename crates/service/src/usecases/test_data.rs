//! Emptying the data set of test keys (decision B6).

use candor_domain::audit::AuditDraft;
use candor_domain::library::{Attribute, starter_set};
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, CommitError, Row, Write};
use candor_tables::schema;

use crate::context::call::Call;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::shell::{ChangePlan, Shell, render};
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
pub async fn reset(shell: &Shell, call: &Call) -> Result<Reply, Error> {
    if let Some(reply) = shell.kept(call).await? {
        return Ok(reply);
    }
    let stored = organization::stored(shell, call).await?;
    call.admit_act(stored.version)?;
    let begun = shell.clock.now();
    let (removed, complete) = empty(shell, call, begun.plus_seconds(WORK_SECONDS)).await?;
    let plan = async |at: Timestamp| {
        let mut change = ChangeSet::new(call.audit(shell.id(at), AuditDraft::of(&stored.value, "test_data.reset"), at));
        if complete {
            for draft in starter_set() {
                let attribute = Attribute::create(shell.id(at), draft, None, at)?.state;
                change.writes.push(Write::put(&Row::new(attribute)));
            }
        }
        let body = render(&serde_json::json!({ "removed": removed, "complete": complete }))?;
        Ok(ChangePlan::Commit(Box::new(change), Reply::done(body, None)))
    };
    shell.change(call, plan).await
}

/// Empties table after table, until that time; says how many rows went, and whether none is left.
async fn empty(shell: &Shell, call: &Call, until: Timestamp) -> Result<(u64, bool), Error> {
    let tenant = call.caller.tenant;
    let mut removed = 0;
    'attempts: for _ in 0..ATTEMPTS {
        for table in schema::test_data() {
            loop {
                let gone = match shell.store.empty(tenant, table, PIECE).await {
                    Ok(gone) => gone,
                    Err(CommitError::Storage(error)) => return Err(error.into()),
                    Err(_) => continue 'attempts,
                };
                removed += gone;
                if gone == 0 {
                    break;
                }
                if shell.clock.now() >= until {
                    return Ok((removed, false));
                }
            }
        }
        return Ok((removed, true));
    }
    Err(Error::Contended)
}

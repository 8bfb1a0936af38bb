//! Corrections of times that were stored while a clock was ahead.

use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;

use crate::sql::{Db, Sql};

/// Statements that correct due times. Their parameter is the current time.
const DUE: [&str; 4] = [
    "UPDATE delivery_jobs AS j SET due_at = ?1 WHERE j.due_at > ?1 AND (j.attempt = 1 OR EXISTS (SELECT 1 \
     FROM deliveries AS d WHERE d.tenant_id = j.tenant_id AND d.webhook_id = j.webhook_id AND d.status = 'failed' \
     AND d.event_id = j.event_id AND d.created_at > ?1))",
    "UPDATE invitations SET mail_due_at = ?1 WHERE mail_due_at > ?1 \
     AND (mail_attempted_at IS NULL OR mail_attempted_at > ?1)",
    "UPDATE erasures SET running_since = ?1 WHERE running_since > ?1",
    "UPDATE erasures SET index_clean_at = ?1 WHERE running_since IS NOT NULL AND index_clean_at > ?1",
];

/// Statements that correct leases. Their parameter is the latest possible end of a lease.
const LEASED: [&str; 3] = [
    "UPDATE delivery_jobs SET leased_until = ?1 WHERE leased_until > ?1",
    "UPDATE invitations SET mail_leased_until = ?1 WHERE mail_leased_until > ?1",
    "UPDATE webhooks SET rate_until = ?1 WHERE rate_until > ?1",
];

/// Corrects times set by a clock that was ahead: such due times become `now`, and leases end at `lease` at the
/// latest.
pub(super) fn correct(db: &mut Db, now: Timestamp, lease: Timestamp) -> Result<(), StorageError> {
    let statements = DUE.map(|text| (text, now)).into_iter().chain(LEASED.map(|text| (text, lease)));
    for (text, at) in statements {
        db.run(&Sql::new(text).bind(at))?;
    }
    Ok(())
}

//! Corrections of times that were stored while a clock was ahead.

use candor_domain::time::Timestamp;
use candor_tables::flat::SqlValue;

use crate::sql::Sql;

/// Statements that correct times set by a clock that was ahead: such due times become `now`, and ends of leases
/// after `lease` become `lease`.
pub(super) fn corrections(now: Timestamp, lease: Timestamp) -> Vec<Sql> {
    let mut all = vec![];
    let mut add = |at: Timestamp, text: fn(&str) -> String| {
        let mut sql = Sql::default();
        let current_time = sql.bind(SqlValue::Time(at));
        sql.push(&text(&current_time));
        all.push(sql);
    };
    add(now, |now| {
        format!(
            "UPDATE delivery_jobs AS j SET due_at = {now} WHERE j.due_at > {now} AND (j.attempt = 1 OR EXISTS (SELECT 1 \
             FROM deliveries AS d WHERE d.tenant_id = j.tenant_id AND d.webhook_id = j.webhook_id \
             AND d.status = 'failed' AND d.event_id = j.event_id AND d.created_at > {now}))"
        )
    });
    add(now, |now| {
        format!(
            "UPDATE invitations SET mail_due_at = {now} WHERE mail_due_at > {now} \
             AND (mail_attempted_at IS NULL OR mail_attempted_at > {now})"
        )
    });
    add(now, |now| format!("UPDATE erasures SET running_since = {now} WHERE running_since > {now}"));
    add(now, |now| {
        format!(
            "UPDATE erasures SET index_clean_at = {now} WHERE running_since IS NOT NULL AND index_clean_at > {now}"
        )
    });
    add(lease, |end| format!("UPDATE delivery_jobs SET leased_until = {end} WHERE leased_until > {end}"));
    add(lease, |end| format!("UPDATE invitations SET mail_leased_until = {end} WHERE mail_leased_until > {end}"));
    add(lease, |end| format!("UPDATE webhooks SET rate_until = {end} WHERE rate_until > {end}"));
    all
}

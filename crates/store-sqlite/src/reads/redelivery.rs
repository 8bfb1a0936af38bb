//! Selection of the events to redeliver.

use candor_domain::event::{Event, EventType};
use candor_domain::fields::StringEnum;
use candor_domain::id::EventId;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::queue::{EventToRedeliver, QueueKey, RedeliveryFilter};
use candor_subscriptions::Status;
use candor_tables::flat::{CellReader, Stored};

use crate::sql::Db;
use crate::text::Draft;

/// Returns the matching events after `after`, ordered by id.
pub(crate) fn events(
    db: &mut Db,
    queue: QueueKey,
    which: &RedeliveryFilter,
    after: Option<EventId>,
    most: u16,
) -> Read<Vec<EventToRedeliver>> {
    let (tenant, webhook) = queue;
    let range = Range::new(which, after);
    let mut draft = Draft::default();
    if which.only_failed {
        add_failed_query(&mut draft, queue, range);
        draft.add(" SELECT e.id, e.type");
        add_queued_column(&mut draft, queue);
        draft.add(" FROM failed f CROSS JOIN events e");
        draft.with(" WHERE e.tenant_id = ", tenant).add(" AND e.id = f.event_id");
        draft.with(" AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.tenant_id = ", tenant);
        draft.with(" AND d.webhook_id = ", webhook).with(" AND d.status = ", Status::Success.word());
        draft.add(" AND d.event_id = e.id)");
    } else {
        draft.add("SELECT e.id, e.type");
        add_queued_column(&mut draft, queue);
        draft.with(" FROM events e WHERE e.tenant_id = ", tenant);
        draft.with(" AND e.id > ", range.above).with(" AND e.id < ", range.below);
    }
    draft.with(" AND e.created_at >= ", which.since).with(" AND e.created_at < ", which.until);
    draft.any_of(" AND e.type", which.types.iter().map(|event_type| event_type.word()));
    draft.with(" AND NOT EXISTS (SELECT 1 FROM delivery_jobs j WHERE j.tenant_id = ", tenant);
    draft.with(" AND j.webhook_id = ", webhook).add(" AND j.event_id = e.id");
    // A parked delivery has no due time.
    draft.with(" AND NOT coalesce(j.attempt > 1 AND j.due_at > ", which.now);
    draft.with(" AND (j.leased_until IS NULL OR j.leased_until <= ", which.now).add("), FALSE))");
    if !which.only_failed {
        draft.add(" ORDER BY e.id");
    }
    draft.with(" LIMIT ", i64::from(most));
    db.rows(draft.finish(), event)
}

/// Adds a column that is true if the delivery is queued.
fn add_queued_column(draft: &mut Draft, (tenant, webhook): QueueKey) {
    draft.with(", EXISTS (SELECT 1 FROM delivery_jobs q WHERE q.tenant_id = ", tenant);
    draft.with(" AND q.webhook_id = ", webhook).add(" AND q.event_id = e.id)");
}

/// Exclusive bounds of the event ids.
#[derive(Debug, Clone, Copy)]
struct Range {
    above: [u8; 16],
    below: [u8; 16],
}

impl Range {
    fn new(which: &RedeliveryFilter, after: Option<EventId>) -> Self {
        let (above, below) = which.id_range(after);
        Self { above: above.to_bytes(), below: below.to_bytes() }
    }
}

/// Adds a query for the events with a failed attempt, each once and in order. It seeks once per event and
/// failure status, however many attempts there are.
fn add_failed_query(draft: &mut Draft, queue: QueueKey, range: Range) {
    draft.add("WITH RECURSIVE failed (event_id) AS (");
    next_failed(draft, queue, range, |draft| draft.with(" AND d.event_id > ", range.above));
    draft.add(" UNION ALL SELECT (");
    next_failed(draft, queue, range, |draft| draft.add(" AND d.event_id > f.event_id"));
    draft.add(") FROM failed f WHERE f.event_id IS NOT NULL)");
}

fn next_failed(
    draft: &mut Draft,
    (tenant, webhook): QueueKey,
    range: Range,
    behind: impl Fn(&mut Draft) -> &mut Draft,
) {
    draft.add("SELECT min(event_id) FROM (");
    let failures = Status::ALL.iter().filter(|status| **status != Status::Success);
    for (number, status) in failures.enumerate() {
        draft
            .add(if number == 0 { "" } else { " UNION ALL " })
            .add("SELECT * FROM (SELECT d.event_id FROM deliveries d");
        draft
            .with(" WHERE d.tenant_id = ", tenant)
            .with(" AND d.webhook_id = ", webhook)
            .with(" AND d.status = ", status.word());
        behind(draft).with(" AND d.event_id < ", range.below).add(" ORDER BY d.event_id LIMIT 1)");
    }
    draft.add(")");
}

fn event(row: &mut dyn CellReader) -> Read<EventToRedeliver> {
    let corrupt = |column| move |reason| StorageError::Corrupt { table: Event::TABLE.name, column, reason };
    let id = row.id().and_then(|id| id.ok_or_else(|| "null".to_owned())).map_err(corrupt("id"))?;
    let word = row.text().map_err(corrupt("type"))?.unwrap_or_default();
    let kind = EventType::from_word(&word).map_err(|_| corrupt("type")(format!("unexpected value {word:?}")))?;
    let is_queued = row.int().map_err(corrupt("id"))?.unwrap_or_default() > 0;
    Ok(EventToRedeliver { event_id: EventId::from_bytes(id), event_type: kind, is_queued })
}

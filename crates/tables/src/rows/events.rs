//! Events, which are append-only. Each store adds a column for their commit order.

use candor_domain::event::Event;
use candor_domain::id::EventKind;

use crate::flat::{Index, Table};
use crate::stored::stored;

stored! {
    Event, id: EventKind, row: event;
    columns {
        id: IdColumn,
        type as kind: OneOfColumn,
        created_at: Time,
        data: TextColumn,
        request_id: Option<TextColumn>,
    }
    table Table {
        versioned: false,
        indexes: &[Index::of_columns(&["position", "id"])],
        ..Table::with_name("events")
    };
}

//! Events, which are append-only. Each store adds a column for their commit order.

use candor_domain::event::Event;
use candor_domain::id::EventKind;

use crate::flat::{Index, Table};
use crate::stored::stored;

stored! {
    Event, id: EventKind, row: event;
    columns {
        id: Id,
        type as kind: OneOf,
        created_at: Time,
        data: Text,
    }
    table Table {
        versioned: false,
        indexes: &[Index::on(&["position", "id"])],
        ..Table::named("events")
    };
}

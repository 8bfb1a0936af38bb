//! Mapping of notifications, and their lists.

use candor_domain::audit::Target;
use candor_domain::id::NotificationKind;
use candor_domain::notification::{Filter, Notification};
use candor_domain::page::{PageRequest, Sort};

use super::column;
use crate::flat::{Index, SqlValue, Table, Type};
use crate::listing::{Listing, TypedListing};
use crate::stored::stored;

stored! {
    Notification, id: NotificationKind, row: notification;
    columns {
        id: IdColumn,
        recipient_id: IdColumn,
        type as kind: OneOfColumn,
        title: TextColumn,
        body: TextColumn,
        target_type: TextColumn = notification.target.kind,
        target_id: TextColumn = notification.target.id,
        created_at: Time,
        read_at: Option<Time>,
    }
    derived { unread: FlagColumn = notification.read_at.is_none() }
    fields { target: Target { kind: target_type, id: target_id } }
    table Table {
        indexes: &[Index::of_columns(&["recipient_id", "unread", "created_at", "id"]), Index::of_columns(&["unread", "created_at", "id"])],
        ..Table::with_name("notifications")
    };
}

/// List of `GET /notifications` (decision G).
#[must_use]
pub fn list(filter: &Filter, sort: Sort, page: &PageRequest) -> TypedListing<Notification> {
    let mut it = Listing::new::<Notification>(sort, page);
    let values = filter.unread.map_or(vec![true, false], |value| vec![value]);
    it.runs = Some((column("unread", Type::Flag), values.into_iter().map(SqlValue::Flag).collect()));
    it.is(column("recipient_id", Type::Id), filter.recipient_id);
    it.into_list()
}

//! Tables of a cluster: the placement of each table's rows, and the tables that only a cluster has.

use candor_tables::schema::{Placement, tables_with};

use super::Cluster;
use crate::layout::{OneServer, SharedLayout};

/// Query that returns `true` for the layout by tenant.
pub(crate) const LAYOUT: &str = "SELECT to_regclass('feed_positions') IS NOT NULL";

/// Returns the layout for the result of [`LAYOUT`].
pub(crate) fn layout_of(is_by_tenant: bool) -> SharedLayout {
    if is_by_tenant { &Cluster } else { &OneServer }
}

/// Table that a cluster distributes first. The other tables by tenant are colocated with it.
pub(crate) const FIRST_BY_TENANT: &str = "organizations";

/// Tables whose rows are on their tenant's node.
pub(crate) fn by_tenant() -> impl Iterator<Item = &'static str> {
    names(Placement::Tenant).chain([FEED_POSITIONS])
}

/// Small tables that every node has a copy of.
pub(crate) fn on_every_node() -> impl Iterator<Item = &'static str> {
    names(Placement::Reference).chain([CREDENTIAL_TENANTS])
}

/// Tables on the coordinator only. Other nodes read them there.
pub(crate) fn on_coordinator() -> impl Iterator<Item = &'static str> {
    names(Placement::Local).chain(["__diesel_schema_migrations"])
}

fn names(placement: Placement) -> impl Iterator<Item = &'static str> {
    tables_with(placement).map(|table| table.name)
}

/// Table with the feed position of each tenant's last event. A transaction that adds an event locks the tenant's
/// row until its end. So events are committed in the order of their positions, on every node. The row also holds
/// the event types that active subscriptions of the tenant want, as bits: an insert of an unwanted event need not
/// read the subscriptions.
pub(crate) const FEED_POSITIONS: &str = "feed_positions";

/// Function that increments and returns a tenant's feed position. The contacted node calls the function before it
/// forwards the row, so the insert stays a plain `VALUES` list. The function fails if an active subscription wants
/// one of the given event types.
pub(crate) const NEXT_POSITION: &str = "next_feed_position";

/// Statement that increments a tenant's feed position.
pub(crate) fn count_up(tenant: &str) -> String {
    format!(
        "INSERT INTO {FEED_POSITIONS} AS f (tenant_id, position) VALUES ({tenant}, 1) \
         ON CONFLICT (tenant_id) DO UPDATE SET position = f.position + 1"
    )
}

/// Statement that records the wanted event types of every tenant.
pub(crate) fn tell_all_wanted() -> String {
    format!(
        "INSERT INTO {FEED_POSITIONS} AS f (tenant_id, position, wanted) SELECT tenant_id, 0, bit_or(wanted) \
         FROM webhooks GROUP BY tenant_id ON CONFLICT (tenant_id) DO UPDATE SET wanted = excluded.wanted"
    )
}

/// Table with the tenant of each API key and invitation, by the hash of the secret. Secrets are looked up before
/// their tenant is known.
pub(crate) const CREDENTIAL_TENANTS: &str = "credential_tenants";

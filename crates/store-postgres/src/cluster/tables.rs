//! The tables of a cluster: where the rows of each are, and the tables that only a cluster has.

use candor_tables::schema::{Placement, placed};

use super::Cluster;
use crate::layout::{OneServer, SharedLayout};

/// Asks for the layout.
pub(crate) const LAYOUT: &str = "SELECT to_regclass('feed_positions') IS NOT NULL";

/// Returns the layout, given the answer to [`LAYOUT`].
pub(crate) fn layout_of(is_by_tenant: bool) -> SharedLayout {
    if is_by_tenant { &Cluster } else { &OneServer }
}

/// Table that a cluster distributes first; the others are colocated with it.
pub(crate) const FIRST_BY_TENANT: &str = "organizations";

/// Tables whose rows are on their tenant's node.
pub(crate) fn by_tenant() -> impl Iterator<Item = &'static str> {
    names(Placement::Tenant).chain([FEED_POSITIONS])
}

/// Small tables that every node has a copy of.
pub(crate) fn on_every_node() -> impl Iterator<Item = &'static str> {
    names(Placement::Reference).chain([CREDENTIAL_TENANTS])
}

/// Tables on the coordinator only, where the other nodes read them.
pub(crate) fn on_coordinator() -> impl Iterator<Item = &'static str> {
    names(Placement::Local).chain(["__diesel_schema_migrations"])
}

fn names(placement: Placement) -> impl Iterator<Item = &'static str> {
    placed(placement).map(|table| table.name)
}

/// Per tenant the position in the feed of its last event, which whoever adds one holds until the end: so they are committed in
/// the order of their positions, on whatever node. Beside it are the types of events that active subscriptions of the tenant
/// want, as bits: whoever adds an event that nobody wants learns so without looking at the subscriptions.
pub(crate) const FEED_POSITIONS: &str = "feed_positions";

/// The function that counts that position up and answers it, for a row of values that goes to the tenant's node as it is: the
/// node that is asked calls it before it sends the row. It fails where an event of some types is wanted.
pub(crate) const NEXT_POSITION: &str = "next_feed_position";

/// The statement that counts a tenant's position up.
pub(crate) fn count_up(tenant: &str) -> String {
    format!(
        "INSERT INTO {FEED_POSITIONS} AS f (tenant_id, position) VALUES ({tenant}, 1) \
         ON CONFLICT (tenant_id) DO UPDATE SET position = f.position + 1"
    )
}

/// The statement that says of every tenant which events are wanted.
pub(crate) fn tell_all_wanted() -> String {
    format!(
        "INSERT INTO {FEED_POSITIONS} AS f (tenant_id, position, wanted) SELECT tenant_id, 0, bit_or(wanted) FROM webhooks \
         GROUP BY tenant_id ON CONFLICT (tenant_id) DO UPDATE SET wanted = excluded.wanted"
    )
}

/// The tenant of each key and invitation, by the hash of its secret: they are looked up before anybody knows whose they are.
pub(crate) const CREDENTIAL_TENANTS: &str = "credential_tenants";

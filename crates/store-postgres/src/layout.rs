//! Where the tables are: all on one server, or spread by tenant over the nodes of a cluster (Citus).
//!
//! Spread tables are written and read through any of the nodes, by statements that the cluster's documents support: what a
//! request does concerns one tenant and so one node, and whatever looks at all tenants is one question to every node.

use candor_tables::flat::Fetch;
use candor_tables::schema::{Placement, placed};

use crate::failure::Failure;
use crate::select::flag;

/// How a database is laid out, as its catalogue says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Every table on one server.
    OneServer,
    /// The tables of tenants spread over nodes, as `candor migrate --distribute` leaves them.
    ByTenant,
}

impl Layout {
    /// Whether tenants are spread over nodes.
    pub(crate) const fn is_by_tenant(self) -> bool {
        matches!(self, Self::ByTenant)
    }

    /// What keeps several instances that look for the same rows from waiting for each other. No statement locks rows of
    /// several nodes in an order, so where tenants are spread it is left out.
    pub(crate) const fn passing_over(self) -> &'static str {
        match self {
            Self::OneServer => " FOR UPDATE SKIP LOCKED",
            Self::ByTenant => "",
        }
    }
}

/// Asks for the layout.
pub(crate) const LAYOUT: &str = "SELECT to_regclass('feed_positions') IS NOT NULL";

/// Reads the layout.
pub(crate) fn layout(row: &mut dyn Fetch) -> Result<Layout, Failure> {
    Ok(if flag(row)? { Layout::ByTenant } else { Layout::OneServer })
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

/// Columns with the hash of a secret by which a row is looked up before its tenant is known.
pub(crate) const SECRETS: [&str; 3] = ["hash", "previous_hash", "token_hash"];

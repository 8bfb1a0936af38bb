//! Counts of the deactivations by each provider.

use candor_domain::id::ConnectorKind;
use candor_provisioning::connector::BrakeCount;

use crate::flat::Table;
use crate::stored::stored;

stored! {
    BrakeCount, id: ConnectorKind, row: count;
    columns {
        id: IdColumn,
        resumed_at: Option<Time>,
        minutes: Json,
        people: Int,
        counted_at: Option<Time>,
    }
    table Table::with_name("scim_brakes");
}

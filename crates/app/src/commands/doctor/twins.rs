//! Check for twins: people, departments and attributes whose key another row has, from before keys were computed
//! as they are now.

use candor_domain::id::{Id, Kind};
use candor_port_storage::Storage;
use candor_service::context::twins::find_twins;

use super::finding::Finding;

/// Warns of twins, because no lookup by address or name finds them.
pub(super) async fn look(store: &dyn Storage) -> Vec<Finding> {
    let twins = match find_twins(store).await {
        Ok(twins) => twins,
        Err(error) => return vec![Finding::from_error("twins", &error)],
    };
    let people = list_twins(
        "mailboxes",
        &twins.people,
        "people have the same mailbox as another person, so a lookup by address does not find them",
        "`GET /v1/employees?filter[email]=` with the address finds the other person: give one of them another \
         `email`, or erase the duplicate; then restart the service",
    );
    let departments = list_twins(
        "department names",
        &twins.departments,
        "departments differ from another one only in the spelling of the name, and are not found by their name",
        "`GET /v1/departments?filter[name]=` with the name finds the other one: rename one of them, then restart \
         the service",
    );
    let attributes = list_twins(
        "attribute names",
        &twins.attributes,
        "attributes differ from another one only in the spelling of the name, and are not found by their name",
        "`GET /v1/attributes?filter[name]=` with the name finds the other one: rename one of them, then restart \
         the service",
    );
    [people, departments, attributes].into_iter().flatten().collect()
}

fn list_twins<K: Kind>(check: &'static str, ids: &[Id<K>], what: &str, remedy: &'static str) -> Option<Finding> {
    let id_list = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    (!ids.is_empty()).then(|| Finding::warn(check, format!("{} {what}: {id_list}", ids.len()), remedy))
}

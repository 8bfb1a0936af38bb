//! Query plan of the count of valid keys.

use candor_port_storage::change::ValidKeys;
use candor_store_testkit::Fixtures;

use super::database;
use super::webhooks::plans;
use crate::valid_keys::count_valid_keys;

#[test]
fn valid_keys_are_counted_in_ranges_of_an_index() {
    let (mut db, make) = (database(), Fixtures::new(5));
    let keys = ValidKeys { holder: Some(make.id()), session: Some(make.id()), at: make.tick() };
    db.asked.clear();
    count_valid_keys(&mut db, make.tenant(), keys, 20).unwrap();
    let steps: Vec<_> = plans(&mut db).into_iter().flat_map(|(_, steps)| steps).collect();
    let range = "api_keys_by_holder (tenant_id=? AND employee_id=? AND kind=? AND session_id=? AND expires_at";
    assert_eq!(steps.iter().filter(|step| step.contains(range)).count(), 2, "{steps:?}");
}

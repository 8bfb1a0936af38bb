//! Sizes of the largest organizations, measured in the background.

use candor_service::runtime::tenant_sizes::measure_all;

use crate::support::TestServices;

#[tokio::test]
async fn size_round_counts_stored_rows_of_each_organization() {
    let world = TestServices::new().await;
    let organization = world.admin().caller.tenant.organization;
    assert_eq!(world.services.tenant_sizes.largest(), []);
    measure_all(&world.services, || true).await.unwrap();
    let sizes_before = world.services.tenant_sizes.largest();
    assert_eq!(sizes_before[0].organization, organization);
    world.hire("ada", None).await;
    measure_all(&world.services, || false).await.unwrap();
    assert_eq!(world.services.tenant_sizes.largest(), sizes_before, "an interrupted round publishes no sizes");
    measure_all(&world.services, || true).await.unwrap();
    let sizes_after = world.services.tenant_sizes.largest();
    // Three rows: a person, an event and an audit entry.
    assert_eq!(sizes_after[0].rows, sizes_before[0].rows + 3);
    assert!(sizes_after[0].bytes > sizes_before[0].bytes + 100, "{sizes_after:?}");
}

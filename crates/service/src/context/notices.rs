//! Notifications of a change: one for each recipient (decisions G).

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_domain::notification::{Notice, Notification, Recipients};
use candor_domain::people::{Employee, Status};
use candor_domain::time::Timestamp;
use candor_port_storage::StorageExt;
use candor_tables::rows;

use crate::context::error::Error;
use crate::context::services::Services;

/// Maximum number of org admins notified of one event.
const MAX_ADMINS: u16 = 100;

/// Converts the notices of a decision to notifications, one for each recipient.
pub(crate) async fn build_notifications(
    services: &Services,
    tenant: Tenant,
    notices: &[Notice],
    at: Timestamp,
) -> Result<Vec<Notification>, Error> {
    let mut notifications = vec![];
    for notice in notices {
        let people = match notice.to {
            Recipients::Person(id) => vec![id],
            Recipients::ManagerOf(id) => managers(services, tenant, id).await?,
            Recipients::OrgAdmins => org_admins(services, tenant).await?,
        };
        notifications.extend(people.into_iter().map(|person| notice.for_recipient(services.id(at), person, at)));
    }
    Ok(notifications)
}

/// Returns a person's manager, or the org admins if the person has no manager or the manager is deactivated.
async fn managers(services: &Services, tenant: Tenant, person: EmployeeId) -> Result<Vec<EmployeeId>, Error> {
    let manager = services.store.row::<Employee>(tenant, person).await?.and_then(|row| row.value.manager_id);
    if let Some(manager) = manager
        && let Some(it) = services.store.row::<Employee>(tenant, manager).await?
        && it.value.status != Status::Deactivated
    {
        return Ok(vec![manager]);
    }
    org_admins(services, tenant).await
}

async fn org_admins(services: &Services, tenant: Tenant) -> Result<Vec<EmployeeId>, Error> {
    let admins = services.store.page(tenant, rows::employees::org_admins(MAX_ADMINS)).await?;
    Ok(admins.items.into_iter().map(|item| item.id).collect())
}

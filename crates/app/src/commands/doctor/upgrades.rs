//! Checks for settings that an upgrade left as they were, though a new organization would have others.

use candor_domain::id::OrganizationId;
use candor_port_storage::{Storage, StorageError};

use super::finding::Finding;

const CHECK: &str = "custom fields";
/// Organizations that are read at once.
const PAGE: u16 = 100;

/// Warns of organizations from before `visible_custom_fields`, whose keys show the custom fields of all people.
pub(super) async fn look(store: &dyn Storage) -> Option<Finding> {
    match showing_all_fields(store).await {
        Ok(showing) => showing.first().map(|first| {
            Finding::warning(
                CHECK,
                format!("{} organizations, such as {first}, show those of all people to every key", showing.len()),
                "list those that every key may show, with `PATCH /v1/organization {\"visible_custom_fields\": […]}`",
            )
        }),
        Err(error) => Some(Finding::failed(CHECK, &error)),
    }
}

async fn showing_all_fields(store: &dyn Storage) -> Result<Vec<OrganizationId>, StorageError> {
    let (mut showing, mut last) = (vec![], None);
    loop {
        let page = store.organizations(last, PAGE).await?;
        last = page.last().map(|organization| organization.id);
        showing.extend(page.iter().filter(|one| one.visible_custom_fields.is_none()).map(|one| one.id));
        if page.len() < usize::from(PAGE) {
            return Ok(showing);
        }
    }
}

//! Checks for data that an upgrade left unchanged, although a rule or limit of this version does not allow new
//! data of this form.

use std::collections::BTreeSet;

use candor_domain::access::{Environment, Tenant};
use candor_domain::id::OrganizationId;
use candor_domain::people::MAX_REPORTING_DEPTH;
use candor_domain::time::Timestamp;
use candor_port_storage::change::ValidKeys;
use candor_port_storage::{Storage, StorageError};

use super::finding::Finding;

/// Number of rows that are read at once.
const PAGE: u16 = 100;

/// The organizations that one check concerns.
struct Check {
    name: &'static str,
    /// Text that follows the number of these organizations and the id of the first one.
    what: String,
    remedy: &'static str,
    concerned: BTreeSet<OrganizationId>,
}

impl Check {
    fn new(name: &'static str, what: impl Into<String>, remedy: &'static str) -> Self {
        Self { name, what: what.into(), remedy, concerned: BTreeSet::new() }
    }

    fn to_finding(&self) -> Option<Finding> {
        let first = self.concerned.first()?;
        let says = format!("{} organizations, such as {first}, {}", self.concerned.len(), self.what);
        Some(Finding::warn(self.name, says, self.remedy))
    }
}

/// Warns of organizations whose data predates a rule or limit of this version. `max_keys` is the maximum number of
/// valid keys of an organization.
pub(super) async fn look(store: &dyn Storage, max_keys: u32, at: Timestamp) -> Vec<Finding> {
    match checks(store, max_keys, at).await {
        Ok(checks) => checks.iter().filter_map(Check::to_finding).collect(),
        Err(error) => vec![Finding::from_error("upgrades", &error)],
    }
}

async fn checks(store: &dyn Storage, max_keys: u32, at: Timestamp) -> Result<Vec<Check>, StorageError> {
    let mut fields = Check::new(
        "custom fields",
        "show the custom fields of all people to every key",
        "list the fields that every key may show, with `PATCH /v1/organization {\"visible_custom_fields\": […]}`",
    );
    let mut trees = Check::new(
        "reporting lines",
        format!("have people below more than {MAX_REPORTING_DEPTH} managers: no other person can be moved there"),
        "give such people another `manager_id`; nothing else is affected",
    );
    let mut keys = Check::new(
        "API keys",
        format!("have more than {max_keys} valid keys that act for no person, and cannot create another one"),
        "revoke keys that `last_used_at` shows as unused, or raise CANDOR_ORGANIZATION_MAX_KEYS",
    );
    let mut last = None;
    loop {
        let page = store.organizations(last, PAGE).await?;
        for organization in &page {
            let id = organization.id;
            if organization.visible_custom_fields.is_none() {
                fields.concerned.insert(id);
            }
            if is_too_deep(store, id).await? {
                trees.concerned.insert(id);
            }
            let of_organization = ValidKeys { holder: None, session: None, at };
            if store.count_valid_keys(id, of_organization, max_keys.saturating_add(1)).await? > max_keys {
                keys.concerned.insert(id);
            }
        }
        last = page.last().map(|organization| organization.id);
        if page.len() < usize::from(PAGE) {
            break;
        }
    }
    let mut subscriptions = Check::new(
        "subscriptions",
        "have webhooks that are older than `effective_event_types` and get events that their keys may not read",
        "set `event_types` of every webhook of the organization again, with a key that may read what the receiver needs; \
         then `candor doctor` names the next organization",
    );
    subscriptions.concerned = with_all_types(store).await?;
    Ok(vec![fields, trees, keys, subscriptions])
}

async fn is_too_deep(store: &dyn Storage, organization: OrganizationId) -> Result<bool, StorageError> {
    for environment in [Environment::Live, Environment::Test] {
        if store.tree_height(Tenant { organization, environment }).await? > MAX_REPORTING_DEPTH {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the organizations with a subscription that keeps all of its event types from before an upgrade.
async fn with_all_types(store: &dyn Storage) -> Result<BTreeSet<OrganizationId>, StorageError> {
    let (mut concerned, mut last) = (BTreeSet::new(), None);
    loop {
        let page = store.every_webhook(last, PAGE).await?;
        let keeping = page.iter().filter(|(_, subscription)| subscription.value.keeps_all_types);
        concerned.extend(keeping.map(|(tenant, _)| tenant.organization));
        last = page.last().map(|(tenant, subscription)| (*tenant, subscription.value.id));
        if page.len() < usize::from(PAGE) {
            return Ok(concerned);
        }
    }
}

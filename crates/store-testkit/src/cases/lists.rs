//! Lists of the store, with the functions that cases need to walk them.

use candor_domain::access::Tenant;
use candor_domain::access::api_key::{self, ApiKey};
use candor_domain::audit::{self, AuditEntry};
use candor_domain::catalog::{Attribute, Department, attribute, department};
use candor_domain::id::WebhookId;
use candor_domain::notification::{self, Notification};
use candor_domain::objective::{self, Objective};
use candor_domain::observation::{self, Observation};
use candor_domain::page::{Page, PageRequest, Sort, Sortable};
use candor_domain::params::Bounds;
use candor_domain::people::{self, Employee};
use candor_domain::summary::{self, Summary};
use candor_domain::time::Timestamp;
use candor_domain::visibility::Viewer;
use candor_port_storage::StorageExt;
use candor_port_storage::error::Read;
use candor_provisioning::Connector;
use candor_subscriptions::{AllDeliveriesFilter, Delivery, DeliveryFilter, Subscription};
use candor_tables::flat::Stored;
use candor_tables::listing::TypedListing;
use candor_tables::rows;

use crate::world::CaseContext;
use crate::{sort_entries, walk};

/// Makes the listing of a page in an order.
type MakeListing<T> = Box<dyn Fn(Sort, &PageRequest) -> TypedListing<T> + Send + Sync>;

/// A list with a fixed filter.
pub(crate) struct List<T> {
    pub(crate) id: fn(&T) -> [u8; 16],
    world: CaseContext,
    tenant: Tenant,
    listing: MakeListing<T>,
}

impl<T: Stored + Sortable + Clone + PartialEq + std::fmt::Debug> List<T> {
    fn new(
        world: &CaseContext,
        listing: impl Fn(Sort, &PageRequest) -> TypedListing<T> + Send + Sync + 'static,
    ) -> Self {
        let (world, tenant, listing) = (world.clone(), world.tenant, Box::new(listing));
        Self { id: |row| Stored::key(row).to_bytes(), world, tenant, listing }
    }

    async fn read(&self, sort: Sort, page: PageRequest) -> Read<Page<T>> {
        self.world.store.page(self.tenant, (self.listing)(sort, &page)).await
    }

    pub(crate) async fn page(&self, sort: Sort, page: PageRequest) -> Page<T> {
        self.read(sort, page).await.unwrap()
    }

    pub(crate) async fn walk(&self, sort: Sort, limit: u16) -> Vec<T> {
        walk(sort, limit, self.id, |page| self.read(sort, page)).await
    }

    /// Walks the list and compares its entries with those of `all` that match `wanted`.
    pub(crate) async fn must_show(
        &self,
        sort: Sort,
        limit: u16,
        all: &[T],
        wanted: impl Fn(&T) -> bool,
        what: &str,
    ) {
        let expected_rows: Vec<T> = all.iter().filter(|row| wanted(row)).cloned().collect();
        let sorted_rows = sort_entries(expected_rows, sort, self.id);
        let listed_rows = self.walk(sort, limit).await;
        let ids =
            |entries: &[T]| entries.iter().map(|entry| u128::from_be_bytes((self.id)(entry))).collect::<Vec<_>>();
        assert_eq!(ids(&listed_rows), ids(&sorted_rows), "{what}, {sort:?}, {limit} a page");
        assert_eq!(listed_rows, sorted_rows, "{what}, {sort:?}, {limit} a page");
    }
}

pub(crate) fn observations(world: &CaseContext, filter: observation::Filter) -> List<Observation> {
    observations_seen_by(world, filter, Viewer::Everything)
}

pub(crate) fn observations_seen_by(
    world: &CaseContext,
    filter: observation::Filter,
    viewer: Viewer,
) -> List<Observation> {
    List::new(world, move |sort, page| rows::observations::list(&filter, viewer, sort, page))
}

pub(crate) fn objectives(world: &CaseContext, filter: objective::Filter, viewer: Viewer) -> List<Objective> {
    List::new(world, move |sort, page| rows::objectives::list(&filter, viewer, sort, page))
}

pub(crate) fn summaries(world: &CaseContext, filter: summary::Filter, viewer: Viewer) -> List<Summary> {
    List::new(world, move |sort, page| rows::summaries::list(&filter, viewer, sort, page))
}

pub(crate) fn notifications(world: &CaseContext, filter: notification::Filter) -> List<Notification> {
    List::new(world, move |sort, page| rows::notifications::list(&filter, sort, page))
}

pub(crate) fn employees(world: &CaseContext, filter: people::Filter) -> List<Employee> {
    List::new(world, move |sort, page| rows::employees::list(&filter, sort, page))
}

pub(crate) fn departments(world: &CaseContext, filter: department::Filter) -> List<Department> {
    List::new(world, move |sort, page| rows::departments::list(&filter, sort, page))
}

pub(crate) fn attributes(world: &CaseContext, filter: attribute::Filter) -> List<Attribute> {
    List::new(world, move |sort, page| rows::attributes::list(&filter, sort, page))
}

pub(crate) fn audit_log(world: &CaseContext, filter: audit::Filter) -> List<AuditEntry> {
    List::new(world, move |sort, page| rows::audit::list(&filter, sort, page))
}

pub(crate) fn webhooks(world: &CaseContext, filter: candor_subscriptions::Filter) -> List<Subscription> {
    List::new(world, move |sort, page| rows::webhooks::list(&filter, sort, page))
}

pub(crate) fn deliveries(world: &CaseContext, webhook: WebhookId, filter: DeliveryFilter) -> List<Delivery> {
    List::new(world, move |sort, page| rows::deliveries::list(webhook, &filter, sort, page))
}

pub(crate) fn all_deliveries(
    world: &CaseContext,
    existing: &[WebhookId],
    filter: AllDeliveriesFilter,
) -> List<Delivery> {
    let existing = existing.to_vec();
    List::new(world, move |sort, page| rows::deliveries::list_all(&filter, &existing, sort, page))
}

pub(crate) fn connectors(world: &CaseContext, changed: Bounds<Timestamp>) -> List<Connector> {
    List::new(world, move |sort, page| rows::connectors::list(changed, sort, page))
}

pub(crate) fn api_keys(world: &CaseContext, filter: api_key::Filter) -> List<ApiKey> {
    let keys = List::new(world, move |sort, page| rows::api_keys::list(filter, sort, page));
    List { tenant: Tenant::live(world.tenant.organization), ..keys }
}

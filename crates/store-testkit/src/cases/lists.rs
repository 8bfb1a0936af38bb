//! Lists of the store, with the functions that cases need to walk them.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

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
use candor_tables::rows;

use crate::world::CaseContext;
use crate::{sort_entries, walk};

type Reading<T> = Pin<Box<dyn Future<Output = Read<Page<T>>> + Send>>;

/// A list with a fixed filter.
pub(crate) struct List<T> {
    pub(crate) id: fn(&T) -> [u8; 16],
    read: Box<dyn Fn(Sort, PageRequest) -> Reading<T> + Send + Sync>,
}

impl<T: Sortable + Clone + PartialEq + std::fmt::Debug> List<T> {
    fn new(
        id: fn(&T) -> [u8; 16],
        read: impl Fn(Sort, PageRequest) -> Reading<T> + Send + Sync + 'static,
    ) -> Self {
        Self { id, read: Box::new(read) }
    }

    pub(crate) async fn page(&self, sort: Sort, page: PageRequest) -> Page<T> {
        (self.read)(sort, page).await.unwrap()
    }

    pub(crate) async fn walk(&self, sort: Sort, limit: u16) -> Vec<T> {
        walk(sort, limit, self.id, |page| (self.read)(sort, page)).await
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
    let (world, filter) = (world.clone(), Arc::new(filter));
    List::new(
        |row| row.id.to_bytes(),
        move |sort, page| {
            let (world, filter) = (world.clone(), Arc::clone(&filter));
            Box::pin(async move {
                world.store.page(world.tenant, rows::observations::list(&filter, viewer, sort, &page)).await
            })
        },
    )
}

pub(crate) fn objectives(world: &CaseContext, filter: objective::Filter, viewer: Viewer) -> List<Objective> {
    let (world, filter) = (world.clone(), Arc::new(filter));
    List::new(
        |row| row.id.to_bytes(),
        move |sort, page| {
            let (world, filter) = (world.clone(), Arc::clone(&filter));
            Box::pin(async move {
                world.store.page(world.tenant, rows::objectives::list(&filter, viewer, sort, &page)).await
            })
        },
    )
}

pub(crate) fn summaries(world: &CaseContext, filter: summary::Filter, viewer: Viewer) -> List<Summary> {
    let (world, filter) = (world.clone(), Arc::new(filter));
    List::new(
        |row| row.id.to_bytes(),
        move |sort, page| {
            let (world, filter) = (world.clone(), Arc::clone(&filter));
            Box::pin(async move {
                world.store.page(world.tenant, rows::summaries::list(&filter, viewer, sort, &page)).await
            })
        },
    )
}

pub(crate) fn notifications(world: &CaseContext, filter: notification::Filter) -> List<Notification> {
    let (world, filter) = (world.clone(), Arc::new(filter));
    List::new(
        |row| row.id.to_bytes(),
        move |sort, page| {
            let (world, filter) = (world.clone(), Arc::clone(&filter));
            Box::pin(async move {
                world.store.page(world.tenant, rows::notifications::list(&filter, sort, &page)).await
            })
        },
    )
}

pub(crate) fn employees(world: &CaseContext, filter: people::Filter) -> List<Employee> {
    let (world, filter) = (world.clone(), Arc::new(filter));
    List::new(
        |row| row.id.to_bytes(),
        move |sort, page| {
            let (world, filter) = (world.clone(), Arc::clone(&filter));
            Box::pin(
                async move { world.store.page(world.tenant, rows::employees::list(&filter, sort, &page)).await },
            )
        },
    )
}

pub(crate) fn departments(world: &CaseContext, filter: department::Filter) -> List<Department> {
    let (world, filter) = (world.clone(), Arc::new(filter));
    List::new(
        |row| row.id.to_bytes(),
        move |sort, page| {
            let (world, filter) = (world.clone(), Arc::clone(&filter));
            Box::pin(
                async move { world.store.page(world.tenant, rows::departments::list(&filter, sort, &page)).await },
            )
        },
    )
}

pub(crate) fn attributes(world: &CaseContext, filter: attribute::Filter) -> List<Attribute> {
    let (world, filter) = (world.clone(), Arc::new(filter));
    List::new(
        |row| row.id.to_bytes(),
        move |sort, page| {
            let (world, filter) = (world.clone(), Arc::clone(&filter));
            Box::pin(
                async move { world.store.page(world.tenant, rows::attributes::list(&filter, sort, &page)).await },
            )
        },
    )
}

pub(crate) fn audit_log(world: &CaseContext, filter: audit::Filter) -> List<AuditEntry> {
    let (world, filter) = (world.clone(), Arc::new(filter));
    List::new(
        |row| row.id.to_bytes(),
        move |sort, page| {
            let (world, filter) = (world.clone(), Arc::clone(&filter));
            Box::pin(async move { world.store.page(world.tenant, rows::audit::list(&filter, sort, &page)).await })
        },
    )
}

pub(crate) fn webhooks(world: &CaseContext, filter: candor_subscriptions::Filter) -> List<Subscription> {
    let world = world.clone();
    List::new(
        |row| row.id.to_bytes(),
        move |sort, page| {
            let world = world.clone();
            Box::pin(
                async move { world.store.page(world.tenant, rows::webhooks::list(&filter, sort, &page)).await },
            )
        },
    )
}

pub(crate) fn deliveries(world: &CaseContext, webhook: WebhookId, filter: DeliveryFilter) -> List<Delivery> {
    let world = world.clone();
    List::new(
        |row| row.id.to_bytes(),
        move |sort, page| {
            let world = world.clone();
            Box::pin(async move {
                world.store.page(world.tenant, rows::deliveries::list(webhook, &filter, sort, &page)).await
            })
        },
    )
}

pub(crate) fn all_deliveries(
    world: &CaseContext,
    existing: &[WebhookId],
    filter: AllDeliveriesFilter,
) -> List<Delivery> {
    let (world, existing) = (world.clone(), existing.to_vec());
    List::new(
        |row| row.id.to_bytes(),
        move |sort, page| {
            let (world, existing) = (world.clone(), existing.clone());
            Box::pin(async move {
                let list = rows::deliveries::list_all(&filter, &existing, sort, &page);
                world.store.page(world.tenant, list).await
            })
        },
    )
}

pub(crate) fn connectors(world: &CaseContext, changed: Bounds<Timestamp>) -> List<Connector> {
    let world = world.clone();
    List::new(
        |row| row.id.to_bytes(),
        move |sort, page| {
            let world = world.clone();
            Box::pin(
                async move { world.store.page(world.tenant, rows::connectors::list(changed, sort, &page)).await },
            )
        },
    )
}

pub(crate) fn api_keys(world: &CaseContext, filter: api_key::Filter) -> List<ApiKey> {
    let world = world.clone();
    List::new(
        |row| row.id.to_bytes(),
        move |sort, page| {
            let world = world.clone();
            Box::pin(async move {
                world
                    .store
                    .page(Tenant::live(world.tenant.organization), rows::api_keys::list(filter, sort, &page))
                    .await
            })
        },
    )
}

//! Webhook subscriptions, and the log of what was sent to them.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::event::{Event, EventType};
use candor_domain::id::{DeliveryId, EventId, WebhookId};
use candor_domain::page::{Page, PageRequest, Sort};
use candor_domain::webhook::{Delivery, DeliveryFilter, Filter, Subscription};
use candor_port_storage::Versioned;
use candor_port_storage::listing::Listing;
use candor_port_storage::queue::{Again, Lane, Webhooks};
use candor_port_storage::store::{Read, StorageError};

use crate::PostgresStore;

#[async_trait]
impl Webhooks for PostgresStore {
    async fn webhook(&self, tenant: Tenant, id: WebhookId) -> Read<Option<Versioned<Subscription>>> {
        self.get(tenant, id.to_bytes()).await
    }

    async fn webhooks(
        &self,
        tenant: Tenant,
        filter: &Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Subscription>> {
        self.list(tenant, Listing::webhooks(filter, sort, page)).await
    }

    async fn every_webhook(&self, _: Option<Lane>, _: u16) -> Read<Vec<(Tenant, Versioned<Subscription>)>> {
        Err(StorageError::Failed("not there yet".to_owned()))
    }

    async fn delivery(&self, tenant: Tenant, webhook: WebhookId, id: DeliveryId) -> Read<Option<Delivery>> {
        let found = self.get::<Delivery>(tenant, id.to_bytes()).await?;
        Ok(found.map(|it| it.value).filter(|it| it.subscription_id == webhook))
    }

    async fn deliveries(
        &self,
        tenant: Tenant,
        webhook: WebhookId,
        filter: &DeliveryFilter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Delivery>> {
        self.list(tenant, Listing::deliveries(webhook, filter, sort, page)).await
    }

    async fn events_by_id(&self, _: &[(Tenant, EventId)]) -> Read<Vec<(Tenant, Event)>> {
        Err(StorageError::Failed("not there yet".to_owned()))
    }

    async fn to_deliver_again(
        &self,
        _: Tenant,
        _: WebhookId,
        _: &Again,
        _: Option<EventId>,
        _: u16,
    ) -> Read<Vec<(EventId, EventType)>> {
        Err(StorageError::Failed("not there yet".to_owned()))
    }
}

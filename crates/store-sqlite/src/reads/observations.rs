//! Observations.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::id::{AttributeKind, EmployeeKind, ObservationId};
use candor_domain::observation::{Filter, Observation};
use candor_domain::page::{Page, PageRequest, Sort};
use candor_port_storage::listing::Listing;
use candor_port_storage::store::{Observations, Read, Referred};
use candor_port_storage::{Versioned, Wanted};

use crate::{SqliteStore, table};

#[async_trait]
impl Observations for SqliteStore {
    async fn observation(&self, tenant: Tenant, id: ObservationId) -> Read<Option<Versioned<Observation>>> {
        self.look_up(move |db| table::get(db, tenant, id.to_bytes())).await
    }

    async fn observations(
        &self,
        tenant: Tenant,
        filter: &Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Observation>> {
        let listing = Listing::observations(filter, sort, page);
        self.page(tenant, listing).await
    }

    async fn referred(
        &self,
        tenant: Tenant,
        people: &[Wanted<EmployeeKind>],
        attributes: &[Wanted<AttributeKind>],
    ) -> Read<Referred> {
        let (people, attributes) = (people.to_vec(), attributes.to_vec());
        self.look_up_all(people.len() + attributes.len(), move |db| {
            let people = table::wanted(db, tenant, &people)?;
            Ok(Referred { people, attributes: table::wanted(db, tenant, &attributes)? })
        })
        .await
    }
}

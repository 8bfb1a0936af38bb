//! Lists, and the separation of unindexed lists from indexed ones (decision A17).

use std::sync::Arc;
use std::time::Instant;

use candor_domain::access::Tenant;
use candor_fair_share::{Places, SlowReads};
use candor_port_storage::error::Read;
use candor_port_storage::{SlowListError, TooSlowError};
use candor_tables::access_path::{AccessPath, unanswered_parameters};
use candor_tables::listing::Listing;

use crate::SqliteStore;
use crate::connection::readers::{self, Reads};
use crate::sql::Db;
use crate::sql::limit::{self, Limit};

/// Number of progress calls after which a list on the shared readers is interrupted and restarted on the slow
/// threads: about 50 ms. An index leads to the rows of a person or a tag, but only the read shows if they are few.
const LOOKS: u32 = 500;

/// Threads and slots for slow reads.
pub(crate) struct SlowReadThreads {
    pub(crate) limits: SlowReads,
    pub(crate) reads: Arc<Reads>,
    places: Places,
}

impl SlowReadThreads {
    pub(crate) fn new(limits: SlowReads) -> Self {
        Self { limits, reads: Arc::new(Reads::new()), places: Places::new(&limits) }
    }
}

impl SqliteStore {
    /// Reads lists: indexed ones on the shared readers, unindexed ones on the slow threads.
    pub(crate) async fn list<T: Send + 'static>(
        &self,
        tenant: Tenant,
        listings: Vec<Listing>,
        read: impl Fn(&mut Db, &[Listing]) -> Read<T> + Send + Sync + 'static,
    ) -> Read<T> {
        let (read, listings): (_, Arc<[Listing]>) = (Arc::new(read), listings.into());
        if listings.iter().all(|listing| AccessPath::new(listing).is_answered()) {
            let are_large = listings
                .first()
                .is_some_and(|list| self.row_sizes.are_large(tenant, list.table(), usize::from(list.limit) + 1));
            let (read, listings) = (Arc::clone(&read), Arc::clone(&listings));
            let quickly = move |db: &mut Db| Ok(limit::run_within(Limit::Looks(LOOKS), || read(db, &listings)));
            let quick_result = match are_large {
                false => self.read(tenant, quickly).await?,
                true => self.read_large(tenant, quickly).await?,
            };
            if let Some(rows) = quick_result {
                return rows;
            }
        }
        let conditions = unanswered_parameters(listings.iter());
        self.slowly(tenant, conditions, move |db| read(db, &listings)).await
    }

    /// Runs an unindexed read once a slot is free. Fails with [`TooSlowError`] if no slot becomes free in time, or if
    /// the read exceeds its deadline. `conditions` are the parameters that make the read slow.
    pub(crate) async fn slowly<T: Send + 'static>(
        &self,
        tenant: Tenant,
        conditions: Vec<String>,
        read: impl FnOnce(&mut Db) -> Read<T> + Send + 'static,
    ) -> Read<T> {
        let SlowReadThreads { limits, reads, places } = &self.slow;
        let place = places.take(tenant, &conditions).await?;
        let deadline = limits.deadline;
        let work = move |db: &mut Db| {
            // There are as many threads as slots, so the read starts at once.
            let end_time = Instant::now() + deadline;
            let limited_rows =
                if deadline.is_zero() { None } else { limit::run_within(Limit::Until(end_time), || read(db)) };
            drop(place);
            Ok(limited_rows)
        };
        let slow_result = readers::ask(reads, Some(tenant), work).await?;
        slow_result.unwrap_or_else(|| Err(TooSlowError { cause: SlowListError::OutOfTime, conditions }.into()))
    }
}

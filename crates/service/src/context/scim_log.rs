//! Collects SCIM requests, and writes them to the log of their connector in batches.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use candor_domain::access::Tenant;
use candor_domain::id::ConnectorId;
use candor_port_storage::{Storage, StorageError};
use candor_provisioning::connector::{KEPT_REQUESTS, ScimRequest};

/// Requests that are not in the store yet, by data set and connector. If a connector has more than the store keeps, the
/// oldest ones are dropped.
#[derive(Debug, Default)]
pub struct ScimLog {
    pending: Mutex<HashMap<(Tenant, ConnectorId), VecDeque<ScimRequest>>>,
}

impl ScimLog {
    /// Adds a request. It is stored with the next [`ScimLog::flush`].
    pub fn add(&self, tenant: Tenant, request: ScimRequest) {
        let request = request.truncate_texts();
        let connector = request.connector_id;
        self.put(tenant, connector, |pending| pending.push_back(request));
    }

    /// Adds requests of a connector that could not be stored, before the newer ones.
    fn put_back(&self, tenant: Tenant, connector: ConnectorId, requests: Vec<ScimRequest>) {
        self.put(tenant, connector, |pending| requests.into_iter().rev().for_each(|one| pending.push_front(one)));
    }

    fn put(&self, tenant: Tenant, connector: ConnectorId, add: impl FnOnce(&mut VecDeque<ScimRequest>)) {
        let most_kept = usize::try_from(KEPT_REQUESTS).unwrap_or(usize::MAX);
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let of_connector = pending.entry((tenant, connector)).or_default();
        add(of_connector);
        while of_connector.len() > most_kept {
            of_connector.pop_front();
        }
    }

    /// Stores the requests that are not in the store yet.
    ///
    /// # Errors
    /// [`StorageError`] if the store does not answer; the next call tries again.
    pub async fn flush(&self, store: &dyn Storage) -> Result<(), StorageError> {
        let pending = std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        let mut failure = None;
        for ((tenant, connector), requests) in pending {
            let requests: Vec<_> = requests.into();
            let log_result = match &failure {
                None => store.log_requests(tenant, connector, &requests).await,
                Some(_) => Ok(()),
            };
            if let Err(error) = log_result {
                failure = Some(error);
            }
            if failure.is_some() {
                self.put_back(tenant, connector, requests);
            }
        }
        failure.map_or(Ok(()), Err)
    }
}

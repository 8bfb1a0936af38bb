//! The empty store that each case gets.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use candor_port_storage::Storage;

/// A function that runs one statement on a store's database, bypassing the store.
pub type Sql = Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// An empty store for one case.
pub struct EmptyStore {
    /// The store under test.
    pub store: Arc<dyn Storage>,
    /// Runs a statement on the database, bypassing the store.
    pub sql: Sql,
    /// Resources of the store, dropped after the store and its runtime.
    pub keep: Box<dyn Any + Send>,
}

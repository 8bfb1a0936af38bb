//! Tests of SQLite specifics: query plans, group commits, migrations and the write-ahead log.

mod backfill;
mod backup;
mod groups;
mod lines;
mod lists;
mod migrations;
mod places;
mod schema;
mod slow;
mod webhooks;

use candor_domain::access::Tenant;
use candor_port_storage::Write;
use candor_store_testkit::Fixtures;

use crate::commit;
use crate::connection::open::{DatabaseLocation, Source};
use crate::migrate;
use crate::sql::Db;

/// Creates a migrated database in memory, without the threads of a store.
fn database() -> Db {
    let mut db = Source::new(&DatabaseLocation::Memory).unwrap().writer().unwrap();
    migrate::apply(&mut db).unwrap();
    db
}

/// Saves writes as one change set.
fn save(db: &mut Db, make: &Fixtures, tenant: Tenant, writes: Vec<Write>) {
    commit::carry_out(db, tenant, &make.change(writes)).unwrap();
}

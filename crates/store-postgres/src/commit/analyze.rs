//! Tells the server about tables that have just begun to grow.
//!
//! Until it has statistics, it takes every index that begins with the tenant for as good as any other, and keeps such
//! plans: a look-up by id then reads everybody, and so does every check of a foreign key. It looks by itself only once a
//! minute, and in that time thousands of people may be brought in.

use crate::connection::pool::Held;
use crate::connection::session::run;
use crate::nodes::Nodes;
use crate::select::flag;
use crate::sql::Sql;

/// Reporting lines of one change set from which on it is worth asking.
pub(super) const MANY: usize = 50;

const UNKNOWN: &str = "SELECT bool_or(reltuples < 100) FROM pg_class \
    WHERE oid IN ('employees'::regclass, 'reporting_lines'::regclass)";
const LOOK: &str = "ANALYZE employees, reporting_lines";

/// Has the server look at the tables, if it never saw anything in them. What fails here changes nothing but the speed.
pub(super) async fn sizes(nodes: &Nodes) {
    let Ok(held) = nodes.connection(None).await.map(Held::new) else { return };
    let looked = async {
        let connection = held.get()?;
        if run(connection, &Sql::plain(UNKNOWN), flag).await?.contains(&true) {
            run(connection, &Sql::plain(LOOK), |_| Ok(())).await?;
        }
        Ok::<(), crate::failure::Failure>(())
    };
    match looked.await {
        Ok(()) => held.give_back(),
        Err(failure) => tracing::debug!(reason = failure.text(), "the server did not look at its tables"),
    }
}

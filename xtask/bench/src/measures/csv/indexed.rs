//! What the index of words costs an upload: the same file on two databases, on one of which no row is named for the index.

use diesel::connection::{Connection, SimpleConnection};
use diesel::sqlite::SqliteConnection;

use super::people::{PEOPLE, Uploads, file};
use crate::Outcome;
use crate::admin::Admin;
use crate::data::words::wait_until_indexed;
use crate::options::{Options, Store};
use crate::report::{Limit, Line};
use crate::rounds::median;
use crate::service::Candor;
use crate::stage::Side;

const MOST: f64 = 1.3;
/// Rows on their way into the table of those that wait go nowhere.
const NOTHING_WAITS: [&str; 2] = [
    "CREATE FUNCTION nowhere() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
     CREATE TRIGGER nowhere BEFORE INSERT ON search_pending FOR EACH ROW EXECUTE FUNCTION nowhere()",
    "CREATE TRIGGER nowhere BEFORE INSERT ON search_pending BEGIN SELECT RAISE(IGNORE); END",
];

/// Uploads in turns to a database with the index, and to one without.
pub(super) fn run(side: &Side, options: &Options) -> Outcome<Line> {
    let databases = [side.on_an_empty_database("indexed")?, side.on_an_empty_database("unindexed")?];
    let accounts = [databases[0].account()?, databases[1].account()?];
    let nowhere = if side.store == Store::Postgres { NOTHING_WAITS[0] } else { NOTHING_WAITS[1] };
    execute(side.store, &databases[1], nowhere)?;
    let services = [databases[0].serve()?, databases[1].serve()?];
    let mut seconds = [vec![], vec![]];
    for round in 0..=options.rounds() {
        for (at, of) in seconds.iter_mut().enumerate() {
            let uploads = Uploads::at(services[at].address, &accounts[at].key)?;
            let upload = uploads.send(&file(&format!("i{round}-"), "Ada", PEOPLE), "created", PEOPLE)?;
            wait_until_indexed(side.store, databases[at].database())?;
            // Nothing was prepared before the first one.
            if round > 0 {
                of.push(upload);
            }
        }
    }
    let [with, without] = seconds;
    Ok(Line {
        what: format!("CSV of {PEOPLE} new people, against one without the index of words"),
        store: Some(side.store),
        measured: format!("{:.2} s", median(with.iter().copied())),
        against: format!("{:.2} s", median(without.iter().copied())),
        value: median(with.iter().zip(&without).map(|(with, without)| with / without)),
        unit: "×",
        limit: Limit::AtMost(MOST),
    })
}

fn execute(store: Store, candor: &Candor, statements: &str) -> Outcome {
    match store {
        Store::Postgres => Admin::connect(candor.database())?.run(statements),
        Store::Sqlite => {
            let path = candor.database().trim_start_matches("sqlite://");
            Ok(SqliteConnection::establish(path)?.batch_execute(statements)?)
        }
    }
}

//! Process-wide settings of SQLite.
//!
//! * Query planner stability guarantee: without it, SQLite prepares a statement with a bound `LIMIT` again at
//!   each run, which costs three times as much as the run.
//! * No mutex per connection: no connection is used by two threads at once, and locking for each column costs
//!   a tenth of a read.
//! * A progress handler, which interrupts statements at their [`limit`].

#![expect(unsafe_code, reason = "diesel has no call for a connection's options, so SQLite is asked directly")]

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::Once;

use libsqlite3_sys as ffi;

use crate::sql::limit;

/// Applies the settings to every connection that this process opens from now on.
pub(crate) fn keep() {
    static ONCE: Once = Once::new();
    // SAFETY: the mode takes no further argument. If SQLite is already in use, it refuses the mode, which only
    // makes reads slower. Connections may be sent to other threads in this mode, and are never shared.
    // `set_up_connection` has the signature of an extension's entry point and lives as long as the process.
    ONCE.call_once(|| unsafe {
        ffi::sqlite3_config(ffi::SQLITE_CONFIG_MULTITHREAD);
        ffi::sqlite3_auto_extension(Some(set_up_connection));
    });
}

unsafe extern "C" fn set_up_connection(
    connection: *mut ffi::sqlite3,
    _: *mut *mut c_char,
    _: *const ffi::sqlite3_api_routines,
) -> c_int {
    const ON: c_int = 1;
    // SAFETY: SQLite calls this with a connection that is being opened and that no other thread uses yet. The
    // option takes an int and a pointer for the new setting, which may be null. `check_limit` gets no data and
    // lives as long as the process.
    unsafe {
        ffi::sqlite3_progress_handler(connection, limit::STEPS, Some(check_limit), null_mut());
        ffi::sqlite3_db_config(connection, ffi::SQLITE_DBCONFIG_ENABLE_QPSG, ON, null_mut::<c_int>())
    }
}

/// Progress handler: a result other than 0 interrupts the statement. It must not panic.
extern "C" fn check_limit(_: *mut c_void) -> c_int {
    c_int::from(limit::is_over())
}

#[cfg(test)]
mod tests {
    use crate::connection::open::{DatabaseLocation, Source};
    use crate::sql::Sql;

    #[test]
    fn connections_share_no_page_cache_lock() {
        let mut db = Source::new(&DatabaseLocation::Memory).unwrap().writer().unwrap();
        let option_query = |text: &str| Sql::new("SELECT sqlite_compileoption_used(?)").bind(text);
        let options = ["ENABLE_MEMORY_MANAGEMENT", "ENABLE_API_ARMOR", "DEFAULT_MEMSTATUS=0"];
        assert_eq!(
            options.map(|option| db.number(option_query(option)).unwrap()),
            [0, 0, 1],
            "see .cargo/config.toml"
        );
    }
}

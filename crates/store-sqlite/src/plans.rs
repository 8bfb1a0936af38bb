//! How this process uses SQLite.
//!
//! Plans stay: without the query planner stability guarantee every statement with a bound `LIMIT` is prepared anew each
//! time it runs, which costs three times as much as running it. Nor does a connection lock itself for each column that
//! is read, which costs a tenth: none of them is used by two threads at once.

#![expect(unsafe_code, reason = "diesel has no call for a connection's options, so SQLite is asked directly")]

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;
use std::sync::Once;

use libsqlite3_sys as ffi;

/// Settles both for every connection that this process opens from now on.
pub(crate) fn keep() {
    static ONCE: Once = Once::new();
    // SAFETY: the mode takes no further argument. Where SQLite is in use already it refuses and stays as it is, which is
    // only slower. Connections may be sent to other threads in this mode, and are never shared. `stable_plans` has the
    // signature of an extension's entry point and lives as long as the process.
    ONCE.call_once(|| unsafe {
        ffi::sqlite3_config(ffi::SQLITE_CONFIG_MULTITHREAD);
        ffi::sqlite3_auto_extension(Some(stable_plans));
    });
}

unsafe extern "C" fn stable_plans(
    connection: *mut ffi::sqlite3,
    _: *mut *mut c_char,
    _: *const ffi::sqlite3_api_routines,
) -> c_int {
    const ON: c_int = 1;
    // SAFETY: SQLite calls this with a connection that is being opened; the option takes an int and a place for the
    // new setting, which may be null.
    unsafe { ffi::sqlite3_db_config(connection, ffi::SQLITE_DBCONFIG_ENABLE_QPSG, ON, null_mut::<c_int>()) }
}

#[cfg(test)]
mod tests {
    use crate::open::{Place, Source};
    use crate::sql::Sql;

    #[test]
    fn connections_share_no_lock_for_their_pages() {
        let mut db = Source::of(&Place::Memory).unwrap().writer().unwrap();
        let used = |it: &str| Sql::new("SELECT sqlite_compileoption_used(?)").bind(it);
        let options = ["ENABLE_MEMORY_MANAGEMENT", "ENABLE_API_ARMOR", "DEFAULT_MEMSTATUS=0"];
        assert_eq!(options.map(|it| db.number(used(it)).unwrap()), [0, 0, 1], "see .cargo/config.toml");
    }
}

//! Maps of the file that outlive a change.
//!
//! When another connection has written, SQLite unmaps all of the file, for systems on which a file that was cut and has
//! grown again is no longer the one that was mapped. Every connection then maps every page anew that it reads, which takes
//! longer than reading it. On Linux a map shows the file as it is, so there it stays for as long as it has most of the file.

#![expect(unsafe_code, reason = "SQLite's functions for files are in C")]

use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

use libsqlite3_sys as ffi;

use crate::open::MAPPED_BYTES;

/// The database of a connection.
const MAIN: &CStr = c"main";
/// The first version of the functions for files that knows maps.
const WITH_MAPS: c_int = 3;

/// The functions for files, as SQLite has them and as connections get them.
struct Files {
    /// Where SQLite has its own; another kind of file has others elsewhere.
    at: usize,
    own: ffi::sqlite3_io_methods,
    ours: ffi::sqlite3_io_methods,
}

static FILES: OnceLock<Files> = OnceLock::new();

/// Lets a connection keep its map, whoever writes.
///
/// # Safety
/// Nobody uses the connection yet.
pub(crate) unsafe fn keep(connection: *mut ffi::sqlite3) {
    let (mut file, mut vfs) = (null_mut::<ffi::sqlite3_file>(), null_mut::<ffi::sqlite3_vfs>());
    // SAFETY: both calls write a pointer, to what lives at least as long as the connection, or leave null. The file's
    // functions are read as a whole by those who use it; they are replaced before anybody does, by functions that live
    // as long as the process.
    unsafe {
        ffi::sqlite3_file_control(connection, MAIN.as_ptr(), ffi::SQLITE_FCNTL_FILE_POINTER, (&raw mut file).cast());
        ffi::sqlite3_file_control(connection, MAIN.as_ptr(), ffi::SQLITE_FCNTL_VFS_POINTER, (&raw mut vfs).cast());
        if !cfg!(target_os = "linux") || file.is_null() || vfs.is_null() || CStr::from_ptr((*vfs).zName) != c"unix" {
            return;
        }
        let Some(own) = (*file).pMethods.as_ref().filter(|it| it.iVersion >= WITH_MAPS) else { return };
        let at = (*file).pMethods.addr();
        let ours = ffi::sqlite3_io_methods { xUnfetch: Some(let_go), ..*own };
        let files = FILES.get_or_init(|| Files { at, own: *own, ours });
        if files.at == at {
            (*file).pMethods = &raw const files.ours;
        }
    }
}

/// Gives a page back, or the whole map where that is of no use any more.
unsafe extern "C" fn let_go(file: *mut ffi::sqlite3_file, offset: i64, page: *mut c_void) -> c_int {
    let Some(own) = FILES.get().map(|it| &it.own) else { return ffi::SQLITE_OK };
    let Some(give_back) = own.xUnfetch else { return ffi::SQLITE_OK };
    // SAFETY: SQLite calls this with one of its files, and these are its own functions for them.
    unsafe {
        if page.is_null() && is_mapped(own, file) == Some(true) {
            ffi::SQLITE_OK
        } else {
            give_back(file, offset, page)
        }
    }
}

/// Whether the map has most of the file, and nothing behind it.
///
/// # Safety
/// The functions are those of the file.
unsafe fn is_mapped(own: &ffi::sqlite3_io_methods, file: *mut ffi::sqlite3_file) -> Option<bool> {
    let (size_of, fetch, give_back) = (own.xFileSize?, own.xFetch?, own.xUnfetch?);
    let mut size = 0;
    // SAFETY: as the caller says; each page that is found is given back.
    unsafe {
        let has = |offset: i64| {
            let mut page = null_mut();
            let found = fetch(file, offset, 1, &raw mut page) == ffi::SQLITE_OK && !page.is_null();
            found && give_back(file, offset, page) == ffi::SQLITE_OK
        };
        let is_known = size_of(file, &raw mut size) == ffi::SQLITE_OK;
        let mapped = size.min(MAPPED_BYTES);
        Some(is_known && has(mapped / 8 * 7) && !has(size))
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs;
    use std::path::Path;

    use crate::open::{Place, Source};
    use crate::sql::{Db, Sql, Value};

    /// Where this process has mapped the file, and how many bytes of it.
    fn maps(file: &Path) -> Vec<(u64, u64)> {
        let all = fs::read_to_string("/proc/self/maps").unwrap();
        let lines = all.lines().filter(|it| it.split(' ').next_back().is_some_and(|it| Path::new(it) == file));
        let bounds = lines.map(|it| it.split(' ').next().unwrap().split_once('-').unwrap());
        let number = |it| u64::from_str_radix(it, 16).unwrap();
        bounds.map(|(from, to)| (number(from), number(to) - number(from))).collect()
    }

    fn sum(db: &mut Db) -> i64 {
        db.number(Sql::new("SELECT coalesce(sum(length(a)), 0) FROM t")).unwrap()
    }

    fn add(writer: &mut Db, bytes: i64) {
        writer
            .execute(&Sql::composed("INSERT INTO t VALUES (randomblob(?))".to_owned(), vec![Value::Int(bytes)]))
            .unwrap();
        writer.number(Sql::new("PRAGMA wal_checkpoint(RESTART)")).unwrap();
    }

    #[test]
    fn a_map_stays_when_another_connection_writes_and_follows_a_file_that_grows_or_shrinks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("candor.db");
        let source = Source::of(&Place::File(path.clone())).unwrap();
        let mut writer = source.writer().unwrap();
        writer.batch("CREATE TABLE t (a BLOB)").unwrap();
        add(&mut writer, 1_000_000);
        let of_writer = maps(&path);
        let mut reader = source.reader().unwrap();
        assert_eq!(sum(&mut reader), 1_000_000);
        let mut first = maps(&path);
        first.retain(|it| !of_writer.contains(it));
        assert_eq!(first.len(), 1, "the reader's map");

        add(&mut writer, 10_000);
        assert_eq!(sum(&mut reader), 1_010_000);
        assert!(maps(&path).contains(&first[0]), "{first:?} became {:?}", maps(&path));

        add(&mut writer, 2_000_000);
        assert_eq!(sum(&mut reader), 3_010_000);
        let of_most = |it: &[(u64, u64)]| it.iter().filter(|it| it.1 > 2_000_000).count();
        assert!(of_most(&maps(&path)) >= 1, "{:?}", maps(&path));

        writer.execute(&Sql::new("DELETE FROM t WHERE length(a) > 100000")).unwrap();
        writer.batch("VACUUM").unwrap();
        writer.number(Sql::new("PRAGMA wal_checkpoint(RESTART)")).unwrap();
        assert!(fs::metadata(&path).unwrap().len() < 100_000);
        assert_eq!(sum(&mut reader), 10_000);
        add(&mut writer, 20_000);
        assert_eq!(sum(&mut reader), 30_000);
        assert_eq!(of_most(&maps(&path)), 0, "{:?}", maps(&path));
    }
}

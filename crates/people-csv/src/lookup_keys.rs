//! Keys by which a store finds the people and departments that a file refers to. They are made while the file is read,
//! row by row, because the work grows with the file.

use std::collections::BTreeSet;

use candor_domain::catalog::department;
use candor_domain::external_id::EXTERNAL_ID_CHARS;
use candor_domain::text::{EMAIL_CHARS, address_key, name_key};

use super::columns::Column;
use super::{CellCounter, CsvRow, File};

/// Distinct keys of the stored rows that a file refers to, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LookupKeys {
    /// Address keys of the rows, and of the managers that the rows name.
    pub emails: Vec<String>,
    /// External ids of the rows.
    pub external_ids: Vec<String>,
    /// Keys of the names of departments.
    pub departments: Vec<String>,
}

/// Maximum length of an address key, in bytes. The address of a longer key is too long for a person.
const ADDRESS_BYTES: usize = 4 * EMAIL_CHARS;

impl File {
    /// Returns the keys by which the stored rows that the file refers to are found. Reports the work on each row
    /// to `progress`, in cells.
    #[must_use]
    pub fn lookup_keys(&self, progress: &mut CellCounter<'_>) -> LookupKeys {
        let (mut emails, mut external_ids, mut departments) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for row in &self.rows {
            progress(self.row_cells(row));
            let addresses = [Some(row.email_key.as_str()), self.manager_key(row)];
            emails.extend(addresses.into_iter().flatten().filter(|key| key.len() <= ADDRESS_BYTES));
            external_ids.extend(self.external_id(row).filter(|id| has_at_most(id, EXTERNAL_ID_CHARS)));
            departments.extend(self.department_key(row));
        }
        LookupKeys {
            emails: findable(&emails),
            external_ids: findable(&external_ids),
            departments: findable(&departments),
        }
    }

    /// Returns the address key of a row's manager, or `None` if the row has none.
    pub(super) fn manager_key<'a>(&self, row: &'a CsvRow) -> Option<&'a str> {
        self.cell(row, &Column::ManagerEmail).and(row.manager_key.as_deref())
    }

    /// Returns the name key of a row's department, or `None` if the row has none.
    pub(super) fn department_key<'a>(&self, row: &'a CsvRow) -> Option<&'a str> {
        self.cell(row, &Column::DepartmentName).and(row.department_key.as_deref())
    }
}

impl CsvRow {
    /// Sets the key of a trimmed cell. For a text that is too long for its column no key is computed, because the row
    /// is refused and the work grows with the text: `email_key` is then the text itself, the other keys stay `None`.
    pub(super) fn make_key(&mut self, column: &Column, text: &str) {
        match column {
            Column::Email if text.len() <= ADDRESS_BYTES => self.email_key = address_key(text),
            Column::Email => text.clone_into(&mut self.email_key),
            Column::ManagerEmail if text.len() <= ADDRESS_BYTES => self.manager_key = Some(address_key(text)),
            Column::DepartmentName if has_at_most(text, department::NAME_CHARS) => {
                self.department_key = Some(name_key(text));
            }
            Column::ManagerEmail
            | Column::DepartmentName
            | Column::Member { .. }
            | Column::Status
            | Column::Custom(_)
            | Column::Unknown => {}
        }
    }

    /// Returns the work of making the keys of the row, in cells: one cell, plus one cell for each byte of a key
    /// that has characters outside of ASCII or an encoded domain (`xn--`). Folding or encoding a character takes
    /// as long as the lookup of a cell.
    pub(super) fn key_work(&self) -> usize {
        let keys = [Some(&self.email_key), self.manager_key.as_ref(), self.department_key.as_ref()];
        let slow_keys = keys.into_iter().flatten().filter(|key| !key.is_ascii() || key.contains("xn--"));
        1 + slow_keys.map(String::len).sum::<usize>()
    }
}

/// Returns the texts without empty strings and strings with NUL: neither can match, and PostgreSQL rejects NUL in text.
fn findable(texts: &BTreeSet<&str>) -> Vec<String> {
    texts.iter().filter(|text| !text.is_empty() && !text.contains('\0')).map(|text| (*text).to_owned()).collect()
}

/// Returns `true` if a text has at most `chars` characters. Reads at most one character more.
fn has_at_most(text: &str, chars: usize) -> bool {
    text.chars().nth(chars).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a file of nine rows with this department, and the work on each row that was reported.
    fn read(department: &str) -> (File, Vec<usize>) {
        let mut pieces = vec![];
        let text =
            format!("email,manager_email,department_name\n{}", format!("a@example.com,,{department}\n").repeat(9));
        let file = File::read_in_pieces(text.as_bytes(), &mut |cells| pieces.push(cells)).unwrap();
        (file, pieces)
    }

    #[test]
    fn cell_above_its_maximum_length_gets_no_key() {
        let (name, id) = ("\u{1f82}".repeat(department::NAME_CHARS), "x".repeat(EXTERNAL_ID_CHARS));
        let address = format!("{}@example.com", "x".repeat(ADDRESS_BYTES));
        let text = format!(
            "email,manager_email,department_name,external_id\n\
             A@example.com,B@example.com, {name} ,{id}\n\
             {address},{address},{name}\u{1f82},{id}x\n"
        );
        let file = File::read(text.as_bytes()).unwrap();
        let expected_keys = LookupKeys {
            emails: vec!["a@example.com".to_owned(), "b@example.com".to_owned()],
            external_ids: vec![id],
            departments: vec![name_key(&name)],
        };
        assert_eq!(file.lookup_keys(&mut |_| {}), expected_keys);
        let row = &file.rows[1];
        assert_eq!((&row.email_key, &row.manager_key, &row.department_key), (&address, &None, &None));
    }

    #[test]
    fn work_on_keys_grows_with_their_bytes() {
        let (short, long) = (read("\u{1f82}").1, read(&"\u{1f82}".repeat(department::NAME_CHARS)).1);
        let work_of_name = name_key(&"\u{1f82}".repeat(department::NAME_CHARS - 1)).len();
        assert!(
            long.iter().sum::<usize>() >= short.iter().sum::<usize>() + 9 * work_of_name,
            "{short:?} {long:?}"
        );
        let (file, _) = read(&"x".repeat(64 * 1024));
        let mut pieces = vec![];
        let _keys = file.lookup_keys(&mut |cells| pieces.push(cells));
        assert_eq!(pieces.len(), 9, "each row is counted");
        assert!(pieces.iter().all(|cells| *cells >= 1024), "{pieces:?}");
    }
}

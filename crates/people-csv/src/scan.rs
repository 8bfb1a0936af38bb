//! Strict parser that divides the text of a file into records (RFC 4180).
//!
//! The `csv` crate reads the cells, but tolerates broken quoting: it would accept a file that is truncated within
//! a quoted cell. So each record is checked before it is read, and an error names its position.

use csv::{Reader, ReaderBuilder, StringRecord};

use super::MAX_COLUMNS;

/// A syntax error and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CsvSyntaxError {
    /// Line of the text, from 1.
    pub(super) line: usize,
    /// Place in the line in characters, from 1.
    pub(super) column: usize,
    /// Syntax error at that position.
    pub(super) reason: &'static str,
}

/// A record of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record<'s, 'a> {
    /// Row number in a spreadsheet, from 1. Blank rows count.
    pub(super) number: u32,
    /// The text, with the line end.
    pub(super) raw: &'a str,
    /// The cells. Empty for an empty line, and for a record that is too wide.
    pub(super) cells: &'s StringRecord,
    /// `true` if the record has more cells than a file may have columns. Such a record is not read to its end:
    /// cells take many times the memory of the commas between them, and the file is refused anyway.
    pub(super) is_too_wide: bool,
    /// `true` if a line end follows, so that the record cannot be truncated.
    pub(super) is_ended: bool,
}

/// Number of bytes that count as one cell of work, in a record with long cells.
const BYTES_OF_A_CELL: usize = 8;

impl Record<'_, '_> {
    /// Returns the work of reading the record, in cells.
    pub(super) fn work(&self) -> usize {
        self.cells.len().max(self.raw.len() / BYTES_OF_A_CELL)
    }

    /// Returns `true` if every cell is empty. Spreadsheets write such rows where cells were once filled.
    pub(super) fn is_blank(&self) -> bool {
        !self.is_too_wide && self.cells.iter().all(str::is_empty)
    }
}

/// Iterates over the records of a text.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    number: u32,
    reader: Reader<&'a [u8]>,
    cells: StringRecord,
}

/// The byte order mark of UTF-8 files.
pub(super) const BOM: char = '\u{feff}';

/// The delimiter after a cell.
#[derive(PartialEq, Eq)]
enum End {
    Comma,
    Line,
    Text,
}

/// A record without syntax errors, scanned to its end or until it has too many cells.
struct Span {
    begin: usize,
    cells: usize,
    end: End,
}

impl<'a> Scanner<'a> {
    /// Creates a scanner at the beginning of a file.
    ///
    /// # Errors
    /// A file that is not UTF-8.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, CsvSyntaxError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let (valid, _) = bytes.split_at(error.valid_up_to());
            let reason = "not UTF-8 (it may be in a local encoding such as Windows-1252: save it as CSV UTF-8)";
            CsvSyntaxError::at_end_of(std::str::from_utf8(valid).unwrap_or_default(), reason)
        })?;
        let bare = text.trim_start_matches(BOM);
        let reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bare.as_bytes());
        Ok(Self { text: bare, at: 0, number: 0, reader, cells: StringRecord::new() })
    }

    /// Returns the next record, or `None` at the end of the text.
    ///
    /// # Errors
    /// A record with broken quoting, or with a carriage return outside of quotes and without a line feed.
    pub(super) fn next(&mut self) -> Result<Option<Record<'_, 'a>>, CsvSyntaxError> {
        if self.at >= self.text.len() {
            return Ok(None);
        }
        self.number = self.number.saturating_add(1);
        let Span { begin, cells, end } = self.scan_record()?;
        let (raw, is_too_wide) = (&self.text[begin..self.at], cells > MAX_COLUMNS);
        self.cells.clear();
        // For an empty line, the reader would skip ahead and return the cells of a later record.
        let is_empty = raw.trim_end_matches(['\r', '\n']).is_empty();
        if !is_empty && !is_too_wide && !self.reader.read_record(&mut self.cells).is_ok_and(|was_read| was_read) {
            return Err(self.error_at(begin, "a record that cannot be read"));
        }
        Ok(Some(Record { number: self.number, raw, cells: &self.cells, is_too_wide, is_ended: end == End::Line }))
    }

    /// Scans a record to its end, or until it has too many cells.
    fn scan_record(&mut self) -> Result<Span, CsvSyntaxError> {
        let (begin, mut cells) = (self.at, 0);
        loop {
            self.skip_cell()?;
            let end = self.skip_delimiter()?;
            cells += 1;
            if end != End::Comma || cells > MAX_COLUMNS {
                return Ok(Span { begin, cells, end });
            }
        }
    }

    /// Moves past a cell.
    fn skip_cell(&mut self) -> Result<(), CsvSyntaxError> {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.first() == Some(&b'"') {
            return self.skip_quoted();
        }
        let length =
            rest.iter().position(|byte| matches!(byte, b',' | b'\n' | b'\r' | b'"')).unwrap_or(rest.len());
        self.at += length;
        if rest.get(length) == Some(&b'"') {
            return Err(self.error_at(self.at, "a quote in a cell that does not begin with one"));
        }
        Ok(())
    }

    /// Moves past a quoted cell, in which a doubled quote stands for one.
    fn skip_quoted(&mut self) -> Result<(), CsvSyntaxError> {
        let begin = self.at;
        loop {
            let Some(length) = self.text[self.at + 1..].find('"') else {
                return Err(self.error_at(begin, "a quoted cell that does not end"));
            };
            self.at += length + 2;
            if self.text.as_bytes().get(self.at) != Some(&b'"') {
                return Ok(());
            }
        }
    }

    /// Moves past the delimiter after a cell.
    fn skip_delimiter(&mut self) -> Result<End, CsvSyntaxError> {
        let rest = &self.text.as_bytes()[self.at..];
        let (length, end) = match rest {
            [] => (0, End::Text),
            [b',', ..] => (1, End::Comma),
            [b'\n', ..] => (1, End::Line),
            [b'\r', b'\n', ..] => (2, End::Line),
            [b'\r', b'\r', b'\n', ..] => {
                return Err(
                    self.error_at(self.at, "two carriage returns before a line feed; write the file with one")
                );
            }
            [b'\r', ..] if !self.text.contains('\n') => {
                let reason = "a carriage return at the end of a line, as old Macintosh programs write it; save the file \
                              as CSV UTF-8";
                return Err(self.error_at(self.at, reason));
            }
            [b'\r', ..] => {
                return Err(self.error_at(
                    self.at,
                    "a carriage return without a line feed; remove it, or put the cell in quotation marks",
                ));
            }
            _ => return Err(self.error_at(self.at, "text after the closing quote of a cell")),
        };
        self.at += length;
        Ok(end)
    }

    fn error_at(&self, at: usize, reason: &'static str) -> CsvSyntaxError {
        CsvSyntaxError::at_end_of(self.text.get(..at).unwrap_or_default(), reason)
    }
}

impl CsvSyntaxError {
    /// Creates an error at the position that follows the text `before`.
    fn at_end_of(before: &str, reason: &'static str) -> Self {
        let line = before.matches('\n').count() + 1;
        let line_start = before.rsplit('\n').next().unwrap_or_default().trim_start_matches(BOM);
        Self { line, column: line_start.chars().count() + 1, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(bytes: &[u8]) -> Result<Vec<(u32, Vec<String>, bool)>, CsvSyntaxError> {
        let mut scanner = Scanner::new(bytes)?;
        let mut all = Vec::new();
        while let Some(record) = scanner.next()? {
            all.push((record.number, record.cells.iter().map(ToString::to_string).collect(), record.is_ended));
        }
        Ok(all)
    }

    fn cells(text: &str) -> Vec<Vec<String>> {
        scan(text.as_bytes()).unwrap().into_iter().map(|record| record.1).collect()
    }

    #[test]
    fn quoted_cell_holds_commas_line_ends_and_quotes() {
        let expected_rows = vec![vec!["a,b".to_owned(), "c\r\nd".to_owned(), "e\"f".to_owned(), String::new()]];
        assert_eq!(cells("\"a,b\",\"c\r\nd\",\"e\"\"f\",\"\"\r\n"), expected_rows);
        assert_eq!(cells("\u{feff}a,b"), [["a", "b"]]);
        assert_eq!(cells("\u{feff}\u{feff}a,b"), [["a", "b"]], "a program added a mark to a file that had one");
        assert_eq!(cells("\"\"\"\""), [["\""]]);
    }

    #[test]
    fn record_number_is_the_row_in_a_spreadsheet() {
        let records = scan(b"a\r\n\n\"x\ny\"\nz").unwrap();
        let first_cells: Vec<_> = records
            .iter()
            .map(|(number, cells, ended)| (*number, cells.first().map_or("", String::as_str), *ended))
            .collect();
        assert_eq!(first_cells, [(1, "a", true), (2, "", true), (3, "x\ny", true), (4, "z", false)]);
    }

    #[test]
    fn record_with_too_many_cells_is_not_collected() {
        let text = ",".repeat(100_000);
        let mut scanner = Scanner::new(text.as_bytes()).unwrap();
        let record = scanner.next().unwrap().unwrap();
        assert_eq!((record.raw.len(), record.cells.len()), (MAX_COLUMNS + 1, 0));
        assert!(record.is_too_wide && !record.is_blank());
        let text = ",".repeat(MAX_COLUMNS - 1);
        let mut scanner = Scanner::new(text.as_bytes()).unwrap();
        let record = scanner.next().unwrap().unwrap();
        assert_eq!((record.cells.len(), record.is_too_wide, record.is_blank()), (MAX_COLUMNS, false, true));
    }

    #[test]
    fn syntax_error_names_its_line_and_column() {
        for (text, line, column) in [
            (&b"a,b\nc,\"d"[..], 2, 3),
            (b"a\"b", 1, 2),
            (b"\"a\"b", 1, 4),
            (b"a\rb", 1, 2),
            (b"a\n\xffb", 2, 1),
            (b"\xef\xbb\xbfa\"", 1, 2),
            ("a,b\nÅsa \"Adi\",x".as_bytes(), 2, 5),
        ] {
            let error = scan(text).unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{error:?}");
        }
    }
}

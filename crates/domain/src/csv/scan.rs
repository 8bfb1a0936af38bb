//! Takes the text of a file apart into records (RFC 4180), strictly.
//!
//! The `csv` crate reads the cells. It forgives broken quoting, and would read a file that was cut within a quoted cell as
//! if it had ended there; so each record is looked through before it is read, and what is broken is an error with its
//! place.

use csv::{Reader, ReaderBuilder, StringRecord};

use super::MAX_COLUMNS;

/// What is wrong with the text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Broken {
    /// The line of the text, from 1.
    pub(super) line: usize,
    /// The byte of the file, from 1.
    pub(super) byte: usize,
    /// What is wrong there.
    pub(super) reason: &'static str,
}

/// One record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record<'s, 'a> {
    /// Its row in a spreadsheet, from 1. Blank rows count.
    pub(super) number: u32,
    /// Its text, with the line end.
    pub(super) raw: &'a str,
    /// Its cells; none of a blank line, and none if they are too many.
    pub(super) cells: &'s StringRecord,
    /// Whether it has more cells than a file may have columns. It was not read to its end then, because cells take many
    /// times as much memory as the commas between them, and the file is to be refused.
    pub(super) is_too_wide: bool,
    /// Whether a line end follows, so that it cannot have been cut.
    pub(super) is_ended: bool,
}

impl Record<'_, '_> {
    /// Whether every cell is empty: spreadsheets write such rows where somebody once typed something.
    pub(super) fn is_blank(&self) -> bool {
        !self.is_too_wide && self.cells.iter().all(str::is_empty)
    }
}

/// Goes through a text record by record.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    offset: usize,
    number: u32,
    reader: Reader<&'a [u8]>,
    cells: StringRecord,
}

/// A byte order mark.
pub(super) const BOM: char = '\u{feff}';

/// What follows a cell.
#[derive(PartialEq, Eq)]
enum End {
    Comma,
    Line,
    Text,
}

/// A record that is well-formed as far as it was looked through.
struct Span {
    begin: usize,
    cells: usize,
    end: End,
}

impl<'a> Scanner<'a> {
    /// Begins with a file.
    ///
    /// # Errors
    /// It is not UTF-8.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Broken> {
        let text = std::str::from_utf8(bytes).map_err(|it| {
            let before = &bytes[..it.valid_up_to()];
            Broken { line: lines(before), byte: before.len() + 1, reason: "not UTF-8" }
        })?;
        let bare = text.trim_start_matches(BOM);
        let reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bare.as_bytes());
        let (offset, cells) = (text.len() - bare.len(), StringRecord::new());
        Ok(Self { text: bare, at: 0, offset, number: 0, reader, cells })
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// Broken quoting.
    pub(super) fn next(&mut self) -> Result<Option<Record<'_, 'a>>, Broken> {
        if self.at >= self.text.len() {
            return Ok(None);
        }
        self.number = self.number.saturating_add(1);
        let Span { begin, cells, end } = self.span()?;
        let (raw, is_too_wide) = (&self.text[begin..self.at], cells > MAX_COLUMNS);
        self.cells.clear();
        // The reader passes empty lines over by itself.
        let is_empty = raw.trim_end_matches(['\r', '\n']).is_empty();
        if !is_empty && !is_too_wide && !self.reader.read_record(&mut self.cells).is_ok_and(|it| it) {
            return Err(self.broken(begin, "a record that cannot be read"));
        }
        Ok(Some(Record { number: self.number, raw, cells: &self.cells, is_too_wide, is_ended: end == End::Line }))
    }

    /// Looks a record through to its end, or as far as it takes to see that it has too many cells.
    fn span(&mut self) -> Result<Span, Broken> {
        let (begin, mut cells) = (self.at, 0);
        loop {
            self.cell()?;
            let end = self.end()?;
            cells += 1;
            if end != End::Comma || cells > MAX_COLUMNS {
                return Ok(Span { begin, cells, end });
            }
        }
    }

    /// Goes behind a cell.
    fn cell(&mut self) -> Result<(), Broken> {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.first() == Some(&b'"') {
            return self.quoted();
        }
        let length = rest.iter().position(|it| matches!(it, b',' | b'\n' | b'\r' | b'"')).unwrap_or(rest.len());
        self.at += length;
        if rest.get(length) == Some(&b'"') {
            return Err(self.broken(self.at, "a quote in a cell that does not begin with one"));
        }
        Ok(())
    }

    /// Goes behind a cell in quotes, in which two of them stand for one.
    fn quoted(&mut self) -> Result<(), Broken> {
        let begin = self.at;
        loop {
            let Some(length) = self.text[self.at + 1..].find('"') else {
                return Err(self.broken(begin, "a quoted cell that does not end"));
            };
            self.at += length + 2;
            if self.text.as_bytes().get(self.at) != Some(&b'"') {
                return Ok(());
            }
        }
    }

    fn end(&mut self) -> Result<End, Broken> {
        let rest = &self.text.as_bytes()[self.at..];
        let (length, end) = match rest {
            [] => (0, End::Text),
            [b',', ..] => (1, End::Comma),
            [b'\n', ..] => (1, End::Line),
            [b'\r', b'\n', ..] => (2, End::Line),
            [b'\r', ..] => return Err(self.broken(self.at, "a carriage return without a line feed behind it")),
            _ => return Err(self.broken(self.at, "text behind the quote that ends a cell")),
        };
        self.at += length;
        Ok(end)
    }

    fn broken(&self, at: usize, reason: &'static str) -> Broken {
        Broken { line: lines(&self.text.as_bytes()[..at]), byte: self.offset + at + 1, reason }
    }
}

fn lines(before: &[u8]) -> usize {
    before.iter().filter(|it| **it == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(bytes: &[u8]) -> Result<Vec<(u32, Vec<String>, bool)>, Broken> {
        let mut scanner = Scanner::new(bytes)?;
        let mut all = Vec::new();
        while let Some(it) = scanner.next()? {
            all.push((it.number, it.cells.iter().map(ToString::to_string).collect(), it.is_ended));
        }
        Ok(all)
    }

    fn cells(text: &str) -> Vec<Vec<String>> {
        scanned(text.as_bytes()).unwrap().into_iter().map(|it| it.1).collect()
    }

    #[test]
    fn quotes_hold_commas_line_ends_and_doubled_quotes() {
        let wanted = vec![vec!["a,b".to_owned(), "c\r\nd".to_owned(), "e\"f".to_owned(), String::new()]];
        assert_eq!(cells("\"a,b\",\"c\r\nd\",\"e\"\"f\",\"\"\r\n"), wanted);
        assert_eq!(cells("\u{feff}a,b"), [["a", "b"]]);
        assert_eq!(cells("\u{feff}\u{feff}a,b"), [["a", "b"]], "programs that add one to a file that has one");
        assert_eq!(cells("\"\"\"\""), [["\""]]);
    }

    #[test]
    fn a_record_has_the_number_of_its_row_in_a_spreadsheet() {
        let found = scanned(b"a\r\n\n\"x\ny\"\nz").unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|(number, cells, ended)| (*number, cells.first().map_or("", String::as_str), *ended))
            .collect();
        assert_eq!(found, [(1, "a", true), (2, "", true), (3, "x\ny", true), (4, "z", false)]);
    }

    #[test]
    fn no_more_cells_are_collected_than_tell_that_there_are_too_many() {
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
    fn what_is_broken_is_said_with_its_place() {
        for (text, line, byte) in [
            (&b"a,b\nc,\"d"[..], 2, 7),
            (b"a\"b", 1, 2),
            (b"\"a\"b", 1, 4),
            (b"a\rb", 1, 2),
            (b"a\n\xffb", 2, 3),
            (b"\xef\xbb\xbfa\"", 1, 5),
        ] {
            let broken = scanned(text).unwrap_err();
            assert_eq!((broken.line, broken.byte), (line, byte), "{broken:?}");
        }
    }
}

//! Reads a file: its header and its rows, of which only the cells that say something are kept.

use super::columns::{Column, Header, UnknownColumn};
use super::scan::{Broken, Record, Scanner};
use super::{MAX_BYTES, MAX_COLUMNS, MAX_ROWS};
use crate::people::connector::{Sync, SyncStatus};
use crate::problem::{Code, Flaw, Problems};
use crate::text::folded;
use crate::time::Timestamp;

/// Why a file is refused whole (decision E8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnreadableFile {
    /// It is not a file of people, or too large.
    Invalid(Problems),
    /// It cannot be read at all.
    Malformed(String),
}

impl UnreadableFile {
    /// What became of the file, for the connector that sent it.
    #[must_use]
    pub fn sync(&self, at: Timestamp) -> Sync {
        let message = match self {
            Self::Invalid(problems) => {
                let each = problems.as_slice().iter().map(|it| format!("{} {}", it.field, it.message));
                each.collect::<Vec<_>>().join("; ")
            }
            Self::Malformed(message) => message.clone(),
        };
        Sync { at, status: SyncStatus::Failed, message: Some(message) }
    }
}

impl From<Broken> for UnreadableFile {
    fn from(it: Broken) -> Self {
        Self::Malformed(format!("The file is not CSV in UTF-8: {} at line {}, byte {}.", it.reason, it.line, it.byte))
    }
}

/// A file of people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub(super) columns: Vec<Column>,
    /// The columns that are ignored.
    pub unknown: Vec<UnknownColumn>,
    /// Its rows.
    pub rows: Vec<CsvRow>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvRow {
    /// Its number in a spreadsheet.
    pub number: u32,
    /// The address as given.
    pub email: String,
    /// The address as compared.
    pub email_key: String,
    pub(super) cells: Vec<(u16, String)>,
    pub(super) width: u16,
    pub(super) flaw: Option<Flaw>,
}

impl File {
    /// Reads a file.
    ///
    /// # Errors
    /// [`UnreadableFile`]; then nothing of it is to be applied.
    pub fn read(bytes: &[u8]) -> Result<Self, UnreadableFile> {
        if bytes.len() > MAX_BYTES {
            return Err(too_large());
        }
        let mut scanner = Scanner::new(bytes)?;
        let header = loop {
            match scanner.next()? {
                Some(record) if record.is_blank() => {}
                Some(record) => break Header::read(&record)?,
                None => {
                    let flaw = Flaw::new(Code::Required, "is required as a column; the file is empty");
                    return Err(UnreadableFile::Invalid(Problems::one("email", flaw)));
                }
            }
        };
        let Header { columns, unknown } = header;
        // Growing bit by bit, the rows would be in memory twice.
        let lines = bytes.iter().filter(|it| **it == b'\n').count();
        let mut rows = Vec::with_capacity(lines.min(MAX_ROWS));
        while let Some(record) = scanner.next()? {
            if record.is_blank() {
                continue;
            }
            record.has_no_more_than_columns()?;
            if rows.len() == MAX_ROWS {
                let flaw = Flaw::new(Code::TooLong, format!("must have at most {MAX_ROWS} rows; split the file"));
                return Err(UnreadableFile::Invalid(Problems::one("body", flaw)));
            }
            rows.push(CsvRow::of(&columns, &record));
        }
        Ok(Self { columns, unknown, rows })
    }

    /// What a row has in a column; `None` for an empty cell.
    pub(super) fn cell<'a>(&self, row: &'a CsvRow, column: &Column) -> Option<&'a str> {
        let at = self.columns.iter().position(|it| it == column)?;
        row.at(at)
    }

    /// Whether a row has a cell in a column, and it is empty.
    pub(super) fn is_empty(&self, row: &CsvRow, column: &Column) -> bool {
        let at = self.columns.iter().position(|it| it == column);
        at.is_some_and(|at| at < usize::from(row.width) && row.at(at).is_none())
    }

    /// The addresses that name somebody, as themselves or as a manager, folded; each once.
    #[must_use]
    pub fn emails(&self) -> Vec<String> {
        let managers = self.rows.iter().filter_map(|it| self.cell(it, &Column::ManagerEmail).map(folded));
        unique(self.rows.iter().map(|it| it.email_key.clone()).chain(managers))
    }

    /// The external ids; each once.
    #[must_use]
    pub fn external_ids(&self) -> Vec<String> {
        unique(self.rows.iter().filter_map(|it| self.cell(it, &Column::EXTERNAL_ID).map(str::to_owned)))
    }

    /// The names of departments, folded; each once.
    #[must_use]
    pub fn departments(&self) -> Vec<String> {
        unique(self.rows.iter().filter_map(|it| self.cell(it, &Column::DepartmentName).map(|it| folded(it.trim()))))
    }
}

/// Nobody is stored under a text that is empty or has a U+0000 in it, and one of the databases refuses to be asked.
fn unique(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = texts.filter(|it| !it.is_empty() && !it.contains('\0')).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The refusal of a file with too many bytes.
fn too_large() -> UnreadableFile {
    UnreadableFile::Invalid(Problems::one("body", too_many_bytes()))
}

/// What is wrong with a file that has too many bytes.
#[must_use]
pub fn too_many_bytes() -> Flaw {
    Flaw::new(Code::TooLong, format!("must have at most {MAX_BYTES} bytes; split the file"))
}

impl Record<'_, '_> {
    /// Refuses a file in which a row has more cells than any file has columns.
    pub(super) fn has_no_more_than_columns(&self) -> Result<(), UnreadableFile> {
        if !self.is_too_wide {
            return Ok(());
        }
        let reason = format!("must have at most {MAX_COLUMNS} columns; row {} has more", self.number);
        Err(UnreadableFile::Invalid(Problems::one("body", Flaw::new(Code::TooLong, reason))))
    }
}

impl CsvRow {
    fn of(columns: &[Column], record: &Record<'_, '_>) -> Self {
        let mut flaw = None;
        if record.cells.iter().skip(columns.len()).any(|it| !it.is_empty()) {
            flaw = Some(Flaw::new(Code::InvalidFormat, "must have no more cells than the header"));
        }
        if record.cells.len() < columns.len() && !record.is_ended {
            flaw = Some(Flaw::format("a whole row; the file seems to have been cut here"));
        }
        let width = u16::try_from(record.cells.len().min(columns.len())).unwrap_or(u16::MAX);
        let mut row = Self {
            number: record.number,
            email: String::new(),
            email_key: String::new(),
            // Thousands of rows are kept: none has room for more cells than it says something in.
            cells: Vec::with_capacity(record.cells.iter().filter(|it| !it.is_empty()).count()),
            width,
            flaw,
        };
        for (at, (column, cell)) in (0_u16..).zip(columns.iter().zip(record.cells)) {
            match column {
                Column::Email => row.email = cell.to_owned(),
                Column::Unknown => {}
                Column::Member { .. }
                | Column::ManagerEmail
                | Column::DepartmentName
                | Column::Status
                | Column::Custom(_) => {
                    if !cell.is_empty() {
                        row.cells.push((at, cell.to_owned()));
                    }
                }
            }
        }
        row.email_key = folded(&row.email);
        row
    }

    /// Returns the row without the cells of some columns.
    pub(super) fn without(&self, columns: &[Column], is_left_out: impl Fn(&str) -> bool) -> Self {
        let is_kept = |at: u16| columns.get(usize::from(at)).is_none_or(|column| !is_left_out(&column.label()));
        let cells = self.cells.iter().filter(|(at, _)| is_kept(*at)).cloned().collect();
        Self { cells, ..self.clone() }
    }

    fn at(&self, column: usize) -> Option<&str> {
        self.cells.iter().find(|(at, _)| usize::from(*at) == column).map(|(_, it)| it.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<(String, Code)> {
        match File::read(text.as_bytes()) {
            Err(UnreadableFile::Invalid(it)) => it.as_slice().iter().map(|it| (it.field.clone(), it.code)).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn headers_are_compared_trimmed_and_without_case() {
        let file = File::read(b" E-Mail , EMAIL ,Custom.Grade\nx,a@example.com,7\n").unwrap();
        let custom = Column::Custom("Grade".to_owned());
        assert_eq!(file.columns, [Column::Unknown, Column::Email, custom.clone()]);
        assert_eq!(file.unknown, [UnknownColumn { name: "E-Mail".to_owned(), probably: None }]);
        assert_eq!(file.cell(&file.rows[0], &custom), Some("7"));
    }

    #[test]
    fn header_with_blanks_or_hyphens_names_a_known_column() {
        let file = File::read(b"Email,First Name,last-name, JOB _ Title,Manager-Email\n").unwrap();
        let names: Vec<_> = file.columns.iter().filter_map(Column::name).collect();
        assert_eq!(names, ["email", "first_name", "last_name", "job_title", "manager_email"]);
        assert_eq!(fields("email,First Name,first_name\n"), [("first_name".to_owned(), Code::InvalidFormat)]);
    }

    #[test]
    fn file_without_an_email_header_names_its_columns() {
        let message = |text: &str| match File::read(text.as_bytes()) {
            Err(UnreadableFile::Invalid(problems)) => problems.as_slice()[0].message.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            message("Work Email,First Name,Shoe size\n"),
            "is required as a column; the first row names the columns `Work Email`, `First Name`, `Shoe size`; \
             `Work Email` is probably `email`: rename it in the first row"
        );
        assert_eq!(
            message("ada@example.com,Ada\n"),
            "is required as a column; the first row names the columns `ada@example.com`, `Ada`; \
             rename the one with the e-mail addresses to `email`"
        );
        assert!(message(&format!("x{}\n", ",y".repeat(30))).contains(" and 11 more"));
    }

    #[test]
    fn unknown_column_is_guessed_unless_the_guess_is_there() {
        let file = File::read(b"email,Work Email,Supervisor,Shoe size\n").unwrap();
        let found: Vec<_> = file.unknown.iter().map(|column| (column.name.as_str(), column.probably)).collect();
        assert_eq!(found, [("Work Email", None), ("Supervisor", Some("manager_email")), ("Shoe size", None)]);
    }

    #[test]
    fn a_file_is_refused_for_its_header() {
        assert_eq!(fields("first_name,last_name\n"), [("email".to_owned(), Code::Required)]);
        assert_eq!(fields(""), [("email".to_owned(), Code::Required)]);
        assert_eq!(fields("email,Email\n"), [("Email".to_owned(), Code::InvalidFormat)]);
        assert_eq!(fields("email,custom.\n"), [("custom.".to_owned(), Code::TooShort)]);
        let wide = format!("email{}", ",".repeat(MAX_COLUMNS));
        assert_eq!(fields(&wide), [("header".to_owned(), Code::TooLong)]);
        assert_eq!(fields(&",".repeat(MAX_BYTES)), [("header".to_owned(), Code::TooLong)], "not a blank row");
    }

    #[test]
    fn a_file_is_refused_for_a_row_with_more_cells_than_there_may_be_columns() {
        for cells in [",".repeat(MAX_COLUMNS), "x,".repeat(100_000)] {
            let text = format!("email\na@example.com\n{cells}\n");
            let Err(UnreadableFile::Invalid(problems)) = File::read(text.as_bytes()) else { panic!("it is read") };
            let problem = &problems.as_slice()[0];
            assert_eq!((problem.field.as_str(), problem.code), ("body", Code::TooLong));
            assert_eq!(problem.message, "must have at most 500 columns; row 3 has more");
        }
        let blank = format!("email\na@example.com\n{}\n", ",".repeat(MAX_COLUMNS - 1));
        assert_eq!(File::read(blank.as_bytes()).unwrap().rows.len(), 1);
    }

    #[test]
    fn other_separators_are_named() {
        for (text, word) in [("email;first_name\n", "semicolons"), ("email\tfirst_name\n", "tabs")] {
            let Err(UnreadableFile::Invalid(problems)) = File::read(text.as_bytes()) else { panic!("{text}") };
            assert!(problems.as_slice()[0].message.contains(word), "{problems:?}");
        }
    }

    #[test]
    fn a_file_has_at_most_10000_rows_and_5_mib() {
        let rows = |n: usize| format!("email\n{}", "a@example.com\n".repeat(n));
        assert_eq!(File::read(rows(MAX_ROWS).as_bytes()).unwrap().rows.len(), MAX_ROWS);
        assert_eq!(fields(&rows(MAX_ROWS + 1)), [("body".to_owned(), Code::TooLong)]);
        assert_eq!(fields(&" ".repeat(MAX_BYTES + 1)), [("body".to_owned(), Code::TooLong)]);
    }

    #[test]
    fn a_last_row_that_was_cut_is_known_by_its_missing_cells() {
        let flaws = |text: &str| {
            File::read(text.as_bytes()).unwrap().rows.iter().map(|it| it.flaw.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(flaws("email,role\na@example.com\nb@exam"), [false, true]);
        assert_eq!(flaws("email,role\na@example.com,,\nb@example.com,,x\n"), [false, true]);
    }
}

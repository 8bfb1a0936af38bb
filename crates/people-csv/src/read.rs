//! Reads a file into its header and rows. Only cells with content are kept.

use candor_domain::problem::{Code, ValidationErrors, ValueError};

use super::columns::{Column, Header, UnknownColumn, check_ignored};
use super::row_cells::{CellCounter, RowCells};
use super::scan::{Record, Scanner};
use super::statuses::StatusCells;
use super::{CsvFileError, MAX_BYTES, MAX_COLUMNS, MAX_ROWS, recognize};

/// A file of people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields named after their types")]
pub struct File {
    pub(super) columns: Vec<Column>,
    /// The columns that are ignored.
    pub unknown: Vec<UnknownColumn>,
    pub rows: Vec<CsvRow>,
}

/// Number of bytes that count as one cell of work, in the cells of a row.
const BYTES_OF_A_CELL: usize = 64;

/// A row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvRow {
    /// Row number in a spreadsheet, from 1.
    pub number: u32,
    /// The address as the file has it.
    pub email: String,
    /// The address in the form in which addresses are compared.
    pub email_key: String,
    /// The address of the manager in the form in which addresses are compared. `None` without a manager cell, and for
    /// a cell that is too long for an address.
    pub(super) manager_key: Option<String>,
    /// The name of the department in the form in which names are compared. `None` without a department cell, and for
    /// a cell that is too long for a name.
    pub(super) department_key: Option<String>,
    pub(super) cells: RowCells,
    width: u16,
    pub(super) flaw: Option<ValueError>,
}

impl File {
    /// Reads a file.
    ///
    /// # Errors
    /// [`CsvFileError`]; no row of such a file may be applied.
    pub fn read(bytes: &[u8]) -> Result<Self, CsvFileError> {
        Self::read_in_pieces(bytes, &mut |_| {})
    }

    /// Reads a file, and reports the work on each row to `progress`, in cells.
    ///
    /// # Errors
    /// [`CsvFileError`]; no row of such a file may be applied.
    pub fn read_in_pieces(bytes: &[u8], progress: &mut CellCounter<'_>) -> Result<Self, CsvFileError> {
        if bytes.len() > MAX_BYTES {
            return Err(CsvFileError::Invalid(ValidationErrors::one("body", too_many_bytes())));
        }
        if let Some(kind) = recognize::other_kind(bytes) {
            return Err(CsvFileError::Malformed(kind));
        }
        let mut scanner = Scanner::new(bytes)?;
        let (Header { columns, unknown }, _) = recognize::read_header(&mut scanner)?;
        let mut statuses = StatusCells::new(&unknown);
        // Reserves the rows at once: a growing vector would hold them twice in memory.
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        let mut rows = Vec::with_capacity(lines.min(MAX_ROWS));
        while let Some(record) = scanner.next()? {
            progress(record.work());
            if record.is_blank() {
                continue;
            }
            record.check_width()?;
            if rows.len() == MAX_ROWS {
                let flaw =
                    ValueError::new(Code::TooLong, format!("must have at most {MAX_ROWS} rows; split the file"));
                return Err(CsvFileError::Invalid(ValidationErrors::one("body", flaw)));
            }
            statuses.note(&record);
            let row = CsvRow::from_record(&columns, &record);
            progress(row.key_work());
            rows.push(row);
        }
        let mut file = Self { columns, unknown, rows };
        if !file.columns.contains(&Column::Status) {
            statuses.mark(&mut file.unknown);
        }
        Ok(file)
    }

    /// Omits the warnings about the columns with these names. All unknown columns are ignored in any case.
    ///
    /// # Errors
    /// A name that is no unknown column of the file, or an unknown column that says who has left and is not in
    /// `names`: if it were ignored, the people who have left would stay active.
    pub fn ignore_columns(&mut self, names: &[String]) -> Result<(), ValidationErrors> {
        check_ignored(&mut self.unknown, names)
    }

    /// Returns the work on a row, in cells. It is one, plus the number of columns of the file, because a lookup
    /// scans the columns, plus the number of bytes of text divided by [`BYTES_OF_A_CELL`], because checks read
    /// every character.
    pub(super) const fn row_cells(&self, row: &CsvRow) -> usize {
        self.columns.len() + 1 + row.cells.bytes() / BYTES_OF_A_CELL
    }

    /// Returns the columns of a row whose cells are empty. Missing cells do not count.
    pub(super) fn empty_columns<'a>(&'a self, row: &'a CsvRow) -> impl Iterator<Item = &'a Column> {
        let mut filled_columns = row.cells.iter().map(|(column, _)| usize::from(column)).peekable();
        let columns = self.columns.iter().take(usize::from(row.width)).enumerate();
        columns.filter(move |(index, _)| filled_columns.next_if_eq(index).is_none()).map(|(_, column)| column)
    }

    /// Returns the content of a row's cell, or `None` if the cell is empty or missing.
    pub(super) fn cell<'a>(&self, row: &'a CsvRow, column: &Column) -> Option<&'a str> {
        let index = self.columns.iter().position(|known| known == column)?;
        row.cell_at(index)
    }

    /// Returns `true` if the row has a cell in this column, and the cell is empty.
    pub(super) fn is_empty(&self, row: &CsvRow, column: &Column) -> bool {
        let index = self.columns.iter().position(|known| known == column);
        index.is_some_and(|index| index < usize::from(row.width) && row.cell_at(index).is_none())
    }

    /// Returns the external id of a row.
    pub(super) fn external_id<'a>(&self, row: &'a CsvRow) -> Option<&'a str> {
        self.cell(row, &Column::EXTERNAL_ID).map(str::trim).filter(|id| !id.is_empty())
    }
}

/// Returns the error of a file with too many bytes. The caller adds the field.
#[must_use]
pub fn too_many_bytes() -> ValueError {
    ValueError::new(Code::TooLong, format!("must have at most {MAX_BYTES} bytes; split the file"))
}

/// Returns the problem of a file whose people have more stored data than an upload may hold in memory.
#[must_use]
pub fn too_much_stored(most_bytes: usize) -> ValidationErrors {
    let text =
        format!("must name people whose stored data has at most {most_bytes} bytes in total; split the file");
    ValidationErrors::one("body", ValueError::new(Code::TooLong, text))
}

impl Record<'_, '_> {
    /// Refuses a row with more cells than a file may have columns.
    pub(super) fn check_width(&self) -> Result<(), CsvFileError> {
        if !self.is_too_wide {
            return Ok(());
        }
        let reason = format!("must have at most {MAX_COLUMNS} columns; row {} has more", self.number);
        Err(CsvFileError::Invalid(ValidationErrors::one("body", ValueError::new(Code::TooLong, reason))))
    }
}

impl CsvRow {
    fn from_record(columns: &[Column], record: &Record<'_, '_>) -> Self {
        let mut flaw = None;
        if record.cells.iter().skip(columns.len()).any(|cell| !cell.is_empty()) {
            flaw = Some(ValueError::new(Code::InvalidFormat, "must have no more cells than the header"));
        }
        if record.cells.len() < columns.len() && !record.is_ended {
            flaw = Some(ValueError::format("a whole row; the file seems to have been cut here"));
        }
        let width = u16::try_from(record.cells.len().min(columns.len())).unwrap_or(u16::MAX);
        let mut row = Self {
            number: record.number,
            email: String::new(),
            email_key: String::new(),
            manager_key: None,
            department_key: None,
            cells: RowCells::for_record(record),
            width,
            flaw,
        };
        for (at, (column, cell)) in (0_u16..).zip(columns.iter().zip(record.cells)) {
            match column {
                Column::Email => cell.trim().clone_into(&mut row.email),
                Column::Unknown => {}
                Column::Member { .. }
                | Column::ManagerEmail
                | Column::DepartmentName
                | Column::Status
                | Column::Custom(_) => {
                    let is_empty = if column.is_looked_up() { cell.trim().is_empty() } else { cell.is_empty() };
                    if is_empty {
                        continue;
                    }
                    row.cells.push(at, cell);
                    row.make_key(column, cell.trim());
                }
            }
        }
        row.make_key(&Column::Email, &row.email.clone());
        row
    }

    /// Returns the row without the cells of some columns.
    pub(super) fn without_columns(&self, columns: &[Column], is_left_out: impl Fn(&str) -> bool) -> Self {
        let is_kept = |at: u16| columns.get(usize::from(at)).is_none_or(|column| !is_left_out(&column.label()));
        let mut cells = RowCells::default();
        self.cells.iter().filter(|(at, _)| is_kept(*at)).for_each(|(at, cell)| cells.push(at, cell));
        Self { cells, ..self.clone() }
    }

    fn cell_at(&self, column: usize) -> Option<&str> {
        self.cells.iter().find(|(at, _)| usize::from(*at) == column).map(|(_, cell)| cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<(String, Code)> {
        match File::read(text.as_bytes()) {
            Err(CsvFileError::Invalid(problems)) => {
                problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn header_is_compared_trimmed_and_without_case() {
        let file = File::read(b" E-Mail , EMAIL ,Custom.Grade\nx,a@example.com,7\n").unwrap();
        let custom = Column::Custom("Grade".to_owned());
        assert_eq!(file.columns, [Column::Unknown, Column::Email, custom.clone()]);
        let unknown: Vec<_> = file.unknown.iter().map(|column| (column.name.as_str(), column.probably)).collect();
        assert_eq!(unknown, [("E-Mail", None)]);
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
            Err(CsvFileError::Invalid(problems)) => problems.as_slice()[0].message.clone(),
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
        let guesses: Vec<_> = file.unknown.iter().map(|column| (column.name.as_str(), column.probably)).collect();
        assert_eq!(guesses, [("Work Email", None), ("Supervisor", Some("manager_email")), ("Shoe size", None)]);
    }

    #[test]
    fn header_e_mail_names_the_addresses_if_no_other_one_does() {
        let file = File::read(b"E-Mail,First Name\n ada@example.com\xc2\xa0,Ada\n").unwrap();
        assert_eq!((file.columns[0].clone(), file.rows[0].email.as_str()), (Column::Email, "ada@example.com"));
    }

    #[test]
    fn blank_cell_is_empty_where_cells_are_looked_up() {
        let file = File::read(b"email,manager_email,role,job_title\na@example.com, ,\xc2\xa0, \n").unwrap();
        assert_eq!(file.cell(&file.rows[0], &Column::ManagerEmail), None);
        assert_eq!(file.rows[0].cells.iter().collect::<Vec<_>>(), [(3, " ")]);
    }

    #[test]
    fn ignored_column_that_is_there_twice_is_a_warning() {
        let file = File::read(b"email,Notes,notes\n").unwrap();
        assert_eq!(file.unknown.len(), 2);
    }

    #[test]
    fn file_with_a_bad_header_is_refused() {
        assert_eq!(fields("first_name,last_name\n"), [("email".to_owned(), Code::Required)]);
        assert_eq!(fields(""), [("email".to_owned(), Code::Required)]);
        assert_eq!(fields("email,Email\n"), [("Email".to_owned(), Code::InvalidFormat)]);
        assert_eq!(fields("email,custom.\n"), [("custom.".to_owned(), Code::TooShort)]);
        let wide = format!("email{}", ",".repeat(MAX_COLUMNS));
        assert_eq!(fields(&wide), [("header".to_owned(), Code::TooLong)]);
        assert_eq!(fields(&",".repeat(MAX_BYTES)), [("header".to_owned(), Code::TooLong)], "not a blank row");
    }

    #[test]
    fn row_with_too_many_cells_is_refused() {
        for cells in [",".repeat(MAX_COLUMNS), "x,".repeat(100_000)] {
            let text = format!("email\na@example.com\n{cells}\n");
            let Err(CsvFileError::Invalid(problems)) = File::read(text.as_bytes()) else {
                panic!("the file is read")
            };
            let problem = &problems.as_slice()[0];
            assert_eq!((problem.field.as_str(), problem.code), ("body", Code::TooLong));
            assert_eq!(problem.message, "must have at most 500 columns; row 3 has more");
        }
        let blank = format!("email\na@example.com\n{}\n", ",".repeat(MAX_COLUMNS - 1));
        assert_eq!(File::read(blank.as_bytes()).unwrap().rows.len(), 1);
    }

    #[test]
    fn file_with_another_separator_names_the_separator() {
        for (text, word) in [("email;first_name\n", "semicolons"), ("email\tfirst_name\n", "tabs")] {
            let Err(CsvFileError::Invalid(problems)) = File::read(text.as_bytes()) else { panic!("{text}") };
            assert!(problems.as_slice()[0].message.contains(word), "{problems:?}");
        }
    }

    #[test]
    fn file_is_limited_to_10000_rows_and_5_mib() {
        let rows = |n: usize| format!("email\n{}", "a@example.com\n".repeat(n));
        assert_eq!(File::read(rows(MAX_ROWS).as_bytes()).unwrap().rows.len(), MAX_ROWS);
        assert_eq!(fields(&rows(MAX_ROWS + 1)), [("body".to_owned(), Code::TooLong)]);
        assert_eq!(fields(&" ".repeat(MAX_BYTES + 1)), [("body".to_owned(), Code::TooLong)]);
    }

    #[test]
    fn truncated_last_row_has_a_flaw() {
        let flaws = |text: &str| {
            File::read(text.as_bytes()).unwrap().rows.iter().map(|row| row.flaw.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(flaws("email,role\na@example.com\nb@exam"), [false, true]);
        assert_eq!(flaws("email,role\na@example.com,,\nb@example.com,,x\n"), [false, true]);
    }
}

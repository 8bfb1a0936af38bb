//! Recognizes files that are no CSV file of people, so that a message names what the file is and not what it lacks.

use candor_domain::problem::{Code, FieldError, ValidationErrors, ValueError};

use super::CsvFileError;
use super::columns::{Header, OTHER_SEPARATORS, names_addresses};
use super::scan::{Record, Scanner};

/// Number of rows among which the header is looked for, for a message.
const HEADER_ROWS: usize = 20;

/// First bytes of other kinds of files, with a sentence about each.
const KINDS: [(&[u8], &str); 6] = [
    (b"PK\x03\x04", "The file is an Excel workbook or another archive"),
    (b"\xd0\xcf\x11\xe0", "The file is an Excel workbook of an old version"),
    (b"%PDF", "The file is a PDF document"),
    (b"\x1f\x8b", "The file is compressed"),
    (b"\xff\xfe", "The file is a text in UTF-16"),
    (b"\xfe\xff", "The file is a text in UTF-16"),
];

/// Returns a sentence that names the kind of a file that is no CSV in UTF-8, by its first bytes. `None` if the
/// bytes belong to no other kind.
pub(super) fn other_kind(bytes: &[u8]) -> Option<String> {
    let advice = "save it as CSV UTF-8";
    if let Some((_, kind)) = KINDS.iter().find(|(first, _)| bytes.starts_with(first)) {
        return Some(format!("{kind}: {advice}."));
    }
    if bytes.get(..4).is_some_and(|first| first.iter().filter(|byte| **byte == 0).count() == 2) {
        return Some(format!("The file is a text in UTF-16: {advice}."));
    }
    let begin = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let second = begin.get(1..).unwrap_or_default().trim_ascii_start().first();
    match (begin.first()?, second) {
        (b'{', Some(b'"' | b'}')) | (b'[', Some(b'{' | b'[')) => Some(format!("The file is JSON: {advice}.")),
        (b'<', Some(b'!' | b'?' | b'a'..=b'z' | b'A'..=b'Z')) => {
            Some(format!("The file is a web page or XML: {advice}."))
        }
        _ => None,
    }
}

/// Returns `true` for the line `sep=,` by which spreadsheets name the separator. Such a line is no header.
fn is_separator_line(record: &Record<'_, '_>) -> bool {
    record.raw.trim_end_matches(['\r', '\n', ' ']).eq_ignore_ascii_case("sep=,")
}

/// Returns `true` if a row has several names, one of which means the addresses.
fn has_column_names<'a>(cells: impl Iterator<Item = &'a str>) -> bool {
    let names: Vec<&str> = cells.map(str::trim).filter(|name| !name.is_empty()).collect();
    names.len() > 1 && names.into_iter().any(names_addresses)
}

/// Searches the next [`HEADER_ROWS`] rows for the header, because many programs write titles above it. Returns a
/// sentence that names the row of the header and the remedy, or `None` if no row looks like the header.
fn find_header(scanner: &mut Scanner<'_>) -> Option<String> {
    for _ in 0..HEADER_ROWS {
        let record = scanner.next().ok()??;
        let row = record.number;
        if has_column_names(record.cells.iter()) {
            return Some(format!("row {row} looks like the header: remove the rows above it"));
        }
        let separator = OTHER_SEPARATORS.into_iter().find(|(by, _)| has_column_names(record.raw.split(*by)));
        if let Some((_, what)) = separator {
            return Some(format!(
                "row {row} looks like the header, with {what} between its columns: remove the rows above it, and save \
                 the file with commas"
            ));
        }
    }
    None
}

/// Reads the header: the first row that is neither blank nor the line `sep=,`. Returns the header with its text.
///
/// # Errors
/// A syntax error, an empty file, and the errors of [`Header::read`]. If the first row has no column of addresses and
/// a row below looks like the header, the error names that row.
pub(super) fn read_header<'a>(scanner: &mut Scanner<'a>) -> Result<(Header, &'a str), CsvFileError> {
    let error = loop {
        match scanner.next()? {
            Some(record) if record.is_blank() || is_separator_line(&record) => {}
            Some(record) => match Header::read(&record) {
                Ok(header) => return Ok((header, record.raw)),
                Err(error) => break error,
            },
            None => {
                let flaw = ValueError::new(Code::Required, "is required as a column; the file is empty");
                return Err(CsvFileError::Invalid(ValidationErrors::one("email", flaw)));
            }
        }
    };
    let lacks_addresses = |problem: &FieldError| problem.field == "email" && problem.code == Code::Required;
    match &error {
        CsvFileError::Invalid(problems) if problems.as_slice().iter().any(lacks_addresses) => {}
        CsvFileError::Invalid(_) | CsvFileError::Malformed(_) => return Err(error),
    }
    let Some(remedy) = find_header(scanner) else { return Err(error) };
    let text = format!("is required as a column; {remedy}");
    Err(CsvFileError::Invalid(ValidationErrors::one("email", ValueError::new(Code::Required, text))))
}

#[cfg(test)]
mod tests {
    use super::super::File;
    use super::*;

    fn message(bytes: &[u8]) -> String {
        match File::read(bytes) {
            Err(CsvFileError::Malformed(message)) => message,
            Err(CsvFileError::Invalid(problems)) => problems.as_slice()[0].message.clone(),
            Ok(file) => panic!("{file:?}"),
        }
    }

    #[test]
    fn file_of_another_kind_is_named() {
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        for (bytes, kind) in [
            (b"PK\x03\x04\x14\x00\x06\x00".to_vec(), "an Excel workbook or another archive"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec(), "an Excel workbook of an old version"),
            (b"%PDF-1.7".to_vec(), "a PDF document"),
            (b"\x1f\x8b\x08\x00".to_vec(), "compressed"),
            (utf16("\u{feff}email\tfirst_name\r\n"), "a text in UTF-16"),
            (utf16("email\tfirst_name\r\n"), "a text in UTF-16"),
            (br#"[ {"email": "ada@example.com"}]"#.to_vec(), "JSON"),
            (b"\xef\xbb\xbf{\n \"data\": []}".to_vec(), "JSON"),
            (b"\n<!DOCTYPE html>".to_vec(), "a web page or XML"),
            (b"<?xml version=\"1.0\"?>".to_vec(), "a web page or XML"),
        ] {
            assert_eq!(message(&bytes), format!("The file is {kind}: save it as CSV UTF-8."));
        }
    }

    #[test]
    fn header_below_other_rows_is_found() {
        let titled_file =
            "Employee Report,,\nGenerated 2026-01-01,,\n,,\nEmail,First Name,Last Name\nada@example.com,A,M\n";
        assert_eq!(
            message(titled_file.as_bytes()),
            "is required as a column; row 4 looks like the header: remove the rows above it"
        );
        let template = "version:v1.0,,\nName [displayName] Required,User name [userPrincipalName] Required,x\n";
        assert_eq!(
            message(template.as_bytes()),
            "is required as a column; row 2 looks like the header: remove the rows above it"
        );
        let tabs = "Report\n\nEmail\tFirst Name\nada@example.com\tA\n";
        assert_eq!(
            message(tabs.as_bytes()),
            "is required as a column; row 3 looks like the header, with tabs between its columns: remove the rows above \
             it, and save the file with commas"
        );
        let late = format!("Report\n{}Email,First Name\n", "x,y\n".repeat(30));
        assert!(message(late.as_bytes()).contains("the first row names the columns `Report`"));
    }

    #[test]
    fn line_that_names_the_separator_is_skipped() {
        let file = File::read(b"sep=,\r\nemail,first_name\r\nada@example.com,Ada\r\n").unwrap();
        assert_eq!((file.rows.len(), file.rows[0].number), (1, 3));
        assert!(message(b"sep=;\r\nemail;first_name\r\n").contains("semicolons"));
    }

    #[test]
    fn line_ends_of_other_programs_are_named() {
        assert!(
            message(b"email,first_name\rada@example.com,Ada\r").contains("as old Macintosh programs write it")
        );
        assert!(message(b"email\r\r\nada@example.com\r\r\n").contains("two carriage returns before a line feed"));
    }
}

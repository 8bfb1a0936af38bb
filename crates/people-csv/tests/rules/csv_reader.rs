//! Property tests of the CSV reader: any bytes are read or refused, and the reader and the `csv` crate read the same
//! cells in well-formed files.

use candor_people_csv::{self as csv, CsvFileError, File, MAX_BYTES, MAX_ROWS};
use proptest::prelude::*;

/// Generates bytes, mostly ones with a meaning for the reader.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec!["\"", "\"\"", ",", "\n", "\r\n", "\r", ";", "\u{feff}", "email", "é", " ", "", "custom."])
            .prop_map(|piece| piece.as_bytes().to_vec()),
        2 => prop::sample::select(vec!["a@example.com", "manager_email", "status", "Email", "\0", "x"])
            .prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    let header = prop_oneof![Just(b"".to_vec()), Just(b"email,manager_email,custom.x\n".to_vec())];
    (header, prop::collection::vec(piece, 0..60)).prop_map(|(header, rest)| [header, rest.concat()].concat())
}

/// Generates a well-formed file: its cells and its text.
fn well_formed() -> impl Strategy<Value = (Vec<Vec<String>>, String)> {
    let cell = prop::string::string_regex("[a-c@é ,\"\n]{0,6}").unwrap();
    prop::collection::vec(prop::collection::vec(cell, 3), 0..8).prop_map(|rows| {
        let mut text = "email,custom.a,custom.b\r\n".to_owned();
        for row in &rows {
            let quoted_cells: Vec<_> =
                row.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
            text.push_str(&quoted_cells.join(","));
            text.push_str("\r\n");
        }
        (rows, text)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reader_never_panics(bytes in bytes()) {
        match File::read(&bytes) {
            Ok(file) => {
                prop_assert!(file.rows.windows(2).all(|pair| pair[0].number < pair[1].number), "rows are in order");
                let keys = file.lookup_keys(&mut |_| ());
                prop_assert!(keys.emails.iter().all(|email| !email.contains('\0')));
            }
            Err(CsvFileError::Invalid(problems)) => prop_assert!(!problems.is_empty()),
            Err(CsvFileError::Malformed(message)) => {
                let is_of_another_kind = message.starts_with("The file is ") && message.ends_with("save it as CSV UTF-8.");
                prop_assert!(is_of_another_kind || message.contains(" at line "), "{message}");
            }
        }
    }

    #[test]
    fn parts_hold_every_row_once_and_are_readable(bytes in bytes(), rows in 1..5_usize) {
        let (whole, split) = (File::read(&bytes), csv::split(&bytes, rows, MAX_BYTES));
        prop_assert_eq!(whole.is_ok(), split.is_ok());
        if let (Ok(whole), Ok(split)) = (whole, split) {
            let row_count: usize = split.parts.iter().map(|part| part.numbers.len()).sum();
            prop_assert_eq!(row_count + split.duplicates, whole.rows.len());
            for part in &split.parts {
                let read = File::read(&part.bytes);
                prop_assert_eq!(read.map(|file| file.rows.len()), Ok(part.numbers.len()));
            }
        }
    }

    #[test]
    fn well_formed_file_is_read_like_by_the_csv_crate((rows, text) in well_formed()) {
        let expected_rows: Vec<_> = rows.iter().filter(|row| row.iter().any(|cell| !cell.is_empty())).map(|row| row[0].trim()).collect();
        let file = File::read(text.as_bytes()).unwrap();
        prop_assert_eq!(file.rows.iter().map(|row| row.email.as_str()).collect::<Vec<_>>(), expected_rows);
        let mut usual = ::csv::ReaderBuilder::new().from_reader(text.as_bytes());
        let usual: Vec<Vec<String>> = usual.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect();
        prop_assert_eq!(usual, rows, "the csv crate reads the generated cells");
    }
}

#[test]
fn oversized_file_is_refused() {
    let commas = ",".repeat(MAX_BYTES);
    let is_invalid = |file: &str| matches!(File::read(file.as_bytes()), Err(CsvFileError::Invalid(_)));
    assert!(is_invalid(&commas), "a header of five million columns");
    assert!(is_invalid(&format!("email\n{}", "x\n".repeat(MAX_ROWS + 1))));
    let wide = format!("email\n{commas}");
    assert!(is_invalid(&wide[..MAX_BYTES]), "a row of five million cells, though all of them are empty");
    let blanks = format!("email\n{}", "\n".repeat(MAX_BYTES - 6));
    assert!(File::read(blanks.as_bytes()).unwrap().rows.is_empty());
    let quotes = "\"".repeat(MAX_BYTES);
    assert!(File::read(quotes.as_bytes()).is_err());
}

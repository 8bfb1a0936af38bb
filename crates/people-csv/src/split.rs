//! Divides a file above the limits into files within them, with managers before their reports.

use std::collections::{HashMap, HashSet};

use candor_domain::problem::ValidationErrors;
use candor_domain::text::address_key;

use super::columns::{Column, UnknownColumn, check_ignored};
use super::recognize;
use super::scan::Scanner;
use super::statuses::StatusCells;
use super::{CsvFileError, MAX_BYTES, MAX_ROWS};

/// A file within the limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The text of the file, header included.
    pub bytes: Vec<u8>,
    /// Number of each row of the part in the whole file.
    pub numbers: Vec<u32>,
    /// For each row of the part, the number of its manager's row in the whole file. `None` if the file has no row of
    /// the manager. Empty if the part is the whole file.
    pub managers: Vec<Option<u32>>,
    /// `true` if the part is the whole file: messages about it then have the row numbers of the file.
    pub is_whole: bool,
}

impl Part {
    /// Converts the number of a row in this part to its number in the whole file.
    #[must_use]
    pub fn number(&self, here: u32) -> u32 {
        if self.is_whole {
            return here;
        }
        place(here).and_then(|at| self.numbers.get(at)).copied().unwrap_or(here)
    }

    /// Returns the number of the manager's row in the whole file, for the row `here` of this part. `None` if the file
    /// has no row of the manager or was not divided.
    #[must_use]
    pub fn manager(&self, here: u32) -> Option<u32> {
        if self.is_whole { None } else { *self.managers.get(place(here)?)? }
    }
}

/// Returns the index of a row among the rows after the header, from its number in a part.
fn place(number: u32) -> Option<usize> {
    usize::try_from(number).ok()?.checked_sub(2)
}

/// A file divided into parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The parts, to be applied in this order.
    pub parts: Vec<Part>,
    /// Number of rows that were dropped because a later row has the same address.
    pub duplicates: usize,
    /// The columns that are ignored.
    pub unknown: Vec<UnknownColumn>,
}

impl Split {
    /// Checks the ignored columns of the whole file, as [`super::File::ignore_columns`] does. A check of each part
    /// would miss a column of statuses whose leavers are in another part.
    ///
    /// # Errors
    /// The errors of [`super::File::ignore_columns`].
    pub fn ignore_columns(&mut self, names: &[String]) -> Result<(), ValidationErrors> {
        check_ignored(&mut self.unknown, names)
    }
}

struct Piece<'a> {
    number: u32,
    raw: &'a [u8],
    email: String,
    manager: String,
    /// Number of the row of the manager.
    manager_row: Option<u32>,
}

/// Divides a file into parts of at most `most_rows` rows and `most_bytes` bytes. A manager is in an earlier part
/// than a report, or in the same part, so that no row depends on a later part. Only rows on or below a cycle may
/// depend on a later part; they come last.
///
/// # Errors
/// [`CsvFileError`], as for a file that is sent whole.
pub fn split(bytes: &[u8], most_rows: usize, most_bytes: usize) -> Result<Split, CsvFileError> {
    let (most_rows, most_bytes) = (most_rows.clamp(1, MAX_ROWS), most_bytes.min(MAX_BYTES));
    if let Some(kind) = recognize::other_kind(bytes) {
        return Err(CsvFileError::Malformed(kind));
    }
    let mut scanner = Scanner::new(bytes)?;
    let (header, raw_header) = recognize::read_header(&mut scanner)?;
    let place = |wanted: &Column| header.columns.iter().position(|column| column == wanted);
    let places = (place(&Column::Email), place(&Column::ManagerEmail));
    let (mut pieces, mut statuses) = (Vec::new(), StatusCells::new(&header.unknown));
    while let Some(record) = scanner.next()? {
        if record.is_blank() {
            continue;
        }
        record.check_width()?;
        statuses.note(&record);
        let cell = |at: &Option<usize>| {
            at.and_then(|at| record.cells.get(at)).map(|cell| address_key(cell.trim())).unwrap_or_default()
        };
        let (email, manager) = (cell(&places.0), cell(&places.1));
        pieces.push(Piece {
            number: record.number,
            raw: record.raw.as_bytes(),
            email,
            manager,
            manager_row: None,
        });
    }
    let mut unknown = header.unknown;
    if !header.columns.contains(&Column::Status) {
        statuses.mark(&mut unknown);
    }
    let rows = pieces.len();
    if rows <= most_rows && bytes.len() <= most_bytes {
        let numbers = pieces.iter().map(|piece| piece.number).collect();
        let part = Part { bytes: bytes.to_vec(), numbers, managers: Vec::new(), is_whole: true };
        return Ok(Split { parts: vec![part], duplicates: 0, unknown });
    }
    let pieces = sort_managers_first(drop_duplicates(pieces));
    let duplicates = rows - pieces.len();
    let parts = pack(raw_header.as_bytes(), &pieces, most_rows, most_bytes);
    Ok(Split { parts, duplicates, unknown })
}

/// Drops each row whose address a later row has. The last row of an address wins (decision E1); otherwise an
/// earlier row in an earlier part would be applied too.
fn drop_duplicates(mut pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let mut addresses = HashSet::new();
    pieces.reverse();
    pieces.retain(|piece| piece.email.is_empty() || addresses.insert(piece.email.clone()));
    pieces.reverse();
    pieces
}

/// Sorts managers before their reports. People on or below a cycle come last.
fn sort_managers_first(mut pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let place: HashMap<&str, usize> =
        pieces.iter().enumerate().map(|(at, piece)| (piece.email.as_str(), at)).collect();
    let manager_place =
        |piece: &Piece<'_>| place.get(piece.manager.as_str()).filter(|_| !piece.manager.is_empty()).copied();
    let manager_places: Vec<Option<usize>> = pieces.iter().map(manager_place).collect();
    for (at, manager) in manager_places.iter().enumerate() {
        pieces[at].manager_row = manager.map(|manager| pieces[manager].number);
    }
    let mut depths: Vec<Option<usize>> = vec![None; pieces.len()];
    for start in 0..pieces.len() {
        let (mut path, mut at) = (Vec::new(), start);
        let mut depth = loop {
            if let Some(known_depth) = depths[at] {
                break known_depth.saturating_add(1);
            }
            path.push(at);
            depths[at] = Some(usize::MAX);
            match manager_places[at] {
                Some(manager) => at = manager,
                None => break 0,
            }
        };
        while let Some(index) = path.pop() {
            depths[index] = Some(depth);
            depth = depth.saturating_add(1);
        }
    }
    let mut pieces: Vec<_> = depths.into_iter().zip(pieces).collect();
    pieces.sort_by_key(|(depth, piece)| (*depth, piece.number));
    pieces.into_iter().map(|(_, piece)| piece).collect()
}

fn pack(header: &[u8], pieces: &[Piece<'_>], most_rows: usize, most_bytes: usize) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for piece in pieces {
        let is_full =
            |part: &Part| part.numbers.len() == most_rows || part.bytes.len() + piece.raw.len() + 2 > most_bytes;
        if parts.last().is_none_or(is_full) {
            parts.push(Part {
                bytes: header.to_vec(),
                numbers: Vec::new(),
                managers: Vec::new(),
                is_whole: false,
            });
        }
        let Some(part) = parts.last_mut() else { continue };
        part.bytes.extend_from_slice(piece.raw);
        if !piece.raw.ends_with(b"\n") {
            part.bytes.extend_from_slice(b"\n");
        }
        part.numbers.push(piece.number);
        part.managers.push(piece.manager_row);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(split: &Split) -> Vec<&str> {
        split.parts.iter().map(|part| std::str::from_utf8(&part.bytes).unwrap()).collect()
    }

    #[test]
    fn parts_have_managers_first_and_keep_row_numbers() {
        let file = "email,manager_email\nc@x,B@x\n\nb@x,a@x\r\na@x,\nd@x,a@x";
        let split = split(file.as_bytes(), 2, MAX_BYTES).unwrap();
        let expected_parts = ["email,manager_email\na@x,\nb@x,a@x\r\n", "email,manager_email\nd@x,a@x\nc@x,B@x\n"];
        assert_eq!(texts(&split), expected_parts);
        let numbers: Vec<_> = split.parts.iter().map(|part| [part.number(2), part.number(3)]).collect();
        assert_eq!(numbers, [[5, 4], [6, 2]]);
        let managers: Vec<_> = split.parts.iter().map(|part| [part.manager(2), part.manager(3)]).collect();
        assert_eq!(managers, [[None, Some(5)], [Some(5), Some(4)]]);
    }

    #[test]
    fn split_keeps_the_last_row_of_an_address() {
        let file = "email,role\na@x,1\nb@x,2\nA@x,3\n";
        let parts = split(file.as_bytes(), 1, MAX_BYTES).unwrap();
        assert_eq!((texts(&parts), parts.duplicates), (vec!["email,role\nb@x,2\n", "email,role\nA@x,3\n"], 1));
    }

    #[test]
    fn part_is_limited_in_bytes_and_cycles_come_last() {
        let file = "email,manager_email\na@x,b@x\nb@x,a@x\nc@x,\n";
        let parts = split(file.as_bytes(), 10, 32).unwrap();
        assert_eq!(parts.parts.len(), 3);
        assert!(parts.parts.iter().all(|part| part.bytes.len() <= 32));
        assert_eq!(parts.parts[0].numbers, [4]);
    }

    #[test]
    fn small_file_is_one_part_and_malformed_one_is_refused() {
        for marks in ["\u{feff}", "\u{feff}\u{feff}"] {
            let file = format!("{marks}email\n\na@x\n");
            let parts = split(file.as_bytes(), MAX_ROWS, MAX_BYTES).unwrap();
            assert_eq!((texts(&parts), parts.parts[0].number(2)), (vec![file.as_str()], 2));
        }
        for marked in ["\u{feff}", "\n\u{feff}", "\n\u{feff} \u{feff}"] {
            let duplicate_header = format!("{marked}email,role,Email\na@x,\n");
            assert!(
                split(duplicate_header.as_bytes(), 1, MAX_BYTES).is_err(),
                "the byte order mark is not part of a name"
            );
        }
        assert!(split(b"email\n\"a", 1, 10).is_err());
        assert!(split(b"", 1, 10).is_err());
    }
}

//! The header of a file.

use std::collections::HashSet;

use super::scan::{BOM, Record};
use super::{MAX_COLUMNS, UnreadableFile};
use crate::people::{self, is_key};
use crate::problem::{Code, Flaw, Problems};
use crate::text::folded;

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Column {
    Email,
    /// A member of a person that the cell is the value of; one that is optional can be cleared.
    Member {
        name: &'static str,
        is_optional: bool,
    },
    ManagerEmail,
    DepartmentName,
    Status,
    Custom(String),
    Unknown,
}

const KNOWN: [Column; 9] = [
    Column::Email,
    Column::EXTERNAL_ID,
    Column::required(people::FIRST_NAME.name),
    Column::required(people::LAST_NAME.name),
    Column::optional(people::JOB_TITLE.name),
    Column::required(people::ROLE.name),
    Column::ManagerEmail,
    Column::DepartmentName,
    Column::Status,
];
const CUSTOM: &str = "custom.";
/// As much of the name of a column as is repeated to the client.
const SHOWN_CHARS: usize = 80;

impl Column {
    pub(super) const EXTERNAL_ID: Self = Self::optional(people::EXTERNAL_ID.name);

    const fn required(name: &'static str) -> Self {
        Self::Member { name, is_optional: false }
    }

    const fn optional(name: &'static str) -> Self {
        Self::Member { name, is_optional: true }
    }

    /// Its name in a header, where that is always the same.
    const fn name(&self) -> Option<&'static str> {
        match self {
            Self::Email => Some(people::EMAIL.name),
            Self::Member { name, .. } => Some(name),
            Self::ManagerEmail => Some("manager_email"),
            Self::DepartmentName => Some("department_name"),
            Self::Status => Some("status"),
            Self::Custom(_) | Self::Unknown => None,
        }
    }

    fn of(name: &str) -> Self {
        let lower = folded(name);
        if let Some(known) = KNOWN.iter().find(|it| it.name() == Some(lower.as_str())) {
            return known.clone();
        }
        // The prefix is ASCII: it has as many bytes in any case.
        match name.get(..CUSTOM.len()) {
            Some(prefix) if prefix.eq_ignore_ascii_case(CUSTOM) => Self::Custom(name[CUSTOM.len()..].trim().to_owned()),
            _ => Self::Unknown,
        }
    }
}

/// The columns, and the names of those that nobody knows.
pub(super) struct Header {
    pub(super) columns: Vec<Column>,
    pub(super) unknown: Vec<String>,
}

impl Header {
    /// Reads the first record.
    ///
    /// # Errors
    /// No column of addresses, a column given twice, too many columns, a custom key that cannot be one.
    pub(super) fn read(record: &Record<'_, '_>) -> Result<Self, UnreadableFile> {
        if record.is_too_wide {
            let flaw = Flaw::new(Code::TooLong, format!("must have at most {MAX_COLUMNS} columns"));
            return Err(UnreadableFile::Invalid(Problems::one("header", flaw)));
        }
        let mut names: Vec<&str> = record.cells.iter().map(str::trim).collect();
        // A mark behind empty lines; in front of them the scanner takes it away.
        if let Some(first) = names.first_mut() {
            *first = first.trim_start_matches(|it: char| it == BOM || it.is_whitespace());
        }
        let columns: Vec<Column> = names.iter().map(|it| Column::of(it)).collect();
        let mut problems = Problems::none();
        if !columns.contains(&Column::Email) {
            problems.add("email", no_email(&names));
        }
        let mut seen = HashSet::new();
        for (name, column) in names.iter().zip(&columns) {
            if !name.is_empty() && !seen.insert(folded(name)) {
                problems.add(shown(name), Flaw::format("the name of one column only"));
            }
            if let Column::Custom(key) = column
                && let Err(flaw) = is_key(key)
            {
                problems.add(shown(name), flaw);
            }
        }
        let unknown = names.iter().zip(&columns).filter(|(name, it)| **it == Column::Unknown && !name.is_empty());
        let unknown = unknown.map(|(name, _)| shown(name)).collect();
        problems.or(Self { columns, unknown }).map_err(UnreadableFile::Invalid)
    }
}

fn shown(name: &str) -> String {
    name.chars().take(SHOWN_CHARS).collect()
}

/// Why there is no such column: most often because of another separator.
fn no_email(names: &[&str]) -> Flaw {
    let separated = |by: char| names.iter().any(|it| it.split(by).count() > 1);
    let other = [(';', "semicolons"), ('\t', "tabs"), ('|', "vertical bars")];
    match other.into_iter().find(|(by, _)| separated(*by)) {
        Some((_, what)) => Flaw::new(
            Code::Required,
            format!("is required as a column; this file has {what} between its columns: save it with commas"),
        ),
        None => Flaw::new(Code::Required, "is required as a column; the first row must name the columns"),
    }
}

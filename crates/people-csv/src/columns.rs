//! The header of a CSV file: recognizes its columns and refuses an unusable header.

pub(super) mod guess;

use std::borrow::Cow;
use std::collections::HashSet;

use candor_domain::keyed::check_key;
use candor_domain::people::CustomFields;
use candor_domain::problem::{Code, ValidationErrors, ValueError};
use candor_domain::text::fold_case;

use super::scan::{BOM, Record};
use super::{CsvFileError, MAX_COLUMNS};
use guess::{guess, has_full_names, is_status};

/// The part of a person's record that a column of the file sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Column {
    Email,
    /// A member of a person. Only an optional member can be cleared.
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

pub(super) const KNOWN: [Column; 9] = [
    Column::Email,
    Column::EXTERNAL_ID,
    Column::required("first_name"),
    Column::required("last_name"),
    Column::optional("job_title"),
    Column::required(ROLE),
    Column::ManagerEmail,
    Column::DepartmentName,
    Column::Status,
];
/// Header of the column with the role of a person.
pub(super) const ROLE: &str = "role";
/// Normalized form of the header `E-Mail`, which many programs write. Its column contains the addresses if the file
/// has no column `email`.
const GERMAN_EMAIL: &str = "e_mail";
const CUSTOM: &str = "custom.";
/// Maximum number of characters of a column's name in a message.
const SHOWN_CHARS: usize = 80;
/// Maximum number of column names in a message; a spreadsheet can have hundreds.
const SHOWN_NAMES: usize = 20;
/// Separators of columns other than commas, with their names.
pub(super) const OTHER_SEPARATORS: [(char, &str); 3] =
    [(';', "semicolons"), ('\t', "tabs"), ('|', "vertical bars")];

impl Column {
    pub(super) const EXTERNAL_ID: Self = Self::optional("external_id");

    const fn required(name: &'static str) -> Self {
        Self::Member { name, is_optional: false }
    }

    const fn optional(name: &'static str) -> Self {
        Self::Member { name, is_optional: true }
    }

    /// Returns the name of the column in a header, or `None` for a custom or unknown column.
    pub(super) const fn name(&self) -> Option<&'static str> {
        match self {
            Self::Email => Some("email"),
            Self::Member { name, .. } => Some(name),
            Self::ManagerEmail => Some("manager_email"),
            Self::DepartmentName => Some("department_name"),
            Self::Status => Some("status"),
            Self::Custom(_) | Self::Unknown => None,
        }
    }

    /// Returns `true` if the cells are compared with stored texts or known words, without the white space around
    /// the cells.
    pub(super) fn is_looked_up(&self) -> bool {
        let is_member = *self == Self::EXTERNAL_ID || self.name() == Some(ROLE);
        is_member || matches!(self, Self::ManagerEmail | Self::DepartmentName | Self::Status)
    }

    /// Returns the name of the column for messages. Empty for an unknown column.
    pub(super) fn label(&self) -> Cow<'_, str> {
        if let Self::Custom(key) = self {
            return Cow::Owned(format!("{CUSTOM}{key}"));
        }
        Cow::Borrowed(self.name().unwrap_or_default())
    }

    fn from_name(name: &str) -> Self {
        let normal = normalize_header(name);
        if let Some(known_column) = KNOWN.iter().find(|known| known.name() == Some(normal.as_str())) {
            return known_column.clone();
        }
        // `CUSTOM` is ASCII, so its length in bytes does not depend on case.
        match name.get(..CUSTOM.len()) {
            Some(prefix) if prefix.eq_ignore_ascii_case(CUSTOM) => {
                Self::Custom(name[CUSTOM.len()..].trim().to_owned())
            }
            _ => Self::Unknown,
        }
    }
}

/// Normalizes a header or word: lower case, with one underscore for each run of blanks, hyphens and underscores.
pub(super) fn normalize_header(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter == '-' || letter == '_');
    fold_case(&words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_"))
}

/// The parsed columns of a file.
pub(super) struct Header {
    pub(super) columns: Vec<Column>,
    pub(super) unknown: Vec<UnknownColumn>,
}

/// A column that is ignored because its header is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownColumn {
    /// The header as given, truncated to 80 characters.
    pub name: String,
    /// Place of the column in the header.
    pub(super) place: usize,
    /// The known column that the header probably means, unless the file has that column.
    pub probably: Option<&'static str>,
    /// `true` for a column of first and last names together.
    pub has_full_names: bool,
    /// `true` if the header or the cells say who has left, in a file without a column `status`.
    pub is_status: bool,
}

impl Header {
    /// Reads the header from the first record.
    ///
    /// # Errors
    /// A file without a column of addresses, a repeated column, too many columns, or an invalid custom key.
    pub(super) fn read(record: &Record<'_, '_>) -> Result<Self, CsvFileError> {
        if record.is_too_wide {
            let flaw = ValueError::new(Code::TooLong, format!("must have at most {MAX_COLUMNS} columns"));
            return Err(CsvFileError::Invalid(ValidationErrors::one("header", flaw)));
        }
        let mut names: Vec<&str> = record.cells.iter().map(str::trim).collect();
        // Removes byte order marks after empty lines. The scanner removes those at the beginning of the file.
        if let Some(first) = names.first_mut() {
            *first = first.trim_start_matches(|letter: char| letter == BOM || letter.is_whitespace());
        }
        let mut columns: Vec<Column> = names.iter().map(|name| Column::from_name(name)).collect();
        if !columns.contains(&Column::Email)
            && let Some(index) = names.iter().position(|name| normalize_header(name) == GERMAN_EMAIL)
        {
            columns[index] = Column::Email;
        }
        let mut problems = ValidationErrors::none();
        if !columns.contains(&Column::Email) {
            problems.add("email", missing_email(&names, &columns));
        }
        let mut column_names = HashSet::new();
        for (name, column) in names.iter().zip(&columns) {
            // Known columns are compared by name, so that `First Name` repeats `first_name`.
            let comparable_name = column.name().map_or_else(|| fold_case(name), str::to_owned);
            if !name.is_empty() && !column_names.insert(comparable_name) && *column != Column::Unknown {
                problems.add(truncate(name), ValueError::format("a name that no other column of the file has"));
            }
            if let Column::Custom(key) = column
                && let Err(flaw) = check_key::<CustomFields>(key)
            {
                problems.add(truncate(name), flaw);
            }
        }
        let unknown = list_unknown(&names, &columns);
        problems.or(Self { columns, unknown }).map_err(CsvFileError::Invalid)
    }
}

fn truncate(name: &str) -> String {
    name.chars().take(SHOWN_CHARS).collect()
}

/// Lists the columns with unknown headers. A guess is left out if the file has the guessed column.
fn list_unknown(names: &[&str], columns: &[Column]) -> Vec<UnknownColumn> {
    let is_missing = |name: &&str| !columns.iter().any(|column| column.name() == Some(*name));
    let numbered_columns = names.iter().zip(columns).enumerate();
    let unknown_columns =
        numbered_columns.filter(|(_, (name, column))| **column == Column::Unknown && !name.is_empty());
    let has_status = columns.contains(&Column::Status);
    unknown_columns
        .map(|(place, (name, _))| UnknownColumn {
            name: truncate(name),
            place,
            probably: guess(name).filter(is_missing),
            has_full_names: has_full_names(name),
            is_status: !has_status && is_status(name),
        })
        .collect()
}

/// Removes the columns with these names from the unknown columns, so that they cause no warning.
///
/// # Errors
/// A name that is no unknown column of the file, or an unknown column that says who has left and is not in `names`.
pub(super) fn check_ignored(unknown: &mut Vec<UnknownColumn>, names: &[String]) -> Result<(), ValidationErrors> {
    let mut problems = ValidationErrors::none();
    for name in names {
        let is_named = |column: &UnknownColumn| normalize_header(&column.name) == normalize_header(name);
        if unknown.iter().any(is_named) {
            unknown.retain(|column| !is_named(column));
        } else {
            let flaw = format!("the name of an unknown column of the file; `{}` is not one", truncate(name));
            problems.add("ignore_columns", ValueError::format(flaw));
        }
    }
    for column in unknown.iter().filter(|column| column.is_status) {
        let text = "seems to say who has left, and is not known: name the column `status`, with `active` or \
                    `deactivated` in each cell, or list it in `ignore_columns`";
        problems.add(column.name.clone(), ValueError::new(Code::InvalidFormat, text));
    }
    problems.or(())
}

/// Returns `true` if a header means the column of addresses.
pub(super) fn names_addresses(name: &str) -> bool {
    Column::from_name(name) == Column::Email || guess(name) == Some("email")
}

/// Returns the problem of a header without a column of addresses. The message names the separator of the file if
/// it is no comma, or else the columns and the names that they probably need.
fn missing_email(names: &[&str], columns: &[Column]) -> ValueError {
    let has_separator = |by: char| names.iter().any(|name| name.split(by).count() > 1);
    if let Some((_, what)) = OTHER_SEPARATORS.into_iter().find(|(by, _)| has_separator(*by)) {
        return ValueError::new(
            Code::Required,
            format!("is required as a column; this file has {what} between its columns: save it with commas"),
        );
    }
    let column_names: Vec<_> = names.iter().filter(|name| !name.is_empty()).collect();
    if column_names.is_empty() {
        return ValueError::new(Code::Required, "is required as a column; the first row must name the columns");
    }
    let quoted_names: Vec<_> =
        column_names.iter().take(SHOWN_NAMES).map(|name| format!("`{}`", truncate(name))).collect();
    let mut message =
        format!("is required as a column; the first row names the columns {}", quoted_names.join(", "));
    if column_names.len() > SHOWN_NAMES {
        message.push_str(&format!(" and {} more", column_names.len() - SHOWN_NAMES));
    }
    let guesses =
        list_unknown(names, columns).into_iter().filter_map(|column| Some((column.name, column.probably?)));
    let guesses: Vec<_> =
        guesses.take(SHOWN_NAMES).map(|(name, probably)| format!("`{name}` is probably `{probably}`")).collect();
    if guesses.is_empty() {
        message.push_str("; rename the one with the e-mail addresses to `email`");
    } else {
        message.push_str(&format!("; {}: rename it in the first row", guesses.join(", ")));
    }
    ValueError::new(Code::Required, message)
}

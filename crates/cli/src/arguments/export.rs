//! Arguments of `candor export`.

use std::path::PathBuf;

use candor_domain::export::ExportedResource;
use candor_domain::fields::StringEnum;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::remote::AccountChoice;

/// Arguments of `candor export`.
#[derive(Debug, Args)]
#[command(after_help = "\
The key needs the scope exports:read and admin level, and acts for no person. URL and key are those of `candor api`.

The folder gets a file for each resource, and manifest.json with the number of rows, the SHA-256 of each file and the \
cursor of the feed. Files have temporary names until all rows are in. If the command is interrupted, run it again: it \
continues from the last checkpoint.

With --follow the command then stays and appends the state of each changed resource. The last row of an id is current. \
Rows that are erased or removed in the service are taken out of the files, and removed.ndjson lists the ids. Ctrl-C ends the \
command; the same command continues later, for up to 30 days. With --compact only the last row of each id stays.

The exit status is that of `candor api`, and 130 after Ctrl-C during the export.

Examples:
  candor export --url https://feedback.example.com --out copy
  candor export --out people --resources employees,departments --format csv
  candor export --out copy --follow")]
pub struct ExportCommand {
    /// Folder for the files; created if it does not exist
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Resources to export, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = resource)]
    pub(crate) resources: Vec<ExportedResource>,
    /// Format of the files
    #[arg(long, value_enum, default_value_t = ExportFormat::Ndjson)]
    pub(crate) format: ExportFormat,
    /// Keep running: append each change, and remove rows that are erased or removed
    #[arg(long)]
    pub(crate) follow: bool,
    /// Write the files of a complete export anew with one row of each id, its last state
    #[arg(long)]
    pub(crate) compact: bool,
    #[command(flatten)]
    pub(crate) account: AccountChoice,
}

/// Format of exported files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// A JSON object in each line
    Ndjson,
    /// Rows of cells, which are safe in spreadsheets
    Csv,
}

impl ExportFormat {
    /// Returns the ending of file names.
    pub(crate) const fn file_ending(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
        }
    }
}

fn resource(text: &str) -> Result<ExportedResource, String> {
    ExportedResource::from_word(text).map_err(|_| format!("not one of {}", ExportedResource::words().join(", ")))
}

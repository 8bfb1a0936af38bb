//! Progress bar of a copy.

use std::time::Duration;

use candor_service::usecases::copy::CopyWatch;
use indicatif::{ProgressBar, ProgressStyle};

use candor_cli::output::Output;

/// Interval of the bar's animation.
const TICK: Duration = Duration::from_millis(120);
/// Template of the bar. Every row counts twice: it is copied and compared.
const BAR: &str = "{bar:24} {percent:>3} %  {elapsed}  {wide_msg}";

/// Progress bar on a terminal; hidden with `--json`.
pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new(output: Output) -> Self {
        let bar = if output.json { ProgressBar::hidden() } else { ProgressBar::no_length() };
        if let Ok(style) = ProgressStyle::with_template(BAR) {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Removes the bar from the terminal.
    pub(super) fn end(&self) {
        self.0.finish_and_clear();
    }
}

impl CopyWatch for Progress {
    fn begins(&self, rows: u64, from_before: u64) {
        self.0.set_length(2 * rows);
        self.0.set_position(from_before);
        self.0.enable_steady_tick(TICK);
    }

    fn copies(&self, table: &str) {
        self.0.set_message(format!("copying {table}"));
    }

    fn compares(&self, table: &str) {
        self.0.set_message(format!("comparing {table}"));
    }

    fn goes_on(&self, rows: u64) {
        self.0.inc(rows);
    }

    fn finishes(&self) {
        self.0.set_message("checking references");
    }
}

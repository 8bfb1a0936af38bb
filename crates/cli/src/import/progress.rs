//! Shows the progress of an import while it runs, and at its end.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use candor_people_csv::Part;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use super::outcome::ImportOutcome;
use super::tally::{PartState, Tally};
use crate::error::CommandError;
use crate::output::{Output, printable};

/// Time without an answer after which the operator sees a notice.
const SILENCE: Duration = Duration::from_millis(2_500);
/// Interval of the bar's animation.
const TICK: Duration = Duration::from_millis(120);
/// Template of the bar. A message is cut at the terminal's edge, because a wrapped line would break the bar.
const BAR: &str = "{bar:24} {human_pos}/{human_len} rows  {elapsed}  {wide_msg}";

/// Progress that the sending thread and the watching task share.
pub(super) struct Progress {
    dry_run: bool,
    is_drawn: bool,
    state: Mutex<State>,
}

struct State {
    tally: Tally,
    bar: ProgressBar,
    /// Start of the request that is not answered yet.
    asked: Option<Instant>,
    /// The last note about a slow or failing service, to print it only once.
    said: Option<String>,
}

impl Progress {
    pub(super) fn new(dry_run: bool, output: Output) -> Self {
        let state = State { tally: Tally::default(), bar: ProgressBar::hidden(), asked: None, said: None };
        Self { dry_run, is_drawn: !output.json, state: Mutex::new(state) }
    }

    /// Sets the parts of the file as the work to do, and shows a bar on a terminal.
    pub(super) fn begin(&self, parts: &[Part], duplicates: usize) {
        let mut state = self.state();
        state.tally = Tally::new(parts.iter().map(|part| part.numbers.len()), duplicates);
        if self.is_drawn {
            state.bar = ProgressBar::new(parts.iter().map(|part| part.numbers.len() as u64).sum());
            if let Ok(style) = ProgressStyle::with_template(BAR) {
                state.bar.set_style(style);
            }
            state.bar.enable_steady_tick(TICK);
        }
    }

    /// Records that a part is being sent.
    pub(super) fn record_sending(&self, part: usize) {
        let mut state = self.state();
        state.tally.mark(part, PartState::Unanswered);
        state.asked = Some(Instant::now());
    }

    /// Records a failed attempt to send a part. `was_open` is `true` if the service may have received the part in
    /// an earlier attempt, `is_open` if the service may have received the part in this attempt.
    pub(super) fn not_done(&self, part: usize, was_open: bool, is_open: bool) {
        let mut state = self.state();
        state.asked = None;
        state.tally.mark(part, if was_open || is_open { PartState::Unanswered } else { PartState::No });
    }

    /// Records the answer to a part.
    pub(super) fn record_response(&self, number: usize, part: &Part, response: Value) {
        let mut state = self.state();
        (state.asked, state.said) = (None, None);
        state.tally.add(number, part, response);
        state.bar.set_message("");
        state.bar.inc(part.numbers.len() as u64);
    }

    /// Sets the message of the bar, on a terminal only.
    pub(super) fn show(&self, text: String) {
        self.state().bar.set_message(text);
    }

    /// Prints a permanent note, unless the last note had the same text.
    pub(super) fn note(&self, text: &str) {
        self.state().note(text);
    }

    /// Prints a note if the service has been silent for too long.
    pub(super) fn watch(&self) {
        let mut state = self.state();
        if state.asked.is_some_and(|instant| instant.elapsed() >= SILENCE) {
            state.note("the service has not responded yet; waiting");
        }
    }

    /// Returns the number of failed rows.
    pub(super) fn count_failed(&self) -> usize {
        self.state().tally.errors.len()
    }

    /// Returns the outcome of an import that ended early.
    pub(super) fn outcome(&self) -> ImportOutcome {
        let state = self.state();
        match (self.dry_run, state.tally.rows_in(), state.tally.is_open()) {
            (true, _, _) => ImportOutcome::DryRun,
            (false, 0, false) => ImportOutcome::Nothing,
            (false, 0, true) => ImportOutcome::Unknown,
            (false, _, _) => ImportOutcome::Some,
        }
    }

    /// Prints the command's answer. Without `--json`, prints nothing if the file was not divided into parts yet.
    ///
    /// # Errors
    /// [`CommandError::Io`] if the output cannot be written.
    pub(super) fn say_what_was_done(
        &self,
        output: Output,
        error: Option<&CommandError>,
    ) -> Result<(), CommandError> {
        let state = self.state();
        state.bar.finish_and_clear();
        let early = error.map(ToString::to_string);
        if !output.json && !state.tally.has_begun() {
            return Ok(());
        }
        let object = state.tally.object(self.dry_run, early.as_deref());
        output.say(&object, &state.tally.text(self.dry_run))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn note(&mut self, text: &str) {
        if self.said.as_deref() == Some(text) {
            return;
        }
        self.said = Some(text.to_owned());
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stderr(), "candor: {}", printable(text));
        });
    }
}

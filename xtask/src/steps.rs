//! Steps of the gate and of explorations: each is a program, whose output is kept together.

use crate::process::{cargo, program};
use std::env;
use std::io::{Read, pipe};
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use std::time::Instant;

#[derive(Clone, Copy)]
enum Runner {
    Cargo,
    /// This program.
    Xtask,
}

/// A named command of cargo or of this program.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    runner: Runner,
    arguments: &'static [&'static str],
    /// Paths that decide the result, with spaces between them. If the files below them are unchanged since the step
    /// passed, the step is skipped. A step without paths always runs.
    pub(crate) inputs: &'static str,
    /// `true` if the step is skipped in an empty cache, where nothing shows what has changed.
    pub(crate) waits_for_a_cache: bool,
}

/// A step that has ended, or was skipped.
pub(crate) struct FinishedStep {
    pub(crate) name: &'static str,
    pub(crate) seconds: f64,
    pub(crate) output: String,
    pub(crate) problem: Option<String>,
}

impl Step {
    pub(crate) const fn cargo(name: &'static str, arguments: &'static [&'static str]) -> Self {
        Self { name, runner: Runner::Cargo, arguments, inputs: "", waits_for_a_cache: false }
    }

    pub(crate) const fn xtask(name: &'static str, arguments: &'static [&'static str]) -> Self {
        Self { name, runner: Runner::Xtask, arguments, inputs: "", waits_for_a_cache: false }
    }

    pub(crate) const fn unless_unchanged(self, inputs: &'static str) -> Self {
        Self { inputs, ..self }
    }

    /// Makes the gate skip the step in an empty cache; only `cargo xtask explore` runs the step then. For steps that
    /// take long and seldom fail.
    pub(crate) const fn after_the_first_run(self) -> Self {
        Self { waits_for_a_cache: true, ..self }
    }

    pub(crate) fn has_argument(&self, argument: &str) -> bool {
        self.arguments.contains(&argument)
    }

    pub(crate) fn command(&self) -> Command {
        match self.runner {
            Runner::Cargo => cargo(self.arguments),
            Runner::Xtask => xtask(self.arguments),
        }
    }

    /// Returns the command line that repeats the step.
    pub(crate) fn words(&self) -> String {
        let program = match self.runner {
            Runner::Cargo => "cargo",
            Runner::Xtask => "cargo xtask",
        };
        format!("{program} {}", self.arguments.join(" "))
    }

    /// Runs the step and shows its output as it comes.
    pub(crate) fn run_and_show(&self) -> FinishedStep {
        println!("── {}", self.name);
        let start = Instant::now();
        let status = self.command().status().map_err(|error| format!("cannot start the command: {error}"));
        let problem = status.and_then(|status| if status.success() { Ok(()) } else { Err(status.to_string()) });
        let result = FinishedStep::new(self.name, start, String::new(), problem);
        result.show_result();
        result
    }

    /// Runs the step and keeps its output.
    pub(crate) fn run(&self) -> FinishedStep {
        run_command(self.name, self.command())
    }
}

/// Path of this program. It is read before a step builds the workspace: a build replaces the file, and the system then
/// reports a path that does not exist.
static XTASK: LazyLock<PathBuf> = LazyLock::new(|| env::current_exe().unwrap_or_else(|_| "xtask".into()));

/// Returns a command of this program.
pub(crate) fn xtask(arguments: &[&str]) -> Command {
    program(&*XTASK, arguments)
}

/// Runs a command and keeps its output.
pub(crate) fn run_command(name: &'static str, mut command: Command) -> FinishedStep {
    let start = Instant::now();
    let mut lines = vec![];
    let mut run = || -> std::io::Result<Result<(), String>> {
        let (mut reader, writer) = pipe()?;
        let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
        // Drops the ends of the pipe that the command holds: otherwise reading would never end.
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        reader.read_to_end(&mut lines)?;
        let status = child.wait()?;
        Ok(if status.success() { Ok(()) } else { Err(status.to_string()) })
    };
    let problem = run().unwrap_or_else(|error| Err(format!("cannot start the command: {error}")));
    FinishedStep::new(name, start, String::from_utf8_lossy(&lines).into_owned(), problem)
}

impl FinishedStep {
    fn new(name: &'static str, started: Instant, output: String, problem: Result<(), String>) -> Self {
        Self { name, seconds: started.elapsed().as_secs_f64(), output, problem: problem.err() }
    }

    /// Describes a step that did not run, for this reason.
    pub(crate) fn skip(name: &'static str, reason: &str) -> Self {
        Self { name, seconds: 0.0, output: format!("skipped: {reason}\n"), problem: None }
    }

    pub(crate) fn show(&self) {
        print!("── {}\n{}", self.name, self.output);
        self.show_result();
    }

    fn show_result(&self) {
        let result = self.problem.as_ref().map_or("passed".to_owned(), |problem| format!("FAILED ({problem})"));
        println!("── {}: {result} in {:.1} s\n", self.name, self.seconds);
    }

    /// Returns the last `count` lines of the output.
    pub(crate) fn last_lines(&self, count: usize) -> String {
        let lines: Vec<_> = self.output.lines().collect();
        lines[lines.len().saturating_sub(count)..].join("\n")
    }

    /// Returns what the step skipped: the lines of its output that say so, with its name.
    pub(crate) fn skipped_lines(&self) -> impl Iterator<Item = String> {
        let lines = self.output.lines().filter(|line| line.contains("skipped: "));
        lines.map(|line| format!("{}: {}", self.name, line.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_both_streams_is_kept_with_the_result() {
        let mut command = program("sh", &[]);
        command.args(["-c", "echo one; echo 'two: skipped: three' >&2; exit 3"]);
        let result = run_command("a step", command);
        assert_eq!(result.output, "one\ntwo: skipped: three\n");
        assert_eq!(result.problem.as_deref(), Some("exit status: 3"));
        assert_eq!(
            (result.last_lines(1), result.last_lines(3)),
            ("two: skipped: three".to_owned(), result.output.trim().to_owned())
        );
        assert_eq!(result.skipped_lines().collect::<Vec<_>>(), ["a step: two: skipped: three"]);
    }

    #[test]
    fn missing_program_is_a_problem() {
        let result = run_command("a step", program("no-such-program", &[]));
        assert!(result.problem.is_some_and(|problem| problem.starts_with("cannot start the command: ")));
    }
}

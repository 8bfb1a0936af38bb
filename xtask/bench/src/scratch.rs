//! A folder and processes that never outlive this program, however it ends.

use crate::Outcome;
use std::env;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Runs until its standard input ends, which the kernel sees to when this program is gone. It has a process group of its
/// own, so that a Ctrl-C meant for this program does not end it first.
#[derive(Debug)]
pub(crate) struct Guard {
    process: Child,
    /// What it said when it had begun.
    pub(crate) said: String,
}

impl Guard {
    /// A shell that runs the script, which says one line when it has begun and ends after the end of its input.
    pub(crate) fn start(script: &str, arguments: impl FnOnce(&mut Command)) -> Outcome<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script, "candor-bench"]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        arguments(&mut command);
        let mut process = command.spawn().map_err(|error| format!("cannot run /bin/sh: {error}"))?;
        let mut said = String::new();
        if let Some(output) = process.stdout.as_mut() {
            BufReader::new(output).read_line(&mut said)?;
        }
        Ok(Self { process, said: said.trim().to_owned() })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// What is still written into the folder by processes that are about to end makes `rm` fail, so it is tried again.
const KEEP_FOLDER: &str = r#"
trap '' HUP INT QUIT TERM
mkdir -m 700 "$1" || exit 1
echo made
while read -r _; do :; done
tries=0
until rm -rf "$1" || [ "$tries" -ge 300 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
"#;

/// A folder for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    _guard: Guard,
}

impl Scratch {
    /// A new folder under the system's folder for temporary files.
    pub(crate) fn make() -> Outcome<Self> {
        let path = env::temp_dir().join(format!("candor-bench-{}", std::process::id()));
        let guard = Guard::start(KEEP_FOLDER, |it| {
            it.arg(&path);
        })?;
        if guard.said != "made" {
            return Err(format!("cannot make the folder {}", path.display()).into());
        }
        Ok(Self { path, _guard: guard })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_folder_goes_with_all_that_is_in_it() {
        let scratch = Scratch::make().unwrap();
        let path = scratch.path().to_path_buf();
        fs::write(path.join("file"), "text").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn a_guard_ends_with_its_input() {
        let guard = Guard::start("echo begun; while read -r _; do :; done", |_| ()).unwrap();
        assert_eq!(guard.said, "begun");
        drop(guard);
    }
}

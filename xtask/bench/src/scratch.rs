//! A folder and processes that never outlive this program, however it ends.

use crate::Result;
use std::env;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A shell that runs until its standard input ends. The kernel closes the input when this program is gone. The
/// shell has a process group of its own, so that a Ctrl-C for this program does not end it first.
#[derive(Debug)]
pub(crate) struct Guard {
    process: Child,
    /// First line of the output.
    pub(crate) said: String,
}

impl Guard {
    /// Starts a script that prints one line once it is ready and ends after the end of its input.
    pub(crate) fn start(script: &str, add_arguments: impl FnOnce(&mut Command)) -> Result<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script, "candor-bench"]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        add_arguments(&mut command);
        let mut process = command.spawn().map_err(|error| format!("cannot run /bin/sh: {error}"))?;
        let mut output_line = String::new();
        if let Some(output) = process.stdout.as_mut() {
            BufReader::new(output).read_line(&mut output_line)?;
        }
        Ok(Self { process, said: output_line.trim().to_owned() })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Script that creates a folder, and removes it when the input ends. `rm` is repeated, because it fails while
/// processes that are about to end still write into the folder.
const KEEP_FOLDER: &str = r#"
trap '' HUP INT QUIT TERM
mkdir -m 700 "$1" || exit 1
echo created
while read -r _; do :; done
tries=0
until rm -rf "$1" || [ "$tries" -ge 300 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
"#;

/// A folder that is removed on drop.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    _guard: Guard,
}

impl Scratch {
    /// Creates a folder under the system's folder for temporary files.
    pub(crate) fn create() -> Result<Self> {
        let path = env::temp_dir().join(format!("candor-bench-{}", std::process::id()));
        let guard = Guard::start(KEEP_FOLDER, |shell| {
            shell.arg(&path);
        })?;
        if guard.said != "created" {
            return Err(format!("cannot create the folder {}", path.display()).into());
        }
        Ok(Self { path, _guard: guard })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

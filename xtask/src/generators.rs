//! `cargo xtask generators`: the OpenAPI document as those meet it who make clients from it. Linters find nothing, three
//! generators make clients that their compilers take, and small programs that use these run against the built binary.

use crate::packages;
use crate::process::{Outcome, output, program, root, run as run_program};
use crate::service::Service;
use crate::test;
use crate::workspace::Workspace;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const DOCUMENT: &str = "docs/openapi.json";
/// What is installed, in which versions, and the programs that use the generated clients.
const FOLDER: &str = "xtask/generators";
/// What the programs in TypeScript are called.
const PROGRAMS: [&str; 2] = ["openapi-fetch", "hey-api"];

pub(crate) fn run() -> Outcome {
    test::build_everything()?;
    let target = Workspace::load()?.target_directory;
    let node = Node::installed(&target)?;
    let python = Python::installed(&target)?;
    node.lint()?;
    node.make_clients()?;
    python.make_client()?;
    let service = Service::start(&target.join("debug/candor"), &[])?;
    let result = service.key().and_then(|key| {
        let arguments = [service.url(""), key.secret];
        node.run(&arguments)?;
        python.run(&arguments)
    });
    result.map_err(|problem| format!("{problem}; the end of the service's log:\n{}", service.end_of_log()).into())
}

/// The tools and generators for TypeScript, and the folder in which clients are made.
struct Node(PathBuf);

impl Node {
    fn installed(target: &Path) -> Outcome<Self> {
        let folder = packages::node(target, FOLDER)?;
        for name in ["tsconfig.json", "openapi-fetch.ts", "hey-api.ts", "spectral.json"] {
            fs::copy(root().join(FOLDER).join(name), folder.join(name))?;
        }
        fs::copy(root().join(DOCUMENT), folder.join("openapi.json"))?;
        Ok(Self(folder))
    }

    /// A program of the packages, in their folder.
    fn tool(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = program(self.0.join("node_modules/.bin").join(name), arguments);
        command.current_dir(&self.0).env("REDOCLY_TELEMETRY", "off").env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
        command
    }

    /// Neither linter has anything to say, not even a hint.
    fn lint(&self) -> Outcome {
        let report = output(&mut self.tool("redocly", &["lint", "openapi.json", "--format", "json"]))?;
        let report: serde_json::Value = serde_json::from_str(&report)?;
        if report["totals"]["errors"] != 0 || report["totals"]["warnings"] != 0 {
            return Err(format!("redocly: {:#}", report["problems"]).into());
        }
        let strict = ["lint", "openapi.json", "--ruleset", "spectral.json", "--fail-severity", "hint", "--quiet"];
        run_program(&mut self.tool("spectral", &strict))
    }

    /// Generates clients with the generators' own defaults, and compiles the programs with them.
    fn make_clients(&self) -> Outcome {
        for folder in ["openapi-typescript", "hey-api", "built"] {
            remove(&self.0.join(folder))?;
        }
        let types = ["openapi.json", "--output", "openapi-typescript/schema.ts"];
        output(&mut self.tool("openapi-typescript", &types))?;
        output(&mut self.tool("openapi-ts", &["--input", "openapi.json", "--output", "hey-api", "--no-log-file"]))?;
        run_program(&mut self.tool("tsc", &["--project", "."]))
    }

    fn run(&self, arguments: &[String]) -> Outcome {
        for name in PROGRAMS {
            let built = format!("built/{name}.js");
            run_program(program("node", &[&built]).args(arguments).current_dir(&self.0))?;
        }
        Ok(())
    }
}

/// The generator for Python, and the folder in which its client is made.
struct Python(PathBuf);

impl Python {
    fn installed(target: &Path) -> Outcome<Self> {
        Ok(Self(packages::python(target, FOLDER)?))
    }

    fn folder(&self) -> PathBuf {
        self.0.join("made")
    }

    /// A program of the environment, which finds the others of it.
    fn tool(&self, name: &str, arguments: &[&str]) -> Command {
        let bin = self.0.join("bin");
        let mut command = program(bin.join(name), arguments);
        let before = std::env::var_os("PATH").unwrap_or_default();
        let path: OsString = [bin.as_os_str(), before.as_os_str()].join(std::ffi::OsStr::new(":"));
        command.env("PATH", path).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    /// Generates the client, and holds it and the program against their types.
    fn make_client(&self) -> Outcome {
        let folder = self.folder();
        remove(&folder)?;
        let made = folder.to_string_lossy();
        output(&mut self.tool("openapi-python-client", &["generate", "--path", DOCUMENT, "--output-path", &made]))?;
        fs::copy(root().join(FOLDER).join("program.py"), folder.join("program.py"))?;
        run_program(self.tool("mypy", &["--no-error-summary", "program.py", "candor_client"]).current_dir(&folder))
    }

    fn run(&self, arguments: &[String]) -> Outcome {
        run_program(self.tool("python", &["program.py"]).args(arguments).current_dir(self.folder()))
    }
}

fn remove(folder: &Path) -> Outcome {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(())
}

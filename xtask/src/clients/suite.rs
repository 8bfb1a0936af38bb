//! `cargo xtask clients --test`: checks and tests the libraries against the built binary, each language in a
//! thread.

use super::{LICENCES, samples};
use crate::packages;
use crate::process::{Outcome, cargo, cargo_without_lints, output, program, root, run as run_program, succeeds};
use crate::test::build_binary;
use crate::workspace::Workspace;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

const TYPESCRIPT: &str = "clients/typescript";
const PYTHON: &str = "clients/python";
const RUST: &str = "candor-client";
/// Source of the program that tries the packaged crate: it sends a request to a port without a service.
const PROGRAM: &str = r#"#[tokio::main(flavor = "current_thread")]
async fn main() {
    let candor = candor_client::Candor::builder().api_key("cdr_live_x").base_url("http://127.0.0.1:1");
    let result = candor.build().unwrap().employees().get("emp_1", None).max_retries(0).await;
    assert!(result.unwrap_err().is_unsent());
}
"#;
/// Calls that every library makes: each operation once.
const OPERATIONS: &str = "clients/operations.json";

/// Tests the client libraries of the languages that this machine has. For Rust, tries only the package and the
/// samples, because the tests of the binary use the library.
pub(crate) fn run() -> Outcome {
    build_binary()?;
    let target = Workspace::load()?.target_directory;
    let results = thread::scope(|scope| {
        let languages = [
            ("TypeScript", scope.spawn(|| report_time("TypeScript", || typescript(&target)))),
            ("Python", scope.spawn(|| report_time("Python", || python(&target)))),
            ("Rust", scope.spawn(|| report_time("Rust", || rust(&target)))),
        ];
        languages.map(|(name, language)| language.join().unwrap_or_else(|_| Err(format!("{name}: a panic"))))
    });
    let problems: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.join("; ").into()) }
}

fn report_time(language: &str, run: impl FnOnce() -> Outcome) -> Result<(), String> {
    let start = Instant::now();
    run().map_err(|problem| format!("{language}: {problem}"))?;
    println!("{language}: done in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Returns a command with the environment variables that the tests in TypeScript and Python read.
fn tool(name: impl AsRef<Path>, arguments: &[&str], folder: &Path, target: &Path) -> Command {
    let mut command = program(name, arguments);
    command.current_dir(folder).env("CANDOR_BIN", target.join("debug/candor"));
    command.env("CANDOR_FAULT_PROXY", target.join("debug/candor-fault-proxy"));
    command.env("CANDOR_TEST_OPERATIONS", root().join(OPERATIONS));
    command
}

/// Copies the library for TypeScript into a folder with its packages, and builds it there. Returns the folder.
fn typescript_project(target: &Path) -> Outcome<PathBuf> {
    let folder = packages::node(target, TYPESCRIPT)?;
    for name in ["src", "test", "examples", "samples", "build", "dist"] {
        remove(&folder.join(name))?;
    }
    for name in ["src", "test", "examples"] {
        copy(&root().join(TYPESCRIPT).join(name), &folder.join(name))?;
    }
    let files = ["package.json", "tsconfig.json", "tsconfig.test.json", "build.mjs", "README.md"];
    for name in files.into_iter().chain(["CHANGELOG.md"]).chain(LICENCES) {
        fs::copy(root().join(TYPESCRIPT).join(name), folder.join(name))?;
    }
    run_program(&mut tool("npm", &["run", "--silent", "build"], &folder, target))?;
    Ok(folder)
}

fn typescript(target: &Path) -> Outcome {
    let folder = match typescript_project(target) {
        Ok(folder) => folder,
        Err(problem) => return skip("TypeScript", &*problem),
    };
    let npm = |arguments: &[&str]| run_program(&mut tool("npm", arguments, &folder, target));
    write_samples("TypeScript", "ts", &folder.join("samples"))?;
    for script in ["check", "test"] {
        npm(&["run", "--silent", script])?;
    }
    let archive = output(&mut tool("npm", &["pack", "--silent"], &folder, target))?;
    let archive = folder.join(archive.trim());
    let empty = folder.join("empty");
    remove(&empty)?;
    fs::create_dir(&empty)?;
    fs::write(empty.join("package.json"), "{\"private\": true}\n")?;
    let install = ["install", "--silent", "--no-audit", "--no-fund", &archive.to_string_lossy()];
    run_program(&mut tool("npm", &install, &empty, target))?;
    has_licences(&empty.join("node_modules/@candor/client"))?;
    let call_text = "new Candor({ apiKey: 'cdr_live_x', baseUrl: 'http://localhost' }).employees.list";
    let module = format!("import {{ Candor }} from '@candor/client'; {call_text}");
    let common = format!("const {{ Candor }} = require('@candor/client'); {call_text}");
    run_program(&mut tool("node", &["--input-type=module", "--eval", &module], &empty, target))?;
    run_program(&mut tool("node", &["--input-type=commonjs", "--eval", &common], &empty, target))
}

fn python(target: &Path) -> Outcome {
    if !succeeds(&mut program("python3", &["-c", "import sys, venv; sys.exit(sys.version_info < (3, 11))"])) {
        return skip("Python", &"Python 3.11 or later with its venv module is needed");
    }
    let environment = match packages::python(target, PYTHON) {
        Ok(environment) => environment,
        Err(problem) => return skip("Python", &*problem),
    };
    let source = root().join(PYTHON);
    let python = environment.join("bin/python");
    let run = |arguments: &[&str]| {
        let mut command = tool(&python, arguments, &source, target);
        run_program(command.env("PYTHONPATH", "src").env("PYTHONDONTWRITEBYTECODE", "1"))
    };
    let cache = environment.join("mypy").to_string_lossy().into_owned();
    run(&["-m", "mypy", "--no-error-summary", "--cache-dir", &cache, "src", "tests", "examples"])?;
    let samples = environment.join("samples");
    remove(&samples)?;
    write_samples("Python", "py", &samples)?;
    let interpreter = python.to_string_lossy();
    run(&["-m", "pyright", "--pythonpath", &interpreter, "src", "examples", &samples.to_string_lossy()])?;
    run(&["-m", "pytest", "--quiet", "-p", "no:cacheprovider"])?;
    let wheels = environment.join("wheels");
    remove(&wheels)?;
    run(&["-m", "build", "--wheel", "--no-isolation", "--outdir", &wheels.to_string_lossy()])?;
    let wheel = only_file(&wheels)?.to_string_lossy().into_owned();
    let licences =
        LICENCES.map(|name| format!("any(name.endswith('/licenses/{name}') for name in names)")).join(" and ");
    let script =
        format!("import sys, zipfile; names = zipfile.ZipFile(sys.argv[1]).namelist(); assert {licences}, names");
    run(&["-c", &script, &wheel])?;
    let empty = environment.join("empty");
    run(&["-m", "venv", "--clear", &empty.to_string_lossy()])?;
    let python_path = empty.join("bin/python");
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", &wheel];
    run_program(&mut tool(&python_path, &install, &empty, target))?;
    let import_text = "from candor_client import Candor; \
                Candor(api_key='cdr_live_x', base_url='http://localhost').employees.list()";
    run_program(&mut tool(&python_path, &["-c", import_text], &empty, target))
}

/// Runs a program that depends on the packaged crate, in a project of its own with the versions of this workspace,
/// and compiles the samples of the reference.
fn rust(target: &Path) -> Outcome {
    run_program(cargo(&["package", "--quiet", "--package", RUST]).args([
        "--allow-dirty",
        "--no-verify",
        "--offline",
    ]))?;
    let folder = target.join("clients/rust");
    remove(&folder)?;
    fs::create_dir_all(folder.join("src"))?;
    let name = format!("{RUST}-{}", env!("CARGO_PKG_VERSION"));
    // `--touch`: files in archives have a fixed time, by which Cargo would not notice that the library has changed.
    let archive = target.join(format!("package/{name}.crate")).to_string_lossy().into_owned();
    run_program(&mut tool("tar", &["--extract", "--touch", "--file", &archive], &folder, target))?;
    has_licences(&folder.join(&name))?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let tokio = "tokio = { version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }";
    let dependencies = format!("{RUST} = {{ path = \"{name}\" }}\n{tokio}");
    let package = "[package]\nname = \"empty\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n";
    fs::write(folder.join("Cargo.toml"), format!("{package}{dependencies}\n"))?;
    fs::write(folder.join("src/main.rs"), PROGRAM)?;
    fs::create_dir(folder.join("examples"))?;
    fs::write(folder.join("examples/samples.rs"), rust_samples()?)?;
    for arguments in [["run", "--quiet", "--offline"].as_slice(), &["check", "--quiet", "--offline", "--examples"]]
    {
        run_program(
            cargo_without_lints(arguments)
                .current_dir(&folder)
                .env("CARGO_TARGET_DIR", target.join("clients/rust-build")),
        )?;
    }
    Ok(())
}

/// Returns all samples in Rust as modules of one program, so that one compilation checks them.
fn rust_samples() -> Outcome<String> {
    let mut program = "#![deny(warnings)]\n#![allow(dead_code)]\n\nfn main() {}\n".to_owned();
    for (operation, source) in samples::committed_samples("Rust")? {
        program += &format!("\nmod {operation} {{\n{source}}}\n");
    }
    Ok(program)
}

/// Writes each sample of a language into a file of its own, so that the tools of the language check it.
fn write_samples(label: &str, extension: &str, folder: &Path) -> Outcome {
    fs::create_dir(folder)?;
    for (operation, source) in samples::committed_samples(label)? {
        fs::write(folder.join(format!("{operation}.{extension}")), source)?;
    }
    Ok(())
}

fn skip(language: &str, problem: &(impl std::fmt::Display + ?Sized)) -> Outcome {
    println!("skipped: the client library for {language}: {problem}");
    Ok(())
}

/// Fails if a package lacks the text of a licence.
fn has_licences(package: &Path) -> Outcome {
    match LICENCES.iter().find(|name| !package.join(name).is_file()) {
        Some(name) => Err(format!("{} has no {name}", package.display()).into()),
        None => Ok(()),
    }
}

fn only_file(folder: &Path) -> Outcome<PathBuf> {
    Ok(fs::read_dir(folder)?.next().ok_or("no wheel was built")??.path())
}

fn remove(folder: &Path) -> Outcome {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Outcome {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

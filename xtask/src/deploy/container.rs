//! The image and the compose file.

use super::documents::texts;
use super::rules::{self, END_SECONDS, SERVICE, USER};
use super::{CheckResult, Machine, Outcome, judge, path_of, tools};
use crate::process::{output, program, root, succeeds};
use crate::service::free_address;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const DOCKERFILE: &str = "Dockerfile";
pub(super) const COMPOSE: &str = "compose.yaml";

/// Libraries of the image: the C library, its loader, and the unwinder of the compiler.
const LIBRARIES: [&str; 7] =
    ["linux-vdso", "libc.so", "libm.so", "libgcc_s.so", "libpthread.so", "libdl.so", "ld-linux"];

/// Compares the base image, the build command and the program with the manifests of the workspace.
pub(super) fn agrees_with_the_workspace(machine: &Machine) -> Outcome<CheckResult> {
    let text = machine.documents.text(DOCKERFILE)?;
    let workspace: toml::Table = fs::read_to_string(root().join("Cargo.toml"))?.parse()?;
    let app: toml::Table = fs::read_to_string(root().join("crates/app/Cargo.toml"))?.parse()?;
    judge(&disagreements(text, &workspace, &app), "compiler, profile, features, program and user are right")
}

fn disagreements(text: &str, workspace: &toml::Table, app: &toml::Table) -> Vec<String> {
    let version = workspace["workspace"]["package"]["rust-version"].as_str().unwrap_or_default();
    let binary = app["package"]["default-run"].as_str().unwrap_or_default();
    let stages: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("FROM ")).collect();
    let builds_with = format!("rust:{version}-");
    let user = text.lines().filter_map(|line| line.strip_prefix("USER ")).next_back();
    let mut requirements = vec![
        (
            stages.first().is_some_and(|stage| stage.starts_with(&builds_with)),
            format!("does not build with {builds_with}…"),
        ),
        (
            stages.len() == 2 && stages[1].starts_with("gcr.io/distroless/cc-"),
            "its last stage is not a distroless image".into(),
        ),
        (text.contains("cargo build --locked --release "), "does not build with --locked --release".into()),
        (text.contains(&format!("target/release/{binary} ")), format!("does not install {binary}")),
        (text.contains(&format!("ENTRYPOINT [\"/usr/bin/{binary}\"]")), format!("does not start {binary}")),
        (user == Some(USER), format!("does not run as {USER}")),
        (text.lines().any(|line| line.starts_with("HEALTHCHECK ")), "has no health check".into()),
    ];
    let features = text.split("--features").skip(1).filter_map(|rest| rest.split_whitespace().next());
    requirements
        .extend(features.map(|name| (app["features"].get(name).is_some(), format!("there is no feature {name}"))));
    requirements.into_iter().filter(|(holds, _)| !holds).map(|(_, what)| format!("{DOCKERFILE}: {what}")).collect()
}

/// Returns the command lines of the image: its command and its health check.
pub(super) fn image_commands(text: &str) -> Vec<Vec<String>> {
    let lists = text.match_indices("CMD [").map(|(at, _)| &text[at + "CMD ".len()..]);
    let lists = lists.filter_map(|rest| serde_json::from_str::<Vec<String>>(rest.lines().next()?).ok());
    lists.map(|words| words.into_iter().filter(|word| word != "/usr/bin/candor").collect()).collect()
}

pub(super) fn hadolint(machine: &Machine) -> Outcome<CheckResult> {
    let Some(python) = tools::python(machine) else { return tools::no_python() };
    tools::read_output(&mut program(python.join("bin/hadolint"), &[&path_of(DOCKERFILE)]))?;
    CheckResult::pass("no findings")
}

/// Lets Docker Compose validate the compose file. Starts no containers, because that needs an engine.
pub(super) fn compose(machine: &Machine) -> Outcome<CheckResult> {
    let Some(python) = tools::python(machine) else { return tools::no_python() };
    let arguments = ["--file", &path_of(COMPOSE), "config", "--quiet"];
    tools::read_output(&mut program(python.join("bin/docker-compose"), &arguments))?;
    CheckResult::pass("valid; starting it needs an engine")
}

/// Returns the services with our image.
fn services(compose: &[Value]) -> impl Iterator<Item = (&String, &Value)> {
    let services = compose.iter().filter_map(|document| document["services"].as_object()).flatten();
    services.filter(|(_, service)| service["build"].is_object())
}

/// Returns the command lines of the services with our image.
pub(super) fn compose_commands(compose: &[Value]) -> impl Iterator<Item = (&String, Vec<String>)> {
    let own_words = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
    services(compose).map(move |(name, service)| (name, own_words(texts(&service["command"]))))
}

pub(super) fn compose_rules(machine: &Machine) -> Outcome<CheckResult> {
    let findings = broken_rules(&machine.documents.yaml(COMPOSE)?);
    judge(&findings, "two instances and a worker, with least rights, and secrets as files")
}

fn broken_rules(compose: &[Value]) -> Vec<String> {
    let mut findings = Vec::new();
    for (word, least) in [("api", 2), ("worker", 1), ("migrate", 1)] {
        let count = compose_commands(compose).filter(|(_, words)| words.iter().any(|used| used == word)).count();
        if count < least {
            findings.push(format!("fewer than {least} services have the word {word} in their command"));
        }
    }
    for (name, service) in services(compose) {
        let mut broken_lines = rules::broken_rules(&SERVICE, service);
        let needs = END_SECONDS + rules::drain_seconds(&service["environment"]);
        if rules::seconds(&service["stop_grace_period"]).is_none_or(|grace| grace < needs) {
            broken_lines.push("it is killed before it has ended".to_owned());
        }
        if rules::has_secret(&service["environment"]) {
            broken_lines.push("a secret is in its environment".to_owned());
        }
        findings.extend(broken_lines.into_iter().map(|problem| format!("{name}: {problem}")));
    }
    findings.into_iter().map(|finding| format!("{COMPOSE}, {finding}")).collect()
}

/// Starts the program as in a container: not as root, on a read-only root with only the libraries of the base image,
/// and with a folder for its data. The program's own health check must succeed.
pub(super) fn runs_on_a_read_only_root(machine: &Machine) -> Outcome<CheckResult> {
    let (Some(unshare), Some(_)) = (tools::find_installed("unshare"), tools::find_installed("setpriv")) else {
        return CheckResult::skip("there is no unshare, or no setpriv");
    };
    if !succeeds(&mut program(&unshare, &["--mount", "--fork", "true"])) {
        return CheckResult::skip("this user may not mount anything");
    }
    let libraries = libraries(&machine.binary)?;
    let mut command = program(unshare, &["--mount", "--fork", "sh", "xtask/deploy/read_only_root.sh"]);
    command.arg(&machine.scratch).args([free_address()?.to_string(), free_address()?.to_string()]);
    let output_text = output(command.arg(&machine.binary).args(libraries))?;
    CheckResult::pass(output_text.trim().replace('\n', ", "))
}

/// Returns the paths of the libraries that the program loads. Fails if the base image lacks a library.
fn libraries(binary: &Path) -> Outcome<Vec<PathBuf>> {
    let text = output(&mut program("ldd", &[&binary.to_string_lossy()]))?;
    let missing = text.lines().find(|line| !LIBRARIES.iter().any(|library| line.contains(library)));
    if let Some(line) = missing {
        return Err(format!("the base image lacks the library {}", line.trim()).into());
    }
    Ok(text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect())
}

#[cfg(test)]
mod tests {
    use super::super::documents::parse;
    use super::{broken_rules, disagreements, image_commands};

    const IMAGE: &str = include_str!("../../../docs/deploy/Dockerfile");
    const COMPOSE: &str = include_str!("../../../docs/deploy/compose.yaml");

    fn count_found(text: &str) -> usize {
        let workspace = include_str!("../../../Cargo.toml").parse().unwrap();
        let app = include_str!("../../../crates/app/Cargo.toml").parse().unwrap();
        disagreements(text, &workspace, &app).len()
    }

    #[test]
    fn image_of_another_workspace_is_found() {
        assert_eq!(count_found(IMAGE), 0);
        for (from, to) in [
            ("FROM rust:", "FROM rust:0"),
            ("--release ", "--profile fast "),
            ("--features otlp", "--features tracing"),
            ("target/release/candor", "target/debug/candor"),
            ("USER 65532:65532", "USER root"),
            ("gcr.io/distroless/", "debian/"),
            ("\nHEALTHCHECK", "\n# HEALTHCHECK"),
        ] {
            assert!(IMAGE.contains(from), "{from}");
            assert_eq!(count_found(&IMAGE.replace(from, to)), 1, "{to}");
        }
    }

    #[test]
    fn command_lines_of_an_image_are_read() {
        let text = "HEALTHCHECK CMD [\"/usr/bin/candor\", \"healthcheck\"]\nCMD [\"serve\"]\n";
        assert_eq!(image_commands(text), [["healthcheck"], ["serve"]]);
    }

    #[test]
    fn service_without_time_or_with_secrets_is_found() {
        let count = |text: &str| broken_rules(&parse(text).unwrap()).len();
        assert_eq!(count(COMPOSE), 0);
        for (from, to, found) in [
            ("stop_grace_period: 30s", "stop_grace_period: 10s", 4),
            ("CANDOR_CONFIG: /run", "CANDOR_DRAIN_DELAY: 6s\n    CANDOR_CONFIG: /run", 4),
            ("CANDOR_CONFIG", "CANDOR_MASTER_KEY", 4),
            ("\"--role\", \"worker\"", "\"--role\", \"api\"", 1),
        ] {
            assert!(COMPOSE.contains(from), "{from}");
            assert_eq!(count(&COMPOSE.replace(from, to)), found, "{to}");
        }
    }
}

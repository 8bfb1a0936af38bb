//! The image and the compose file.

use super::commands::owned;
use super::documents::texts;
use super::{Machine, Outcome, Tried, installed, judged, path_of, tools};
use crate::process::{output, program, root, succeeds};
use crate::service::free_address;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const DOCKERFILE: &str = "Dockerfile";
pub(super) const COMPOSE: &str = "compose.yaml";

/// The user of the image, in numbers, so that Kubernetes can tell that it is not root.
const USER: &str = "65532:65532";
/// How long a process may take to end after its drain delay.
const END_SECONDS: u64 = 25;
/// What the image has for the program to run on: the C library, its loader, and the unwinder of the compiler.
const LIBRARIES: [&str; 7] =
    ["linux-vdso", "libc.so", "libm.so", "libgcc_s.so", "libpthread.so", "libdl.so", "ld-linux"];

/// The base has the oldest compiler that the workspace asks for, and what is built and started exists.
pub(super) fn agrees_with_the_workspace(machine: &Machine) -> Outcome<Tried> {
    let text = machine.documents.text(DOCKERFILE)?;
    let workspace: toml::Table = fs::read_to_string(root().join("Cargo.toml"))?.parse()?;
    let app: toml::Table = fs::read_to_string(root().join("crates/app/Cargo.toml"))?.parse()?;
    judged(
        disagreements(text, &workspace, &app),
        "compiler, profile, features, program and user are as they should be".into(),
    )
}

fn disagreements(text: &str, workspace: &toml::Table, app: &toml::Table) -> Vec<String> {
    let mut findings = Vec::new();
    let mut want = |holds: bool, what: String| {
        if !holds {
            findings.push(format!("{DOCKERFILE}: {what}"));
        }
    };
    let version = workspace["workspace"]["package"]["rust-version"].as_str().unwrap_or_default();
    let stages: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("FROM ")).collect();
    let builds_with = format!("rust:{version}-");
    want(stages.first().is_some_and(|it| it.starts_with(&builds_with)), format!("does not build with {builds_with}…"));
    want(stages.len() == 2 && stages[1].starts_with("gcr.io/distroless/cc-"), "does not end on distroless".into());
    want(text.contains("cargo build --locked --release "), "does not build with --locked --release".into());
    for feature in options(text, "--features") {
        want(app["features"].get(feature).is_some(), format!("there is no feature {feature}"));
    }
    let binary = app["package"]["default-run"].as_str().unwrap_or_default();
    for (before, behind) in [("target/release/", " "), ("ENTRYPOINT [\"/usr/bin/", "\"]")] {
        want(text.contains(&format!("{before}{binary}{behind}")), format!("{before}{binary} is not there"));
    }
    let last = text.lines().filter_map(|line| line.strip_prefix("USER ")).next_back();
    want(last == Some(USER), format!("does not run as {USER}"));
    want(text.lines().any(|line| line.starts_with("HEALTHCHECK ")), "has no health check".into());
    findings
}

/// What stands behind an option, each time it is there.
fn options<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    text.split(name).skip(1).filter_map(|rest| rest.split_whitespace().next()).collect()
}

/// What the image starts, and what it asks how it is by.
pub(super) fn of_the_image(text: &str) -> Vec<Vec<String>> {
    let lists = text.match_indices("CMD [").map(|(at, _)| &text[at + "CMD ".len()..]);
    let lists = lists.filter_map(|rest| serde_json::from_str::<Vec<String>>(rest.lines().next()?).ok());
    lists.map(|words| words.into_iter().filter(|it| it != "/usr/bin/candor").collect()).collect()
}

pub(super) fn hadolint(machine: &Machine) -> Outcome<Tried> {
    let Some(python) = tools::python(machine) else { return tools::no_python() };
    tools::said(&mut program(python.join("bin/hadolint"), &[&path_of(DOCKERFILE).to_string_lossy()]))?;
    Tried::passed("nothing to say")
}

/// Docker Compose itself, which reads the file and resolves it, without an engine.
pub(super) fn compose(machine: &Machine) -> Outcome<Tried> {
    let Some(python) = tools::python(machine) else { return tools::no_python() };
    let file = path_of(COMPOSE);
    let arguments = ["--file", &file.to_string_lossy(), "config", "--quiet"];
    tools::said(&mut program(python.join("bin/docker-compose"), &arguments))?;
    Tried::passed("understood; nothing was started, that takes an engine")
}

/// The services that are made of our image, with what each starts.
pub(super) fn commands(compose: &[Value]) -> Vec<(String, Vec<String>)> {
    ours(compose).map(|(name, service)| (name.clone(), owned(&service["command"]))).collect()
}

fn ours(compose: &[Value]) -> impl Iterator<Item = (&String, &Value)> {
    let services = compose.iter().filter_map(|it| it["services"].as_object()).flatten();
    services.filter(|(_, service)| service["build"].is_object())
}

pub(super) fn compose_rules(machine: &Machine) -> Outcome<Tried> {
    let compose = machine.documents.yaml(COMPOSE)?;
    judged(broken_rules(&compose), "two instances and a worker, with least rights, and secrets as files".into())
}

fn broken_rules(compose: &[Value]) -> Vec<String> {
    let mut findings = Vec::new();
    let role = |wanted: &str| commands(compose).iter().filter(|(_, words)| words.iter().any(|it| it == wanted)).count();
    for (wanted, least) in [("api", 2), ("worker", 1), ("migrate", 1)] {
        if role(wanted) < least {
            findings.push(format!("{COMPOSE}: fewer than {least} of {wanted}"));
        }
    }
    for (name, service) in ours(compose) {
        let grace = service["stop_grace_period"].as_str().and_then(|it| it.strip_suffix('s')?.parse::<u64>().ok());
        let environment = service["environment"].as_object();
        for (holds, what) in [
            (service["read_only"] == true, "its root is not read-only"),
            (service["user"] == USER, "it may be root"),
            (texts(&service["cap_drop"]) == ["ALL"], "it keeps capabilities"),
            (texts(&service["security_opt"]).contains(&"no-new-privileges:true"), "it may gain rights"),
            (
                grace.is_some_and(|it| it >= END_SECONDS + drain_seconds(environment)),
                "it is killed before it has ended",
            ),
            (texts(&service["secrets"]).contains(&"candor.toml"), "its secrets are not a file"),
            (!environment.is_some_and(|it| it.keys().any(|name| is_secret(name))), "a secret is in its environment"),
        ] {
            if !holds {
                findings.push(format!("{COMPOSE}, {name}: {what}"));
            }
        }
    }
    findings
}

/// Whether a variable may hold a password or a key.
pub(super) fn is_secret(name: &str) -> bool {
    [
        "CANDOR_MASTER_KEY",
        "CANDOR_DATABASE_URL",
        "CANDOR_DATABASE_REPLICA_URL",
        "CANDOR_RATE_LIMITER",
        "CANDOR_SMTP_URL",
    ]
    .contains(&name)
}

/// The drain delay in seconds, which is five where nobody says otherwise.
pub(super) fn drain_seconds(environment: Option<&serde_json::Map<String, Value>>) -> u64 {
    const DEFAULT: u64 = 5;
    let given = environment.and_then(|it| it.get("CANDOR_DRAIN_DELAY")?.as_str()?.strip_suffix('s')?.parse().ok());
    given.unwrap_or(DEFAULT)
}

/// Starts the program as the image does: alone with the libraries of its base on a root that nobody may write to, as
/// nobody, with a folder for its data; and asks it by its own health check.
pub(super) fn runs_on_a_read_only_root(machine: &Machine) -> Outcome<Tried> {
    let (Some(unshare), Some(_)) = (installed("unshare"), installed("setpriv")) else {
        return Tried::skipped("there is no unshare, or no setpriv");
    };
    if !succeeds(&mut program(&unshare, &["--mount", "--fork", "true"])) {
        return Tried::skipped("this user may not mount anything");
    }
    let libraries = libraries(&machine.binary)?;
    let mut command = program(unshare, &["--mount", "--fork", "sh", "xtask/deploy/read_only_root.sh"]);
    command.arg(&machine.scratch).args([free_address()?.to_string(), free_address()?.to_string()]);
    let said = output(command.arg(&machine.binary).args(libraries))?;
    Tried::passed(said.trim().replace('\n', ", "))
}

/// What the program is linked with: nothing that the base of the image lacks.
fn libraries(binary: &Path) -> Outcome<Vec<PathBuf>> {
    let text = output(&mut program("ldd", &[&binary.to_string_lossy()]))?;
    let lost = text.lines().find(|line| !LIBRARIES.iter().any(|it| line.contains(it)));
    if let Some(line) = lost {
        return Err(format!("the image has no {}", line.trim()).into());
    }
    let paths = text.lines().flat_map(str::split_whitespace).filter(|it| it.starts_with('/'));
    Ok(paths.map(PathBuf::from).collect())
}

#[cfg(test)]
mod tests {
    use super::super::documents::parse;
    use super::{broken_rules, disagreements, of_the_image};

    const IMAGE: &str = "FROM rust:1.95-bookworm AS build\nRUN cargo build --locked --release --features otlp \\\n    && \
        install target/release/candor /out\nFROM gcr.io/distroless/cc-debian12:nonroot\nUSER 65532:65532\nHEALTHCHECK \
        --interval=1s CMD [\"/usr/bin/candor\", \"healthcheck\"]\nENTRYPOINT [\"/usr/bin/candor\"]\nCMD [\"serve\"]\n";

    fn found(text: &str) -> Vec<String> {
        let workspace = "[workspace.package]\nrust-version = \"1.95\"\n".parse().unwrap();
        let app = "[package]\ndefault-run = \"candor\"\n[features]\notlp = []\n".parse().unwrap();
        disagreements(text, &workspace, &app)
    }

    #[test]
    fn an_image_that_is_not_of_this_workspace_is_found() {
        assert_eq!(found(IMAGE), [""; 0]);
        for (from, to) in [
            ("rust:1.95", "rust:1.94"),
            ("--release", "--profile fast"),
            ("otlp", "tracing"),
            ("target/release/candor", "target/debug/candor"),
            ("USER 65532:65532", "USER root"),
            ("gcr.io/distroless/cc-debian12:nonroot", "debian"),
            ("HEALTHCHECK", "# HEALTHCHECK"),
        ] {
            assert_eq!(found(&IMAGE.replace(from, to)).len(), 1, "{to}");
        }
    }

    #[test]
    fn what_an_image_starts_is_read() {
        assert_eq!(of_the_image(IMAGE), [["healthcheck"], ["serve"]]);
    }

    #[test]
    fn a_service_with_more_rights_than_it_needs_is_found() {
        let service = "&it\n    build: {context: .}\n    command: [serve, --role, api]\n    read_only: true\n    user: \
            \"65532:65532\"\n    cap_drop: [ALL]\n    security_opt: [\"no-new-privileges:true\"]\n    \
            stop_grace_period: 30s\n    secrets: [candor.toml]\n    environment: {CANDOR_DRAIN_DELAY: 5s}\n";
        let others = "  b: *it\n  c: {<<: *it, command: [serve, --role, worker]}\n  d: {<<: *it, command: [migrate]}\n";
        let text = format!("services:\n  a: {service}{others}");
        let broken = |text: &str| broken_rules(&parse(text).unwrap());
        assert_eq!(broken(&text), [""; 0]);
        for (from, to) in [
            ("read_only: true", "read_only: false"),
            ("user: \"65532:65532\"", "user: root"),
            ("[ALL]", "[]"),
            ("\"no-new-privileges:true\"", ""),
            ("stop_grace_period: 30s", "stop_grace_period: 10s"),
            ("CANDOR_DRAIN_DELAY: 5s", "CANDOR_DRAIN_DELAY: 6s"),
            ("secrets: [candor.toml]", "secrets: []"),
            ("CANDOR_DRAIN_DELAY", "CANDOR_MASTER_KEY"),
        ] {
            assert_eq!(broken(&text.replace(from, to)).len(), 4, "{to}");
        }
        assert_eq!(broken(&text.replace("  b: *it\n", "")).len(), 1);
    }
}

//! `cargo xtask footprint`: size, memory and cost of the binary, each with a limit in `xtask/footprint.toml`.

use crate::postgres::Postgres;
use crate::process::{Outcome, cargo, output, program, root, run as run_program};
use crate::service::Service;
use crate::workspace::Workspace;
use candor_test_postgres::URL_VARIABLE;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::Path;
use std::time::Instant;

const LIMITS: &str = "xtask/footprint.toml";
/// The binary of the packages: built alone and with their features.
const SHIPPED: [&str; 6] = ["--package", "candor-app", "--bin", "candor", "--features", "otlp"];
const MEGABYTE: f64 = 1_000_000.0;
/// Number of requests before the memory is read, so that pools and caches of a used service count.
const REQUESTS: usize = 50;
/// Master key of the measured service. Any key will do, because the service seals nothing here.
const MASTER_KEY: &str = "footprint:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
/// Clock ticks per second in `/proc/PID/stat`. Linux reports 100 to programs on every architecture.
const TICKS: f64 = 100.0;

/// Limit of one figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    title: String,
    #[serde(default)]
    unit: String,
    at_most: f64,
    /// Advice for an author who misses the limit.
    remedy: String,
}

type Limits = BTreeMap<String, Limit>;
/// Name of a limit and the measured value.
type Figure = (&'static str, f64);

/// Measures the number of packages. `--release` adds size and memory of the binary, `--cold` also the time of a build.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let mut figures = vec![packages()?];
    let known_options = ["--release", "--cold"];
    if let Some(unknown) = arguments.iter().find(|argument| !known_options.contains(&argument.as_str())) {
        return Err(format!("{unknown} is unknown; the options are --release and --cold").into());
    }
    if arguments.iter().any(|argument| argument == "--cold") {
        figures.extend(cold_build()?);
    } else if arguments.is_empty() {
        println!("size and memory need the release build: cargo xtask footprint --release");
    } else {
        figures.extend(release(&Workspace::load()?.target_directory)?);
    }
    judge(&limits()?, &figures)
}

fn limits() -> Outcome<Limits> {
    let text = fs::read_to_string(root().join(LIMITS))?;
    toml::from_str(&text).map_err(|error| format!("{LIMITS}: {error}").into())
}

/// Prints each figure beside its limit. Fails with one line for each limit that is missed.
fn judge(limits: &Limits, figures: &[Figure]) -> Outcome {
    let mut missed_limits = Vec::new();
    for (name, value) in figures {
        let limit = limits.get(*name).ok_or_else(|| format!("{LIMITS} has no limit of {name}"))?;
        let line = format!("{}: {}, at most {}", limit.title, limit.text(*value), limit.text(limit.at_most));
        println!("{line}");
        if *value > limit.at_most {
            missed_limits.push(format!("{line}; {}", limit.remedy));
        }
    }
    if missed_limits.is_empty() { Ok(()) } else { Err(missed_limits.join("\n").into()) }
}

impl Limit {
    fn text(&self, value: f64) -> String {
        if self.unit.is_empty() { format!("{value}") } else { format!("{value:.1} {}", self.unit) }
    }
}

/// Counts the packages of other projects that are linked into the binary.
fn packages() -> Outcome<Figure> {
    let tree = ["tree", "--locked", "--package", "candor-app", "--features", "otlp"];
    let text = output(cargo(&tree).args(["--edges", "normal", "--prefix", "none", "--format", "{p}"]))?;
    Ok(("packages", count_foreign(&text) as f64))
}

/// Returns the number of third-party packages in the output of `cargo tree`, each version once. Packages with a path
/// belong to the workspace and do not count.
fn count_foreign(tree: &str) -> usize {
    let lines = tree.lines().map(|line| line.trim_end_matches(" (*)")).filter(|line| !line.is_empty());
    lines.filter(|line| !line.contains(" (/")).collect::<BTreeSet<_>>().len()
}

/// Builds the binary in an empty folder. Returns the processor time of the build, and the figures of the binary.
fn cold_build() -> Outcome<Vec<Figure>> {
    let folder = env::temp_dir().join(format!("candor-cold-{}", std::process::id()));
    let time_before = time_of_children()?;
    let figures = build_release(&folder).and_then(|()| {
        let cold_build = ("cold_build", time_of_children()? - time_before);
        // `release` has nothing left to build.
        Ok([vec![cold_build], release(&folder)?].concat())
    });
    let _ = fs::remove_dir_all(&folder);
    figures
}

pub(crate) fn build_release(target: &Path) -> Outcome {
    let mut build = cargo(&["build", "--quiet", "--locked", "--release", "--target-dir"]);
    run_program(build.arg(target).args(SHIPPED))
}

/// Returns user and system seconds of all programs that this one has run to their end, with their children.
fn time_of_children() -> Outcome<f64> {
    let text = fs::read_to_string("/proc/self/stat")?;
    seconds_of_children(&text).ok_or_else(|| format!("/proc/self/stat has an unknown form: {text}").into())
}

/// Returns the seconds of processor time of ended child processes: `cutime` and `cstime`, the fields 16 and 17. The
/// second field is a name, which may contain spaces. `None` for a text of another form.
fn seconds_of_children(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let ticks: Vec<f64> =
        rest.split_whitespace().skip(13).take(2).map(|field| field.parse().ok()).collect::<Option<_>>()?;
    (ticks.len() == 2).then(|| ticks.iter().sum::<f64>() / TICKS)
}

/// Builds the release and measures the size of the binary, and memory and start on each store.
fn release(target: &Path) -> Outcome<Vec<Figure>> {
    build_release(target)?;
    let binary = target.join("release/candor");
    let mut figures = vec![("binary", fs::metadata(&binary)?.len() as f64 / MEGABYTE)];
    figures.push(("idle_sqlite", measure_idle(&binary, "SQLite", None)?));
    match Postgres::provide()? {
        Postgres::Temporary(cluster) => {
            figures.push(("idle_postgres", measure_idle(&binary, "PostgreSQL", Some(&cluster.url()))?));
        }
        // The tables and rows of the service would stay in that database.
        Postgres::Given => println!("skipped: idle memory on PostgreSQL, because {URL_VARIABLE} is set"),
    }
    Ok(figures)
}

/// Starts the service on a new database, and prints the time until it is ready. Returns its memory in megabytes
/// after some requests.
fn measure_idle(binary: &Path, store: &str, url: Option<&str>) -> Outcome<f64> {
    let folder = env::temp_dir().join(format!("candor-footprint-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let line = measure_service(binary, &folder, url);
    fs::remove_dir_all(&folder)?;
    let (ready, megabytes) = line?;
    println!("time until ready on {store}: {ready:.2} s");
    Ok(megabytes)
}

/// Returns the seconds until a service on a migrated database is ready, and its memory in megabytes after requests.
fn measure_service(binary: &Path, folder: &Path, url: Option<&str>) -> Outcome<(f64, f64)> {
    let data = folder.to_string_lossy();
    let mut settings = vec![("CANDOR_DATA_DIR", &*data), ("CANDOR_MASTER_KEY", MASTER_KEY)];
    settings.extend(url.map(|url| ("CANDOR_DATABASE_URL", url)));
    let mut migrate = program(binary, &["migrate"]);
    output(migrate.envs(settings.iter().copied()))?;
    let start = Instant::now();
    let service = Service::start(binary, "serve", &settings)?;
    let ready = start.elapsed().as_secs_f64();
    let key = service.key()?;
    for _ in 0..REQUESTS {
        service.get("/v1/me", Some(&key))?;
        service.get("/v1/employees?limit=10", Some(&key))?;
    }
    let status = fs::read_to_string(format!("/proc/{}/status", service.id()))?;
    let kilobytes = resident_kilobytes(&status).ok_or("the system does not report the memory of processes")?;
    service.stop()?;
    Ok((ready, kilobytes * 1024.0 / MEGABYTE))
}

fn resident_kilobytes(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(at_most: f64, unit: &str) -> Limit {
        Limit { title: "size".to_owned(), unit: unit.to_owned(), at_most, remedy: "make it smaller".to_owned() }
    }

    #[test]
    fn missed_limit_names_figure_limit_and_remedy() {
        let limits = BTreeMap::from([("a".to_owned(), limit(30.0, "MB")), ("b".to_owned(), limit(7.0, ""))]);
        assert!(judge(&limits, &[("a", 30.0), ("b", 7.0)]).is_ok());
        let problem = judge(&limits, &[("a", 30.25), ("b", 8.0)]).unwrap_err().to_string();
        assert_eq!(
            problem,
            "size: 30.2 MB, at most 30.0 MB; make it smaller\nsize: 8, at most 7; make it smaller"
        );
    }

    #[test]
    fn every_figure_has_a_limit() {
        let names = ["binary", "cold_build", "idle_postgres", "idle_sqlite", "packages"];
        assert_eq!(limits().unwrap().keys().collect::<Vec<_>>(), names);
    }

    #[test]
    fn packages_of_the_workspace_do_not_count() {
        let own = "candor-app v0.1.0 (/src/crates/app)";
        let lines = [own, "serde v1.0.1", "", "serde v1.0.1 (*)", "syn v2.0.1 (proc-macro)", "syn v3.0.1"];
        assert_eq!(count_foreign(&lines.join("\n")), 3);
    }

    #[test]
    fn times_of_children_are_read_behind_the_name() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194304 1 2 3 4 5 6 250 50 20 0 1 0 9";
        assert_eq!(seconds_of_children(stat), Some(3.0));
        assert_eq!(resident_kilobytes("Name:\tcandor\nVmRSS:\t   39000 kB\n"), Some(39000.0));
    }
}

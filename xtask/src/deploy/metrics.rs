//! Every metric that is named exists, in the form in which it is asked for.

use super::documents::words;
use super::{Machine, Outcome, Tried, judged};
use crate::process::{output, program, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Where every metric of the program is described.
const TABLE: &str = "crates/app/src/telemetry.rs";
/// Whatever asks for metrics.
const ASKING: [&str; 2] = ["prometheus/", "grafana/"];
/// What the process tells of itself, under the names that Prometheus' clients share.
const OF_THE_PROCESS: [&str; 8] = [
    "process_cpu_seconds_total",
    "process_max_fds",
    "process_open_fds",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    "process_threads",
    "process_virtual_memory_bytes",
    "process_virtual_memory_max_bytes",
];
/// What a histogram is asked by.
const OF_A_HISTOGRAM: [&str; 3] = ["_bucket", "_count", "_sum"];
/// The names of crates have two underscores at most, those of metrics that are literals in the code three at least.
const UNDERSCORES: usize = 3;

pub(super) fn check(machine: &Machine) -> Outcome<Tried> {
    let table = Table::of(&fs::read_to_string(root().join(TABLE))?)?;
    let asking = ASKING.iter().flat_map(|folder| machine.documents.below(folder));
    let mut findings: Vec<String> = asking.flat_map(|(path, text)| table.lost(path, text)).collect();
    findings.extend(undescribed(&table)?);
    judged(findings, format!("every one that is asked for is among the {} that there are", table.0.len()))
}

/// The names of the program's metrics, and whether each is a histogram.
struct Table(BTreeMap<String, bool>);

impl Table {
    fn of(source: &str) -> Outcome<Self> {
        let (_, table) = source.split_once("const METRICS").ok_or_else(|| format!("no METRICS in {TABLE}"))?;
        let (table, _) = table.split_once("\n];").ok_or_else(|| format!("METRICS in {TABLE} has no end"))?;
        let mut all = BTreeMap::from([("candor_build_info".to_owned(), false)]);
        for entry in table.split("Shape::").skip(1) {
            let name = entry.split('"').nth(1).filter(|it| it.starts_with("candor_"));
            all.extend(name.map(|it| (it.to_owned(), entry.starts_with("Histogram"))));
        }
        Ok(Self(all))
    }

    /// What a file names and nobody has, or what is asked for in another form than it has.
    fn lost(&self, path: &str, text: &str) -> BTreeSet<String> {
        let ours = words(text, "candor_").map(|(word, _)| word);
        let lost = ours.filter(|word| !self.has(word));
        let process = words(text, "process_").map(|(word, _)| word).filter(|word| !OF_THE_PROCESS.contains(word));
        lost.chain(process).map(|word| format!("{path}: there is no metric {word}")).collect()
    }

    fn has(&self, word: &str) -> bool {
        if let Some(is_histogram) = self.0.get(word) {
            return !is_histogram;
        }
        let base = OF_A_HISTOGRAM.iter().find_map(|it| word.strip_suffix(it));
        base.is_some_and(|it| self.0.get(it) == Some(&true))
    }
}

/// Metrics that the code counts and the table does not have.
fn undescribed(table: &Table) -> Outcome<Vec<String>> {
    let files = output(&mut program("git", &["ls-files", "-z", "--", "crates/*/src/*.rs"]))?;
    let mut findings = Vec::new();
    for path in files.split('\0').filter(|it| !it.is_empty()) {
        let Ok(text) = fs::read_to_string(root().join(path)) else { continue };
        let names = words(&text, "candor_").filter(|(word, rest)| {
            rest.starts_with('"') && word.matches('_').count() >= UNDERSCORES && !table.0.contains_key(*word)
        });
        findings.extend(names.map(|(word, _)| format!("{path}: {word} is not described in {TABLE}")));
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::Table;

    const SOURCE: &str = "const METRICS: [_; 2] = [\n    (Shape::Gauge, BUILD, \"Says.\"),\n    (Shape::Counter, \
        \"candor_a_b_total\", \"Says.\"),\n    (\n        Shape::Histogram,\n        \"candor_c_seconds\",\n        \
        \"Says.\",\n    ),\n];\n";

    #[test]
    fn a_metric_is_asked_for_in_the_form_that_it_has() {
        let table = Table::of(SOURCE).unwrap();
        let good = "rate(candor_a_b_total[5m]) candor_build_info candor_c_seconds_bucket process_open_fds";
        assert_eq!(table.lost("a", good), [].into());
        for bad in ["candor_a_total", "candor_c_seconds", "candor_a_b_total_bucket", "process_fds"] {
            assert_eq!(table.lost("a", bad), [format!("a: there is no metric {bad}")].into());
        }
    }
}

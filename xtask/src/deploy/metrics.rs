//! Metrics in alerts and on the dashboard: they must exist in the requested form.

use super::documents::words;
use super::{CheckResult, Machine, Outcome, judge};
use crate::process::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The file that describes every metric of the program.
const TABLE: &str = "crates/app/src/telemetry.rs";
/// Folders whose files contain queries of metrics.
const QUERIES: [&str; 2] = ["prometheus/", "grafana/"];
/// Metrics of the process, with the names of Prometheus' client libraries.
const PROCESS_METRICS: &str = "process_cpu_seconds_total process_max_fds process_open_fds process_resident_memory_bytes \
    process_start_time_seconds process_threads process_virtual_memory_bytes process_virtual_memory_max_bytes";
/// Endings of a histogram's names in queries.
const HISTOGRAM_ENDINGS: [&str; 3] = ["_bucket", "_count", "_sum"];
/// Minimum number of underscores that makes a name in the code a metric. Names of crates have at most two.
const UNDERSCORES: usize = 3;

pub(super) fn check(machine: &Machine) -> Outcome<CheckResult> {
    let table = Table::parse(&fs::read_to_string(root().join(TABLE))?)?;
    let files = QUERIES.iter().flat_map(|folder| machine.documents.files_below(folder));
    let findings: Vec<String> = files.flat_map(|(path, text)| table.find_unknown(path, text)).collect();
    judge(&findings, format!("every metric of a query is among the {} metrics", table.0.len()))
}

/// Names of the program's metrics, with `true` for histograms.
struct Table(BTreeMap<String, bool>);

impl Table {
    fn parse(source: &str) -> Outcome<Self> {
        let (_, table) = source.split_once("const METRICS").ok_or_else(|| format!("no METRICS in {TABLE}"))?;
        let (table, _) = table.split_once("\n];").ok_or_else(|| format!("METRICS in {TABLE} has no end"))?;
        let mut all = BTreeMap::from([("candor_build_info".to_owned(), false)]);
        for entry in table.split("\n    (").skip(1).map(str::trim_start) {
            let name = entry.split('"').nth(1).filter(|name| name.starts_with("candor_"));
            all.extend(name.map(|name| (name.to_owned(), entry.starts_with("Histogram"))));
        }
        Ok(Self(all))
    }

    /// Returns a finding for each metric in a text that the program does not export under that name. Histograms
    /// are exported with the endings of [`HISTOGRAM_ENDINGS`] only.
    fn find_unknown(&self, path: &str, text: &str) -> BTreeSet<String> {
        let names_with = |prefix| words(text, prefix).map(|(word, _)| word);
        let ours = names_with("candor_").filter(|word| !self.has(word));
        let of_process =
            names_with("process_").filter(|word| PROCESS_METRICS.split(' ').all(|known| known != *word));
        ours.chain(of_process).map(|word| format!("{path}: there is no metric {word}")).collect()
    }

    fn has(&self, word: &str) -> bool {
        if let Some(is_histogram) = self.0.get(word) {
            return !is_histogram;
        }
        let base = HISTOGRAM_ENDINGS.iter().find_map(|ending| word.strip_suffix(ending));
        base.is_some_and(|base| self.0.get(base) == Some(&true))
    }
}

/// Returns a finding for each metric in the sources that the table lacks, with the path of the file. `cargo xtask
/// tidy` reports these findings, because every change of a source can add a metric.
pub(crate) fn undescribed_metrics<'a>(
    sources: impl Iterator<Item = (&'a str, &'a str)>,
) -> Outcome<Vec<(String, String)>> {
    let table = Table::parse(&fs::read_to_string(root().join(TABLE))?)?;
    let mut findings = Vec::new();
    for (path, text) in sources {
        let names = words(text, "candor_").filter(|(word, rest)| {
            rest.starts_with('"') && word.matches('_').count() >= UNDERSCORES && !table.0.contains_key(*word)
        });
        findings.extend(names.map(|(word, _)| (path.to_owned(), format!("{word} is not described in {TABLE}"))));
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::Table;

    const SOURCE: &str = "const METRICS: [_; 2] = [\n    (Gauge, BUILD, \"Says.\"),\n    (Counter, \
        \"candor_a_b_total\", \"Says.\"),\n    (\n        Histogram,\n        \"candor_c_seconds\",\n        \
        \"Says.\",\n    ),\n];\n";

    #[test]
    fn metric_is_known_only_in_its_own_form() {
        let table = Table::parse(SOURCE).unwrap();
        let good = "rate(candor_a_b_total[5m]) candor_build_info candor_c_seconds_bucket process_open_fds";
        assert_eq!(table.find_unknown("a", good), [].into());
        for bad in ["candor_a_total", "candor_c_seconds", "candor_a_b_total_bucket", "process_fds"] {
            assert_eq!(table.find_unknown("a", bad), [format!("a: there is no metric {bad}")].into());
        }
    }
}

//! Checks of the alerts, the dashboard's queries and the program's metrics with Prometheus' tool `promtool`.

use super::documents::items;
use super::rules::{self, ALERT};
use super::{CheckResult, Machine, Outcome, judge, path_of, tools};
use crate::process::program;
use crate::service::Service;
use serde_json::{Value, json};
use std::fs;

const RULES: &str = "prometheus/candor.rules.yaml";
const TESTS: &str = "prometheus/candor.test.yaml";
const SCRAPE: &str = "prometheus/scrape.example.yaml";
const DASHBOARD: &str = "grafana/candor.json";
/// Metrics of the process that the alerts may use.
const PROCESS_METRICS: [&str; 3] = ["process_open_fds", "process_max_fds", "process_start_time_seconds"];

/// Checks that every alert is valid and has a description, a test in which it fires, and one in which it is silent.
pub(super) fn alerts(machine: &Machine) -> Outcome<CheckResult> {
    let findings = untested_alerts(&machine.documents.yaml(RULES)?[0], &machine.documents.yaml(TESTS)?[0]);
    if !findings.is_empty() {
        return judge(&findings, "");
    }
    let Some(promtool) = tools::promtool(machine) else { return no_promtool() };
    tools::read_output(&mut program(&promtool, &["check", "config", &path_of(SCRAPE)]))?;
    let output_text = tools::read_output(&mut program(&promtool, &["check", "rules", &path_of(RULES)]))?;
    tools::read_output(&mut program(&promtool, &["test", "rules", &path_of(TESTS)]))?;
    let count = output_text.lines().find(|line| line.contains("rules found")).unwrap_or_default();
    CheckResult::pass(format!(
        "{}, each fires in a test and stays silent in another",
        count.trim().trim_start_matches("SUCCESS: ")
    ))
}

fn no_promtool() -> Outcome<CheckResult> {
    CheckResult::skip("promtool is not available: it is in Debian's package prometheus")
}

/// Returns the problems of alerts that fire in no test, stay silent in no test, or break the rules for alerts.
fn untested_alerts(alerts: &Value, tests: &Value) -> Vec<String> {
    let cases: Vec<&Value> =
        items(&tests["tests"]).iter().flat_map(|test| items(&test["alert_rule_test"])).collect();
    let has_case = |name: &str, fires: bool| {
        cases.iter().any(|case| case["alertname"] == name && items(&case["exp_alerts"]).is_empty() != fires)
    };
    let mut findings = Vec::new();
    for alert in items(&alerts["groups"]).iter().flat_map(|group| items(&group["rules"])) {
        let name = alert["alert"].as_str().unwrap_or_default();
        let mut problems = rules::broken_rules(&ALERT, alert);
        for (fires, problem) in [(true, "fires in no test"), (false, "stays silent in no test")] {
            if !has_case(name, fires) {
                problems.push(problem.to_owned());
            }
        }
        findings.extend(problems.into_iter().map(|problem| format!("{RULES}: {name}: {problem}")));
    }
    findings
}

/// Checks that every query of the dashboard is valid.
pub(super) fn dashboard(machine: &Machine) -> Outcome<CheckResult> {
    let dashboard: Value = serde_json::from_str(machine.documents.text(DASHBOARD)?)?;
    let panels = items(&dashboard["panels"]).iter();
    let empty = panels.filter(|panel| panel["type"] != "row" && panel["targets"][0]["expr"].as_str().is_none());
    let findings: Vec<String> =
        empty.map(|panel| format!("{DASHBOARD}: {} has no query", panel["title"])).collect();
    if !findings.is_empty() {
        return judge(&findings, "");
    }
    let Some(promtool) = tools::promtool(machine) else { return no_promtool() };
    let queries = queries(&dashboard);
    let rules =
        queries.iter().enumerate().map(|(number, query)| json!({"record": format!("q{number}"), "expr": query}));
    let file = machine.scratch.join("dashboard.rules.json");
    fs::write(&file, json!({"groups": [{"name": "dashboard", "rules": rules.collect::<Vec<_>>()}]}).to_string())?;
    tools::read_output(&mut program(promtool, &["check", "rules", &file.to_string_lossy()]))?;
    CheckResult::pass(format!("{} queries are valid", queries.len()))
}

/// Returns every query of the dashboard, with values for Grafana's variables.
fn queries(dashboard: &Value) -> Vec<String> {
    let targets = items(&dashboard["panels"]).iter().flat_map(|panel| items(&panel["targets"]));
    let queries =
        targets.chain(items(&dashboard["annotations"]["list"])).filter_map(|target| target["expr"].as_str());
    let variables = [("$__rate_interval", "5m"), ("$job", "candor"), ("$instance", ".*")];
    queries
        .map(|query| variables.iter().fold(query.to_owned(), |text, (from, to)| text.replace(from, to)))
        .collect()
}

/// Checks that the program's metrics are well-formed, and contain every metric of the process that an alert uses.
pub(super) fn exposition(machine: &Machine) -> Outcome<CheckResult> {
    let Some(promtool) = tools::promtool(machine) else { return no_promtool() };
    let service = Service::start(&machine.binary, "dev", &[])?;
    service.key()?;
    let text = service.get("/metrics", None)?;
    let file = machine.scratch.join("metrics.txt");
    fs::write(&file, &text)?;
    let shell = ["-c", "exec \"$0\" check metrics <\"$1\""];
    tools::read_output(program("sh", &shell).args([&promtool, &file]))?;
    let families = text.lines().filter(|line| line.starts_with("# TYPE ")).count();
    let alerts = machine.documents.text(RULES)?;
    let missing = PROCESS_METRICS
        .iter()
        .filter(|name| alerts.contains(**name) && !text.contains(&format!("\n{name} ")))
        .map(|name| format!("/metrics has no {name}"));
    judge(&missing.collect::<Vec<_>>(), format!("{families} well-formed families"))
}

#[cfg(test)]
mod tests {
    use super::{queries, untested_alerts};
    use serde_json::{Value, json};

    #[test]
    fn alert_without_tests_or_texts_is_found() {
        let texts = json!({"summary": "a", "description": "b"});
        let alert = json!({"alert": "A", "labels": {"severity": "page"}, "annotations": texts});
        let alerts = json!({"groups": [{"rules": [alert]}]});
        let [fires, stays_silent] =
            [json!([{}]), json!([])].map(|expected| json!({"alertname": "A", "exp_alerts": expected}));
        let count = |cases: Value| untested_alerts(&alerts, &json!({"tests": [{"alert_rule_test": cases}]})).len();
        assert_eq!(
            [count(json!([fires, stays_silent])), count(json!([fires])), count(json!([stays_silent]))],
            [0, 1, 1]
        );
        assert_eq!(untested_alerts(&json!({"groups": [{"rules": [{"alert": "B"}]}]}), &json!({})).len(), 5);
    }

    #[test]
    fn grafana_variables_are_replaced() {
        let dashboard = json!({"panels": [{"targets": [{"expr": "rate(a{job=\"$job\"}[$__rate_interval])"}]}]});
        assert_eq!(queries(&dashboard), ["rate(a{job=\"candor\"}[5m])"]);
    }
}

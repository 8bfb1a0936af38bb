//! Alerts and the dashboard, as Prometheus understands them.

use super::documents::parse;
use super::{Machine, Outcome, Tried, judged, path_of, tools};
use crate::process::program;
use crate::service::Service;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const RULES: &str = "prometheus/candor.rules.yaml";
const TESTS: &str = "prometheus/candor.test.yaml";
const SCRAPE: &str = "prometheus/scrape.example.yaml";
const DASHBOARD: &str = "grafana/candor.json";

/// Every alert is understood, fires when it should and only then, and says what it means.
pub(super) fn alerts(machine: &Machine) -> Outcome<Tried> {
    let rules = machine.documents.yaml(RULES)?;
    let tests = machine.documents.yaml(TESTS)?;
    let findings = unproven(&rules[0], &tests[0]);
    if !findings.is_empty() {
        return judged(findings, String::new());
    }
    let Some(promtool) = tools::promtool(machine) else { return no_promtool() };
    let at = |name: &str| path_of(name).to_string_lossy().into_owned();
    tools::said(&mut program(&promtool, &["check", "config", &at(SCRAPE)]))?;
    let said = tools::said(&mut program(&promtool, &["check", "rules", &at(RULES)]))?;
    tools::said(&mut program(&promtool, &["test", "rules", &at(TESTS)]))?;
    let count = said.lines().find(|line| line.contains("rules found")).unwrap_or_default();
    Tried::passed(format!("{}, each fires and rests in its test", count.trim().trim_start_matches("SUCCESS: ")))
}

fn no_promtool() -> Outcome<Tried> {
    Tried::skipped("promtool cannot be had: it is in Debian's package prometheus")
}

/// Alerts that no test sees firing, or resting, and what they lack.
fn unproven(rules: &Value, tests: &Value) -> Vec<String> {
    let list = |it: &Value| it.as_array().cloned().unwrap_or_default();
    let cases: Vec<Value> = list(&tests["tests"]).iter().flat_map(|it| list(&it["alert_rule_test"])).collect();
    let seen = |firing: bool| -> BTreeSet<&str> {
        let cases = cases.iter().filter(|it| it["exp_alerts"].as_array().is_some_and(|it| it.is_empty() != firing));
        cases.filter_map(|it| it["alertname"].as_str()).collect()
    };
    let (firing, resting) = (seen(true), seen(false));
    let mut findings = Vec::new();
    for rule in list(&rules["groups"]).iter().flat_map(|it| list(&it["rules"])) {
        let name = rule["alert"].as_str().unwrap_or_default();
        for (holds, what) in [
            (firing.contains(name), "no test sees it fire"),
            (resting.contains(name), "no test sees it rest"),
            (["page", "ticket"].iter().any(|it| rule["labels"]["severity"] == *it), "has no severity page or ticket"),
            (rule["annotations"]["summary"].is_string(), "has no summary"),
            (rule["annotations"]["description"].is_string(), "does not say what to do"),
        ] {
            if !holds {
                findings.push(format!("{RULES}: {name}: {what}"));
            }
        }
    }
    findings
}

/// Every query of the dashboard is one that Prometheus understands.
pub(super) fn dashboard(machine: &Machine) -> Outcome<Tried> {
    let dashboard: Value = serde_json::from_str(machine.documents.text(DASHBOARD)?)?;
    let queries = queries(&dashboard);
    let empty = panels(&dashboard).filter(|it| it["type"] != "row" && it["targets"][0]["expr"].as_str().is_none());
    let findings: Vec<String> = empty.map(|it| format!("{DASHBOARD}: {} asks for nothing", it["title"])).collect();
    if !findings.is_empty() {
        return judged(findings, String::new());
    }
    let Some(promtool) = tools::promtool(machine) else { return no_promtool() };
    let file = machine.scratch.join("dashboard.rules.json");
    let rules =
        queries.iter().enumerate().map(|(number, query)| json!({"record": format!("q{number}"), "expr": query}));
    fs::write(&file, json!({"groups": [{"name": "dashboard", "rules": rules.collect::<Vec<_>>()}]}).to_string())?;
    tools::said(&mut program(promtool, &["check", "rules", &file.to_string_lossy()]))?;
    Tried::passed(format!("{} queries are understood", queries.len()))
}

fn panels(dashboard: &Value) -> impl Iterator<Item = &Value> {
    dashboard["panels"].as_array().into_iter().flatten()
}

/// Every query, with something in place of Grafana's variables.
fn queries(dashboard: &Value) -> Vec<String> {
    let targets = panels(dashboard).filter_map(|it| it["targets"].as_array()).flatten();
    let annotations = dashboard["annotations"]["list"].as_array().into_iter().flatten();
    let queries = targets.chain(annotations).filter_map(|it| it["expr"].as_str());
    let filled = |query: &str| {
        let query = query.replace("$__rate_interval", "5m");
        query.replace("$job", "candor").replace("$instance", ".*")
    };
    queries.map(filled).collect()
}

/// What the program tells is in good form, and has every metric of the process that is relied upon.
pub(super) fn exposition(machine: &Machine) -> Outcome<Tried> {
    let Some(promtool) = tools::promtool(machine) else { return no_promtool() };
    let service = Service::start(&machine.binary, &[])?;
    service.key()?;
    let text = service.text("/metrics")?;
    let file = machine.scratch.join("metrics.txt");
    fs::write(&file, &text)?;
    checked(&promtool, &file)?;
    let families = text.lines().filter(|line| line.starts_with("# TYPE ")).count();
    let asked = parse(machine.documents.text(RULES)?)?.remove(0).to_string();
    let process = ["process_open_fds", "process_max_fds", "process_start_time_seconds"];
    let lost = process.iter().filter(|it| asked.contains(*it) && !text.contains(&format!("\n{it} ")));
    judged(lost.map(|it| format!("/metrics has no {it}")).collect(), format!("{families} families in good form"))
}

fn checked(promtool: &Path, metrics: &Path) -> Outcome {
    let shell = ["-c", "exec \"$0\" check metrics <\"$1\""];
    tools::said(program("sh", &shell).args([promtool, metrics])).map(drop)
}

#[cfg(test)]
mod tests {
    use super::{queries, unproven};
    use serde_json::json;

    #[test]
    fn an_alert_that_no_test_sees_is_found() {
        let rule =
            json!({"alert": "A", "labels": {"severity": "page"}, "annotations": {"summary": "a", "description": "b"}});
        let rules = json!({"groups": [{"rules": [rule]}]});
        let fires = json!({"alertname": "A", "exp_alerts": [{}]});
        let rests = json!({"alertname": "A", "exp_alerts": []});
        let found = |cases: serde_json::Value| unproven(&rules, &json!({"tests": [{"alert_rule_test": cases}]}));
        assert_eq!(found(json!([fires, rests])), [""; 0]);
        assert_eq!(found(json!([fires])).len(), 1);
        assert_eq!(found(json!([rests])).len(), 1);
        assert_eq!(unproven(&json!({"groups": [{"rules": [{"alert": "B"}]}]}), &json!({})).len(), 5);
    }

    #[test]
    fn variables_of_grafana_are_filled_in() {
        let dashboard = json!({"panels": [{"targets": [{"expr": "rate(a{job=\"$job\"}[$__rate_interval])"}]}]});
        assert_eq!(queries(&dashboard), ["rate(a{job=\"candor\"}[5m])"]);
    }
}

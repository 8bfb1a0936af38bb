//! The manifests for Kubernetes.

use super::documents::{Documents, items, texts};
use super::rules::{self, CONTAINER, DEPLOYMENT, END_SECONDS, POD, PROBES};
use super::{CheckResult, FOLDER, Machine, Outcome, judge, tools};
use crate::process::{output, program, root};
use serde_json::Value;
use std::fs;

const MANIFESTS: &str = "kubernetes/";
const KUSTOMIZATION: &str = "kubernetes/kustomization.yaml";
const SETTINGS: &str = "kubernetes/settings.yaml";
const MIGRATION: &str = "kubernetes/migrate.yaml";
/// Kinds that must be there beside the Deployments.
const KINDS: [&str; 5] = ["Service", "NetworkPolicy", "Job", "ConfigMap", "ServiceAccount"];

pub(super) fn check(machine: &Machine) -> Outcome<CheckResult> {
    let all = manifests(&machine.documents)?;
    let environment = &machine.documents.yaml(SETTINGS)?[0]["data"];
    let drain = rules::drain_seconds(environment);
    let mut findings = find_missing(&all);
    for (path, manifest) in &all {
        if manifest["metadata"]["namespace"] != "candor" && manifest["kind"] != "Namespace" {
            findings.push(format!("{path}: {} is not in the namespace candor", manifest["kind"]));
        }
        findings.extend(flaws(manifest, drain).into_iter().map(|flaw| format!("{path}: {flaw}")));
    }
    if rules::has_secret(environment) {
        findings.push(format!("{SETTINGS}: has a secret, which belongs into the Secret"));
    }
    findings.extend(wrong_version(&machine.documents)?);
    judge(&findings, format!("{} manifests, each Pod with least rights, probes and time to end", all.len()))
}

/// Returns every manifest with the path of its file.
fn manifests(documents: &Documents) -> Outcome<Vec<(String, Value)>> {
    let mut all = Vec::new();
    for (path, _) in documents.files_below(MANIFESTS) {
        if path.ends_with(".yaml") && path != KUSTOMIZATION {
            all.extend(documents.yaml(path)?.into_iter().map(|manifest| (path.to_owned(), manifest)));
        }
    }
    Ok(all)
}

/// Returns the arguments of each container with the path of its file.
pub(super) fn commands(documents: &Documents) -> Outcome<Vec<(String, Vec<String>)>> {
    let mut commands = Vec::new();
    for (path, manifest) in manifests(documents)? {
        let arguments = containers(&manifest).iter().map(|container| texts(&container["args"]));
        commands.extend(arguments.map(|words| (path.clone(), words.into_iter().map(str::to_owned).collect())));
    }
    Ok(commands)
}

fn containers(workload: &Value) -> &[Value] {
    items(&workload["spec"]["template"]["spec"]["containers"])
}

/// Returns the problems of a manifest that creates Pods, and none for other manifests.
fn flaws(workload: &Value, drain: u64) -> Vec<String> {
    let pod = &workload["spec"]["template"]["spec"];
    if !pod.is_object() {
        return vec![];
    }
    let mut flaws = rules::broken_rules(&POD, pod);
    for container in containers(workload) {
        flaws.extend(rules::broken_rules(&CONTAINER, container));
        if items(&container["env"]).iter().any(|variable| variable["name"].as_str().is_some_and(rules::is_secret))
        {
            flaws.push("has a secret in its environment".to_owned());
        }
    }
    if workload["kind"] == "Deployment" {
        flaws.extend(rules::broken_rules(&DEPLOYMENT, workload));
        let is_worker = containers(workload).iter().any(|container| texts(&container["args"]).contains(&"worker"));
        let needs = END_SECONDS + if is_worker { 0 } else { drain };
        let grace = pod["terminationGracePeriodSeconds"].as_u64().unwrap_or_default();
        if grace < needs {
            flaws.push(format!("is killed after {grace} seconds, but may need {needs} seconds to end"));
        }
        for container in containers(workload) {
            flaws.extend(rules::broken_rules(&PROBES, container));
            for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
                let port = &container[probe]["httpGet"]["port"];
                if !items(&container["ports"]).iter().any(|known| known["name"] == *port) {
                    flaws.push(format!("has no port for its {probe}"));
                }
            }
        }
    }
    flaws.into_iter().map(|flaw| format!("{}: {flaw}", workload["kind"].as_str().unwrap_or_default())).collect()
}

fn find_missing(all: &[(String, Value)]) -> Vec<String> {
    let of_kind = |kind| all.iter().filter(move |(_, manifest)| manifest["kind"] == kind);
    let labels = |manifest: &Value| manifest["spec"]["selector"]["matchLabels"].clone();
    let budgets: Vec<Value> = of_kind("PodDisruptionBudget").map(|(_, manifest)| labels(manifest)).collect();
    let unsafe_ones = of_kind("Deployment").filter(|(_, manifest)| !budgets.contains(&labels(manifest)));
    let lines = unsafe_ones.map(|(path, _)| format!("{path}: a Deployment without a PodDisruptionBudget"));
    let kinds = KINDS.iter().filter(|kind| of_kind(**kind).next().is_none());
    lines.chain(kinds.map(|kind| format!("{MANIFESTS}: no {kind}"))).collect()
}

/// Returns findings for images whose version is not that of this workspace.
fn wrong_version(documents: &Documents) -> Outcome<Vec<String>> {
    let workspace: toml::Table = fs::read_to_string(root().join("Cargo.toml"))?.parse()?;
    let version = workspace["workspace"]["package"]["version"].as_str().unwrap_or_default();
    let image = &documents.yaml(KUSTOMIZATION)?[0]["images"][0];
    let wanted_image = format!("{}:{version}", image["newName"].as_str().unwrap_or_default());
    let mut findings = Vec::new();
    if image["newTag"] != version {
        findings.push(format!("{KUSTOMIZATION}: newTag is not {version}"));
    }
    if containers(&documents.yaml(MIGRATION)?[0])
        .iter()
        .any(|container| container["image"] != wanted_image.as_str())
    {
        findings.push(format!("{MIGRATION}: its image is not {wanted_image}"));
    }
    Ok(findings)
}

/// Validates the manifests against the schemas of Kubernetes. Unknown fields are errors.
pub(super) fn schemas(machine: &Machine) -> Outcome<CheckResult> {
    let Some(python) = tools::python(machine) else { return tools::no_python() };
    let mut command = program(python.join("bin/kubernetes-validate"), &["--strict"]);
    let all = manifests(&machine.documents)?;
    for (number, (path, manifest)) in all.iter().enumerate() {
        let mut named_manifest = manifest.clone();
        // The validator needs a name, which the API server makes from `generateName`.
        if named_manifest["metadata"]["name"].is_null() {
            named_manifest["metadata"]["name"] = named_manifest["metadata"]["generateName"].clone();
        }
        let copy = machine.scratch.join(format!("{number}-{}", path.replace('/', "-")));
        fs::write(&copy, named_manifest.to_string())?;
        command.arg(copy);
    }
    let output_text = tools::read_output(&mut command)?;
    let version = output_text.split_once("against version ").and_then(|(_, rest)| rest.split_whitespace().next());
    let version = version.map_or(String::new(), |version| format!(" for version {version}"));
    CheckResult::pass(format!("{} manifests are valid{version}", all.len()))
}

pub(super) fn kustomize(_: &Machine) -> Outcome<CheckResult> {
    let Some(kubectl) = tools::find_installed("kubectl") else {
        return CheckResult::skip("kubectl is not installed");
    };
    let output_text = output(&mut program(kubectl, &["kustomize", &format!("{FOLDER}/{MANIFESTS}")]))?;
    let kinds = output_text.lines().filter(|line| line.starts_with("kind: ")).count();
    CheckResult::pass(format!("{kinds} manifests are generated"))
}

#[cfg(test)]
mod tests {
    use super::super::documents::parse;
    use super::flaws;
    use serde_json::Value;

    const DEPLOYMENT: &str = include_str!("../../../docs/deploy/kubernetes/api.yaml");

    fn deployment(text: &str) -> Value {
        parse(text).unwrap().into_iter().find(|manifest| manifest["kind"] == "Deployment").unwrap()
    }

    #[test]
    fn pod_without_time_or_ports_is_found() {
        let count = |text: &str, drain| flaws(&deployment(text), drain).len();
        assert_eq!([count(DEPLOYMENT, 10), count(DEPLOYMENT, 15), count(DEPLOYMENT, 16)], [0, 0, 1]);
        for (from, to, found) in [
            ("terminationGracePeriodSeconds: 40", "terminationGracePeriodSeconds: 30", 1),
            ("drop: [\"ALL\"]", "drop: []", 1),
            ("- name: admin", "- name: other", 2),
        ] {
            assert!(DEPLOYMENT.contains(from), "{from}");
            assert_eq!(count(&DEPLOYMENT.replace(from, to), 10), found, "{to}");
        }
    }
}

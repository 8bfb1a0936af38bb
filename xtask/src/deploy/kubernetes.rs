//! The manifests for Kubernetes: what every Pod must have, and whether others understand them.

use super::container::{drain_seconds, is_secret};
use super::documents::{Documents, texts};
use super::{FOLDER, Machine, Outcome, Tried, installed, judged, tools};
use crate::process::{output, program, root};
use serde_json::Value;
use std::fs;

const MANIFESTS: &str = "kubernetes/";
const KUSTOMIZATION: &str = "kubernetes/kustomization.yaml";
const SETTINGS: &str = "kubernetes/settings.yaml";
const MIGRATION: &str = "kubernetes/migrate.yaml";
/// Where health is asked.
const PROBES: [(&str, &str); 3] =
    [("startupProbe", "/livez"), ("livenessProbe", "/livez"), ("readinessProbe", "/readyz")];
/// How long a process may take to end after its drain delay.
const END_SECONDS: u64 = 25;

pub(super) fn check(machine: &Machine) -> Outcome<Tried> {
    let documents = &machine.documents;
    let workspace: toml::Table = fs::read_to_string(root().join("Cargo.toml"))?.parse()?;
    let version = workspace["workspace"]["package"]["version"].as_str().unwrap_or_default();
    let settings = documents.yaml(SETTINGS)?;
    let drain = drain_seconds(settings[0]["data"].as_object());
    let mut findings = Vec::new();
    let all = manifests(documents)?;
    for (path, it) in &all {
        if it["metadata"]["namespace"] != "candor" && it["kind"] != "Namespace" {
            findings.push(format!("{path}: {} is in no namespace", it["kind"]));
        }
        if is_workload(it) {
            findings.extend(flaws(it, drain).into_iter().map(|flaw| format!("{path}: {flaw}")));
        }
    }
    findings.extend(lacking(&all));
    let data = settings[0]["data"].as_object();
    if data.is_some_and(|it| it.keys().any(|name| is_secret(name))) {
        findings.push(format!("{SETTINGS}: has a secret, which belongs into the Secret"));
    }
    findings.extend(wrong_version(documents, version)?);
    judged(findings, format!("{} manifests, each Pod with least rights, probes and time to end", all.len()))
}

/// Every manifest with its file.
fn manifests(documents: &Documents) -> Outcome<Vec<(String, Value)>> {
    let mut all = Vec::new();
    for (path, _) in documents.below(MANIFESTS) {
        if path.ends_with(".yaml") && path != KUSTOMIZATION {
            all.extend(documents.yaml(path)?.into_iter().map(|it| (path.to_owned(), it)));
        }
    }
    Ok(all)
}

/// What makes Pods.
pub(super) fn workloads(documents: &Documents) -> Outcome<Vec<(String, Value)>> {
    let mut all = manifests(documents)?;
    all.retain(|(_, it)| is_workload(it));
    Ok(all)
}

pub(super) fn containers(workload: &Value) -> &[Value] {
    workload["spec"]["template"]["spec"]["containers"].as_array().map_or(&[], Vec::as_slice)
}

fn is_workload(it: &Value) -> bool {
    it["spec"]["template"]["spec"].is_object()
}

/// What is wrong with what makes Pods.
fn flaws(workload: &Value, drain: u64) -> Vec<String> {
    let pod = &workload["spec"]["template"]["spec"];
    let mut findings = Vec::new();
    let mut want = |holds: bool, what: &str| {
        if !holds {
            findings.push(format!("{}: {what}", workload["kind"].as_str().unwrap_or_default()));
        }
    };
    want(pod["enableServiceLinks"] == false, "has service links, whose variables begin with CANDOR_");
    want(pod["automountServiceAccountToken"] == false, "has a token of the cluster");
    want(pod["securityContext"]["runAsNonRoot"] == true, "may run as root");
    want(pod["securityContext"]["runAsUser"] == 65532, "runs as another user than the image");
    want(pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault", "has no seccomp profile");
    for container in containers(workload) {
        let rights = &container["securityContext"];
        want(rights["readOnlyRootFilesystem"] == true, "writes to its root");
        want(rights["allowPrivilegeEscalation"] == false, "may gain rights");
        want(texts(&rights["capabilities"]["drop"]) == ["ALL"], "keeps capabilities");
        want(container["resources"]["limits"]["memory"].is_string(), "has no limit of memory");
        let environment = container["env"].as_array().into_iter().flatten();
        let named = environment.filter_map(|it| it["name"].as_str());
        want(!named.into_iter().any(is_secret), "has a secret in its environment");
    }
    if workload["kind"] != "Deployment" {
        return findings;
    }
    let is_worker = containers(workload).iter().any(|it| texts(&it["args"]).contains(&"worker"));
    let needs = END_SECONDS + if is_worker { 0 } else { drain };
    let grace = pod["terminationGracePeriodSeconds"].as_u64().unwrap_or_default();
    want(grace >= needs, &format!("is killed after {grace} seconds and may need {needs}"));
    want(pod["affinity"]["podAntiAffinity"].is_object(), "may have all its Pods on one node");
    want(workload["spec"]["replicas"].as_u64() >= Some(2), "has no second Pod");
    want(workload["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0, "has fewer Pods during an upgrade");
    for container in containers(workload) {
        for (probe, path) in PROBES {
            want(container[probe]["httpGet"]["path"] == path, &format!("has no {probe} at {path}"));
            let port = &container[probe]["httpGet"]["port"];
            let ports = container["ports"].as_array().into_iter().flatten();
            want(ports.into_iter().any(|it| it["name"] == *port), &format!("has no port for its {probe}"));
        }
    }
    findings
}

/// What there must be of each kind beside the Pods.
fn lacking(all: &[(String, Value)]) -> Vec<String> {
    let labels = |it: &Value| it["spec"]["selector"]["matchLabels"].clone();
    let deployments = all.iter().filter(|(_, it)| it["kind"] == "Deployment");
    let budgets: Vec<Value> =
        all.iter().filter(|(_, it)| it["kind"] == "PodDisruptionBudget").map(|(_, it)| labels(it)).collect();
    let mut findings: Vec<String> = deployments
        .filter(|(_, it)| !budgets.contains(&labels(it)))
        .map(|(path, _)| format!("{path}: a Deployment without a PodDisruptionBudget"))
        .collect();
    for kind in ["Service", "NetworkPolicy", "Job", "ConfigMap", "ServiceAccount"] {
        if !all.iter().any(|(_, it)| it["kind"] == kind) {
            findings.push(format!("{MANIFESTS}: no {kind}"));
        }
    }
    findings
}

/// An image of another version than this workspace's.
fn wrong_version(documents: &Documents, version: &str) -> Outcome<Vec<String>> {
    let kustomization = documents.yaml(KUSTOMIZATION)?;
    let image = &kustomization[0]["images"][0];
    let wanted = format!("{}:{version}", image["newName"].as_str().unwrap_or_default());
    let migration = documents.yaml(MIGRATION)?;
    let mut findings = Vec::new();
    if image["newTag"] != version {
        findings.push(format!("{KUSTOMIZATION}: newTag is not {version}"));
    }
    if containers(&migration[0]).iter().any(|it| it["image"] != wanted.as_str()) {
        findings.push(format!("{MIGRATION}: its image is not {wanted}"));
    }
    Ok(findings)
}

/// The schemas of Kubernetes itself, where an unknown field is an error.
pub(super) fn schemas(machine: &Machine) -> Outcome<Tried> {
    let Some(python) = tools::python(machine) else { return tools::no_python() };
    let mut command = program(python.join("bin/kubernetes-validate"), &["--strict"]);
    let all = manifests(&machine.documents)?;
    for (number, (path, it)) in all.iter().enumerate() {
        let mut named = it.clone();
        // The validator speaks of a manifest by its name, which the API server makes of `generateName`.
        if named["metadata"]["name"].is_null() {
            named["metadata"]["name"] = named["metadata"]["generateName"].clone();
        }
        let copy = machine.scratch.join(format!("{number}-{}", path.replace('/', "-")));
        fs::write(&copy, named.to_string())?;
        command.arg(copy);
    }
    let said = tools::said(&mut command)?;
    Tried::passed(format!("{} manifests are valid{}", all.len(), version_in(&said)))
}

fn version_in(said: &str) -> String {
    let version = said.split_once("against version ").and_then(|(_, rest)| rest.split_whitespace().next());
    version.map_or(String::new(), |it| format!(" for version {it}"))
}

pub(super) fn kustomize(_: &Machine) -> Outcome<Tried> {
    let Some(kubectl) = installed("kubectl") else { return Tried::skipped("kubectl is not installed") };
    let said = output(&mut program(kubectl, &["kustomize", &format!("{FOLDER}/{MANIFESTS}")]))?;
    let kinds = said.lines().filter(|line| line.starts_with("kind: ")).count();
    Tried::passed(format!("{kinds} manifests are made"))
}

#[cfg(test)]
mod tests {
    use super::super::documents::parse;
    use super::flaws;
    use serde_json::Value;

    const DEPLOYMENT: &str = include_str!("../../../docs/deploy/kubernetes/api.yaml");

    fn deployment(text: &str) -> Value {
        parse(text).unwrap().into_iter().find(|it| it["kind"] == "Deployment").unwrap()
    }

    #[test]
    fn a_pod_without_what_it_must_have_is_found() {
        assert_eq!(flaws(&deployment(DEPLOYMENT), 10), [""; 0]);
        for (from, to, found) in [
            ("enableServiceLinks: false", "enableServiceLinks: true", 1),
            ("automountServiceAccountToken: false", "", 1),
            ("runAsNonRoot: true", "runAsNonRoot: false", 1),
            ("runAsUser: 65532", "runAsUser: 0", 1),
            ("type: RuntimeDefault", "type: Unconfined", 1),
            ("readOnlyRootFilesystem: true", "", 1),
            ("allowPrivilegeEscalation: false", "", 1),
            ("drop: [\"ALL\"]", "drop: []", 1),
            ("terminationGracePeriodSeconds: 40", "terminationGracePeriodSeconds: 30", 1),
            ("podAntiAffinity:", "podAffinity:", 1),
            ("replicas: 2", "replicas: 1", 1),
            ("maxUnavailable: 0", "maxUnavailable: 1", 1),
            ("path: /readyz", "path: /livez", 1),
            ("- name: admin", "- name: other", 2),
        ] {
            assert!(DEPLOYMENT.contains(from), "{from}");
            assert_eq!(flaws(&deployment(&DEPLOYMENT.replace(from, to)), 10).len(), found, "{to}");
        }
    }

    #[test]
    fn a_longer_drain_delay_needs_a_longer_grace() {
        assert_eq!(flaws(&deployment(DEPLOYMENT), 15), [""; 0]);
        assert_eq!(flaws(&deployment(DEPLOYMENT), 16).len(), 1);
    }
}

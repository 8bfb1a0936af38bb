//! Requirements of Pods, containers, services and units, as tables.

use super::documents::texts;
use serde_json::Value;

/// User of the image as numbers, so that Kubernetes can verify that it is not root.
pub(super) const USER: &str = "65532:65532";
/// Maximum time in seconds from the end of the drain delay to the end of the process.
pub(super) const END_SECONDS: u64 = 25;
/// Default drain delay in seconds.
const DRAIN_SECONDS: u64 = 5;

/// JSON pointer of a value, its requirement, and the problem if it is not met.
pub(super) type Rule = (&'static str, Expected, &'static str);

#[derive(Debug, Clone, Copy)]
pub(super) enum Expected {
    Bool(bool),
    /// This text, or the number that it denotes.
    Text(&'static str),
    AnyOf(&'static [&'static str]),
    /// At least this number, which the file may write as a text such as `30s`.
    AtLeast(u64),
    /// Any value: the key must be present.
    Present,
    /// A list with only this text.
    Only(&'static str),
    /// A list that contains this text.
    Has(&'static str),
}

use Expected::{AnyOf, AtLeast, Bool, Has, Only, Present, Text};

pub(super) const POD: [Rule; 5] = [
    ("/enableServiceLinks", Bool(false), "gets variables that begin with CANDOR_ from service links"),
    ("/automountServiceAccountToken", Bool(false), "has a token for the API of the cluster"),
    ("/securityContext/runAsNonRoot", Bool(true), "may run as root"),
    ("/securityContext/runAsUser", Text("65532"), "runs as another user than the image"),
    ("/securityContext/seccompProfile/type", Text("RuntimeDefault"), "has no seccomp profile"),
];
pub(super) const CONTAINER: [Rule; 4] = [
    ("/securityContext/readOnlyRootFilesystem", Bool(true), "may write to its root file system"),
    ("/securityContext/allowPrivilegeEscalation", Bool(false), "may gain rights"),
    ("/securityContext/capabilities/drop", Only("ALL"), "keeps capabilities"),
    ("/resources/limits/memory", Present, "has no limit of memory"),
];
pub(super) const DEPLOYMENT: [Rule; 3] = [
    ("/spec/template/spec/affinity/podAntiAffinity", Present, "may have all its Pods on one node"),
    ("/spec/replicas", AtLeast(2), "has no second Pod"),
    ("/spec/strategy/rollingUpdate/maxUnavailable", Text("0"), "has fewer Pods during an upgrade"),
];
/// Rules for the health checks of a Deployment's containers.
pub(super) const PROBES: [Rule; 3] = [
    ("/startupProbe/httpGet/path", Text("/livez"), "has no startupProbe at /livez"),
    ("/livenessProbe/httpGet/path", Text("/livez"), "has no livenessProbe at /livez"),
    ("/readinessProbe/httpGet/path", Text("/readyz"), "has no readinessProbe at /readyz"),
];
/// Rules for the services of the compose file that have the image of this workspace.
pub(super) const SERVICE: [Rule; 5] = [
    ("/read_only", Bool(true), "its root is not read-only"),
    ("/user", Text(USER), "it may be root"),
    ("/cap_drop", Only("ALL"), "it keeps capabilities"),
    ("/security_opt", Has("no-new-privileges:true"), "it may gain rights"),
    ("/secrets", Has("candor.toml"), "its secrets are not a file"),
];
/// Rules for the systemd unit, read as an object of its entries.
pub(super) const UNIT: [Rule; 6] = [
    ("/User", Text("candor"), "runs as another user than candor"),
    ("/ProtectSystem", Text("strict"), "may write outside its folder"),
    ("/StateDirectory", Text("candor"), "has no folder for its data"),
    ("/StateDirectoryMode", Text("0700"), "lets other users read its data"),
    ("/TimeoutStopSec", AtLeast(END_SECONDS + DRAIN_SECONDS), "is killed before it has ended"),
    ("/Restart", Text("on-failure"), "is not restarted after a crash"),
];
pub(super) const ALERT: [Rule; 3] = [
    ("/labels/severity", AnyOf(&["page", "ticket"]), "has no severity page or ticket"),
    ("/annotations/summary", Present, "has no summary"),
    ("/annotations/description", Present, "has no description, which names an action"),
];

/// Returns the problems of the rules that a document breaks.
pub(super) fn broken_rules(rules: &[Rule], document: &Value) -> Vec<String> {
    let is_broken = |(pointer, expected, _): &&Rule| {
        let value = document.pointer(pointer).unwrap_or(&Value::Null);
        let holds = match *expected {
            Bool(expected) => *value == expected,
            Text(expected) => value.as_str().map_or_else(|| value.to_string(), str::to_owned) == expected,
            AnyOf(expected) => value.as_str().is_some_and(|text| expected.contains(&text)),
            AtLeast(least) => seconds(value).is_some_and(|number| number >= least),
            Present => !value.is_null(),
            Only(expected) => texts(value) == [expected],
            Has(expected) => texts(value).contains(&expected),
        };
        !holds
    };
    rules.iter().filter(is_broken).map(|(.., problem)| (*problem).to_owned()).collect()
}

/// Returns a number, also from a text such as `30s`. `None` for other values.
pub(super) fn seconds(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.strip_suffix('s')?.parse().ok())
}

/// Returns the drain delay of an environment in seconds: its setting, or the default.
pub(super) fn drain_seconds(environment: &Value) -> u64 {
    seconds(&environment["CANDOR_DRAIN_DELAY"]).unwrap_or(DRAIN_SECONDS)
}

/// Returns `true` if a variable may hold a password or a key.
pub(super) fn is_secret(variable: &str) -> bool {
    const SECRETS: [&str; 5] = [
        "CANDOR_MASTER_KEY",
        "CANDOR_DATABASE_URL",
        "CANDOR_DATABASE_REPLICA_URL",
        "CANDOR_RATE_LIMITER",
        "CANDOR_SMTP_URL",
    ];
    SECRETS.contains(&variable)
}

/// Returns `true` if an environment has a variable with a secret.
pub(super) fn has_secret(environment: &Value) -> bool {
    environment.as_object().is_some_and(|variables| variables.keys().any(|name| is_secret(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deploy::documents::parse;
    use crate::deploy::host::unit_entries;

    /// Returns the parts of the files in docs/deploy that have rules, each with its rules.
    fn documents() -> Vec<(&'static [Rule], Value)> {
        let api = parse(include_str!("../../../docs/deploy/kubernetes/api.yaml")).unwrap().remove(0);
        let pod = api["spec"]["template"]["spec"].clone();
        let container = pod["containers"][0].clone();
        let compose = parse(include_str!("../../../docs/deploy/compose.yaml")).unwrap().remove(0);
        let alerts = parse(include_str!("../../../docs/deploy/prometheus/candor.rules.yaml")).unwrap().remove(0);
        let unit = unit_entries(include_str!("../../../docs/deploy/systemd/candor.service"));
        vec![
            (&POD, pod),
            (&CONTAINER, container.clone()),
            (&PROBES, container),
            (&DEPLOYMENT, api),
            (&SERVICE, compose["services"]["api-1"].clone()),
            (&UNIT, unit),
            (&ALERT, alerts["groups"][0]["rules"][0].clone()),
        ]
    }

    #[test]
    fn missing_or_other_value_breaks_its_rule() {
        for (rules, document) in documents() {
            assert_eq!(broken_rules(rules, &document), [""; 0]);
            for (pointer, expected, problem) in rules {
                let mut other = document.clone();
                *other.pointer_mut(pointer).unwrap() = Value::Null;
                assert_eq!(broken_rules(rules, &other), [*problem]);
                if !matches!(expected, Present) {
                    *other.pointer_mut(pointer).unwrap() = Value::from(["other"].as_slice());
                    assert_eq!(broken_rules(rules, &other), [*problem]);
                }
            }
        }
    }

    #[test]
    fn number_must_reach_its_minimum() {
        let rules: [Rule; 1] = [("/time", AtLeast(30), "is too short")];
        let count = |value: Value| broken_rules(&rules, &serde_json::json!({"time": value})).len();
        assert_eq!([count("30s".into()), count(31.into()), count("29s".into()), count(29.into())], [0, 0, 1, 1]);
    }
}

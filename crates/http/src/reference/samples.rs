//! Generates code samples for every operation in shell, TypeScript and Python.
//!
//! The samples use only standard libraries. They read `BASE` and `KEY` from the environment, as `candor dev`
//! prints them.

use serde_json::{Value, json};

/// Placeholder for an identifier without its prefix.
const SOME_ID: &str = "01KJPWD6M24DF9HWRAYHFSFV52";

/// Request of a sample.
struct Request<'a> {
    method: String,
    path: String,
    body: Body<'a>,
    has_key: bool,
    is_idempotent: bool,
    has_answer: bool,
}

enum Body<'a> {
    None,
    Json(&'a Value),
    Csv,
}

/// Adds `x-codeSamples` to every operation.
pub(super) fn add(document: &mut Value) {
    let Some(paths) = document["paths"].as_object_mut() else { return };
    for (path, resource) in paths {
        let full = concrete(path, &resource["parameters"]);
        let Some(members) = resource.as_object_mut() else { continue };
        for (method, operation) in members.iter_mut().filter(|(_, member)| member.get("operationId").is_some()) {
            let samples = request_samples(&request(method, &full, operation));
            operation["x-codeSamples"] = samples;
        }
    }
}

/// Fills example identifiers into a path.
fn concrete(path: &str, parameters: &Value) -> String {
    let mut path = path.to_owned();
    for it in parameters.as_array().into_iter().flatten() {
        let (Some(name), Some(pattern)) = (it["name"].as_str(), it["schema"]["pattern"].as_str()) else { continue };
        let prefix = pattern.trim_start_matches('^').split('_').next().unwrap_or_default();
        path = path.replace(&format!("{{{name}}}"), &format!("{prefix}_{SOME_ID}"));
    }
    path
}

fn request<'a>(method: &str, path: &str, operation: &'a Value) -> Request<'a> {
    let content = &operation["requestBody"]["content"];
    let example = content.pointer("/application~1json/example");
    let body = match example {
        Some(it) => Body::Json(it),
        None if content.get("text/csv").is_some() => Body::Csv,
        None => Body::None,
    };
    let names = |name: &str| operation["parameters"].to_string().contains(name);
    let is_list = operation["operationId"].as_str().is_some_and(|operation| operation.starts_with("list"));
    Request {
        method: method.to_uppercase(),
        path: if is_list { format!("{path}?limit=20") } else { path.to_owned() },
        body,
        has_key: operation["security"] != json!([]),
        is_idempotent: names("IdempotencyKey"),
        has_answer: operation["responses"].get("204").is_none(),
    }
}

fn request_samples(request: &Request<'_>) -> Value {
    json!([
        {"lang": "Shell", "label": "curl", "source": curl(request)},
        {"lang": "TypeScript", "label": "TypeScript", "source": typescript(request)},
        {"lang": "Python", "label": "Python", "source": python(request)},
    ])
}

impl Body<'_> {
    const fn content_type(&self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Json(_) => Some("application/json"),
            Self::Csv => Some("text/csv"),
        }
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn curl(it: &Request<'_>) -> String {
    let mut lines = Vec::new();
    let method = if it.method == "GET" { String::new() } else { format!(" -X {}", it.method) };
    lines.push(format!("curl -sS{method} \"$BASE{}\"", it.path));
    if it.has_key {
        lines.push("-H \"Authorization: Bearer $KEY\"".to_owned());
    }
    if it.is_idempotent {
        lines.push("-H \"Idempotency-Key: $(uuidgen)\"".to_owned());
    }
    lines.extend(it.body.content_type().map(|kind| format!("-H \"Content-Type: {kind}\"")));
    match &it.body {
        Body::None => {}
        Body::Json(value) => lines.push(format!("-d '{}'", pretty(value).replace('\'', r"'\''"))),
        Body::Csv => lines.push("--data-binary @people.csv".to_owned()),
    }
    lines.join(" \\\n  ")
}

fn typescript(it: &Request<'_>) -> String {
    let mut headers = Vec::new();
    if it.has_key {
        headers.push("    Authorization: `Bearer ${process.env.KEY}`,".to_owned());
    }
    if it.is_idempotent {
        headers.push("    \"Idempotency-Key\": crypto.randomUUID(),".to_owned());
    }
    headers.extend(it.body.content_type().map(|kind| format!("    \"Content-Type\": \"{kind}\",")));
    let import = if matches!(it.body, Body::Csv) { "import { readFile } from \"node:fs/promises\";\n\n" } else { "" };
    let body = match &it.body {
        Body::None => String::new(),
        Body::Json(value) => format!("  body: JSON.stringify({}),\n", pretty(value).replace('\n', "\n  ")),
        Body::Csv => "  body: await readFile(\"people.csv\", \"utf8\"),\n".to_owned(),
    };
    let headers =
        if headers.is_empty() { String::new() } else { format!("  headers: {{\n{}\n  }},\n", headers.join("\n")) };
    let answer = if it.has_answer { "\nconsole.log(await response.json());" } else { "" };
    format!(
        "{import}const response = await fetch(`${{process.env.BASE}}{}`, {{\n  method: \"{}\",\n{headers}{body}}});\n\
         if (!response.ok) throw new Error(await response.text());{answer}",
        it.path, it.method
    )
}

fn python(it: &Request<'_>) -> String {
    let mut headers = Vec::new();
    if it.has_key {
        headers.push("        \"Authorization\": \"Bearer \" + os.environ[\"KEY\"],".to_owned());
    }
    if it.is_idempotent {
        headers.push("        \"Idempotency-Key\": str(uuid.uuid4()),".to_owned());
    }
    headers.extend(it.body.content_type().map(|kind| format!("        \"Content-Type\": \"{kind}\",")));
    let headers =
        if headers.is_empty() { String::new() } else { format!("    headers={{\n{}\n    }},\n", headers.join("\n")) };
    let body = match &it.body {
        Body::None => String::new(),
        Body::Json(value) => format!("    data=r'''{}'''.encode(),\n", pretty(value)),
        Body::Csv => "    data=open(\"people.csv\", \"rb\").read(),\n".to_owned(),
    };
    let modules = [(it.has_answer, "json"), (true, "os"), (true, "urllib.request"), (it.is_idempotent, "uuid")];
    let imports: String =
        modules.iter().filter(|(is_used, _)| *is_used).map(|(_, name)| format!("import {name}\n")).collect();
    let answer = if it.has_answer { "print(json.load(response))" } else { "print(response.status)" };
    format!(
        "{imports}\nrequest = urllib.request.Request(\n    os.environ[\"BASE\"] + \"{}\",\n    method=\"{}\",\n{headers}{body})\n\
         with urllib.request.urlopen(request) as response:\n    {answer}",
        it.path, it.method
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operation_has_samples_in_three_languages() {
        let mut document = crate::openapi::document();
        add(&mut document);
        let paths = document["paths"].as_object().unwrap();
        let operations = paths.values().flat_map(|path| path.as_object().unwrap().values());
        let mut seen = 0;
        for it in operations.filter(|operation| operation.get("operationId").is_some()) {
            let samples = it["x-codeSamples"].as_array().unwrap();
            let labels: Vec<_> = samples.iter().map(|sample| sample["label"].as_str().unwrap()).collect();
            assert_eq!(labels, ["curl", "TypeScript", "Python"], "{}", it["operationId"]);
            for sample in samples {
                let source = sample["source"].as_str().unwrap();
                let has_key = it["security"] != json!([]);
                assert_eq!(source.contains("Bearer"), has_key, "{source}");
                assert!(!source.contains("{id}"), "{source}");
            }
            seen += 1;
        }
        assert_eq!(seen, crate::routes::ROUTES.len());
    }

    #[test]
    fn quote_in_example_is_escaped_for_curl() {
        let body = json!({"last_name": "O'Brien"});
        let request = Request {
            method: "POST".to_owned(),
            path: "/employees".to_owned(),
            body: Body::Json(&body),
            has_key: true,
            is_idempotent: true,
            has_answer: true,
        };
        assert!(curl(&request).contains(r#""last_name": "O'\''Brien""#), "{}", curl(&request));
    }
}

//! Requests in documents, such as `GET /employees?filter[status]=all`, `candor api GET employees -q sort=id` and
//! `curl "$BASE/employees"`: each must be an operation of docs/openapi.json, with parameters that it has.

use super::{Finding, SourceFile};
use crate::process::Outcome;
use serde_json::Value;

/// The document of the API.
const DOCUMENT: &str = "docs/openapi.json";
const METHODS: [&str; 5] = ["GET", "POST", "PATCH", "PUT", "DELETE"];
/// First segments of paths that are no operations of the document.
const OUTSIDE: &str = "Groups Me Users console docs healthz hooks livez metrics openapi.json readyz scim";
/// Characters that end a request in a sentence or a command.
const ENDS: [char; 9] = [' ', '`', '|', ')', ',', ';', '\'', '"', '\\'];

/// Beginnings of the URL in a `curl` command.
const BASES: [&str; 3] = ["\"$BASE/", "\"$URL/v1/", "\"$CANDOR/v1/"];

pub(super) fn check(files: &[SourceFile]) -> Outcome<Vec<Finding>> {
    let Some(document) = files.iter().find(|file| file.path == DOCUMENT) else { return Ok(vec![]) };
    let document: Value = serde_json::from_str(&document.text)?;
    let documents = files.iter().filter(|file| file.path.ends_with(".md"));
    Ok(documents.flat_map(|file| check_document(file, &document)).collect())
}

fn check_document(file: &SourceFile, document: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(file.text.lines()) {
        let wrong = requests(line).into_iter().filter_map(|request| request.problem(document));
        findings.extend(wrong.map(|says| Finding::new(&file.path, number, says)));
    }
    for (number, command) in curl_commands(&file.text) {
        let wrong = curl_request(&command).and_then(|request| request.problem(document));
        findings.extend(wrong.map(|says| Finding::new(&file.path, number, says)));
    }
    findings
}

/// Returns the `curl` commands of a text, each in one line, with the number of its first line.
fn curl_commands(text: &str) -> Vec<(usize, String)> {
    let mut commands: Vec<(usize, String)> = Vec::new();
    let mut continues = false;
    for (number, line) in (1..).zip(text.lines()) {
        let part = line.trim_end_matches('\\');
        match commands.last_mut().filter(|_| continues) {
            Some((_, command)) => command.push_str(part),
            None if line.contains("curl ") => commands.push((number, part.to_owned())),
            None => continue,
        }
        continues = part != line;
    }
    commands
}

/// Returns the request of a `curl` command if its URL begins with a variable.
fn curl_request(command: &str) -> Option<Request> {
    // The commands behind a pipe have flags of their own, such as `cut -d`.
    let command = command.split(" | ").next()?;
    let url = BASES.iter().find_map(|base| command.split_once(base))?.1.split('"').next()?;
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let named_method = command.split_once("-X ").and_then(|(_, rest)| rest.split(' ').next());
    let has_body = [" -d ", " --data-binary "].iter().any(|flag| command.contains(flag));
    let method = named_method.unwrap_or(if has_body { "POST" } else { "GET" });
    let method = METHODS.into_iter().find(|known| *known == method)?;
    let encoded_names =
        command.split("--data-urlencode ").skip(1).map(|rest| name(rest.trim_start_matches(['"', '\''])));
    let parameters = query.split('&').map(name).filter(|name| !name.is_empty()).chain(encoded_names).collect();
    Some(Request { method, path: path.to_owned(), parameters })
}

/// A request that a document names.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    method: &'static str,
    path: String,
    /// Names of the parameters of the query.
    parameters: Vec<String>,
}

/// Returns the requests of a line.
fn requests(line: &str) -> Vec<Request> {
    let mut requests = Vec::new();
    for method in METHODS {
        for (at, _) in line.match_indices(method) {
            let letter_before = line[..at].chars().next_back();
            let rest = line[at + method.len()..].trim_start_matches('`');
            let Some(rest) = rest.strip_prefix(' ').map(|rest| rest.trim_start_matches('`')) else { continue };
            let is_command = line[..at].ends_with("candor api ");
            if letter_before.is_some_and(char::is_alphanumeric) || !(is_command || rest.starts_with('/')) {
                continue;
            }
            let end = rest.find(ENDS).unwrap_or(rest.len());
            let (target, options) = rest.split_at(end);
            let (path, query) = target.split_once('?').unwrap_or((target, ""));
            let path = path.trim_start_matches('/').trim_end_matches(['.', ':']);
            let mut parameters: Vec<_> = query.split('&').map(name).filter(|name| !name.is_empty()).collect();
            if is_command {
                let is_query = |flag: &str| flag == "-q" || (flag == "-f" && method == "GET");
                let words: Vec<_> = options.split_whitespace().collect();
                let query_words = words.windows(2).filter(|pair| is_query(pair[0]));
                parameters.extend(query_words.map(|pair| name(pair[1].trim_matches('\''))));
            }
            let path = path.strip_prefix("v1/").unwrap_or(path).to_owned();
            requests.push(Request { method, path, parameters });
        }
    }
    requests
}

fn name(pair: &str) -> String {
    pair.split('=').next().unwrap_or_default().to_owned()
}

impl Request {
    /// Returns the problem if the document of the API does not have this operation or one of its parameters.
    fn problem(&self, document: &Value) -> Option<String> {
        let Self { method, path, parameters } = self;
        let is_placeholder = path.starts_with('{') || path.contains('…');
        let first_segment = path.split('/').next().filter(|segment| !segment.is_empty());
        if is_placeholder || first_segment.is_none_or(|segment| OUTSIDE.split(' ').any(|one| one == segment)) {
            return None;
        }
        let paths = document["paths"].as_object()?;
        let matching = paths
            .iter()
            .find(|(template, item)| matches(template, path) && item.get(method.to_lowercase()).is_some());
        let Some((_, item)) = matching else {
            return Some(format!("{method} /{path} is no operation of {DOCUMENT}, name an operation that it has"));
        };
        let parameter_lists = [&item["parameters"], &item[method.to_lowercase()]["parameters"]];
        let listed_parameters = parameter_lists.into_iter().filter_map(Value::as_array).flatten();
        let known_parameters: Vec<&Value> =
            listed_parameters.map(|one| resolve_reference(one, document)).collect();
        let has = |name: &str| {
            let is_custom = name.starts_with("filter[custom_fields.");
            known_parameters.iter().any(|one| one["name"] == name || (is_custom && one["style"] == "deepObject"))
        };
        let wrong = parameters.iter().find(|name| !has(name))?;
        Some(format!("{method} /{path} has no parameter `{wrong}` in {DOCUMENT}, name a parameter that it has"))
    }
}

/// Returns the parameter to which a `$ref` leads, or `parameter` itself if it has no `$ref`.
fn resolve_reference<'a>(parameter: &'a Value, document: &'a Value) -> &'a Value {
    let place = parameter["$ref"].as_str().and_then(|place| document.pointer(place.trim_start_matches('#')));
    place.unwrap_or(parameter)
}

/// Returns `true` if a path has the segments of a template. A segment such as `{id}` matches ids and placeholders,
/// but no words in small letters.
fn matches(template: &str, path: &str) -> bool {
    let template: Vec<_> = template.trim_matches('/').split('/').collect();
    let path: Vec<_> = path.trim_matches('/').split('/').collect();
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == '_');
    let fits = |(part, given): (&&str, &str)| *part == given || (part.starts_with('{') && !is_word(given));
    template.len() == path.len() && template.iter().zip(path).all(fits)
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;
    use serde_json::json;

    fn problems(text: &str) -> Vec<String> {
        let document = json!({
            "components": {"parameters": {"Limit": {"name": "limit"}}},
            "paths": {
                "/employees": {"get": {"parameters": [
                    {"name": "filter[email]"}, {"name": "filter", "style": "deepObject"},
                    {"$ref": "#/components/parameters/Limit"},
                ]}},
                "/employees/{id}": {"get": {}, "patch": {}},
                "/employees/csv": {"post": {}},
            },
        });
        check_document(&file("docs/a.md", text), &document).into_iter().map(|finding| finding.says).collect()
    }

    #[test]
    fn requests_that_exist_are_accepted() {
        for text in [
            "`GET /employees?filter[email]=a@example.com&limit=5`.",
            "$ candor api GET employees -q 'filter[email]=a' -f limit=5 --jq '.data[].id'",
            "`GET /v1/employees?filter[custom_fields.city]=Paris` and `GET`, `PATCH /employees/{id}`",
            "$ candor api PATCH employees/EMPLOYEE -f first_name=Ada",
            "POST /v1/employees/csv, GET /scim/v2/Users, FORGET /nothing",
            "curl -g \"$BASE/employees?filter[email]=a&limit=5\" -H \"Authorization: Bearer $KEY\"",
            "A=$(curl -X PATCH \"$BASE/employees/$A\" | sed)\ncurl -G \"$BASE/employees\" \\\n  --data-urlencode \"limit=5\"",
            "curl \"$URL/v1/employees/csv\" --data-binary @people.csv",
            "curl \"$BASE/employees?limit=5\" | cut -d ',' -f 1",
        ] {
            assert_eq!(problems(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn unknown_paths_and_parameters_are_found() {
        for (text, says) in [
            ("`GET /people`", "GET /people is no operation"),
            ("`DELETE /employees/{id}`", "DELETE /employees/{id} is no operation"),
            ("`GET /employees?search=ada`", "no parameter `search`"),
            ("$ candor api GET employees -q 'search=ada@example.com'", "no parameter `search`"),
            ("$ candor api GET employees -q limit=5 -q status=all", "no parameter `status`"),
            ("`POST /employees/xml`", "is no operation"),
            ("curl \"$BASE/people\"", "GET /people is no operation"),
            ("curl \"$BASE/employees\" \\\n  -d '{}'", "POST /employees is no operation"),
            ("curl -X PATCH \"$CANDOR/v1/employees\"", "PATCH /employees is no operation"),
            ("curl \"$BASE/employees?limit=5&since=now\"", "no parameter `since`"),
            ("curl -G \"$BASE/employees\" \\\n  --data-urlencode \"q=calm\"", "no parameter `q`"),
        ] {
            let findings = problems(text);
            assert!(findings.len() == 1 && findings[0].contains(says), "{text}: {findings:?}");
        }
    }
}

//! Adds the guides in `docs/` to the document's description, as chapters whose headings become the navigation.

use serde_json::Value;

/// Guides with their paths below `docs/`, which their links use.
const PAGES: [(&str, &str); 16] = [
    ("api/basics.md", include_str!("../../../../docs/api/basics.md")),
    ("api/lists.md", include_str!("../../../../docs/api/lists.md")),
    ("api/errors.md", include_str!("../../../../docs/api/errors.md")),
    ("api/keys.md", include_str!("../../../../docs/api/keys.md")),
    ("api/people.md", include_str!("../../../../docs/api/people.md")),
    ("api/feedback.md", include_str!("../../../../docs/api/feedback.md")),
    ("api/copies.md", include_str!("../../../../docs/api/copies.md")),
    ("api/dry-runs.md", include_str!("../../../../docs/api/dry-runs.md")),
    ("api/subscriptions.md", include_str!("../../../../docs/api/subscriptions.md")),
    ("webhooks.md", include_str!("../../../../docs/webhooks.md")),
    ("csv.md", include_str!("../../../../docs/csv.md")),
    ("guides/scim.md", include_str!("../../../../docs/guides/scim.md")),
    ("guides/data-protection.md", include_str!("../../../../docs/guides/data-protection.md")),
    ("guides/data-teams.md", include_str!("../../../../docs/guides/data-teams.md")),
    ("search.md", include_str!("../../../../docs/search.md")),
    ("promises.md", include_str!("../../../../docs/promises.md")),
];
/// Folder of the example files; `/docs` serves it beside the reference.
const EXAMPLES: &str = "examples/";
/// Prefix of the renderer's anchors for headings in the description.
const ANCHOR: &str = "#description/";
/// Beginning of the sentence of an operation that names its quota.
const QUOTA: &str = "Counts as `";
/// Heading of the section that explains quotas.
const QUOTAS: &str = "Rate limits (429) and quotas";
/// Name of the schema of a dry run's response, as the description of the parameter `dry_run` has it. [`add`]
/// replaces it by a link to [`DRY_RUNS`].
const DRY_RUN: &str = "`DryRun`";
/// Heading of the section about dry runs.
const DRY_RUNS: &str = "Dry runs";

/// Appends the guides to the description of the document, and links the operations to the guides.
pub(super) fn add(document: &mut Value) {
    let first = document["info"]["description"].as_str().unwrap_or_default().to_owned();
    let chapters = PAGES.iter().map(|(path, text)| chapter(path, text));
    document["info"]["description"] =
        std::iter::once(first).chain(chapters).collect::<Vec<_>>().join("\n\n").into();
    let dry_run = &mut document["components"]["parameters"]["DryRun"]["description"];
    if let Some(text) = dry_run.as_str() {
        *dry_run = text.replace(DRY_RUN, &format!("[{DRY_RUNS}]({ANCHOR}{})", slug(DRY_RUNS))).into();
    }
    let operations = document["paths"].as_object_mut().into_iter().flat_map(|paths| paths.values_mut());
    for operation in operations.filter_map(Value::as_object_mut).flat_map(|item| item.values_mut()) {
        if let Some(text) = operation["description"].as_str().filter(|text| text.contains(QUOTA)) {
            operation["description"] = linked_quota(text).into();
        }
    }
}

/// Makes the name of a quota a link to the section on quotas.
fn linked_quota(text: &str) -> String {
    let Some((before, rest)) = text.split_once(QUOTA) else { return text.to_owned() };
    let Some((name, after)) = rest.split_once('`') else { return text.to_owned() };
    format!("{before}Counts as [`{name}`]({ANCHOR}{}){after}", slug(QUOTAS))
}

/// Converts a page to a chapter: removes marks for the repository's own checks and rewrites links.
fn chapter(path: &str, text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("<!-- example: "));
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut html = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once("](") {
        let Some((target, after)) = behind.split_once(')') else { break };
        match link(path, target) {
            Some(link) => html.push_str(&format!("{before}]({link})")),
            None => html.push_str(&remove_link(before)),
        }
        rest = after;
    }
    html + rest
}

/// Removes the bracket that opens the text of a link, for a link to a page that `/docs` does not have.
fn remove_link(before: &str) -> String {
    before.rsplit_once('[').map_or_else(|| before.to_owned(), |(first, text)| format!("{first}{text}"))
}

/// Returns the target that a link on the page at `path` gets in the reference, or `None` if the reference does not
/// have the linked page.
fn link(path: &str, target: &str) -> Option<String> {
    if target.starts_with("https://") {
        return Some(target.to_owned());
    }
    let (page, heading) = target.split_once('#').unwrap_or((target, ""));
    if page.is_empty() {
        return Some(format!("{ANCHOR}{heading}"));
    }
    let full = below_docs(path, page);
    if let Some(file) = full.strip_prefix(EXAMPLES) {
        return Some(format!("/docs/{file}"));
    }
    let (_, text) = PAGES.iter().find(|(name, _)| *name == full)?;
    let title = text.lines().next().unwrap_or_default().trim_start_matches("# ");
    Some(format!("{ANCHOR}{}", if heading.is_empty() { slug(title) } else { heading.to_owned() }))
}

/// Returns the path below `docs/` of a link on the page at `path`.
fn below_docs(path: &str, link: &str) -> String {
    let mut folders: Vec<&str> = path.split('/').collect();
    folders.pop();
    for part in link.split('/') {
        if part == ".." {
            folders.pop();
        } else {
            folders.push(part);
        }
    }
    folders.join("/")
}

/// Returns the anchor of a heading, as the renderer makes it: lower case, without punctuation, hyphens for spaces.
fn slug(heading: &str) -> String {
    let is_slug_letter = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    heading.to_lowercase().chars().filter(is_slug_letter).collect::<String>().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Returns the headings of a text outside of its code blocks.
    fn headings(text: &str) -> Vec<&str> {
        let mut is_code = false;
        let mut headings = Vec::new();
        for line in text.lines() {
            is_code ^= line.trim_start().starts_with("```");
            if !is_code && line.starts_with('#') {
                headings.push(line.trim_start_matches('#').trim());
            }
        }
        headings
    }

    #[test]
    fn guide_links_resolve_within_the_reference() {
        for (path, written, wanted) in [
            ("csv.md", "see [it](webhooks.md), or", "see [it](#description/webhooks-for-receivers), or"),
            ("csv.md", "[notes](api/subscriptions.md#webhooks)", "[notes](#description/webhooks)"),
            ("api/copies.md", "[file](../examples/people.csv)", "[file](/docs/people.csv)"),
            ("csv.md", "as [above](#objectives).", "as [above](#description/objectives)."),
            ("csv.md", "[file](examples/people.csv)", "[file](/docs/people.csv)"),
            ("csv.md", "[page](https://example.com/a#b)", "[page](https://example.com/a#b)"),
            ("csv.md", "[law](guides/data-protection.md)", "[law](#description/data-protection-gdpr)"),
            ("guides/scim.md", "[file](../csv.md)", "[file](#description/csv-import-of-people)"),
            ("guides/scim.md", "[a] of [SCIM](../contract/scim.md) and", "[a] of SCIM and"),
            ("guides/scim.md", "[library](../../clients/README.md).", "library."),
        ] {
            assert_eq!(chapter(path, written), wanted);
        }
        assert_eq!(chapter("csv.md", "a\n<!-- example: python -->\n```python\n```"), "a\n```python\n```");
    }

    #[test]
    fn guide_page_becomes_a_complete_chapter() {
        let mut document = crate::openapi::document();
        add(&mut document);
        let text = document["info"]["description"].as_str().unwrap();
        for (name, page) in PAGES {
            for heading in page.lines().filter(|line| line.starts_with('#')) {
                assert!(text.lines().any(|line| line == heading), "{name}: {heading}");
            }
        }
        for file in text.split("](/docs/").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(crate::reference::file(file).is_some(), "/docs/{file}");
        }
        assert!(!text.contains(".md)") && !text.contains(".md#") && !text.contains("<!--"), "no link leads out");
    }

    /// The renderer numbers the anchors of equal headings, so that a link to the second one would lead to the first.
    #[test]
    fn links_of_the_reference_lead_to_one_heading() {
        let mut document = crate::openapi::document();
        add(&mut document);
        let text = document["info"]["description"].as_str().unwrap();
        let mut anchors = BTreeSet::new();
        for heading in headings(text) {
            assert!(anchors.insert(slug(heading)), "two headings are {heading}");
        }
        let whole = document.to_string();
        let start = format!("]({ANCHOR}");
        let links = whole.split(&start).skip(1).filter_map(|rest| rest.split(')').next());
        let dead_links: Vec<_> = links.filter(|link| !anchors.contains(*link)).collect();
        assert!(dead_links.is_empty(), "no heading has the anchors {dead_links:?}");
    }

    #[test]
    fn parameter_of_dry_runs_leads_to_their_section() {
        let mut document = crate::openapi::document();
        add(&mut document);
        let text = document["components"]["parameters"]["DryRun"]["description"].as_str().unwrap();
        assert!(text.contains("see [Dry runs](#description/dry-runs)."), "{text}");
    }

    #[test]
    fn quota_of_an_operation_leads_to_the_quotas() {
        let expected_sentence = "Counts as [`csv`](#description/rate-limits-429-and-quotas).";
        assert_eq!(linked_quota("Counts as `csv`."), expected_sentence);
        let mut document = crate::openapi::document();
        add(&mut document);
        assert!(
            document["paths"]["/employees/csv"]["post"]["description"]
                .as_str()
                .unwrap()
                .ends_with(expected_sentence)
        );
        assert!(!document["paths"].to_string().contains(QUOTA));
    }
}

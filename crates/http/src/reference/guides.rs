//! Adds the guides in `docs/` to the document's description, as chapters whose headings become the navigation.

use serde_json::Value;

/// Guides with their file names, which their links use.
const PAGES: [(&str, &str); 3] = [
    ("api-notes.md", include_str!("../../../../docs/api-notes.md")),
    ("webhooks.md", include_str!("../../../../docs/webhooks.md")),
    ("csv.md", include_str!("../../../../docs/csv.md")),
];
/// Folder of the example files; `/docs` serves it beside the reference.
const EXAMPLES: &str = "examples/";
/// Prefix of the renderer's anchors for headings in the description.
const ANCHOR: &str = "#description/";

/// Appends the guides to the description of the document.
pub(super) fn add(document: &mut Value) {
    let first = document["info"]["description"].as_str().unwrap_or_default().to_owned();
    let chapters = PAGES.iter().map(|(_, text)| chapter(text));
    document["info"]["description"] =
        std::iter::once(first).chain(chapters).collect::<Vec<_>>().join("\n\n").into();
}

/// Converts a page to a chapter: removes marks for the repository's own checks and rewrites links.
fn chapter(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("<!-- example: "));
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once("](") {
        let Some((target, after)) = behind.split_once(')') else { break };
        out.push_str(&format!("{before}]({})", link(target)));
        rest = after;
    }
    out + rest
}

fn link(target: &str) -> String {
    let (page, heading) = target.split_once('#').unwrap_or((target, ""));
    let known = PAGES.iter().find(|(name, _)| *name == page);
    match known {
        Some((_, text)) if heading.is_empty() => {
            let title = text.lines().next().unwrap_or_default().trim_start_matches("# ");
            format!("{ANCHOR}{}", title.to_lowercase().replace(' ', "-"))
        }
        Some(_) => format!("{ANCHOR}{heading}"),
        None if page.is_empty() => format!("{ANCHOR}{heading}"),
        None => target.strip_prefix(EXAMPLES).map_or_else(|| target.to_owned(), |file| format!("/docs/{file}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guide_links_resolve_within_the_reference() {
        for (written, wanted) in [
            ("see [it](webhooks.md), or", "see [it](#description/webhooks-for-receivers), or"),
            ("[notes](api-notes.md#webhooks)", "[notes](#description/webhooks)"),
            ("as [above](#objectives).", "as [above](#description/objectives)."),
            ("[file](examples/people.csv)", "[file](/docs/people.csv)"),
            ("[page](https://example.com/a#b)", "[page](https://example.com/a#b)"),
        ] {
            assert_eq!(chapter(written), wanted);
        }
        assert_eq!(chapter("a\n<!-- example: python -->\n```python\n```"), "a\n```python\n```");
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
        assert!(!text.contains(".md)") && !text.contains("<!--"), "no link leads out, and no mark is shown");
    }
}

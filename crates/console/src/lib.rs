//! Files of the web page at `/console`: static ES modules, embedded when the program is built. They are a client of
//! `/v1` and have no routes of their own. `candor-http` serves them as [`served_files`] returns them.

mod bundle;

use std::collections::BTreeMap;

/// The page, for every address of a screen. Paths of its files are relative to the folder of [`served_files`].
pub const PAGE: &str = include_str!("../web/index.html");
/// Comment in the page that is replaced by links to the vendored modules, so that browsers load them at once with the
/// first view, which imports them.
pub const FIRST_VIEW: &str = "<!-- first view -->";

macro_rules! files {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("../web/", $name)))),*] };
}

/// Name and text of each file of the folder besides the page, by name. A test compares them with the folder.
pub const FILES: &[(&str, &str)] = files![
    "app.js",
    "entrance.js",
    "languages/de.js",
    "languages/de_csv.js",
    "languages/de_progress.js",
    "languages/de_sign_in.js",
    "languages/de_work.js",
    "lib/addresses.js",
    "lib/api.js",
    "lib/attention.js",
    "lib/bulk.js",
    "lib/charts.js",
    "lib/csv.js",
    "lib/csv_columns.js",
    "lib/csv_file.js",
    "lib/csv_import.js",
    "lib/csv_rows.js",
    "lib/data.js",
    "lib/deliveries.js",
    "lib/dialog.js",
    "lib/drafts.js",
    "lib/form.js",
    "lib/format.js",
    "lib/kept.js",
    "lib/language.js",
    "lib/notices.js",
    "lib/operations.js",
    "lib/people.js",
    "lib/print.js",
    "lib/request_drawer.js",
    "lib/router.js",
    "lib/session.js",
    "lib/snippet.js",
    "lib/stale.js",
    "lib/theme.js",
    "lib/toast.js",
    "lib/ui.js",
    "lib/view.js",
    "main.js",
    "screens/audit.js",
    "screens/connectors.js",
    "screens/connectors_scim.js",
    "screens/events.js",
    "screens/feedback.js",
    "screens/feedback_lists.js",
    "screens/history.js",
    "screens/import.js",
    "screens/import_columns.js",
    "screens/import_refused.js",
    "screens/keys.js",
    "screens/keys_link.js",
    "screens/list_tools.js",
    "screens/me.js",
    "screens/objective_one.js",
    "screens/objectives_progress.js",
    "screens/organization.js",
    "screens/palette.js",
    "screens/people.js",
    "screens/people_data.js",
    "screens/people_one.js",
    "screens/people_retention.js",
    "screens/provider.js",
    "screens/sign_in.js",
    "screens/sign_in_check.js",
    "screens/sign_in_form.js",
    "screens/sign_in_links.js",
    "screens/summary_answer.js",
    "screens/summary_one.js",
    "screens/team.js",
    "screens/today.js",
    "screens/webhooks.js",
    "screens/webhooks_delivery.js",
    "screens/webhooks_filter.js",
    "screens/webhooks_forms.js",
    "screens/webhooks_types.js",
    "screens/write.js",
    "screens/write_person.js",
    "screens/write_results.js",
    "style.css",
    "texts.js",
    "texts_csv.js",
    "texts_en.js",
    "texts_progress.js",
    "texts_sign_in.js",
    "texts_work.js",
    "vendor/LICENSE-htm",
    "vendor/LICENSE-preact",
    "vendor/hooks.mjs",
    "vendor/htm.mjs",
    "vendor/preact.mjs",
];

/// Returns the files that browsers load besides the page, by name: the modules in bundles, the style sheet, and the
/// vendored modules with their licenses.
#[must_use]
pub fn served_files() -> BTreeMap<&'static str, String> {
    let mut files = bundle::join_modules(FILES, without_comments);
    let others = FILES.iter().filter(|(name, _)| !name.ends_with(".js"));
    files.extend(others.map(|(name, text)| (*name, serve_form(name, text))));
    files
}

/// Returns the served form of a file that is no module of the console. The hooks of Preact import Preact by the name of
/// its package, which browsers cannot resolve.
fn serve_form(name: &str, text: &str) -> String {
    match name {
        "vendor/hooks.mjs" => text.replace("from\"preact\"", "from\"./preact.mjs\""),
        _ if name.starts_with("vendor/") => text.to_owned(),
        _ => without_comments(text),
    }
}

/// Returns a module or a style sheet without its types and other comments, its empty lines and its indentation, which
/// are a sixth of its compressed bytes. No text and no template of a module contains the beginning of a comment.
fn without_comments(text: &str) -> String {
    let (first, rest) = text.split_once("/**").unwrap_or((text, ""));
    let after_comments = rest.split("/**").filter_map(|part| part.split_once("*/")).map(|(_, code)| code);
    let code: String = std::iter::once(first).chain(after_comments).collect();
    let lines = code.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn names(folder: &Path, prefix: &str, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                names(&entry.path(), &format!("{name}/"), found);
            } else if !name.contains(".d.") && name != "index.html" {
                found.push(name);
            }
        }
    }

    #[test]
    fn served_files_are_those_of_the_folder() {
        let mut file_names = Vec::new();
        names(&Path::new(env!("CARGO_MANIFEST_DIR")).join("web"), "", &mut file_names);
        file_names.sort();
        assert_eq!(file_names, FILES.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>());
    }

    #[test]
    fn texts_never_become_markup() {
        for (name, text) in FILES.iter().filter(|(name, _)| !name.starts_with("vendor/")) {
            for form in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"]
            {
                assert!(!text.contains(form), "{name}: {form}");
            }
        }
    }

    #[test]
    fn code_is_served_without_its_comments() {
        let module = "// A module.\n\n/** @param {string} one */\nexport function add(one) {\n  // Why.\n  \
                      const two = /** @type {string} */ (one);\n  return html`<b>\n    ${two}</b>`; // so\n}\n\n/**\n * \
                      Two\n * lines. */\nexport const url = \"https://one\";\n";
        let code = "export function add(one) {\nconst two =  (one);\nreturn html`<b>\n${two}</b>`; // so\n}\n\
                    export const url = \"https://one\";\n";
        assert_eq!(without_comments(module), code);
        for (name, text) in served_files().iter().filter(|(name, _)| !name.starts_with("vendor/")) {
            assert!(!text.contains("/**") && !text.contains("\n//"), "{name}");
        }
    }

    #[test]
    fn browsers_load_modules_in_bundles() {
        let files = served_files();
        let names: Vec<_> = files.keys().copied().filter(|name| name.ends_with(".js")).collect();
        assert_eq!(names, ["languages/de.js", "main.js", "screens.js"]);
        assert!(
            files["main.js"].contains("\nconst $lib_ui = ")
                && files["screens.js"].contains("\nconst $screens_people = ")
        );
        let parts = names.iter().flat_map(|name| files[name].lines()).filter(|line| line.starts_with("const $"));
        assert_eq!(parts.count(), FILES.iter().filter(|(name, _)| name.ends_with(".js")).count());
        for name in names {
            let (_, code) = files[name].split_once("const $").unwrap();
            let line_starts_with = |start: &str| code.lines().any(|line| line.starts_with(start));
            assert!(!line_starts_with("import ") && code.matches("\nexport ").count() == 1, "{name}");
            assert!(!code.contains("import(\"./screens/") && !code.contains("import(\"./lib/"), "{name}");
        }
        // The first view waits for the language, which would wait for the first view.
        assert!(!files["languages/de.js"].contains("from \"./main.js\""));
    }

    #[test]
    fn module_stands_behind_its_imports() {
        for (name, text) in served_files().iter().filter(|(name, _)| name.ends_with(".js")) {
            let mut known_modules = Vec::new();
            let mut current_module = "";
            for line in text.lines() {
                if let Some((list, _)) = line.strip_prefix("import { $").and_then(|list| list.split_once(" }")) {
                    known_modules.extend(list.split(", $"));
                } else if let Some((module, _)) =
                    line.strip_prefix("const $").and_then(|rest| rest.split_once(' '))
                {
                    current_module = module;
                } else if line == "})();" {
                    known_modules.push(current_module);
                } else if let Some((_, module)) = line.strip_suffix(';').and_then(|line| line.split_once("} = $"))
                {
                    assert!(known_modules.contains(&module), "{name}: {current_module} imports {module}");
                }
            }
            assert!(!known_modules.is_empty(), "{name}");
        }
    }
}

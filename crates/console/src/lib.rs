//! Files of the web page at `/console`: static ES modules, embedded when the program is built. They are a client of
//! `/v1` and have no routes of their own. `candor-http` serves them.

/// The page, for every address of a screen. Paths of its files are relative to the folder of [`FILES`].
pub const PAGE: &str = include_str!("../web/index.html");
/// Comment in the page that is replaced by links to the modules of the first view, so that browsers load all of
/// them at once.
pub const FIRST_VIEW: &str = "<!-- first view -->";

macro_rules! files {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("../web/", $name)))),*] };
}

/// Name and text of each file besides the page, by name. A test compares them with the folder.
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
}

//! Files of the web page at `/console`: static ES modules, embedded when the program is built. They are a client of
//! `/v1` and have no routes of their own. `candor-http` serves them as [`served_files`] returns them.

mod bundle;

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The page, for every address of a screen. Paths of its files are relative to the folder of [`served_files`].
pub const PAGE: &str = include_str!("../web/index.html");
/// Comment in the page that is replaced by links to the vendored modules, so that browsers load them at once with the
/// first view, which imports them.
pub const FIRST_VIEW: &str = "<!-- first view -->";

/// Files of the folder besides the page, as the build script packs them.
const PACK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/files.zst"));

/// Name and text of each file of the folder besides the page, by name. Unpacked when they are first used, and kept.
pub static FILES: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
    let pack = zstd::stream::decode_all(PACK).ok().and_then(|pack| String::from_utf8(pack).ok());
    let mut rest: &str = pack.unwrap_or_default().leak();
    let mut files = Vec::new();
    while let Some((name, length, texts)) = split_first_line(rest) {
        let (text, others) = texts.split_at_checked(length).unwrap_or((texts, ""));
        files.push((name, text));
        rest = others;
    }
    files
});

/// Splits a name and a number of bytes off a pack.
fn split_first_line(pack: &str) -> Option<(&str, usize, &str)> {
    let (line, texts) = pack.split_once('\n')?;
    let (name, length) = line.split_once(' ')?;
    Some((name, length.parse().ok()?, texts))
}

/// Returns the files that browsers load besides the page, by name: the modules in bundles, the style sheet, and the
/// vendored modules with their licenses.
#[must_use]
pub fn served_files() -> BTreeMap<&'static str, String> {
    let mut files = bundle::join_modules(&FILES, without_comments);
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

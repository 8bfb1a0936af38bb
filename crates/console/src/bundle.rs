//! Joins the modules of the console into three files. Browsers load the first view with one request instead of thirty,
//! and the compression sees what the modules have in common.
//!
//! A module becomes a function that runs once, behind the modules that it imports. Its code stays as it is written:
//!
//! ```text
//! const $lib_kept = (() => {
//! const { store } = $lib_view;
//! …
//! return { forgetKept, keptOf };
//! })();
//! ```
//!
//! Imports stand at the beginning of a module, exports at what they name, and no module imports itself through others.
//! The vendored modules stay files of their own.

use std::collections::{BTreeMap, BTreeSet};

/// File with the modules of the first view, from which the other files import them.
pub(crate) const FIRST: &str = "main.js";
/// Roots of the first view. The last one starts the console.
const FIRST_ROOTS: [&str; 2] = ["screens/today.js", FIRST];
/// File with the modules of all other screens.
const SCREENS: &str = "screens.js";

/// Modules by name, such as `lib/kept.js`.
type Modules<'a> = BTreeMap<&'a str, Module<'a>>;

/// A module in the form that a bundle needs.
struct Module<'a> {
    /// Imported files, each with the names as the import has them.
    imports: Vec<(&'a str, String)>,
    /// Code without imports and exports.
    code: String,
    /// Exported names, as members of an object.
    exports: Vec<String>,
    /// `true` if the module waits for something while it is loaded.
    is_async: bool,
}

/// Returns the files that browsers load in place of the modules, by name. `files` are the names and texts of all files,
/// and `serve` returns the served form of a text.
pub(crate) fn join_modules<'a>(
    files: &[(&'a str, &'a str)],
    serve: impl Fn(&str) -> String,
) -> BTreeMap<&'a str, String> {
    let modules: Modules<'a> = files
        .iter()
        .filter(|(name, _)| name.ends_with(".js"))
        .map(|(name, text)| (*name, Module::parse(name, text, &serve(text), files)))
        .collect();
    let is_language = |name: &&str| name.starts_with("languages/") && !name.contains('_');
    let mut roots = vec![(FIRST, FIRST_ROOTS.to_vec())];
    roots.extend(modules.keys().copied().filter(is_language).map(|name| (name, vec![name])));
    roots.push((SCREENS, modules.keys().copied().collect()));
    let mut homes = BTreeMap::new();
    let mut bundles = Vec::new();
    for (bundle, roots) in roots {
        let mut members = Vec::new();
        roots.into_iter().for_each(|root| append(root, bundle, &modules, &mut homes, &mut members));
        bundles.push((bundle, members));
    }
    bundles.iter().map(|(bundle, members)| (*bundle, write_bundle(bundle, members, &modules, &homes))).collect()
}

/// Appends a module to a bundle, behind the modules that it imports, unless a bundle has it.
fn append<'a>(
    name: &'a str,
    bundle: &'a str,
    modules: &Modules<'a>,
    homes: &mut BTreeMap<&'a str, &'a str>,
    members: &mut Vec<&'a str>,
) {
    let Some((name, module)) = modules.get_key_value(name).filter(|_| !homes.contains_key(name)) else { return };
    homes.insert(name, bundle);
    for (imported, _) in &module.imports {
        append(imported, bundle, modules, homes, members);
    }
    members.push(name);
}

fn write_bundle(bundle: &str, members: &[&str], modules: &Modules<'_>, homes: &BTreeMap<&str, &str>) -> String {
    let own_modules: Vec<_> = members.iter().filter_map(|name| Some((*name, modules.get(name)?))).collect();
    let imports: Vec<_> = own_modules.iter().flat_map(|(_, module)| &module.imports).collect();
    let vendored_imports = imports.iter().filter(|(file, _)| !modules.contains_key(file));
    let mut text: String =
        vendored_imports.map(|(file, names)| format!("import {names} from \"./{file}\";\n")).collect();
    let first: BTreeSet<&str> =
        imports.iter().map(|(file, _)| *file).filter(|file| homes.get(file) == Some(&FIRST)).collect();
    if bundle != FIRST && !first.is_empty() {
        text.push_str(&format!("import {{ {} }} from \"./{FIRST}\";\n", join_variables(first)));
    }
    for (name, module) in own_modules {
        let start = if module.is_async { "await (async () => {" } else { "(() => {" };
        text.push_str(&format!("const {} = {start}\n", variable(name)));
        for (file, names) in module.imports.iter().filter(|(file, _)| modules.contains_key(file)) {
            text.push_str(&format!("const {} = {};\n", names.replace(" as ", ": "), variable(file)));
        }
        text.push_str(&resolve_late_imports(name, module, bundle, homes));
        text.push_str(&format!("return {{ {} }};\n}})();\n", module.exports.join(", ")));
    }
    text.push_str(&format!("export {{ {} }};\n", join_variables(members.iter().copied())));
    text
}

fn join_variables<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(variable).collect::<Vec<_>>().join(", ")
}

/// Returns the variable of a module: `$lib_kept` for `lib/kept.js`.
fn variable(name: &str) -> String {
    format!("${}", name.trim_end_matches(".js").replace('/', "_"))
}

/// Returns the code with the modules that it imports when they are needed: from the same bundle, or from the file of
/// another one.
fn resolve_late_imports(name: &str, module: &Module<'_>, bundle: &str, homes: &BTreeMap<&str, &str>) -> String {
    const START: &str = "import(\"";
    let mut parts = module.code.split(START);
    let mut code = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let target = part.split_once("\")").and_then(|(path, rest)| {
            let file = resolve_path(name, path)?;
            Some((variable(&file), *homes.get(file.as_str())?, rest))
        });
        match target {
            None => code.extend([START, part]),
            Some((variable, home, rest)) if home == bundle => {
                code.push_str(&format!("Promise.resolve({variable}){rest}"));
            }
            Some((variable, home, rest)) => {
                code.push_str(&format!("{START}./{home}\").then((bundle) => bundle.{variable}){rest}"));
            }
        }
    }
    code
}

impl<'a> Module<'a> {
    /// Reads a module from its text and from the served form of it, which has no comments and no indentation.
    fn parse(name: &str, text: &str, served: &str, files: &[(&'a str, &'a str)]) -> Self {
        let (mut imports, mut rest) = (Vec::new(), served);
        while let Some((statement, behind)) =
            rest.strip_prefix("import ").and_then(|statement| statement.split_once(";\n"))
        {
            imports.extend(parse_import(name, statement, files));
            rest = behind;
        }
        let (mut code, mut exports) = (String::new(), Vec::new());
        for line in rest.lines() {
            let exported_line = line.strip_prefix("export ");
            if let Some(names) = exported_line.and_then(|list| list.strip_prefix("{ ")?.strip_suffix(" };")) {
                exports.push(names.to_owned());
                continue;
            }
            let default = exported_line.and_then(|line| line.strip_prefix("default "));
            let plain = default.or(exported_line).unwrap_or(line);
            exports.extend(exported_line.and_then(|_| declared_name(plain)).map(|name| match default {
                Some(_) => format!("default: {name}"),
                None => name.to_owned(),
            }));
            code.extend([plain, "\n"]);
        }
        Self { imports, code, exports, is_async: text.lines().any(is_waiting) }
    }
}

/// Returns the file and the names of an import: `{ store } from "./view.js"`.
fn parse_import<'a>(module: &str, statement: &str, files: &[(&'a str, &'a str)]) -> Option<(&'a str, String)> {
    let (names, path) = statement.trim_end_matches('"').split_once(" from \"")?;
    let file = resolve_path(module, path)?;
    files.iter().find(|(name, _)| *name == file).map(|(name, _)| (*name, names.to_owned()))
}

/// Returns the name of a file that a module imports under a relative path.
fn resolve_path(module: &str, path: &str) -> Option<String> {
    let folder = module.rsplit_once('/').map_or("", |(folder, _)| folder);
    match (path.strip_prefix("../"), path.strip_prefix("./")) {
        (Some(above), _) => Some(above.to_owned()),
        (None, Some(beside)) if folder.is_empty() => Some(beside.to_owned()),
        (None, beside) => Some(format!("{folder}/{}", beside?)),
    }
}

/// Returns the name that a line declares: `keptOf` for `function keptOf(entry) {`.
fn declared_name(line: &str) -> Option<&str> {
    let mut words = line.split([' ', '(', ';']);
    words.find(|word| !["async", "class", "const", "function"].contains(word))
}

/// Returns `true` for a line that waits outside of functions.
fn is_waiting(line: &str) -> bool {
    line.contains(" await ") && !line.contains("async ") && !line.starts_with([' ', '/'])
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &[(&str, &str)] = &[
        ("languages/de.js", "export const t = { hi: \"Hallo\" };\n"),
        (
            "lib/a.js",
            "import { h } from \"../vendor/preact.mjs\";\nexport { h };\nexport class A {}\nexport async function go() {\n  return await h();\n}\n",
        ),
        ("lib/b.js", "import { A as One,\n  go } from \"./a.js\";\nexport const b = new One();\n"),
        (
            "main.js",
            "import { go } from \"./lib/a.js\";\nconst t = await import(\"./languages/de.js\").then((module) => module.t);\nconst now = () => import(\"./screens/today.js\");\nconst other = () => import(\"./screens/people.js\");\n",
        ),
        ("screens/people.js", "import { b } from \"../lib/b.js\";\nexport default function People() {}\n"),
        ("screens/today.js", "import { go } from \"../lib/a.js\";\nexport default function Today() {}\n"),
        ("vendor/preact.mjs", "export const h = 1;\n"),
    ];

    #[test]
    fn module_becomes_a_function_behind_its_imports() {
        let bundles =
            join_modules(FILES, |text| text.lines().flat_map(|line| [line.trim_start(), "\n"]).collect());
        let main = "import { h } from \"./vendor/preact.mjs\";\n\
            const $lib_a = (() => {\nclass A {}\nasync function go() {\nreturn await h();\n}\nreturn { h, A, go };\n})();\n\
            const $screens_today = (() => {\nconst { go } = $lib_a;\nfunction Today() {}\nreturn { default: Today };\n})();\n\
            const $main = await (async () => {\nconst { go } = $lib_a;\n\
            const t = await import(\"./languages/de.js\").then((bundle) => bundle.$languages_de).then((module) => module.t);\n\
            const now = () => Promise.resolve($screens_today);\n\
            const other = () => import(\"./screens.js\").then((bundle) => bundle.$screens_people);\nreturn {  };\n})();\n\
            export { $lib_a, $screens_today, $main };\n";
        let screens = "import { $lib_a } from \"./main.js\";\n\
            const $lib_b = (() => {\nconst { A: One,\ngo } = $lib_a;\nconst b = new One();\nreturn { b };\n})();\n\
            const $screens_people = (() => {\nconst { b } = $lib_b;\nfunction People() {}\nreturn { default: People };\n})();\n\
            export { $lib_b, $screens_people };\n";
        let german = "const $languages_de = (() => {\nconst t = { hi: \"Hallo\" };\nreturn { t };\n})();\nexport { $languages_de };\n";
        let expected_bundles = [("languages/de.js", german), ("main.js", main), ("screens.js", screens)];
        assert_eq!(bundles, expected_bundles.map(|(name, text)| (name, text.to_owned())).into());
    }
}

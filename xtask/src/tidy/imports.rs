//! The imports between the files of one crate, as a reader of the sources sees them.

use super::SourceFile;
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, ItemFn, ItemImpl, ItemMod, ItemUse, Path, UseTree, Visibility};

/// Path of a module from the root of its crate, one name for each level.
pub(super) type ModulePath = Vec<String>;

/// The modules of a crate that have a file, without test modules.
pub(super) struct Modules<'a> {
    modules: BTreeMap<ModulePath, Module<'a>>,
}

struct Module<'a> {
    file: &'a SourceFile,
    imports: Vec<Import>,
}

/// A path that a module names, relative to the root of the crate.
struct Import {
    path: ModulePath,
    /// Name under which a re-export offers the path to other modules; `None` if the module only uses the path.
    offered: Option<String>,
}

impl<'a> Modules<'a> {
    /// Reads the files below `folder`, such as `crates/domain/src/`.
    pub(super) fn read(folder: &str, files: impl Iterator<Item = &'a SourceFile>) -> Self {
        let sources = files.filter(|file| !file.path.contains("/generated/"));
        let named_modules = sources.filter_map(|file| Some((module_path(file.path.strip_prefix(folder)?)?, file)));
        let by_path: BTreeMap<ModulePath, &SourceFile> =
            named_modules.filter(|(path, _)| !is_for_tests(path)).collect();
        let known_modules: BTreeSet<&ModulePath> = by_path.keys().collect();
        let read = |(path, file): (&ModulePath, &&'a SourceFile)| {
            let imports = syn::parse_file(&file.text)
                .map_or_else(|_| vec![], |parsed| imports(path, &parsed, &known_modules));
            (path.clone(), Module { file, imports })
        };
        let modules = by_path.iter().map(read).collect();
        Self { modules }
    }

    /// Returns the file of a module. `None` if the crate lacks the module.
    pub(super) fn file(&self, path: &ModulePath) -> Option<&'a SourceFile> {
        self.modules.get(path).map(|module| module.file)
    }

    /// Returns each import as a pair of modules: importer, imported. Skips the root, which only joins the modules.
    pub(super) fn arrows(&self) -> impl Iterator<Item = (&ModulePath, &ModulePath)> {
        self.modules.iter().filter(|(path, _)| !path.is_empty()).flat_map(move |(path, module)| {
            let own =
                module.imports.iter().filter(|import| import.offered.is_none() || !import.path.starts_with(path));
            let targets = own.filter_map(|import| self.target(&import.path, 0));
            targets.filter(move |target| *target != path).map(move |target| (path, target))
        })
    }

    /// Returns the module that declares the last name of a path. Follows at most four re-exports. `None` if the
    /// crate has no module along the path.
    fn target(&self, path: &[String], followed: usize) -> Option<&ModulePath> {
        const LONGEST_CHAIN: usize = 4;
        let depth = (0..=path.len()).rev().find(|depth| self.modules.contains_key(&path[..*depth]))?;
        let (found, module) = self.modules.get_key_value(&path[..depth])?;
        let rest = &path[depth..];
        let offers = |import: &&Import| import.offered.is_some() && import.offered.as_ref() == rest.first();
        match module.imports.iter().find(offers).filter(|_| followed < LONGEST_CHAIN) {
            Some(import) => self.target(&import.path, followed + 1),
            None => Some(found),
        }
    }
}

fn module_path(file: &str) -> Option<ModulePath> {
    let mut names: ModulePath = file.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if names.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        names.pop();
    }
    Some(names)
}

fn is_for_tests(path: &[String]) -> bool {
    path.iter().any(|name| name == "tests")
}

fn imports(module: &ModulePath, file: &syn::File, known: &BTreeSet<&ModulePath>) -> Vec<Import> {
    let mut paths = Paths::default();
    paths.visit_file(file);
    let absolute = |(names, offered)| Some(Import { path: from_the_root(module, names, known)?, offered });
    paths.found.into_iter().filter_map(absolute).collect()
}

/// Returns a path from the root of the crate, or `None` if it names another crate.
fn from_the_root(module: &ModulePath, names: Vec<String>, known: &BTreeSet<&ModulePath>) -> Option<ModulePath> {
    let first = names.first()?;
    let supers = names.iter().take_while(|name| *name == "super").count();
    if supers > 0 {
        let parent = module.get(..module.len().checked_sub(supers)?)?;
        return Some([parent, &names[supers..]].concat());
    }
    match first.as_str() {
        "crate" => Some(names[1..].to_vec()),
        "self" => Some([&module[..], &names[1..]].concat()),
        child => {
            let path = [&module[..], &[child.to_owned()]].concat();
            known.contains(&path).then(|| [&module[..], &names].concat())
        }
    }
}

/// The paths of a file: imports, re-exports with the name that they offer, and paths in code.
#[derive(Default)]
struct Paths {
    found: Vec<(Vec<String>, Option<String>)>,
}

impl<'ast> Visit<'ast> for Paths {
    /// Skips modules inside a file, because they contain tests.
    fn visit_item_mod(&mut self, _: &'ast ItemMod) {}

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_for_tests_only(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if !is_for_tests_only(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if is_for_tests_only(&item.attrs) {
            return;
        }
        let is_offered = !matches!(item.vis, Visibility::Inherited);
        let mut leaves = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut leaves);
        let public_name = |name: String| is_offered.then_some(name);
        self.found.extend(leaves.into_iter().map(|(path, name)| (path, public_name(name))));
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 && ["crate", "super"].contains(&names[0].as_str()) {
            self.found.push((names, None));
        }
        visit::visit_path(self, path);
    }
}

fn is_for_tests_only(attributes: &[Attribute]) -> bool {
    let is_test = |attribute: &Attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<Path>().is_ok_and(|path| path.is_ident("test"))
    };
    attributes.iter().any(is_test)
}

/// Lists the paths of a `use` tree, each with the name under which it is used.
fn flatten(tree: &UseTree, above: &mut Vec<String>, leaves: &mut Vec<(Vec<String>, String)>) {
    match tree {
        UseTree::Path(path) => {
            above.push(path.ident.to_string());
            flatten(&path.tree, above, leaves);
            above.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            leaves.push((above.clone(), above.last().cloned().unwrap_or_default()));
        }
        UseTree::Name(name) => leaves.push((path_to(above, &name.ident), name.ident.to_string())),
        UseTree::Rename(name) => leaves.push((path_to(above, &name.ident), name.rename.to_string())),
        UseTree::Glob(_) => leaves.push((above.clone(), "*".to_owned())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, above, leaves)),
    }
}

fn path_to(above: &[String], name: &Ident) -> Vec<String> {
    above.iter().cloned().chain([name.to_string()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    fn arrows(sources: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<SourceFile> =
            sources.iter().map(|(path, text)| file(&format!("crates/x/src/{path}"), text)).collect();
        let modules = Modules::read("crates/x/src/", files.iter());
        modules.arrows().map(|(from, to)| format!("{} {}", from.join("::"), to.join("::"))).collect()
    }

    #[test]
    fn import_points_to_the_module_that_declares_the_name() {
        let sources = [
            ("lib.rs", "mod a; mod b; use a::One;"),
            ("a.rs", "use crate::b::{One, c::{self, Two as Three}}; use std::fmt;"),
            ("b/mod.rs", "mod c; pub(crate) use c::One;"),
            ("b/c.rs", "fn two() { crate::a::two() }"),
        ];
        assert_eq!(arrows(&sources), ["a b::c", "a b::c", "a b::c", "b::c a"]);
    }

    #[test]
    fn relative_import_counts_and_import_of_a_test_does_not() {
        let sources = [
            ("b/mod.rs", "mod c; use c::One; #[cfg(test)] use crate::a; #[cfg(test)] mod tests { use crate::a; }"),
            ("b/c.rs", "use super::d::Two; use super::super::a;"),
            ("b/d.rs", "use self::inner; use super::*;"),
            ("b/tests.rs", "use crate::a;"),
            ("a.rs", ""),
        ];
        assert_eq!(arrows(&sources), ["b b::c", "b::c b::d", "b::c a", "b::d b"]);
    }
}

//! `cargo xtask public-api`: keeps `crates/domain/public-api.txt` equal to the public API of the domain, so that a
//! review shows every change of it.
//!
//! The listing has every public item without its body, and the first line of every implementation of a trait. It
//! is generated from the sources and needs no other toolchain.

#![expect(clippy::wildcard_enum_match_arm, reason = "the enums of syn are not exhaustive")]

mod content;

use crate::process::{Outcome, root};
use crate::text::write_or_check;
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Attribute, Fields, File, ImplItem, Item, TraitItem, Visibility, parse_quote};

const SOURCES: &str = "crates/domain/src";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let hint = "the public API of the domain has changed; if that is intended, run `cargo xtask public-api`";
    write_or_check(arguments, "crates/domain/public-api.txt", listing, hint)
}

fn listing() -> Outcome<String> {
    let mut out = String::new();
    module("candor_domain", &root().join(SOURCES).join("lib.rs"), &mut out)?;
    Ok(out)
}

/// Appends a module, then the modules inside it.
fn module(name: &str, path: &Path, out: &mut String) -> Outcome {
    let file =
        syn::parse_file(&fs::read_to_string(path)?).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut inside = Vec::new();
    for item in &file.items {
        if let Item::Mod(module) = item
            && module.content.is_none()
            && !is_for_tests(&module.attrs)
        {
            inside.push(module.ident.to_string());
        }
    }
    inside.sort();
    let items = file.items.into_iter().map(content::expanded).collect::<syn::Result<Vec<_>>>()?;
    let items: Vec<Item> = items.into_iter().flatten().filter_map(public_part).collect();
    if !items.is_empty() {
        let text = prettyplease::unparse(&File { shebang: None, frontmatter: None, attrs: vec![], items });
        out.push_str(&format!("// {name}\n{}\n", text.replace(" {}\n", ";\n")));
    }
    for child in inside {
        module(&format!("{name}::{child}"), &file_of(path, &child), out)?;
    }
    Ok(())
}

/// Returns the file of the module `name` inside the module at `path`.
fn file_of(path: &Path, name: &str) -> PathBuf {
    let folder = match path.file_stem().and_then(|stem| stem.to_str()) {
        Some("lib" | "mod") | None => path.with_file_name(""),
        Some(_) => path.with_extension(""),
    };
    let beside = folder.join(format!("{name}.rs"));
    if beside.exists() { beside } else { folder.join(name).join("mod.rs") }
}

/// Returns the part of an item that other crates can use: no body, and no attribute except `derive`.
fn public_part(mut item: Item) -> Option<Item> {
    match &mut item {
        Item::Const(constant) => constant.expr = parse_quote!(_),
        Item::Enum(declaration) => {
            for variant in &mut declaration.variants {
                variant.attrs.clear();
                strip(&mut variant.fields, |_| true);
            }
        }
        Item::Fn(function) => function.block = parse_quote!({}),
        Item::Impl(block) if is_for_tests(&block.attrs) => return None,
        Item::Impl(block) if block.trait_.is_some() => block.items.clear(),
        Item::Impl(block) => {
            block.items.retain_mut(strip_method);
            if block.items.is_empty() {
                return None;
            }
        }
        Item::Mod(module) => {
            module.content = None;
            module.semi = Some(syn::token::Semi::default());
        }
        Item::Struct(declaration) => strip(&mut declaration.fields, is_public),
        Item::Trait(declaration) => declaration.items.iter_mut().for_each(strip_trait_item),
        // The public API of the domain has neither macros nor statics.
        _ => {}
    }
    let (attributes, visibility) = parts(&mut item)?;
    let is_visible = visibility.is_none_or(is_public);
    attributes.retain(|attribute| attribute.path().is_ident("derive"));
    is_visible.then_some(item)
}

/// Returns the attributes of an item, and its visibility unless it has none. Returns `None` for kinds that are not
/// listed.
fn parts(item: &mut Item) -> Option<(&mut Vec<Attribute>, Option<&Visibility>)> {
    match item {
        Item::Const(item) => Some((&mut item.attrs, Some(&item.vis))),
        Item::Enum(item) => Some((&mut item.attrs, Some(&item.vis))),
        Item::Fn(item) => Some((&mut item.attrs, Some(&item.vis))),
        Item::Impl(item) => Some((&mut item.attrs, None)),
        Item::Mod(item) => Some((&mut item.attrs, Some(&item.vis))),
        Item::Struct(item) => Some((&mut item.attrs, Some(&item.vis))),
        Item::Trait(item) => Some((&mut item.attrs, Some(&item.vis))),
        Item::Type(item) => Some((&mut item.attrs, Some(&item.vis))),
        Item::Use(item) => Some((&mut item.attrs, Some(&item.vis))),
        _ => None,
    }
}

const fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Strips an item of an implementation. Returns `false` if it is not public.
fn strip_method(item: &mut ImplItem) -> bool {
    match item {
        ImplItem::Const(constant) => {
            constant.attrs.clear();
            constant.expr = parse_quote!(_);
            is_public(&constant.vis)
        }
        ImplItem::Fn(function) => {
            function.attrs.clear();
            function.block = parse_quote!({});
            is_public(&function.vis)
        }
        _ => false,
    }
}

fn strip_trait_item(item: &mut TraitItem) {
    match item {
        TraitItem::Const(constant) => constant.attrs.clear(),
        TraitItem::Fn(function) => {
            function.attrs.clear();
            function.default = function.default.take().map(|_| parse_quote!({}));
        }
        TraitItem::Type(declaration) => declaration.attrs.clear(),
        _ => {}
    }
}

/// Removes the attributes of fields, and the fields that are not visible.
fn strip(fields: &mut Fields, is_visible: impl Fn(&Visibility) -> bool) {
    fields.iter_mut().for_each(|field| field.attrs.clear());
    match fields {
        Fields::Named(all) => {
            all.named = all.named.iter().filter(|field| is_visible(&field.vis)).cloned().collect();
        }
        Fields::Unnamed(all) => {
            all.unnamed = all.unnamed.iter().filter(|field| is_visible(&field.vis)).cloned().collect();
        }
        Fields::Unit => {}
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg"))
}

#[cfg(test)]
mod tests {
    use super::public_part;
    use syn::{File, parse_str};

    fn listed(text: &str) -> String {
        let items = parse_str::<File>(text).unwrap().items.into_iter().filter_map(public_part).collect();
        prettyplease::unparse(&File { shebang: None, frontmatter: None, attrs: vec![], items })
    }

    #[test]
    fn public_items_are_listed_without_bodies() {
        let text = "/// Doc.\n#[derive(Debug)]\npub struct A { /// One.\npub one: u8, two: u8 }\nstruct B;\n\
                    impl A { pub fn get(&self) -> u8 { self.two } fn set(&mut self) {} }\n\
                    impl Clone for A { fn clone(&self) -> Self { panic!() } }\n\
                    pub const C: u8 = 3;\nconst D: u8 = 4;\n";
        let expected = "#[derive(Debug)]\npub struct A {\n    pub one: u8,\n}\nimpl A {\n    pub fn get(&self) -> u8 {}\n}\n\
                      impl Clone for A {}\npub const C: u8 = _;\n";
        assert_eq!(listed(text), expected);
    }

    #[test]
    fn only_a_changed_signature_changes_the_listing() {
        assert_eq!(listed("pub fn a() -> u8 { 1 }"), listed("pub fn a() -> u8 { 2 }"));
        assert_ne!(listed("pub fn a() -> u8 { 1 }"), listed("pub fn a() -> u16 { 1 }"));
        assert_ne!(listed("pub enum A { B }"), listed("pub enum A { B, C }"));
    }
}

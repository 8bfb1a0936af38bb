//! `cargo xtask public-api`: keeps `crates/domain/public-api.txt` equal to what the domain offers to whoever embeds it,
//! so that a change of it is seen in review and never slips in.
//!
//! It is read from the sources and needs no other toolchain: every public item without its body, and every
//! implementation of a trait by its first line.

use crate::process::{Outcome, root};
use crate::text::first_difference;
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Attribute, Fields, File, ImplItem, Item, TraitItem, Visibility, parse_quote};

const FILE: &str = "crates/domain/public-api.txt";
const SOURCES: &str = "crates/domain/src";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [] => {
            fs::write(root().join(FILE), listing()?)?;
            println!("{FILE} written");
            Ok(())
        }
        [only] if only == "--check" => check(),
        _ => Err("the only argument is --check".into()),
    }
}

pub(crate) fn check() -> Outcome {
    let committed = fs::read_to_string(root().join(FILE)).unwrap_or_default();
    match first_difference(&committed, &listing()?) {
        None => Ok(()),
        Some(line) => Err(format!(
            "{FILE}:{line}: the public API of the domain is another one; if that is meant, run `cargo xtask public-api`"
        )
        .into()),
    }
}

fn listing() -> Outcome<String> {
    let mut out = String::new();
    module("candor_domain", &root().join(SOURCES).join("lib.rs"), &mut out)?;
    Ok(out)
}

/// Adds a module and, behind it, the modules inside.
fn module(name: &str, path: &Path, out: &mut String) -> Outcome {
    let file = syn::parse_file(&fs::read_to_string(path)?).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut inside = Vec::new();
    for item in &file.items {
        if let Item::Mod(it) = item
            && it.content.is_none()
            && !is_for_tests(&it.attrs)
        {
            inside.push(it.ident.to_string());
        }
    }
    inside.sort();
    let items: Vec<Item> = file.items.into_iter().filter_map(offered).collect();
    if !items.is_empty() {
        let text = prettyplease::unparse(&File { shebang: None, frontmatter: None, attrs: vec![], items });
        out.push_str(&format!("// {name}\n{}\n", text.replace(" {}\n", ";\n")));
    }
    for it in inside {
        module(&format!("{name}::{it}"), &file_of(path, &it), out)?;
    }
    Ok(())
}

/// Where the module `name` of the module at `path` stands.
fn file_of(path: &Path, name: &str) -> PathBuf {
    let folder = match path.file_stem().and_then(|it| it.to_str()) {
        Some("lib" | "mod") | None => path.with_file_name(""),
        Some(_) => path.with_extension(""),
    };
    let beside = folder.join(format!("{name}.rs"));
    if beside.exists() { beside } else { folder.join(name).join("mod.rs") }
}

/// The item as others see it: no body, no attribute but what is derived; `None` if they do not see it.
fn offered(item: Item) -> Option<Item> {
    let is_public = |it: &Visibility| matches!(it, Visibility::Public(_));
    match item {
        Item::Const(mut it) if is_public(&it.vis) => {
            it.attrs.clear();
            it.expr = parse_quote!(_);
            Some(Item::Const(it))
        }
        Item::Enum(it) if is_public(&it.vis) => Some(Item::Enum(bare_enum(it))),
        Item::Fn(mut it) if is_public(&it.vis) => {
            it.attrs.clear();
            it.block = parse_quote!({});
            Some(Item::Fn(it))
        }
        Item::Impl(it) if !is_for_tests(&it.attrs) => implementation(it),
        Item::Mod(mut it) if is_public(&it.vis) => {
            it.attrs.clear();
            it.content = None;
            it.semi = Some(syn::token::Semi::default());
            Some(Item::Mod(it))
        }
        Item::Struct(mut it) if is_public(&it.vis) => {
            it.attrs.retain(is_derive);
            bare(&mut it.fields, is_public);
            Some(Item::Struct(it))
        }
        Item::Trait(it) if is_public(&it.vis) => Some(Item::Trait(bare_trait(it))),
        Item::Type(mut it) if is_public(&it.vis) => {
            it.attrs.clear();
            Some(Item::Type(it))
        }
        Item::Use(mut it) if is_public(&it.vis) => {
            it.attrs.clear();
            Some(Item::Use(it))
        }
        // Private items, imports, and kinds that a crate without macros and statics does not have.
        Item::Const(_)
        | Item::Enum(_)
        | Item::ExternCrate(_)
        | Item::Fn(_)
        | Item::ForeignMod(_)
        | Item::Impl(_)
        | Item::Macro(_)
        | Item::Mod(_)
        | Item::Static(_)
        | Item::Struct(_)
        | Item::Trait(_)
        | Item::TraitAlias(_)
        | Item::Type(_)
        | Item::Union(_)
        | Item::Use(_)
        | Item::Verbatim(_)
        | _ => None,
    }
}

fn bare_enum(mut it: syn::ItemEnum) -> syn::ItemEnum {
    it.attrs.retain(is_derive);
    for variant in &mut it.variants {
        variant.attrs.clear();
        bare(&mut variant.fields, |_| true);
    }
    it
}

fn bare_trait(mut it: syn::ItemTrait) -> syn::ItemTrait {
    it.attrs.clear();
    it.items.iter_mut().for_each(bare_trait_item);
    it
}

fn implementation(mut it: syn::ItemImpl) -> Option<Item> {
    it.attrs.clear();
    if it.trait_.is_some() {
        it.items.clear();
        return Some(Item::Impl(it));
    }
    it.items.retain_mut(|item| match item {
        ImplItem::Const(it) => {
            it.attrs.clear();
            it.expr = parse_quote!(_);
            matches!(it.vis, Visibility::Public(_))
        }
        ImplItem::Fn(it) => {
            it.attrs.clear();
            it.block = parse_quote!({});
            matches!(it.vis, Visibility::Public(_))
        }
        ImplItem::Type(_) | ImplItem::Macro(_) | ImplItem::Verbatim(_) | _ => false,
    });
    (!it.items.is_empty()).then_some(Item::Impl(it))
}

fn bare_trait_item(item: &mut TraitItem) {
    match item {
        TraitItem::Const(it) => it.attrs.clear(),
        TraitItem::Fn(it) => {
            it.attrs.clear();
            if it.default.is_some() {
                it.default = Some(parse_quote!({}));
            }
        }
        TraitItem::Type(it) => it.attrs.clear(),
        TraitItem::Macro(_) | TraitItem::Verbatim(_) | _ => {}
    }
}

/// Fields without attributes, and only those that are seen.
fn bare(fields: &mut Fields, is_seen: impl Fn(&Visibility) -> bool) {
    let clean = |mut it: syn::Field| {
        it.attrs.clear();
        it
    };
    match fields {
        Fields::Named(all) => {
            all.named = std::mem::take(&mut all.named).into_iter().filter(|it| is_seen(&it.vis)).map(clean).collect();
        }
        Fields::Unnamed(all) => {
            all.unnamed =
                std::mem::take(&mut all.unnamed).into_iter().filter(|it| is_seen(&it.vis)).map(clean).collect();
        }
        Fields::Unit => {}
    }
}

fn is_derive(it: &Attribute) -> bool {
    it.path().is_ident("derive")
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| it.path().is_ident("cfg"))
}

#[cfg(test)]
mod tests {
    use super::offered;
    use syn::{File, parse_str};

    fn shown(text: &str) -> String {
        let items = parse_str::<File>(text).unwrap().items.into_iter().filter_map(offered).collect();
        prettyplease::unparse(&File { shebang: None, frontmatter: None, attrs: vec![], items })
    }

    #[test]
    fn what_others_see_is_shown_without_bodies() {
        let text = "/// Doc.\n#[derive(Debug)]\npub struct A { /// One.\npub one: u8, two: u8 }\nstruct B;\n\
                    impl A { pub fn get(&self) -> u8 { self.two } fn set(&mut self) {} }\n\
                    impl Clone for A { fn clone(&self) -> Self { panic!() } }\n\
                    pub const C: u8 = 3;\nconst D: u8 = 4;\n";
        let wanted = "#[derive(Debug)]\npub struct A {\n    pub one: u8,\n}\nimpl A {\n    pub fn get(&self) -> u8 {}\n}\n\
                      impl Clone for A {}\npub const C: u8 = _;\n";
        assert_eq!(shown(text), wanted);
    }

    #[test]
    fn a_changed_signature_is_another_text_and_a_changed_body_is_not() {
        assert_eq!(shown("pub fn a() -> u8 { 1 }"), shown("pub fn a() -> u8 { 2 }"));
        assert_ne!(shown("pub fn a() -> u8 { 1 }"), shown("pub fn a() -> u16 { 1 }"));
        assert_ne!(shown("pub enum A { B }"), shown("pub enum A { B, C }"));
    }
}

//! Expansion of the macro `content!` of the domain, whose structs and functions belong to the public API.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Field, Ident, Item, ItemStruct, Token, Type, Visibility, braced, parse_quote};

/// Returns the items that a macro declares, if it is `content!`; otherwise the item itself.
pub(super) fn expanded(item: Item) -> syn::Result<Vec<Item>> {
    match item {
        Item::Macro(invocation) if invocation.mac.path.is_ident("content") => {
            Ok(invocation.mac.parse_body::<Declaration>()?.items())
        }
        other => Ok(vec![other]),
    }
}

/// The input of `content!`.
struct Declaration {
    content: ItemStruct,
    patch: Option<ItemStruct>,
    resource: ItemStruct,
    members: Vec<Member>,
}

/// A member of the resource.
struct Member {
    field: Field,
    is_content: bool,
    is_changeable: bool,
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let content = input.parse()?;
        let is_patch = input.fork().parse::<ItemStruct>().is_ok_and(|next| next.semi_token.is_some());
        let patch = if is_patch { Some(input.parse()?) } else { None };
        let attributes = input.call(Attribute::parse_outer)?;
        let (visibility, _, name): (Visibility, Token![struct], Ident) =
            (input.parse()?, input.parse()?, input.parse()?);
        let body;
        braced!(body in input);
        let members = Punctuated::<Member, Token![,]>::parse_terminated(&body)?;
        let resource = parse_quote!(#(#attributes)* #visibility struct #name {});
        Ok(Self { content, patch, resource, members: members.into_iter().collect() })
    }
}

impl Parse for Member {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let (visibility, name, _, kind): (Visibility, Ident, Token![:], Type) =
            (input.parse()?, input.parse()?, input.parse()?, input.parse()?);
        let field = parse_quote!(#(#attributes)* #visibility #name: #kind);
        let is_content = input.parse::<Option<Token![=>]>>()?.is_some();
        let mut words = Vec::new();
        if is_content {
            while words.last().is_none_or(|word| word != "by") {
                words.push(input.parse::<Ident>()?);
            }
            input.parse::<Expr>()?;
        }
        let is_changeable = is_content && words.iter().all(|word| word != "once");
        Ok(Self { field, is_content, is_changeable })
    }
}

impl Declaration {
    fn items(self) -> Vec<Item> {
        let fields = |is_chosen: fn(&Member) -> bool| self.members.iter().filter(move |one| is_chosen(one));
        let all = fields(|_| true).map(|member| member.field.clone());
        let new = fields(|member| member.is_content).map(|member| member.field.clone());
        let changed = fields(|member| member.is_changeable).map(|member| {
            let mut field = member.field.clone();
            let kind = field.ty;
            field.ty = parse_quote!(Option<#kind>);
            field
        });
        let (content, resource) = (&self.content.ident, &self.resource.ident);
        let mut items = vec![
            with_fields(&self.resource, all.collect()),
            with_fields(&self.content, new.collect()),
            Item::Impl(parse_quote! {
                impl #content { pub fn read(fields: &mut Fields) -> Option<Self> {} }
            }),
        ];
        if let Some(declaration) = &self.patch {
            let patch = &declaration.ident;
            items.push(with_fields(declaration, changed.collect()));
            items.push(Item::Impl(parse_quote! {
                impl #patch {
                    pub fn read(fields: &mut Fields) -> Self {}
                    pub fn apply_to(self, state: &mut #resource) {}
                }
            }));
        }
        items
    }
}

fn with_fields(declaration: &ItemStruct, fields: Vec<Field>) -> Item {
    let (attributes, visibility, name) = (&declaration.attrs, &declaration.vis, &declaration.ident);
    Item::Struct(parse_quote!(#(#attributes)* #visibility struct #name { #(#fields,)* }))
}

#[cfg(test)]
mod tests {
    use super::expanded;
    use syn::parse_quote;

    #[test]
    fn content_is_listed_as_its_declared_items() {
        let declared = expanded(parse_quote! {
            content! {
                #[derive(Debug)]
                pub struct Draft;
                pub struct Patch;

                pub struct Note {
                    pub id: u8,
                    pub kind: Kind => set once by required(rule::word()).named("type"),
                    pub text: Option<String> => set by optional(rule::text(0..=5)),
                }
            }
        });
        let wanted: Vec<syn::Item> = vec![
            parse_quote!(
                pub struct Note {
                    pub id: u8,
                    pub kind: Kind,
                    pub text: Option<String>,
                }
            ),
            parse_quote!(
                #[derive(Debug)]
                pub struct Draft {
                    pub kind: Kind,
                    pub text: Option<String>,
                }
            ),
            parse_quote!(impl Draft { pub fn read(fields: &mut Fields) -> Option<Self> {} }),
            parse_quote!(
                pub struct Patch {
                    pub text: Option<Option<String>>,
                }
            ),
            parse_quote! {
                impl Patch {
                    pub fn read(fields: &mut Fields) -> Self {}
                    pub fn apply_to(self, state: &mut Note) {}
                }
            },
        ];
        let shown =
            |items| prettyplease::unparse(&syn::File { shebang: None, frontmatter: None, attrs: vec![], items });
        assert_eq!(shown(declared.unwrap()), shown(wanted));
    }
}

//! Content of a resource: the members that a request sets to the value in its body, each declared once with its rule.

use crate::fields::Fields;
use crate::rule::{DefaultValue, Field, Rule};

/// Declares a resource and, from the same list of members, the parts of request bodies that set these members.
///
/// A member with a suffix belongs to the content. The suffix is a [`Source`]: the rule of the value, and the
/// meaning of null and of absence.
///
/// - `pub impact: Option<String> => set by optional(rule::text(0..=NOTE_CHARS)),` is set by creations and updates.
/// - `pub kind: Type => set once by required(rule::word()).with_name("type"),` is set by creations only.
/// - A member without a suffix is not content. The service sets it, or code beside the declaration reads it, such
///   as a reference, which must be resolved first.
///
/// This declaration, shortened by its attributes,
///
/// ```text
/// content! {
///     pub struct Content;
///     pub struct ContentPatch;
///
///     pub struct Observation {
///         pub id: ObservationId,
///         pub kind: Type => set once by required(rule::word()).with_name("type"),
///         pub impact: Option<String> => set by optional(rule::text(0..=NOTE_CHARS)),
///     }
/// }
/// ```
///
/// expands to the three structs and three functions:
///
/// ```text
/// pub struct Observation { pub id: ObservationId, pub kind: Type, pub impact: Option<String> }
/// pub struct Content { pub kind: Type, pub impact: Option<String> }
/// pub struct ContentPatch { pub impact: Option<Option<String>> }
///
/// impl Content {
///     pub fn read(fields: &mut Fields) -> Option<Self> {
///         let kind = required(rule::word()).with_name("type").read_new("kind", fields);
///         let impact = optional(rule::text(0..=NOTE_CHARS)).read_new("impact", fields);
///         Some(Self { kind: kind?, impact: impact? })
///     }
/// }
///
/// impl ContentPatch {
///     pub fn read(fields: &mut Fields) -> Self {
///         Self { impact: optional(rule::text(0..=NOTE_CHARS)).read_change("impact", fields) }
///     }
///
///     pub fn apply_to(self, state: &mut Observation) {
///         if let Some(value) = self.impact { state.impact = value; }
///     }
/// }
/// ```
///
/// A resource without updates has no `ContentPatch`, and all of its content is `set once`. Attributes and docs of
/// members stay on the resource, whose docs describe the member for all schemas.
#[doc(hidden)]
#[macro_export]
macro_rules! __content {
    (
        pub struct $content:ident;
        pub struct $patch:ident;
        $(#[$meta:meta])* pub struct $resource:ident { $($members:tt)* }
    ) => {
        $crate::content::content! {
            @members [$($members)*] [] [] []
            [$content] [$patch] [$(#[$meta])* $resource]
        }
    };
    (
        pub struct $content:ident;
        $(#[$meta:meta])* pub struct $resource:ident { $($members:tt)* }
    ) => {
        $crate::content::content! {
            @members [$($members)*] [] [] [] [$content] [] [$(#[$meta])* $resource]
        }
    };

    // Takes one member at a time: [remaining] [all] [set by creations] [set by updates] and all other input.
    (@members [$(#[$meta:meta])* pub $name:ident: $type:ty => set by $source:expr, $($rest:tt)*]
        [$($all:tt)*] [$($new:tt)*] [$($changed:tt)*] $($other:tt)*
    ) => {
        $crate::content::content! {
            @members [$($rest)*] [$($all)* ($(#[$meta])* $name: $type)]
            [$($new)* ($name: $type = $source)] [$($changed)* ($name: $type = $source)] $($other)*
        }
    };
    (@members [$(#[$meta:meta])* pub $name:ident: $type:ty => set once by $source:expr, $($rest:tt)*]
        [$($all:tt)*] [$($new:tt)*] $($other:tt)*
    ) => {
        $crate::content::content! {
            @members [$($rest)*] [$($all)* ($(#[$meta])* $name: $type)]
            [$($new)* ($name: $type = $source)] $($other)*
        }
    };
    (@members [$(#[$meta:meta])* pub $name:ident: $type:ty, $($rest:tt)*] [$($all:tt)*] $($other:tt)*) => {
        $crate::content::content! {
            @members [$($rest)*] [$($all)* ($(#[$meta])* $name: $type)] $($other)*
        }
    };

    (@members []
        [$(($(#[$member_meta:meta])* $member:ident: $member_type:ty))*]
        [$(($new:ident: $new_type:ty = $new_source:expr))*]
        $changed:tt [$content:ident] $patch:tt [$(#[$meta:meta])* $resource:ident]
    ) => {
        $(#[$meta])*
        pub struct $resource {
            $($(#[$member_meta])* pub $member: $member_type,)*
        }

        /// The members that a creation sets, validated by themselves.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $content {
            $(
                #[doc = concat!("See [`", stringify!($resource), "::", stringify!($new), "`].")]
                pub $new: $new_type,
            )*
        }

        impl $content {
            /// Reads these members of a creation. Returns `None` if a member is missing or wrong.
            pub fn read(fields: &mut $crate::fields::Fields) -> Option<Self> {
                $(
                    let $new = $crate::content::of_type::<$new_type, _, _>($new_source);
                    let $new = $new.read_new(stringify!($new), fields);
                )*
                Some(Self { $($new: $new?,)* })
            }
        }

        $crate::content::content! { @patch $resource $patch $changed }
    };

    (@patch $resource:ident [] []) => {};
    (@patch $resource:ident [$patch:ident]
        [$(($changed:ident: $changed_type:ty = $changed_source:expr))*]
    ) => {
        /// The members that an update sets, validated by themselves. `None` leaves a member unchanged.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct $patch {
            $(
                #[doc = concat!("See [`", stringify!($resource), "::", stringify!($changed), "`].")]
                pub $changed: Option<$changed_type>,
            )*
        }

        impl $patch {
            /// Reads these members of an update.
            pub fn read(fields: &mut $crate::fields::Fields) -> Self {
                Self { $($changed: $changed_source.read_change(stringify!($changed), fields),)* }
            }

            /// Sets the members that the update has.
            pub fn apply_to(self, state: &mut $resource) {
                $(if let Some(value) = self.$changed { state.$changed = value; })*
            }
        }
    };
}

pub use __content as content;

/// The source of a member in bodies: a field with its rule, and the meaning of null and of absence. Created by
/// [`required`], [`optional`], [`or_default`] and [`or`].
pub struct Source<R, P> {
    /// Name in bodies, if it differs from the name of the member.
    name: Option<&'static str>,
    rule: R,
    about: &'static str,
    presence: P,
}

impl<R: Rule, P: Presence<R>> Source<R, P> {
    const fn new(rule: R, presence: P) -> Self {
        Self { name: None, rule, about: "", presence }
    }

    /// Sets the name that the member has in bodies, if it differs from the name in Rust.
    pub fn with_name(self, name: &'static str) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Adds remarks for the OpenAPI document, see [`Field::about`].
    pub fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// Reads the value of a creation for the member of this name.
    pub fn read_new(self, member: &'static str, fields: &mut Fields) -> Option<P::Value> {
        let field = Field { name: self.name.unwrap_or(member), rule: self.rule, about: self.about };
        self.presence.read_new(&field, fields)
    }

    /// Reads the value of an update for the member of this name.
    pub fn read_change(self, member: &'static str, fields: &mut Fields) -> Option<P::Value> {
        let field = Field { name: self.name.unwrap_or(member), rule: self.rule, about: self.about };
        P::read_change(&field, fields)
    }
}

/// The meaning of a null member and of an absent one in a body.
pub trait Presence<R: Rule> {
    /// Type of the member.
    type Value;

    /// Reads the value of a creation. `None` if it is missing or wrong, which `fields` records.
    fn read_new(self, field: &Field<R>, fields: &mut Fields) -> Option<Self::Value>;

    /// Reads the value of an update. `None` if it is absent or wrong.
    fn read_change(field: &Field<R>, fields: &mut Fields) -> Option<Self::Value>;
}

/// Presence of a member that is declared with [`required`]: each creation must have it.
pub struct Required;
/// Presence of a member that is declared with [`optional`]: it may be null.
pub struct Optional;
/// Presence of a member that is declared with [`or_default`]: it is empty if a creation omits it.
pub struct OrDefault;
/// Presence of a member that is declared with [`or`], with the value for creations that omit it.
pub struct Or<T>(T);

/// Returns the source of a member of type `T`. A source with another value is a compile error at its own line.
pub const fn of_type<T, R: Rule, P: Presence<R, Value = T>>(source: Source<R, P>) -> Source<R, P> {
    source
}

/// Creates the source of a member that each creation must have. Null is refused.
pub const fn required<R: Rule>(rule: R) -> Source<R, Required> {
    Source::new(rule, Required)
}

/// Creates the source of a nullable member. Null removes the value, and creations without the member have none.
pub const fn optional<R: Rule>(rule: R) -> Source<R, Optional> {
    Source::new(rule, Optional)
}

/// Creates the source of a member that is empty unless a creation has it. Null is refused.
pub const fn or_default<R: Rule<Value: Default>>(rule: R) -> Source<R, OrDefault> {
    Source::new(rule, OrDefault)
}

/// Creates the source of a member with a documented default. Null is refused.
pub const fn or<R: Rule<Value: DefaultValue>>(rule: R, default: R::Value) -> Source<R, Or<R::Value>> {
    Source::new(rule, Or(default))
}

impl<R: Rule> Presence<R> for Required {
    type Value = R::Value;

    fn read_new(self, field: &Field<R>, fields: &mut Fields) -> Option<R::Value> {
        fields.required(field)
    }

    fn read_change(field: &Field<R>, fields: &mut Fields) -> Option<R::Value> {
        fields.present(field)
    }
}

impl<R: Rule> Presence<R> for Optional {
    type Value = Option<R::Value>;

    fn read_new(self, field: &Field<R>, fields: &mut Fields) -> Option<Option<R::Value>> {
        Some(fields.optional(field))
    }

    fn read_change(field: &Field<R>, fields: &mut Fields) -> Option<Option<R::Value>> {
        fields.nullable(field)
    }
}

impl<R: Rule<Value: Default>> Presence<R> for OrDefault {
    type Value = R::Value;

    fn read_new(self, field: &Field<R>, fields: &mut Fields) -> Option<R::Value> {
        Some(fields.present(field).unwrap_or_default())
    }

    fn read_change(field: &Field<R>, fields: &mut Fields) -> Option<R::Value> {
        fields.present(field)
    }
}

impl<R: Rule<Value: DefaultValue>> Presence<R> for Or<R::Value> {
    type Value = R::Value;

    fn read_new(self, field: &Field<R>, fields: &mut Fields) -> Option<R::Value> {
        Some(fields.present_or(field, self.0))
    }

    fn read_change(field: &Field<R>, fields: &mut Fields) -> Option<R::Value> {
        fields.present(field)
    }
}

#[cfg(test)]
mod tests;

//! Declaration of a resource's table: each column once, with its name, codec and value.

/// Declares the table of a resource and implements [`crate::flat::Stored`].
///
/// Each line of `columns` is one column. Its declaration, writer and reader are generated from this line, so that
/// they agree. The id comes first. `row` names the value in the expressions.
///
/// - `name: Codec,` stores the field of that name; `name as field: Codec,` stores a field of another name.
/// - `name: Codec = value,` stores an expression. The reader binds the read value to `name`, for `let` and
///   `fields`.
///
/// The optional parts come in this order. `derived` columns are written and never read. `recorded` columns are
/// read and never written with the value; each binds its name. `related` binds related ids from another table.
/// `let` computes from the values read. `fields` sets the fields that are not columns. `finish` calls a method on
/// the value read. `also` adds further items to the implementation.
///
/// A codec is a type of [`crate::codec`] or of the caller, in `Option<…>` for a nullable column.
macro_rules! stored {
    (
        $resource:ident, id: $kind:ident, row: $row:ident;
        columns { $($columns:tt)* }
        $(derived { $($derived:ident: $derived_codec:ty = $derived_value:expr),* $(,)? })?
        $(recorded { $($recorded:ident: $recorded_codec:ty),* $(,)? })?
        $(related { $($related:ident = $relation:expr),* $(,)? })?
        $(let $computed:pat = $computation:expr;)*
        $(fields { $($field:ident $(: $value:expr)?),* $(,)? })?
        $(finish $method:ident($($argument:expr),*);)?
        table $table:expr;
        $(also { $($also:item)* })?
    ) => {
        $crate::stored::stored! {
            @column [$($columns)*] [] []
            [$resource $kind $row
                [$($($derived: $derived_codec = $derived_value,)*)?]
                [$($($recorded: $recorded_codec,)*)?]
                [$($($related = $relation,)*)?]
                [$(let $computed = $computation;)*]
                [$($($field $(: $value)?,)*)?]
                [$($method($($argument),*))?]
                [$table]
                [$($($also)*)?]]
        }
    };

    // Processes one column at a time: [remaining columns] [processed columns] [fields] [all other input].
    (@column [$name:ident: $codec:ty = $value:expr, $($rest:tt)*] [$($done:tt)*] $fields:tt $other:tt) => {
        $crate::stored::stored! { @column [$($rest)*] [$($done)* ($name, $name, $codec, $value)] $fields $other }
    };
    (@column [$name:ident: $codec:ty, $($rest:tt)*] $done:tt $fields:tt $other:tt) => {
        $crate::stored::stored! { @column [$name as $name: $codec, $($rest)*] $done $fields $other }
    };
    (@column [$name:ident as $field:ident: $codec:ty, $($rest:tt)*] [$($done:tt)*] [$($fields:ident)*]
        [$resource:ident $kind:ident $row:ident $($other:tt)*]
    ) => {
        $crate::stored::stored! {
            @column [$($rest)*] [$($done)* ($name, $field, $codec, $row.$field)] [$($fields)* $field]
            [$resource $kind $row $($other)*]
        }
    };

    (@column [] [$(($name:ident, $bound:ident, $codec:ty, $value:expr))*] [$($own:ident)*]
        [$resource:ident $kind:ident $row:ident
            [$($derived:ident: $derived_codec:ty = $derived_value:expr,)*]
            [$($recorded:ident: $recorded_codec:ty,)*]
            [$($related:ident = $relation:expr,)*]
            [$($computed:tt)*]
            [$($field:ident $(: $field_value:expr)?,)*]
            [$($method:ident($($argument:expr),*))?]
            [$table:expr]
            [$($also:item)*]]
    ) => {
        impl $crate::flat::Stored for $resource {
            type Kind = $kind;

            const TABLE: &'static $crate::flat::Table = {
                use $crate::codec::*;
                &$crate::flat::Table {
                    columns: &[$($crate::codec::column::<$codec>(stringify!($name))),*],
                    derived: &[$($crate::codec::column::<$derived_codec>(stringify!($derived))),*],
                    recorded: &[$($crate::codec::column::<$recorded_codec>(stringify!($recorded))),*],
                    related: &[$($relation),*],
                    ..$table
                }
            };

            fn key(&self) -> candor_domain::id::Id<$kind> {
                self.id
            }

            fn write(&self, out: &mut $crate::flat::Cells) {
                use $crate::codec::*;
                let $row = self;
                $(<$codec as Codec<_>>::write(&$value, out);)*
                $(<$derived_codec as Codec<_>>::write(&$derived_value, out);)*
            }

            fn read(reader: &mut $crate::flat::Reader<'_>) -> Result<Self, $crate::CorruptRowError> {
                use $crate::codec::*;
                $(let $bound = <$codec as Codec<_>>::read(reader)?;)*
                $(let $recorded = <$recorded_codec as Codec<_>>::read(reader)?;)*
                $(let $related = reader.related_ids()?;)*
                $($computed)*
                let read = Self { $($field $(: $field_value)?,)* $($own,)* };
                Ok(read$(.$method($($argument),*))?)
            }

            $($also)*
        }
    };
}

/// Declares columns of a table and a function that reads them, in this order, into one value.
macro_rules! columns_read {
    (
        $(#[$meta:meta])*
        const $columns:ident;
        $visibility:vis fn $function:ident -> $value:ty;
        $($name:ident: $codec:ty,)* => $made:expr
    ) => {
        $(#[$meta])*
        const $columns: &[$crate::flat::Column] = {
            use $crate::codec::*;
            &[$($crate::codec::column::<$codec>(stringify!($name))),*]
        };

        /// Reads the columns, in their order.
        ///
        /// # Errors
        /// [`CorruptRowError`](crate::CorruptRowError) naming the column.
        $visibility fn $function(reader: &mut $crate::flat::Reader<'_>) -> Result<$value, $crate::CorruptRowError> {
            use $crate::codec::*;
            $(let $name = <$codec as Codec<_>>::read(reader)?;)*
            Ok($made)
        }
    };
}

pub(crate) use {columns_read, stored};

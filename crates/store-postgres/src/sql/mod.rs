//! Statements as text with their parameters. Each is prepared once per connection and identified by its text.

pub(crate) mod planner_settings;
pub(crate) mod removal;
pub(crate) mod reporting_lines;
pub(crate) mod row;
pub(crate) mod valid_keys;
pub(crate) mod wire;

use candor_domain::access::Tenant;
use candor_tables::flat::{SqlValue, Type};
use candor_tables::rows::employees;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Date, Text, Timestamptz, Untyped, Uuid};
use tracing::{Level, Span};

use self::wire::{Value, element, ids_as_text};

/// A statement. Values never enter its text, so there are few distinct texts, and prepared statements are reused.
#[derive(Debug, Default, Clone)]
pub(crate) struct Sql {
    text: String,
    binds: Vec<Bind>,
    /// The tenant whose rows this statement touches; `None` for cross-tenant statements.
    of: Option<Tenant>,
    planned_anew: bool,
    /// `true` if the parameters cannot be serialized, for tests.
    #[cfg(test)]
    unsendable: bool,
}

#[derive(Debug, Clone)]
enum Bind {
    One(Value),
    Many(Type, Vec<Value>),
}

impl Sql {
    /// Creates a statement without parameters.
    pub(crate) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Makes a part of the text a statement of its own, with the parameters that the part names.
    pub(crate) fn part(&self, text: &str) -> Self {
        let mut part = Self { of: self.of, ..Self::default() };
        let mut places: Vec<usize> = vec![];
        let mut pieces = text.split('$');
        part.push(pieces.next().unwrap_or_default());
        for piece in pieces {
            let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = piece.split_at(digits);
            let matching_bind = number
                .parse()
                .ok()
                .and_then(|number: usize| Some((number, self.binds.get(number.checked_sub(1)?)?)));
            let Some((place, bind)) = matching_bind else {
                part.push(&format!("${piece}"));
                continue;
            };
            let own = places.iter().position(|known| *known == place).unwrap_or_else(|| {
                places.push(place);
                part.binds.push(bind.clone());
                places.len() - 1
            });
            part.push(&format!("${}{rest}", own + 1));
        }
        part
    }

    /// Excludes the statement from the cache of prepared statements, so that the server plans it with its values
    /// and current statistics. For statements on thousands of rows: a generic plan from when the tables were empty
    /// reads the whole table for every row.
    pub(crate) fn planned_anew(self) -> Self {
        Self { planned_anew: true, ..self }
    }

    /// Creates a statement that fails before anything is sent.
    #[cfg(test)]
    pub(crate) fn unsendable() -> Self {
        Self { unsendable: true, ..Self::plain("SELECT 1") }
    }

    /// Returns the text, with a placeholder for each value.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the tracing span of the statement, or none if the request is not traced. The text contains no
    /// values.
    pub(crate) fn span(&self) -> Span {
        if !tracing::enabled!(target: "candor_spans", Level::INFO) || Span::current().is_none() {
            return Span::none();
        }
        let text = self.text();
        tracing::info_span!(target: "candor_spans", "statement", otel.kind = "client", db.system.name = "postgresql", db.query.text = text)
    }

    /// Appends to the text.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Binds a parameter and returns its placeholder.
    pub(crate) fn bind(&mut self, cell: SqlValue) -> String {
        self.binds.push(Bind::One(Value(cell)));
        format!("${}", self.binds.len())
    }

    /// Binds an id and returns its placeholder.
    pub(crate) fn id(&mut self, bytes: [u8; 16]) -> String {
        self.bind(SqlValue::Id(bytes))
    }

    /// Binds the tenant whose rows the statement touches, and returns the placeholder. On a cluster the statement
    /// goes to that tenant's node.
    pub(crate) fn tenant(&mut self, tenant: Tenant) -> String {
        self.of = Some(tenant);
        self.id(tenant.to_bytes())
    }

    /// Returns the tenant whose rows the statement touches; `None` for cross-tenant statements.
    pub(crate) const fn owner(&self) -> Option<Tenant> {
        self.of
    }

    /// Binds an array of one type and returns its placeholder. An element that is itself a list of ids becomes a text
    /// of the form `{…}`, because PostgreSQL has no arrays of arrays of different lengths.
    pub(crate) fn many(&mut self, kind: Type, cells: impl IntoIterator<Item = SqlValue>) -> String {
        self.array(kind, &mut cells.into_iter())
    }

    /// Non-generic body of `many`, so that it is not monomorphized per iterator.
    fn array(&mut self, kind: Type, cells: &mut dyn Iterator<Item = SqlValue>) -> String {
        let value =
            |cell| Value(if let SqlValue::Ids(ids) = cell { SqlValue::Text(ids_as_text(&ids)) } else { cell });
        self.binds.push(Bind::Many(element(kind), cells.map(value).collect()));
        format!("${}", self.binds.len())
    }

    /// Binds the statuses of people who have not left and returns the placeholder.
    pub(crate) fn present_statuses(&mut self) -> String {
        self.many(Type::Text, employees::present_statuses().map(|word| SqlValue::Text(word.to_owned())))
    }

    /// Binds an array of ids and returns its placeholder.
    pub(crate) fn ids(&mut self, ids: impl IntoIterator<Item = [u8; 16]>) -> String {
        self.many(Type::Id, ids.into_iter().map(SqlValue::Id))
    }
}

impl QueryFragment<Pg> for Sql {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        #[cfg(test)]
        if self.unsendable {
            return Err(diesel::result::Error::SerializationError("a test".into()));
        }
        out.push_sql(&self.text);
        if self.planned_anew {
            out.unsafe_to_cache_prepared();
        }
        self.binds.iter().try_for_each(|bind| match bind {
            Bind::One(value) => one(value, &mut out),
            Bind::Many(kind, values) => many(*kind, values, &mut out),
        })
    }
}

fn one<'b>(value: &'b Value, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
    match value.0.kind() {
        Type::Id => out.push_bind_param_value_only::<Uuid, _>(value),
        Type::Text => out.push_bind_param_value_only::<Text, _>(value),
        Type::Int => out.push_bind_param_value_only::<BigInt, _>(value),
        Type::Flag => out.push_bind_param_value_only::<Bool, _>(value),
        Type::Time => out.push_bind_param_value_only::<Timestamptz, _>(value),
        Type::Date => out.push_bind_param_value_only::<Date, _>(value),
        Type::Ids => out.push_bind_param_value_only::<Array<Uuid>, _>(value),
        Type::Bytes => out.push_bind_param_value_only::<Binary, _>(value),
    }
}

fn many<'b>(kind: Type, values: &'b Vec<Value>, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
    match kind {
        Type::Id => out.push_bind_param_value_only::<Array<Uuid>, _>(values),
        Type::Text | Type::Ids => out.push_bind_param_value_only::<Array<Text>, _>(values),
        Type::Int => out.push_bind_param_value_only::<Array<BigInt>, _>(values),
        Type::Flag => out.push_bind_param_value_only::<Array<Bool>, _>(values),
        Type::Time => out.push_bind_param_value_only::<Array<Timestamptz>, _>(values),
        Type::Date => out.push_bind_param_value_only::<Array<Date>, _>(values),
        Type::Bytes => out.push_bind_param_value_only::<Array<Binary>, _>(values),
    }
}

/// No static query id: Diesel's statement cache falls back to the text and the parameter types.
impl QueryId for Sql {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

/// Untyped: rows are read by position.
impl Query for Sql {
    type SqlType = Untyped;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_part_renumbers_its_own_parameters() {
        let mut whole = Sql::default();
        for number in 1..=12 {
            whole.bind(SqlValue::Int(number));
        }
        let part = whole.part("UPDATE t SET a = $12, b = '$' WHERE c = $2 AND d = $12");
        assert_eq!(part.text(), "UPDATE t SET a = $1, b = '$' WHERE c = $2 AND d = $1");
        assert_eq!(format!("{:?}", part.binds), "[One(Value(Int(12))), One(Value(Int(2)))]");
    }
}

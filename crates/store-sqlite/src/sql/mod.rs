//! Statements with their values, the cache of prepared statements, and the classification of errors.

pub(crate) mod limit;
pub(crate) mod refusal;
pub(crate) mod row;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use diesel::connection::{Connection, LoadConnection, SimpleConnection};
use diesel::expression::expression_types::Untyped;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::{DatabaseErrorKind, Error, QueryResult};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use diesel::sqlite::{Sqlite, SqliteConnection};
use tracing::{Level, Span};

use candor_domain::access::Tenant;
use candor_domain::id::{Id, Kind};
use candor_domain::people::MAX_LINES_AT_ONCE;
use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_tables::flat::{CellReader, SqlValue, Table};

use crate::statements::Statements;
use row::Columns;

/// A bound value of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Id([u8; 16]),
    Text(String),
    Blob(Vec<u8>),
}

impl From<SqlValue> for Value {
    fn from(cell: SqlValue) -> Self {
        match cell {
            SqlValue::Null(_) => Self::Null,
            SqlValue::Id(it) => Self::Id(it),
            SqlValue::Text(it) => Self::Text(it),
            SqlValue::Int(it) => Self::Int(it),
            SqlValue::Flag(it) => Self::Int(it.into()),
            SqlValue::Time(it) => it.into(),
            SqlValue::Date(it) => Self::Int(it.epoch_days().into()),
            SqlValue::Ids(it) => Self::Blob(it.concat()),
            SqlValue::Bytes(it) => Self::Blob(it),
        }
    }
}

impl From<&SqlValue> for Value {
    fn from(cell: &SqlValue) -> Self {
        cell.clone().into()
    }
}

impl From<Tenant> for Value {
    fn from(tenant: Tenant) -> Self {
        Self::Id(tenant.to_bytes())
    }
}

impl<K: Kind> From<Id<K>> for Value {
    fn from(id: Id<K>) -> Self {
        Self::Id(id.to_bytes())
    }
}

impl From<[u8; 16]> for Value {
    fn from(it: [u8; 16]) -> Self {
        Self::Id(it)
    }
}

impl From<Timestamp> for Value {
    fn from(timestamp: Timestamp) -> Self {
        Self::Int(timestamp.millis())
    }
}

impl From<i64> for Value {
    fn from(it: i64) -> Self {
        Self::Int(it)
    }
}

impl From<&[u8]> for Value {
    fn from(it: &[u8]) -> Self {
        Self::Blob(it.to_vec())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Number of reporting lines that one commit writes at most, by default: about 50 ms, during which other writers
/// wait.
pub(crate) const LINES_AT_ONCE: usize = MAX_LINES_AT_ONCE as usize;

/// Maximum number of prepared statements composed from filters. Each takes about 15 KB, and memory cannot hold all
/// combinations of filters. Fixed statements are few and not limited.
const KEPT: usize = 500;

/// A statement with a `?` for each of its values.
#[derive(Debug, Clone)]
pub(crate) struct Sql {
    text: Arc<str>,
    values: Vec<Value>,
    is_composed: bool,
    keep: bool,
}

impl Sql {
    /// Creates a statement without values. Its text must come from a small set, because it stays prepared for
    /// the life of the connection.
    pub(crate) fn new(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), values: vec![], is_composed: false, keep: true }
    }

    /// Creates a statement that was composed from a request.
    pub(crate) fn from_request(text: String, values: Vec<Value>) -> Self {
        Self { text: text.into(), values, is_composed: true, keep: false }
    }

    /// Appends the value of the next placeholder.
    pub(crate) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Returns the `EXPLAIN QUERY PLAN` of this statement.
    #[cfg(test)]
    pub(crate) fn into_explain_plan(self) -> Self {
        Self { text: format!("EXPLAIN QUERY PLAN {}", self.text).into(), ..self }
    }

    /// Returns the `EXPLAIN` of this statement, which lists its bytecode.
    #[cfg(test)]
    pub(crate) fn into_explain(self) -> Self {
        Self { text: format!("EXPLAIN {}", self.text).into(), ..self }
    }

    /// Appends the values of the next placeholders.
    pub(crate) fn bind_all<V: Into<Value>>(mut self, values: impl IntoIterator<Item = V>) -> Self {
        self.values.extend(values.into_iter().map(Into::into));
        self
    }
}

impl Sql {
    /// Returns a tracing span for the statement, or none outside of a traced request. The text contains no
    /// values.
    fn span(&self) -> Span {
        if !tracing::enabled!(target: "candor_spans", Level::INFO) || Span::current().is_none() {
            return Span::none();
        }
        let text = &*self.text;
        tracing::info_span!(target: "candor_spans", "statement", otel.kind = "client", db.system.name = "sqlite", db.query.text = text)
    }
}

impl QueryFragment<Sqlite> for Sql {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql(&self.text);
        for value in &self.values {
            match value {
                Value::Null => out.push_bind_param_value_only::<Nullable<Binary>, _>(&None::<Vec<u8>>)?,
                Value::Int(it) => out.push_bind_param_value_only::<BigInt, _>(it)?,
                Value::Id(it) => out.push_bind_param_value_only::<Binary, [u8]>(it.as_slice())?,
                Value::Text(it) => out.push_bind_param_value_only::<Text, str>(it.as_str())?,
                Value::Blob(it) => out.push_bind_param_value_only::<Binary, [u8]>(it.as_slice())?,
            }
        }
        Ok(())
    }

    /// The text is the cache key, so that a statement is prepared once per connection. diesel does not cache
    /// raw SQL by default.
    fn is_safe_to_cache_prepared(&self, _: &Sqlite) -> QueryResult<bool> {
        Ok(self.keep)
    }
}

impl QueryId for Sql {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Sql {
    type SqlType = Untyped;
}

/// A connection with its caches.
pub(crate) struct Db {
    connection: SqliteConnection,
    /// Statement texts by table name and column count, because some tables are also read in part.
    statements: HashMap<(&'static str, usize), Arc<Statements>>,
    kept: HashSet<Arc<str>>,
    /// Reporting lines that one commit writes at most.
    pub(crate) lines_at_once: usize,
    /// Executed statements, for tests of query plans.
    #[cfg(test)]
    pub(crate) asked: Vec<Sql>,
}

impl Db {
    pub(crate) fn new(connection: SqliteConnection) -> Self {
        Self {
            connection,
            statements: HashMap::new(),
            kept: HashSet::new(),
            lines_at_once: LINES_AT_ONCE,
            #[cfg(test)]
            asked: vec![],
        }
    }

    /// Begins a read transaction, in which all statements see the same snapshot.
    pub(crate) fn moment(&mut self) -> Read<ReadTransaction<'_>> {
        // An interrupt at the last step would make `BEGIN` fail although the transaction has begun.
        limit::run_unlimited(|| self.execute(&Sql::new("BEGIN"))).map_err(|error| classify_error(&error))?;
        Ok(ReadTransaction(self))
    }

    /// Returns the diesel connection.
    pub(crate) const fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }

    /// Returns the statement texts of a table.
    pub(crate) fn statements(&mut self, table: &'static Table) -> Arc<Statements> {
        let key = (table.name, table.columns.len());
        Arc::clone(self.statements.entry(key).or_insert_with(|| Arc::new(Statements::new(table))))
    }

    /// Runs statements that have no values and are not cached.
    pub(crate) fn batch(&mut self, text: &str) -> Read<()> {
        self.connection.batch_execute(text).map_err(|error| classify_error(&error))
    }

    /// Runs a statement and returns the number of changed rows.
    pub(crate) fn execute(&mut self, sql: &Sql) -> QueryResult<usize> {
        #[cfg(test)]
        self.asked.push(sql.clone());
        let _span = sql.span().entered();
        self.connection.execute_returning_count(sql)
    }

    /// Runs a statement whose failure is no refusal, and returns the number of changed rows.
    pub(crate) fn run(&mut self, sql: &Sql) -> Read<usize> {
        self.execute(sql).map_err(|error| classify_error(&error))
    }

    /// Reads every row of a statement.
    pub(crate) fn rows<T>(
        &mut self,
        mut sql: Sql,
        mut read: impl FnMut(&mut dyn CellReader) -> Read<T>,
    ) -> Read<Vec<T>> {
        #[cfg(test)]
        self.asked.push(sql.clone());
        sql.keep = !sql.is_composed || self.is_kept(&sql.text);
        let _span = sql.span().entered();
        let rows = self.connection.load(sql).map_err(|error| classify_error(&error))?;
        rows.map(|row| read(&mut Columns::new(&row.map_err(|error| classify_error(&error))?))).collect()
    }

    /// Returns `true` if a composed statement stays prepared. The first [`KEPT`] composed statements do, because
    /// the most common ones usually come first.
    fn is_kept(&mut self, text: &Arc<str>) -> bool {
        self.kept.contains(text) || (self.kept.len() < KEPT && self.kept.insert(Arc::clone(text)))
    }

    /// Reads the first row of a statement.
    pub(crate) fn first<T>(
        &mut self,
        sql: Sql,
        mut read: impl FnMut(&mut dyn CellReader) -> Read<T>,
    ) -> Read<Option<T>> {
        #[cfg(test)]
        self.asked.push(sql.clone());
        let _span = sql.span().entered();
        let mut rows = self.connection.load(sql).map_err(|error| classify_error(&error))?;
        let Some(row) = rows.next() else { return Ok(None) };
        read(&mut Columns::new(&row.map_err(|error| classify_error(&error))?)).map(Some)
    }

    /// Reads a number from a statement that always returns a row.
    pub(crate) fn number(&mut self, sql: Sql) -> Read<i64> {
        let numbers = self.rows(sql, |row| row.int().map_err(StorageError::Failed))?;
        numbers
            .into_iter()
            .next()
            .flatten()
            .ok_or_else(|| StorageError::Failed("a query returned no number".to_owned()))
    }

    /// Returns `true` if a statement returns a row.
    pub(crate) fn exists(&mut self, sql: Sql) -> Read<bool> {
        Ok(self.first(sql, |_| Ok(()))?.is_some())
    }
}

/// A read transaction that ends when it is dropped.
pub(crate) struct ReadTransaction<'d>(pub(crate) &'d mut Db);

impl Drop for ReadTransaction<'_> {
    fn drop(&mut self) {
        // Nothing was written. If this fails, the next `BEGIN` fails as well.
        drop(limit::run_unlimited(|| self.0.execute(&Sql::new("COMMIT"))));
    }
}

/// Messages of SQLite for transient errors.
const PASSING: [&str; 2] = ["is locked", "is busy"];
/// Messages of SQLite for a lack of disk space or memory, or a failing disk.
const NO_ROOM: [&str; 3] = ["disk I/O error", "is full", "out of memory"];

/// Classifies an error as transient, as a lack of room, or as a defect.
pub(crate) fn classify_error(error: &Error) -> StorageError {
    let text = error.to_string();
    if PASSING.iter().any(|message| text.contains(message)) {
        StorageError::Unavailable(text)
    } else if NO_ROOM.iter().any(|message| text.contains(message)) {
        StorageError::NoRoom(text)
    } else {
        StorageError::Failed(text)
    }
}

/// Returns the kind of a database error, and the columns that SQLite names if a constraint is violated, else its
/// message. `None` for errors that are not from the database.
pub(crate) fn violation(error: &Error) -> Option<(&DatabaseErrorKind, &str)> {
    let Error::DatabaseError(kind, details) = error else { return None };
    Some((kind, details.message().rsplit("failed: ").next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::open::{DatabaseLocation, Source};

    #[test]
    fn prepared_composed_statements_are_bounded() {
        let mut db = Source::new(&DatabaseLocation::Memory).unwrap().writer().unwrap();
        let ask = |number: usize| Sql::from_request(format!("SELECT {number} + ?"), vec![Value::Int(1)]);
        for number in 0..KEPT + 100 {
            let expected_count = i64::try_from(number).unwrap() + 1;
            assert_eq!(
                (db.number(ask(number)).unwrap(), db.number(ask(number)).unwrap()),
                (expected_count, expected_count)
            );
        }
        assert_eq!(db.kept.len(), KEPT);
    }
}

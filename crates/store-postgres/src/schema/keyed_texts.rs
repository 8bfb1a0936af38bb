//! Replacement of the keys that an earlier version computed.

use candor_tables::flat::{CellReader, SqlValue};
use candor_tables::keyed_texts::{KEYED_TEXTS, KeyedText, ROWS_AT_ONCE};
use diesel_async::AsyncPgConnection;

use crate::connection::session::run;
use crate::failure::Failure;
use crate::options::PostgresOptions;
use crate::schema::session::{SchemaError, connect, schema_error};
use crate::sql::Sql;

/// A row with its text and its key.
struct KeyedRow {
    place: ([u8; 16], [u8; 16]),
    text: String,
    key: String,
}

/// Computes the keys of rows from earlier versions. A row whose key another row has keeps its former key and
/// becomes a twin. Does nothing where all keys are current. Runs at each start, and not with the migrations:
/// instances of the earlier version look rows up by their former keys, and the last start of an upgrade finds the
/// rows that these instances wrote.
///
/// # Errors
/// [`SchemaError`]. Keys that were replaced before stay so; another run continues.
pub async fn replace_former_keys(options: &PostgresOptions) -> Result<(), SchemaError> {
    let connection = connect(options).await?;
    for keyed in &KEYED_TEXTS {
        replace_keys_of(&connection, keyed).await?;
    }
    Ok(())
}

async fn replace_keys_of(connection: &AsyncPgConnection, keyed: &KeyedText) -> Result<(), SchemaError> {
    let mut place = ([0; 16], [0; 16]);
    loop {
        let rows = run(connection, &page(keyed, place), keyed_row).await.map_err(schema_error)?;
        for row in &rows {
            let current_key = (keyed.key_of)(&row.text, &row.key);
            if current_key != row.key {
                replace_key(connection, keyed, row, current_key).await?;
            }
        }
        let Some(last) = rows.last().filter(|_| rows.len() == usize::from(ROWS_AT_ONCE)) else { return Ok(()) };
        place = last.place;
    }
}

fn page(keyed: &KeyedText, place: ([u8; 16], [u8; 16])) -> Sql {
    let KeyedText { table, text, key, candidates, .. } = keyed;
    let mut sql = Sql::default();
    let (tenant, id) = (sql.id(place.0), sql.id(place.1));
    sql.push(&format!(
        "SELECT tenant_id, id, {text}, {key} FROM {table} WHERE {candidates} \
         AND (tenant_id, id) > ({tenant}, {id}) ORDER BY tenant_id, id LIMIT {ROWS_AT_ONCE}"
    ));
    sql
}

/// Gives a row its key, or marks it as a twin. Other instances may write meanwhile, so both statements only change
/// a row that still has the text.
async fn replace_key(
    connection: &AsyncPgConnection,
    keyed: &KeyedText,
    row: &KeyedRow,
    current_key: String,
) -> Result<(), SchemaError> {
    let KeyedText { table, text, key, marks_twins, .. } = keyed;
    let own = |sql: &mut Sql| {
        let (tenant, id) = (sql.id(row.place.0), sql.id(row.place.1));
        let stored_text = sql.bind(SqlValue::Text(row.text.clone()));
        (format!("tenant_id = {tenant} AND id = {id} AND {text} = {stored_text}"), tenant)
    };
    let mut take = Sql::default();
    let (is_own, tenant) = own(&mut take);
    let current_key = take.bind(SqlValue::Text(current_key));
    let unmark = if *marks_twins { ", twin = NULL" } else { "" };
    take.push(&format!(
        "UPDATE {table} SET {key} = {current_key}{unmark} WHERE {is_own} AND NOT EXISTS \
         (SELECT 1 FROM {table} AS other WHERE other.tenant_id = {tenant} AND other.{key} = {current_key}) RETURNING id"
    ));
    match run(connection, &take, keyed_id).await {
        Ok(taken) if !taken.is_empty() => return Ok(()),
        // Another row has the key, or another instance that starts now was faster.
        Ok(_) | Err(Failure::Unique { .. }) => {}
        Err(failure) => return Err(schema_error(failure)),
    }
    if !marks_twins {
        return Ok(());
    }
    let mut mark = Sql::default();
    let (is_own, _) = own(&mut mark);
    mark.push(&format!("UPDATE {table} SET twin = TRUE WHERE {is_own} AND twin IS NULL RETURNING id"));
    run(connection, &mark, keyed_id).await.map(drop).map_err(schema_error)
}

fn keyed_id(row: &mut dyn CellReader) -> Result<[u8; 16], Failure> {
    Ok(row.id().map_err(Failure::Other)?.unwrap_or_default())
}

fn keyed_row(row: &mut dyn CellReader) -> Result<KeyedRow, Failure> {
    let place = (keyed_id(row)?, keyed_id(row)?);
    let mut text = || row.text().map(Option::unwrap_or_default).map_err(Failure::Other);
    Ok(KeyedRow { place, text: text()?, key: text()? })
}

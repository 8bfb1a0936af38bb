//! Rows from before there was an index of words.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_port_storage::AnyRow;
use candor_port_storage::backlog::{Backlog, Indexing};
use candor_port_storage::flat::{Cell, Fetch, Type};
use candor_port_storage::store::Read;

use crate::PostgresStore;
use crate::connection::transaction::Transaction;
use crate::failure::Failure;
use crate::search;
use crate::select::{id, owner};
use crate::sql::Sql;

#[async_trait]
impl Indexing for PostgresStore {
    async fn index_backlog(&self, tenant: Option<Tenant>, most: u16) -> Read<Vec<Backlog>> {
        let mut sql = Sql::default();
        let whose = tenant.map(|it| format!("WHERE tenant_id = {}", sql.id(it.to_bytes()))).unwrap_or_default();
        let most = sql.bind(Cell::Int(most.into()));
        sql.push(&format!(
            "SELECT tenant_id, table_name, after_id FROM search_backlog {whose} ORDER BY tenant_id, table_name LIMIT {most}"
        ));
        self.read(&sql, backlog).await
    }

    async fn index(&self, backlog: &Backlog, rows: Vec<AnyRow>, up_to: Option<[u8; 16]>) -> Read<()> {
        let sql = indexing(backlog, &rows, up_to);
        self.send(Transaction::alone(sql), |_| Ok(())).await.map(drop)
    }
}

/// One statement: a row that has changed since stays as it is.
fn indexing(backlog: &Backlog, rows: &[AnyRow], up_to: Option<[u8; 16]>) -> Sql {
    let mut sql = Sql::default();
    let tenant = sql.id(backlog.tenant.to_bytes());
    let tokens = |row: &AnyRow| row.index_entry().map(|it| it.tokens(backlog.tenant, row.table())).unwrap_or_default();
    let indexed = rows.first().map(|first| {
        let ids = sql.ids(rows.iter().map(AnyRow::id));
        let seen = sql.many(Type::Int, rows.iter().map(|it| Cell::Int(it.seen().map_or(0, |it| it.0))));
        let tokens = sql.many(Type::Text, rows.iter().map(|it| Cell::Text(search::vector(&tokens(it)))));
        format!(
            "WITH indexed AS (UPDATE {} AS t SET tokens = u.tokens::tsvector FROM UNNEST({ids}, {seen}, {tokens}) \
             AS u (id, seen, tokens) WHERE t.tenant_id = {tenant} AND t.id = u.id AND t.version = u.seen) ",
            first.table().name
        )
    });
    let (name, after) = (sql.bind(Cell::Text(backlog.table.clone())), sql.id(backlog.after));
    let change = match up_to {
        Some(id) => format!("UPDATE search_backlog SET after_id = {}", sql.id(id)),
        None => "DELETE FROM search_backlog".to_owned(),
    };
    let which = format!("WHERE tenant_id = {tenant} AND table_name = {name} AND after_id = {after}");
    sql.push(&format!("{}{change} {which} RETURNING 1::bigint", indexed.unwrap_or_default()));
    sql
}

fn backlog(row: &mut dyn Fetch) -> Result<Backlog, Failure> {
    let tenant = owner(row)?;
    let table = row.text().map_err(Failure::Other)?.unwrap_or_default();
    Ok(Backlog { tenant, table, after: id(row)? })
}

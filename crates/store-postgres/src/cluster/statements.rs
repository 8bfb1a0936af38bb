//! Change sets as several statements, each in a form that is forwarded to the tenant's node unchanged.

use crate::layout::Statement;
use crate::layout::statement::{Item, select_leased};
use crate::sql::Sql;

/// Splits a change set into one statement for each part, with the checks that name the part, and one statement for
/// each remaining check. The flag is `true` if the statement returns the deliveries that it leases.
pub(super) fn split(statement: Statement, leases: bool) -> Vec<(Sql, bool)> {
    let (sql, items, queued) = statement.into_parts();
    let mut statements: Vec<(Sql, bool)> = vec![];
    let mut items = items.into_iter().peekable();
    while let Some(item) = items.next() {
        let (name, form, text) = match item {
            Item::Check(expression) => {
                statements.push((sql.part(&format!("SELECT {expression}")), false));
                continue;
            }
            Item::Part { name, form, text } => (name, form, text),
        };
        let mut checks = vec![];
        while let Some(Item::Check(check)) =
            items.next_if(|next| matches!(next, Item::Check(check) if names_part(check, &name)))
        {
            checks.push(check);
        }
        let has_result = leases && queued.contains(&name);
        let text = match (checks.as_slice(), has_result) {
            ([], _) => text,
            (checks, false) => format!("WITH {name} AS {form}({text}) SELECT {}", checks.join(", ")),
            (checks, true) => {
                format!(
                    "WITH {name} AS ({text}) {}",
                    select_leased(&checks.join(", "), std::slice::from_ref(&name))
                )
            }
        };
        statements.push((sql.part(&text), has_result));
    }
    statements
}

/// Returns `true` if the text of a check contains the name of a part of the statement.
fn names_part(check: &str, part: &str) -> bool {
    check.split(|sign: char| !sign.is_ascii_alphanumeric()).any(|word| word == part)
}

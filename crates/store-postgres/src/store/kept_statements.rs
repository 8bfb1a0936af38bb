//! Bound on the prepared statements of lists. A client can compose more combinations of filters than the memory of the
//! database holds, and a prepared statement stays in each connection that has executed it until the connection ends.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::sql::Sql;

/// Maximum number of statements of lists that stay prepared. Each takes some 100 KB in a connection.
const KEPT: usize = 200;
/// Maximum length of the text of a statement that stays prepared, in bytes. A plan takes memory in proportion to it.
const KEPT_BYTES: usize = 8_000;

/// The texts of lists whose statements stay prepared: the first ones, because the most common ones usually come first.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeptStatements(Arc<Mutex<HashSet<Box<str>>>>);

impl KeptStatements {
    /// Returns the statement. Unless the statement is kept, the server plans it at each use, and it does not stay
    /// prepared.
    pub(crate) fn limit(&self, sql: Sql) -> Sql {
        if self.keeps(sql.text()) { sql } else { sql.planned_anew() }
    }

    fn keeps(&self, text: &str) -> bool {
        if text.len() > KEPT_BYTES {
            return false;
        }
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.contains(text) || (texts.len() < KEPT && texts.insert(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_and_length_of_kept_statements_are_bounded() {
        let statements = KeptStatements::default();
        let kept_count = (0..KEPT + 100).filter(|number| statements.keeps(&format!("SELECT {number}"))).count();
        assert_eq!(kept_count, KEPT);
        assert!(statements.keeps("SELECT 0") && !statements.keeps("SELECT 'new'"));
        assert!(!KeptStatements::default().keeps(&"x".repeat(KEPT_BYTES + 1)));
    }
}

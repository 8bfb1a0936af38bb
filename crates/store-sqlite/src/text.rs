//! Builder of a statement: its text and the values of its placeholders.

use crate::sql::{Sql, Value};

/// Text and values so far, in the same order.
#[derive(Default)]
pub(crate) struct Draft {
    text: String,
    values: Vec<Value>,
}

impl Draft {
    /// Adds text without placeholders.
    pub(crate) fn add(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Adds text, a placeholder and its value.
    pub(crate) fn with(&mut self, text: &str, value: impl Into<Value>) -> &mut Self {
        self.text.push_str(text);
        self.text.push('?');
        self.values.push(value.into());
        self
    }

    /// Adds an `IN` list. The last value is repeated up to a power of two, to limit the number of prepared
    /// statements. A list without values matches nothing.
    pub(crate) fn any_of<V: Into<Value>>(&mut self, text: &str, values: impl IntoIterator<Item = V>) -> &mut Self {
        let mut values: Vec<Value> = values.into_iter().map(Into::into).collect();
        let last = values.last().cloned().unwrap_or(Value::Null);
        values.resize(values.len().next_power_of_two(), last);
        self.text.push_str(text);
        self.text.push_str(" IN (");
        self.text.push_str(&vec!["?"; values.len()].join(", "));
        self.text.push(')');
        self.values.append(&mut values);
        self
    }

    /// Returns the finished statement.
    pub(crate) fn finish(self) -> Sql {
        Sql::from_request(self.text, self.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_similar_length_share_one_statement() {
        let mut three = Draft::default();
        three.with("a = ", 1).any_of(" AND b", [2, 3, 4]);
        let mut four = Draft::default();
        four.with("a = ", 1).any_of(" AND b", [2, 3, 4, 4]);
        assert_eq!(three.text, "a = ? AND b IN (?, ?, ?, ?)");
        assert_eq!((three.text, three.values), (four.text, four.values));
    }
}

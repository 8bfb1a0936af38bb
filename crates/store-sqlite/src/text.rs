//! A statement in the making: text and the values of its marks, in the same order.

use crate::sql::{Sql, Value};

/// Text so far, and the values of the marks in it.
#[derive(Default)]
pub(crate) struct Draft {
    text: String,
    values: Vec<Value>,
}

impl Draft {
    /// Adds text without marks.
    pub(crate) fn add(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Adds text that ends with a mark, and its value.
    pub(crate) fn with(&mut self, text: &str, value: impl Into<Value>) -> &mut Self {
        self.text.push_str(text);
        self.text.push('?');
        self.values.push(value.into());
        self
    }

    /// Adds a list of marks and their values. The last value is repeated up to a power of two, so that there are few
    /// different texts to prepare.
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

    /// The finished statement.
    pub(crate) fn finish(self) -> Sql {
        Sql::composed(self.text, self.values)
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

//! Rows as lines of CSV, with cells that are safe in spreadsheets.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// First characters of a text that spreadsheets would execute as a formula, or skip before one.
const FORMULA_STARTS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Members of a row in the order in which the service sent them.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = vec![];
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Returns the lines of a row: its cells in the order of `columns`. The first row of a file determines the columns
/// and has their names before it.
///
/// # Errors
/// The row is no object.
pub(super) fn lines(row: &RawValue, columns: &mut Vec<String>) -> Result<String, serde_json::Error> {
    let Members(members) = serde_json::from_str(row.get())?;
    let mut text = String::new();
    if columns.is_empty() {
        columns.extend(members.iter().map(|(name, _)| name.clone()));
        line(&mut text, columns.iter().map(|name| cell(&Value::String(name.clone()))));
    }
    let of = |name: &String| members.iter().find(|(member, _)| member == name).map(|(_, value)| value);
    line(&mut text, columns.iter().map(|name| of(name).map(cell).unwrap_or_default()));
    Ok(text)
}

fn line(out: &mut String, cells: impl Iterator<Item = String>) {
    for (number, cell) in cells.enumerate() {
        if number > 0 {
            out.push(',');
        }
        out.push_str(&cell);
    }
    out.push_str("\r\n");
}

/// Returns the cell of a value. Null is empty; lists and objects are JSON. A text that a spreadsheet would take
/// for a formula gets an apostrophe before it.
fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => return String::new(),
        Value::String(text) if text.starts_with(FORMULA_STARTS) => format!("'{text}"),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    };
    if text.contains([',', '"', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn first_row_determines_the_columns_of_a_file() {
        let mut columns = vec![];
        let first = lines(&row(r#"{"id":"a","z":null,"b":[1,"x"]}"#), &mut columns).unwrap();
        assert_eq!(first, "id,z,b\r\na,,\"[1,\"\"x\"\"]\"\r\n");
        let second = lines(&row(r#"{"b":true,"id":"c","new":1}"#), &mut columns).unwrap();
        assert_eq!(second, "c,,true\r\n");
        assert!(lines(&row("[]"), &mut columns).is_err());
    }

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        let of = |text: &str| cell(&Value::String(text.to_owned()));
        for start in FORMULA_STARTS {
            assert!(of(&format!("{start}1+1")).trim_start_matches('"').starts_with('\''), "{start:?}");
        }
        assert_eq!(of("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
        assert_eq!(of("a\nb"), "\"a\nb\"");
        assert_eq!(of("plain"), "plain");
        assert_eq!(cell(&serde_json::json!(-3)), "-3", "a number is no text");
    }
}

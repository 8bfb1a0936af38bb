//! Rows as lines of CSV, with cells that are safe in spreadsheets.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// First characters of a text that spreadsheets would execute as a formula, or skip before one.
const FORMULA_STARTS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

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

/// Returns the line of a row: its cells in the order of `columns`. The first row of a file determines the columns.
///
/// # Errors
/// The row is no object.
pub(super) fn write(row: &RawValue, columns: &mut Vec<String>) -> Result<String, serde_json::Error> {
    let Members(members) = serde_json::from_str(row.get())?;
    let mut text = String::new();
    if columns.is_empty() {
        columns.extend(members.iter().map(|(name, _)| name.clone()));
    }
    let value_of = |name: &String| members.iter().find(|(member, _)| member == name).map(|(_, value)| value);
    line(&mut text, columns.iter().map(|name| value_of(name).map(cell).unwrap_or_default()));
    Ok(text)
}

/// Returns the first line of a file: the names of its columns.
pub(super) fn names(columns: &[String]) -> String {
    let mut text = String::new();
    line(&mut text, columns.iter().map(|name| cell(&Value::String(name.clone()))));
    text
}

/// Returns a row of a file as an object, and its line. Cells of lists and objects are read as JSON, and other
/// cells as texts: the object serves to find and to change members, not to restore the types.
pub(super) fn read(record: &csv::StringRecord, columns: &[String]) -> (Value, String) {
    let value = |text: &str| {
        let plain = text.strip_prefix('\'').filter(|rest| rest.starts_with(FORMULA_STARTS)).unwrap_or(text);
        match plain.chars().next() {
            None => Value::Null,
            Some('{' | '[') => serde_json::from_str(plain).unwrap_or_else(|_| plain.into()),
            Some(_) => plain.into(),
        }
    };
    let members = columns.iter().zip(record).map(|(name, text)| (name.clone(), value(text)));
    let mut text = String::new();
    line(&mut text, record.iter().map(quote));
    (members.collect(), text)
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
    quote(&text)
}

fn quote(text: &str) -> String {
    if text.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
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
        let first = write(&row(r#"{"id":"a","z":null,"b":[1,"x"]}"#), &mut columns).unwrap();
        assert_eq!((first.as_str(), names(&columns).as_str()), ("a,,\"[1,\"\"x\"\"]\"\r\n", "id,z,b\r\n"));
        let second = write(&row(r#"{"b":true,"id":"c","new":1}"#), &mut columns).unwrap();
        assert_eq!(second, "c,,true\r\n");
        assert!(write(&row("[]"), &mut columns).is_err());
    }

    #[test]
    fn line_that_was_read_is_the_line_that_was_written() {
        let mut columns = vec![];
        let text = r#"{"id":"a","title":"=x","about":{"id":"emp_1"},"n":3,"note":"[x","z":null}"#;
        let written_line = write(&row(text), &mut columns).unwrap();
        let file = format!("{}{written_line}", names(&columns));
        let record = csv::Reader::from_reader(file.as_bytes()).records().next().unwrap().unwrap();
        let (value, line) = read(&record, &columns);
        assert_eq!(written_line, line);
        let members = ["title", "note"].map(|name| value[name].as_str().unwrap());
        assert_eq!((members, &value["about"]["id"]), (["=x", "[x"], &Value::from("emp_1")));
        let reread_value = RawValue::from_string(value.to_string()).unwrap();
        assert_eq!(write(&reread_value, &mut columns).unwrap(), line);
    }

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        let cell_of = |text: &str| cell(&Value::String(text.to_owned()));
        for start in FORMULA_STARTS {
            assert!(cell_of(&format!("{start}1+1")).trim_start_matches('"').starts_with('\''), "{start:?}");
        }
        assert_eq!(cell_of("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
        assert_eq!(cell_of("a\nb"), "\"a\nb\"");
        assert_eq!(cell_of("plain"), "plain");
        assert_eq!(cell(&serde_json::json!(-3)), "-3", "a number is no text");
    }
}

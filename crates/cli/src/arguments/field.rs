//! Fields on the command line: a text, or any JSON value.

use std::str::FromStr;

use serde_json::Value;

/// A named value: `name=text`, or `name:=JSON`.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldArgument {
    pub(crate) name: String,
    pub(crate) value: Value,
}

impl FromStr for FieldArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = "expected NAME=TEXT or NAME:=JSON, such as first_name=Ada or limit:=5";
        let (name, value) = text.split_once('=').ok_or(form)?;
        let (name, value) = match name.strip_suffix(':') {
            None => (name, Value::from(value)),
            Some(name) => {
                let wrong =
                    |error| format!("the value behind := is not JSON ({error}); write a text as {name}=TEXT");
                (name, serde_json::from_str(value).map_err(wrong)?)
            }
        };
        if name.is_empty() { Err(form.to_owned()) } else { Ok(Self { name: name.to_owned(), value }) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn field_is_a_text_or_json() {
        let texts = ["a=1", "b:=1", "c=x=y", "d=", "e:=\"1\"", "f:={\"x\": [null]}", "g[h]=i"];
        let fields = texts.iter().map(|text| text.parse::<FieldArgument>().unwrap());
        let read: Vec<_> = fields.map(|field| (field.name, field.value)).collect();
        let cases = [
            ("a", json!("1")),
            ("b", json!(1)),
            ("c", json!("x=y")),
            ("d", json!("")),
            ("e", json!("1")),
            ("f", json!({"x": [null]})),
            ("g[h]", json!("i")),
        ];
        assert_eq!(read, cases.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn malformed_field_is_refused_with_the_right_form() {
        for (text, says) in [("a", "NAME=TEXT"), ("=x", "NAME=TEXT"), (":=1", "NAME=TEXT"), ("a:=x", "a=TEXT")] {
            let error = text.parse::<FieldArgument>().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}

//! Converts arguments `name=text` and `name:=JSON` to query parameters or to members of a body.

use serde_json::{Map, Value};

use crate::arguments::FieldArgument;
use crate::remote::RemoteError;

/// Returns the fields as parameters of a query.
///
/// # Errors
/// [`RemoteError::Usage`] if a value is no text, number or boolean.
pub(super) fn parameters(fields: Vec<FieldArgument>) -> Result<Vec<(String, String)>, RemoteError> {
    let parameter = |FieldArgument { name, value }| match value {
        Value::String(text) => Ok((name, text)),
        Value::Bool(_) | Value::Number(_) => Ok((name, value.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(RemoteError::Usage(format!(
            "the parameter {name} is {value}: a parameter is a text, a number or a boolean; leave {name} out, or give \
             it once for each value"
        ))),
    };
    fields.into_iter().map(parameter).collect()
}

/// Returns the fields as a JSON object.
///
/// # Errors
/// [`RemoteError::Usage`] if a name occurs twice, or has brackets as the parameter `filter[status]` has.
pub(super) fn object(fields: Vec<FieldArgument>) -> Result<Map<String, Value>, RemoteError> {
    let mut object = Map::new();
    for FieldArgument { name, value } in fields {
        if let Some((outer, _)) = name.split_once('[') {
            let message = format!(
                "{name} is no member of a body; write an object as {outer}:={{…}}, a list as {outer}:=[…]"
            );
            return Err(RemoteError::Usage(message));
        }
        if object.contains_key(&name) {
            return Err(RemoteError::Usage(format!("{name} is given twice; write a list as {name}:=[…]")));
        }
        object.insert(name, value);
    }
    Ok(object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(texts: &[&str]) -> Vec<FieldArgument> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn fields_become_parameters_or_members() {
        let pairs = parameters(fields(&["limit:=5", "filter[status]=active", "x=a", "x=b"])).unwrap();
        let expected_pairs = [("limit", "5"), ("filter[status]", "active"), ("x", "a"), ("x", "b")];
        assert_eq!(pairs, expected_pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(object(fields(&["a=x", "b:=[1]"])).unwrap(), *json!({"a": "x", "b": [1]}).as_object().unwrap());
        for (texts, says) in [(&["a=x", "a=y"][..], "a:=[…]"), (&["a[b]=x"], "a:={…}")] {
            assert!(object(fields(texts)).unwrap_err().to_string().contains(says));
        }
        for text in ["a:=null", "a:=[]", "a:={}"] {
            assert!(parameters(fields(&[text])).unwrap_err().to_string().contains("the parameter a"));
        }
    }
}

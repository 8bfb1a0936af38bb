//! Memory of parsed texts.

use super::{Object, Value};

/// Memory of an element of an array or a member of an object in the list that holds it, in bytes.
const ELEMENT_BYTES: usize = size_of::<(String, Value)>();
/// Memory of the name of a member and of a short text or number, in bytes: the two smallest pieces of an allocator.
const TEXT_BYTES: usize = 2 * 32;

/// Size of the values of a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueSize {
    /// Number of values, members of objects included. Each empty array or object counts as two.
    pub values: usize,
    /// A bound of the memory that [`parse`](super::parse) takes for them, in bytes. An array of one number has 4 bytes as
    /// text and more than 100 in memory, so the size of a text does not bound that of its values.
    pub memory_bytes: usize,
}

impl ValueSize {
    /// Measures a text without parsing it.
    ///
    /// ```
    /// use candor_forms::json::ValueSize;
    ///
    /// assert_eq!(ValueSize::measure(br#"{"a":[1,2],"b":"[3,4]"}"#).values, 5);
    /// assert!(ValueSize::measure("[1],".repeat(1_000).as_bytes()).memory_bytes > 100_000);
    /// ```
    #[must_use]
    pub fn measure(text: &[u8]) -> Self {
        let (mut lists, mut commas, mut in_string, mut is_escaped) = (0, 0, false, false);
        for byte in text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if in_string => is_escaped = true,
                b'"' => in_string = !in_string,
                b'[' | b'{' if !in_string => lists += 1,
                b',' if !in_string => commas += 1,
                _ => {}
            }
        }
        // A list begins with room for four elements, and doubles it when it is full.
        let memory_of_lists = lists * (4 * ELEMENT_BYTES + TEXT_BYTES);
        let memory_of_elements = commas * (2 * ELEMENT_BYTES + TEXT_BYTES);
        Self { values: 1 + lists + commas, memory_bytes: text.len() + memory_of_lists + memory_of_elements }
    }
}

/// Bytes that each value takes as JSON beside its text: quotation marks, a comma, a colon.
const MARKS: usize = 4;

impl Value {
    /// Returns about the length of the value as JSON. Escapes are not counted.
    #[must_use]
    pub fn json_bytes(&self) -> usize {
        let bytes = match self {
            Self::Null | Self::Bool(_) => MARKS,
            Self::Number(number) => number.text_bytes(),
            Self::Text(text) => text.len(),
            Self::List(items) => items.iter().map(Self::json_bytes).sum(),
            Self::Object(members) => members.json_bytes(),
        };
        bytes + MARKS
    }
}

impl Object {
    /// Returns about the length of the members as JSON. Escapes are not counted.
    #[must_use]
    pub fn json_bytes(&self) -> usize {
        self.iter().map(|(name, value)| name.len() + MARKS + value.json_bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    /// Returns the memory of a value behind its place in the list that holds it.
    fn memory_of(value: &Value) -> usize {
        let piece = |bytes: usize| if bytes == 0 { 0 } else { bytes.max(32) };
        match value {
            Value::Null | Value::Bool(_) => 0,
            Value::Number(number) if number.is_f64() => piece(number.text().len()),
            Value::Number(_) => 0,
            Value::Text(text) => piece(text.capacity()),
            Value::List(items) => {
                piece(items.capacity() * size_of::<Value>()) + items.iter().map(memory_of).sum::<usize>()
            }
            Value::Object(Object(members)) => {
                let members_bytes = members.iter().map(|(name, value)| piece(name.capacity()) + memory_of(value));
                piece(members.capacity() * ELEMENT_BYTES) + members_bytes.sum::<usize>()
            }
        }
    }

    #[test]
    fn length_of_values_is_that_of_their_json() {
        for text in [r#"{"a":[1,2],"bcd":{"e":"fghijkl","m":null}}"#, r#"["nopq",true]"#, r#"{"r":"stuvwxyz"}"#] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert!((text.len()..4 * text.len()).contains(&value.json_bytes()), "{text}: {}", value.json_bytes());
        }
        let long = "漢".repeat(1_000);
        assert!(Value::Text(long.clone()).json_bytes() - long.len() < 10);
    }

    #[test]
    fn memory_of_values_is_bounded_and_not_overstated() {
        for piece in [
            "1,",
            "[],",
            "[1],",
            "[[]],",
            "{},",
            r#"{"":1},"#,
            r#"{"a":"b"},"#,
            "1.5,",
            r#""b","#,
            "null,",
            "[1,2,3,4,5],",
        ] {
            for count in [1, 2, 3, 4, 5, 33, 1_000, 9_999] {
                let text = format!("[{}0]", piece.repeat(count));
                let memory = memory_of(&parse(text.as_bytes()).unwrap());
                let most_memory = ValueSize::measure(text.as_bytes()).memory_bytes;
                assert!(memory <= most_memory, "{count} of {piece}: {memory} above {most_memory}");
            }
        }
        let text = format!(r#"{{"text":"{}","other":"a, [b] {{c}}"}}"#, r#"x\",["#.repeat(10_000));
        assert!(
            ValueSize::measure(text.as_bytes()).memory_bytes < text.len() + 1_000,
            "the text of a string has no values"
        );
    }
}

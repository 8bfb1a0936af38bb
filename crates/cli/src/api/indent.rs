//! Indentation of JSON for people.

use serde::de::IgnoredAny;

/// Returns a JSON text with one line for each member and element, or `None` if the text is not JSON. Numbers and the
/// order of members stay as they arrived, which a JSON value of `serde_json` would not keep.
pub(super) fn indent_json(text: &[u8]) -> Option<Vec<u8>> {
    serde_json::from_slice::<IgnoredAny>(text).ok()?;
    let mut result = Vec::with_capacity(text.len() * 2);
    let (mut depth, mut is_in_text, mut is_escaped) = (0_usize, false, false);
    for &byte in text {
        if is_in_text {
            result.push(byte);
            is_in_text = is_escaped || byte != b'"';
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        if byte.is_ascii_whitespace() {
            continue;
        }
        let is_closing = matches!(byte, b']' | b'}');
        depth -= usize::from(is_closing);
        // An empty list or object keeps its two brackets on one line.
        let is_behind_opening = matches!(result.last(), Some(b'[' | b'{'));
        if is_behind_opening != is_closing {
            begin_line(&mut result, depth);
        }
        result.push(byte);
        match byte {
            b'[' | b'{' => depth += 1,
            b',' => begin_line(&mut result, depth),
            b':' => result.push(b' '),
            _ => is_in_text = byte == b'"',
        }
    }
    Some(result)
}

fn begin_line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', 2 * depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> Option<String> {
        indent_json(json.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn members_and_elements_have_lines_of_their_own() {
        let indented_text =
            "{\n  \"b\": [\n    1,\n    {\n      \"a\": null\n    }\n  ],\n  \"a\": [],\n  \"c\": 1.50\n}";
        assert_eq!(text(r#"{"b":[1, {"a":null}],"a":[ ],"c":1.50}"#).as_deref(), Some(indented_text));
        assert_eq!(text(indented_text).as_deref(), Some(indented_text));
        assert_eq!((text("{}").as_deref(), text(" 7 ").as_deref()), (Some("{}"), Some("7")));
    }

    #[test]
    fn brackets_and_quotes_in_texts_change_nothing() {
        let indented_text = "{\n  \"a\": \"{[,: \\\\\\\"]}\",\n  \"[\": [\n    \"\\\\\"\n  ]\n}";
        assert_eq!(text(r#"{"a":"{[,: \\\"]}","[":["\\"]}"#).as_deref(), Some(indented_text));
    }

    #[test]
    fn text_that_is_not_json_is_left_alone() {
        assert_eq!((text("<html>"), text("{} {}"), text("]"), text("")), (None, None, None, None));
    }
}

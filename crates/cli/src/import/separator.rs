//! Files whose cells are separated by semicolons or tabs, as Excel writes them in many countries. The service takes commas.

const BOM: &[u8] = b"\xef\xbb\xbf";
/// Separators of cells, the preferred one first.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];
/// Beginning of the line that names the separator to Excel.
const SEPARATOR_LINE: &[u8] = b"sep=";

/// Returns the same file with commas between the cells, and the name of the former separators if they were not
/// commas. Rows keep their numbers, and quotes that do not end stay as they are, so that the reader refuses them.
pub(super) fn with_commas(bytes: Vec<u8>) -> (Vec<u8>, Option<&'static str>) {
    let separator = find_separator(&bytes);
    let name = match separator {
        b';' => "semicolons",
        b'\t' => "tabs",
        _ => return (bytes, None),
    };
    let mut text_with_commas = Vec::with_capacity(bytes.len() + bytes.len() / 8);
    let mut rest = bytes.as_slice();
    if let Some(text) = rest.strip_prefix(BOM) {
        text_with_commas.extend_from_slice(BOM);
        rest = text;
    }
    while !rest.is_empty() {
        let (cell, after) = rest.split_at(find_end_of_cell(rest, separator));
        let needs_quotes = cell.contains(&b',') && !cell.contains(&b'"');
        if needs_quotes {
            text_with_commas.push(b'"');
        }
        text_with_commas.extend_from_slice(cell);
        if needs_quotes {
            text_with_commas.push(b'"');
        }
        let Some((end, next)) = after.split_first() else { break };
        text_with_commas.push(if *end == separator { b',' } else { *end });
        rest = next;
    }
    (text_with_commas, Some(name))
}

/// Returns the separator that the line before the header names, or else the separator that occurs most often in
/// the header outside of quotes.
fn find_separator(bytes: &[u8]) -> u8 {
    let text = bytes.strip_prefix(BOM).unwrap_or(bytes).trim_ascii_start();
    let (prefix, named) = text.split_at(SEPARATOR_LINE.len().min(text.len()));
    if let Some(separator) = named.first().filter(|_| prefix.eq_ignore_ascii_case(SEPARATOR_LINE)) {
        return *separator;
    }
    let (mut counts, mut is_quoted) = ([0_usize; SEPARATORS.len()], false);
    for byte in text {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\r' | b'\n' if !is_quoted => break,
            _ if is_quoted => {}
            _ => {
                for (count, separator) in counts.iter_mut().zip(SEPARATORS) {
                    *count += usize::from(*byte == separator);
                }
            }
        }
    }
    let mut most_frequent = (0, SEPARATORS[0]);
    for (count, separator) in counts.into_iter().zip(SEPARATORS) {
        if count > most_frequent.0 {
            most_frequent = (count, separator);
        }
    }
    most_frequent.1
}

/// Returns the length of the cell at the beginning of a text, with its quotes.
fn find_end_of_cell(text: &[u8], separator: u8) -> usize {
    let mut end = 0;
    if text.first() == Some(&b'"') {
        end = 1;
        // Two quotes within a cell are one quote of its content.
        while end < text.len() && (text[end] != b'"' || text.get(end + 1) == Some(&b'"')) {
            end += if text[end] == b'"' { 2 } else { 1 };
        }
        end = (end + 1).min(text.len());
    }
    let is_end = |byte: &u8| *byte == separator || *byte == b'\r' || *byte == b'\n';
    end + text[end..].iter().position(is_end).unwrap_or(text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semicolons_and_tabs_become_commas() {
        for (text, expected_text, name) in [
            ("email,a\nx;y,z\n", "email,a\nx;y,z\n", None),
            ("email\n", "email\n", None),
            ("email;a\r\nx;y, z\r\n", "email,a\r\nx,\"y, z\"\r\n", Some("semicolons")),
            ("\u{feff}email;a\nx;", "\u{feff}email,a\nx,", Some("semicolons")),
            ("\"email\";\"a, b\"\n\"x;\"\"y\";\n", "\"email\",\"a, b\"\n\"x;\"\"y\",\n", Some("semicolons")),
            ("email\ta\n\nM\u{fc}\t\"two\nlines\"\n", "email,a\n\nM\u{fc},\"two\nlines\"\n", Some("tabs")),
            ("sep=;\nemail;a\n", "sep=,\nemail,a\n", Some("semicolons")),
            ("email;a\n\"open;x\n", "email,a\n\"open;x\n", Some("semicolons")),
            ("email;a\rx;1,5\r", "email,a\rx,\"1,5\"\r", Some("semicolons")),
            ("", "", None),
        ] {
            let result = with_commas(text.as_bytes().to_vec());
            assert_eq!(result, (expected_text.as_bytes().to_vec(), name), "{text:?}");
        }
    }
}

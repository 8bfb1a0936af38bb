//! Finds the blank line that ends a request head, also across several reads.

/// State of the scanner: the kind of the last byte.
#[derive(Debug, Clone, Copy, Default)]
enum Last {
    /// A byte within a line.
    #[default]
    Other,
    /// A line feed, which ends a line.
    Line,
    /// A line feed followed by a carriage return.
    Return,
}

/// Incremental search for a blank line. Lines may end with a bare line feed, which the protocol layer accepts
/// too.
#[derive(Debug, Default)]
pub(crate) struct BlankLine(Last);

impl BlankLine {
    /// Returns the number of bytes up to the end of the first blank line; `None` if there is none. The next call
    /// must get the bytes after this blank line, or after `bytes` if there was none.
    pub(crate) fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, byte) in bytes.iter().enumerate() {
            self.0 = match (byte, self.0) {
                (b'\n', Last::Line | Last::Return) => {
                    self.0 = Last::Other;
                    return Some(at + 1);
                }
                (b'\n', Last::Other) => Last::Line,
                (b'\r', Last::Line) => Last::Return,
                _ => Last::Other,
            };
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_line_is_found_across_any_split_and_line_ending() {
        for head in
            ["GET / HTTP/1.1\r\nhost: x\r\n\r\n", "GET / HTTP/1.1\nhost: x\n\n", "GET / HTTP/1.1\r\na: b\n\r\n"]
        {
            let text = format!("{head}GET");
            for cut in 1..head.len() {
                let mut line = BlankLine::default();
                assert_eq!(line.end(&text.as_bytes()[..cut]), None, "{text:?} cut at {cut}");
                assert_eq!(line.end(&text.as_bytes()[cut..]), Some(head.len() - cut), "{text:?} cut at {cut}");
            }
        }
        assert_eq!(BlankLine::default().end(b"a\r\nb\r\n\rc\n"), None);
    }
}

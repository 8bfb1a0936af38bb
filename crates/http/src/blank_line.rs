//! Finds the blank line that ends the head of a request, however its bytes arrive.

/// What was seen last.
#[derive(Debug, Clone, Copy, Default)]
enum Last {
    /// Something within a line.
    #[default]
    Other,
    /// The end of a line.
    Line,
    /// The end of a line and a carriage return.
    Return,
}

/// Looks for a blank line. A line may end without a carriage return, as it may for the protocol layer.
#[derive(Debug, Default)]
pub(crate) struct BlankLine(Last);

impl BlankLine {
    /// How many of these bytes there are up to the end of a blank line. It goes on from there the next time, or from the
    /// end of these if there is none.
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
    fn a_blank_line_ends_a_head_wherever_it_is_cut_and_however_its_lines_end() {
        for head in ["GET / HTTP/1.1\r\nhost: x\r\n\r\n", "GET / HTTP/1.1\nhost: x\n\n", "GET / HTTP/1.1\r\na: b\n\r\n"]
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

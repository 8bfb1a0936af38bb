//! What commands print as their answer: text for people, or one JSON object with `--json`.

use std::io::Write;

use serde_json::Value;

use crate::error::Error;

/// In which of the two forms a command answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// Whether standard output gets one JSON object and nothing else.
    pub(crate) json: bool,
}

impl Output {
    /// Prints the answer of a command, which has exactly one.
    ///
    /// # Errors
    /// [`Error::Io`] if standard output is closed or cannot be written.
    pub(crate) fn say(self, object: &Value, people: &str) -> Result<(), Error> {
        let mut out = std::io::stdout().lock();
        let written = if self.json { writeln!(out, "{object}") } else { writeln!(out, "{}", people.trim_end()) };
        written.and_then(|()| out.flush()).map_err(Error::io("write", "to standard output"))
    }
}

/// Columns as wide as their widest cell, two blanks apart.
#[must_use]
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let wide = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|it| it.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(wide).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_line_up() {
        let rows = [["a", "long", "x"], ["wider", "b", ""]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "a      long  x\nwider  b");
    }
}

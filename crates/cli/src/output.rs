//! Output of commands: text, or one JSON object with `--json`.

use std::borrow::Cow;
use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::error::CommandError;

/// Output format of a command.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// `true` to print only one JSON object to standard output.
    pub json: bool,
}

impl Output {
    /// Prints the command's only answer: `object` with `--json`, `human_text` otherwise.
    ///
    /// # Errors
    /// [`CommandError::Io`] if standard output is closed or cannot be written.
    pub fn say(self, object: &Value, human_text: &str) -> Result<(), CommandError> {
        let mut stdout = std::io::stdout().lock();
        let write_result =
            if self.json { writeln!(stdout, "{object}") } else { writeln!(stdout, "{}", human_text.trim_end()) };
        write_result.and_then(|()| stdout.flush()).map_err(CommandError::io("write", "to standard output"))
    }
}

/// Time limit for a reader of standard error to take the last lines.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Writes the last lines of the process to standard error. A reader that does not read delays the end for at most
/// a second.
pub fn tell(lines: String) {
    let (done, written) = mpsc::channel();
    thread::spawn(move || {
        let _ = std::io::stderr().write_all(lines.as_bytes());
        let _ = done.send(());
    });
    let _ = written.recv_timeout(LAST_WORDS);
}

/// Escapes characters of foreign text that control terminals or mislead readers: control characters, line ends
/// and bidirectional marks. Letters of every script stay.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_steering) {
        return Cow::Borrowed(text);
    }
    let mut printable_text = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_steering(letter) {
            printable_text.extend(letter.escape_default())
        } else {
            printable_text.push(letter)
        }
    }
    Cow::Owned(printable_text)
}

/// Returns `true` for C0 and C1 controls, U+2028 and U+2029, and the bidirectional marks, embeddings, overrides
/// and isolates.
pub fn is_steering(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns a number with its noun, in the plural unless the number is 1.
#[must_use]
pub fn count_noun(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Formats columns as wide as their widest cell, two blanks apart. Cells are escaped by [`printable`].
#[must_use]
pub fn table(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<Cow<'_, str>>> =
        rows.iter().map(|row| row.iter().map(|cell| printable(cell)).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let wide =
        |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|row| row.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(wide).collect();
    let line = |row: &Vec<Cow<'_, str>>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{printable, table};

    #[test]
    fn table_columns_are_aligned() {
        let rows = [["a", "long", "x"], ["wider", "b", ""]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "a      long  x\nwider  b");
    }

    #[test]
    fn table_escapes_controls_and_direction_marks() {
        let rows = [["\u{1b}[2J\u{9b}1mevil", "x"], ["a\nb\t\u{202e}c\u{2066}d\u{2028}", "y"]];
        let text = table(&rows.map(|row| row.map(str::to_owned).to_vec()));
        let expected_table = "\\u{1b}[2J\\u{9b}1mevil             x\na\\nb\\t\\u{202e}c\\u{2066}d\\u{2028}  y";
        assert_eq!(text, expected_table);
    }

    #[test]
    fn printable_keeps_letters_of_every_script_and_emoji() {
        for text in ["Zoë O’Brien", "שלום", "مرحبا", "漢字 👩‍👩‍👧", "a\u{200c}b", "C:\\temp"]
        {
            assert_eq!(printable(text), text);
        }
    }
}

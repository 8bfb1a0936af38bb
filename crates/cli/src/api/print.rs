//! Output of `candor api`: the response as it arrived, or indented.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use candor_client::{ApiError, HeaderMap, StatusCode};

use super::indent::indent_json;
use crate::error::CommandError;
use crate::output::{Output, is_steering};

/// A response to print.
pub(super) struct PrintedResponse {
    /// Status and headers; `None` for pages that were joined.
    pub(super) head: Option<(StatusCode, HeaderMap)>,
    pub(super) body: Vec<u8>,
}

/// Writes responses to standard output.
pub(super) struct Printer {
    include: bool,
    is_terminal: bool,
    /// `true` to indent JSON.
    is_pretty: bool,
}

impl Printer {
    pub(super) fn new(include: bool, output: Output) -> Self {
        let is_terminal = io::stdout().is_terminal();
        Self { include, is_terminal, is_pretty: is_terminal && !output.json }
    }

    /// Prints a response, with status and headers if they are wanted.
    ///
    /// # Errors
    /// [`CommandError::Io`] if the output cannot be written.
    pub(super) fn print_response(&self, received: &PrintedResponse) -> Result<(), CommandError> {
        if let Some((status, headers)) = &received.head {
            self.print_head(*status, headers)?;
        }
        self.print(&self.format_body(&received.body))
    }

    /// Prints an error response.
    ///
    /// # Errors
    /// [`CommandError::Io`] if the output cannot be written.
    pub(super) fn print_error_response(&self, error: &ApiError) -> Result<(), CommandError> {
        self.print_head(error.status, &error.headers)?;
        self.print(&self.format_body(&error.body))
    }

    fn print_head(&self, status: StatusCode, headers: &HeaderMap) -> Result<(), CommandError> {
        if !self.include {
            return Ok(());
        }
        let mut text = format!("HTTP/1.1 {status}\n").into_bytes();
        for (name, value) in headers {
            text.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\n"].concat());
        }
        text.push(b'\n');
        self.print(&text)
    }

    /// Returns the body, indented if it is JSON for a terminal.
    fn format_body<'a>(&self, body: &'a [u8]) -> Cow<'a, [u8]> {
        let pretty = if self.is_pretty { indent_json(body) } else { None };
        pretty.map_or(Cow::Borrowed(body), Cow::Owned)
    }

    /// Prints a text, and a line end if the text has none. Prints nothing for an empty text.
    fn print(&self, text: &[u8]) -> Result<(), CommandError> {
        if text.is_empty() {
            return Ok(());
        }
        let text = if self.is_terminal { escape_text(text) } else { Cow::Borrowed(text) };
        let mut stdout = io::stdout().lock();
        let end: &[u8] = if text.ends_with(b"\n") { b"" } else { b"\n" };
        let write_result =
            stdout.write_all(&text).and_then(|()| stdout.write_all(end)).and_then(|()| stdout.flush());
        write_result.map_err(CommandError::io("write", "to standard output"))
    }
}

/// Replaces characters that control terminals or mislead readers by `\u` escapes. Line ends and tabs stay.
fn escape_text(text: &[u8]) -> Cow<'_, [u8]> {
    let letters = String::from_utf8_lossy(text);
    let is_unsafe = |letter: char| is_steering(letter) && !matches!(letter, '\n' | '\t');
    if !letters.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut text_for_terminal = String::with_capacity(text.len() + 16);
    for letter in letters.chars() {
        // Unsafe characters are below U+10000, so four hexadecimal digits suffice.
        if is_unsafe(letter) {
            text_for_terminal += &format!("\\u{:04x}", u32::from(letter))
        } else {
            text_for_terminal.push(letter)
        }
    }
    Cow::Owned(text_for_terminal.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printer(is_pretty: bool) -> Printer {
        Printer { include: false, is_terminal: is_pretty, is_pretty }
    }

    #[test]
    fn json_is_indented_only_for_a_terminal() {
        let body = br#"{"b":[1,{"a":null}],"a":[],"c":1.50}"#;
        let text = |is_pretty| String::from_utf8(printer(is_pretty).format_body(body).into_owned()).unwrap();
        assert_eq!(text(false).as_bytes(), body);
        let indented_text =
            "{\n  \"b\": [\n    1,\n    {\n      \"a\": null\n    }\n  ],\n  \"a\": [],\n  \"c\": 1.50\n}";
        assert_eq!(text(true), indented_text);
        assert_eq!(*printer(true).format_body(b"<html>"), *b"<html>");
    }

    #[test]
    fn steering_characters_are_escaped_for_a_terminal() {
        let text = "{\n\t\"a\": \"x\u{9b}31m\u{202e}y\u{1b}漢\"\n}";
        let visible_text = "{\n\t\"a\": \"x\\u009b31m\\u202ey\\u001b漢\"\n}";
        assert_eq!(*escape_text(text.as_bytes()), *visible_text.as_bytes());
    }
}

//! Prints the OpenAPI document.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    serde_json::to_writer_pretty(&mut stdout, &candor_http::openapi::document())?;
    writeln!(stdout)
}

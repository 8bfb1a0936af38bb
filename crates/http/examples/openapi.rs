//! Prints the OpenAPI document.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &candor_http::openapi::document())?;
    writeln!(out)
}

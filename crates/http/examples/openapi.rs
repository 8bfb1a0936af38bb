//! Prints the OpenAPI document of `/v1`, or that of SCIM with the argument `scim`.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let is_scim = std::env::args().nth(1).is_some_and(|name| name == "scim");
    let document = if is_scim { candor_http::openapi::scim_document() } else { candor_http::openapi::document() };
    let mut stdout = io::stdout().lock();
    serde_json::to_writer_pretty(&mut stdout, &document)?;
    writeln!(stdout)
}

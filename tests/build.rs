//! Wraps the documentation's Rust example for webhook receivers in a function. With this function, a test verifies
//! real deliveries.

use std::path::Path;
use std::{env, fs, io};

const PAGE: &str = "../docs/webhooks.md";
const MARK: &str = "<!-- example: rust -->\n```rust\n";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={PAGE}");
    let page = fs::read_to_string(PAGE)?;
    let example = page.split_once(MARK).and_then(|(_, behind)| behind.split_once("```"));
    let (example, _) = example.ok_or_else(|| io::Error::other("docs/webhooks.md has no example in Rust"))?;
    let function = format!(
        "/// Contains the example of the page, and returns the result of its `check`.\n\
         pub(super) fn documented(\n    given: (&str, &str, &[u8], candor_domain::time::Timestamp),\n\
         ) -> Result<(), candor_domain::signature::SignatureError> {{\n{example}\n\
         check(given.0, given.1, given.2, given.3)\n}}\n"
    );
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&folder).join("documented.rs"), function)
}

//! Content of `/docs`: the OpenAPI document with guides and code samples.
//!
//! The guides are the repository's own pages and the samples are generated from the document, so both stay up to
//! date. `/v1/openapi.json` contains neither, because programs read it.

mod guides;
mod patterns;
mod samples;

use actix_web::http::header::HeaderValue;
use bytes::Bytes;

use crate::openapi;
use crate::pages::asset::Asset;
use crate::response::JSON;

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const SCRIPT: HeaderValue = HeaderValue::from_static("text/javascript; charset=utf-8");
const SVG: HeaderValue = HeaderValue::from_static("image/svg+xml");
const CSV: HeaderValue = HeaderValue::from_static("text/csv; charset=utf-8");
const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// HTML page, whose relative paths work at both `/docs` and `/docs/`.
const PAGE: &[u8] = include_bytes!("page.html");
const START: &[u8] = include_bytes!("start.js");
const ICON: &[u8] = br##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6" fill="none" stroke="#4a6fa5" stroke-width="3"/></svg>"##;
/// Example program that the guides link to.
const COPY_PROGRAM: &[u8] = include_bytes!("../../../../docs/examples/keep_a_copy.py");
/// Example file of people that the guides link to.
const PEOPLE: &[u8] = include_bytes!("../../../../docs/examples/people.csv");
const LICENCE: &[u8] = include_bytes!("../../assets/LICENSE-scalar");
/// Script that renders the reference; `assets/README.md` names its source.
const RENDERER: &[u8] = include_bytes!("../../assets/scalar.js.zst");

/// Returns a file of `/docs` by name.
pub(crate) fn file(name: &str) -> Option<Asset> {
    let (content_type, text) = match name {
        "index.html" => (HTML, PAGE),
        "start.js" => (SCRIPT, START),
        "icon.svg" => (SVG, ICON),
        "keep_a_copy.py" => (PLAIN, COPY_PROGRAM),
        "people.csv" => (CSV, PEOPLE),
        "LICENSE-scalar" => (PLAIN, LICENCE),
        "scalar.js" => return Asset::from_zstd(SCRIPT, RENDERER),
        "reference.json" => return Some(Asset::new(JSON, Bytes::from(document().to_string()))),
        _ => return None,
    };
    Some(Asset::new(content_type, Bytes::from_static(text)))
}

fn document() -> serde_json::Value {
    let mut document = openapi::document();
    samples::add(&mut document);
    patterns::fold(&mut document);
    guides::add(&mut document);
    document
}

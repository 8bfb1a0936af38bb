//! Files of the console at `/console`: static modules, which are a client of `/v1` and have no routes of their
//! own.
//!
//! `/console/…` answers the page for every address of a screen. Its files lie below `/console/assets/<hash>/`.
//! The hash covers all files, so that imports are relative and each file is immutable.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderMap, HeaderValue, REFERRER_POLICY, X_FRAME_OPTIONS,
};
use bytes::Bytes;
use candor_console::{FIRST_VIEW, PAGE, served_files};
use candor_domain::idempotency::Fingerprint;

use crate::pages::asset::Asset;
use crate::response::Response;
use crate::response::error_response::ErrorResponse;

/// Content security policy of the console: only files and requests of this origin, no inline scripts and styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' \
                      data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/// Caching of a file for a year, because a file under its hash never changes.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const SCRIPT: HeaderValue = HeaderValue::from_static("text/javascript; charset=utf-8");
const STYLE: HeaderValue = HeaderValue::from_static("text/css; charset=utf-8");
const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// Bytes of the hash in the path.
const HASH_BYTES: usize = 8;
const ASSETS: &str = "assets/";

/// The page and all files in the form in which they are served.
struct Console {
    hash: String,
    page: Asset,
    assets: BTreeMap<&'static str, Asset>,
}

static CONSOLE: LazyLock<Console> = LazyLock::new(Console::new);

impl Console {
    fn new() -> Self {
        let files = served_files();
        let whole: Vec<u8> =
            files.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()].concat()).collect();
        let hash: String =
            Fingerprint::from_body("", "", "", &whole).to_bytes()[..HASH_BYTES].iter().map(hexadecimal).collect();
        let folder = format!("/console/{ASSETS}{hash}/");
        let vendored_names = files.keys().filter(|name| name.ends_with(".mjs"));
        let first: String =
            vendored_names.map(|name| format!("<link rel=\"modulepreload\" href=\"{folder}{name}\">\n")).collect();
        let page = PAGE
            .replace(&format!("{FIRST_VIEW}\n"), &first)
            .replace("href=\"style.css\"", &format!("href=\"{folder}style.css\""))
            .replace("src=\"main.js\"", &format!("src=\"{folder}main.js\""));
        let assets =
            files.into_iter().map(|(name, text)| (name, Asset::new(content_type(name), Bytes::from(text))));
        Self { page: Asset::new(HTML, Bytes::from(page)), assets: assets.collect(), hash }
    }
}

fn hexadecimal(byte: &u8) -> String {
    format!("{byte:02x}")
}

fn content_type(name: &str) -> HeaderValue {
    match name.rsplit_once('.') {
        Some((_, "js" | "mjs")) => SCRIPT,
        Some((_, "css")) => STYLE,
        _ => PLAIN,
    }
}

/// Answers a path below `/console`: a file of the console, or the page for all addresses of screens.
///
/// # Errors
/// 404 for an unknown file, such as one of another version.
pub(crate) fn find_response(path: &str, request: &HeaderMap) -> Result<Response, ErrorResponse> {
    let console = &*CONSOLE;
    let mut response = match path.strip_prefix(ASSETS) {
        // The page names the files of one version, so caches must ask for it again after an upgrade.
        None => with_caching(console.page.answer(request), HeaderValue::from_static("no-cache")),
        Some(file) => {
            let name = file.strip_prefix(&console.hash).and_then(|rest| rest.strip_prefix('/'));
            let asset = name.and_then(|name| console.assets.get(name)).ok_or_else(ErrorResponse::not_found)?;
            with_caching(asset.answer(request), IMMUTABLE)
        }
    };
    for (name, value) in
        [(CONTENT_SECURITY_POLICY, POLICY), (X_FRAME_OPTIONS, "DENY"), (REFERRER_POLICY, "no-referrer")]
    {
        response.headers.push((name, HeaderValue::from_static(value)));
    }
    Ok(response)
}

fn with_caching(mut response: Response, value: HeaderValue) -> Response {
    response.headers.retain(|(header, _)| *header != CACHE_CONTROL);
    response.headers.push((CACHE_CONTROL, value));
    response
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::ACCEPT_ENCODING;

    use super::*;

    /// Maximum size of the first view, compressed.
    const FIRST_VIEW_BYTES: usize = 60_000;
    /// Maximum size of all files, compressed, without those of another language than English.
    const ALL_BYTES: usize = 120_000;

    fn header(response: &Response, name: &str) -> String {
        let entry = response.headers.iter().find(|(header, _)| header.as_str() == name);
        entry.map(|(_, value)| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    #[test]
    fn page_has_a_strict_policy_on_every_address() {
        for path in ["", "webhooks", "people/emp_1", "nowhere"] {
            let response = find_response(path, &HeaderMap::new()).unwrap();
            assert_eq!(header(&response, "content-security-policy"), POLICY, "{path}");
            assert_eq!(header(&response, "referrer-policy"), "no-referrer", "{path}");
            assert!(header(&response, "cache-control") == "no-cache", "{path}");
            let page = String::from_utf8(response.body.to_vec()).unwrap();
            assert!(!page.contains("<script>") && !page.contains("style="), "{path}");
        }
        assert!(!POLICY.contains("unsafe"));
    }

    #[test]
    fn file_is_immutable_under_its_hash_and_absent_elsewhere() {
        let hash = &CONSOLE.hash;
        let script = find_response(&format!("assets/{hash}/main.js"), &HeaderMap::new()).unwrap();
        assert_eq!(header(&script, "cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(header(&script, "content-security-policy"), POLICY);
        for path in ["assets/main.js", "assets/0000000000000000/main.js", &format!("assets/{hash}/../main.js")] {
            assert!(find_response(path, &HeaderMap::new()).is_err(), "{path}");
        }
    }

    #[test]
    fn first_view_is_small() {
        let bytes = sent_bytes(|name| ["main.js", "style.css"].contains(&name) || name.ends_with(".mjs"));
        assert!(bytes < FIRST_VIEW_BYTES, "{bytes} bytes");
    }

    /// Bytes of these files as browsers get them.
    fn sent_bytes(is_chosen: impl Fn(&str) -> bool) -> usize {
        let mut accepting = HeaderMap::new();
        accepting.insert(ACCEPT_ENCODING, HeaderValue::from_static("zstd"));
        let chosen_files = CONSOLE.assets.iter().filter(|(name, _)| is_chosen(name));
        chosen_files.map(|(_, asset)| asset.answer(&accepting).body.len()).sum()
    }

    #[test]
    fn all_screens_of_a_language_are_small() {
        let bytes = sent_bytes(|name| !name.starts_with("languages/") && !name.contains("LICENSE"));
        assert!(bytes < ALL_BYTES, "{bytes} bytes");
    }

    #[test]
    fn audit_screen_offers_every_action() {
        let (_, screen) = candor_console::FILES.iter().find(|(name, _)| *name == "screens/audit.js").unwrap();
        let (_, verbs) = screen.split_once("VERBS = {").unwrap();
        let (verbs, _) = verbs.split_once("};").unwrap();
        let of_kind = |line: &str| -> Option<Vec<String>> {
            let (kind, verbs) = line.trim().split_once(": ")?;
            let verbs = verbs.trim_matches(['"', ',']).split(' ');
            Some(verbs.map(|verb| format!("{kind}.{verb}")).collect())
        };
        let actions_on_screen: Vec<String> = verbs.lines().filter_map(of_kind).flatten().collect();
        let actions: Vec<_> = candor_domain::audit::ACTIONS.iter().map(|(action, _)| *action).collect();
        assert_eq!(actions_on_screen, actions);
    }
}

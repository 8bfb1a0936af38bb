//! Files of the console at `/console`: static modules, which are a client of `/v1` and have no routes of their
//! own.
//!
//! `/console/…` answers the page for every address of a screen. The modules lie below `/console/assets/<hash>/`.
//! The hash covers all files, so that relative imports stay as they are written and each file is immutable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderMap, HeaderValue, REFERRER_POLICY, X_FRAME_OPTIONS,
};
use bytes::Bytes;
use candor_console::{FILES, FIRST_VIEW, PAGE};
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
        let whole: Vec<u8> =
            FILES.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()].concat()).collect();
        let hash: String =
            Fingerprint::from_body("", "", "", &whole).to_bytes()[..HASH_BYTES].iter().map(hexadecimal).collect();
        let folder = format!("/console/{ASSETS}{hash}/");
        let first: String = first_view()
            .into_iter()
            .filter(|name| *name != "main.js")
            .map(|name| format!("<link rel=\"modulepreload\" href=\"{folder}{name}\">\n"))
            .collect();
        let page = PAGE
            .replace(&format!("{FIRST_VIEW}\n"), &first)
            .replace("href=\"style.css\"", &format!("href=\"{folder}style.css\""))
            .replace("src=\"main.js\"", &format!("src=\"{folder}main.js\""));
        let assets =
            FILES.iter().map(|(name, text)| (*name, Asset::new(content_type(name), serve_form(name, text))));
        Self { page: Asset::new(HTML, Bytes::from(page)), assets: assets.collect(), hash }
    }
}

/// Returns the modules of the first view: those that the page and the first screen import, directly or through other
/// modules.
fn first_view() -> BTreeSet<&'static str> {
    let mut modules = BTreeSet::new();
    let mut open = vec!["main.js", "screens/today.js"];
    while let Some(module) = open.pop() {
        if modules.insert(module) {
            let text = FILES.iter().find(|(name, _)| *name == module).map_or("", |(_, text)| *text);
            let paths = text.split(" from \"").skip(1).filter_map(|rest| rest.split('"').next());
            open.extend(paths.filter_map(|path| find_file(module, path)));
        }
    }
    modules
}

/// Returns the file that a module imports under a relative path.
fn find_file(module: &str, path: &str) -> Option<&'static str> {
    let folder = module.rsplit_once('/').map_or("", |(folder, _)| folder);
    let name = match path.strip_prefix("../") {
        Some(above) => above.to_owned(),
        None if folder.is_empty() => path.strip_prefix("./")?.to_owned(),
        None => format!("{folder}/{}", path.strip_prefix("./")?),
    };
    FILES.iter().map(|(file, _)| *file).find(|file| *file == name)
}

fn hexadecimal(byte: &u8) -> String {
    format!("{byte:02x}")
}

/// Returns the served form of a file. The hooks of Preact import Preact by the name of its package, which browsers
/// cannot resolve.
fn serve_form(name: &str, text: &'static str) -> Bytes {
    match name {
        "vendor/hooks.mjs" => Bytes::from(text.replace("from\"preact\"", "from\"./preact.mjs\"")),
        _ if name.starts_with("vendor/") => Bytes::from_static(text.as_bytes()),
        _ => Bytes::from(without_comments(text)),
    }
}

/// Returns a module or a style sheet without its types and other comments, its empty lines and its indentation, which
/// are a sixth of its compressed bytes. No text and no template of a module contains the beginning of a comment.
fn without_comments(text: &str) -> String {
    let (first, rest) = text.split_once("/**").unwrap_or((text, ""));
    let after_comments = rest.split("/**").filter_map(|part| part.split_once("*/")).map(|(_, code)| code);
    let code: String = std::iter::once(first).chain(after_comments).collect();
    let lines = code.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
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
    const FIRST_VIEW_BYTES: usize = 70 * 1024;
    /// Maximum size of all files, compressed, without those of another language than English.
    const ALL_BYTES: usize = 160 * 1024;

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
        let modules = first_view();
        assert!(modules.contains("lib/ui.js") && modules.contains("vendor/preact.mjs"), "{modules:?}");
        assert!(!modules.contains("screens/people.js") && !modules.contains("languages/de.js"), "{modules:?}");
        let bytes = sent_bytes(|name| modules.contains(name) || name == "style.css");
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
    fn code_is_served_without_its_comments() {
        let module = "// A module.\n\n/** @param {string} one */\nexport function add(one) {\n  // Why.\n  \
                      const two = /** @type {string} */ (one);\n  return html`<b>\n    ${two}</b>`; // so\n}\n\n/**\n * \
                      Two\n * lines. */\nexport const url = \"https://one\";\n";
        let code = "export function add(one) {\nconst two =  (one);\nreturn html`<b>\n${two}</b>`; // so\n}\n\
                    export const url = \"https://one\";\n";
        assert_eq!(without_comments(module), code);
        for (name, text) in FILES.iter().filter(|(name, _)| !name.starts_with("vendor/")) {
            let served_form = without_comments(text);
            assert!(!served_form.contains("/**") && !served_form.contains("\n//"), "{name}");
        }
    }

    #[test]
    fn audit_screen_offers_every_action() {
        let (_, screen) = FILES.iter().find(|(name, _)| *name == "screens/audit.js").unwrap();
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

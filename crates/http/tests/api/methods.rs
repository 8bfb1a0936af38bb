//! `HEAD` for every `GET`, `OPTIONS` for every path, 405 with `Allow` for other methods, and 404 for unknown
//! paths.

use candor_http::table::{Method, ROUTES};
use serde_json::json;

use crate::resources::{Resources, family, method};
use crate::support::TestApi;

fn methods_of(path: &str) -> Vec<&'static str> {
    let routes_at_path = || ROUTES.iter().filter(|route| route.path == path);
    routes_at_path().map(method).chain(routes_at_path().filter(|route| route.has_page()).map(|_| "GET")).collect()
}

fn allowed(path: &str) -> String {
    let methods = methods_of(path);
    let words = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let takes = |text: &&str| {
        *text == "OPTIONS" || methods.contains(text) || (*text == "HEAD" && methods.contains(&"GET"))
    };
    words.into_iter().filter(takes).collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn head_equals_get_without_body() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    for route in ROUTES.iter().filter(|route| route.method == Method::Get) {
        let path = resources.path(route);
        let ask = |method: &str| world.bare(method, &path).key(resources.key(route, &world.admin)).send();
        let (get, head) = (ask("GET").await, ask("HEAD").await);
        assert_eq!((get.status, head.status), (200, 200), "{path}");
        for name in ["content-type", "etag", "cache-control"] {
            assert_eq!(get.header(name), head.header(name), "{path}: {name}");
        }
    }
}

#[tokio::test]
async fn options_lists_methods_without_a_key() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    for route in ROUTES {
        let response = world.bare("OPTIONS", &resources.path(route)).send().await;
        assert_eq!((response.status, response.body.len()), (204, 0), "{}", route.path);
        assert_eq!(response.header("allow"), Some(allowed(route.path).as_str()), "{}", route.path);
        assert!(response.header("x-request-id").is_some() && response.header("x-ratelimit-limit").is_some());
    }
    assert_eq!(world.bare("OPTIONS", "/v1/nothing").send().await.status, 404);
}

#[tokio::test]
async fn method_not_allowed_is_405_with_allow_with_or_without_key() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    for route in ROUTES {
        let methods = methods_of(route.path);
        for other in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND"] {
            if methods.contains(&other) || (other == "HEAD" && methods.contains(&"GET")) {
                continue;
            }
            let request = world.bare(other, &resources.path(route));
            let response = request.key(resources.key(route, &world.admin)).send().await;
            if family(route) == "Groups" {
                assert_eq!(response.status, 501, "{other} {}", route.path);
                continue;
            }
            assert_eq!(response.status, 405, "{other} {}", route.path);
            assert_eq!(response.header("allow"), Some(allowed(route.path).as_str()), "{other} {}", route.path);
            assert_eq!(response.code(), "bad_request", "{other} {}", route.path);
        }
    }
    assert_eq!(world.bare("DELETE", "/v1/me").send().await.refusal(), (405, "bad_request".to_owned()));
}

#[tokio::test]
async fn escaped_unreserved_characters_reach_the_same_route() {
    let world = TestApi::new().await;
    let id = world.employee("ada@example.com").await;
    let tail = &id["emp_".len()..];
    for path in [format!("/v1/employees/%65mp%5F{tail}"), format!("/v1/%65mployees/emp_{tail}")] {
        assert_eq!(world.get(&path).await.json()["id"], json!(id), "{path}");
    }
    for path in [format!("/v1/employees%2F{id}"), format!("/v1/employees/{id}%20"), format!("/v1/employees/{id}%")]
    {
        assert_eq!(world.get(&path).await.refusal(), (404, "not_found".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn unknown_path_is_404_with_the_error_envelope() {
    let world = TestApi::new().await;
    for path in ["/v1", "/v1/", "/v1/nothing", "/v2/me", "/v1/me/", "//v1/me", "/v1/observations/a/b", "/docs/x"] {
        for method in ["GET", "POST", "DELETE"] {
            if path == "/docs/x" && method != "GET" {
                continue;
            }
            let response = world.bare(method, path).send().await;
            assert_eq!(response.refusal(), (404, "not_found".to_owned()), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn pages_beside_the_api_allow_reads_only() {
    let world = TestApi::new().await;
    for path in ["/", "/livez", "/readyz", "/docs"] {
        assert_eq!(world.bare("HEAD", path).send().await.status, 200, "{path}");
        let response = world.bare("POST", path).send().await;
        assert_eq!((response.status, response.header("allow")), (405, Some("GET, HEAD, OPTIONS")), "{path}");
        assert_eq!(response.code(), "bad_request", "{path}");
        assert_eq!(world.bare("OPTIONS", path).send().await.status, 204, "{path}");
    }
}

#[tokio::test]
async fn reference_page_loads_no_external_resources() {
    let world = TestApi::new().await;
    let page = world.bare("GET", "/docs").send().await;
    let policy = page.header("content-security-policy").unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("http"), "{policy}");
    assert!(!policy.contains("unsafe-eval") && !policy.contains("script-src 'self' "), "{policy}");
    let text = page.text();
    let links: Vec<&str> =
        text.split(['"', '\'']).filter(|part| part.starts_with('/') || part.contains("//")).collect();
    assert_eq!(links, ["/docs/icon.svg", "/docs/scalar.js", "/docs/start.js"]);
    for link in links {
        let file = world.bare("GET", link).send().await;
        assert_eq!((file.status, file.header("content-security-policy")), (200, Some(policy.as_str())), "{link}");
    }
    let start = world.bare("GET", "/docs/start.js").send().await.text();
    assert!(start.contains("/docs/reference.json") && !start.contains("://"), "{start}");
    assert_eq!(world.bare("GET", "/docs/").send().await.text(), text);
}

//! The console at `/console`: static files with a strict policy, if it is switched on.

use candor_http::HttpSettings;

use crate::support::TestApi;

async fn world(console: bool) -> TestApi {
    TestApi::with(HttpSettings { console, ..crate::support::patient_settings() }).await
}

#[tokio::test]
async fn console_switched_off_is_not_found() {
    let world = world(false).await;
    for path in ["/console", "/console/", "/console/webhooks", "/console/assets/0/main.js"] {
        let response = world.bare("GET", path).send().await;
        assert_eq!((response.status, response.code()), (404, "not_found".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn console_page_names_only_immutable_files_of_its_origin() {
    let world = world(true).await;
    let page = world.bare("GET", "/console/people/emp_1?view=tree").send().await;
    assert_eq!((page.status, page.header("cache-control")), (200, Some("no-cache")));
    let policy = page.header("content-security-policy").unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
    assert!(!policy.contains("unsafe") && page.header("set-cookie").is_none(), "{policy}");
    let text = page.text();
    let links: Vec<&str> = text.split('"').filter(|part| part.starts_with("/console/")).collect();
    assert!(links.len() >= 5 && !text.contains("://"), "{text}");
    for link in links {
        let file = world.bare("GET", link).send().await;
        assert_eq!((file.status, file.header("content-security-policy")), (200, Some(policy.as_str())), "{link}");
        assert!(file.header("cache-control").unwrap().contains("immutable"), "{link}");
    }
    let post_response = world.bare("POST", "/console").send().await;
    assert_eq!((post_response.status, post_response.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
}

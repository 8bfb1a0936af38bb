//! `ETag`, `If-None-Match` and `If-Match` (decision A14).

use candor_http::table::{Dialect, Method, ROUTES, Route};
use serde_json::json;

use crate::resources::{Resources, family};
use crate::support::TestApi;

#[tokio::test]
async fn etag_is_sent_for_single_resources_but_not_for_lists() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    for route in ROUTES.iter().filter(|route| route.method == Method::Get) {
        let path = resources.path(route);
        let response = resources.ask(&world, route).send().await;
        let is_list = route.query.is_some_and(|query| query.is_list);
        let has_version = !["Schemas", "ResourceTypes"].contains(&family(route))
            && !["/stats", "/legal-hold", "/personal-data", "/erasures/{id}", "/retention/runs/{id}"]
                .iter()
                .any(|end| route.path.ends_with(end));
        let single = route.path.contains("{id}") && !is_list && has_version
            || ["/organization", "/openapi.json"].contains(&route.path);
        assert_eq!(response.header("etag").is_some(), single, "{path}");
        let Some(tag) = response.header("etag") else { continue };
        let strong_tag = tag.trim_start_matches("W/");
        assert_eq!(strong_tag != tag, route.dialect == Dialect::Scim, "{path}: {tag}");
        assert!(strong_tag.starts_with('"') && tag.ends_with('"'), "not an ETag: {tag}");
        for (line, status) in [
            (tag.to_owned(), 304),
            (format!("W/{strong_tag}"), 304),
            ("*".to_owned(), 304),
            (format!("\"other\", {tag}"), 304),
            ("\"other\"".to_owned(), 200),
            ("nonsense".to_owned(), 200),
        ] {
            for method in ["GET", "HEAD"] {
                let request = world.bare(method, &path).key(resources.key(route, &world.admin));
                let second_response = request.header("if-none-match", &line).send().await;
                assert_eq!(second_response.status, status, "{method} {path} {line}");
                assert_eq!(second_response.header("etag"), Some(tag), "{method} {path} {line}");
                assert!(second_response.header("x-request-id").is_some());
                assert!(
                    status == 200
                        || (second_response.body.is_empty() && second_response.header("content-type").is_none())
                );
            }
        }
    }
}

#[tokio::test]
async fn expanded_resource_has_no_etag() {
    let world = TestApi::new().await;
    let id = world.observation("ada@example.com").await;
    assert_eq!(world.get(&format!("/v1/observations/{id}?expand=employee")).await.header("etag"), None);
}

#[tokio::test]
async fn stale_if_match_is_412_and_changes_nothing() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let mut routes: Vec<_> = ROUTES.iter().filter(|route| route.is_conditional()).collect();
    // Deletions come last, because they remove the resources of the other routes. Among them, longer paths come
    // first: a part is deleted before its whole.
    routes.sort_by_key(|route| if route.method == Method::Delete { usize::MAX - route.path.len() } else { 0 });
    for route in routes {
        let ask = |line: &str| {
            let request = resources.ask(&world, route).header("if-match", line);
            match resources.body(route) {
                Some(body) => request.json(&body),
                None => request,
            }
            .send()
        };
        for line in ["\"0000000000000000\"", "", "W/\"0000000000000000\"", "\"a\", \"b\""] {
            let response = ask(line).await;
            assert_eq!(response.refusal(), (412, "conflict".to_owned()), "{} {line}", route.operation);
        }
        let malformed_response = ask("nonsense").await;
        assert_eq!(malformed_response.refusal(), (400, "bad_request".to_owned()), "{}", route.operation);
        let wildcard_response = ask("*").await;
        assert_ne!(wildcard_response.status, 412, "{}", route.operation);
    }
}

#[tokio::test]
async fn if_match_takes_the_tag_of_the_first_id_in_the_path() {
    let mut untagged_operations = Vec::new();
    // An issue of a connector has a version of its own, which no response shows.
    let is_issue = |route: &&Route| route.path.contains("{issue_id}");
    for route in
        ROUTES.iter().filter(|route| route.is_conditional() && route.path.contains("{id}") && !is_issue(route))
    {
        let world = TestApi::new().await;
        let resources = Resources::make(&world, &world.admin).await;
        resources.begin(&world, route).await;
        let path = resources.path(route);
        let segment_count = if route.dialect == Dialect::Scim { 5 } else { 4 };
        let resource = path.split('/').take(segment_count).collect::<Vec<_>>().join("/");
        let read = world.bare("GET", &resource).key(resources.key(route, &world.admin)).send().await;
        let Some(tag) = read.header("etag").map(str::to_owned) else {
            untagged_operations.push(route.operation);
            continue;
        };
        let request = resources.ask(&world, route).header("if-match", &tag);
        let response = resources.fill(request, route).send().await;
        assert!(response.status < 300, "{}: {}", route.operation, response.text());
    }
    assert_eq!(untagged_operations, ["readNotification"], "resources that a client reads only in lists");
}

#[tokio::test]
async fn if_match_with_current_version_succeeds_once() {
    let world = TestApi::new().await;
    let id = world.observation("ada@example.com").await;
    let path = format!("/v1/observations/{id}");
    let first = world.get(&path).await.header("etag").unwrap().to_owned();
    let change = |impact: &'static str, tag: String| {
        let body = json!({"impact": impact});
        let request = world.ask("PATCH", &path).header("if-match", &tag).json(&body);
        async move { request.send().await }
    };
    let response = change("one", first.clone()).await;
    assert_eq!(response.status, 200);
    let second = response.header("etag").unwrap().to_owned();
    assert_ne!(first, second);
    assert_eq!(world.get(&path).await.header("etag"), Some(second.as_str()));
    assert_eq!(change("two", first.clone()).await.status, 412);
    assert_eq!(change("two", format!("{first}, W/{second}")).await.status, 200);
    assert_eq!(world.get(&path).await.json()["impact"], "two");
}

#[tokio::test]
async fn created_resource_returns_location_and_etag() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    for route in ROUTES.iter().filter(|route| route.status == 201) {
        let creation = resources.fill(resources.ask(&world, route), route).send().await;
        let id = creation.json()["id"].as_str().unwrap().to_owned();
        let own = resources.path(route);
        let collection = route.collection.map_or(own, |collection| format!("/v1{collection}"));
        let path = format!("{collection}/{id}");
        let location = format!("{}{path}", crate::support::PUBLIC_URL);
        assert_eq!(
            (creation.status, creation.header("location")),
            (201, Some(location.as_str())),
            "{}",
            route.operation
        );
        let read = world.bare("GET", &path).key(resources.key(route, &world.admin)).send().await;
        // The ETag of a GET of a connector also covers figures that the answer to the creation lacks.
        if route.operation == "createConnector" {
            continue;
        }
        assert_eq!(read.header("etag"), creation.header("etag"), "{}", route.operation);
        if !matches!(route.operation, "createApiKey" | "createPortalLink" | "createWebhook") {
            assert_eq!(read.body, creation.body, "{}", route.operation);
        }
    }
}

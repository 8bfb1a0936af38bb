//! The web page behind an invitation link, as used by a browser without scripts.

use serde_json::{Value, json};

use crate::support::{PUBLIC_URL, TestApi, TestResponse};

const PATH: &str = "/v1/invitations/accept";
const FORM: &str = "application/x-www-form-urlencoded";

async fn link(world: &TestApi) -> (String, String) {
    let employee = world.post(
        "/v1/employees",
        json!({
            "email": "ada@example.com", "first_name": "Ada", "last_name": "Moreau", "send_invite": true,
        }),
    );
    let employee = employee.await.json()["id"].as_str().unwrap().to_owned();
    let invite_response = world.post(&format!("/v1/employees/{employee}/invite"), json!({})).await;
    (employee, invite_response.json()["accept_url"].as_str().unwrap().strip_prefix(PUBLIC_URL).unwrap().to_owned())
}

async fn press(world: &TestApi, body: &str) -> TestResponse {
    world.bare("POST", PATH).header("content-type", FORM).body(body.to_owned()).send().await
}

fn assert_page(answered: &TestResponse) {
    assert_eq!(answered.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = answered.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; form-action 'self';"), "{policy}");
    assert!(!policy.contains("script") && !policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    for (name, value) in
        [("referrer-policy", "no-referrer"), ("cache-control", "no-store"), ("x-frame-options", "DENY")]
    {
        assert_eq!(answered.header(name), Some(value), "{name}");
    }
    let text = answered.text();
    assert!(
        !text.contains("<script") && !text.contains("://"),
        "the page has no script and loads nothing: {text}"
    );
}

#[tokio::test]
async fn invitation_link_opens_a_page_with_an_accept_button() {
    let world = TestApi::new().await;
    let (employee, link) = link(&world).await;
    let page_response = world.bare("GET", &link).send().await;
    assert_page(&page_response);
    let text = page_response.text();
    let token = text.split_once("name=\"token\" value=\"").unwrap().1.split_once('"').unwrap().0.to_owned();
    assert!(
        text.contains("<form method=\"post\" action=\"accept\">") && link.ends_with(&format!("={token}")),
        "{text}"
    );
    let response_before = world.get(&format!("/v1/employees/{employee}")).await;
    assert_eq!(
        (page_response.status, &response_before.json()["status"]),
        (200, &json!("pending_invite")),
        "opening the page does not accept the invitation"
    );

    let acceptance = press(&world, &format!("token={token}")).await;
    assert_page(&acceptance);
    assert_eq!(acceptance.status, 200);
    assert!(acceptance.text().contains("<h1>Invitation accepted</h1>"), "{}", acceptance.text());
    assert_eq!(world.get(&format!("/v1/employees/{employee}")).await.json()["status"], json!("active"));

    let second_acceptance = press(&world, &format!("token={token}")).await;
    assert_page(&second_acceptance);
    assert_eq!(second_acceptance.status, 404);
    assert!(second_acceptance.text().contains("cannot be accepted"), "{}", second_acceptance.text());
}

#[tokio::test]
async fn invitation_page_is_equal_for_valid_and_invalid_tokens() {
    let world = TestApi::new().await;
    let (_, link) = link(&world).await;
    let token = link.split_once('=').unwrap().1;
    let good = world.bare("GET", &link).send().await;
    let guess = "A".repeat(token.len());
    let bad = world.bare("GET", &format!("{PATH}?token={guess}")).send().await;
    assert_eq!((good.status, good.text().replace(token, &guess)), (bad.status, bad.text()));
    assert_eq!(world.bare("HEAD", &link).send().await.status, 200);
}

#[tokio::test]
async fn invitation_token_is_escaped_on_the_page() {
    let world = TestApi::new().await;
    let page_response =
        world.bare("GET", &format!("{PATH}?token=%22%3E%3Cscript%3Ealert(1)%3C/script%3E%27%26")).send().await;
    assert_page(&page_response);
    assert!(page_response.text().contains("value=\"&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;\""));
    for link in [PATH.to_owned(), format!("{PATH}?token="), format!("{PATH}?token=%zz")] {
        let second_page = world.bare("GET", &link).send().await;
        assert_page(&second_page);
        assert!(second_page.status == 200 && second_page.text().contains("<input name=\"token\""), "{link}");
    }
}

#[tokio::test]
async fn invitation_form_is_always_answered_by_a_page() {
    let world = TestApi::new().await;
    for (body, status) in [
        ("", 400),
        ("token=", 400),
        ("token=a&token=b", 400),
        ("token=a&more=b", 400),
        ("token=%zz", 400),
        ("token=guess", 404),
    ] {
        let response = press(&world, body).await;
        assert_page(&response);
        assert_eq!(response.status, status, "{body}");
    }
    let json = world.bare("POST", PATH).json(&json!({"token": "guess"})).send().await;
    assert_eq!(json.refusal(), (404, "not_found".to_owned()), "a JSON request gets the error envelope");
    let other = world.bare("POST", PATH).header("content-type", "text/plain").body("token=guess").send().await;
    assert_eq!(other.refusal(), (415, "bad_request".to_owned()));
}

#[tokio::test]
async fn invitation_form_and_json_request_share_a_quota() {
    let world = TestApi::new().await;
    for count in 0..20 {
        let response = if count % 2 == 0 {
            press(&world, "token=guess").await
        } else {
            world.bare("POST", PATH).json(&json!({"token": "guess"})).send().await
        };
        assert_eq!(response.status, 404);
    }
    let error_response = press(&world, "token=guess").await;
    assert_page(&error_response);
    assert_eq!((error_response.status, error_response.header("retry-after")), (429, Some("60")));
    assert_eq!(world.bare("POST", PATH).json(&json!({"token": "guess"})).send().await.status, 429);
    assert_eq!(
        world.bare("GET", &format!("{PATH}?token=guess")).send().await.status,
        200,
        "opening the page is not limited"
    );
}

#[tokio::test]
async fn root_path_names_the_service_and_its_documentation() {
    let world = TestApi::new().await;
    let response = world.bare("GET", "/").send().await;
    let expected_body: Value = json!({
        "name": "Candor", "version": env!("CARGO_PKG_VERSION"), "docs_url": format!("{PUBLIC_URL}/docs"),
        "openapi_url": format!("{PUBLIC_URL}/v1/openapi.json"),
    });
    assert_eq!((response.status, response.json()), (200, expected_body));
    assert_eq!(response.header("x-ratelimit-limit"), None, "the path counts against no quota, like /docs");
    for link in ["docs_url", "openapi_url"] {
        let path = response.json()[link].as_str().unwrap().strip_prefix(PUBLIC_URL).unwrap().to_owned();
        assert_eq!(world.bare("GET", &path).send().await.status, 200, "{path}");
    }
}

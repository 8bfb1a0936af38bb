//! Exchange of a code: the form as the provider sees it, and the refusals.

use candor_domain::secret::Secret;
use candor_port_identity::{CodeExchange, IdentityTransport};
use candor_sign_in::fetch_failure::FetchError;
use candor_tokens::discovery::ClientAuthentication;
use serde_json::json;

use crate::server::{ORGANIZATION, Provider, ServerResponse, client};

const FORM: &str = "grant_type=authorization_code&code=c%2B1&redirect_uri=https%3A%2F%2Fcandor.example%2Fcallback&code_verifier=v";

fn exchange(provider: &Provider, authentication: ClientAuthentication, secret: Option<&str>) -> CodeExchange {
    CodeExchange {
        organization: ORGANIZATION,
        token_endpoint: provider.url("/token"),
        authentication,
        client_id: "con:sole".to_owned(),
        client_secret: secret.map(|text| Secret::new(text.to_owned())),
        code: Secret::new("c+1".to_owned()),
        redirect_uri: "https://candor.example/callback".to_owned(),
        code_verifier: Secret::new("v".to_owned()),
    }
}

#[tokio::test]
async fn client_secret_is_sent_in_the_supported_way() {
    let provider = Provider::start().await;
    provider.set("/token", ServerResponse::json(json!({"id_token": "a.b.c"})));
    let (basic, post) = (ClientAuthentication::Basic, ClientAuthentication::Post);
    // `con%3Asole:s%26%C3%A9%20%2B1` in base64.
    let credentials = "Basic Y29uJTNBc29sZTpzJTI2JUMzJUE5JTIwJTJCMQ==";
    for (authentication, secret, header, tail) in [
        (basic, Some("s&é +1"), Some(credentials), ""),
        (post, Some("s&é +1"), None, "&client_id=con%3Asole&client_secret=s%26%C3%A9+%2B1"),
        (basic, None, None, "&client_id=con%3Asole"),
        (post, None, None, "&client_id=con%3Asole"),
    ] {
        let document = client().exchange_code(exchange(&provider, authentication, secret)).await.unwrap();
        assert_eq!(document.body, r#"{"id_token":"a.b.c"}"#.as_bytes());
        let request = provider.requests().pop().unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /token HTTP/1.1"), "{head}");
        assert!(head.contains("Content-Type: application/x-www-form-urlencoded"), "{head}");
        let authorization = head.lines().find_map(|line| line.strip_prefix("Authorization: "));
        assert_eq!(authorization, header);
        assert_eq!(body, format!("{FORM}{tail}"));
    }
}

#[tokio::test]
async fn token_endpoint_refusal_is_returned_with_its_code() {
    let provider = Provider::start().await;
    let error_code = |code: &str| FetchError::Refused(code.to_owned());
    for (status, body, failure) in [
        (
            "400 Bad Request",
            r#"{"error":"invalid_grant","error_description":"expired"}"#,
            error_code("invalid_grant"),
        ),
        ("401 Unauthorized", r#"{"error":"invalid_client"}"#, error_code("invalid_client")),
        ("400 Bad Request", r#"{"error":"<script>"}"#, FetchError::Status(400)),
        ("400 Bad Request", r#"{"error":{"code":1}}"#, FetchError::Status(400)),
        ("403 Forbidden", "<html>", FetchError::Status(403)),
        ("201 Created", "{}", FetchError::Status(201)),
    ] {
        provider.set("/token", ServerResponse::with_headers(status, "", body));
        let exchange = exchange(&provider, ClientAuthentication::Basic, Some("secret"));
        assert_eq!(client().exchange_code(exchange).await, Err(failure), "{status} {body}");
    }
}

#[tokio::test]
async fn redirect_of_the_token_endpoint_gets_no_code() {
    let (provider, target) = (Provider::start().await, Provider::start().await);
    let location = format!("location: {}\r\n", target.url("/token"));
    provider.set("/token", ServerResponse::with_headers("307 Temporary Redirect", &location, ""));
    let exchange = exchange(&provider, ClientAuthentication::Post, Some("secret"));
    assert_eq!(client().exchange_code(exchange).await, Err(FetchError::Redirect));
    assert_eq!(target.connections(), 0);
}

#[test]
fn secrets_of_an_exchange_are_not_printed() {
    let exchange = CodeExchange {
        organization: ORGANIZATION,
        token_endpoint: String::new(),
        authentication: ClientAuthentication::Post,
        client_id: String::new(),
        client_secret: Some(Secret::new("hidden-1".to_owned())),
        code: Secret::new("hidden-2".to_owned()),
        redirect_uri: String::new(),
        code_verifier: Secret::new("hidden-3".to_owned()),
    };
    assert!(!format!("{exchange:?}").contains("hidden"));
}

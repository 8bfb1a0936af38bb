//! Form of the exchange of a code (RFC 6749, RFC 7636).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use candor_domain::json::Value;
use candor_domain::secret::Secret;
use candor_port_identity::CodeExchange;
use candor_sign_in::fetch_failure::FetchError;
use candor_tokens::discovery::ClientAuthentication;
use candor_tokens::strict_json::read_object;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use url::form_urlencoded;

/// Longest error code of a token endpoint that is passed on, in characters.
const ERROR_CHARS: usize = 64;

/// Returns the form of an exchange as a body, and adds the headers that it needs to `headers`.
pub(crate) fn write(exchange: &CodeExchange, headers: &mut HeaderMap) -> Bytes {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", "authorization_code")
        .append_pair("code", exchange.code.reveal())
        .append_pair("redirect_uri", &exchange.redirect_uri)
        .append_pair("code_verifier", exchange.code_verifier.reveal());
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    match (&exchange.client_secret, exchange.authentication) {
        (Some(secret), ClientAuthentication::Basic) => {
            headers.extend(basic(&exchange.client_id, secret).map(|value| (AUTHORIZATION, value)));
        }
        (Some(secret), ClientAuthentication::Post) => {
            form.append_pair("client_id", &exchange.client_id).append_pair("client_secret", secret.reveal());
        }
        (None, _) => {
            form.append_pair("client_id", &exchange.client_id);
        }
    }
    Bytes::from(form.finish())
}

/// Returns the value of `Authorization`. Both parts are encoded as in a form, so that they may have any character. A blank
/// is `%20`: some providers decode percent signs alone, and would take the `+` of a form as it is.
fn basic(client_id: &str, secret: &Secret) -> Option<HeaderValue> {
    let encode =
        |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20");
    let credentials = format!("{}:{}", encode(client_id), encode(secret.reveal()));
    let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(credentials))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Maximum size of a refusal whose code is read. A refusal has a code and a sentence, and is read on a thread that serves
/// requests.
const MAX_REFUSAL_BYTES: usize = 4 * 1024;

/// Returns the failure of an exchange: the error code of a body of at most [`MAX_REFUSAL_BYTES`] if there is one, else the
/// status.
pub(crate) fn refusal(status: StatusCode, body: &[u8]) -> FetchError {
    let object = read_object(body, MAX_REFUSAL_BYTES).unwrap_or_default();
    let is_code = |text: &str| {
        text.len() <= ERROR_CHARS && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    match object.get("error") {
        Some(Value::Text(code)) if is_code(code) => FetchError::Refused(code.clone()),
        Some(_) | None => FetchError::Status(status.as_u16()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_a_small_refusal_is_read() {
        let refuse = |blanks: usize| {
            refusal(
                StatusCode::BAD_REQUEST,
                format!(r#"{{"error":"invalid_grant"{}}}"#, " ".repeat(blanks)).as_bytes(),
            )
        };
        assert_eq!(refuse(0), FetchError::Refused("invalid_grant".to_owned()));
        assert_eq!(refuse(MAX_REFUSAL_BYTES), FetchError::Status(400), "too long to be read");
    }
}

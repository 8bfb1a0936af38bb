//! HTML page behind an invitation link: a button that accepts the invitation, then the result. The page needs no
//! script.
//!
//! Opening the page does not access the store, so a mail scanner that follows the link cannot use up the
//! invitation.

use actix_web::http::StatusCode;
use actix_web::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY, X_FRAME_OPTIONS,
};
use actix_web::{HttpRequest, http::Method};
use bytes::Bytes;
use candor_domain::json::{Object, Value};
use candor_domain::text::escaped_html;

use crate::contract::framing;
use crate::response::Response;
use crate::response::error_response::ErrorResponse;

/// Media type of HTML forms.
pub(crate) const FORM: &str = "application/x-www-form-urlencoded";
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
/// Name of the form's only field.
const TOKEN: &str = "token";
/// Headers that protect the token in the address: no referrer, framing, indexing, external resources or scripts.
const HEADERS: [(HeaderName, &str); 4] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; sandbox allow-forms",
    ),
    (REFERRER_POLICY, "no-referrer"),
    (X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("x-robots-tag"), "noindex, nofollow"),
];

/// Returns whether the request submits the page's form.
pub(crate) fn is_sent_by(request: &HttpRequest) -> bool {
    let content_type =
        request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default();
    *request.method() == Method::POST && media_type.trim().eq_ignore_ascii_case(FORM)
}

/// Parses the fields of the form.
pub(crate) fn fields(headers: &HeaderMap, body: &[u8]) -> Result<Object, ErrorResponse> {
    framing::is_type(headers, &[FORM], "")?;
    let text =
        std::str::from_utf8(body).map_err(|_| ErrorResponse::malformed_request("The form is not UTF-8."))?;
    let mut fields = Object::new();
    for (name, value) in framing::query(text)? {
        if fields.get(&name).is_some() {
            return Err(ErrorResponse::malformed_request("A field of the form is given twice."));
        }
        // Pasted tokens often have surrounding whitespace, which is never part of a token.
        fields.push(name, Value::Text(value.trim().to_owned()));
    }
    Ok(fields)
}

/// Renders the page with the button that accepts the invitation.
pub(crate) fn render_accept_page(request: &HttpRequest) -> Response {
    let pairs = framing::query(request.query_string()).unwrap_or_default();
    let token = pairs.into_iter().find(|(name, _)| name == TOKEN).map(|(_, value)| value).unwrap_or_default();
    let field = if token.is_empty() {
        "<p>The link carries no token. Copy the whole link, or enter the token here.</p>\n\
         <p><label>Token <input name=\"token\" autocomplete=\"off\" required></label></p>"
            .to_owned()
    } else {
        format!("<input type=\"hidden\" name=\"token\" value=\"{}\">", escaped_html(&token))
    };
    // A relative address also works behind a proxy that serves the API below a path prefix.
    let form = format!(
        "<p>You were invited to join your organization. Your account becomes active when you accept.</p>\n\
         <form method=\"post\" action=\"accept\">\n{field}\n<p><button>Accept the invitation</button></p>\n</form>"
    );
    page(StatusCode::OK, "Your invitation", &form)
}

/// Renders the API's answer as a page, with the same status and headers.
pub(crate) fn outcome(response: Response) -> Response {
    let (title, text) = match response.status.as_u16() {
        200 => ("Invitation accepted", "Your account is active. You can close this page."),
        404 => (
            "This invitation cannot be accepted",
            "It was accepted already, has expired, or was replaced by a newer one. Ask whoever invited you for a \
             new link.",
        ),
        429 => ("Too many attempts", "Wait a minute, then open the link from the invitation again."),
        500.. => ("That did not work", "The service has a problem. Open the link again in a while."),
        _ => ("This link is not complete", "Copy the whole link from the invitation and open it again."),
    };
    let page = page(response.status, title, &format!("<p>{text}</p>"));
    let other_headers = response.headers.into_iter().filter(|(name, _)| *name != CONTENT_TYPE);
    Response { headers: page.headers.into_iter().chain(other_headers).collect(), ..page }
}

fn page(status: StatusCode, title: &str, content: &str) -> Response {
    let text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n</head>\n\
         <body>\n<main>\n<h1>{title}</h1>\n{content}\n</main>\n</body>\n</html>\n"
    );
    let mut response = Response { status, ..Response::with_body(HTML, Bytes::from(text)) };
    response.headers.extend(HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    response
}

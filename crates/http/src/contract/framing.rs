//! Parses query, headers and body of a request and refuses malformed ones (decision A5).

use std::borrow::Cow;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::error::PayloadError;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, TRANSFER_ENCODING};
use actix_web::web::Payload;
use bytes::{Bytes, BytesMut};
use candor_domain::idempotency::{IdempotencyKey, MAX_KEY_CHARS};
use candor_domain::json::{self, Value, ValueSize};
use candor_domain::refusal::DomainError;
use candor_people_csv as csv;
use futures_util::StreamExt;

use crate::connection::read_gate::ReadGate;
use crate::response::error_response::ErrorResponse;

/// Maximum size of a JSON body, in bytes (decision A15).
pub(crate) const MAX_BODY_BYTES: usize = 256 * 1024;
/// Maximum size of the body of a request without an API key, in bytes. Such a body contains a code or a token. No
/// budget counts it, so it is no larger than the buffers of its connection.
pub(crate) const MAX_ANONYMOUS_BODY_BYTES: usize = 8 * 1024;
/// Maximum size of a request head, in bytes: several times the size of legitimate heads.
const MAX_HEAD_BYTES: usize = 48 * 1024;
/// Maximum number of query parameters: every filter of a list, each at its maximum repetition.
const MAX_PARAMETERS: usize = 500;
/// Media type of CSV uploads.
const CSV: &str = "text/csv";
/// Hint in errors about the media type of an upload: a command that sends a CSV file as it is, not as a form.
const CSV_HINT: &str = ", such as by curl --data-binary @people.csv --header 'Content-Type: text/csv'";
/// Header with the client's idempotency key.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Refuses a head that is too large.
pub(crate) fn head(uri: &actix_web::http::Uri, headers: &HeaderMap) -> Result<(), ErrorResponse> {
    let target = uri.path().len() + uri.query().map_or(0, str::len);
    let size = headers.iter().fold(target, |sum, (name, value)| sum + name.as_str().len() + value.len() + 4);
    if size <= MAX_HEAD_BYTES {
        return Ok(());
    }
    let message = format!("The request line and the headers must have at most {MAX_HEAD_BYTES} bytes together.");
    Err(ErrorResponse::malformed_as(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, message))
}

/// Decodes a query string of form-encoded pairs, in which `+` is a space.
pub(crate) fn query(text: &str) -> Result<Vec<(String, String)>, ErrorResponse> {
    let mut pairs = Vec::new();
    for pair in text.split('&').filter(|part| !part.is_empty()) {
        if pairs.len() == MAX_PARAMETERS {
            return Err(ErrorResponse::malformed_request(format!(
                "The query must have at most {MAX_PARAMETERS} parameters."
            )));
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        pairs.push((decode_text(name)?.into_owned(), decode_text(value)?.into_owned()));
    }
    Ok(pairs)
}

fn decode_text(text: &str) -> Result<Cow<'_, str>, ErrorResponse> {
    if !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return Ok(Cow::Borrowed(text));
    }
    let mut decoded_bytes = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded_bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [bytes.next(), bytes.next()]
                    .map(|digit| digit.and_then(|digit| char::from(digit).to_digit(16)));
                let [Some(high), Some(low)] = digits else {
                    return Err(ErrorResponse::malformed_request(
                        "The query has a % without two hexadecimal digits after it. Write a percent sign as %25.",
                    ));
                };
                u8::try_from(high * 16 + low).unwrap_or_default()
            }
            other => other,
        });
    }
    let text = String::from_utf8(decoded_bytes)
        .map_err(|_| ErrorResponse::malformed_request("The query is not UTF-8."))?;
    Ok(Cow::Owned(text))
}

/// Reads the header `Idempotency-Key`.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ErrorResponse> {
    let mut lines = headers.get_all(IDEMPOTENCY_KEY);
    let Some(line) = lines.next() else { return Ok(None) };
    let key = line.to_str().ok().and_then(|text| IdempotencyKey::parse(text).ok());
    if let (Some(key), None) = (key, lines.next()) {
        return Ok(Some(key));
    }
    Err(ErrorResponse::malformed_request(format!(
        "Send the header Idempotency-Key once, with 1 to {MAX_KEY_CHARS} visible ASCII characters."
    )))
}

/// Reads a JSON body of at most `most` bytes to its end.
pub(crate) async fn body(
    request: &HttpRequest,
    payload: Payload,
    time: Duration,
    most: usize,
) -> Result<Bytes, ErrorResponse> {
    let body = read_whole(request, payload, time, most).await;
    body.map_err(|error| error.error(|| too_large(most)))
}

/// Reads a CSV file to its end. A file that is too large is reported as an error of the file, not of the
/// protocol (decision E8).
pub(crate) async fn csv(request: &HttpRequest, payload: Payload, time: Duration) -> Result<Bytes, ErrorResponse> {
    let headers = request.headers();
    let length = headers.get(CONTENT_LENGTH).and_then(|header| header.to_str().ok());
    if length.is_some_and(|length| length != "0") || headers.contains_key(TRANSFER_ENCODING) {
        is_type(headers, &[CSV], CSV_HINT)?;
    }
    let too_large = || ErrorResponse::from(DomainError::invalid("body", csv::too_many_bytes()));
    // Large files need more time than JSON bodies on a slow line.
    let bytes =
        read_whole(request, payload, time * 2, csv::MAX_BYTES).await.map_err(|error| error.error(too_large))?;
    if bytes.is_empty() {
        return Err(ErrorResponse::malformed_request("The body is missing; it must be a CSV file."));
    }
    is_type(headers, &[CSV], CSV_HINT)?;
    Ok(bytes)
}

/// Reason why a body was not read to its end.
enum BodyError {
    TooLarge,
    Broken,
    Slow,
}

impl BodyError {
    fn error(self, too_large: impl FnOnce() -> ErrorResponse) -> ErrorResponse {
        match self {
            Self::TooLarge => too_large(),
            Self::Broken => {
                ErrorResponse::malformed_request("The body ended early. Send the request with its whole body.")
            }
            Self::Slow => ErrorResponse::late_body(),
        }
    }
}

/// Maximum size of a refused request's body that is still read. The connection can then be reused.
const PASSED_OVER_BYTES: u64 = 64 * 1024;
/// Timeout for reading the body of a refused request.
const PASSED_OVER_TIME: Duration = Duration::from_secs(2);

/// Reads and discards the body of a refused request. A body of more than 64 KiB, or of unknown size, is not read,
/// and the connection closes.
pub(crate) async fn pass_over(request: &HttpRequest, mut payload: Payload) {
    let Some(length) = content_length(request).filter(|length| (1..=PASSED_OVER_BYTES).contains(length)) else {
        return;
    };
    let _receiving = request.conn_data::<ReadGate>().map(|gate| gate.begin_body(Some(length)));
    let rest = async { while matches!(payload.next().await, Some(Ok(_))) {} };
    // On a timeout the connection closes, as the answer announces.
    let _ = tokio::time::timeout(PASSED_OVER_TIME, rest).await;
}

fn content_length(request: &HttpRequest) -> Option<u64> {
    request.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Returns the size of the body that a request announces, at most `most`. A chunked body may have any size, so it
/// counts as `most`.
pub(crate) fn announced_bytes(request: &HttpRequest, most: usize) -> usize {
    let is_chunked = request.headers().contains_key(TRANSFER_ENCODING);
    let length =
        content_length(request).map(|length| usize::try_from(length).map_or(most, |length| length.min(most)));
    length.unwrap_or(if is_chunked { most } else { 0 })
}

async fn read_whole(
    request: &HttpRequest,
    payload: Payload,
    time: Duration,
    most: usize,
) -> Result<Bytes, BodyError> {
    let length = content_length(request);
    if length.is_some_and(|length| length > most as u64) {
        return Err(BodyError::TooLarge);
    }
    let _receiving = request.conn_data::<ReadGate>().map(|gate| gate.begin_body(length));
    tokio::time::timeout(time, read_payload(payload, most)).await.unwrap_or(Err(BodyError::Slow))
}

async fn read_payload(mut payload: Payload, most: usize) -> Result<Bytes, BodyError> {
    let to_body_error =
        |error| if matches!(error, PayloadError::Overflow) { BodyError::TooLarge } else { BodyError::Broken };
    let Some(first) = payload.next().await else { return Ok(Bytes::new()) };
    let first = first.map_err(to_body_error)?;
    let mut whole: Option<BytesMut> = None;
    let mut size = first.len();
    while let Some(next) = payload.next().await {
        let next = next.map_err(to_body_error)?;
        size += next.len();
        if size > most {
            return Err(BodyError::TooLarge);
        }
        whole.get_or_insert_with(|| BytesMut::from(first.as_ref())).extend_from_slice(&next);
    }
    if size > most { Err(BodyError::TooLarge) } else { Ok(whole.map_or(first, BytesMut::freeze)) }
}

fn too_large(most: usize) -> ErrorResponse {
    let message = format!("The body must have at most {most} bytes.");
    ErrorResponse::malformed_as(StatusCode::PAYLOAD_TOO_LARGE, message)
}

/// Requires one of these media types, in UTF-8 and without a content encoding. Errors about the media type end
/// with `hint`.
pub(crate) fn is_type(headers: &HeaderMap, wanted: &[&str], hint: &str) -> Result<(), ErrorResponse> {
    let refuse_type =
        |message: String| Err(ErrorResponse::malformed_as(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    if headers.get(CONTENT_ENCODING).is_some_and(|header| !header.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return refuse_type("The body must be sent without a content encoding.".to_owned());
    }
    let names = wanted.join(" or ");
    let Some(line) = headers.get(CONTENT_TYPE) else {
        let message = format!("The header Content-Type is missing; it must be {names}{hint}.");
        return Err(ErrorResponse::malformed_request(message));
    };
    let mut parts = line.to_str().unwrap_or_default().split(';').map(str::trim);
    let utf8 = |text: &str| match text.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    };
    let is_wanted = |part: &str| wanted.iter().any(|name| part.eq_ignore_ascii_case(name));
    if parts.next().is_some_and(is_wanted) && parts.all(utf8) {
        return Ok(());
    }
    refuse_type(format!("The body must be {names} in UTF-8{hint}."))
}

/// Byte order mark of UTF-8, which some programs write before JSON (RFC 8259 §8.1).
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
/// Byte order marks of UTF-16.
const UTF16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Maximum number of values of a JSON body, so that they take at most some 13 MB of memory.
pub(crate) const MAX_VALUES: usize = 40_000;

/// Returns a bound of the memory that the values of a JSON body take in addition to its bytes.
///
/// # Errors
/// 400 if the body has more than [`MAX_VALUES`] values.
pub(crate) fn value_bytes(body: &[u8]) -> Result<usize, ErrorResponse> {
    let size = ValueSize::measure(body);
    if size.values > MAX_VALUES {
        let message = format!("The body has more than {MAX_VALUES} values. Split it into several requests.");
        return Err(ErrorResponse::malformed_request(message));
    }
    Ok(size.memory_bytes - body.len())
}

/// Parses a body as JSON.
pub(crate) fn json(body: &[u8]) -> Result<Value, ErrorResponse> {
    // JSON begins with two ASCII characters, so a zero byte is half of a UTF-16 character (RFC 4627 §3).
    let has_zero = body.iter().take(2).any(|byte| *byte == 0);
    if has_zero || UTF16_MARKS.iter().any(|mark| body.starts_with(mark)) {
        return Err(ErrorResponse::malformed_request("The body is UTF-16. Send it in UTF-8."));
    }
    json::parse(body.strip_prefix(UTF8_MARK).unwrap_or(body))
        .map_err(|error| ErrorResponse::malformed_request(format!("The body is not valid JSON: {error}.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Option<Vec<(String, String)>> {
        query(text).ok()
    }

    #[test]
    fn query_names_and_values_are_decoded_alike() {
        let expected_pairs =
            vec![("filter[type]".to_owned(), "a b+é".to_owned()), ("x".to_owned(), String::new())];
        assert_eq!(pairs("filter[type]=a+b%2B%C3%A9&x"), Some(expected_pairs.clone()));
        assert_eq!(pairs("filter%5Btype%5d=a%20b%2b%c3%a9&&x="), Some(expected_pairs));
    }

    #[test]
    fn undecodable_query_is_malformed() {
        for bad in ["a=%", "a=%4", "a=%zz", "%=1", "a=%ff", "a=%C3", "a=%+1"] {
            assert_eq!(pairs(bad), None, "{bad}");
        }
        assert!(pairs(&"a&".repeat(MAX_PARAMETERS)).is_some());
        assert!(pairs(&"a&".repeat(MAX_PARAMETERS + 1)).is_none());
    }

    #[test]
    fn json_syntax_error_names_its_position() {
        let message =
            |text: &str| json(text.as_bytes()).err().map(|error| error.message.into_owned()).unwrap_or_default();
        assert!(message("{\n\"a\": }").ends_with("at line 2 column 6."), "{}", message("{\n\"a\": }"));
        assert!(json(b"\"\xff\"").is_err(), "not UTF-8");
        assert!(json(b"\xef\xbb\xbf{}").is_ok(), "a byte order mark");
        for utf16 in [&b"\xff\xfe{\0}\0"[..], b"{\0}\0", b"\0{\0}"] {
            assert!(json(utf16).is_err_and(|error| error.message.contains("UTF-16")), "{utf16:?}");
        }
        assert!(json(format!("{}{}", "[".repeat(127), "]".repeat(127)).as_bytes()).is_ok());
        assert!(json("[".repeat(200_000).as_bytes()).is_err(), "too deep");
    }

    #[test]
    fn values_of_a_body_are_bounded() {
        let body = |count: usize| format!(r#"{{"a":[{}1]}}"#, "1,".repeat(count)).into_bytes();
        assert!(value_bytes(&body(MAX_VALUES - 3)).is_ok_and(|bytes| bytes < 13_000_000));
        let refusal = value_bytes(&body(MAX_VALUES - 2)).unwrap_err();
        assert_eq!(
            (refusal.status, refusal.message.as_ref()),
            (StatusCode::BAD_REQUEST, "The body has more than 40000 values. Split it into several requests.")
        );
        assert!(value_bytes(&b"[],".repeat(MAX_VALUES / 2 - 1)).is_ok_and(|bytes| bytes < 13_000_000));
    }
}

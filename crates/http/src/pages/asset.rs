//! Static files of the program. Each is compressed once per encoding, and each encoding has its own entity tag.

use std::sync::OnceLock;

use actix_web::http::StatusCode;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, VARY,
};
use bytes::Bytes;
use candor_domain::idempotency::Fingerprint;

use crate::response::Response;
use crate::response::compress::{self, Encoding};
use crate::response::etag;

/// Caching of a file: caches serve it for one hour, then revalidate it. After an upgrade clients see new files
/// within the hour, and unchanged files cost no transfer.
const CACHED: HeaderValue = HeaderValue::from_static("public, max-age=3600, must-revalidate");
/// Number of hexadecimal digits of a tag: the first half of a SHA-256, which suffices to distinguish versions of a
/// file.
const TAG_DIGITS: usize = 32;

/// A static file in all its encodings.
#[derive(Debug)]
pub(crate) struct Asset {
    content_type: HeaderValue,
    tag: String,
    plain: Bytes,
    zstd: OnceLock<Option<Bytes>>,
    gzip: OnceLock<Option<Bytes>>,
}

impl Asset {
    pub(crate) fn new(content_type: HeaderValue, plain: Bytes) -> Self {
        let mut tag = String::with_capacity(TAG_DIGITS);
        for byte in &Fingerprint::from_body("", "", "", &plain).to_bytes()[..TAG_DIGITS / 2] {
            tag.extend([byte >> 4, byte & 15].map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or('0')));
        }
        Self { content_type, tag, plain, zstd: OnceLock::new(), gzip: OnceLock::new() }
    }

    /// Creates an asset from zstd data, which is sent as is to clients that accept zstd. Returns `None` if the
    /// data is not zstd.
    pub(crate) fn from_zstd(content_type: HeaderValue, compressed: &'static [u8]) -> Option<Self> {
        let plain = zstd::stream::decode_all(compressed).ok()?;
        let asset = Self::new(content_type, Bytes::from(plain));
        Some(Self { zstd: OnceLock::from(Some(Bytes::from_static(compressed))), ..asset })
    }

    /// Answers with the client's preferred encoding, or with 304 if the client's copy is current.
    pub(crate) fn answer(&self, request: &HeaderMap) -> Response {
        let encoded_asset =
            compress::accepted_encoding(request).and_then(|encoding| Some((encoding, self.encode(encoding)?)));
        // A strong tag names the bytes, so every encoding has its own (RFC 9110 §8.8.3.3).
        let tag = match &encoded_asset {
            None => format!("\"{}\"", self.tag),
            Some((encoding, _)) => format!("\"{}-{}\"", self.tag, encoding.name()),
        };
        let lines = request.get_all(IF_NONE_MATCH).filter_map(|value| value.to_str().ok());
        let mut response = if etag::names(lines, &tag) {
            Response::empty(StatusCode::NOT_MODIFIED)
        } else {
            let (encoding, body) =
                encoded_asset.map_or((None, &self.plain), |(encoding, body)| (Some(encoding), body));
            let mut response = Response::with_body(self.content_type.clone(), body.clone());
            response
                .headers
                .extend(encoding.map(|encoding| (CONTENT_ENCODING, HeaderValue::from_static(encoding.name()))));
            response
        };
        response.is_encoded = true;
        response.headers.push((VARY, HeaderValue::from_static("Accept-Encoding")));
        response.headers.push((CACHE_CONTROL, CACHED));
        response.headers.extend(HeaderValue::try_from(tag).ok().map(|value| (ETAG, value)));
        response
    }

    /// Returns the file in an encoding, or `None` if compression saves nothing. The result is cached.
    fn encode(&self, encoding: Encoding) -> Option<&Bytes> {
        let form = match encoding {
            Encoding::Zstd => &self.zstd,
            Encoding::Gzip => &self.gzip,
        };
        form.get_or_init(|| compress::compress_static(encoding, &self.plain)).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::ACCEPT_ENCODING;

    fn request_headers(accept: &'static str, have: Option<&HeaderValue>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(accept));
        if let Some(tag) = have {
            headers.insert(IF_NONE_MATCH, tag.clone());
        }
        headers
    }

    fn header<'a>(response: &'a Response, name: &str) -> Option<&'a HeaderValue> {
        response.headers.iter().find(|(header, _)| header.as_str() == name).map(|(_, value)| value)
    }

    #[test]
    fn asset_is_compressed_once_per_encoding() {
        let asset = Asset::new(HeaderValue::from_static("text/plain"), Bytes::from("so and so ".repeat(1_000)));
        for accept in ["zstd", "gzip", "identity"] {
            let (first, second) =
                (asset.answer(&request_headers(accept, None)), asset.answer(&request_headers(accept, None)));
            assert_eq!(first.body.as_ptr(), second.body.as_ptr(), "the same bytes in memory: {accept}");
            assert_eq!(first.body.len() < 1_000, accept != "identity", "{accept}");
        }
    }

    #[test]
    fn asset_etag_differs_per_encoding_and_match_gets_304() {
        let asset = Asset::new(HeaderValue::from_static("text/plain"), Bytes::from("so and so ".repeat(1_000)));
        let tags = ["zstd", "gzip", ""]
            .map(|name| header(&asset.answer(&request_headers(name, None)), "etag").unwrap().clone());
        assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2], "{tags:?}");
        let second_response = asset.answer(&request_headers("gzip", Some(&tags[1])));
        assert_eq!((second_response.status, second_response.body.len()), (StatusCode::NOT_MODIFIED, 0));
        assert_eq!(header(&second_response, "etag"), Some(&tags[1]));
        assert_eq!(asset.answer(&request_headers("zstd", Some(&tags[1]))).status, StatusCode::OK);
        let other = Asset::new(HeaderValue::from_static("text/plain"), Bytes::from("another"));
        assert_eq!(other.answer(&request_headers("", Some(&tags[2]))).status, StatusCode::OK);
    }

    #[test]
    fn incompressible_asset_is_sent_uncompressed() {
        let asset = Asset::new(HeaderValue::from_static("image/png"), Bytes::from_static(b"small"));
        let response = asset.answer(&request_headers("gzip", None));
        assert_eq!((response.body.as_ref(), header(&response, "content-encoding")), (&b"small"[..], None));
    }
}

//! Smaller answers for clients that can read them: zstd or gzip, of whole bodies, so that their length is known.

use std::io::Write;

use actix_web::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue, VARY};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Below this, what is saved is less than what it costs.
const WORTH_BYTES: usize = 1024;
/// Level 1 of zstd is faster than gzip and as small.
const ZSTD_LEVEL: i32 = 1;

/// What is compressed only once may take longer.
const ZSTD_LEVEL_ONCE: i32 = 12;

/// How a body may be compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// RFC 8878
    Zstd,
    /// RFC 1952
    Gzip,
}

impl Encoding {
    /// Its name in headers.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }
}

/// The smaller form of a body that is compressed once and sent many times; `None` if there is none.
pub(crate) fn once(encoding: Encoding, body: &[u8]) -> Option<Bytes> {
    let smaller = match encoding {
        Encoding::Zstd => zstd::bulk::compress(body, ZSTD_LEVEL_ONCE),
        Encoding::Gzip => gzip(body, Compression::default()),
    };
    smaller.ok().filter(|it| it.len() < body.len()).map(Bytes::from)
}

/// Compresses a body if the client takes it and it is worth it.
pub(crate) fn apply(request: &HeaderMap, response: &mut Vec<(HeaderName, HeaderValue)>, body: Bytes) -> Bytes {
    if body.len() < WORTH_BYTES || response.iter().any(|(name, _)| *name == CONTENT_ENCODING) {
        return body;
    }
    response.push((VARY, HeaderValue::from_static("Accept-Encoding")));
    let Some(encoding) = wanted(request) else { return body };
    let Some(smaller) = quickly(encoding, &body) else { return body };
    response.push((CONTENT_ENCODING, HeaderValue::from_static(encoding.name())));
    smaller
}

/// The smaller form of a body that is sent once; `None` if there is none.
pub(crate) fn quickly(encoding: Encoding, body: &[u8]) -> Option<Bytes> {
    let smaller = match encoding {
        Encoding::Zstd => zstd::bulk::compress(body, ZSTD_LEVEL),
        Encoding::Gzip => gzip(body, Compression::fast()),
    };
    // The encoder reserved room for a body that does not shrink.
    smaller.ok().filter(|smaller| smaller.len() < body.len()).map(|mut smaller| {
        smaller.shrink_to_fit();
        Bytes::from(smaller)
    })
}

fn gzip(body: &[u8], level: Compression) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 2), level);
    encoder.write_all(body)?;
    encoder.finish()
}

/// The encoding that the client likes best; zstd if it likes both the same. A client that refuses the plain body as
/// well gets it all the same, as RFC 9110 §12.5.3 allows.
pub(crate) fn wanted(headers: &HeaderMap) -> Option<Encoding> {
    let mut quality = [None, None];
    let mut others = None;
    for part in headers.get_all(ACCEPT_ENCODING).filter_map(|it| it.to_str().ok()).flat_map(|it| it.split(',')) {
        let (name, weight) = part.split_once(';').map_or((part, None), |(name, weight)| (name, Some(weight)));
        let weight = weight.map_or(Some(1.0), |it| it.trim().strip_prefix("q=")?.trim().parse::<f32>().ok());
        match name.trim().to_ascii_lowercase().as_str() {
            "zstd" => quality[0] = weight,
            "gzip" | "x-gzip" => quality[1] = weight,
            "*" => others = weight,
            _ => {}
        }
    }
    let [zstd, gzip] = quality.map(|it| it.or(others).unwrap_or(0.0));
    if zstd <= 0.0 && gzip <= 0.0 {
        return None;
    }
    Some(if zstd >= gzip { Encoding::Zstd } else { Encoding::Gzip })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(accept: &'static str) -> Option<Encoding> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(accept));
        wanted(&headers)
    }

    #[test]
    fn the_client_chooses_the_encoding() {
        assert_eq!(wanted(&HeaderMap::new()), None);
        for (accept, encoding) in [
            ("gzip", Some(Encoding::Gzip)),
            ("gzip, deflate, br, zstd", Some(Encoding::Zstd)),
            ("gzip;q=1.0, zstd;q=0.5", Some(Encoding::Gzip)),
            ("zstd;q=0, gzip; q=0.1", Some(Encoding::Gzip)),
            ("*", Some(Encoding::Zstd)),
            ("*;q=0", None),
            ("br", None),
            ("identity", None),
            ("", None),
            ("gzip;q=nonsense", None),
        ] {
            assert_eq!(wants(accept), encoding, "{accept}");
        }
    }
}

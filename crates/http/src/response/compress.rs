//! Compresses answers with zstd or gzip. Bodies are compressed before they are sent, so that their length is known.

use std::io::Write;

use actix_web::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue, VARY};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Minimum body size for compression. Below it, compression costs more than it saves.
const WORTH_BYTES: usize = 1024;
/// Zstd level for bodies that are sent once: faster than gzip, at the same size.
const ZSTD_LEVEL: i32 = 1;

/// Zstd level for small static files, which are compressed only once.
const ZSTD_LEVEL_ONCE: i32 = 19;
/// Zstd level for large static files: a higher one would hold up the request that is first for hundreds of milliseconds.
const ZSTD_LEVEL_LARGE: i32 = 12;
/// Size from which a static file is large, in bytes. The files of the console are smaller: the largest takes a tenth of a
/// second, once.
const LARGE_BYTES: usize = 512 * 1024;

/// Content encoding of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Zstandard (RFC 8878); preferred on ties.
    Zstd,
    /// Gzip (RFC 1952), for clients without zstd.
    Gzip,
}

impl Encoding {
    /// Returns the token of the encoding in HTTP headers.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }
}

/// Compresses a static body with a slow level. Returns `None` if the result is not smaller.
pub(crate) fn compress_static(encoding: Encoding, body: &[u8]) -> Option<Bytes> {
    let smaller = match encoding {
        Encoding::Zstd if body.len() < LARGE_BYTES => zstd::bulk::compress(body, ZSTD_LEVEL_ONCE),
        Encoding::Zstd => zstd::bulk::compress(body, ZSTD_LEVEL_LARGE),
        Encoding::Gzip => gzip(body, Compression::default()),
    };
    smaller.ok().filter(|smaller| smaller.len() < body.len()).map(Bytes::from)
}

/// Compresses a body if the client accepts an encoding and the body is large enough.
pub(crate) fn apply(request: &HeaderMap, response: &mut Vec<(HeaderName, HeaderValue)>, body: Bytes) -> Bytes {
    if body.len() < WORTH_BYTES || response.iter().any(|(name, _)| *name == CONTENT_ENCODING) {
        return body;
    }
    response.push((VARY, HeaderValue::from_static("Accept-Encoding")));
    let Some(encoding) = accepted_encoding(request) else { return body };
    let Some(smaller) = compress_quickly(encoding, &body) else { return body };
    response.push((CONTENT_ENCODING, HeaderValue::from_static(encoding.name())));
    smaller
}

/// Compresses a body with a fast level. Returns `None` if the result is not smaller.
pub(crate) fn compress_quickly(encoding: Encoding, body: &[u8]) -> Option<Bytes> {
    let smaller = match encoding {
        Encoding::Zstd => zstd::bulk::compress(body, ZSTD_LEVEL),
        Encoding::Gzip => gzip(body, Compression::fast()),
    };
    // The encoder reserved room for a body that does not shrink; release it.
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

/// A compressor whose output can be taken while it runs.
pub(crate) enum StreamEncoder {
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
    Gzip(GzEncoder<Vec<u8>>),
}

impl StreamEncoder {
    /// Creates a compressor; `None` if its memory cannot be allocated. The body then goes out uncompressed.
    pub(crate) fn new(encoding: Encoding) -> Option<Self> {
        match encoding {
            Encoding::Zstd => zstd::stream::write::Encoder::new(Vec::new(), ZSTD_LEVEL).ok().map(Self::Zstd),
            Encoding::Gzip => Some(Self::Gzip(GzEncoder::new(Vec::new(), Compression::fast()))),
        }
    }

    /// Compresses a piece. A flush makes all lines so far readable to the client.
    pub(crate) fn compress(&mut self, piece: &[u8], flushes: bool) -> std::io::Result<Bytes> {
        match self {
            Self::Zstd(encoder) => {
                encoder.write_all(piece)?;
                if flushes {
                    encoder.flush()?;
                }
                Ok(std::mem::take(encoder.get_mut()).into())
            }
            Self::Gzip(encoder) => {
                encoder.write_all(piece)?;
                if flushes {
                    encoder.flush()?;
                }
                Ok(std::mem::take(encoder.get_mut()).into())
            }
        }
    }

    /// Returns the end of the compressed data.
    pub(crate) fn finish(self) -> std::io::Result<Bytes> {
        match self {
            Self::Zstd(encoder) => encoder.finish().map(Bytes::from),
            Self::Gzip(encoder) => encoder.finish().map(Bytes::from),
        }
    }
}

/// Returns the client's preferred encoding; ties go to zstd. A client that refuses every encoding gets a plain
/// body, as RFC 9110 §12.5.3 allows.
pub(crate) fn accepted_encoding(headers: &HeaderMap) -> Option<Encoding> {
    let mut quality = [None, None];
    let mut others = None;
    for part in
        headers.get_all(ACCEPT_ENCODING).filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','))
    {
        let (name, weight) = part.split_once(';').map_or((part, None), |(name, weight)| (name, Some(weight)));
        let weight =
            weight.map_or(Some(1.0), |weight| weight.trim().strip_prefix("q=")?.trim().parse::<f32>().ok());
        match name.trim().to_ascii_lowercase().as_str() {
            "zstd" => quality[0] = weight,
            "gzip" | "x-gzip" => quality[1] = weight,
            "*" => others = weight,
            _ => {}
        }
    }
    let [zstd, gzip] = quality.map(|quality| quality.or(others).unwrap_or(0.0));
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
        accepted_encoding(&headers)
    }

    #[test]
    fn accept_encoding_selects_by_preference_and_quality() {
        assert_eq!(accepted_encoding(&HeaderMap::new()), None);
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

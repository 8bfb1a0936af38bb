//! Compression of answers for clients that accept it.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::support::TestApi;

#[tokio::test]
async fn large_answer_is_compressed_as_accept_encoding_prefers() {
    let world = TestApi::new().await;
    let path = "/v1/attributes";
    let plain = world.get(path).await;
    assert!(plain.body.len() > 2000);
    assert_eq!((plain.header("content-encoding"), plain.header("vary")), (None, Some("Accept-Encoding")));
    let gzip = world.ask("GET", path).header("accept-encoding", "gzip").send().await;
    assert_eq!((gzip.header("content-encoding"), gzip.header("vary")), (Some("gzip"), Some("Accept-Encoding")));
    let mut plain_bytes = Vec::new();
    GzDecoder::new(&gzip.body[..]).read_to_end(&mut plain_bytes).unwrap();
    assert_eq!(plain_bytes, plain.body);
    let zstd = world.ask("GET", path).header("accept-encoding", "gzip, zstd").send().await;
    assert_eq!(zstd.header("content-encoding"), Some("zstd"));
    assert_eq!(zstd::decode_all(&zstd.body[..]).unwrap(), plain.body);
    assert!(zstd.body.len() * 2 < plain.body.len());
}

#[tokio::test]
async fn page_of_several_pieces_is_compressed_as_a_whole() {
    let world = TestApi::new().await;
    let fields: serde_json::Map<_, _> =
        (0..32).map(|number| (format!("field_{number}"), serde_json::json!("é".repeat(1024)))).collect();
    for number in 0..6 {
        let person = serde_json::json!({
            "email": format!("person-{number}@example.com"), "first_name": "Ada", "last_name": "Example",
            "custom_fields": fields,
        });
        world.made("/v1/employees", person).await;
    }
    // Reads the page twice: the first answer shows how large the rows are, and later pages are read in parts.
    for _ in 0..2 {
        let plain = world.get("/v1/employees").await;
        assert!(plain.body.len() > 6 * 65_536);
        assert_eq!((plain.header("content-encoding"), plain.header("vary")), (None, Some("Accept-Encoding")));
        let compressed_response = world.ask("GET", "/v1/employees").header("accept-encoding", "zstd").send().await;
        assert_eq!(
            (compressed_response.header("content-encoding"), compressed_response.header("vary")),
            (Some("zstd"), Some("Accept-Encoding"))
        );
        assert_eq!(zstd::decode_all(&compressed_response.body[..]).unwrap(), plain.body);
    }
}

#[tokio::test]
async fn small_answer_or_unknown_encoding_is_uncompressed() {
    let world = TestApi::new().await;
    let small = world.ask("GET", "/livez").header("accept-encoding", "zstd").send().await;
    assert_eq!(small.header("content-encoding"), None);
    for accept in ["br", "identity", "identity;q=0", "*;q=0", "nonsense;;;", ""] {
        let response = world.ask("GET", "/v1/attributes").header("accept-encoding", accept).send().await;
        assert_eq!((response.status, response.header("content-encoding")), (200, None), "{accept}");
    }
}

#[tokio::test]
async fn compression_keeps_the_etag() {
    let world = TestApi::new().await;
    let employee = world.employee("ada@example.com").await;
    let body = serde_json::json!({"employee_id": employee, "type": "strength", "observation": "a".repeat(3000)});
    let path = format!("/v1/observations/{}", world.made("/v1/observations", body).await);
    let plain = world.get(&path).await;
    let compressed_response = world.ask("GET", &path).header("accept-encoding", "zstd").send().await;
    assert_eq!(compressed_response.header("content-encoding"), Some("zstd"));
    assert_eq!(compressed_response.header("etag"), plain.header("etag"));
}

#[tokio::test]
async fn document_and_reference_answer_304_to_a_current_etag() {
    let world = TestApi::new().await;
    for path in ["/v1/openapi.json", "/docs", "/docs/scalar.js", "/docs/icon.svg"] {
        for accept in ["zstd", "gzip", "identity"] {
            let ask = || world.bare("GET", path).header("accept-encoding", accept);
            let first = ask().send().await;
            let tag = first.header("etag").unwrap_or_else(|| panic!("{path} has no tag")).to_owned();
            assert!(tag.starts_with('"') && tag.ends_with('"'), "not a strong ETag: {tag}");
            assert_eq!(first.header("vary"), Some("Accept-Encoding"), "{path}");
            assert_eq!(first.header("cache-control"), Some("public, max-age=3600, must-revalidate"), "{path}");
            let second_response = ask().header("if-none-match", &tag).send().await;
            assert_eq!(
                (second_response.status, second_response.body.len(), second_response.header("etag")),
                (304, 0, Some(tag.as_str())),
                "{path}"
            );
            assert_eq!(second_response.header("content-encoding"), None, "{path}");
            let other = ask().header("if-none-match", "\"other\"").send().await;
            assert_eq!((other.status, &other.body), (200, &first.body), "{path}");
        }
    }
    let plain = world.bare("GET", "/v1/openapi.json").send().await;
    let zstd = world.bare("GET", "/v1/openapi.json").header("accept-encoding", "zstd").send().await;
    assert_eq!(zstd::decode_all(&zstd.body[..]).unwrap(), plain.body);
}

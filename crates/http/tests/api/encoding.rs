//! Answers are compressed for clients that can read them, and stay what they are.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::support::World;

#[tokio::test]
async fn a_large_answer_is_compressed_as_the_client_likes_it() {
    let world = World::new().await;
    let path = "/v1/attributes";
    let plain = world.get(path).await;
    assert!(plain.body.len() > 2000);
    assert_eq!((plain.header("content-encoding"), plain.header("vary")), (None, Some("Accept-Encoding")));
    let gzip = world.ask("GET", path).header("accept-encoding", "gzip").send().await;
    assert_eq!((gzip.header("content-encoding"), gzip.header("vary")), (Some("gzip"), Some("Accept-Encoding")));
    let mut unpacked = Vec::new();
    GzDecoder::new(&gzip.body[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
    let zstd = world.ask("GET", path).header("accept-encoding", "gzip, zstd").send().await;
    assert_eq!(zstd.header("content-encoding"), Some("zstd"));
    assert_eq!(zstd::decode_all(&zstd.body[..]).unwrap(), plain.body);
    assert!(zstd.body.len() * 2 < plain.body.len());
}

#[tokio::test]
async fn a_small_answer_and_an_unknown_encoding_stay_plain() {
    let world = World::new().await;
    let small = world.ask("GET", "/livez").header("accept-encoding", "zstd").send().await;
    assert_eq!(small.header("content-encoding"), None);
    for accept in ["br", "identity", "identity;q=0", "*;q=0", "nonsense;;;", ""] {
        let answered = world.ask("GET", "/v1/attributes").header("accept-encoding", accept).send().await;
        assert_eq!((answered.status, answered.header("content-encoding")), (200, None), "{accept}");
    }
}

#[tokio::test]
async fn compression_leaves_the_tag_alone() {
    let world = World::new().await;
    let employee = world.employee("ada@example.com").await;
    let body = serde_json::json!({"employee_id": employee, "type": "strength", "observation": "a".repeat(3000)});
    let path = format!("/v1/observations/{}", world.made("/v1/observations", body).await);
    let plain = world.get(&path).await;
    let packed = world.ask("GET", &path).header("accept-encoding", "zstd").send().await;
    assert_eq!(packed.header("content-encoding"), Some("zstd"));
    assert_eq!(packed.header("etag"), plain.header("etag"));
}

//! The README of the client library: its examples are the files that run here.

use super::Fixture;

#[path = "../../../../crates/client/examples/quickstart.rs"]
#[expect(unreachable_pub, reason = "an example, as its readers have it")]
mod quickstart;

const README: &str = include_str!("../../../../crates/client/README.md");

#[test]
fn readme_shows_the_examples_that_run() {
    for (name, text) in [
        ("quickstart", include_str!("../../../../crates/client/examples/quickstart.rs")),
        ("replica", include_str!("../../../../crates/client/examples/replica.rs")),
        ("export_replica", include_str!("../../../../crates/client/examples/export_replica.rs")),
        ("axum", include_str!("../../../../crates/client/examples/axum.rs")),
        ("actix", include_str!("../../../../crates/client/examples/actix.rs")),
    ] {
        assert!(README.contains(&format!("```rust\n{text}```")), "README.md differs from examples/{name}.rs");
    }
}

#[tokio::test]
async fn first_steps_of_the_readme_run() {
    let fixture = Fixture::start();
    let lines = quickstart::observe(&fixture.client(), "ada@example.com").await.unwrap();
    assert_eq!(lines, ["Ada: Explained the outage to the customer calmly."]);
}

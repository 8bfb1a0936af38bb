//! First contact.
use crate::support::World;

#[tokio::test]
async fn smoke() {
    let world = World::new().await;
    let id = world.observation("ada@example.com").await;
    for path in [
        "/v1/me",
        "/v1/organization",
        &format!("/v1/observations/{id}?expand=employee,attributes"),
        "/v1/observations",
        "/v1/employees?expand=manager,department,direct_reports",
        "/v1/departments",
        "/v1/attributes?limit=1",
        "/v1/api-keys",
        "/v1/connectors",
        "/v1/events",
        "/v1/audit-log?limit=1",
        "/nope",
        "/v1/openapi.json",
        "/docs",
        "/livez",
        "/readyz",
    ] {
        let it = world.get(path).await;
        println!("{path} {} {:?}\n{}", it.status, it.headers, it.text());
    }
    panic!("look");
}

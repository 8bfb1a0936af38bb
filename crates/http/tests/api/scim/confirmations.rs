//! Changes of the external id of a managed org admin, which an admin confirms.

use serde_json::{Value, json};

use super::{Provider, user};
use crate::stores::every_store;

#[tokio::test]
async fn another_external_id_of_an_admin_is_confirmed_in_each_way() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let other = json!({"email": "o@example.com", "first_name": "O", "last_name": "B", "role": "org_admin"});
        world.made("/v1/employees", other).await;
        // An adopted person often has an external id of the HR system. The link has another one.
        for (name, own_id) in [("ada", None), ("eve", Some("HR7"))] {
            if let Some(own_id) = own_id {
                let person = json!({"email": format!("{name}@example.com"), "first_name": "Ada", "last_name": "B",
                    "external_id": own_id});
                world.made("/v1/employees", person).await;
            }
            let id = provider.made(&user(name)).await;
            let promotion = world.patch(&format!("/v1/employees/{id}"), json!({"role": "org_admin"})).await;
            assert_eq!(promotion.status, 200, "{}", promotion.text());
            let users = format!("/Users/{id}");
            let claimed_id = format!("oid-{name}");
            let mut body = user(name);
            body["externalId"] = json!(claimed_id);
            let mut body_without_id = user(name);
            body_without_id.as_object_mut().unwrap().remove("externalId");
            assert_eq!(provider.patch(&id, "externalId", json!(claimed_id)).await.status, 409);
            assert_eq!(provider.send("PUT", &users, Some(&body)).await.status, 409);
            assert_eq!(provider.remove(&id, "externalId").await.status, 200);
            assert_eq!(provider.patch(&id, "externalId", json!(claimed_id)).await.status, 409);
            assert_eq!(provider.send("PUT", &users, Some(&body_without_id)).await.status, 200);
            assert_eq!(provider.send("PUT", &users, Some(&body)).await.status, 409);
            assert_eq!(provider.send("POST", "/Users", Some(&body)).await.status, 409);
            assert_eq!(provider.get(&users).await.json()["externalId"], Value::Null, "on {}", shared.name);

            let issues = format!("/v1/connectors/{}/sync-issues", provider.connector);
            let list = format!("{issues}?filter[kind]=adoption_unconfirmed");
            let open = world.get(&list).await.json();
            let [issue] = &open["data"].as_array().unwrap()[..] else { panic!("{open}") };
            assert!(issue["message"].as_str().unwrap().contains(&claimed_id), "{issue}");
            let resolve = format!("{issues}/{}/resolve", issue["id"].as_str().unwrap());
            assert_eq!(world.post(&resolve, json!({})).await.status, 200);
            assert_eq!(provider.send("PUT", &users, Some(&body)).await.status, 200, "on {}", shared.name);
        }
    }
}

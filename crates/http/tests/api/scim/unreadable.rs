//! Stored attributes that no parser reads (§8).

use candor_domain::access::Tenant;
use candor_port_storage::{Row, StorageExt, Versioned, Write};
use candor_provisioning::connector::{ExtraAttributes, ScimLink};
use serde_json::json;

use super::erased_names::continue_erasures;
use super::{Provider, user};
use crate::connectors::change;
use crate::stores::every_store;

#[tokio::test]
async fn attributes_that_nest_too_deeply_fail_no_request() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let (store, tenant) = (&world.services.store, Tenant::live(world.organization));
        let stored_link = async |id: &str| store.row::<ScimLink>(tenant, id.parse().unwrap()).await.unwrap();
        // Older versions stored such texts.
        let deep_text = format!("{{\"nickName\":{}{}}}", "[".repeat(200), "]".repeat(200));
        let mut ids = vec![];
        for name in ["ada", "bob", "eva"] {
            let id = provider.made(&user(name)).await;
            if name == "eva" {
                // Only the data of people who have left is erased.
                assert_eq!(provider.patch(&id, "active", json!(false)).await.status, 200);
            }
            ids.push(id);
            let Versioned { value, version } = stored_link(ids.last().unwrap()).await.unwrap();
            let link = ScimLink { extra: ExtraAttributes::Unreadable(deep_text.clone()), ..value };
            store.commit(tenant, change(world, vec![Write::put(&Row::at_version(link, version))])).await.unwrap();
        }
        let [replaced, removed, erased] = ids.try_into().unwrap();
        let path = format!("/Users/{replaced}");
        let (one, all) = (provider.get(&path).await, provider.get("/Users").await);
        assert_eq!((one.status, one.json().get("nickName")), (200, None), "{}: {}", shared.name, one.text());
        assert_eq!((all.status, &all.json()["totalResults"]), (200, &json!(3)), "{}", all.text());
        let lines = world.get(&format!("/v1/employees/{replaced}/personal-data")).await.lines();
        let account = lines.iter().find(|line| line["type"] == "scim_account").unwrap();
        assert_eq!(account["data"]["attributes"], json!(deep_text), "{}", shared.name);
        let mut body = user("ada");
        body["nickName"] = json!("Adi");
        assert_eq!(provider.send("PUT", &path, Some(&body)).await.status, 200);
        assert_eq!(provider.get(&path).await.json()["nickName"], "Adi", "{}", shared.name);
        assert_eq!(provider.send("DELETE", &format!("/Users/{removed}"), None).await.status, 204);
        let removed_link = stored_link(&removed).await.unwrap().value;
        assert!(removed_link.removed_at.is_some(), "{}", shared.name);
        assert_eq!(removed_link.extra, ExtraAttributes::Unreadable(deep_text), "{}", shared.name);
        assert_eq!(world.post(&format!("/v1/employees/{erased}/erasure"), json!({})).await.status, 202);
        continue_erasures(world).await;
        assert_eq!(world.get("/v1/erasures").await.json()["data"][0]["status"], "completed", "{}", shared.name);
        assert_eq!(stored_link(&erased).await, None, "{}", shared.name);
    }
}

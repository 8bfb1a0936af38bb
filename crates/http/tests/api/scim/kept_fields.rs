//! Mapped custom fields are kept by requests that do not name them, whatever the document can show.

use serde_json::{Map, Value, json};

use super::{Provider, user};
use crate::connectors::provider_key;
use crate::stores::every_store;

/// People whose mapped fields are hard to show: paths by field, the value of each field, and what the provider sent.
fn cases() -> Vec<(&'static str, Map<String, Value>, Value, Value)> {
    let paths = |count: usize, path: &dyn Fn(usize) -> String| {
        (0..count).map(|number| (format!("f{number}"), Value::from(path(number)))).collect::<Map<_, _>>()
    };
    let subs = |count: usize| paths(count, &|number| format!("q.m{number}"));
    let members: Map<_, _> = (0..32).map(|number| (format!("other{number}"), json!(1))).collect();
    let long = json!("漢".repeat(1_024));
    vec![
        ("a large attribute", subs(31), long, json!({})),
        ("many extensions", paths(20, &|number| format!("urn:x:{number}:2.0:User:v")), json!("v"), json!({})),
        ("an attribute with all its members", subs(2), json!("v"), json!({"q": members})),
        ("an attribute of many numbers", subs(2), json!("v"), json!({"q": {"a": vec![vec![1.5; 150]; 15]}})),
        ("a boolean at the place of a name", paths(1, &|_| "name.formatted".to_owned()), json!(true), json!({})),
        ("a text at the place of an attribute", subs(2), json!("v"), json!({"q": "a text"})),
        (
            "a list at the place of a value",
            paths(1, &|_| "q.a".to_owned()),
            json!("v"),
            json!({"q": [{"b": "c"}]}),
        ),
    ]
}

#[tokio::test]
async fn request_about_another_attribute_keeps_mapped_fields() {
    for shared in every_store().await {
        let world = &shared.world;
        for (number, (what, paths, value, sent)) in cases().into_iter().enumerate() {
            let what = format!("{what} on {}", shared.name);
            let name = format!("person{number}");
            let fields: Map<_, _> = paths.keys().map(|key| (key.clone(), value.clone())).collect();
            let person = json!({"email": format!("{name}@example.com"), "first_name": "Ada", "last_name": "Example",
                                "custom_fields": fields});
            let id = world.made("/v1/employees", person).await;
            let connector = json!({"type": "scim", "hris_source": format!("okta{number}"),
                                   "custom_field_mappings": paths});
            let connector = world.made("/v1/connectors", connector).await;
            let key = provider_key(world, &world.admin, &connector, "live").await;
            let provider = Provider { world, connector, key };
            let kept_fields =
                async || world.get(&format!("/v1/employees/{id}")).await.json()["custom_fields"].clone();
            let mut body = user(&name);
            body.as_object_mut().unwrap().extend(sent.as_object().unwrap().clone());
            assert_eq!(provider.made(&body).await, id, "{what}");
            let fields = kept_fields().await;
            for path in ["nickName", "displayName"] {
                let response = provider.patch(&id, path, json!("Adi")).await;
                assert_eq!(response.status, 200, "{what}: {}", response.text());
                assert_eq!(kept_fields().await, fields, "{what}: {path}");
            }
            let shown_user = provider.get(&format!("/Users/{id}")).await.json();
            let put = provider.send("PUT", &format!("/Users/{id}"), Some(&shown_user)).await;
            assert!([200, 400].contains(&put.status), "{what}: {}", put.text());
            assert_eq!(kept_fields().await, fields, "{what}: what was shown is sent again");
        }
    }
}

/// The main entry is not the first one: the field is read, changed and removed where it is shown.
#[tokio::test]
async fn mapped_field_of_the_main_entry_is_changed_and_removed() {
    for shared in every_store().await {
        let world = &shared.world;
        let paths =
            json!({"type": "scim", "hris_source": "okta", "custom_field_mappings": {"f": "addresses.country"}});
        let connector = world.made("/v1/connectors", paths).await;
        let key = provider_key(world, &world.admin, &connector, "live").await;
        let provider = Provider { world, connector, key };
        let mut body = user("ada");
        body["addresses"] =
            json!([{"type": "home", "country": "A"}, {"type": "work", "country": "B", "locality": "Y"}]);
        let id = provider.made(&body).await;
        let field = async || world.get(&format!("/v1/employees/{id}")).await.json()["custom_fields"]["f"].clone();
        assert_eq!(field().await, "B", "on {}", shared.name);
        assert_eq!(provider.patch(&id, "addresses.country", json!("Z")).await.status, 200);
        assert_eq!(field().await, "Z", "on {}", shared.name);
        assert_eq!(provider.remove(&id, "addresses.country").await.status, 200);
        assert_eq!(field().await, Value::Null, "on {}", shared.name);
        assert_eq!(provider.patch(&id, "addresses.country", json!("Z")).await.status, 200);
        assert_eq!(provider.send("PUT", &format!("/Users/{id}"), Some(&user("ada"))).await.status, 200);
        assert_eq!(field().await, Value::Null, "a PUT removes it, on {}", shared.name);
    }
}

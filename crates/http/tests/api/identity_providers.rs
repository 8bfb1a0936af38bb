//! Identity providers and the links of their accounts (decision B9).

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use candor_service::runtime::{erasure, provider_removal};
use candor_service::usecases::identity_trust::{self, UntrustedDomainError};
use candor_service::usecases::operator;
use candor_sign_in::EmailDomainError;
use serde_json::{Value, json};

use crate::resources::provider_body;
use crate::stores::every_store;
use crate::support::TestApi;

const PATH: &str = "/v1/identity-providers";

fn body_with(changes: Value) -> Value {
    let mut body = provider_body();
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

async fn create(world: &TestApi) -> String {
    format!("{PATH}/{}", world.made(PATH, provider_body()).await)
}

#[tokio::test]
async fn provider_is_created_changed_and_deleted() {
    for shared in every_store().await {
        let world = &shared.world;
        let creation = world.post(PATH, provider_body()).await;
        assert_eq!(creation.status, 201, "{}", creation.text());
        let provider = creation.json();
        assert_eq!((&provider["status"], &provider["client_secret_set"]), (&json!("pending"), &json!(true)));
        assert!(!creation.text().contains("8nFq"), "{}", creation.text());
        let domain = &provider["domains"][0];
        assert_eq!((&domain["domain"], &domain["proven"]), (&json!("acme.example"), &json!(false)));
        let path = format!("{PATH}/{}", provider["id"].as_str().unwrap());
        let same = world.patch(&path, provider.clone()).await;
        assert_eq!((same.status, same.json()), (200, provider.clone()), "{}", shared.name);
        let secret = world.patch(&path, json!({"client_secret": "8nFq"})).await.json();
        assert_eq!(secret["updated_at"], provider["updated_at"], "an equal secret is no change");
        world.clock.advance_millis(5);
        let disabled_provider =
            world.patch(&path, json!({"status": "disabled", "client_secret": null})).await.json();
        assert_eq!(
            (&disabled_provider["status"], &disabled_provider["client_secret_set"]),
            (&json!("disabled"), &json!(false))
        );
        assert!(disabled_provider["disabled_at"].is_string());
        let refused_response = world.patch(&path, json!({"status": "pending"})).await;
        assert_eq!(refused_response.refusal(), (409, "conflict".to_owned()));
        let enabled_provider = world.patch(&path, json!({"status": "active"})).await.json();
        assert_eq!(enabled_provider["status"], "pending", "nothing is proven");
        assert_eq!(world.ask("DELETE", &path).send().await.status, 204);
        assert_eq!(world.get(&path).await.status, 404);
        let events = world.get("/v1/events?limit=100").await.json();
        let kinds: Vec<_> =
            events["data"].as_array().unwrap().iter().map(|event| event["event"].clone()).collect();
        assert_eq!(
            kinds,
            [
                "identity_provider.created",
                "identity_provider.updated",
                "identity_provider.updated",
                "identity_provider.deleted"
            ]
        );
        let audit = world.get("/v1/audit-log?filter[action]=identity_provider.delete").await.text();
        assert!(audit.contains("acme.okta.example") && !audit.contains("8nFq"), "{audit}");
    }
}

#[tokio::test]
async fn sixth_provider_is_422_and_a_deleted_one_makes_room() {
    for shared in every_store().await {
        let world = &shared.world;
        let mut paths = vec![];
        for _ in 0..5 {
            paths.push(create(world).await);
        }
        let sixth = world.post(PATH, provider_body()).await;
        let limit = ("identity_providers".to_owned(), "limit_reached".to_owned());
        assert_eq!((sixth.status, sixth.problems()), (422, vec![limit]), "{}", shared.name);
        assert_eq!(world.ask("DELETE", &paths[0]).send().await.status, 204);
        create(world).await;
    }
}

#[tokio::test]
async fn key_with_less_access_than_the_provider_is_403() {
    let world = TestApi::new().await;
    let scopes = Permissions::NONE.with(Permission::SettingsWrite).with(Permission::EmployeesRead);
    let key = world.key(scopes, AccessLevel::Admin, Environment::Live).await;
    let create_with = async |key: &str, body: Value| world.bare("POST", PATH).key(key).json(&body).send().await;
    let expected_refusal = (403, "permission_denied".to_owned());
    assert_eq!(create_with(&key, provider_body()).await.refusal(), expected_refusal);
    let few = body_with(json!({"scopes": ["employees:read"]}));
    assert_eq!(create_with(&key, few.clone()).await.status, 201);
    let admin_sessions = body_with(json!({"scopes": ["employees:read"], "admin_sessions": true}));
    assert_eq!(create_with(&key, admin_sessions).await.refusal(), expected_refusal);
    let path = create(&world).await;
    let employee = world.employee("ada@example.com").await;
    let ask =
        async |method: &str, path: &str, body: Value| world.bare(method, path).key(&key).json(&body).send().await;
    assert_eq!(ask("PATCH", &path, json!({"audiences": ["api://other"]})).await.refusal(), expected_refusal);
    assert_eq!(ask("PATCH", &path, json!({"status": "disabled"})).await.status, 200);
    assert_eq!(ask("PATCH", &path, json!({"status": "active"})).await.refusal(), expected_refusal);
    let link = json!({"employee_id": employee, "subject": "1"});
    assert_eq!(ask("POST", &format!("{path}/links"), link).await.refusal(), expected_refusal);
    let ending =
        json!({"name": "Short", "scopes": ["*"], "access_level": "admin", "expires_at": "2026-03-03T09:00:00Z"});
    let ending = world.post("/v1/api-keys", ending).await.json()["key"].as_str().unwrap().to_owned();
    assert_eq!(create_with(&ending, few).await.refusal(), expected_refusal, "a provider has no end");
}

#[tokio::test]
async fn account_is_linked_confirmed_and_unlinked() {
    for shared in every_store().await {
        let world = &shared.world;
        let path = create(world).await;
        let links = format!("{path}/links");
        let (ada, bo) = (world.employee("ada@example.com").await, world.employee("bo@example.com").await);
        let link = async |person: &str, subject: &str| {
            world.post(&links, json!({"employee_id": person, "subject": subject})).await
        };
        let first = link(&ada, "00u1").await;
        assert_eq!((first.status, &first.json()["subject"]), (200, &json!("00u1")), "{}", first.text());
        assert_eq!(link(&ada, "00u1").await.json(), first.json(), "{}: again", shared.name);
        for (person, subject) in [(&bo, "00u1"), (&ada, "00u2")] {
            let refused_response = link(person, subject).await;
            assert_eq!(refused_response.refusal(), (409, "conflict".to_owned()));
            assert_eq!(refused_response.json()["error"]["details"][0]["conflicting_id"], json!(ada));
        }
        let absent = link("emp_00000000000000000000000001", "00u3").await;
        let not_found = ("employee_id".to_owned(), "not_found_in_organization".to_owned());
        assert_eq!((absent.status, absent.problems()), (422, vec![not_found]));
        let person_path = format!("/v1/employees/{ada}");
        // Entries of one millisecond have no order in the audit log.
        world.clock.advance_seconds(1);
        world.post(&format!("{person_path}/deactivate"), json!({})).await;
        let expected_problem = ("employee_id".to_owned(), "invalid_state".to_owned());
        assert_eq!(link(&ada, "00u1").await.problems(), [expected_problem]);
        world.clock.advance_seconds(1);
        world.post(&format!("{person_path}/reactivate"), json!({})).await;
        world.clock.advance_seconds(1);
        let confirmed_link = link(&ada, "00u1").await.json();
        assert!(confirmed_link["confirmed_at"].is_string(), "{confirmed_link}");
        assert_eq!(world.get(&links).await.json()["data"], json!([confirmed_link]));
        let own = format!("{links}/{ada}");
        assert_eq!(world.ask("DELETE", &own).send().await.status, 204);
        assert_eq!(world.ask("DELETE", &own).send().await.status, 404);
        assert_eq!(world.get(&links).await.json()["data"], json!([]));
        assert_eq!(link(&bo, "00u1").await.status, 200, "the account is free");
        let audit = world.get(&format!("/v1/audit-log?filter[target_id]={ada}")).await.json();
        let actions: Vec<_> =
            audit["data"].as_array().unwrap().iter().map(|entry| entry["action"].clone()).collect();
        assert_eq!(
            actions,
            [
                "employee.unlink_identity",
                "employee.confirm_identity",
                "employee.reactivate",
                "employee.deactivate",
                "employee.link_identity",
                "employee.create"
            ]
        );
    }
}

#[tokio::test]
async fn links_of_a_person_are_shown_and_erased() {
    for shared in every_store().await {
        let world = &shared.world;
        let ada = world.employee("ada@example.com").await;
        for _ in 0..2 {
            let links = format!("{}/links", create(world).await);
            let link = json!({"employee_id": ada, "subject": "subject of ada"});
            assert_eq!(world.post(&links, link).await.status, 200);
        }
        let data = world.get(&format!("/v1/employees/{ada}/personal-data")).await.lines();
        let links: Vec<_> = data.iter().filter(|line| line["type"] == "identity_link").collect();
        assert_eq!(links.len(), 2, "{}", shared.name);
        assert_eq!(links[0]["data"]["subject"], "subject of ada");
        world.post(&format!("/v1/employees/{ada}/deactivate"), json!({})).await;
        let erasure_json = world.post(&format!("/v1/employees/{ada}/erasure"), json!({})).await.json();
        for _ in 0..3 {
            erasure::run_due(&world.services, || true).await.unwrap();
            world.clock.advance_seconds(20);
        }
        let receipt = world.get(&format!("/v1/erasures/{}", erasure_json["id"].as_str().unwrap())).await.json();
        assert_eq!((&receipt["status"], &receipt["counts"]["identity_links"]), (&json!("completed"), &json!(2)));
        let log = world.get("/v1/audit-log?limit=100").await.text();
        assert!(!log.contains("subject of ada"), "{log}");
    }
}

#[tokio::test]
async fn links_of_a_deleted_provider_are_removed_in_pieces() {
    for shared in every_store().await {
        let world = &shared.world;
        let (gone, kept) = (create(world).await, create(world).await);
        let mut people = vec![];
        for number in 0..120 {
            // Stays below the quota of writes.
            world.clock.advance_seconds(2);
            let person = world.employee(&format!("p{number}@example.com")).await;
            for path in [&gone, &kept].into_iter().take(if number < 3 { 2 } else { 1 }) {
                let link = json!({"employee_id": person, "subject": format!("s{number}")});
                assert_eq!(world.post(&format!("{path}/links"), link).await.status, 200);
            }
            people.push(person);
        }
        world.ask("DELETE", &format!("{gone}/links/{}", people[0])).send().await;
        assert_eq!(world.ask("DELETE", &gone).send().await.status, 204);
        assert_eq!(world.get(&format!("{gone}/links")).await.status, 404);
        assert_eq!(provider_removal::remove_links(&world.services, || true).await.unwrap(), 1);
        assert_eq!(provider_removal::remove_links(&world.services, || true).await.unwrap(), 0);
        for (person, wanted) in [(&people[0], 1), (&people[2], 1), (&people[50], 0)] {
            world.clock.advance_seconds(60);
            let data = world.get(&format!("/v1/employees/{person}/personal-data")).await.lines();
            let count = data.iter().filter(|line| line["type"] == "identity_link").count();
            assert_eq!(count, wanted, "{} {person}", shared.name);
        }
    }
}

#[tokio::test]
async fn domain_is_proven_for_the_first_provider_until_released() {
    for shared in every_store().await {
        let world = &shared.world;
        let trust = async |organization, domain: &str| {
            identity_trust::trust_domain(&world.services, organization, domain).await
        };
        let path = create(world).await;
        let unnamed_refusal = trust(world.organization, "other.example").await.unwrap_err();
        assert!(
            matches!(unnamed_refusal, UntrustedDomainError::Refused(EmailDomainError::Unnamed)),
            "{unnamed_refusal:?}"
        );
        let first = trust(world.organization, "ACME.example").await.unwrap();
        assert_eq!((first.domain.as_str(), first.is_new), ("acme.example", true), "{}", shared.name);
        assert!(!trust(world.organization, "acme.example").await.unwrap().is_new);
        let provider = world.get(&path).await.json();
        assert_eq!((&provider["domains"][0]["proven"], &provider["status"]), (&json!(true), &json!("pending")));
        let audit = world.get("/v1/audit-log?filter[action]=identity_provider.prove").await.json();
        assert_eq!(audit["data"][0]["actor"], json!({"type": "system", "id": null, "name": "operator"}));
        let foreign = operator::create_organization(&world.services, "Another").await.unwrap();
        let key = world.key_of(foreign, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
        let foreign_provider = world.bare("POST", PATH).key(&key).json(&provider_body()).send().await;
        assert_eq!(foreign_provider.status, 201, "a domain of another provider is refused at its proof only");
        let taken_refusal = trust(foreign, "acme.example").await.unwrap_err();
        assert!(
            matches!(taken_refusal, UntrustedDomainError::Taken { organization, .. } if organization == world.organization)
        );
        let released_provider = world.patch(&path, json!({"email_domains": []})).await;
        assert_eq!(released_provider.json()["domains"], json!([]));
        assert!(trust(foreign, "acme.example").await.unwrap().is_new);
        world.patch(&path, json!({"email_domains": ["acme.example"]})).await;
        assert!(trust(world.organization, "acme.example").await.is_err());
        let foreign_path = format!("{PATH}/{}", foreign_provider.json()["id"].as_str().unwrap());
        assert_eq!(world.bare("DELETE", &foreign_path).key(&key).send().await.status, 204);
        assert!(
            trust(world.organization, "acme.example").await.unwrap().is_new,
            "a deleted provider proves nothing"
        );
    }
}

//! Adoption, names, the status and the reporting tree across several requests.

use candor_service::runtime::erasure;
use serde_json::{Value, json};

use super::{ENTERPRISE, Provider, user};
use crate::stores::every_store;
use crate::support::TestApi;

#[tokio::test]
async fn released_person_is_adopted_by_a_second_connector() {
    for shared in every_store().await {
        let world = &shared.world;
        let (first, second) = (Provider::new(world).await, Provider::new(world).await);
        let id = first.made(&user("ada")).await;
        let release = format!("/v1/connectors/{}/release", first.connector);
        let release_response = world.post(&release, json!({"employee_ids": [id]})).await;
        assert!(release_response.status < 300, "{}", release_response.text());
        let mut body = user("ada");
        body["externalId"] = json!("second-1");
        assert_eq!(second.made(&body).await, id, "on {}", shared.name);
        let user_json = second.get(&format!("/Users/{id}")).await.json();
        assert_eq!(user_json["externalId"], "second-1");
        assert_eq!(first.get(&format!("/Users/{id}")).await.status, 404);
        let person = world.get(&format!("/v1/employees/{id}")).await.json();
        assert_eq!(person["external_id"], "x-ada", "the first external id stays");
        // The first connector gets the person back after the second one's release.
        let release = format!("/v1/connectors/{}/release", second.connector);
        assert!(world.post(&release, json!({})).await.status < 300);
        assert_eq!(first.patch(&id, "nickName", json!("Adi")).await.status, 200);
        assert_eq!(second.get(&format!("/Users/{id}")).await.status, 404);
    }
}

#[tokio::test]
async fn patch_without_active_keeps_a_pending_person_pending() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let body =
            json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Example", "send_invite": true});
        let id = world.made("/v1/employees", body).await;
        let status = async || world.get(&format!("/v1/employees/{id}")).await.json()["status"].clone();
        assert_eq!(status().await, "pending_invite");
        let invitation = world.post(&format!("/v1/employees/{id}/invite"), json!({})).await.json();
        let token = invitation["accept_url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
        let patch_response = provider.patch(&id, "nickName", json!("Adi")).await;
        assert_eq!(
            (patch_response.status, &patch_response.json()["active"]),
            (200, &json!(true)),
            "{}",
            patch_response.text()
        );
        assert_eq!(status().await, "pending_invite", "on {}", shared.name);
        let acceptance = world.bare("POST", "/v1/invitations/accept").json(&json!({"token": token})).send().await;
        assert_eq!(acceptance.status, 404, "the invitation of an adopted person is void");
        assert_eq!(provider.patch(&id, "active", json!(true)).await.status, 200);
        assert_eq!(status().await, "active");
    }
}

#[tokio::test]
async fn scim_put_clears_omitted_values_except_of_adopted_people() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let boss = world.employee("boss@example.com").await;
        let department = world.made("/v1/departments", json!({"name": "Care"})).await;
        let values = json!({"job_title": "Lead", "manager_id": boss, "department_id": department});
        let adopted_person = world.employee("ada@example.com").await;
        assert_eq!(world.patch(&format!("/v1/employees/{adopted_person}"), values.clone()).await.status, 200);
        let values_of = async |id: &str| {
            let person = world.get(&format!("/v1/employees/{id}")).await.json();
            ["job_title", "manager_id", "department_id"].map(|name| person[name].clone())
        };
        let values_before = values_of(&adopted_person).await;
        assert_eq!(provider.made(&user("ada")).await, adopted_person);
        let put = async |id: &str, name: &str| {
            let response = provider.send("PUT", &format!("/Users/{id}"), Some(&user(name))).await;
            assert_eq!(response.status, 200, "{}", response.text());
        };
        put(&adopted_person, "ada").await;
        assert_eq!(values_of(&adopted_person).await, values_before, "on {}", shared.name);
        assert_eq!(provider.remove(&adopted_person, "title").await.status, 200);
        assert_eq!(values_of(&adopted_person).await[0], Value::Null, "a PATCH removes what it names");
        let mut body = user("eve");
        body["title"] = json!("Lead");
        body[ENTERPRISE] = json!({"manager": {"value": boss}, "department": "Care"});
        let created_user = provider.made(&body).await;
        assert_eq!(values_of(&created_user).await, values_before);
        put(&created_user, "eve").await;
        assert_eq!(values_of(&created_user).await, [Value::Null, Value::Null, Value::Null]);
    }
}

#[tokio::test]
async fn missing_names_stay_as_stored() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let person_body = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"});
        let id = world.made("/v1/employees", person_body).await;
        let names = async || {
            let person = world.get(&format!("/v1/employees/{id}")).await.json();
            [person["first_name"].clone(), person["last_name"].clone()]
        };
        let body = json!({"userName": "ada@example.com", "displayName": "A. L."});
        assert_eq!(provider.made(&body).await, id);
        assert_eq!(names().await, ["Ada", "Lovelace"], "on {}", shared.name);
        let body = json!({"userName": "ada@example.com", "name": {"familyName": "King"}});
        assert_eq!(provider.send("PUT", &format!("/Users/{id}"), Some(&body)).await.status, 200);
        assert_eq!(names().await, ["Ada", "King"]);
    }
}

#[tokio::test]
async fn single_name_of_a_new_person_is_the_first_name() {
    let world = TestApi::new().await;
    let provider = Provider::new(&world).await;
    for (number, (body, names)) in [
        (json!({"name": {"givenName": "Madonna"}}), ["Madonna", "-"]),
        (json!({"name": {"givenName": "Pele", "familyName": ""}}), ["Pele", "-"]),
        (json!({"name": {"familyName": "Cher"}}), ["Cher", "-"]),
        (json!({"name": {"familyName": "Cher"}, "displayName": "Cher"}), ["Cher", "-"]),
        (json!({"displayName": "Sukarno"}), ["Sukarno", "-"]),
        (json!({"name": {"familyName": "Li"}, "displayName": "Bo"}), ["Bo", "Li"]),
        (json!({"name": {"givenName": "Bo"}, "displayName": "Bo Li"}), ["Bo", "Li"]),
        (json!({"displayName": "Ada Lovelace"}), ["Ada", "Lovelace"]),
    ]
    .into_iter()
    .enumerate()
    {
        let mut user = body;
        user["userName"] = json!(format!("m{number}@example.com"));
        let id = provider.made(&user).await;
        let person = world.get(&format!("/v1/employees/{id}")).await.json();
        assert_eq!([&person["first_name"], &person["last_name"]], names, "{user}");
    }
}

#[tokio::test]
async fn concurrent_moves_are_all_answered() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let boss = provider.made(&user("boss")).await;
        let mut ids = Vec::new();
        for number in 0..24 {
            ids.push(provider.made(&user(&format!("p{number}"))).await);
        }
        let path = format!("{ENTERPRISE}:manager");
        let moves = ids.iter().map(|id| provider.patch(id, &path, json!(boss)));
        let responses = futures_util::future::join_all(moves).await;
        let statuses: Vec<_> = responses.iter().map(|response| response.status).collect();
        assert_eq!(statuses, vec![200; ids.len()], "on {}", shared.name);
    }
}

#[tokio::test]
async fn manager_of_many_waiting_people_is_set_by_one_request() {
    const WAITING: usize = 230;
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        for number in 0..WAITING {
            let mut body = user(&format!("p{number}"));
            body[ENTERPRISE] = json!({"manager": {"value": "x-boss"}});
            provider.made(&body).await;
        }
        let boss = provider.made(&user("boss")).await;
        let filter = format!("/Users?count=0&filter=manager%20eq%20%22{boss}%22");
        assert_eq!(provider.get(&filter).await.json()["totalResults"], WAITING, "on {}", shared.name);
        let issues = world.get(&format!("/v1/connectors/{}/sync-issues", provider.connector)).await;
        assert_eq!(issues.json()["data"], json!([]));
    }
}

#[tokio::test]
async fn equal_request_ends_issues_without_an_event() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        provider.made(&user("eve")).await;
        let id = provider.made(&user("ada")).await;
        assert_eq!(provider.patch(&id, "externalId", json!("x-eve")).await.status, 409);
        let issues = format!("/v1/connectors/{}/sync-issues", provider.connector);
        assert_eq!(world.get(&issues).await.json()["data"][0]["kind"], "identity_conflict");
        let events = async || world.get("/v1/events?limit=100").await.json()["data"].as_array().unwrap().len();
        let (before, shown) = (events().await, provider.get(&format!("/Users/{id}")).await.json());
        let put = provider.send("PUT", &format!("/Users/{id}"), Some(&user("ada"))).await;
        assert_eq!((put.status, put.json()), (200, shown));
        assert_eq!(world.get(&issues).await.json()["data"], json!([]), "on {}", shared.name);
        assert_eq!(events().await, before);
        let audit = world.get("/v1/audit-log?limit=1").await.json();
        assert_eq!(audit["data"][0]["action"], "connector.resolve_issue", "{audit}");
    }
}

#[tokio::test]
async fn refused_creation_repeats_one_issue() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let other = Provider::new(world).await;
        other.made(&user("ada")).await;
        for _ in 0..2 {
            assert_eq!(provider.send("POST", "/Users", Some(&user("ada"))).await.status, 409);
        }
        let (mut eve, mut conflict) = (user("eve"), user("zoe"));
        eve["externalId"] = json!("x-1");
        provider.made(&eve).await;
        conflict["userName"] = json!("eve@example.com");
        conflict["externalId"] = json!("x-2");
        conflict["emails"] = json!([{"value": "zoe@example.com", "primary": true}]);
        for _ in 0..2 {
            let response = provider.send("POST", "/Users", Some(&conflict)).await;
            assert_eq!(response.status, 409, "{}", response.text());
        }
        let issues = world.get(&format!("/v1/connectors/{}/sync-issues", provider.connector)).await.json();
        let counts: Vec<_> =
            issues["data"].as_array().unwrap().iter().map(|issue| issue["count"].clone()).collect();
        assert!(counts.iter().all(|count| *count == 2), "{issues}");
    }
}

#[tokio::test]
async fn concurrent_deactivations_keep_one_org_admin() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let mut admins = Vec::new();
        for number in 0..6 {
            let id = provider.made(&user(&format!("p{number}"))).await;
            let path = format!("/v1/employees/{id}");
            assert_eq!(world.patch(&path, json!({"role": "org_admin"})).await.status, 200);
            admins.push(id);
        }
        let changes = admins.iter().map(|id| provider.patch(id, "active", json!(false)));
        let responses = futures_util::future::join_all(changes).await;
        let mut statuses: Vec<_> = responses.iter().map(|response| response.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 200, 200, 200, 200, 409], "on {}", shared.name);
    }
}

#[tokio::test]
async fn org_admin_is_adopted_after_the_issue_is_resolved() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let body = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "B", "role": "org_admin",
            "external_id": "R1"});
        let admin = world.made("/v1/employees", body).await;
        let issues = format!("/v1/connectors/{}/sync-issues", provider.connector);
        let mut renamed_user = user("eve");
        renamed_user["externalId"] = json!("R1");
        for asked in [renamed_user, user("ada")] {
            let response = provider.send("POST", "/Users", Some(&asked)).await;
            assert_eq!((response.status, &response.json()["scimType"]), (409, &json!("uniqueness")), "{asked}");
            let person_before = world.get(&format!("/v1/employees/{admin}")).await.json();
            assert_eq!(
                (&person_before["email"], &person_before["is_hris_managed"]),
                (&json!("ada@example.com"), &json!(false))
            );
        }
        let open = world.get(&format!("{issues}?filter[kind]=adoption_unconfirmed")).await.json();
        let open = open["data"].as_array().unwrap();
        assert_eq!(open.len(), 2, "one for each request");
        let of_ada = open.iter().find(|issue| issue["user_name"] == "ada@example.com").unwrap();
        let resolve = format!("{issues}/{}/resolve", of_ada["id"].as_str().unwrap());
        assert_eq!(world.post(&resolve, json!({})).await.status, 200);
        assert_eq!(provider.send("POST", "/Users", Some(&user("ada"))).await.status, 201, "on {}", shared.name);
        let person_after = world.get(&format!("/v1/employees/{admin}")).await.json();
        assert_eq!((&person_after["role"], &person_after["is_hris_managed"]), (&json!("org_admin"), &json!(true)));
    }
}

/// Resolves the open issue of the provider. There is exactly one.
async fn confirm_the_open_request(world: &TestApi, provider: &Provider<'_>) {
    let issues = format!("/v1/connectors/{}/sync-issues", provider.connector);
    let open = world.get(&format!("{issues}?filter[kind]=adoption_unconfirmed")).await.json();
    let [issue] = &open["data"].as_array().unwrap()[..] else { panic!("{open}") };
    let resolve = format!("{issues}/{}/resolve", issue["id"].as_str().unwrap());
    assert_eq!(world.post(&resolve, json!({})).await.status, 200);
}

#[tokio::test]
async fn confirmation_of_an_org_admin_counts_once() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let other =
            json!({"email": "other@example.com", "first_name": "O", "last_name": "B", "role": "org_admin"});
        world.made("/v1/employees", other).await;
        let id = provider.made(&user("ada")).await;
        assert_eq!(world.patch(&format!("/v1/employees/{id}"), json!({"role": "org_admin"})).await.status, 200);
        let status = async || world.get(&format!("/v1/employees/{id}")).await.json()["status"].clone();

        // The return of the org admin is refused until it is confirmed, and again the next time.
        for round in 1..=2 {
            assert_eq!(provider.patch(&id, "active", json!(false)).await.status, 200);
            let response = provider.patch(&id, "active", json!(true)).await;
            assert_eq!((response.status, status().await), (409, json!("deactivated")), "round {round}");
            confirm_the_open_request(world, &provider).await;
            assert_eq!(provider.patch(&id, "active", json!(true)).await.status, 200, "on {}", shared.name);
            assert_eq!(status().await, "active");
        }

        // A new address is refused as well. The confirmation is for this address only, and for seven days.
        let rename = async |name: &str| {
            let address = json!(format!("{name}@example.com"));
            provider.patch(&id, r#"emails[type eq "work"].value"#, address).await.status
        };
        assert_eq!(rename("eve").await, 409);
        confirm_the_open_request(world, &provider).await;
        assert_eq!(rename("ida").await, 409, "another address than the confirmed one");
        confirm_the_open_request(world, &provider).await;
        world.clock.advance_seconds(7 * 24 * 3600 + 1);
        assert_eq!(rename("eve").await, 409, "the confirmation has ended");
        confirm_the_open_request(world, &provider).await;
        assert_eq!(rename("eve").await, 200);
        let email = world.get(&format!("/v1/employees/{id}")).await.json()["email"].clone();
        assert_eq!(email, "eve@example.com");
    }
}

#[tokio::test]
async fn request_that_awaits_confirmation_is_not_swapped() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let id = provider.made(&user("ada")).await;
        assert_eq!(world.patch(&format!("/v1/employees/{id}"), json!({"role": "org_admin"})).await.status, 200);
        let rename = async |name: &str| {
            let address = json!(format!("{name}@example.com"));
            provider.patch(&id, r#"emails[type eq "work"].value"#, address).await.status
        };
        for name in ["eve", "ida", "eve"] {
            assert_eq!(rename(name).await, 409);
        }
        let issues = format!("/v1/connectors/{}/sync-issues", provider.connector);
        let open = world.get(&format!("{issues}?filter[kind]=adoption_unconfirmed")).await.json();
        let open = open["data"].as_array().unwrap();
        assert_eq!(open.len(), 2, "one for each address");
        let of_eve = open.iter().find(|issue| issue["message"].as_str().unwrap().contains("eve@")).unwrap();
        assert_eq!(of_eve["count"], 2);
        let resolve = format!("{issues}/{}/resolve", of_eve["id"].as_str().unwrap());
        assert_eq!(world.post(&resolve, json!({})).await.status, 200);
        assert_eq!(rename("ida").await, 409, "on {}", shared.name);
        assert_eq!(rename("eve").await, 200, "on {}", shared.name);
    }
}

#[tokio::test]
async fn name_of_an_erased_person_leaves_foreign_issues() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let mut body = user("ada");
        body["userName"] = json!("zqmarkname");
        body["externalId"] = json!("zqmarkid");
        let erased_user = provider.made(&body).await;
        let (one, other) = (provider.made(&user("eve")).await, provider.made(&user("ida")).await);
        assert_eq!(provider.patch(&one, "userName", json!("ZQMarkName")).await.status, 409);
        assert_eq!(provider.patch(&other, "externalId", json!("zqmarkid")).await.status, 409);
        let issues = format!("/v1/connectors/{}/sync-issues?filter[resolved]=all", provider.connector);
        assert!(world.get(&issues).await.text().to_lowercase().contains("zqmark"));
        assert!(provider.patch(&erased_user, "active", json!(false)).await.status < 300);
        assert_eq!(world.post(&format!("/v1/employees/{erased_user}/erasure"), json!({})).await.status, 202);
        for _ in 0..4 {
            erasure::run_due(&world.services, || true).await.unwrap();
            world.clock.advance_seconds(20);
        }
        assert_eq!(world.get("/v1/erasures").await.json()["data"][0]["status"], "completed");
        for path in
            [issues.as_str(), "/v1/audit-log?limit=100", "/v1/notifications?limit=100", "/v1/events?limit=100"]
        {
            let issue_text = world.get(path).await.text().to_lowercase();
            assert!(!issue_text.contains("zqmark"), "{} {path}: {issue_text}", shared.name);
        }
    }
}

//! All spellings of an address are one person, and all spellings of a name are one department (decision D4).

use serde_json::{Value, json};

use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

const SPELLINGS: [&str; 3] = ["anna@xn--mller-kva.example", "Anna@MÜLLER.example", "ANNA@XN--MLLER-KVA.EXAMPLE"];

async fn upload(world: &TestApi, file: String) -> TestResponse {
    // Stays below the quota of uploads.
    world.clock.advance_seconds(61);
    world.ask("POST", "/v1/employees/csv").header("content-type", "text/csv").body(file).send().await
}

async fn list_by(world: &TestApi, list: &str, filter: &str, value: &str) -> Vec<Value> {
    let value: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let page = world.get(&format!("/v1/{list}?{filter}={value}")).await.json();
    page["data"].as_array().unwrap_or_else(|| panic!("{page}")).iter().map(|row| row["id"].clone()).collect()
}

async fn issue_scim_key(world: &TestApi) -> String {
    let body = json!({"type": "scim", "hris_source": "okta", "brake": {"percent": 100, "at_least": 1_000_000}});
    let connector = world.made("/v1/connectors", body).await;
    let body = json!({"name": "Okta", "scopes": ["scim"], "connector_id": connector});
    world.post("/v1/api-keys", body).await.json()["key"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn mailbox_is_one_person_in_rest_csv_and_scim() {
    for shared in every_store().await {
        let world = &shared.world;
        let person = world.employee("anna@müller.example").await;
        let scim = issue_scim_key(world).await;
        for (number, spelling) in SPELLINGS.into_iter().enumerate() {
            let place = format!("{spelling} on {}", shared.name);
            assert_eq!(list_by(world, "employees", "filter[email]", spelling).await, [json!(person)], "{place}");
            let body = json!({"email": spelling, "first_name": "Anna", "last_name": "Twin"});
            let response = world.post("/v1/employees", body).await;
            assert_eq!(response.status, 409, "{place}");
            assert_eq!(response.json()["error"]["details"][0]["conflicting_id"], json!(person), "{place}");
            let file = format!("email,first_name,last_name,job_title\n{spelling},Anna,Mu,Title {number}\n");
            let report = upload(world, file).await.json();
            assert_eq!([&report["data"]["created"], &report["data"]["updated"]], [0, 1], "{place}: {report}");
            let file = format!(
                "email,first_name,last_name,manager_email\nreport{number}@example.com,Re,Port,{spelling}\n"
            );
            let report = upload(world, file).await.json();
            assert_eq!(report["data"]["created"], 1, "{place}: {report}");
        }
        let employee = world.get(&format!("/v1/employees/{person}")).await.json();
        assert_eq!(employee["email"], "anna@müller.example", "the address keeps its first spelling");
        let reports = world.get(&format!("/v1/employees?filter[manager_id]={person}")).await.json();
        assert_eq!(reports["data"].as_array().map(Vec::len), Some(3), "on {}", shared.name);
        let user = json!({"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": SPELLINGS[0],
            "name": {"givenName": "Anna", "familyName": "Mu"}, "active": true});
        let users = world.bare("POST", "/scim/v2/Users").key(&scim);
        let users = users.header("content-type", "application/scim+json").body(user.to_string()).send().await;
        assert_eq!((users.status, &users.json()["id"]), (201, &json!(person)), "{}", users.text());
        let filter = "/scim/v2/Users?filter=emails.value%20eq%20%22anna%40m%C3%BCller.example%22";
        let user_list = world.bare("GET", filter).key(&scim).send().await.json();
        assert_eq!(user_list["Resources"][0]["id"], json!(person), "{user_list}");
    }
}

#[tokio::test]
async fn name_is_one_department_in_rest_and_csv() {
    for shared in every_store().await {
        let (world, mut people) = (&shared.world, 0);
        for spellings in [["Straße", "STRASSE", "strasse"], ["Café", "CAFE\u{301}", "cafe\u{301}"]] {
            let department = world.made("/v1/departments", json!({"name": spellings[0]})).await;
            let attribute = json!({"name": spellings[0], "category": "Craft"});
            let attribute = world.made("/v1/attributes", attribute).await;
            for spelling in spellings {
                let place = format!("{spelling} on {}", shared.name);
                for (list, id) in [("departments", &department), ("attributes", &attribute)] {
                    assert_eq!(
                        list_by(world, list, "filter[name]", spelling).await,
                        [json!(id)],
                        "{list}: {place}"
                    );
                }
                let response = world.post("/v1/departments", json!({"name": format!(" {spelling} ")})).await;
                assert_eq!(response.status, 409, "{place}");
                people += 1;
                let email = format!("p{people}@example.com");
                let file = format!("email,first_name,last_name,department_name\n{email},Re,Port,{spelling}\n");
                assert_eq!(upload(world, file).await.status, 200, "{place}");
                let page = world.get(&format!("/v1/employees?filter[email]={email}")).await.json();
                assert_eq!(page["data"][0]["department_id"], json!(department), "{place}");
            }
        }
    }
}

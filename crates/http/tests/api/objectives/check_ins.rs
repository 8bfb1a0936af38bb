//! Key results, check-ins and parents of objectives (decisions C11, C12, C13).

use candor_domain::access::{AccessLevel, Permission};
use candor_service::runtime::erasure;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{Feed, body, key_for, person};
use crate::retention::{DAY, run, set};
use crate::stores::{every_faulty_store, every_store};
use crate::support::{TestApi, TestResponse};

/// Creates an approved objective with these key results, and returns its path.
pub(super) async fn create_measured(
    world: &TestApi,
    (resource, scope): (&str, &str),
    owner: &str,
    key_results: Value,
) -> String {
    let mut body = body(scope, owner);
    (body["status"], body["key_results"]) = (json!("approved"), key_results);
    format!("/v1/{resource}/{}", world.made(&format!("/v1/{resource}"), body).await)
}

pub(super) const OF_EMPLOYEE: (&str, &str) = ("employee-objectives", "employee");

#[tokio::test]
async fn check_in_moves_its_objective_and_fires_one_event() {
    for shared in every_store().await {
        let world = &shared.world;
        let owner = person(world, "ada", "employee", None).await;
        let results = json!([
            {"title": "Revenue", "unit": "EUR", "start": 0.1, "target": 1000},
            {"title": "Done", "metric": "boolean", "weight": 3},
        ]);
        let path = create_measured(world, OF_EMPLOYEE, &owner, results).await;
        let objective_before = world.get(&path).await.json();
        assert_eq!(
            (&objective_before["progress"], &objective_before["confidence"]),
            (&json!(0), &Value::Null),
            "{}",
            shared.name
        );
        let mut feed = Feed::from_now(world).await;
        let first = &objective_before["key_results"][0];
        let body = json!({"confidence": "at_risk", "note": "Slow.", "author_id": owner,
                          "key_results": [{"id": first["id"], "current": 500.05}]});
        let response = world.post(&format!("{path}/check-ins"), body).await;
        assert_eq!(response.status, 201, "{}: {}", shared.name, response.text());
        let check_in = response.json();
        assert_eq!(check_in["progress"], json!(12), "half of the first result, which has a quarter of the weight");
        assert_eq!(
            check_in["key_results"],
            json!([{"id": first["id"], "title": "Revenue", "from": 0.1, "to": 500.05}])
        );
        let objective_after = world.get(&path).await.json();
        assert_eq!(
            (&objective_after["progress"], &objective_after["confidence"]),
            (&json!(12), &json!("at_risk"))
        );
        assert_eq!(objective_after["last_check_in_at"], check_in["created_at"]);
        assert_eq!(objective_after["updated_at"], check_in["created_at"]);
        let mut expected_data = objective_after.clone();
        expected_data["check_in"] = check_in.clone();
        let events = feed.read().await;
        assert_eq!(events.len(), 1, "{}: {events:?}", shared.name);
        assert_eq!((&events[0]["event"], &events[0]["data"]), (&json!("objective.checked_in"), &expected_data));
        let one = format!("{path}/check-ins/{}", check_in["id"].as_str().unwrap());
        assert_eq!(world.get(&one).await.json(), check_in);
        world.clock.advance_millis(5);
        let second = world.post(&format!("{path}/check-ins"), json!({"note": "No news."})).await.json();
        let list = world.get(&format!("{path}/check-ins")).await.json();
        assert_eq!(list["data"], json!([second, check_in]));
        let oldest = world.get(&format!("{path}/check-ins?sort=created_at&limit=1")).await.json();
        assert_eq!((&oldest["data"], &oldest["has_more"]), (&json!([check_in]), &json!(true)));
        let history = world.get(&format!("{path}/history")).await.json();
        assert_eq!(history["data"][1]["action"], "objective.check_in");
        assert_eq!(history["data"][1]["changes"]["confidence"], json!({"from": null, "to": "at_risk"}));
    }
}

async fn dry_check_in(world: &TestApi, path: &str, raw: String) -> TestResponse {
    let request = world.ask("POST", &format!("{path}/check-ins?dry_run=true"));
    request.header("content-type", "application/json").body(raw).send().await
}

#[tokio::test]
async fn decimals_pass_through_every_form_unchanged() {
    for shared in every_store().await {
        let world = &shared.world;
        let owner = person(world, "ada", "employee", None).await;
        let raw = format!(
            r#"{{"owner_id":"{owner}","title":"x","period_start":"2026-04-01","period_end":"2026-06-30","status":"approved",
                 "key_results":[{{"title":"a","start":-999999999999.9999,"target":999999999999.99980}}]}}"#
        );
        let create = world.ask("POST", "/v1/employee-objectives").header("content-type", "application/json");
        let response = create.body(raw).send().await;
        assert_eq!(response.status, 201, "{}: {}", shared.name, response.text());
        let expected_members = r#""start":-999999999999.9999,"target":999999999999.9998,"#;
        assert!(response.text().contains(expected_members), "{}: {}", shared.name, response.text());
        let id = response.json()["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/employee-objectives/{id}");
        let result = response.json()["key_results"][0]["id"].as_str().unwrap().to_owned();
        let raw = format!(r#"{{"key_results":[{{"id":"{result}","current":123456789012.3456}}]}}"#);
        let check = world.ask("POST", &format!("{path}/check-ins")).header("content-type", "application/json");
        let check_in_response = check.body(raw).send().await;
        assert!(
            check_in_response.text().contains(r#""from":-999999999999.9999,"to":123456789012.3456}"#),
            "{}",
            check_in_response.text()
        );
        let current = r#""current":123456789012.3456,"#;
        for read in [
            path.clone(),
            "/v1/employee-objectives".to_owned(),
            "/v1/events?limit=100".to_owned(),
            format!("{path}/history"),
            format!("/v1/audit-log?filter[target_id]={id}"),
            format!("/v1/employees/{owner}/personal-data"),
        ] {
            let text = world.get(&read).await.text();
            assert!(text.contains(expected_members) && text.contains(current), "{}: {read}: {text}", shared.name);
        }
        let export_text = world.get("/v1/exports?resources=employee_objectives").await.text();
        assert!(export_text.contains(expected_members) && export_text.contains(current), "{export_text}");
        // Dry runs keep the decimals as well.
        let raw = format!(r#"{{"key_results":[{{"id":"{result}","current":123456789012.34561}}]}}"#);
        assert_eq!(dry_check_in(world, &path, raw).await.status, 400);
        let raw = format!(r#"{{"key_results":[{{"id":"{result}","current":-999999999999.9998}}]}}"#);
        let dry = dry_check_in(world, &path, raw).await.text();
        for part in [r#""from":123456789012.3456,"to":-999999999999.9998}"#, r#""current":-999999999999.9998,"#] {
            assert!(dry.contains(part), "{dry}");
        }
        let patch = world.ask("PATCH", &format!("{path}?dry_run=true")).json(&json!({"title": "y"})).send().await;
        assert!(patch.text().contains(expected_members) && patch.text().contains(current), "{}", patch.text());
    }
}

#[tokio::test]
async fn check_in_needs_an_open_status_and_admin_context() {
    let world = TestApi::new().await;
    let owner = person(&world, "ada", "org_admin", None).await;
    let proposed_path = super::objective(&world, OF_EMPLOYEE, &owner).await;
    let proposed_response = world.post(&format!("{proposed_path}/check-ins"), json!({"progress": 1})).await;
    assert_eq!(proposed_response.status, 409, "{}", proposed_response.text());
    let detail = json!([{"field": "status", "current": "proposed", "attempted_transition": "check_in"}]);
    assert_eq!(proposed_response.json()["error"]["details"], detail);
    let org = create_measured(&world, ("manager-objectives", "org"), &owner, json!([])).await;
    let writer = world.scoped(&[Permission::ObjectivesRead, Permission::ObjectivesWrite]).await;
    let reader = world.scoped(&[Permission::ObjectivesRead]).await;
    for (key, path, status) in [(&writer, &org, 403), (&reader, &org, 403), (&world.admin, &org, 201)] {
        let path = format!("{path}/check-ins");
        let response = world.bare("POST", &path).key(key).json(&json!({"progress": 1})).send().await;
        assert_eq!(response.status, status, "{}", response.text());
    }
    let wrong = org.replace("manager-objectives", "employee-objectives");
    assert_eq!(world.get(&format!("{wrong}/check-ins")).await.status, 404);
    let tag = world.get(&org).await.header("etag").unwrap().to_owned();
    let conditional = |tag: String| {
        let request = world.ask("POST", &format!("{org}/check-ins")).header("if-match", &tag);
        async move { request.json(&json!({"progress": 2})).send().await.status }
    };
    assert_eq!(conditional(tag.clone()).await, 201);
    assert_eq!(conditional(tag).await, 412, "the check-in has changed the objective");
    world.post(&format!("{org}/complete"), json!({})).await;
    assert_eq!(world.post(&format!("{org}/check-ins"), json!({"progress": 3})).await.status, 409);
    assert_eq!(world.get(&org).await.json()["progress"], 2, "a completed objective keeps its last progress");
}

#[tokio::test]
async fn thirty_check_ins_at_once_are_all_kept() {
    for shared in every_store().await {
        let world = &shared.world;
        let owner = person(world, "ada", "employee", None).await;
        let path = create_measured(world, OF_EMPLOYEE, &owner, json!([{"title": "a", "target": 100}])).await;
        let result = world.get(&path).await.json()["key_results"][0]["id"].clone();
        let one = |number: usize| {
            let body = json!({"key_results": [{"id": result, "current": number}]});
            let path = format!("{path}/check-ins");
            async move { world.post(&path, body).await.status }
        };
        let statuses = join_all((1..=30).map(one)).await;
        assert!(statuses.iter().all(|status| *status == 201), "{}: {statuses:?}", shared.name);
        let list = world.get(&format!("{path}/check-ins?limit=100")).await.json();
        let all = list["data"].as_array().unwrap();
        let now = world.get(&path).await.json();
        assert_eq!(all.len(), 30, "{}", shared.name);
        assert_eq!(
            now["key_results"][0]["current"], all[0]["key_results"][0]["to"],
            "the newest check-in decides"
        );
        assert_eq!(now["last_check_in_at"], all[0]["created_at"]);
    }
}

#[tokio::test]
async fn lists_and_counts_follow_confidence_and_last_check_in() {
    for shared in every_store().await {
        let world = &shared.world;
        let owner = person(world, "ada", "employee", None).await;
        let mut paths = vec![];
        for confidence in ["on_track", "at_risk", "off_track", ""] {
            let path = create_measured(world, OF_EMPLOYEE, &owner, json!([])).await;
            world.clock.advance_seconds(DAY);
            if !confidence.is_empty() {
                let response = world.post(&format!("{path}/check-ins"), json!({"confidence": confidence})).await;
                assert_eq!(response.status, 201, "{}", response.text());
            }
            paths.push(path);
        }
        let ids_for = async |query: &str| {
            let list = world.get(&format!("/v1/employee-objectives?{query}")).await.json();
            let data = list["data"].as_array().unwrap_or_else(|| panic!("{list}")).clone();
            let place =
                |entry: &Value| paths.iter().position(|path| path.ends_with(entry["id"].as_str().unwrap()));
            data.iter().map(|entry| place(entry).unwrap()).collect::<Vec<_>>()
        };
        let check_in_time = world.get(&paths[1]).await.json()["last_check_in_at"].as_str().unwrap().to_owned();
        let mut risky = ids_for("filter[confidence]=at_risk&filter[confidence]=none").await;
        risky.sort_unstable();
        assert_eq!(risky, [1, 3], "{}", shared.name);
        assert_eq!(ids_for("sort=last_check_in_at").await, [3, 0, 1, 2]);
        assert_eq!(ids_for("sort=-last_check_in_at").await, [2, 1, 0, 3]);
        assert_eq!(
            ids_for(&format!("sort=last_check_in_at&filter[last_check_in_at][lte]={check_in_time}")).await,
            [3, 0, 1]
        );
        assert_eq!(
            ids_for(&format!("sort=last_check_in_at&filter[last_check_in_at][gte]={check_in_time}")).await,
            [1, 2]
        );
        let counts = world.get("/v1/employee-objectives/counts?group_by=confidence").await.json();
        let expected_counts =
            ["at_risk", "none", "off_track", "on_track"].map(|word| json!({"confidence": word, "count": 1}));
        assert_eq!(counts["data"], json!(expected_counts), "{}", shared.name);
        let wrong = world.get("/v1/employee-objectives?filter[confidence]=sure").await;
        assert_eq!(wrong.refusal(), (400, "validation_error".to_owned()));
    }
}

#[tokio::test]
async fn parent_is_wider_visible_and_not_archived() {
    let world = TestApi::new().await;
    let boss = person(&world, "boss", "org_admin", None).await;
    let ada = person(&world, "ada", "employee", Some(&boss)).await;
    let team = create_measured(&world, ("manager-objectives", "manager"), &boss, json!([])).await;
    let org = create_measured(&world, ("manager-objectives", "org"), &boss, json!([])).await;
    let own = create_measured(&world, OF_EMPLOYEE, &ada, json!([])).await;
    let old = create_measured(&world, ("manager-objectives", "manager"), &boss, json!([])).await;
    world.post(&format!("{old}/archive"), json!({})).await;
    let id = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    let key = key_for(&world, &ada, AccessLevel::Standard).await;
    let absent = "obj_00000000000000000000000001".to_owned();
    for (key, child, parent, code) in [
        (&world.admin, &own, absent, Some("not_found_in_organization")),
        (&world.admin, &own, id(&old), Some("invalid_state")),
        (&world.admin, &own, id(&own), Some("scope_mismatch")),
        (&world.admin, &team, id(&team), Some("scope_mismatch")),
        (&world.admin, &org, id(&org), Some("scope_mismatch")),
        (&key, &own, id(&team), Some("not_found_in_organization")),
        (&key, &own, id(&org), None),
        (&world.admin, &team, id(&org), None),
        (&world.admin, &own, id(&team), None),
    ] {
        let response = world.bare("PATCH", child).key(key).json(&json!({"parent_id": parent})).send().await;
        match code {
            None => assert_eq!((response.status, &response.json()["parent_id"]), (200, &json!(parent))),
            Some(code) => {
                assert_eq!(response.status, 422, "{}", response.text());
                let detail = &response.json()["error"]["details"][0];
                assert_eq!((&detail["field"], &detail["code"]), (&json!("parent_id"), &json!(code)));
            }
        }
    }
    // The owner does not see the objective of the boss, and sends back what a read shows.
    let visible_objective = world.bare("GET", &own).key(&key).send().await.json();
    assert_eq!(visible_objective["parent_id"], Value::Null);
    let expanded_objective = world.bare("GET", &format!("{own}?expand=parent")).key(&key).send().await.json();
    assert_eq!((&expanded_objective["parent_id"], &expanded_objective["parent"]), (&Value::Null, &Value::Null));
    let history = world.bare("GET", &format!("{own}/history")).key(&key).send().await.json();
    assert_eq!(history["data"][0]["changes"]["parent_id"], json!({"from": id(&org), "to": null}));
    assert!(!history.to_string().contains(&format!("\"{}\"", id(&team))), "{history}");
    let patch_response =
        world.bare("PATCH", &own).key(&key).json(&json!({"parent_id": null, "title": "New"})).send().await;
    assert_eq!(patch_response.status, 200, "{}", patch_response.text());
    let stored_objective = world.get(&format!("{own}?expand=parent")).await.json();
    assert_eq!(
        (&stored_objective["parent_id"], &stored_objective["parent"]["id"]),
        (&json!(id(&team)), &json!(id(&team)))
    );
    let children_path = format!("/v1/employee-objectives?filter[parent_id]={}", id(&team));
    assert_eq!(world.get(&children_path).await.json()["data"].as_array().unwrap().len(), 1);
    assert_eq!(world.bare("GET", &children_path).key(&key).send().await.json()["data"], json!([]));
    let objective_after = world.patch(&own, json!({"parent_id": null})).await.json();
    assert_eq!(objective_after["parent_id"], Value::Null);
}

#[tokio::test]
async fn erased_owner_takes_check_ins_and_leaves_no_parent() {
    for shared in every_store().await {
        let world = &shared.world;
        let boss = person(world, "boss", "manager", None).await;
        let ada = person(world, "ada", "employee", None).await;
        let team = create_measured(world, ("manager-objectives", "manager"), &boss, json!([])).await;
        let own = create_measured(world, OF_EMPLOYEE, &ada, json!([])).await;
        let parent = team.rsplit('/').next().unwrap();
        assert_eq!(world.patch(&own, json!({"parent_id": parent})).await.status, 200);
        let check_in_body = |note: &str| json!({"note": note, "author_id": boss});
        for (path, note) in [(&team, "About the team"), (&own, "About Ada")] {
            let response = world.post(&format!("{path}/check-ins"), check_in_body(note)).await;
            assert_eq!(response.status, 201, "{}", response.text());
        }
        world.clock.advance_seconds(60);
        let data = world.get(&format!("/v1/employees/{boss}/personal-data")).await.lines();
        let notes: Vec<_> =
            data.iter().filter(|line| line["type"] == "check_in").map(|line| &line["data"]["note"]).collect();
        assert_eq!(notes.len(), 2, "{}: {data:?}", shared.name);
        let mut feed = Feed::from_now(world).await;
        world.post(&format!("/v1/employees/{boss}/deactivate"), json!({})).await;
        let erasure_response = world.post(&format!("/v1/employees/{boss}/erasure"), json!({})).await;
        assert_eq!(
            (erasure_response.status, &erasure_response.json()["counts"]["check_ins"]),
            (202, &json!(1)),
            "{}",
            shared.name
        );
        for _ in 0..4 {
            erasure::run_due(&world.services, || true).await.unwrap();
            world.clock.advance_seconds(20);
        }
        assert_eq!(world.get(&team).await.status, 404, "{}", shared.name);
        let receipt = world.get("/v1/erasures").await.json()["data"][0].clone();
        let receipt_figures =
            (&receipt["status"], &receipt["counts"]["check_ins"], &receipt["counts"]["objectives"]);
        assert_eq!(receipt_figures, (&json!("completed"), &json!(1), &json!(1)), "{}", shared.name);
        let child = world.get(&own).await.json();
        assert_eq!(child["parent_id"], Value::Null, "{}", shared.name);
        let updates: Vec<_> =
            feed.read().await.into_iter().filter(|event| event["event"] == "objective.updated").collect();
        assert_eq!(updates.len(), 1, "{}: {updates:?}", shared.name);
        assert_eq!(updates[0]["data"], child);
        let remaining_check_ins = world.get(&format!("{own}/check-ins")).await.json();
        assert_eq!(
            remaining_check_ins["data"][0]["note"], "About Ada",
            "the note stays, by a pseudonymized author"
        );
        assert_eq!(remaining_check_ins["data"][0]["author_id"], json!(boss));
        let response = world.post(&format!("{own}/check-ins"), check_in_body("Later")).await;
        assert_eq!(response.status, 409, "{}", response.text());
    }
}

#[tokio::test]
async fn retention_removes_check_ins_with_their_objective() {
    for (world, faulty, _database) in every_faulty_store().await {
        let world = &world;
        let ada = person(world, "ada", "employee", None).await;
        let team = create_measured(world, ("manager-objectives", "manager"), &ada, json!([])).await;
        let own = create_measured(world, OF_EMPLOYEE, &ada, json!([])).await;
        world.patch(&own, json!({"parent_id": team.rsplit('/').next().unwrap()})).await;
        let check_in = world.made(&format!("{team}/check-ins"), json!({"progress": 5})).await;
        let eve = person(world, "eve", "employee", None).await;
        let hold = format!("/v1/employees/{eve}/legal-hold");
        assert_eq!(world.ask("PUT", &hold).json(&json!({"reason": "Lawsuit"})).send().await.status, 200);
        let first_objective = create_measured(world, OF_EMPLOYEE, &ada, json!([])).await;
        world.made(&format!("{first_objective}/check-ins"), json!({"note": "Well.", "author_id": eve})).await;
        let second_objective = create_measured(world, OF_EMPLOYEE, &ada, json!([])).await;
        let alignment =
            world.patch(&second_objective, json!({"parent_id": team.rsplit('/').next().unwrap()})).await;
        assert_eq!(alignment.status, 200, "{}", alignment.text());
        for path in [&team, &first_objective] {
            world.post(&format!("{path}/archive"), json!({})).await;
        }
        assert_eq!(world.get(&format!("{team}/check-ins/{check_in}")).await.status, 200);
        world.clock.advance_seconds(20 * DAY);
        world.post(&format!("{second_objective}/archive"), json!({})).await;
        set(world, "P30D").await;
        world.clock.advance_seconds(20 * DAY);
        let mut feed = Feed::from_now(world).await;
        run(world, &faulty).await;
        let mut event_types: Vec<_> = feed.read().await.into_iter().map(|event| event["event"].clone()).collect();
        event_types.sort_by_key(Value::to_string);
        assert_eq!(
            event_types,
            ["objective.updated", "objective.updated"],
            "the objectives whose parent was removed are updated"
        );
        assert_eq!(world.get(&second_objective).await.json()["parent_id"], Value::Null);
        assert_eq!(world.get(&team).await.status, 404);
        assert_eq!(world.get(&own).await.json()["parent_id"], Value::Null);
        assert_eq!(world.get(&first_objective).await.status, 200, "a held person wrote a check-in of it");
        let export_lines = world.get("/v1/exports?resources=check_ins").await.lines();
        assert_eq!(export_lines.last().unwrap()["counts"], json!({"check_ins": 1}));
        // The loss of its parent does not prolong the retention of an archived objective.
        world.clock.advance_seconds(12 * DAY);
        run(world, &faulty).await;
        assert_eq!(world.get(&second_objective).await.status, 404);
    }
}

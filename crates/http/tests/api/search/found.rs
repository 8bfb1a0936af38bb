//! Search results and their order.

use candor_service::runtime::search_index;
use serde_json::{Value, json};

use super::{ALL, bound_key, ids, objective, observation, report, search, search_as, summary};
use crate::snapshots::shown;
use crate::stores::every_store;
use crate::support::TestApi;

#[tokio::test]
async fn search_hits_of_every_type_match_the_snapshot() {
    let world = TestApi::new().await;
    let ada = report(&world, "calmette", None).await;
    observation(&world, &ada, "Bleibt ruhig.\nKept \"CÁLM\" & carried on 👍.").await;
    objective(&world, &ada, "Stay calm on Fridays").await;
    summary(&world, &ada, "Calmly does it.").await;
    insta::assert_snapshot!("search", shown(&search(&world, &[("q", "calm"), ALL]).await));
}

#[tokio::test]
async fn note_of_a_check_in_is_not_found() {
    let world = TestApi::new().await;
    let ada = report(&world, "ada", None).await;
    let goal = objective(&world, &ada, "Calm weekends").await;
    let path = format!("/v1/employee-objectives/{goal}");
    assert_eq!(world.post(&format!("{path}/approve"), json!({})).await.status, 200);
    let note = json!({"note": "Zebra: nothing is calm."});
    assert_eq!(world.post(&format!("{path}/check-ins"), note).await.status, 201);
    assert_eq!(ids(&search(&world, &[("q", "calm"), ALL]).await), [&*goal]);
    assert!(ids(&search(&world, &[("q", "zebra"), ALL]).await).is_empty());
}

#[tokio::test]
async fn search_reflects_writes_archivals_and_restores_at_once() {
    for shared in every_store().await {
        let world = &shared.world;
        let ada = report(world, "ada", None).await;
        let hits_for = async |words: &str| ids(&search(world, &[("q", words)]).await);
        let one = observation(world, &ada, "Kept calm.").await;
        assert_eq!(hits_for("calm").await, [&*one], "{}", shared.name);
        let path = format!("/v1/observations/{one}");
        assert_eq!(world.patch(&path, json!({"observation": "Lost her nerve."})).await.status, 200);
        assert!(hits_for("calm").await.is_empty(), "{}", shared.name);
        assert_eq!(hits_for("nerve").await, [&*one], "{}", shared.name);
        assert_eq!(world.patch(&path, json!({"impact": "Calm came back."})).await.status, 200);
        assert_eq!(hits_for("calm nerve").await, [&*one], "{}", shared.name);
        assert_eq!(world.post(&format!("{path}/archive"), json!({})).await.status, 200);
        assert!(hits_for("nerve").await.is_empty(), "{}", shared.name);
        assert_eq!(world.post(&format!("{path}/restore"), json!({})).await.status, 200);
        assert_eq!(hits_for("nerve").await, [&*one], "{}", shared.name);
        let people = async |words: &str| ids(&search(world, &[("q", words), ("types", "employees")]).await);
        let file = "email,first_name,last_name,job_title\nzoe@example.com,Zoë,Sample,Harbour pilot\n";
        let upload = world.ask("POST", "/v1/employees/csv").header("content-type", "text/csv").body(file);
        assert_eq!(upload.send().await.status, 200);
        let zoe = people("harbour zoe").await;
        assert_eq!(zoe.len(), 1, "{}", shared.name);
        assert_eq!(world.post(&format!("/v1/employees/{}/deactivate", zoe[0]), json!({})).await.status, 200);
        assert!(people("harbour").await.is_empty(), "a deactivated person is not found, {}", shared.name);
    }
}

#[tokio::test]
async fn deactivated_person_is_found_by_status() {
    for shared in every_store().await {
        let world = &shared.world;
        let mut people = vec![];
        for (name, invite) in [("here", false), ("left", false), ("erased", false), ("invited", true)] {
            let body = json!({"email": format!("{name}@example.com"), "first_name": "Harbour", "last_name": "Pilot",
                "send_invite": invite});
            people.push(world.made("/v1/employees", body).await);
        }
        let [here, left, erased, invited] = [0, 1, 2, 3].map(|at| people[at].as_str());
        for id in [left, erased] {
            assert_eq!(world.post(&format!("/v1/employees/{id}/deactivate"), json!({})).await.status, 200);
        }
        assert_eq!(world.post(&format!("/v1/employees/{erased}/erasure"), json!({})).await.status, 202);
        let hits_with = async |filters: &[(&str, &str)]| {
            let mut query = vec![("q", "harbour"), ("types", "employees")];
            query.extend(filters);
            ids(&search(world, &query).await)
        };
        for is_indexed in [false, true] {
            if is_indexed {
                search_index::index_pending(&world.services, || true).await.unwrap();
            }
            let case = format!("{}, indexed: {is_indexed}", shared.name);
            assert_eq!(hits_with(&[]).await, [invited, here], "{case}");
            for (status, wanted) in [
                ("active", vec![here]),
                ("pending_invite", vec![invited]),
                ("deactivated", vec![left]),
                ("all", vec![invited, left, here]),
            ] {
                assert_eq!(hits_with(&[("filter[status]", status)]).await, wanted, "{status} {case}");
            }
            let of_left = [("filter[status]", "all"), ("filter[employee_id]", left)];
            assert_eq!(hits_with(&of_left).await, [left], "{case}");
        }
        let former = search(world, &[("q", "former"), ("types", "employees"), ("filter[status]", "all")]).await;
        assert!(ids(&former).is_empty(), "an erased person is not found by the pseudonym, {}", shared.name);
    }
}

#[tokio::test]
async fn search_ranks_whole_words_then_newest_without_gaps() {
    for shared in every_store().await {
        let world = &shared.world;
        let ada = report(world, "ada", None).await;
        let (mut whole, mut begun) = (vec![], vec![]);
        for number in 0..12 {
            let text = if number % 3 == 0 { "Kept calm." } else { "Kept calmly on." };
            let id = observation(world, &ada, text).await;
            if number % 3 == 0 {
                whole.push(id)
            } else {
                begun.push(id)
            }
            if number % 4 == 0 {
                whole.push(summary(world, &ada, "calm kept").await);
            }
        }
        let expected_ids: Vec<String> = whole.into_iter().rev().chain(begun.into_iter().rev()).collect();
        let query = [("q", "kept calm"), ("types", "summaries,observations")];
        let all = search(world, &query).await;
        assert_eq!(ids(&all), expected_ids, "{}", shared.name);
        let scores: Vec<f64> =
            all.json()["data"].as_array().unwrap().iter().map(|item| item["score"].as_f64().unwrap()).collect();
        assert!(
            scores.is_sorted_by(|a, b| a >= b) && scores.contains(&1.0) && scores.contains(&0.5),
            "{scores:?}"
        );
        for limit in ["1", "2", "5", "14", "15", "100"] {
            let (mut seen, mut cursor) = (vec![], None::<String>);
            loop {
                let mut page_query = query.to_vec();
                page_query.push(("limit", limit));
                page_query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
                let page = search(world, &page_query).await;
                seen.extend(ids(&page));
                let page = page.json();
                assert_eq!(page["has_more"], json!(!page["next_cursor"].is_null()));
                let Some(next) = page["next_cursor"].as_str() else { break };
                assert_eq!(page["data"].as_array().unwrap().len().to_string(), limit, "pages are full");
                cursor = Some(next.to_owned());
            }
            assert_eq!(seen, expected_ids, "{limit} a page, {}", shared.name);
        }
    }
}

#[tokio::test]
async fn search_hit_equals_its_resource_as_read() {
    let world = TestApi::new().await;
    let ada = report(&world, "ada", None).await;
    let (one, two) = (observation(&world, &ada, "Calm.").await, summary(&world, &ada, "Calm.").await);
    let three = objective(&world, &ada, "Calm").await;
    let data: Vec<Value> = search(&world, &[("q", "calm"), ALL]).await.json()["data"].as_array().unwrap().clone();
    let paths = [("employee-objectives", &three), ("summaries", &two), ("observations", &one)];
    assert_eq!(data.len(), paths.len());
    for (hit, (family, id)) in data.iter().zip(paths) {
        assert_eq!(hit["resource"], world.get(&format!("/v1/{family}/{id}")).await.json());
    }
}

#[tokio::test]
async fn search_filters_narrow_the_hits() {
    for shared in every_store().await {
        let world = &shared.world;
        let boss = report(world, "boss", None).await;
        let ada = report(world, "ada", Some(&boss)).await;
        let deep = report(world, "deep", Some(&ada)).await;
        let of_boss = observation(world, &boss, "calm").await;
        let of_ada = observation(world, &ada, "calm").await;
        let of_deep = observation(world, &deep, "calm").await;
        let body = json!({"employee_id": deep, "type": "opportunity", "observation": "calm"});
        let opportunity = world.made("/v1/observations", body).await;
        let goal = objective(world, &deep, "calm").await;
        let hits_with = async |filters: &[(&str, &str)]| {
            let mut query = vec![("q", "calm"), ALL];
            query.extend(filters);
            ids(&search(world, &query).await)
        };
        assert_eq!(hits_with(&[]).await, [&*goal, &opportunity, &of_deep, &of_ada, &of_boss], "{}", shared.name);
        assert_eq!(
            hits_with(&[("filter[employee_id]", &deep)]).await,
            [&*goal, &opportunity, &of_deep],
            "{}",
            shared.name
        );
        assert_eq!(
            hits_with(&[("filter[manager_id]", &ada)]).await,
            [&*goal, &opportunity, &of_deep],
            "{}",
            shared.name
        );
        let filters_of_boss = [("filter[manager_id]", &*boss), ("filter[type]", "strength")];
        assert_eq!(hits_with(&filters_of_boss).await, [&*of_deep, &of_ada], "{}", shared.name);
        let created_at = world.get(&format!("/v1/observations/{of_ada}")).await.json()["created_at"]
            .as_str()
            .unwrap()
            .to_owned();
        let end_filter = [("filter[created_at][lte]", &*created_at)];
        assert_eq!(hits_with(&end_filter).await, [&*of_ada, &of_boss], "{}", shared.name);
        let nobody = [("filter[employee_id]", "emp_00000000000000000000000001")];
        assert!(hits_with(&nobody).await.is_empty() && hits_with(&[("filter[manager_id]", "x")]).await.is_empty());
    }
}

#[tokio::test]
async fn search_of_a_bound_key_finds_only_visible_rows() {
    for instance in every_store().await {
        let world = &instance.world;
        let joe = report(world, "joe", None).await;
        let lower_report = report(world, "below", Some(&joe)).await;
        let other = report(world, "other", None).await;
        let key = bound_key(world, &joe).await;
        let mut visible_ids = vec![];
        for (person, is_seen) in [(&other, false), (&lower_report, true), (&joe, true)] {
            visible_ids.extend(Some(objective(world, person, "calm").await).filter(|_| is_seen));
        }
        let shared = summary(world, &joe, "calm").await;
        for action in ["approve", "share"] {
            assert_eq!(world.post(&format!("/v1/summaries/{shared}/{action}"), json!({})).await.status, 200);
        }
        summary(world, &joe, "calm, and not shared").await;
        summary(world, &other, "calm").await;
        visible_ids.push(shared);
        visible_ids.push(summary(world, &lower_report, "calm").await);
        observation(world, &other, "calm").await;
        visible_ids.push(observation(world, &lower_report, "calm").await);
        visible_ids.reverse();
        assert_eq!(ids(&search_as(world, &key, &[("q", "calm"), ALL]).await), visible_ids, "{}", instance.name);
    }
}

//! Assignments and submissions: atomic changes, visibility, and thirty concurrent submissions (decisions B5,
//! G).

use candor_domain::access::AccessLevel;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::objectives::{Feed, key_for, person, walk};
use crate::snapshots::shown;
use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

const ABSENT: &str = "/v1/assignments/asg_00000000000000000000000001";

/// People in the three roles of an assignment: requester, subject and reviewers.
struct AssignmentPeople {
    requester: String,
    employee: String,
    reviewers: Vec<String>,
}

impl AssignmentPeople {
    async fn gather(world: &TestApi, reviewers: usize) -> Self {
        let requester = person(world, "requester", "manager", None).await;
        let employee = person(world, "employee", "employee", Some(&requester)).await;
        let mut cast = Self { requester, employee, reviewers: vec![] };
        for number in 0..reviewers {
            cast.reviewers.push(person(world, &format!("reviewer{number}"), "employee", None).await);
        }
        cast
    }

    /// Creates an assignment that asks for feedback, and returns its path.
    async fn ask(&self, world: &TestApi, more: Value) -> String {
        let mut body = json!({
            "employee_id": self.employee, "requester_id": self.requester, "title": "Before the review",
            "reviewer_ids": self.reviewers,
        });
        more.as_object().unwrap().iter().for_each(|(name, value)| body[name] = value.clone());
        format!("/v1/assignments/{}", world.made("/v1/assignments", body).await)
    }
}

fn submission(reviewer: &str, observations: usize) -> Value {
    let one = |number: usize| json!({"type": "strength", "observation": format!("No. {number}")});
    json!({"reviewer_id": reviewer, "observations": (0..observations).map(one).collect::<Vec<_>>()})
}

async fn submit(world: &TestApi, path: &str, body: &Value) -> TestResponse {
    world.post(&format!("{path}/submissions"), body.clone()).await
}

async fn send(world: &TestApi, key: &str, method: &str, path: &str, body: Option<Value>) -> TestResponse {
    let request = world.bare(method, path).key(key);
    match body {
        Some(body) => request.json(&body).send().await,
        None => request.send().await,
    }
}

#[tokio::test]
async fn assignment_lifecycle_matches_snapshots() {
    let world = TestApi::new().await;
    let cast = AssignmentPeople::gather(&world, 2).await;
    let body = json!({
        "employee_id": cast.employee, "requester_id": cast.requester, "title": "Before the review",
        "instructions": "How did the launch go?", "due_date": "2026-03-31", "reviewer_ids": cast.reviewers,
    });
    let response = world.post("/v1/assignments", body).await;
    insta::assert_snapshot!("assignment_created", shown(&response));
    let path = format!("/v1/assignments/{}", response.json()["id"].as_str().unwrap());
    world.clock.advance_seconds(1);
    let body = json!({
        "reviewer_id": cast.reviewers[1],
        "observations": [
            {"type": "strength", "observation": "Kept calm on the day."},
            {"type": "opportunity", "observation": "Asked for help late.", "impact": "A long night.", "observation_date": "2026-02-28"},
        ],
    });
    insta::assert_snapshot!("submission", shown(&submit(&world, &path, &body).await));
    insta::assert_snapshot!("submission_twice", shown(&submit(&world, &path, &body).await));
    insta::assert_snapshot!(
        "submission_of_a_stranger",
        shown(&submit(&world, &path, &submission("emp_1", 1)).await)
    );
    let bad = json!({"reviewer_id": cast.reviewers[0], "observations": [{"type": "praise", "author_id": "x"}]});
    insta::assert_snapshot!("submission_invalid", shown(&submit(&world, &path, &bad).await));
    world.clock.advance_seconds(1);
    insta::assert_snapshot!(
        "assignment_completed",
        shown(&submit(&world, &path, &submission(&cast.reviewers[0], 1)).await)
    );
    insta::assert_snapshot!(
        "assignment_canceled_late",
        shown(&world.post(&format!("{path}/cancel"), json!({})).await)
    );
    insta::assert_snapshot!("assignment_told", shown(&world.get("/v1/notifications").await));
    insta::assert_snapshot!("assignment_audited", shown(&world.get("/v1/audit-log?limit=5").await));
    let events = world.get("/v1/events?limit=100").await.json();
    let events: Vec<_> =
        events["data"].as_array().unwrap().iter().map(|item| item["event"].as_str().unwrap()).collect();
    let observation_event = "observation.created";
    assert_eq!(
        events[4..],
        [
            "assignment.created",
            observation_event,
            observation_event,
            "assignment.updated",
            observation_event,
            "assignment.completed"
        ]
    );
    let observations = walk(&world, &world.admin, "/v1/observations?limit=9&sort=created_at").await;
    let authors: Vec<_> =
        observations.iter().map(|observation| observation["author_id"].as_str().unwrap()).collect();
    assert_eq!(authors, [&cast.reviewers[1], &cast.reviewers[1], &cast.reviewers[0]]);
    assert!(observations.iter().all(|observation| observation["employee_id"] == json!(cast.employee)));
    let location = response.header("location").unwrap().trim_start_matches("https://candor.example").to_owned();
    assert_eq!(world.get(&location).await.json()["status"], "completed");
}

#[tokio::test]
async fn assignment_status_decides_result_of_each_request() {
    let world = TestApi::new().await;
    let cast = AssignmentPeople::gather(&world, 3).await;
    let status = async |state: &str, request: &str| {
        let path = cast.ask(&world, json!({"required_submissions": 2})).await;
        let submit_ok = async |body| assert_eq!(submit(&world, &path, &body).await.status, 200);
        submit_ok(submission(&cast.reviewers[0], 1)).await;
        match state {
            "completed" => submit_ok(submission(&cast.reviewers[1], 1)).await,
            "canceled" => assert_eq!(world.post(&format!("{path}/cancel"), json!({})).await.status, 200),
            _ => {}
        }
        assert_eq!(world.get(&path).await.json()["status"], state);
        let last_entry_before = world.get("/v1/audit-log?limit=1").await.json()["data"][0]["id"].clone();
        let response = match request {
            "cancel" => world.post(&format!("{path}/cancel"), json!({})).await,
            "new" => submit(&world, &path, &submission(&cast.reviewers[2], 1)).await,
            "again" => submit(&world, &path, &submission(&cast.reviewers[0], 1)).await,
            "stranger" => submit(&world, &path, &submission(&cast.employee, 1)).await,
            _ => {
                let mut body = submission(&cast.reviewers[2], 2);
                body["observations"][1]["attribute_ids"] = json!(["attr_1"]);
                submit(&world, &path, &body).await
            }
        };
        let last_entry_after = world.get("/v1/audit-log?limit=1").await.json()["data"][0]["id"].clone();
        assert_eq!(
            response.status == 200,
            last_entry_before != last_entry_after,
            "{state} {request}: a refused request is not audited"
        );
        response.status
    };
    let requests = ["cancel", "new", "again", "stranger", "unknown attribute"];
    for (state, wanted) in [("open", [200, 200, 409, 422, 422]), ("completed", [409; 5]), ("canceled", [409; 5])] {
        for (request, wanted) in requests.into_iter().zip(wanted) {
            assert_eq!(status(state, request).await, wanted, "{state} × {request}");
        }
    }
}

#[tokio::test]
async fn thirty_concurrent_submissions_complete_assignment_once() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = AssignmentPeople::gather(world, 30).await;
        let mut feed = Feed::from_now(world).await;
        let path = cast.ask(world, json!({"due_date": "2026-03-31"})).await;
        let bodies: Vec<_> = cast.reviewers.iter().map(|reviewer| submission(reviewer, 2)).collect();
        let responses = join_all(bodies.iter().map(|body| submit(world, &path, body))).await;
        for answered in &responses {
            assert_eq!(answered.status, 200, "{}: {}", shared.name, answered.text());
        }
        let completed_count = responses.iter().filter(|response| response.json()["status"] == "completed").count();
        let now = world.get(&path).await.json();
        assert_eq!(
            (completed_count, &now["status"], &now["submitted_count"]),
            (1, &json!("completed"), &json!(30)),
            "{}",
            shared.name
        );
        let mut events = feed.all("").await;
        events.retain(|event| event["event"] != "summary.created");
        let count = |name: &str| events.iter().filter(|event| event["event"] == name).count();
        assert_eq!((count("assignment.completed"), count("observation.created")), (1, 60), "{}", shared.name);
        let completion = events.iter().find(|event| event["event"] == "assignment.completed").unwrap();
        assert_eq!(completion["data"], now, "{}", shared.name);
        let notifications = walk(
            world,
            &world.admin,
            &format!("/v1/notifications?limit=9&filter[recipient_id]={}", cast.requester),
        )
        .await;
        assert_eq!(
            notifications.iter().map(|item| &item["type"]).collect::<Vec<_>>(),
            ["assignment.completed"],
            "{}",
            shared.name
        );
    }
}

#[tokio::test]
async fn submissions_beyond_required_count_are_refused() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = AssignmentPeople::gather(world, 30).await;
        let path = cast.ask(world, json!({"required_submissions": 2})).await;
        let bodies: Vec<_> = cast.reviewers.iter().map(|reviewer| submission(reviewer, 1)).collect();
        let responses = join_all(bodies.iter().map(|body| submit(world, &path, body))).await;
        let with = |status: u16| responses.iter().filter(|response| response.status == status).count();
        assert_eq!((with(200), with(409)), (2, 28), "{}", shared.name);
        let observations =
            walk(world, &world.admin, &format!("/v1/observations?limit=9&filter[employee_id]={}", cast.employee))
                .await;
        assert_eq!(observations.len(), 2, "{}: a refused submission leaves no observation", shared.name);
    }
}

#[tokio::test]
async fn concurrent_submissions_of_one_reviewer_count_once() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = AssignmentPeople::gather(world, 2).await;
        let path = cast.ask(world, json!({})).await;
        let body = submission(&cast.reviewers[0], 1);
        let responses = join_all((0..30).map(|_| submit(world, &path, &body))).await;
        assert_eq!(responses.iter().filter(|response| response.status == 200).count(), 1, "{}", shared.name);
        assert_eq!(world.get(&path).await.json()["submitted_count"], 1, "{}", shared.name);
        let observations =
            walk(world, &world.admin, &format!("/v1/observations?limit=9&filter[employee_id]={}", cast.employee))
                .await;
        assert_eq!(observations.len(), 1, "{}", shared.name);
    }
}

#[tokio::test]
async fn assignment_is_visible_to_parties_and_org_admins() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = AssignmentPeople::gather(world, 2).await;
        let admin = person(world, "admin", "org_admin", None).await;
        let stranger = person(world, "stranger", "manager", None).await;
        let key = async |who: &str| key_for(world, who, AccessLevel::Admin).await;
        // Name, key, visibility of the assignment, and status of cancelling it.
        let callers = [
            ("the requester", key(&cast.requester).await, true, 200),
            ("a reviewer", key(&cast.reviewers[1]).await, true, 403),
            ("the subject", key(&cast.employee).await, false, 404),
            ("a stranger", key(&stranger).await, false, 404),
            ("an org admin", key(&admin).await, true, 200),
            ("the organization", world.admin.clone(), true, 200),
        ];
        for (name, key, sees, cancels) in callers {
            let case = format!("{}: {name}", shared.name);
            let path = cast.ask(world, json!({"due_date": "2026-03-31"})).await;
            let id = path.rsplit('/').next().unwrap().to_owned();
            let nothing = send(world, &key, "GET", ABSENT, None).await.without_request_id();
            let response = send(world, &key, "GET", &path, None).await;
            assert_eq!(response.status, if sees { 200 } else { 404 }, "{case}");
            assert!(
                sees || response.without_request_id() == nothing,
                "{case}: answered like an absent assignment"
            );
            for filter in [
                "".to_owned(),
                "&sort=due_date".to_owned(),
                "&filter[status]=open".to_owned(),
                format!("&filter[employee_id]={}", cast.employee),
                format!("&filter[reviewer_id]={}", cast.reviewers[0]),
                format!("&filter[requester_id]={}&sort=-updated_at", cast.requester),
            ] {
                let assignments = walk(world, &key, &format!("/v1/assignments?limit=3{filter}")).await;
                assert_eq!(assignments.iter().any(|item| item["id"] == json!(id)), sees, "{case}: {filter}");
            }
            let own = if name == "a reviewer" { &cast.reviewers[1] } else { &cast.reviewers[0] };
            let speaks = matches!(name, "a reviewer" | "the organization");
            let expected_status = if !sees {
                404
            } else if speaks {
                200
            } else {
                403
            };
            let body = Some(submission(own, 1));
            let submit_response = send(world, &key, "POST", &format!("{path}/submissions"), body).await;
            assert_eq!(submit_response.status, expected_status, "{case}: {}", submit_response.text());
            let cancel_response = send(world, &key, "POST", &format!("{path}/cancel"), None).await;
            assert_eq!(cancel_response.status, cancels, "{case}");
        }
    }
}

#[tokio::test]
async fn bound_key_requests_assignments_as_its_person_only() {
    let world = TestApi::new().await;
    let cast = AssignmentPeople::gather(&world, 1).await;
    let key = key_for(&world, &cast.requester, AccessLevel::Standard).await;
    let ask = async |requester: Option<Value>| {
        let mut body = json!({"employee_id": cast.employee, "title": "x", "reviewer_ids": cast.reviewers});
        if let Some(requester) = requester {
            body["requester_id"] = requester;
        }
        send(&world, &key, "POST", "/v1/assignments", Some(body)).await
    };
    for requester in [Some(json!(cast.requester)), None] {
        let response = ask(requester).await;
        assert_eq!((response.status, &response.json()["requester_id"]), (201, &json!(cast.requester)));
    }
    for requester in [json!(cast.employee), Value::Null] {
        assert_eq!(ask(Some(requester)).await.refusal(), (403, "permission_denied".to_owned()));
    }
}

#[tokio::test]
async fn assignment_list_supports_every_order_and_filter() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = AssignmentPeople::gather(world, 3).await;
        let other = person(world, "other", "employee", None).await;
        let mut all = vec![];
        for (number, due) in
            [Some("2026-05-01"), None, Some("2026-04-01"), Some("2026-05-01"), None].into_iter().enumerate()
        {
            let requester = if number % 2 == 0 { &cast.requester } else { &cast.reviewers[0] };
            let employee = if number < 3 { &cast.employee } else { &other };
            let more = json!({"due_date": due, "requester_id": requester, "employee_id": employee,
                              "reviewer_ids": &cast.reviewers[number % 2..=1 + number % 2]});
            all.push(cast.ask(world, more).await.rsplit('/').next().unwrap().to_owned());
        }
        world.clock.advance_millis(1);
        world.post(&format!("/v1/assignments/{}/cancel", all[0]), json!({})).await;
        world.clock.advance_millis(1);
        submit(world, &format!("/v1/assignments/{}", all[2]), &submission(&cast.reviewers[0], 1)).await;
        submit(world, &format!("/v1/assignments/{}", all[2]), &submission(&cast.reviewers[1], 1)).await;
        let ids_for = async |query: &str| {
            let rows = walk(world, &world.admin, &format!("/v1/assignments?limit=2{query}")).await;
            let place = |item: &Value| all.iter().position(|id| *item == json!(id)).unwrap();
            rows.iter().map(|item| place(&item["id"])).collect::<Vec<_>>()
        };
        let table = [
            ("".to_owned(), vec![4, 3, 2, 1, 0]),
            ("&sort=created_at".to_owned(), vec![0, 1, 2, 3, 4]),
            ("&sort=due_date".to_owned(), vec![2, 0, 3, 1, 4]),
            ("&sort=-due_date".to_owned(), vec![4, 1, 3, 0, 2]),
            ("&sort=updated_at".to_owned(), vec![1, 3, 4, 0, 2]),
            ("&filter[status]=open".to_owned(), vec![4, 3, 1]),
            ("&filter[status]=completed&filter[status]=canceled".to_owned(), vec![2, 0]),
            (format!("&filter[employee_id]={other}"), vec![4, 3]),
            (format!("&filter[requester_id]={}", cast.requester), vec![4, 2, 0]),
            (format!("&filter[requester_id]={}&sort=due_date", cast.requester), vec![2, 0, 4]),
            (format!("&filter[reviewer_id]={}", cast.reviewers[0]), vec![4, 2, 0]),
            (format!("&filter[reviewer_id]={}", cast.reviewers[1]), vec![4, 3, 2, 1, 0]),
            (format!("&filter[reviewer_id]={}&filter[status]=open", cast.reviewers[2]), vec![3, 1]),
            ("&filter[due_date][gte]=2026-04-02&sort=due_date".to_owned(), vec![0, 3]),
            ("&filter[due_date][lte]=2026-04-30".to_owned(), vec![2]),
            ("&filter[reviewer_id]=nonsense".to_owned(), vec![]),
        ];
        for (query, wanted) in table {
            assert_eq!(ids_for(&query).await, wanted, "{}: {query}", shared.name);
        }
    }
}

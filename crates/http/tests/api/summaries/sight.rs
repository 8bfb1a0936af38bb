//! Access of bound keys to summaries (decision B5).

use candor_domain::access::{AccessLevel, Environment, Permissions};
use serde_json::json;

use super::{body, perform, summary};
use crate::objectives::{key_for, person, walk};
use crate::stores::every_store;
use crate::support::TestApi;

const ABSENT: &str = "/v1/summaries/sum_00000000000000000000000001";

/// Expected access of a caller to a summary.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ExpectedAccess {
    Nothing,
    /// Reading the summary and giving feedback.
    Feedback,
    /// All actions except feedback on behalf of the employee.
    Write,
    All,
}

impl ExpectedAccess {
    /// Returns the status of `GET` on the history.
    const fn history_status(self) -> u16 {
        match self {
            Self::Nothing => 404,
            Self::Feedback => 403,
            Self::Write | Self::All => 200,
        }
    }
}

/// Test people: the reporting line top → boss → employee, an author outside the line, and outsiders.
struct SummaryPeople {
    employee: String,
    author: String,
    /// Name, key, access before sharing, and access after it.
    callers: Vec<(&'static str, String, ExpectedAccess, ExpectedAccess)>,
}

impl SummaryPeople {
    async fn gather(world: &TestApi) -> Self {
        let top = person(world, "top", "manager", None).await;
        let boss = person(world, "boss", "manager", Some(&top)).await;
        let employee = person(world, "ada", "manager", Some(&boss)).await;
        let peer = person(world, "peer", "manager", Some(&boss)).await;
        let report = person(world, "below", "employee", Some(&employee)).await;
        let author = person(world, "author", "employee", None).await;
        let admin = person(world, "admin", "org_admin", None).await;
        let mut callers = vec![];
        for (name, id, before, after) in [
            ("the employee", &employee, ExpectedAccess::Nothing, ExpectedAccess::Feedback),
            ("the author", &author, ExpectedAccess::Write, ExpectedAccess::Write),
            ("the employee's manager", &boss, ExpectedAccess::Write, ExpectedAccess::Write),
            ("the manager above", &top, ExpectedAccess::Write, ExpectedAccess::Write),
            ("a peer", &peer, ExpectedAccess::Nothing, ExpectedAccess::Nothing),
            ("a report", &report, ExpectedAccess::Nothing, ExpectedAccess::Nothing),
            ("an org admin", &admin, ExpectedAccess::Write, ExpectedAccess::Write),
        ] {
            callers.push((name, key_for(world, id, AccessLevel::Standard).await, before, after));
        }
        let admin = key_for(world, &peer, AccessLevel::Admin).await;
        callers.push(("a peer with an admin-level key", admin, ExpectedAccess::Nothing, ExpectedAccess::Nothing));
        let key = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
        callers.push(("the organization", key, ExpectedAccess::All, ExpectedAccess::All));
        Self { employee, author, callers }
    }
}

#[tokio::test]
async fn summary_access_follows_relation_and_status() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = SummaryPeople::gather(world).await;
        let ways: [(&str, &[&str]); 6] = [
            ("draft", &[]),
            ("pending_review", &["submit"]),
            ("approved", &["approve"]),
            ("shared", &["approve", "share"]),
            ("archived", &["approve", "share", "archive"]),
            ("archived", &["archive"]),
        ];
        for (status, way) in ways {
            for (name, key, before, after) in &cast.callers {
                let may = if way.contains(&"share") { *after } else { *before };
                let mut summary_body = body(&cast.employee);
                summary_body["author_id"] = json!(cast.author);
                let path = summary(world, summary_body).await;
                perform(world, &path, way).await;
                let case = format!("{}: {name} × {way:?}", shared.name);
                let send = async |method: &str, path: &str, body: serde_json::Value| {
                    world.bare(method, path).key(key).json(&body).send().await
                };
                let got = world.bare("GET", &path).key(key).send().await;
                assert_eq!(got.status, if may == ExpectedAccess::Nothing { 404 } else { 200 }, "{case}");
                let history = world.bare("GET", &format!("{path}/history")).key(key).send().await;
                assert_eq!(history.status, may.history_status(), "{case}: history");
                let id = path.rsplit('/').next().unwrap();
                for filter in [
                    "",
                    &format!("&filter[employee_id]={}", cast.employee),
                    &format!("&filter[author_id]={}", cast.author),
                ] {
                    let list = format!("/v1/summaries?limit=9&filter[status]={status}{filter}");
                    let is_listed = walk(world, key, &list).await.iter().any(|item| item["id"] == id);
                    assert_eq!(is_listed, may != ExpectedAccess::Nothing, "{case}: list {filter}");
                }
                let patch = send("PATCH", &path, json!({"title": "Changed"})).await;
                let feedback = send("POST", &format!("{path}/feedback"), json!({})).await;
                let archive = send("POST", &format!("{path}/archive"), json!({})).await;
                let is_open = matches!(status, "draft" | "pending_review");
                let writes = |is_possible: bool| if is_possible { 200 } else { 409 };
                let statuses = match may {
                    ExpectedAccess::Nothing => [404; 3],
                    ExpectedAccess::Feedback => [403, writes(status == "shared"), 403],
                    ExpectedAccess::Write => [writes(is_open), 403, writes(status != "archived")],
                    ExpectedAccess::All => {
                        [writes(is_open), writes(status == "shared"), writes(status != "archived")]
                    }
                };
                assert_eq!([patch.status, feedback.status, archive.status], statuses, "{case}");
                if may == ExpectedAccess::Nothing {
                    let absent = world.bare("GET", ABSENT).key(key).send().await;
                    assert_eq!(got.without_request_id(), absent.without_request_id(), "{case}: as if absent");
                }
            }
        }
    }
}

#[tokio::test]
async fn summary_list_shows_visible_rows_once_in_order() {
    for it in every_store().await {
        let world = &it.world;
        let cast = SummaryPeople::gather(world).await;
        let people = walk(world, &world.admin, "/v1/employees?limit=50").await;
        for (number, about) in people.iter().enumerate() {
            for author in people.iter().skip(number % 2).step_by(2) {
                let mut summary_body = body(about["id"].as_str().unwrap());
                summary_body["author_id"] = author["id"].clone();
                let path = summary(world, summary_body).await;
                perform(world, &path, if number % 3 == 0 { &["approve", "share"] } else { &[] }).await;
            }
        }
        let all = walk(world, &world.admin, "/v1/summaries?limit=100").await;
        for (name, key, ..) in &cast.callers {
            let mut ids = vec![];
            for it in &all {
                let path = format!("/v1/summaries/{}", it["id"].as_str().unwrap());
                if world.bare("GET", &path).key(key).send().await.status == 200 {
                    ids.push(it.clone());
                }
            }
            let rows = walk(world, key, "/v1/summaries?limit=4").await;
            assert_eq!(rows, ids, "{}: {name}", it.name);
            if !ids.is_empty() {
                assert!(name.contains("org") || ids.len() < all.len(), "{name}");
            }
        }
    }
}

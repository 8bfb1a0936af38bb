//! Sample progress: key results, check-ins and parents of the sample objectives.

use candor_domain::objective::Family;
use candor_service::RequestContext;
use candor_service::usecases::{check_ins, objectives};
use serde_json::{Value, json};

use super::{GOALS, body_of, defect, expect_reply, object};
use candor_cli::error::CommandError;

/// Title of the sample objective with key results.
const MEASURED: &str = "A case is answered within an hour";
/// Title of the sample objective that `MEASURED` supports.
const WIDER: &str = "Customers would recommend us";
/// Title of a sample objective without key results and without a parent.
const STATED: &str = "Every service has a migration guide";

/// Adds key results, a parent and two check-ins to the objective `MEASURED`, and a check-in to `STATED`.
pub(super) async fn add_progress(
    context: &RequestContext,
    people: &[String],
    goals: &[(usize, String)],
) -> Result<(), CommandError> {
    let parts = json!({
        "parent_id": id_of(goals, WIDER)?,
        "key_results": [
            {"title": "Median time to the first answer", "unit": "minutes", "start": 180, "target": 60, "weight": 2},
            {"title": "Answers with a page of the handbook", "metric": "percent", "start": 20, "target": 80},
            {"title": "The queue has a page of its own", "metric": "boolean"},
        ],
    });
    let objective_id = id_of(goals, MEASURED)?;
    let id = objective_id.parse().map_err(|_| defect("an answer has no good id"))?;
    let objective = objectives::update(context, Family::Employees, id, object(parts)).await;
    let objective = body_of(objective, "add sample key results")?;
    let measurement =
        |place: usize, current: Value| json!({"id": objective["key_results"][place]["id"], "current": current});
    let with_author = |author: usize, mut body: Value| {
        body["author_id"] = json!(people.get(author));
        body
    };
    let first = with_author(
        8,
        json!({"confidence": "on_track", "key_results": [measurement(0, json!(150)), measurement(1, json!(32.5))]}),
    );
    let second = with_author(
        8,
        json!({
            "confidence": "at_risk",
            "note": "Two of us are ill, so the time rises again.",
            "key_results": [measurement(0, json!(162.5)), measurement(2, json!(true))],
        }),
    );
    for body in [first, second] {
        check_in(context, &objective_id, body).await?;
    }
    let progress = with_author(
        3,
        json!({"progress": 40, "confidence": "on_track", "note": "Four of ten guides are written."}),
    );
    check_in(context, &id_of(goals, STATED)?, progress).await
}

fn id_of(goals: &[(usize, String)], title: &str) -> Result<String, CommandError> {
    let place = GOALS.iter().position(|goal| goal.1 == title);
    let goal_id = place.and_then(|place| goals.get(place)).map(|(_, id)| id.clone());
    goal_id.ok_or_else(|| defect("a sample objective is missing"))
}

async fn check_in(context: &RequestContext, objective: &str, body: Value) -> Result<(), CommandError> {
    let id = objective.parse().map_err(|_| defect("an answer has no good id"))?;
    let reply = check_ins::create(context, Family::Employees, id, object(body)).await;
    expect_reply(reply, "check in on a sample objective").map(drop)
}

//! Sample progress: key results, check-ins and parents of the sample objectives.

use candor_domain::objective::Family;
use candor_service::usecases::{check_ins, objectives};
use candor_service::{RequestContext, Services};
use serde_json::{Value, json};

use super::{GOALS, body_of, defect, done, object};
use crate::error::Error;

/// Titles of the sample objective with key results, of the one that the others support, and of one with neither.
const MEASURED: &str = "A case is answered within an hour";
const WIDER: &str = "Customers would recommend us";
const STATED: &str = "Every service has a migration guide";

/// Adds key results and a parent to an objective, and check-ins to two of them.
pub(super) async fn checked_in(
    services: &Services,
    context: &RequestContext,
    people: &[String],
    goals: &[(usize, String)],
) -> Result<(), Error> {
    let parts = json!({
        "parent_id": id_of(goals, WIDER)?,
        "key_results": [
            {"title": "Median time to the first answer", "unit": "minutes", "start": 180, "target": 60, "weight": 2},
            {"title": "Answers with a page of the handbook", "metric": "percent", "start": 20, "target": 80},
            {"title": "The queue has a page of its own", "metric": "boolean"},
        ],
    });
    let measured = id_of(goals, MEASURED)?;
    let id = measured.parse().map_err(|_| defect("an answer has no good id"))?;
    let updated = objectives::update(services, context, Family::Employees, id, object(parts)).await;
    let updated = body_of(updated, "add sample key results")?;
    let of = |at: usize, current: Value| json!({"id": updated["key_results"][at]["id"], "current": current});
    let said = |author: usize, mut body: Value| {
        body["author_id"] = json!(people.get(author));
        body
    };
    let first = said(8, json!({"confidence": "on_track", "key_results": [of(0, json!(150)), of(1, json!(32.5))]}));
    let second = said(
        8,
        json!({
            "confidence": "at_risk",
            "note": "Two of us are ill, so the time rises again.",
            "key_results": [of(0, json!(162.5)), of(2, json!(true))],
        }),
    );
    for body in [first, second] {
        check_in(services, context, &measured, body).await?;
    }
    let stated =
        said(3, json!({"progress": 40, "confidence": "on_track", "note": "Four of ten guides are written."}));
    check_in(services, context, &id_of(goals, STATED)?, stated).await
}

fn id_of(goals: &[(usize, String)], title: &str) -> Result<String, Error> {
    let at = GOALS.iter().position(|goal| goal.1 == title);
    let found = at.and_then(|at| goals.get(at)).map(|(_, id)| id.clone());
    found.ok_or_else(|| defect("a sample objective is missing"))
}

async fn check_in(
    services: &Services,
    context: &RequestContext,
    objective: &str,
    body: Value,
) -> Result<(), Error> {
    let id = objective.parse().map_err(|_| defect("an answer has no good id"))?;
    let made = check_ins::create(services, context, Family::Employees, id, object(body)).await;
    done(made, "check in on a sample objective").map(drop)
}

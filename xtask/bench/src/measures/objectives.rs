//! Check-ins against changes of the title, and pages of objectives with progress against pages without.

use super::*;
use crate::data;
use candor_domain::id::EmployeeId;
use candor_test_load::Random;

/// Number of objectives of an owner whose page is read.
const PAGE: u32 = 50;
/// Number of objectives that are changed: so many that two clients seldom change the same one.
const CHANGED: u32 = 1_000;
const PATH: &str = "/v1/employee-objectives";
const MAX_CHECK_IN_COST: f64 = 1.5;
const MAX_PAGE_COST: f64 = 1.1;
/// First seed of the check-ins. Other measures have other seeds, so that no request repeats another one.
const CHECK_IN_SEEDS: u64 = 21_000;
/// First seed of the renames.
const RENAME_SEEDS: u64 = 22_000;

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let (api, people) = (&instance.api, [0, 1, 2, 3].map(data::person));
    let [bare, stated, measured, changed] = people;
    let measures = json!([
        {"title": "Median time to the first answer", "unit": "minutes", "start": 180, "target": 60},
        {"title": "Answers with a page of the handbook", "metric": "percent"},
        {"title": "The queue has a page of its own", "metric": "boolean"},
    ]);
    objectives(api, bare, PAGE, &json!([]))?;
    for objective in objectives(api, stated, PAGE, &json!([]))? {
        api.create(&check_ins(&objective), &json!({"progress": 40, "confidence": "on_track"}))?;
    }
    objectives(api, measured, PAGE, &measures)?;
    let objectives = objectives(api, changed, CHANGED, &measures)?;

    let checks = objectives.iter().map(|objective| {
        let (path, id) = (check_ins(objective), objective["key_results"][0]["id"].clone());
        let body = move |random: &mut Random| {
            let current = f64::from(random.number(600, 1_800)) / 10.0;
            json!({"confidence": "at_risk", "key_results": [{"id": id, "current": current}]})
        };
        Traffic::post(&api.key, move |_| path.clone(), body)
    });
    let renames = objectives.iter().map(|objective| {
        let line = format!("PATCH {}", path_of(objective));
        Traffic::with_body(
            &api.key,
            move |_| line.clone(),
            |random| json!({"title": format!("{:x}", random.draw())}),
        )
    });
    let contenders =
        [(Traffic::any(checks.collect()), CHECK_IN_SEEDS), (Traffic::any(renames.collect()), RENAME_SEEDS)]
            .map(|(traffic, seeds)| instance.contender(traffic, CLIENTS, seeds));
    let check_in = data.compare(instance, &contenders)?;

    let page = |owner: EmployeeId| {
        let path = format!("{PATH}?filter%5Bowner_id%5D={owner}&limit={PAGE}");
        instance.contender(Traffic::read(&api.key, path), CLIENTS, 0)
    };
    let with_progress = data.compare(instance, &[page(stated), page(bare)])?;
    let with_measures = data.compare(instance, &[page(measured), page(bare)])?;
    let ratio = with_measures.median_of_pairs(|one, other| other.rate / one.rate);
    Ok(vec![
        check_in.cost("Check-in with a value, against a PATCH of the title", MAX_CHECK_IN_COST),
        with_progress.cost("Page of 50 objectives with progress, against one without", MAX_PAGE_COST),
        with_measures.line("Page of 50 objectives with 3 key results each", (ratio, "×"), Limit::None),
    ])
}

fn path_of(objective: &Value) -> String {
    format!("{PATH}/{}", objective["id"].as_str().unwrap_or_default())
}

fn check_ins(objective: &Value) -> String {
    format!("{}/check-ins", path_of(objective))
}

/// Creates approved objectives of a person.
fn objectives(api: &Api, owner: EmployeeId, count: u32, key_results: &Value) -> Result<Vec<Value>> {
    let create = |number: u32| {
        let body = json!({
            "owner_id": owner, "title": format!("Every letter has an answer, part {number}"), "status": "approved",
            "period_start": "2026-01-01", "period_end": "2030-12-31", "key_results": key_results,
        });
        api.send("POST", PATH, &body)
    };
    (0..count).map(create).collect()
}

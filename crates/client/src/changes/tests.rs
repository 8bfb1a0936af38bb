use super::*;
use serde_json::json;

fn batch(events: &[(&str, Value)]) -> ChangeBatch {
    let data = events.iter().map(|(event, data)| {
        let data = RawValue::from_string(data.to_string()).unwrap();
        FeedEvent { event: (*event).to_owned(), created_at: "2026-03-02T09:00:00.000Z".to_owned(), data }
    });
    ChangeBatch::new(data.collect(), None)
}

fn rows(rows: &[Value]) -> BTreeMap<String, Value> {
    rows.iter().map(|row| (row["id"].as_str().unwrap().to_owned(), row.clone())).collect()
}

#[test]
fn type_of_a_row_follows_from_id_and_scope() {
    let changes = batch(&[
        ("conversation.message.created", json!({"id": "msg_1"})),
        ("objective.created", json!({"id": "obj_1", "scope": "employee"})),
        ("objective.created", json!({"id": "obj_2", "scope": "org"})),
        ("webhook.disabled", json!({"id": "whk_1"})),
        ("test.ping", json!({"message": "a test"})),
    ]);
    let types: Vec<_> = changes.upserts.iter().map(|row| row.row_type).collect();
    assert_eq!(types, ["message", "employee_objective", "manager_objective"]);
}

#[test]
fn check_in_is_a_row_beside_its_objective() {
    let objective = json!({"id": "obj_1", "scope": "employee", "progress": 12});
    let check_in = json!({"id": "chk_1", "objective_id": "obj_1", "progress": 12});
    let mut data = objective.clone();
    data["check_in"] = check_in.clone();
    let mut copy = rows(&[]);
    let changes = batch(&[("objective.checked_in", data)]);
    changes.apply_to(&mut copy).unwrap();
    assert_eq!(copy, rows(&[objective, check_in]));
    let types: Vec<_> = changes.upserts.iter().map(|row| row.row_type).collect();
    assert_eq!(types, ["employee_objective", "check_in"]);
}

#[test]
fn last_state_of_a_resource_counts_and_newer_rows_stay() {
    let observation = |time: &str, text: &str| json!({"id": "obs_1", "updated_at": time, "observation": text});
    let changes =
        batch(&[("observation.created", observation("1", "a")), ("observation.updated", observation("2", "b"))]);
    assert_eq!(changes.upserts.len(), 1);
    let (mut old, mut new) = (rows(&[observation("1", "a")]), rows(&[observation("3", "c")]));
    changes.apply_to(&mut old).unwrap();
    changes.apply_to(&mut new).unwrap();
    assert_eq!((&old["obs_1"]["observation"], &new["obs_1"]["observation"]), (&json!("b"), &json!("c")));
}

#[test]
fn nothing_of_an_erased_person_is_left() {
    let mut copy = rows(&[
        json!({"id": "emp_1", "first_name": "SECRET"}),
        json!({"id": "obs_1", "employee_id": "emp_1", "observation": "SECRET"}),
        json!({"id": "obj_1", "owner_id": "emp_1", "title": "SECRET"}),
        json!({"id": "msg_1", "conversation_id": "cnv_1", "author_id": "emp_1", "body": "SECRET"}),
        json!({"id": "cnv_1", "title": "SECRET", "about": {"type": "employee", "id": "emp_1"}}),
        json!({"id": "cnv_3", "title": "SECRET", "about": {"type": "observation", "id": "obs_1"}}),
        json!({"id": "cnv_4", "title": "kept", "about": {"type": "objective", "id": "obj_3"}}),
        json!({"id": "obs_2", "employee_id": "emp_2", "author_id": "emp_1", "observation": "kept"}),
        json!({"id": "cnv_2", "title": "kept"}),
        json!({"id": "msg_2", "conversation_id": "cnv_2", "author_id": "emp_2", "body": "SECRET"}),
        json!({"id": "chk_1", "objective_id": "obj_1", "author_id": "emp_2", "note": "SECRET"}),
        json!({"id": "chk_2", "objective_id": "obj_2", "author_id": "emp_1", "note": "kept"}),
        json!({"id": "chk_3", "objective_id": "obj_3", "author_id": "emp_2", "note": "SECRET"}),
    ]);
    let changes = batch(&[
        ("observation.created", json!({"id": "obs_3", "employee_id": "emp_1", "observation": "SECRET"})),
        ("objective.created", json!({"id": "obj_9", "erased": true})),
        ("employee.erased", json!({"id": "emp_1", "first_name": "Former"})),
        ("erasure.completed", json!({"id": "era_1", "employee_id": "emp_1"})),
        ("retention.removed", json!({"id": "rtn_1", "ids": ["cnv_2", "obj_3"]})),
    ]);
    changes.apply_to(&mut copy).unwrap();
    assert!(!format!("{copy:?}").contains("SECRET"), "{copy:?}");
    assert_eq!(copy.keys().collect::<Vec<_>>(), ["chk_2", "cnv_1", "cnv_3", "cnv_4", "emp_1", "msg_1", "obs_2"]);
    assert_eq!(copy["cnv_3"], json!({"id": "cnv_3", "title": "[erased]", "about": null}));
    assert_eq!(copy["cnv_4"]["title"], "kept", "retention removes no titles");
}

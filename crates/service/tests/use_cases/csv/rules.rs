//! Examples of each rule of the upsert.

use candor_domain::event::{EventType, FeedFilter, FeedStart};
use candor_domain::fields::StringEnum;
use candor_domain::people::{Custom, Role, Status};
use candor_domain::time::Timestamp;
use candor_port_storage::store::History;
use candor_service::usecases::catalog::departments;
use candor_service::usecases::{audit_log, connectors, employees};

use super::{counts, department_of, everybody, person, send, standard, upload, upload_with};
use crate::support::{TestServices, body, json, kind, member, params};

fn failed_rows(rows: &[(u64, &str)]) -> Vec<(u64, String)> {
    rows.iter().map(|(row, code)| (*row, (*code).to_owned())).collect()
}

async fn events(world: &TestServices) -> Vec<EventType> {
    let tenant = world.admin().caller.tenant;
    let start = Timestamp::from_millis(0);
    let page = world.store.feed(tenant, &FeedFilter::default(), start, &FeedStart::Oldest, 1000).await.unwrap();
    page.events.into_iter().map(|event| event.kind).collect()
}

#[tokio::test]
async fn csv_rows_reference_each_other_in_any_order() {
    let world = TestServices::new().await;
    let file = "email,first_name,last_name,role,manager_email,department_name,custom.desk,external_id\n\
        b@example.com,Bea,Example,,a@example.com,care ,7,hr-2\n\
        a@example.com,Ada,Example,org_admin,,Care,,\n\
        c@example.com,Cem,Example,manager,B@EXAMPLE.com,CARE,x,\n";
    assert_eq!(counts(&upload(&world, file).await), (3, 0, 0, 0, vec![]));
    let [a, b, c] = [
        person(&world, "a@example.com").await,
        person(&world, "b@example.com").await,
        person(&world, "c@example.com").await,
    ];
    assert_eq!((a.role, b.manager_id, c.manager_id), (Role::OrgAdmin, Some(a.id), Some(b.id)));
    assert_eq!((a.department_id, b.department_id), (c.department_id, c.department_id));
    assert_eq!(department_of(&world, &a).await.as_deref().map(str::to_lowercase).as_deref(), Some("care"));
    assert_eq!(
        (b.external_id.as_deref(), b.custom_fields.0.get("desk")),
        (Some("hr-2"), Some(&Custom::Text("7".to_owned())))
    );
    let hire_event = EventType::EmployeeCreated;
    assert_eq!(events(&world).await, [EventType::DepartmentCreated, hire_event, hire_event, hire_event]);
    assert_eq!(counts(&upload(&world, file).await), (0, 0, 0, 3, vec![]));
    assert_eq!(events(&world).await.len(), 4, "a second upload changes nothing");
}

#[tokio::test]
async fn managers_and_reports_swap_in_one_csv_file() {
    let world = TestServices::new().await;
    let a = world.hire("a", None).await;
    let b = world.hire("b", Some(a)).await;
    let c = world.hire("c", Some(b)).await;
    let swap = "email,manager_email\na@example.com,b@example.com\nb@example.com,c@example.com\nc@example.com,\n";
    let cycle = upload(&world, swap).await;
    assert_eq!(
        counts(&cycle).4,
        failed_rows(&[(2, "reporting_cycle"), (3, "reporting_cycle")]),
        "an empty cell keeps c below b"
    );
    let reply = upload_with(&world, &[("empty", "clear")], swap).await;
    assert_eq!(counts(&reply), (0, 3, 0, 0, vec![]));
    let managers = ["a", "b", "c"].map(|name| format!("{name}@example.com"));
    let mut manager_pairs = vec![];
    for it in &managers {
        manager_pairs.push(person(&world, it).await.manager_id);
    }
    assert_eq!(manager_pairs, [Some(b), Some(c), None]);
    super::assert_tree(&world).await;
}

#[tokio::test]
async fn csv_rows_on_a_cycle_fail_with_their_dependents_only() {
    let world = TestServices::new().await;
    let file = "email,first_name,last_name,manager_email\n\
        a@example.com,A,Example,b@example.com\n\
        b@example.com,B,Example,a@example.com\n\
        c@example.com,C,Example,a@example.com\n\
        d@example.com,D,Example,d@example.com\n\
        e@example.com,E,Example,\n\
        f@example.com,F,Example,e@example.com\n\
        g@example.com,G,Example,nobody@example.com\n";
    let reply = counts(&upload(&world, file).await);
    let expected_failures = [
        (2, "reporting_cycle"),
        (3, "reporting_cycle"),
        (4, "not_found_in_organization"),
        (5, "reporting_cycle"),
        (8, "not_found_in_organization"),
    ];
    assert_eq!(reply, (2, 0, 0, 0, failed_rows(&expected_failures)));
}

#[tokio::test]
async fn last_csv_row_of_an_address_wins_and_failing_rows_do_nothing() {
    let world = TestServices::new().await;
    world.hire("a", None).await;
    let file = "email,first_name,role\n\
        a@example.com,First,manager\nA@example.com,Last,manager\n\
        a2@example.com,,\n,x,\nnonsense,x,y\n";
    let expected_failures = [(4, "required"), (5, "required"), (6, "invalid_format")];
    assert_eq!(counts(&upload(&world, file).await), (0, 1, 0, 1, failed_rows(&expected_failures)));
    assert_eq!(person(&world, "a@example.com").await.first_name, "Last");
    let bad = "email,first_name,role\na@example.com,Changed,boss\n";
    assert_eq!(counts(&upload(&world, bad).await), (0, 0, 0, 0, failed_rows(&[(2, "invalid_enum")])));
    assert_eq!(person(&world, "a@example.com").await.first_name, "Last");
}

#[tokio::test]
async fn csv_status_changes_fire_events_of_single_writes() {
    let world = TestServices::new().await;
    world.hire("a", None).await;
    let text = r#"{"email":"p@example.com","first_name":"P","last_name":"Example","send_invite":true}"#;
    employees::create(&world.admin(), body(text)).await.unwrap();
    let count_before = events(&world).await.len();
    let file = "email,first_name,last_name,status\n\
        a@example.com,Ada,,deactivated\np@example.com,,,active\nn@example.com,N,Example,deactivated\n\
        x@example.com,X,Example,pending_invite\n";
    assert_eq!(counts(&upload(&world, file).await), (1, 1, 1, 0, failed_rows(&[(5, "invalid_enum")])));
    let mut new_events = events(&world).await.split_off(count_before);
    new_events.sort();
    use EventType::{EmployeeCreated, EmployeeDeactivated, EmployeeReactivated, EmployeeUpdated};
    assert_eq!(
        new_events,
        [EmployeeCreated, EmployeeUpdated, EmployeeUpdated, EmployeeDeactivated, EmployeeDeactivated]
    );
    assert_eq!(person(&world, "p@example.com").await.status, Status::Active);
    assert_eq!(counts(&upload(&world, file).await), (0, 0, 0, 3, failed_rows(&[(5, "invalid_enum")])));
    let return_file = "email,status\na@example.com,active\n";
    assert_eq!(counts(&upload(&world, return_file).await), (0, 1, 0, 0, vec![]));
    assert_eq!(events(&world).await.last(), Some(&EmployeeReactivated));
}

#[tokio::test]
async fn csv_creates_departments_for_admins_and_ignores_archived() {
    let world = TestServices::new().await;
    let department = departments::create(&world.admin(), body(r#"{"name":"Old"}"#)).await.unwrap();
    departments::archive(&world.admin(), member(&department, "id").parse().unwrap()).await.unwrap();
    let file = "email,first_name,last_name,department_name\n\
        a@example.com,A,Example,New\nb@example.com,B,Example,old\nc@example.com,C,Example,\n";
    let reply = json(&send(standard(&world), &[], file).await.unwrap());
    let expected_failures = [(2, "permission_denied"), (3, "not_found_in_organization")];
    assert_eq!(counts(&reply), (1, 0, 0, 0, failed_rows(&expected_failures)));
    assert_eq!(counts(&upload(&world, file).await), (1, 0, 0, 1, failed_rows(&expected_failures[1..])));
    assert_eq!(department_of(&world, &person(&world, "a@example.com").await).await.as_deref(), Some("New"));
}

#[tokio::test]
async fn csv_department_with_a_line_end_is_not_created() {
    let world = TestServices::new().await;
    let file = "email,first_name,last_name,department_name\na@example.com,A,Example,\"New\nline\"\n";
    assert_eq!(counts(&upload(&world, file).await), (0, 0, 0, 0, failed_rows(&[(2, "invalid_format")])));
}

#[tokio::test]
async fn empty_csv_cells_keep_or_clear_and_numbers_keep_their_type() {
    let world = TestServices::new().await;
    let text = r#"{"email":"a@example.com","first_name":"A","last_name":"Example","external_id":"x",
        "custom_fields":{"grade":7,"remote":true,"desk":"1"}}"#;
    employees::create(&world.admin(), body(text)).await.unwrap();
    let file = "email,external_id,custom.grade,custom.remote,custom.desk\na@example.com,,8,FALSE,\n";
    assert_eq!(counts(&upload(&world, file).await), (0, 1, 0, 0, vec![]));
    let it = person(&world, "a@example.com").await;
    let custom = serde_json::to_string(&it.custom_fields).unwrap();
    assert_eq!(
        (it.external_id.as_deref(), custom.as_str()),
        (Some("x"), r#"{"desk":"1","grade":8,"remote":false}"#)
    );
    assert_eq!(counts(&upload_with(&world, &[("empty", "clear")], file).await), (0, 1, 0, 0, vec![]));
    let it = person(&world, "a@example.com").await;
    let custom = serde_json::to_string(&it.custom_fields).unwrap();
    assert_eq!((it.external_id, custom.as_str()), (None, r#"{"grade":8,"remote":false}"#));
}

#[tokio::test]
async fn csv_external_id_identifies_first_and_emails_stay_unique() {
    let world = TestServices::new().await;
    let first = "email,first_name,last_name,external_id\na@example.com,A,Example,1\nb@example.com,B,Example,2\n";
    upload(&world, first).await;
    let rename_file = "email,first_name,external_id\nada@example.com,Ada,1\n";
    assert_eq!(counts(&upload(&world, rename_file).await), (0, 1, 0, 0, vec![]));
    assert_eq!(everybody(&world).await.keys().collect::<Vec<_>>(), ["ada@example.com", "b@example.com"]);
    let chain = "email,external_id\nb@example.com,1\nnew@example.com,2\n";
    for _ in 0..2 {
        assert_eq!(
            counts(&upload(&world, chain).await),
            (0, 0, 0, 0, failed_rows(&[(2, "conflict"), (3, "conflict")]))
        );
    }
    let duplicate_file = "email,external_id\nx@example.com,1\nada@example.com,\n";
    assert_eq!(
        counts(&upload(&world, duplicate_file).await),
        (0, 0, 0, 0, failed_rows(&[(2, "conflict"), (3, "conflict")]))
    );
}

#[tokio::test]
async fn managed_fields_are_written_by_their_connector_only() {
    let world = TestServices::new().await;
    world.hire("a", None).await;
    let text = r#"{"type":"csv_feed","hris_source":"acme","mapped_custom_field_keys":["grade"]}"#;
    let connector = connectors::create(&world.admin(), body(text)).await.unwrap();
    let query = [("connector_id", &*member(&connector, "id"))];
    let file = "email,first_name,last_name,custom.grade\na@example.com,Ada,Example,7\nb@example.com,B,Example,8\n";
    assert_eq!(counts(&upload_with(&world, &query, file).await), (1, 1, 0, 0, vec![]));
    assert_eq!(person(&world, "b@example.com").await.hris_source, "acme");
    assert_eq!(counts(&upload_with(&world, &query, file).await), (0, 0, 0, 2, vec![]));
    assert_eq!(counts(&upload(&world, file).await), (0, 0, 0, 2, vec![]), "unchanged values are accepted");
    let other = "email,first_name,custom.grade,custom.free\na@example.com,Eva,,\nb@example.com,,,x\n";
    let expected_failures = failed_rows(&[(2, "field_managed_externally")]);
    assert_eq!(counts(&upload(&world, other).await), (0, 1, 0, 0, expected_failures));
    assert_eq!(counts(&upload_with(&world, &query, other).await), (0, 1, 0, 1, vec![]));
    let unknown = send(world.admin(), &[("connector_id", "con_nonsense")], file).await;
    assert_eq!(kind(unknown), "unprocessable");
}

#[tokio::test]
async fn failing_row_names_managed_columns_beside_wrong_cells() {
    let world = TestServices::new().await;
    world.hire("a", None).await;
    let text = r#"{"type":"csv_feed","hris_source":"acme"}"#;
    let connector = connectors::create(&world.admin(), body(text)).await.unwrap();
    let query = [("connector_id", &*member(&connector, "id"))];
    upload_with(&world, &query, "email,first_name\na@example.com,Ada\n").await;
    let file = "email,first_name,role,manager_email\na@example.com,Eva,boss,gone@example.com\n";
    let reply = upload(&world, file).await;
    let problems = reply["data"]["errors"][0]["problems"].as_array().unwrap().iter();
    let field_codes: Vec<_> =
        problems.map(|entry| [&entry["field"], &entry["code"]].map(|text| text.as_str().unwrap())).collect();
    let expected_codes = [
        ["role", "invalid_enum"],
        ["manager_email", "not_found_in_organization"],
        ["first_name", "field_managed_externally"],
    ];
    assert_eq!(field_codes, expected_codes);
    assert_eq!(counts(&reply), (0, 0, 0, 0, failed_rows(&[(2, "invalid_enum")])));
}

#[tokio::test]
async fn csv_roles_and_statuses_are_read_in_any_case() {
    let world = TestServices::new().await;
    let file = "Email,First Name,last-name,Role,STATUS\n\
        a@example.com,A,Example,Org Admin,Active\nb@example.com,B,Example,MANAGER,Deactivated\n";
    assert_eq!(counts(&upload(&world, file).await), (2, 0, 0, 0, vec![]));
    let [a, b] = [person(&world, "a@example.com").await, person(&world, "b@example.com").await];
    assert_eq!((a.role, a.status), (Role::OrgAdmin, Status::Active));
    assert_eq!((b.role, b.status), (Role::Manager, Status::Deactivated));
    assert_eq!(counts(&upload(&world, file).await), (0, 0, 0, 2, vec![]));
}

#[tokio::test]
async fn connector_upload_requires_admin_and_audits_the_key() {
    let world = TestServices::new().await;
    world.hire("a", None).await;
    let text = r#"{"type":"csv_feed","hris_source":"acme"}"#;
    let connector = connectors::create(&world.admin(), body(text)).await.unwrap();
    let query = [("connector_id", &*member(&connector, "id"))];
    let file = "email,first_name,last_name\na@example.com,Ada,Example\n";
    for query in [&query[..], &[("connector_id", "con_nonsense")]] {
        assert_eq!(kind(send(standard(&world), query, file).await), "denied");
    }
    assert_eq!(person(&world, "a@example.com").await.first_name, "a");
    assert_eq!(counts(&upload_with(&world, &query, file).await), (0, 1, 0, 0, vec![]));
    assert_eq!(counts(&upload(&world, "email,custom.desk\na@example.com,7\n").await), (0, 1, 0, 0, vec![]));
    let log = audit_log::list(&world.admin(), params(&[("limit", "3")])).await.unwrap();
    let log = json(&log)["data"].clone();
    let key = world.admin().caller.key.to_string();
    let actor_of = |entry: &serde_json::Value| (entry["actor"].clone(), entry["context"].clone());
    let plain = serde_json::json!({"ip": null, "user_agent": null});
    assert_eq!(actor_of(&log[0]), (serde_json::json!({"type": "api_key", "id": key, "name": "Admin"}), plain));
    for entry in [&log[1], &log[2]] {
        let (actor, context) = actor_of(entry);
        assert_eq!((&actor["type"], &actor["name"]), (&"connector".into(), &"acme".into()), "{entry}");
        assert_eq!(context["api_key"], serde_json::json!({"id": key, "name": "Admin"}), "{entry}");
    }
}

#[tokio::test]
async fn csv_dry_run_writes_nothing_and_plans_the_real_result() {
    let world = TestServices::new().await;
    world.hire("a", None).await;
    let file = "email,first_name,last_name,manager_email,department_name,status,note\n\
        a@example.com,Ada,,b@example.com,Care,,\nb@example.com,B,Example,,,,\nc@example.com,,,,,,\n\
        a@example.com,Eva,,b@example.com,Care,deactivated,\n";
    let (people, fired) = (everybody(&world).await, events(&world).await);
    let dry = upload_with(&world, &[("dry_run", "true")], file).await;
    assert_eq!((everybody(&world).await, events(&world).await), (people, fired));
    let real = upload(&world, file).await;
    assert_eq!((&dry["data"], &dry["warnings"]), (&real["data"], &real["warnings"]));
    assert_eq!(real["warnings"][0]["column"], "note");
    let actions: Vec<_> =
        dry["plan"].as_array().unwrap().iter().map(|item| item["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["skip", "create", "reject", "deactivate"]);
    let expected_changes = serde_json::json!({
        "first_name": {"from": "a", "to": "Eva"},
        "manager_email": {"from": null, "to": "b@example.com"},
        "department_name": {"from": null, "to": "Care"},
        "status": {"from": "active", "to": Status::Deactivated.word()},
    });
    assert_eq!(dry["plan"][3]["changes"], expected_changes);
}

#[tokio::test]
async fn plan_names_the_source_of_stored_people_whose_source_changes() {
    let world = TestServices::new().await;
    world.hire("a", None).await;
    let text = r#"{"type":"csv_feed","hris_source":"acme"}"#;
    let connector = connectors::create(&world.admin(), body(text)).await.unwrap();
    let file = "email,first_name,last_name\na@example.com,a,Example\nb@example.com,B,Example\n";
    let query = [("dry_run", "true"), ("connector_id", &*member(&connector, "id"))];
    let source_of = |report: &serde_json::Value, row: usize| report["plan"][row]["changes"]["hris_source"].clone();
    let report = upload_with(&world, &query, file).await;
    assert_eq!(source_of(&report, 0), serde_json::json!({"from": "manual", "to": "acme"}));
    assert_eq!(source_of(&report, 1), serde_json::Value::Null, "a new person gets the source of the file");
    let manual_report = upload_with(&world, &query[..1], file).await;
    assert_eq!(
        (0..2).map(|row| source_of(&manual_report, row)).collect::<Vec<_>>(),
        [(); 2].map(|()| serde_json::Value::Null)
    );
}

#[tokio::test]
async fn unreadable_csv_or_parameter_is_refused_entirely() {
    let world = TestServices::new().await;
    let good = "email,first_name,last_name\na@example.com,A,Example\n";
    for (query, file, wanted) in [
        (&[("dry_run", "yes")][..], good, "invalid"),
        (&[("empty", "maybe")], good, "invalid"),
        (&[], "name\nx\n", "invalid"),
        (&[], "email;first_name\na;b\n", "invalid"),
        (&[], "email,first_name,last_name\na@example.com,A,Example\n\"x", "malformed"),
    ] {
        assert_eq!(kind(send(world.admin(), query, file).await), wanted, "{query:?} {file}");
    }
    assert!(everybody(&world).await.is_empty());
    let reply = employees::list(&world.admin(), params(&[])).await.unwrap();
    assert_eq!(json(&reply)["data"], serde_json::json!([]));
}

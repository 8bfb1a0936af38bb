//! CSV uploads (§4.3, decisions E), with files as common spreadsheet programs write them.

use candor_people_csv::{MAX_BYTES, MAX_ROWS};
use futures_util::FutureExt;
use futures_util::future::{Either, select};
use serde_json::{Value, json};

use crate::support::{TestApi, TestResponse};

const EXCEL: &[u8] = include_bytes!("../files/excel-utf8.csv");
const LIBREOFFICE: &[u8] = include_bytes!("../files/libreoffice.csv");
const GOOGLE_SHEETS: &[u8] = include_bytes!("../files/google-sheets.csv");
const EXAMPLE: &[u8] = include_bytes!("../../../../docs/examples/people.csv");

async fn upload(world: &TestApi, query: &str, file: &[u8]) -> TestResponse {
    let request = world.ask("POST", &format!("/v1/employees/csv{query}"));
    request.header("content-type", "text/csv; charset=utf-8").body(file.to_vec()).send().await
}

fn expected_counts(created: u64, skipped: u64) -> Value {
    json!({"created": created, "updated": 0, "deactivated": 0, "skipped": skipped, "errors": []})
}

#[tokio::test]
async fn csv_of_common_spreadsheet_programs_is_imported_alike() {
    for (program, file) in [("Excel", EXCEL), ("LibreOffice", LIBREOFFICE), ("Google Sheets", GOOGLE_SHEETS)] {
        let world = TestApi::new().await;
        let first = upload(&world, "", file).await;
        assert_eq!((first.status, &first.json()["data"]), (200, &expected_counts(3, 0)), "{program}");
        assert_eq!(upload(&world, "", GOOGLE_SHEETS).await.json()["data"], expected_counts(0, 3), "{program}");
        let page =
            world.get("/v1/employees?filter[email]=ines@example.com&expand=manager,department").await.json();
        let it = &page["data"][0];
        let read = [&it["first_name"], &it["last_name"], &it["custom_fields"]["city"], &it["manager"]["email"]];
        assert_eq!(read, ["Inês", "O\"Neil", "Two\nlines", "jonas@example.com"], "{program}");
        assert_eq!(it["department"]["name"], "Care", "{program}");
    }
}

#[tokio::test]
async fn csv_example_of_the_documentation_is_imported() {
    let world = TestApi::new().await;
    let response = upload(&world, "", EXAMPLE).await;
    assert_eq!(response.json(), json!({"data": expected_counts(6, 0)}));
    assert_eq!(upload(&world, "", EXAMPLE).await.json(), json!({"data": expected_counts(0, 6)}));
}

#[tokio::test]
async fn unreadable_csv_is_refused_with_reason_and_position() {
    let world = TestApi::new().await;
    let semicolons: &[u8] = include_bytes!("../files/excel-semicolons.csv");
    let tabs: &[u8] = include_bytes!("../files/excel-tabs.csv");
    let windows: &[u8] = include_bytes!("../files/excel-windows-1252.csv");
    let cut: &[u8] = include_bytes!("../files/cut-in-quotes.csv");
    for (file, code, reason) in [
        (semicolons, "validation_error", "semicolons"),
        (tabs, "validation_error", "tabs"),
        (windows, "bad_request", "UTF-8 at line 2, column "),
        (cut, "bad_request", "UTF-8 at line 2, column "),
    ] {
        let response = upload(&world, "", file).await;
        assert_eq!(response.refusal(), (400, code.to_owned()));
        assert!(response.text().contains(reason), "{}", response.text());
        // Advances past the limit of six uploads per minute.
        world.clock.advance_seconds(61);
    }
    assert_eq!(world.get("/v1/employees?filter[status]=all").await.json()["data"], json!([]));
}

#[tokio::test]
async fn csv_header_without_email_lists_the_columns_found() {
    let world = TestApi::new().await;
    let response = upload(&world, "", b"Work Email,First Name\nada@example.com,Ada\n").await;
    assert_eq!(response.refusal(), (400, "validation_error".to_owned()));
    let details = json!([{
        "field": "email",
        "code": "required",
        "message": "is required as a column; the first row names the columns `Work Email`, `First Name`; \
            `Work Email` is probably `email`: rename it in the first row",
    }]);
    assert_eq!(response.json()["error"]["details"], details);
}

#[tokio::test]
async fn csv_row_with_several_errors_lists_each_problem() {
    let world = TestApi::new().await;
    let file = b"email,first_name,last_name,role,Supervisor\nada@example.com,,Moreau,boss,\n";
    let message = "first_name is required; role must be one of: employee, manager, org_admin";
    let expected_result = json!({
        "data": {"created": 0, "updated": 0, "deactivated": 0, "skipped": 0, "errors": [{
            "row_number": 2, "email": "ada@example.com", "code": "required", "message": message,
            "problems": [
                {"field": "first_name", "code": "required", "message": "is required"},
                {"field": "role", "code": "invalid_enum", "message": "must be one of: employee, manager, org_admin"},
            ],
        }]},
        "warnings": [{
            "column": "Supervisor",
            "message": "is not known and was ignored; it is probably `manager_email`: rename it in the first row",
        }],
    });
    assert_eq!(upload(&world, "", file).await.json(), expected_result);
}

#[tokio::test]
async fn csv_limits_apply_and_uploads_have_their_own_quota() {
    let world = TestApi::new().await;
    let many = format!("email\n{}", "a@example.com\n".repeat(MAX_ROWS + 1));
    let large = vec![b'x'; MAX_BYTES + 1];
    for file in [many.as_bytes(), &large] {
        let response = upload(&world, "", file).await;
        assert_eq!(response.refusal(), (400, "validation_error".to_owned()));
        assert_eq!(response.problems(), [("body".to_owned(), "too_long".to_owned())]);
    }
    for left in (0..4).rev() {
        let response = upload(&world, "?dry_run=true", EXAMPLE).await;
        assert_eq!(response.header("x-ratelimit-remaining"), Some(&*left.to_string()));
        assert_eq!(response.json()["plan"][5]["changes"]["custom.location"]["to"], "Addis Ababa");
    }
    let response = upload(&world, "", EXAMPLE).await;
    assert_eq!(response.refusal(), (429, "rate_limited".to_owned()));
    assert_eq!(response.json()["error"]["details"], json!([{"quota": "csv", "limit": 6, "window_seconds": 60}]));
    assert_eq!(world.get("/v1/employees").await.status, 200);
}

#[tokio::test]
async fn csv_upload_requires_the_csv_media_type() {
    let world = TestApi::new().await;
    let ask = || world.ask("POST", "/v1/employees/csv").body(EXAMPLE);
    for (kind, status) in [("application/json", 415), ("text/csv; charset=latin1", 415), ("TEXT/CSV", 200)] {
        assert_eq!(ask().header("content-type", kind).send().await.status, status, "{kind}");
    }
    assert_eq!(ask().send().await.refusal(), (400, "bad_request".to_owned()));
    let encoded_response =
        ask().header("content-type", "text/csv").header("content-encoding", "gzip").send().await;
    assert_eq!(encoded_response.refusal(), (415, "bad_request".to_owned()));
}

#[tokio::test]
async fn job_title_is_stored_filtered_imported_and_cleared() {
    let world = TestApi::new().await;
    let ada =
        json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Moreau", "job_title": "Engineer"});
    let ada = format!("/v1/employees/{}", world.made("/v1/employees", ada).await);
    let emails_with_title = async |title: &str| {
        let page = world.get(&format!("/v1/employees?filter[job_title]={title}")).await.json();
        let people = page["data"].as_array().unwrap().iter();
        people.map(|person| person["email"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let file =
        b"email,first_name,last_name,job_title\nada@example.com,,,Nurse\nben@example.com,Ben,Okafor,Engineer\n";
    let plan = upload(&world, "?dry_run=true", file).await.json();
    let change = &plan["plan"][0]["changes"]["job_title"];
    assert_eq!(*change, json!({"from": "Engineer", "to": "Nurse"}), "{plan}");
    assert_eq!(emails_with_title("Engineer").await, ["ada@example.com"]);
    upload(&world, "", file).await;
    assert_eq!(
        (emails_with_title("Engineer").await, emails_with_title("Nurse").await),
        (vec!["ben@example.com".into()], vec!["ada@example.com".into()])
    );
    upload(&world, "?empty=clear", b"email,job_title\nada@example.com,\n").await;
    assert_eq!(world.get(&ada).await.json()["job_title"], Value::Null);
    world.patch(&ada, json!({"job_title": "Surgeon"})).await;
    assert_eq!(emails_with_title("Surgeon").await, ["ada@example.com"]);
    assert_eq!(emails_with_title("surgeon").await, [""; 0], "the filter is case-sensitive");
    let response = world.patch(&ada, json!({"job_title": "x".repeat(121)})).await;
    assert_eq!(response.problems(), [("job_title".to_owned(), "too_long".to_owned())]);
}

#[tokio::test]
async fn file_of_some_size_is_read_in_turns() {
    let world = TestApi::new().await;
    let uploads = &world.services.uploads.large;
    let turns: Vec<_> = std::iter::from_fn(|| uploads.turn(None).now_or_never()).collect();
    assert!(!turns.is_empty());
    // The files are no tables of people, so each of them is refused as soon as it is read.
    let (small, large) = (b"no,header\n".to_vec(), b"no,header\n".repeat(10_000));
    assert_eq!(upload(&world, "", &small).await.status, 400);
    let mut upload_future = Box::pin(upload(&world, "?dry_run=true", &large));
    let waits = async {
        while !uploads.is_awaited() {
            tokio::task::yield_now().await;
        }
    };
    let first_end = select(&mut upload_future, Box::pin(waits)).await;
    let is_waiting = matches!(first_end, Either::Right(_));
    drop(first_end);
    assert!(is_waiting, "the file was read without a turn");
    drop(turns);
    assert_eq!(upload_future.await.status, 400);
}

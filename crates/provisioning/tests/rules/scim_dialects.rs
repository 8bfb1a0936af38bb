//! Dialects of identity providers as data: each row of `scim_dialects/dialects.json` is a request and the attributes that
//! the user has afterwards, or the error. Mutated requests never cause a panic, and the user after an accepted one
//! reads the same once it is stored.

mod mutate;

use candor_domain::id::EmployeeId;
use candor_domain::json::{Object, Value};
use candor_domain::people::{Draft, Employee, References};
use candor_domain::time::Timestamp;
use candor_domain::ulid::Ulid;
use candor_provisioning::{ScimUser, StoredUser};
use candor_scim::{CustomMapping, PatchOperation, Projection, ScimError, ScimPath, UserDocument};
use candor_test_explore as explore;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde_json::json;

const DIALECTS: &str = include_str!("scim_dialects/dialects.json");
const BASE: &str = "https://candor.example/scim/v2";
/// Number of mutated bodies of each run.
const MUTATIONS: usize = 3_000;

fn object(text: &str) -> Object {
    serde_json::from_str(text).unwrap()
}

fn member<'a>(row: &'a Object, name: &str) -> &'a Object {
    match row.get(name) {
        Some(Value::Object(members)) => members,
        other => panic!("{name}: {other:?}"),
    }
}

fn text<'a>(row: &'a Object, name: &str) -> &'a str {
    match row.get(name) {
        Some(Value::Text(text)) => text,
        other => panic!("{name}: {other:?}"),
    }
}

fn rows() -> Vec<Object> {
    serde_json::from_str(DIALECTS).unwrap()
}

/// Returns the body that creates the user of a row without the member `before`.
fn usual_person() -> Object {
    object(
        r#"{"userName":"ada@example.com","externalId":"00u-1","name":{"givenName":"Ada","familyName":"Lovelace"},
            "emails":[{"type":"work","value":"ada@example.com","primary":true}],"active":true}"#,
    )
}

/// A person as the service stores them.
struct Saved {
    employee: Employee,
    user: ScimUser,
}

impl Saved {
    fn new(user: ScimUser) -> Result<Self, ScimError> {
        let time = Timestamp::from_millis(1_000);
        let draft =
            Draft::parse(user.employee_body(false)).map_err(|problems| ScimError::from_problems(&problems))?;
        let id = EmployeeId::from_ulid(Ulid(7));
        let person = Employee::create(id, draft, &References::default(), time).unwrap().state;
        let employee = if user.active == Some(false) { person.deactivate(time).unwrap().state } else { person };
        Ok(Self { employee, user })
    }

    fn document(&self, mappings: &[CustomMapping]) -> UserDocument {
        let user = &self.user;
        StoredUser {
            employee: &self.employee,
            user_name: Some(&user.user_name),
            external_id: user.external_id.as_deref(),
            manager_ref: user.manager.as_ref().map(|manager| manager.text()),
            extra: UserDocument::from_stored(user.extra(false, true).to_object()),
            department: user.department.as_deref(),
            mappings,
            base: BASE,
        }
        .document()
    }

    fn resource(&self) -> UserDocument {
        // A response also has the address that derives from the user name.
        let document = self.document(&[]).to_object();
        let mut resource = document;
        if resource.get("emails").is_none() {
            let email = Value::Text(self.employee.email.clone());
            let entry = [("value".to_owned(), email), ("primary".to_owned(), Value::Bool(true))];
            resource.push("emails", Value::List(vec![Value::Object(entry.into())]));
        }
        UserDocument::from_stored(resource)
    }
}

fn create(body: &Object, mappings: &[CustomMapping]) -> Result<Saved, ScimError> {
    Saved::new(ScimUser::read(&UserDocument::from_body(body.clone())?, mappings, None)?)
}

fn change(
    before: &Saved,
    operation: &str,
    request: &Object,
    mappings: &[CustomMapping],
) -> Result<Saved, ScimError> {
    let document = match operation {
        "patch" => before.document(mappings).apply(&PatchOperation::parse_all(request)?)?,
        "replace" => UserDocument::from_body(request.clone())?,
        other => panic!("unknown operation {other}"),
    };
    Saved::new(ScimUser::read(&document, mappings, Some(&before.employee))?)
}

fn run(row: &Object, request: &Object, mappings: &[CustomMapping]) -> Result<Saved, ScimError> {
    if text(row, "operation") == "create" {
        return create(request, mappings);
    }
    let body = if row.get("before").is_some() { member(row, "before").clone() } else { usual_person() };
    let user_before = create(&body, mappings).unwrap();
    change(&user_before, text(row, "operation"), request, mappings)
}

#[test]
fn each_dialect_has_its_documented_effect() {
    let mut failures = Vec::new();
    for row in rows() {
        let name = ["provider", "operation", "attribute", "form"].map(|part| text(&row, part)).join(" / ");
        let result = run(&row, member(&row, "request"), &[]);
        match (row.get("error"), result) {
            (Some(Value::Text(wanted)), Err(error)) => {
                let effect = error.kind.map_or("none", |kind| kind.word());
                if effect != wanted {
                    failures.push(format!("{name}: {effect} instead of {wanted}: {error}"));
                }
            }
            (None, Ok(saved)) => {
                let resource = saved.resource();
                for (path, wanted) in member(&row, "after") {
                    let effect = resource.value_at(&ScimPath::parse(path).unwrap());
                    if effect.unwrap_or(&Value::Null) != wanted {
                        failures.push(format!("{name}: {path} is {effect:?} instead of {wanted:?}"));
                    }
                }
            }
            (wanted, Ok(_)) => failures.push(format!("{name}: accepted instead of {wanted:?}")),
            (_, Err(error)) => failures.push(format!("{name}: {error}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn rows_name_each_form_once() {
    let mut names: Vec<_> = rows()
        .iter()
        .map(|row| {
            let name = ["provider", "operation", "attribute", "form"].map(|part| text(row, part)).join(" / ");
            let state_before = row.get("before").map(Value::canonical).unwrap_or_default();
            format!("{name} {state_before} {}", Value::Object(member(row, "request").clone()).canonical())
        })
        .collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    assert!(all > 300, "{all}");
}

#[test]
fn mutated_bodies_never_panic_and_never_half_apply() {
    let mappings = [
        CustomMapping::parse("badge", "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:employeeNumber"),
        CustomMapping::parse("phone", r#"phoneNumbers[type eq "mobile"].value"#),
    ]
    .map(Result::unwrap);
    let rows = rows();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(explore::seed(20_261_125));
    let (mut accepted, mut refused) = (0, 0);
    for number in 0..MUTATIONS {
        let row = &rows[number % rows.len()];
        let request = Value::Object(member(row, "request").clone());
        let Value::Object(request) = mutate::mutate(request, 4 + u32::try_from(number % 29).unwrap(), &mut random)
        else {
            continue;
        };
        let Ok(saved_user) = run(row, &request, &mappings) else {
            refused += 1;
            continue;
        };
        accepted += 1;
        // A PATCH without operations changes nothing: the stored form of a user reads as the same user.
        let none = object(r#"{"Operations":[]}"#);
        let user_again = change(&saved_user, "patch", &none, &mappings).unwrap();
        let request_text = || Value::Object(request.clone()).canonical();
        assert_eq!(user_again.user.employee_body(true), saved_user.user.employee_body(true), "{}", request_text());
        let extra = |user: &ScimUser| Value::Object(user.extra(false, true).to_object()).canonical();
        assert_eq!(extra(&user_again.user), extra(&saved_user.user), "{}", request_text());
        assert_eq!(user_again.user.user_name, saved_user.user.user_name, "{}", request_text());
        assert_eq!(user_again.user.external_id, saved_user.user.external_id, "{}", request_text());
        assert_eq!(user_again.user.department, saved_user.user.department, "{}", request_text());
        assert_eq!(user_again.user.manager, saved_user.user.manager, "{}", request_text());
        assert_eq!(
            user_again.user.active.unwrap_or(true),
            saved_user.user.active.unwrap_or(true),
            "{}",
            request_text()
        );
    }
    assert!(accepted > MUTATIONS / 10 && refused > MUTATIONS / 10, "{accepted} accepted, {refused} refused");
}

#[test]
fn extension_with_any_urn_is_returned_as_sent() {
    let urns = [
        "urn:acme:scim:2.0:User",
        "urn:acme:scim:hr:2.0:Employee",
        "urn:acme:hr-2.0",
        "urn:acme:hr/2",
        "URN:acme:X",
    ];
    for urn in urns {
        let body = json!({"userName": "ada", "nickName": "A",
                          urn: {"badge": "7", "desk": {"floor": 2}, "note": "n", "department": "X"}});
        let document = document(&body);
        assert_eq!(serde_json::to_value(document.to_object()).unwrap(), body, "{urn}");
        let patch = json!({"Operations": [
            {"op": "replace", "path": format!("{urn}:badge"), "value": "8"},
            {"op": "replace", "value": {urn: {"desk.floor": 3}}},
            {"op": "remove", "path": format!("{urn}:note")},
        ]});
        let document_after = apply(&document, &patch);
        let expected_extension = json!({"badge": "8", "desk": {"floor": 3}, "department": "X"});
        assert_eq!(serde_json::to_value(document_after.to_object()).unwrap()[urn], expected_extension, "{urn}");
        if !urn.contains('/') {
            let document_without = apply(&document, &json!({"Operations": [{"op": "remove", "path": urn}]}));
            assert_eq!(document_without.extension_urns().count(), 0, "{urn}");
        }
        let projected_user = Projection::parse(Some(urn), None).unwrap().apply(document.to_object());
        let is_chosen =
            urn.contains('/') || serde_json::to_value(projected_user).unwrap() == json!({urn: body[urn]});
        assert!(is_chosen, "{urn}");
    }
}

#[test]
fn attribute_of_an_extension_may_be_an_object() {
    let urn = "urn:acme:scim:2.0:User";
    let sent_document = document(&json!({"userName": "ada", format!("{urn}:desk"): {"floor": 2}}));
    assert_eq!(serde_json::to_value(sent_document.to_object()).unwrap()[urn], json!({"desk": {"floor": 2}}));
    let known_document = document(&json!({"userName": "ada", "urn:acme:Employee": {"badge": 1}}));
    let patch = json!({"Operations": [{"op": "add", "value": {"urn:acme:Employee:desk": {"floor": 2}}}]});
    let document_after = serde_json::to_value(apply(&known_document, &patch).to_object()).unwrap();
    assert_eq!(document_after["urn:acme:Employee"], json!({"badge": 1, "desk": {"floor": 2}}));
}

fn document(body: &serde_json::Value) -> UserDocument {
    UserDocument::from_body(serde_json::from_value(body.clone()).unwrap()).unwrap()
}

fn apply(document: &UserDocument, patch: &serde_json::Value) -> UserDocument {
    let operations = PatchOperation::parse_all(&serde_json::from_value(patch.clone()).unwrap()).unwrap();
    document.apply(&operations).unwrap()
}

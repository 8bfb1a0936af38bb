//! The schemas of what requests carry, with the bounds of the domain.

use candor_domain::access::api_key::{self, DEFAULT_OVERLAP_SECONDS, MAX_OVERLAP_SECONDS};
use candor_domain::access::{ALL_SCOPES, AccessLevel, Environment, Scope};
use candor_domain::fields::Word;
use candor_domain::id::{AttributeKind, DepartmentKind, EmployeeKind};
use candor_domain::library::{Tone, attribute, department};
use candor_domain::objective::{self, DESCRIPTION_CHARS, Family, REMARK_CHARS, TITLE_CHARS};
use candor_domain::observation::{MAX_ATTRIBUTES, NOTE_CHARS, TEXT_CHARS, Type};
use candor_domain::organization::{self, Review};
use candor_domain::people::{
    EXTERNAL_ID_CHARS, MAX_FIELDS, MAX_KEY_CHARS, MAX_VALUE_CHARS, NAME_CHARS, Role, connector,
};
use candor_domain::text::EMAIL_CHARS;
use serde_json::{Value, json};

use super::parameters::words;
use super::shapes::{Member, about, date, datetime, flag, nullable, or, reference, request, set, text, word};

/// The longest token of an invitation that is looked at.
const TOKEN_CHARS: usize = 200;

/// Every scope, and the one that stands for all.
pub(super) fn scope_words() -> Vec<&'static str> {
    words::<Scope>().into_iter().chain([ALL_SCOPES]).collect()
}

fn notes() -> [Member; 2] {
    [("impact", nullable(text(0, NOTE_CHARS))), ("recommended_action", nullable(text(0, NOTE_CHARS)))]
}

fn tags() -> Member {
    ("attribute_ids", set(&reference::<AttributeKind>("an attribute"), 0, MAX_ATTRIBUTES))
}

fn observation_create() -> Value {
    let required = vec![
        ("employee_id", reference::<EmployeeKind>("the person it is about")),
        ("type", word::<Type>()),
        ("observation", text(1, TEXT_CHARS)),
    ];
    let mut optional = vec![("author_id", nullable(reference::<EmployeeKind>("who writes it")))];
    optional.extend(notes());
    optional.push(tags());
    let day = about(nullable(date()), "Today (UTC) unless given; not in the future.");
    optional.push(("observation_date", day));
    request(required, optional)
}

fn observation_update() -> Value {
    let mut members = vec![("observation", text(1, TEXT_CHARS))];
    members.extend(notes());
    members.push(tags());
    request(vec![], members)
}

/// The statuses of a new objective (decision C4).
const FIRST_STATUSES: [objective::Status; 3] =
    [objective::Status::Proposed, objective::Status::Approved, objective::Status::InProgress];

fn objective_create(family: Family) -> Value {
    let one_of = |words: Vec<&str>| json!({"type": "string", "enum": words});
    let scopes = family.scopes().iter().map(|it| it.word()).collect();
    let required = vec![
        ("owner_id", reference::<EmployeeKind>("the person responsible; for scope `org` an org admin")),
        ("title", text(1, TITLE_CHARS)),
        ("period_start", date()),
        ("period_end", about(date(), "Not before `period_start`.")),
    ];
    let optional = vec![
        ("description", nullable(text(0, DESCRIPTION_CHARS))),
        ("status", or(one_of(FIRST_STATUSES.map(Word::word).to_vec()), "proposed")),
        ("scope", or(one_of(scopes), family.default_scope().word())),
    ];
    request(required, optional)
}

fn objective_update() -> Value {
    let members = vec![
        ("title", text(1, TITLE_CHARS)),
        ("description", nullable(text(0, DESCRIPTION_CHARS))),
        ("period_start", date()),
        ("period_end", about(date(), "Not before `period_start`.")),
        ("status", about(word::<objective::Status>(), "Between `approved` and `in_progress` only; 409 for others.")),
    ];
    request(vec![], members)
}

fn remark(name: &'static str, what: &str) -> Value {
    let remark = about(nullable(text(0, REMARK_CHARS)), what);
    request(vec![], vec![(name, remark)])
}

fn email() -> Value {
    json!({"type": "string", "format": "email", "maxLength": EMAIL_CHARS})
}

fn custom_fields(what: &str) -> Value {
    let mut value = text(0, MAX_VALUE_CHARS);
    value["type"] = json!(["string", "number", "boolean", "null"]);
    json!({
        "type": "object",
        "description": what,
        "maxProperties": MAX_FIELDS,
        "propertyNames": text(1, MAX_KEY_CHARS),
        "additionalProperties": value,
    })
}

fn lines() -> [Member; 2] {
    [
        ("manager_id", nullable(reference::<EmployeeKind>("the manager"))),
        ("department_id", nullable(reference::<DepartmentKind>("the department"))),
    ]
}

const MERGES: &str = "Merged per key: a value sets its key, null removes it.";

fn employee_create() -> Value {
    let required = vec![("email", email()), ("first_name", text(1, NAME_CHARS)), ("last_name", text(1, NAME_CHARS))];
    let mut optional = vec![
        ("external_id", nullable(text(1, EXTERNAL_ID_CHARS))),
        ("role", or(word::<Role>(), "employee")),
        ("custom_fields", custom_fields("A flat map; null is the same as absent.")),
        ("send_invite", or(flag(), false)),
    ];
    optional.extend(lines());
    request(required, optional)
}

fn employee_update() -> Value {
    let mut members = vec![
        ("email", email()),
        ("external_id", nullable(text(1, EXTERNAL_ID_CHARS))),
        ("first_name", text(1, NAME_CHARS)),
        ("last_name", text(1, NAME_CHARS)),
        ("role", word::<Role>()),
        ("custom_fields", custom_fields(MERGES)),
    ];
    members.extend(lines());
    request(vec![], members)
}

fn employee_rehire() -> Value {
    let mut members = lines().to_vec();
    members.push(("custom_fields", custom_fields(MERGES)));
    request(vec![], members)
}

fn attribute_members() -> [Member; 3] {
    [
        ("name", about(text(1, attribute::NAME_CHARS), "Unique in the organization without case.")),
        ("category", text(1, attribute::NAME_CHARS)),
        ("tone", word::<Tone>()),
    ]
}

fn attribute_create() -> Value {
    let [name, category, (tone, words)] = attribute_members();
    request(vec![name, category], vec![(tone, or(words, "neutral"))])
}

fn department_name() -> Vec<Member> {
    vec![("name", about(text(1, department::NAME_CHARS), "Unique in the organization without case."))]
}

fn organization_update() -> Value {
    let members = vec![
        ("name", text(1, organization::NAME_CHARS)),
        ("objective_review", word::<Review>()),
        ("summary_review", word::<Review>()),
    ];
    request(vec![], members)
}

fn scopes() -> Value {
    set(&json!({"type": "string", "enum": scope_words()}), 1, scope_words().len())
}

fn expiry() -> Value {
    about(nullable(datetime()), "When the key ends: in the future, or null for never.")
}

fn api_key_create() -> Value {
    let required = vec![("name", text(1, api_key::NAME_CHARS)), ("scopes", scopes())];
    let optional = vec![
        ("environment", or(word::<Environment>(), "live")),
        ("access_level", or(word::<AccessLevel>(), "standard")),
        ("employee_id", nullable(reference::<EmployeeKind>("the person it acts for"))),
        ("expires_at", expiry()),
    ];
    request(required, optional)
}

fn api_key_update() -> Value {
    let members = vec![("name", text(1, api_key::NAME_CHARS)), ("scopes", scopes()), ("expires_at", expiry())];
    request(vec![], members)
}

fn api_key_rotate() -> Value {
    let overlap = json!({
        "type": "integer", "minimum": 0, "maximum": MAX_OVERLAP_SECONDS, "default": DEFAULT_OVERLAP_SECONDS,
        "description": "How long the secret before goes on.",
    });
    request(vec![], vec![("overlap_seconds", overlap)])
}

fn connector_create() -> Value {
    let source = json!({
        "type": "string", "minLength": 1, "maxLength": connector::SOURCE_CHARS,
        "pattern": "^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$", "not": {"const": candor_domain::people::MANUAL},
    });
    let keys = set(&text(1, MAX_KEY_CHARS), 0, connector::MAX_MAPPED_KEYS);
    let keys = about(keys, "The custom keys of people that the HR system owns.");
    let required = vec![("type", word::<connector::Type>()), ("hris_source", source)];
    request(required, vec![("mapped_custom_field_keys", keys)])
}

fn connector_release() -> Value {
    let people = set(&reference::<EmployeeKind>("a managed person"), 0, connector::MAX_RELEASED);
    request(vec![], vec![("employee_ids", about(people, "Everybody it manages unless given."))])
}

/// Every schema of a request, by name.
pub(super) fn schemas() -> Vec<Member> {
    vec![
        ("ObservationCreate", observation_create()),
        ("ObservationUpdate", observation_update()),
        ("EmployeeObjectiveCreate", objective_create(Family::Employees)),
        ("ManagerObjectiveCreate", objective_create(Family::Managers)),
        ("ObjectiveUpdate", objective_update()),
        ("ObjectiveApprove", remark("comment", "Shown in the history and to the owner.")),
        ("ObjectiveReject", request(vec![("reason", text(1, REMARK_CHARS))], vec![])),
        ("ObjectiveComplete", remark("outcome", "What came of it; shown in the history.")),
        ("ObjectiveMiss", remark("reason", "Why; shown in the history.")),
        ("NotificationsReadAll", request(vec![("recipient_id", reference::<EmployeeKind>("the person"))], vec![])),
        ("EmployeeCreate", employee_create()),
        ("EmployeeUpdate", employee_update()),
        ("EmployeeRehire", employee_rehire()),
        ("DepartmentCreate", request(department_name(), vec![])),
        ("DepartmentUpdate", request(vec![], department_name())),
        ("AttributeCreate", attribute_create()),
        ("AttributeUpdate", request(vec![], attribute_members().to_vec())),
        ("OrganizationUpdate", organization_update()),
        ("ApiKeyCreate", api_key_create()),
        ("ApiKeyUpdate", api_key_update()),
        ("ApiKeyRotate", api_key_rotate()),
        ("ConnectorCreate", connector_create()),
        ("ConnectorRelease", connector_release()),
        ("InvitationAccept", request(vec![("token", text(1, TOKEN_CHARS))], vec![])),
    ]
}

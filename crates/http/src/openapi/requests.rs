//! The schemas of what requests carry, with the bounds of the domain.

use candor_domain::access::api_key::{self, DEFAULT_OVERLAP_SECONDS, MAX_OVERLAP_SECONDS};
use candor_domain::access::{AccessLevel, Environment};
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

use super::shapes::{Member, about, date, datetime, field, flag, named, nullable, reference, request, set, text};
use super::vocabulary::{self, FIRST_STATUSES, SCOPES, word};

/// The longest token of an invitation that is looked at.
const TOKEN_CHARS: usize = 200;

/// A text of so many characters, and a sentence about it that says how many.
fn bounded(name: &'static str, min: usize, max: usize, what: &str) -> Member {
    let bounds = if min == 0 { format!("at most {max}") } else { format!("{min} to {max}") };
    field(name, text(min, max), &format!("{what} {} characters.", capital(&bounds)))
}

/// A text like [`bounded`], or null.
fn clearable(name: &'static str, min: usize, max: usize, what: &str) -> Member {
    let (name, schema) = bounded(name, min, max, what);
    (name, nullable(schema))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|it| it.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// What is meant when a member is left out. It is said in words: a `default` makes clients think that the member is
/// always there.
fn unless_given(schema: Value, what: &str, default: &str) -> Value {
    about(schema, &format!("{what} `{default}` unless given."))
}

fn notes() -> [Member; 2] {
    [
        clearable("impact", 0, NOTE_CHARS, "What came of it, in plain text; null for nothing."),
        clearable("recommended_action", 0, NOTE_CHARS, "What should be done, in plain text; null for nothing."),
    ]
}

fn tags() -> Member {
    let what = format!("Its attributes, at most {MAX_ATTRIBUTES}, none of them twice; 422 for one that is not there.");
    field("attribute_ids", set(&reference::<AttributeKind>("an attribute"), 0, MAX_ATTRIBUTES), &what)
}

fn what_was_observed() -> Member {
    bounded("observation", 1, TEXT_CHARS, "What was observed, in plain text that is not blank.")
}

fn observation_create() -> Value {
    let required = vec![
        ("employee_id", reference::<EmployeeKind>("the person it is about")),
        field("type", word::<Type>(), "Whether it is about a strength or an opportunity."),
        what_was_observed(),
    ];
    let mut optional = vec![("author_id", nullable(reference::<EmployeeKind>("the person who writes it")))];
    optional.extend(notes());
    optional.push(tags());
    let day = "The day that it is about; today in UTC unless given, and not in the future.";
    optional.push(field("observation_date", nullable(date()), day));
    request(required, optional)
}

fn observation_update() -> Value {
    let mut members = vec![what_was_observed()];
    members.extend(notes());
    members.push(tags());
    request(vec![], members)
}

fn title() -> Member {
    bounded("title", 1, TITLE_CHARS, "What is to be reached, in text that is not blank.")
}

fn meaning() -> Member {
    clearable("description", 0, DESCRIPTION_CHARS, "What the title means, in plain text; null for nothing.")
}

fn period() -> [Member; 2] {
    [
        field("period_start", date(), "The first day of its period. An approved objective starts on this day, in UTC."),
        field("period_end", date(), "The last day of its period; not before `period_start`."),
    ]
}

fn objective_create(family: Family) -> Value {
    let owner = reference::<EmployeeKind>("the person responsible; for scope `org` an org admin");
    let [start, end] = period();
    let status = unless_given(named(FIRST_STATUSES), "Where it stands at first.", objective::Status::Proposed.word());
    let scope = named(vocabulary::family_scopes(family));
    let scope = unless_given(scope, "Whose goal it is.", family.default_scope().word());
    request(vec![("owner_id", owner), title(), start, end], vec![meaning(), ("status", status), ("scope", scope)])
}

fn objective_update() -> Value {
    let [start, end] = period();
    let status = "Moves it between `approved` and `in_progress`; 409 for all others.";
    request(vec![], vec![title(), meaning(), start, end, field("status", word::<objective::Status>(), status)])
}

fn remark(name: &'static str, what: &str) -> Value {
    request(vec![], vec![clearable(name, 0, REMARK_CHARS, what)])
}

fn rejection() -> Value {
    request(vec![bounded("reason", 1, REMARK_CHARS, "Why; shown in the history and to the owner.")], vec![])
}

fn person() -> [Member; 3] {
    let what =
        format!("The e-mail address, unique in the organization without case. At most {EMAIL_CHARS} characters.");
    [
        field("email", json!({"type": "string", "format": "email", "maxLength": EMAIL_CHARS}), &what),
        bounded("first_name", 1, NAME_CHARS, "The first name."),
        bounded("last_name", 1, NAME_CHARS, "The last name."),
    ]
}

fn external_id() -> Member {
    let what = "The person's id in another system, unique in the organization; null for none.";
    clearable("external_id", 1, EXTERNAL_ID_CHARS, what)
}

fn custom_fields(what: &str) -> Member {
    let mut value = text(0, MAX_VALUE_CHARS);
    value["type"] = json!(["string", "number", "boolean", "null"]);
    let bounds = format!(
        "A flat map of at most {MAX_FIELDS} keys of up to {MAX_KEY_CHARS} characters; a value is a text of up to \
         {MAX_VALUE_CHARS} characters, a number or a boolean. {what}"
    );
    let map = json!({
        "type": "object",
        "maxProperties": MAX_FIELDS,
        "propertyNames": text(1, MAX_KEY_CHARS),
        "additionalProperties": value,
    });
    field("custom_fields", map, &bounds)
}

fn lines() -> [Member; 2] {
    [
        ("manager_id", nullable(reference::<EmployeeKind>("the manager"))),
        ("department_id", nullable(reference::<DepartmentKind>("the department"))),
    ]
}

const MERGES: &str = "It is merged per key: a value sets its key, null removes it.";
const MAY: &str = "What the person may do in the organization.";

fn employee_create() -> Value {
    let mut optional = vec![
        external_id(),
        ("role", unless_given(word::<Role>(), MAY, Role::Employee.word())),
        custom_fields("A null is the same as no such key."),
        (
            "send_invite",
            unless_given(flag(), "Whether the person is invited, and `pending_invite` until then.", "false"),
        ),
    ];
    optional.extend(lines());
    request(person().to_vec(), optional)
}

fn employee_update() -> Value {
    let mut members = person().to_vec();
    members.extend([external_id(), field("role", word::<Role>(), MAY), custom_fields(MERGES)]);
    members.extend(lines());
    request(vec![], members)
}

fn employee_rehire() -> Value {
    let mut members = lines().to_vec();
    members.push(custom_fields(MERGES));
    request(vec![], members)
}

fn attribute_members() -> [Member; 3] {
    [
        bounded("name", 1, attribute::NAME_CHARS, "Its name, unique in the organization without case."),
        bounded("category", 1, attribute::NAME_CHARS, "What it is listed under, freely chosen."),
        field("tone", word::<Tone>(), "The sound of feedback that has this attribute."),
    ]
}

fn attribute_create() -> Value {
    let [name, category, (tone, words)] = attribute_members();
    let words = unless_given(words, "The sound of feedback that has this attribute.", Tone::Neutral.word());
    request(vec![name, category], vec![(tone, words)])
}

fn department_name() -> Vec<Member> {
    vec![bounded("name", 1, department::NAME_CHARS, "Its name, unique in the organization without case.")]
}

fn organization_update() -> Value {
    let members = vec![
        bounded("name", 1, organization::NAME_CHARS, "The organization's name."),
        field("objective_review", word::<Review>(), "Whether objectives are reviewed before they are approved."),
        field("summary_review", word::<Review>(), "Whether summaries are reviewed before they are approved."),
    ];
    request(vec![], members)
}

fn key_name() -> Member {
    bounded("name", 1, api_key::NAME_CHARS, "What people call it.")
}

fn scopes() -> Member {
    let most = vocabulary::words::<candor_domain::access::Scope>().len() + 1;
    field("scopes", set(&named(SCOPES), 1, most), "What it may do: no more than the key that asks may do itself.")
}

fn expiry() -> Member {
    field("expires_at", nullable(datetime()), "When the key ends: in the future, or null for never.")
}

fn api_key_create() -> Value {
    let environment =
        unless_given(word::<Environment>(), "The data set that the key works on.", Environment::Live.word());
    let level =
        unless_given(word::<AccessLevel>(), "Whether it may do what administrators do.", AccessLevel::Standard.word());
    let optional = vec![
        ("environment", environment),
        ("access_level", level),
        ("employee_id", nullable(reference::<EmployeeKind>("the person whom it acts for"))),
        expiry(),
    ];
    request(vec![key_name(), scopes()], optional)
}

fn api_key_update() -> Value {
    request(vec![], vec![key_name(), scopes(), expiry()])
}

fn api_key_rotate() -> Value {
    let overlap = json!({"type": "integer", "minimum": 0, "maximum": MAX_OVERLAP_SECONDS});
    let what = format!("How many seconds the secret before stays good, at most {MAX_OVERLAP_SECONDS}.");
    let overlap = unless_given(overlap, &what, &DEFAULT_OVERLAP_SECONDS.to_string());
    request(vec![], vec![("overlap_seconds", overlap)])
}

fn connector_create() -> Value {
    let source = json!({
        "type": "string", "minLength": 1, "maxLength": connector::SOURCE_CHARS,
        "pattern": "^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$", "not": {"const": candor_domain::people::MANUAL},
    });
    let what = format!(
        "The name of the HR system: at most {} lower-case letters, digits, `-` and `_`, and not `{}`.",
        connector::SOURCE_CHARS,
        candor_domain::people::MANUAL
    );
    let keys = set(&text(1, MAX_KEY_CHARS), 0, connector::MAX_MAPPED_KEYS);
    let owned = format!("The custom keys of people that the HR system owns, at most {}.", connector::MAX_MAPPED_KEYS);
    let kind = field("type", word::<connector::Type>(), "How records arrive.");
    request(vec![kind, field("hris_source", source, &what)], vec![field("mapped_custom_field_keys", keys, &owned)])
}

fn connector_release() -> Value {
    let people = set(&reference::<EmployeeKind>("a managed person"), 0, connector::MAX_RELEASED);
    let what = format!("The people, at most {}; everybody it manages unless given.", connector::MAX_RELEASED);
    request(vec![], vec![field("employee_ids", people, &what)])
}

fn invitation_accept() -> Value {
    request(vec![bounded("token", 1, TOKEN_CHARS, "The token of the invitation, from its link.")], vec![])
}

/// Every schema of a request, by name.
pub(super) fn schemas() -> Vec<Member> {
    vec![
        ("ObservationCreate", observation_create()),
        ("ObservationUpdate", observation_update()),
        ("EmployeeObjectiveCreate", objective_create(Family::Employees)),
        ("ManagerObjectiveCreate", objective_create(Family::Managers)),
        ("ObjectiveUpdate", objective_update()),
        ("ObjectiveApprove", remark("comment", "A remark, shown in the history and to the owner.")),
        ("ObjectiveReject", rejection()),
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
        ("InvitationAccept", invitation_accept()),
    ]
}

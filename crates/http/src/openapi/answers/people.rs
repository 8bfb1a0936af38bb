//! People, their departments, invitations and HR systems, as they are answered.

use candor_domain::fields::Word;
use candor_domain::id::{ConnectorKind, DepartmentKind, EmployeeKind, InvitationKind, OrganizationKind};
use candor_domain::library::department;
use candor_domain::people::invitation::{MailFailure, MailStatus};
use candor_domain::people::{
    EXTERNAL_ID_CHARS, JOB_TITLE_CHARS, MAX_DIRECT_REPORTS, MAX_FIELDS, MAX_KEY_CHARS, MAX_VALUE_CHARS, NAME_CHARS,
    Role, Status, connector, invitation,
};
use candor_domain::text::EMAIL_CHARS;
use serde_json::{Value, json};

use super::super::shapes::{Member, answer, array, count, datetime, field, flag, id, named, nullable, plain};
use super::super::vocabulary::open;
use super::{archived_at, times};

fn custom_fields() -> Member {
    let schema = json!({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}});
    let about = format!(
        "What else the organization records about the person: at most {MAX_FIELDS} keys of up to {MAX_KEY_CHARS} \
         characters, each with a text of up to {MAX_VALUE_CHARS} characters, a number or a boolean."
    );
    field("custom_fields", schema, &about)
}

pub(super) fn employee() -> Value {
    let name = |which: &str| format!("The {which} name, 1 to {NAME_CHARS} characters.");
    let email = format!(
        "The e-mail address, at most {EMAIL_CHARS} characters, as it was given; unique in the organization without \
         case, whatever the status."
    );
    let external = format!(
        "The person's id in another system, at most {EXTERNAL_ID_CHARS} characters, unique in the organization; null \
         where there is none."
    );
    let mut members = vec![
        field("id", id::<EmployeeKind>(), "The person's id."),
        field("email", plain(), &email),
        field("external_id", nullable(plain()), &external),
        field("first_name", plain(), &name("first")),
        field("last_name", plain(), &name("last")),
        field("job_title", nullable(plain()), &format!("What the person does, at most {JOB_TITLE_CHARS} characters.")),
        field("role", open(Role::NAME), "What the person may do in the organization."),
        field("manager_id", nullable(id::<EmployeeKind>()), "The manager; null at the top of a reporting tree."),
        field("department_id", nullable(id::<DepartmentKind>()), "The department; null where there is none."),
        field("status", open(Status::NAME), "Whether the person works in the organization now."),
        custom_fields(),
        field("is_hris_managed", flag(), "Whether an HR system owns part of this record."),
        field("hris_source", plain(), "The HR system that owns part of this record, or `manual` where none does."),
    ];
    members.extend(times());
    members.push(field("deactivated_at", nullable(datetime()), "When the person left; null unless deactivated."));
    let about = format!(
        "The first {MAX_DIRECT_REPORTS} people who report to this person directly, by name, without those who have \
         left. Only with `expand=direct_reports`."
    );
    let mut reports = array(&named("Employee"));
    reports["maxItems"] = json!(MAX_DIRECT_REPORTS);
    let expanded = vec![
        field("manager", nullable(named("Employee")), "The manager. Only with `expand=manager`."),
        field("department", nullable(named("Department")), "The department. Only with `expand=department`."),
        field("direct_reports", reports, &about),
    ];
    answer(members, expanded)
}

pub(super) fn department() -> Value {
    let name =
        format!("Its name, 1 to {} characters, unique in the organization without case.", department::NAME_CHARS);
    let mut members = vec![field("id", id::<DepartmentKind>(), "The department's id."), field("name", plain(), &name)];
    members.extend(times());
    members.push(archived_at());
    answer(members, vec![])
}

pub(super) fn connector() -> Value {
    let keys = format!("The custom keys of people that the HR system owns, at most {}.", connector::MAX_MAPPED_KEYS);
    let mut members = vec![
        field("id", id::<ConnectorKind>(), "The connector's id."),
        field("type", open(connector::Type::NAME), "How records arrive."),
        field("hris_source", plain(), "The name of the HR system, which the people that it owns show."),
        field("status", open(connector::Status::NAME), "How it does, by what became of what was sent last."),
        field("mapped_custom_field_keys", array(&plain()), &keys),
        field("last_sync_at", nullable(datetime()), "When something was sent last; null if nothing was yet."),
        field("last_sync_status", nullable(open(connector::SyncStatus::NAME)), "How much of that was applied."),
        field("last_sync_message", nullable(plain()), "Why not all of it was; null if it was."),
    ];
    members.extend(times());
    answer(members, vec![])
}

pub(super) fn released() -> Value {
    answer(vec![field("released", count(0), "How many people the HR system owned and no longer does.")], vec![])
}

pub(super) fn test_data_reset() -> Value {
    let complete = "Whether nothing is left. Where it is false the request took long enough: send it again.";
    let members = vec![
        field("removed", count(0), "How many rows of the data set went, of whatever kind."),
        field("complete", flag(), complete),
    ];
    answer(members, vec![])
}

pub(super) fn invitation(sent: bool) -> Value {
    let members = vec![
        field("id", id::<InvitationKind>(), "The invitation's id."),
        field("employee_id", id::<EmployeeKind>(), "The person who is invited."),
        field("status", open(invitation::State::NAME), "What became of it."),
        field("created_at", datetime(), "When it was sent."),
        field("expires_at", datetime(), "When its token ends, 14 days after it was sent."),
        field("accepted_at", nullable(datetime()), "When it was accepted; null where it was not."),
        field(
            "mail",
            nullable(named("InvitationMail")),
            "What became of the mail with its link; null where none is sent, because no mail server is set or the data is \
             test data.",
        ),
    ];
    let link = json!({"type": "string", "format": "uri"});
    let about = "The link that the person follows. Only for admin-level keys, and only where no mail is sent.";
    answer(members, if sent { vec![field("accept_url", link, about)] } else { vec![] })
}

pub(super) fn invitation_mail() -> Value {
    let next = "When it is attempted next; null where it is not.";
    let members = vec![
        field("status", open(MailStatus::NAME), "Whether it is still to be sent, and otherwise what became of it."),
        field("attempts", count(0), "How often it was attempted."),
        field("last_attempt_at", nullable(datetime()), "When it was attempted last; null before that."),
        field("next_attempt_at", nullable(datetime()), next),
        field("failure", nullable(open(MailFailure::NAME)), "Why the last attempt failed; null where it did not."),
    ];
    answer(members, vec![])
}

pub(super) fn invitation_accepted() -> Value {
    let members = vec![
        field("employee_id", id::<EmployeeKind>(), "The person who accepted."),
        field("organization_id", id::<OrganizationKind>(), "The organization that the person now works in."),
        field("status", open(Status::NAME), "The person's status from now on."),
    ];
    answer(members, vec![])
}

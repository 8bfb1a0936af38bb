//! Invitations of employees (decisions G).

use candor_domain::access::{Access, Permission};
use candor_domain::fields::StringEnum;
use candor_domain::id::{EmployeeKind, InvitationKind, Kind, OrganizationKind};
use candor_domain::people::Status;
use candor_domain::people::invitation::{self, MailFailure, MailStatus};
use candor_service::Services;
use candor_service::usecases::invitations;
use serde_json::{Value, json};

use crate::invitation_page;
use crate::request::{AnonymousRequest, AuthenticatedRequest};
use crate::route::{Method, Route, RouteGroup, Work};
use crate::schema::shapes::{Member, answer, count, datetime, field, id, nullable, reference_to};
use crate::schema::words::{enum_member, open};
use crate::schema::{AT, EMPLOYEE_ID, ORGANIZATION_ID, Schema, body, with};

const ROUTES: &[Route] = &[
    Route::get("/employees/{id}/invitation", Access::scope(Permission::EmployeesRead), get)
        .named("getInvitation", "Get the newest invitation of an employee")
        .description("Returns the newest invitation of a person. 404 if there never was one.")
        .answers(&INVITATION),
    Route::post("/employees/{id}/invite", Access::people_writer(Permission::EmployeesWrite), invite)
        .named("inviteEmployee", "Invite a pending employee again")
        .description(
            "Sends a new invitation to a person who has not accepted. The previous token becomes invalid. The \
             mail is sent after the response; a mail failure does not fail the request. If mails are \
             configured, the response is 409 with `Retry-After` within 60 seconds of the previous mail, or \
             after 5 mails to the address on one day (UTC).",
        )
        .answers(&INVITATION_SENT),
    Route::open(Method::Post, "/invitations/accept", accept)
        .shows(invitation_page::asking)
        .named("acceptInvitation", "Accept an invitation with its token")
        .description(
            "Accepts an invitation and activates the person. 404 if the token is unknown, used, expired or \
             revoked. At most 20 requests a minute from one address.",
        )
        .takes(&INVITATION_ACCEPT)
        .answers(&INVITATION_ACCEPTED),
];

/// The routes of invitations.
pub(crate) const GROUP: RouteGroup = RouteGroup::within("Employees", ROUTES).id(EmployeeKind::PREFIX).words(words);

fn get<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { invitations::get(services, &it.context, it.id()?).await })
}

fn invite<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { invitations::invite(services, &it.context, it.id()?).await })
}

fn accept(services: &Services, it: AnonymousRequest) -> Work<'_> {
    Box::pin(invitations::accept(services, it.request, it.origin, it.body))
}

const INVITATION: Schema =
    Schema::resource("Invitation", || invitation(false)).example(example).refers_to(&[&INVITATION_MAIL]);
const INVITATION_SENT: Schema =
    Schema::resource("InvitationSent", || invitation(true)).example(example_sent).outcome("The new invitation.");
const INVITATION_MAIL: Schema = Schema::new("InvitationMail", mail);
const INVITATION_ACCEPTED: Schema = Schema::new("InvitationAccepted", accepted)
    .example(|| json!({"employee_id": EMPLOYEE_ID, "organization_id": ORGANIZATION_ID, "status": "active"}))
    .outcome("The person and the organization.");
const INVITATION_ACCEPT: Schema = Schema::new("InvitationAccept", || body(invitation::read_acceptance))
    .example(|| json!({"token": "x7Yq0l3k9s5uVb2c8d4e6f1g"}));

fn words() -> Vec<Member> {
    vec![
        enum_member::<invitation::State>("Status of an invitation."),
        enum_member::<MailStatus>("Status of a mail. A `canceled` mail was withdrawn before it was sent."),
        enum_member::<MailFailure>(
            "Reason why a mail was not sent. No attempt follows after `refused`, `unsendable`, `expired` and \
             `recipient_limit`.",
        ),
    ]
}

fn invitation(sent: bool) -> Value {
    let members = vec![
        field("id", id::<InvitationKind>(), "The invitation's id."),
        field("employee_id", id::<EmployeeKind>(), "Invited person."),
        field("status", open(invitation::State::NAME), "Status of the invitation."),
        field("created_at", datetime(), "Time of the invitation."),
        field("expires_at", datetime(), "Expiry time of the token, 14 days after the invitation."),
        field("accepted_at", nullable(datetime()), "Time of acceptance. Null if it was not accepted."),
        field(
            "mail",
            nullable(reference_to("InvitationMail")),
            "State of the invitation mail. Null if none is sent: no mail server is configured, or the data is \
             test data.",
        ),
    ];
    let link = json!({"type": "string", "format": "uri"});
    let about = "Link to accept the invitation. Present for admin-level keys if no mail is sent.";
    answer(members, if sent { vec![field("accept_url", link, about)] } else { vec![] })
}

fn mail() -> Value {
    let next = "Time of the next attempt. Null if there is none.";
    let members = vec![
        field("status", open(MailStatus::NAME), "Status of the mail."),
        field("attempts", count(0), "Number of attempts."),
        field("last_attempt_at", nullable(datetime()), "Time of the last attempt. Null if there was none."),
        field("next_attempt_at", nullable(datetime()), next),
        field(
            "failure",
            nullable(open(MailFailure::NAME)),
            "Reason for the failure of the last attempt. Null if it did not fail.",
        ),
    ];
    answer(members, vec![])
}

fn accepted() -> Value {
    let members = vec![
        field("employee_id", id::<EmployeeKind>(), "Person who accepted."),
        field("organization_id", id::<OrganizationKind>(), "Organization of the person."),
        field("status", open(Status::NAME), "New status of the person."),
    ];
    answer(members, vec![])
}

fn example() -> Value {
    json!({"id": "inv_01KJPWD6M24DF9HWRAYHFSFV52", "employee_id": EMPLOYEE_ID, "status": "pending", "created_at": AT,
           "expires_at": "2026-03-16T09:00:00.000Z", "accepted_at": null, "mail": example_of_mail()})
}

fn example_of_mail() -> Value {
    json!({"status": "queued", "attempts": 1, "last_attempt_at": AT, "next_attempt_at": "2026-03-02T09:01:00.000Z",
           "failure": "deferred"})
}

fn example_sent() -> Value {
    let link = "https://candor.example/v1/invitations/accept?token=x7Yq0l3k9s5uVb2c";
    with(with(example(), "mail", Value::Null), "accept_url", link)
}

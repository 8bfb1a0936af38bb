//! Invitations of employees (decision G).

use candor_domain::access::{Access, Permission};
use candor_domain::event::EventData;
use candor_domain::id::{EmployeeKind, Kind};
use candor_domain::people::invitation::{self, MailFailure, MailStatus};
use candor_service::Services;
use candor_service::context::limits::KeylessWrite;
use candor_service::usecases::invitations::{self, AcceptedInvitation, SentInvitation};
use serde_json::{Value, json};

use crate::contract::request::AnonymousRequest;
use crate::contract::route::{EventFamily, Route, RouteGroup, Work, handlers};
use crate::contract::schema::shapes::Member;
use crate::contract::schema::words::enum_member;
use crate::contract::schema::{AT, EMPLOYEE_ID, ORGANIZATION_ID, Schema, body, response_of, with};
use crate::pages::invitation_page;

const ROUTES: &[Route] = &[
    Route::get("/employees/{id}/invitation", Access::scope(Permission::EmployeesRead), get)
        .with_name("getInvitation", "Get the newest invitation of an employee")
        .description("Returns the newest invitation of a person. 404 if there never was one.")
        .answers(&INVITATION),
    Route::post("/employees/{id}/invite", Access::people_writer(Permission::EmployeesWrite), invite)
        .with_name("inviteEmployee", "Resend an invitation")
        .description(
            "Sends a new invitation to a person who has not accepted. The previous token becomes invalid. The \
             mail is sent after the response; a mail failure does not fail the request. 409 with \
             `Retry-After` within 60 seconds of the previous mail, or after 5 mails to the address on one day \
             (UTC). Both limits apply only if mails are sent.",
        )
        .has_no_dry_run()
        .answers(&INVITATION_SENT),
    Route::open(KeylessWrite::InvitationAccept, "/invitations/accept", accept)
        .shows(invitation_page::render_accept_page)
        .with_name("acceptInvitation", "Accept an invitation with its token")
        .description(
            "Accepts an invitation and activates the person. 404 if the token is unknown, used, expired or \
             revoked. At most 20 requests a minute from one client address.",
        )
        .takes(&INVITATION_ACCEPT)
        .has_no_dry_run()
        .answers(&INVITATION_ACCEPTED),
];

/// The routes of invitations.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::under_tag("Employees", ROUTES).id(EmployeeKind::PREFIX).words(words).events(&[EventFamily {
        carried: EventData::Invitation,
        name: "InvitationEvent",
        data: &INVITATION,
        about: "An event about an invitation.",
    }]);

handlers! {
    get => invitations::get(id);
    invite => invitations::invite(id);
}

fn accept(services: &Services, anonymous_request: AnonymousRequest) -> Work<'_> {
    Box::pin(invitations::accept(
        services,
        anonymous_request.request,
        anonymous_request.origin,
        anonymous_request.body,
    ))
}

const INVITATION: Schema = Schema::resource("Invitation", response_of::<invitation::View>).example(example);
const INVITATION_SENT: Schema = Schema::resource("InvitationSent", response_of::<SentInvitation>)
    .example(example_sent)
    .outcome("The new invitation.");
const INVITATION_ACCEPTED: Schema = Schema::new("InvitationAccepted", response_of::<AcceptedInvitation>)
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

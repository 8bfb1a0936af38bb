//! Invitations of employees (decisions G).

use candor_domain::access::Permission;
use candor_domain::fields::Word;
use candor_domain::id::{EmployeeKind, InvitationKind, Kind, OrganizationKind};
use candor_domain::people::Status;
use candor_domain::people::invitation::{self, MailFailure, MailStatus};
use candor_service::Shell;
use candor_service::usecases::invitations;
use serde_json::{Value, json};

use crate::exchange::{AnonymousRequest, AuthenticatedRequest};
use crate::invitation_page;
use crate::schema::shapes::{Member, answer, count, datetime, field, id, named, nullable};
use crate::schema::words::{of, open};
use crate::schema::{AT, EMPLOYEE_ID, ORGANIZATION_ID, Schema, body, with};
use crate::table::Access::{People, Permission as Needs};
use crate::table::{Method, Route, RouteGroup, Work};

const ROUTES: &[Route] = &[
    Route::get("/employees/{id}/invitation", Needs(Permission::EmployeesRead), get)
        .named("getInvitation", "Get the newest invitation of an employee")
        .about("Answers the newest invitation of a person; 404 where there never was one.")
        .answers(&INVITATION),
    Route::post("/employees/{id}/invite", People(Permission::EmployeesWrite), invite)
        .named("inviteEmployee", "Invite a pending employee again")
        .about(
            "Sends a new invitation to a person who has not accepted; the token before is good no more. The mail \
             goes out afterwards, and never fails the request. Where mails are sent, a request within 60 seconds of \
             the mail before, or after 5 mails to the address on this day (UTC), is a 409 with `Retry-After`.",
        )
        .answers(&INVITATION_SENT),
    Route::open(Method::Post, "/invitations/accept", accept)
        .shows(invitation_page::asking)
        .named("acceptInvitation", "Accept an invitation with its token")
        .about(
            "Makes the invited person active. A token that is unknown, used, expired or revoked is one and the same \
             404. 20 a minute from one address.",
        )
        .takes(&INVITATION_ACCEPT)
        .answers(&INVITATION_ACCEPTED),
];

/// The routes of invitations.
pub(crate) const GROUP: RouteGroup = RouteGroup::within("Employees", ROUTES).id(EmployeeKind::PREFIX).words(words);

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { invitations::get(shell, &it.call, it.id()?).await })
}

fn invite<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { invitations::invite(shell, &it.call, it.id()?).await })
}

fn accept(shell: &Shell, it: AnonymousRequest) -> Work<'_> {
    Box::pin(invitations::accept(shell, it.request, it.origin, it.body))
}

const INVITATION: Schema =
    Schema::resource("Invitation", || invitation(false)).example(example).refers_to(&[&INVITATION_MAIL]);
const INVITATION_SENT: Schema =
    Schema::resource("InvitationSent", || invitation(true)).example(example_sent).outcome("The new invitation.");
const INVITATION_MAIL: Schema = Schema::new("InvitationMail", mail);
const INVITATION_ACCEPTED: Schema = Schema::new("InvitationAccepted", accepted)
    .example(|| json!({"employee_id": EMPLOYEE_ID, "organization_id": ORGANIZATION_ID, "status": "active"}))
    .outcome("Who accepted, and where.");
const INVITATION_ACCEPT: Schema = Schema::new("InvitationAccept", || body(invitation::read_acceptance))
    .example(|| json!({"token": "x7Yq0l3k9s5uVb2c8d4e6f1g"}));

fn words() -> Vec<Member> {
    vec![
        of::<invitation::State>("What became of an invitation."),
        of::<MailStatus>("What has become of a mail; `canceled` was not wanted any more before it was sent."),
        of::<MailFailure>(
            "Why a mail was not sent; after `refused`, `unsendable`, `expired` and `recipient_limit` no attempt follows.",
        ),
    ]
}

fn invitation(sent: bool) -> Value {
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

fn mail() -> Value {
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

fn accepted() -> Value {
    let members = vec![
        field("employee_id", id::<EmployeeKind>(), "The person who accepted."),
        field("organization_id", id::<OrganizationKind>(), "The organization that the person now works in."),
        field("status", open(Status::NAME), "The person's status from now on."),
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

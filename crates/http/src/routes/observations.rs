//! Observations (§4.1).

use candor_domain::access::Permission;
use candor_domain::fields::Word;
use candor_domain::id::{AttributeKind, EmployeeKind, Kind, ObservationKind};
use candor_domain::observation::{self, MAX_ATTRIBUTES, NOTE_CHARS, Observation, TEXT_CHARS, Type, Visibility};
use candor_domain::time::Timestamp;
use candor_service::Shell;
use candor_service::usecases::observations;
use serde_json::{Value, json};

use super::attributes::ATTRIBUTE_ID;
use crate::exchange::AuthenticatedRequest;
use crate::schema::shapes::{Member, answer, archived_at, array, date, field, id, named, nullable, plain, times};
use crate::schema::words::{of, open, sort};
use crate::schema::{AT, EMPLOYEE_ID, Schema, body};
use crate::table::Access::Permission as Needs;
use crate::table::{EventFamily, Route, RouteGroup, Work};

const ROUTES: &[Route] = &[
    Route::get("/observations", Needs(Permission::ObservationsRead), list)
        .named("listObservations", "List observations")
        .about("Lists the observations that the key sees, newest first; archived ones only where they are asked for.")
        .lists(&OBSERVATION, |it| drop(observation::Filter::read(it))),
    Route::post("/observations", Needs(Permission::ObservationsWrite), create)
        .named("createObservation", "Record an observation")
        .about(
            "Records one strength or opportunity about one person who is active or deactivated. A key that is bound to \
             a person writes as that person: `author_id` is that person unless given, and another one is a 403.",
        )
        .takes(&OBSERVATION_CREATE)
        .creates(&OBSERVATION),
    Route::get("/observations/{id}", Needs(Permission::ObservationsRead), get)
        .named("getObservation", "Get an observation, also an archived one")
        .about("Answers one observation, also an archived one.")
        .expands::<observation::Expand>()
        .answers(&OBSERVATION),
    Route::patch("/observations/{id}", Needs(Permission::ObservationsWrite), update)
        .named("updateObservation", "Update an observation")
        .about(
            "Changes the texts, the attributes and the visibility; the person, the type and the day are for good. Of \
             bound keys only those of its author and of org admins may change it. 409 while it is archived.",
        )
        .takes(&OBSERVATION_UPDATE)
        .answers(&OBSERVATION),
    Route::post("/observations/{id}/archive", Needs(Permission::ObservationsWrite), archive)
        .named("archiveObservation", "Archive an observation")
        .about("Puts an observation out of lists and out of reach of changes; 409 if it is there already.")
        .answers(&OBSERVATION),
    Route::post("/observations/{id}/restore", Needs(Permission::ObservationsWrite), restore)
        .named("restoreObservation", "Restore an archived observation")
        .about("Takes an observation out of the archive; 409 if it is not there.")
        .answers(&OBSERVATION),
];

/// The routes of observations.
pub(crate) const GROUP: RouteGroup = RouteGroup::new("Observations", "The smallest unit of feedback.", ROUTES)
    .id(ObservationKind::PREFIX)
    .words(words)
    .events(EventFamily {
        prefix: "observation.",
        name: "ObservationEvent",
        types: "ObservationEventType",
        data: &OBSERVATION,
        about: "Something happened to an observation.",
    });

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::list(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::get(shell, &it.call, it.id()?, it.params).await })
}

fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::create(shell, &it.call, it.body).await })
}

fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::update(shell, &it.call, it.id()?, it.body).await })
}

fn archive<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::archive(shell, &it.call, it.id()?).await })
}

fn restore<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::restore(shell, &it.call, it.id()?).await })
}

/// An observation, as it is answered.
pub(crate) const OBSERVATION: Schema = Schema::resource("Observation", observation).example(example);
const OBSERVATION_CREATE: Schema =
    Schema::new("ObservationCreate", || body(|it| observation::Draft::read(it, NOW.date()))).example(|| {
        json!({
            "employee_id": EMPLOYEE_ID, "type": "strength", "attribute_ids": [ATTRIBUTE_ID],
            "observation": "Explained the outage to the customer calmly and completely.",
        })
    });
const OBSERVATION_UPDATE: Schema = Schema::new("ObservationUpdate", || body(observation::Patch::read))
    .example(|| json!({"impact": "The customer stayed."}));

/// No rule that is shown depends on the time.
const NOW: Timestamp = Timestamp::from_millis(0);

fn words() -> Vec<Member> {
    vec![
        of::<Type>("Whether an observation is about something done well or something to do better."),
        of::<Visibility>(
            "Whether the person whom an observation is about sees it: `managers` shows it to that person's managers, its \
             author and the requester of its assignment.",
        ),
        of::<observation::Expand>("What an observation can inline."),
        sort::<Observation>(),
    ]
}

fn observation() -> Value {
    let note = |what: &str| format!("{what} At most {NOTE_CHARS} characters; null where nothing was said.");
    let tags = format!("The ids of its attributes, at most {MAX_ATTRIBUTES}, none of them twice.");
    let mut members = vec![
        field("id", id::<ObservationKind>(), "The observation's id."),
        field("employee_id", id::<EmployeeKind>(), "The person it is about."),
        field("author_id", nullable(id::<EmployeeKind>()), "The person who wrote it; null where that was not said."),
        field("type", open(Type::NAME), "Whether it is about a strength or an opportunity."),
        field("observation", plain(), &format!("What was observed, in plain text of 1 to {TEXT_CHARS} characters.")),
        field("impact", nullable(plain()), &note("What came of it, in plain text.")),
        field("recommended_action", nullable(plain()), &note("What should be done, in plain text.")),
        field("attribute_ids", array(&id::<AttributeKind>()), &tags),
        field("observation_date", date(), "The day that it is about; never in the future."),
        field("visibility", open(Visibility::NAME), "Whether the person it is about sees it."),
    ];
    members.extend(times());
    members.push(archived_at());
    let expanded = vec![
        field("employee", nullable(named("Employee")), "The person it is about. Only with `expand=employee`."),
        field("attributes", array(&named("Attribute")), "Its attributes. Only with `expand=attributes`."),
    ];
    answer(members, expanded)
}

/// An example of an observation.
pub(crate) fn example() -> Value {
    json!({
        "id": "obs_01KJPWD6M24DF9HWRAYHFSFV52", "employee_id": EMPLOYEE_ID, "author_id": null, "type": "strength",
        "observation": "Explained the outage to the customer calmly and completely.",
        "impact": "The customer stayed.", "recommended_action": null, "attribute_ids": [ATTRIBUTE_ID],
        "observation_date": "2026-03-02", "visibility": "person", "created_at": AT, "updated_at": AT, "archived_at": null,
    })
}

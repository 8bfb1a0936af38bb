//! Observations (§4.1).

use candor_domain::access::{Access, Permission};
use candor_domain::counts::GroupedCounts;
use candor_domain::event::EventData;
use candor_domain::id::{Kind, ObservationKind};
use candor_domain::observation::{self, Observation, ObservationCount, Type, Visibility};
use candor_domain::time::Timestamp;
use candor_service::usecases::observations;
use serde_json::{Value, json};

use super::attributes::ATTRIBUTE_ID;
use crate::contract::route::{EventFamily, Query, Route, RouteGroup, handlers};
use crate::contract::schema::shapes::{Member, array, field, nullable, reference_to};
use crate::contract::schema::words::{enum_member, sort};
use crate::contract::schema::{AT, EMPLOYEE_ID, Schema, body_of, resource, response_of};

const ROUTES: &[Route] = &[
    Route::get("/observations", Access::scope(Permission::ObservationsRead), list)
        .with_name("listObservations", "List observations")
        .description(
            "Lists the observations that are visible to the key, newest day first. Archived ones are listed \
             only on request.",
        )
        .lists(&OBSERVATION, |input| drop(observation::Filter::read(input))),
    Route::post("/observations", Access::scope(Permission::ObservationsWrite), create)
        .with_name("createObservation", "Create an observation")
        .description(
            "Creates an observation about one person who is active or deactivated. A key that acts for a \
             person writes as that person: this is the default of `author_id`, and another author returns 403. \
             409 if another observation has the `external_id`.",
        )
        .takes(&OBSERVATION_CREATE)
        .creates(&OBSERVATION),
    Route::get("/observations/{id}", Access::scope(Permission::ObservationsRead), get)
        .with_name("getObservation", "Get an observation")
        .description("Returns one observation. It may be archived.")
        .expands::<observation::Expand>()
        .answers(&OBSERVATION),
    Route::patch("/observations/{id}", Access::scope(Permission::ObservationsWrite), update)
        .with_name("updateObservation", "Update an observation")
        .description(
            "Changes the texts, the attributes, the visibility, the metadata and the external id. The person, the \
             type and the day are immutable. A key that acts for a person can change it only if this person is \
             the author or an org admin. 409 if it is archived, or another observation has the `external_id`.",
        )
        .takes(&OBSERVATION_UPDATE)
        .answers(&OBSERVATION),
    Route::post("/observations/{id}/archive", Access::scope(Permission::ObservationsWrite), archive)
        .with_name("archiveObservation", "Archive an observation")
        .description(
            "Archives an observation. Search and default lists no longer contain it, and it cannot be changed. \
             409 if it is already archived.",
        )
        .answers(&OBSERVATION),
    Route::post("/observations/{id}/restore", Access::scope(Permission::ObservationsWrite), restore)
        .with_name("restoreObservation", "Restore an archived observation")
        .description("Restores an archived observation. 409 if it is not archived.")
        .answers(&OBSERVATION),
    Route::get("/observations/counts", Access::scope(Permission::ObservationsRead), counts)
        .with_name("countObservations", "Count observations by group")
        .description(
            "Counts the observations that the list with the same filters shows, grouped by one or two members. \
             Returns at most 1,000 groups, the largest ones. Each counted observation is read: a request that \
             takes too long returns 503; narrow it with filters.",
        )
        .with(Query::one(|input| drop(observation::Filter::read_counts(input))))
        .answers(&COUNTS),
];

/// The routes of observations.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::new("Observations", "Strengths and opportunities of people.", ROUTES)
        .id(ObservationKind::PREFIX)
        .words(words)
        .events(&[EventFamily {
            carried: EventData::Observation,
            name: "ObservationEvent",
            data: &OBSERVATION,
            about: "An observation was created or changed.",
        }]);

handlers! {
    list => observations::list(params);
    get => observations::get(id, params);
    counts => observations::counts(params);
    create => observations::create(body);
    update => observations::update(id, body);
    archive => observations::archive(id);
    restore => observations::restore(id);
}

const COUNTS: Schema = Schema::new("ObservationCounts", response_of::<GroupedCounts<ObservationCount>>)
    .example(|| {
        json!({"data": [{"type": "strength", "month": "2026-03", "count": 12}], "total": 12, "has_more": false})
    })
    .outcome("Number of observations by group.");
/// Schema of an observation in answers.
pub(crate) const OBSERVATION: Schema = Schema::resource("Observation", || {
    let expandable_fields = vec![
        field("employee", nullable(reference_to("Employee")), "The person. Present with `expand=employee`."),
        field(
            "author",
            nullable(reference_to("Employee")),
            "The author. Null if unknown. Present with `expand=author`.",
        ),
        field(
            "attributes",
            array(&reference_to("Attribute")),
            "The attributes. Present with `expand=attributes`.",
        ),
    ];
    resource::<Observation, _>(|fields| observation::Draft::read(fields, NOW), expandable_fields)
})
.example(example);
const OBSERVATION_CREATE: Schema =
    Schema::new("ObservationCreate", || body_of::<Observation, _>(|input| observation::Draft::read(input, NOW)))
        .example(|| {
            json!({
                "employee_id": EMPLOYEE_ID, "type": "strength", "attribute_ids": [ATTRIBUTE_ID],
                "observation": "Explained the outage to the customer calmly and completely.",
            })
        });
const OBSERVATION_UPDATE: Schema =
    Schema::new("ObservationUpdate", || body_of::<Observation, _>(observation::Patch::read))
        .example(|| json!({"impact": "The customer stayed."}));

/// Time for parsers that are run only to describe their rules, which do not depend on the clock.
const NOW: Timestamp = Timestamp::from_millis(0);

fn words() -> Vec<Member> {
    vec![
        enum_member::<Type>("Type of an observation: something done well or something to improve."),
        enum_member::<Visibility>(
            "Visibility of an observation. With `person`, the person it is about and the requester of its \
             assignment also see it. With `managers`, only the managers above that person, the author and org \
             admins do.",
        ),
        enum_member::<observation::ObservationGroup>("Members by which observations are counted."),
        enum_member::<observation::Expand>("Related resources that an observation can include."),
        sort::<Observation>(),
    ]
}

/// Returns an example observation.
pub(crate) fn example() -> Value {
    json!({
        "id": "obs_01KJPWD6M24DF9HWRAYHFSFV52", "employee_id": EMPLOYEE_ID, "author_id": null, "type": "strength",
        "observation": "Explained the outage to the customer calmly and completely.",
        "impact": "The customer stayed.", "recommended_action": null, "attribute_ids": [ATTRIBUTE_ID],
        "observation_date": "2026-03-02", "visibility": "person", "created_at": AT, "updated_at": AT, "archived_at": null,
        "metadata": {"review_cycle": "2026-h1"}, "external_id": null,
    })
}

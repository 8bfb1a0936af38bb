//! Attributes (decision G).

use candor_domain::access::{Access, Permission};
use candor_domain::catalog::{Attribute, Tone, attribute};
use candor_domain::event::EventData;
use candor_domain::id::{AttributeKind, Kind};
use candor_service::usecases::catalog::attributes;
use serde_json::{Value, json};

use crate::contract::route::{EventFamily, Route, RouteGroup, handlers};
use crate::contract::schema::words::{enum_member, sort};
use crate::contract::schema::{AT, Schema, body_of, resource};

const ROUTES: &[Route] = &[
    Route::get("/attributes", Access::scope(Permission::ObservationsRead), list)
        .with_name("listAttributes", "List attributes")
        .description("Lists attributes by name. Archived ones are listed only on request.")
        .lists(&ATTRIBUTE, |input| drop(attribute::Filter::read(input))),
    Route::post("/attributes", Access::data_admin(Permission::ObservationsWrite), create)
        .with_name("createAttribute", "Create an attribute")
        .description("Creates an attribute. 409 if another attribute has the name, even an archived one.")
        .takes(&ATTRIBUTE_CREATE)
        .creates(&ATTRIBUTE),
    Route::get("/attributes/{id}", Access::scope(Permission::ObservationsRead), get)
        .with_name("getAttribute", "Get an attribute")
        .description("Returns one attribute. It may be archived.")
        .answers(&ATTRIBUTE),
    Route::patch("/attributes/{id}", Access::data_admin(Permission::ObservationsWrite), update)
        .with_name("updateAttribute", "Update an attribute")
        .description("Changes the name, category or tone. 409 if the attribute is archived.")
        .takes(&ATTRIBUTE_UPDATE)
        .answers(&ATTRIBUTE),
    Route::post("/attributes/{id}/archive", Access::data_admin(Permission::ObservationsWrite), archive)
        .with_name("archiveAttribute", "Archive an attribute")
        .description(
            "Archives an attribute. Observations keep it, but a request that adds it to an observation returns \
             422. 409 if it is already archived.",
        )
        .answers(&ATTRIBUTE),
    Route::post("/attributes/{id}/restore", Access::data_admin(Permission::ObservationsWrite), restore)
        .with_name("restoreAttribute", "Restore an archived attribute")
        .description("Restores an archived attribute. 409 if it is not archived.")
        .answers(&ATTRIBUTE),
];

/// The routes of attributes.
pub(crate) const GROUP: RouteGroup = RouteGroup::new("Attributes", "Tags of observations.", ROUTES)
    .id(AttributeKind::PREFIX)
    .words(|| vec![enum_member::<Tone>("Tone of feedback with an attribute."), sort::<Attribute>()])
    .events(&[EventFamily {
        carried: EventData::Attribute,
        name: "AttributeEvent",
        data: &ATTRIBUTE,
        about: "An event about an attribute.",
    }]);

handlers! {
    list => attributes::list(params);
    get => attributes::get(id);
    create => attributes::create(body);
    update => attributes::update(id, body);
    archive => attributes::archive(id);
    restore => attributes::restore(id);
}

pub(crate) const ATTRIBUTE: Schema =
    Schema::resource("Attribute", || resource::<Attribute, _>(attribute::Draft::read, vec![])).example(example);
const ATTRIBUTE_CREATE: Schema =
    Schema::new("AttributeCreate", || body_of::<Attribute, _>(attribute::Draft::read))
        .example(|| json!({"name": "Calm", "category": "Communication", "tone": "positive"}));
const ATTRIBUTE_UPDATE: Schema =
    Schema::new("AttributeUpdate", || body_of::<Attribute, _>(attribute::Patch::read))
        .example(|| json!({"category": "Character"}));

/// Example id of an attribute.
pub(crate) const ATTRIBUTE_ID: &str = "attr_01KJPWD6M09XGSNZ6M9MACZ2ZY";

fn example() -> Value {
    json!({"id": ATTRIBUTE_ID, "name": "Active listening", "category": "Communication", "tone": "positive",
           "created_at": AT, "updated_at": AT, "archived_at": null})
}

//! Attributes of a SCIM user, and the discovery documents that publish them (RFC 7643 §5 to §8).
//!
//! One table states each attribute. Names are read without case and written in the case of the table.

use serde_json::{Value, json};

use super::path::ScimSchema;

/// URN of the core schema of a user.
pub const CORE: &str = "urn:ietf:params:scim:schemas:core:2.0:User";
/// URN of the enterprise extension of a user.
pub const ENTERPRISE: &str = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
/// Schema of a list.
pub const LIST_SCHEMA: &str = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
/// Maximum number of resources in one page.
pub const MAX_PAGE: u32 = 200;
/// Number of resources in a page if the client names none.
pub const DEFAULT_PAGE: u32 = 100;

/// Description of an attribute.
#[derive(Debug, Clone, Copy)]
struct Attribute {
    name: &'static str,
    kind: &'static str,
    is_multi: bool,
    is_required: bool,
    is_unique: bool,
    is_read_only: bool,
    about: &'static str,
    subs: &'static [Self],
}

const fn attribute(name: &'static str, kind: &'static str, about: &'static str) -> Attribute {
    Attribute {
        name,
        kind,
        is_multi: false,
        is_required: false,
        is_unique: false,
        is_read_only: false,
        about,
        subs: &[],
    }
}

const fn text(name: &'static str, about: &'static str) -> Attribute {
    attribute(name, "string", about)
}

impl Attribute {
    const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    const fn with(self, subs: &'static [Self]) -> Self {
        Self { subs, ..self }
    }

    const fn multi(self) -> Self {
        Self { is_multi: true, ..self }
    }

    fn json(&self) -> Value {
        let mut schema = json!({
            "name": self.name,
            "type": self.kind,
            "multiValued": self.is_multi,
            "description": self.about,
            "required": self.is_required,
            "mutability": if self.is_read_only { "readOnly" } else { "readWrite" },
            "returned": "default",
        });
        if self.kind != "complex" && self.kind != "boolean" {
            schema["caseExact"] = json!(self.kind == "reference");
            schema["uniqueness"] = json!(if self.is_unique { "server" } else { "none" });
        }
        if self.kind == "reference" {
            let reference_kind = if self.name == "$ref" { "User" } else { "external" };
            schema["referenceTypes"] = json!([reference_kind]);
        }
        if !self.subs.is_empty() {
            schema["subAttributes"] = self.subs.iter().map(Self::json).collect();
        }
        schema
    }
}

const KIND: Attribute = text("type", "Kind of the entry, such as `work` or `home`.");
const PRIMARY: Attribute = attribute("primary", "boolean", "`true` for the preferred entry.");
const DISPLAY: Attribute = text("display", "Text for people.");

const NAME: &[Attribute] = &[
    text("formatted", "Full name in one text."),
    text("familyName", "Last name of the person, at most 80 characters.").required(),
    text("givenName", "First name of the person, at most 80 characters.").required(),
    text("middleName", "Middle names."),
    text("honorificPrefix", "Title before the name."),
    text("honorificSuffix", "Suffix after the name."),
];

const EMAILS: &[Attribute] = &[text("value", "E-mail address.").required(), DISPLAY, KIND, PRIMARY];
const PHONES: &[Attribute] = &[text("value", "Phone number."), DISPLAY, KIND, PRIMARY];
const ADDRESSES: &[Attribute] = &[
    text("formatted", "Full address in one text."),
    text("streetAddress", "Street and number."),
    text("locality", "City."),
    text("region", "State or region."),
    text("postalCode", "Postal code."),
    text("country", "Country."),
    KIND,
    PRIMARY,
];

const USER: &[Attribute] = &[
    Attribute {
        is_unique: true,
        ..text("userName", "Name by which the identity provider knows the person, compared without case.")
            .required()
    },
    attribute("name", "complex", "Parts of the person's name.").with(NAME).required(),
    text("displayName", "Name shown to people."),
    text("nickName", "Casual name."),
    attribute("profileUrl", "reference", "URL of a profile."),
    text("title", "Job title, at most 120 characters."),
    text("userType", "Kind of employment."),
    text("preferredLanguage", "Preferred language."),
    text("locale", "Locale for dates and numbers."),
    text("timezone", "Time zone."),
    attribute("active", "boolean", "`false` deactivates the person, `true` reactivates them.").required(),
    attribute("emails", "complex", "E-mail addresses. The primary one, else the work one, is used.")
        .multi()
        .required()
        .with(EMAILS),
    attribute("phoneNumbers", "complex", "Phone numbers.").multi().with(PHONES),
    attribute("addresses", "complex", "Postal addresses.").multi().with(ADDRESSES),
];

const MANAGER: &[Attribute] = &[
    text("value", "Id, externalId or e-mail address of the manager."),
    attribute("$ref", "reference", "URL of the manager."),
    Attribute { is_read_only: true, ..text("displayName", "Name of the manager.") },
];

const ENTERPRISE_USER: &[Attribute] = &[
    text("employeeNumber", "Number of the employee."),
    text("costCenter", "Cost center."),
    text("organization", "Organization."),
    text("division", "Division."),
    text("department", "Name of the department. An unknown department is created."),
    attribute("manager", "complex", "Manager of the person.").with(MANAGER),
];

/// Attributes that are accepted and not published: read-only, stored as sent, or never stored.
const UNPUBLISHED: &[&str] = &[
    "id",
    "meta",
    "schemas",
    "externalId",
    "ims",
    "photos",
    "groups",
    "roles",
    "entitlements",
    "x509Certificates",
    "password",
];
/// Attributes that are accepted and never stored.
const DROPPED: &[&str] = &["password", "groups", "roles", "entitlements", "photos"];
/// Attributes that the service sets.
const READ_ONLY: &[&str] = &["id", "meta", "schemas"];

fn find_by_name(table: &'static [Attribute], name: &str) -> Option<&'static Attribute> {
    table.iter().find(|attribute| attribute.name.eq_ignore_ascii_case(name))
}

/// Returns the schema and the canonical name of an attribute that is named without a schema.
pub(super) fn canonical(name: &str) -> (ScimSchema, String) {
    if let Some(attribute) = find_by_name(USER, name) {
        return (ScimSchema::Core, attribute.name.to_owned());
    }
    if let Some(attribute_name) = UNPUBLISHED.iter().find(|known| known.eq_ignore_ascii_case(name)) {
        return (ScimSchema::Core, (*attribute_name).to_owned());
    }
    match find_by_name(ENTERPRISE_USER, name) {
        Some(known) => (ScimSchema::Enterprise, known.name.to_owned()),
        None => (ScimSchema::Core, name.to_owned()),
    }
}

/// Returns the enterprise extension and the canonical name of one of its attributes.
pub(super) fn canonical_enterprise(name: &str) -> (ScimSchema, String) {
    let name = find_by_name(ENTERPRISE_USER, name).map_or(name, |known| known.name);
    (ScimSchema::Enterprise, name.to_owned())
}

/// Returns the canonical name of a sub-attribute.
pub(super) fn canonical_sub(name: &str) -> String {
    let tables = [NAME, EMAILS, ADDRESSES, MANAGER];
    tables.iter().find_map(|table| find_by_name(table, name)).map_or(name, |known| known.name).to_owned()
}

/// Returns `true` for an attribute with several entries.
pub(super) fn is_multi_valued(name: &str) -> bool {
    find_by_name(USER, name).is_some_and(|attribute| attribute.is_multi)
        || ["ims", "x509Certificates"].iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns `true` for an attribute with sub-attributes and one value.
pub(super) fn is_complex(name: &str) -> bool {
    name == "name" || name == "manager"
}

/// Returns `true` for an attribute of the core schema that is never stored.
pub(super) fn is_dropped(name: &str) -> bool {
    DROPPED.contains(&name)
}

/// Returns `true` for an attribute of the core schema, or a part of one, that sets a field of a person.
pub(super) fn is_field_of_person(name: &str, sub: Option<&str>) -> bool {
    match (name, sub) {
        ("userName" | "externalId" | "active" | "title" | "emails", _) => true,
        ("name", sub) => matches!(sub, Some("givenName" | "familyName")),
        _ => false,
    }
}

/// Returns the reason why a path of the core schema or the enterprise extension names no single value. The reason
/// is the rest of a sentence about the path.
pub(super) fn shape_problem(name: &str, has_sub: bool) -> Option<&'static str> {
    let attribute = find_by_name(USER, name).or_else(|| find_by_name(ENTERPRISE_USER, name))?;
    match (attribute.kind == "complex", has_sub) {
        (true, false) => Some("has several values"),
        (false, true) => Some("has no parts"),
        (true, true) | (false, false) => None,
    }
}

/// Returns `true` for an attribute of the core schema that only the service sets.
pub(super) fn is_read_only(name: &str) -> bool {
    READ_ONLY.contains(&name)
}

/// Returns the list of schemas. `base` is the URL of the SCIM service.
#[must_use]
pub fn schemas(base: &str) -> Vec<Value> {
    let schema = |urn: &str, name: &str, about: &str, attributes: &[Attribute]| {
        json!({
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
            "id": urn,
            "name": name,
            "description": about,
            "attributes": attributes.iter().map(Attribute::json).collect::<Vec<_>>(),
            "meta": {"resourceType": "Schema", "location": format!("{base}/Schemas/{urn}")},
        })
    };
    vec![
        schema(CORE, "User", "A person of the organization.", USER),
        schema(ENTERPRISE, "EnterpriseUser", "Employment of a person.", ENTERPRISE_USER),
    ]
}

/// Returns the list of resource types. `base` is the URL of the SCIM service.
#[must_use]
pub fn resource_types(base: &str) -> Vec<Value> {
    vec![json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
        "id": "User",
        "name": "User",
        "endpoint": "/Users",
        "description": "A person of the organization.",
        "schema": CORE,
        "schemaExtensions": [{"schema": ENTERPRISE, "required": false}],
        "meta": {"resourceType": "ResourceType", "location": format!("{base}/ResourceTypes/User")},
    })]
}

/// Returns the capabilities of the service (RFC 7643 §5, RFC 9865 §4).
#[must_use]
pub fn service_provider_config(base: &str) -> Value {
    let root = base.strip_suffix("/scim/v2").unwrap_or(base);
    json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
        "documentationUri": format!("{root}/docs"),
        "patch": {"supported": true},
        "bulk": {"supported": false, "maxOperations": 0, "maxPayloadSize": 0},
        "filter": {"supported": true, "maxResults": MAX_PAGE},
        "changePassword": {"supported": false},
        "sort": {"supported": false},
        "etag": {"supported": true},
        "pagination": {
            "cursor": true,
            "index": true,
            "defaultPaginationMethod": "index",
            "defaultPageSize": DEFAULT_PAGE,
            "maxPageSize": MAX_PAGE,
        },
        "authenticationSchemes": [{
            "type": "oauthbearertoken",
            "name": "API key",
            "description": "An API key with the scope `scim` as bearer token.",
            "primary": true,
        }],
        "meta": {
            "resourceType": "ServiceProviderConfig",
            "location": format!("{base}/ServiceProviderConfig"),
        },
    })
}

/// Returns the body of a list of these resources.
#[must_use]
pub fn list(resources: Vec<Value>) -> Value {
    let count = resources.len();
    json!({
        "schemas": [LIST_SCHEMA],
        "totalResults": count,
        "startIndex": 1,
        "itemsPerPage": count,
        "Resources": resources,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_null(value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Array(items) => items.iter().any(has_null),
            Value::Object(members) => members.values().any(has_null),
            Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }

    #[test]
    fn discovery_documents_have_no_nulls_and_absolute_locations() {
        let base = "https://candor.example/scim/v2";
        let mut documents = schemas(base);
        documents.extend(resource_types(base));
        documents.push(service_provider_config(base));
        for document in documents {
            assert!(!has_null(&document), "{document}");
            assert!(document["meta"]["location"].as_str().unwrap().starts_with(base), "{document}");
        }
    }

    #[test]
    fn required_attributes_are_those_of_an_employee() {
        let required_names = |attributes: &Value| {
            let all =
                attributes.as_array().unwrap().iter().filter(|attribute| attribute["required"] == json!(true));
            all.map(|attribute| attribute["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let all = schemas("");
        assert_eq!(required_names(&all[0]["attributes"]), ["userName", "name", "active", "emails"]);
        assert!(required_names(&all[1]["attributes"]).is_empty());
    }

    #[test]
    fn names_are_read_without_case() {
        assert_eq!(canonical("EMAILS"), (ScimSchema::Core, "emails".to_owned()));
        assert_eq!(canonical("Externalid"), (ScimSchema::Core, "externalId".to_owned()));
        assert_eq!(canonical("costcenter"), (ScimSchema::Enterprise, "costCenter".to_owned()));
        assert_eq!(canonical("badgeNo"), (ScimSchema::Core, "badgeNo".to_owned()));
        assert_eq!(canonical_sub("GIVENNAME"), "givenName");
        assert_eq!(canonical_sub("$REF"), "$ref");
    }
}

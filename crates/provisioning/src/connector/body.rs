//! Request bodies of connectors (decisions G).

use std::collections::BTreeMap;

use candor_domain::fields::{Fields, Reference};
use candor_domain::id::EmployeeKind;
use candor_domain::json::{Object, Value};
use candor_domain::people::MANUAL;
use candor_domain::people::MAX_KEY_CHARS;
use candor_domain::problem::{Code, ValidationErrors, ValueError};
use candor_domain::rule::{self, Checked, Field, List, Nested, OneOf, ReferenceRule, Shape, Text, Whole};
use candor_domain::update::Update;
use candor_scim::CustomMapping;

use super::{Brake, Connector, MAX_MAPPED_KEYS, MAX_RELEASED, SOURCE_CHARS, Type};

/// Length of the longest SCIM path of a mapping, in characters.
pub const PATH_CHARS: usize = 200;
/// Largest `at_least` of a brake: the number of deactivations below which the brake never acts.
const MAX_AT_LEAST: i64 = 1_000_000;

const READ_ONLY: &[&str] = &[
    "id",
    "status",
    "paused_at",
    "last_sync_at",
    "last_sync_status",
    "last_sync_message",
    "created_at",
    "updated_at",
];
const IMMUTABLE: &[&str] = &["type", "hris_source", "mapped_custom_field_keys"];
/// Members of `GET /connectors/{id}` that change without a change of the connector. Requests ignore them.
const FIGURES: &[&str] = &["last_request_at", "last_change_at", "people", "open_issues", "user_agent"];

const TYPE: Field<OneOf<Type>> = Field::new("type", rule::word());
const HRIS_SOURCE: Field<Checked<String>> = Field::new(
    "hris_source",
    rule::rule(
        |value| {
            let text = rule::as_text(value)?;
            slug(text).map(|()| text.to_owned())
        },
        || Shape::Slug { max: SOURCE_CHARS, except: MANUAL },
    ),
);
const MAPPED_KEYS: Field<List<Text>> =
    Field::new("mapped_custom_field_keys", rule::list(MAX_MAPPED_KEYS, rule::text(1..=MAX_KEY_CHARS)));
const RELEASED: Field<List<ReferenceRule<EmployeeKind>>> = Field::with_about(
    "employee_ids",
    rule::list(MAX_RELEASED, rule::reference()),
    "People to release, at most {max}. Default: all people that the connector manages.",
);
const BRAKE: Field<Nested<BrakePatch>> =
    Field::with_about("brake", rule::nested(BrakePatch::read), "An omitted member keeps its value.");
const PERCENT: Field<Whole> = Field::new("percent", rule::whole(0..=100));
const AT_LEAST: Field<Whole> = Field::new("at_least", rule::whole(1..=MAX_AT_LEAST));
const MAPPINGS: Field<MappingRule> = Field::with_about(
    "custom_field_mappings",
    MappingRule,
    "Keys are merged one by one: a path sets its key, null removes it. Only for the type `scim`.",
);

/// The body of a creation, validated on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub(super) kind: Type,
    pub(super) hris_source: String,
    pub(super) mapped_custom_field_keys: Vec<String>,
    pub(super) brake: Brake,
    pub(super) custom_field_mappings: BTreeMap<String, String>,
}

/// The body of an update, validated on its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    pub(super) brake: BrakePatch,
    pub(super) custom_field_mappings: MappingPatch,
}

/// Changes of mappings by custom field; `None` removes the mapping.
type MappingPatch = BTreeMap<String, Option<String>>;

/// Changes of a brake. `None` keeps the stored value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BrakePatch {
    percent: Option<u16>,
    at_least: Option<u32>,
}

impl BrakePatch {
    fn read(fields: &mut Fields) -> Option<Self> {
        let percent = fields.present(&PERCENT).and_then(|number| u16::try_from(number).ok());
        let at_least = fields.present(&AT_LEAST).and_then(|number| u32::try_from(number).ok());
        Some(Self { percent, at_least })
    }

    /// Returns the brake with these changes.
    pub(super) fn apply_to(self, brake: Brake) -> Brake {
        Brake { percent: self.percent.unwrap_or(brake.percent), at_least: self.at_least.unwrap_or(brake.at_least) }
    }
}

/// The rule of `custom_field_mappings`. Problems name the key.
#[derive(Clone, Copy)]
struct MappingRule;

impl rule::Rule for MappingRule {
    type Value = Result<MappingPatch, ValidationErrors>;

    fn parse(&self, value: &Value) -> Result<Self::Value, ValueError> {
        let Value::Object(members) = value else {
            return Err(ValueError::format(format!("an object, not {}", value.kind())));
        };
        let (mut patch, mut problems) = (MappingPatch::new(), ValidationErrors::none());
        for (key, value) in members {
            let field = format!(".{key}");
            let path = if *value == Value::Null {
                Ok(None)
            } else {
                rule::as_text(value).and_then(|text| scim_path(text).map(|()| Some(text.to_owned())))
            };
            let mapping_result = candor_domain::text::check_length(key, 1..=MAX_KEY_CHARS).and(path);
            let Some(path) = problems.take(&field, mapping_result) else { continue };
            if patch.insert(key.clone(), path).is_some() {
                problems.add(field, ValueError::format("given only once"));
            }
        }
        Ok(problems.or(patch))
    }

    fn shape(&self) -> Shape {
        Shape::TextMap { max: MAX_MAPPED_KEYS, key_chars: MAX_KEY_CHARS, value_chars: PATH_CHARS }
    }
}

/// Checks a path of a SCIM attribute with a single value: a name such as `nickName` or `name.middleName`,
/// optionally after the URN of its schema and a colon. Attributes that set fields of a person are refused.
fn scim_path(text: &str) -> Result<(), ValueError> {
    candor_domain::text::check_length(text, 1..=PATH_CHARS)?;
    let example = "a SCIM attribute, such as userType or urn:ietf:params:scim:schemas:core:2.0:User:nickName";
    let is_named = |mapping: &CustomMapping| {
        let parts = [&mapping.path.attribute, &mapping.path.sub];
        parts.into_iter().flatten().all(|part| part.starts_with(|first: char| first.is_ascii_alphabetic()))
    };
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    let mapping = CustomMapping::parse("", text).ok().filter(|mapping| is_plain && is_named(mapping));
    match mapping.ok_or_else(|| ValueError::format(example))?.refusal() {
        Some(reason) => Err(ValueError::format(format!("{example}, that can be mapped: this one {reason}"))),
        None => Ok(()),
    }
}

/// Checks a slug: lower-case letters and digits, with dashes or underscores between them.
fn slug(text: &str) -> Result<(), ValueError> {
    candor_domain::text::check_length(text, 1..=SOURCE_CHARS)?;
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    let edges = [text.as_bytes().first(), text.as_bytes().last()];
    let has_valid_edges =
        edges.iter().all(|edge| edge.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
    if has_valid_edges && text.bytes().all(inner) && text != MANUAL {
        return Ok(());
    }
    Err(ValueError::format("a slug of lower-case letters, digits, - and _, other than `manual`"))
}

/// Returns the mappings after a patch. Returns a problem for mappings of a connector that is not of the type `scim`,
/// for too many of them, and for two custom fields with the same path.
fn apply_mapping_patch(
    kind: Type,
    stored: &BTreeMap<String, String>,
    patch: &MappingPatch,
) -> Result<BTreeMap<String, String>, ValueError> {
    let mut mappings = stored.clone();
    for (key, path) in patch {
        match path {
            Some(path) => mappings.insert(key.clone(), path.clone()),
            None => mappings.remove(key),
        };
    }
    if kind != Type::Scim && !mappings.is_empty() {
        return Err(ValueError::format("empty, unless the type is scim"));
    }
    if mappings.len() > MAX_MAPPED_KEYS {
        return Err(ValueError::new(Code::TooLong, format!("must have at most {MAX_MAPPED_KEYS} keys")));
    }
    let parse_results = mappings.iter().filter_map(|(key, path)| CustomMapping::parse(key, path).ok());
    let parse_results: Vec<_> = parse_results.collect();
    let has_overlapping_paths = parse_results
        .iter()
        .enumerate()
        .any(|(at, one)| parse_results[at + 1..].iter().any(|two| one.overlaps(two)));
    match has_overlapping_paths {
        true => Err(ValueError::format("an object with a different path for each key")),
        false => Ok(mappings),
    }
}

fn read_changes(fields: &mut Fields) -> Patch {
    let brake = fields.present(&BRAKE).and_then(|read| fields.nested(BRAKE.name, read)).unwrap_or_default();
    let mappings = fields.present(&MAPPINGS).and_then(|read| fields.nested(MAPPINGS.name, read));
    Patch { brake, custom_field_mappings: mappings.unwrap_or_default() }
}

impl Draft {
    /// Declares and reads the fields of a creation.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let (kind, hris_source) = (fields.required(&TYPE), fields.required(&HRIS_SOURCE));
        let keys = fields.present(&MAPPED_KEYS);
        let changes = read_changes(fields);
        let kind = kind?;
        let mappings = apply_mapping_patch(kind, &BTreeMap::new(), &changes.custom_field_mappings);
        if let Err(flaw) = &mappings {
            fields.problem(MAPPINGS.name, flaw.clone());
        }
        Some(Self {
            kind,
            hris_source: hris_source?,
            mapped_custom_field_keys: keys.unwrap_or_default(),
            brake: changes.brake.apply_to(Brake::default()),
            custom_field_mappings: mappings.unwrap_or_default(),
        })
    }

    /// Reads the body of a creation.
    ///
    /// # Errors
    /// Returns every invalid field.
    pub fn parse(body: Object) -> Result<Self, ValidationErrors> {
        Fields::parse_new(body, READ_ONLY, Self::read)
    }
}

impl Patch {
    /// Declares and reads the fields of an update.
    pub fn read(fields: &mut Fields) -> Self {
        read_changes(fields)
    }

    /// Reads the body of an update.
    #[must_use]
    pub fn parse(body: Object) -> Update<Self> {
        let mut members = Object::new();
        for (name, value) in &body {
            if !FIGURES.contains(&name.as_str()) {
                members.push(name.clone(), value.clone());
            }
        }
        Update::read(members, &[READ_ONLY, IMMUTABLE], Self::read)
    }
}

impl Patch {
    /// Checks an update against the stored connector.
    ///
    /// # Errors
    /// Returns every field that is invalid or that cannot be changed.
    pub fn resolve(update: &Update<Self>, stored: &Connector) -> Result<Self, ValidationErrors> {
        let (patch, mut fields) = update.compare(stored);
        if let Err(flaw) = patch.mappings(stored) {
            fields.problem(MAPPINGS.name, flaw);
        }
        fields.finish(Some(patch))
    }
}

impl Patch {
    /// Returns the mappings of a connector after this update.
    pub(super) fn mappings(&self, stored: &Connector) -> Result<BTreeMap<String, String>, ValueError> {
        apply_mapping_patch(stored.kind, &stored.custom_field_mappings, &self.custom_field_mappings)
    }
}

/// Declares and reads the people of a release; `None` means everyone that the connector manages.
pub fn read_release(fields: &mut Fields) -> Option<Vec<Reference<EmployeeKind>>> {
    fields.present(&RELEASED)
}

/// Reads the people from the body of a release; `None` means everyone that the connector manages.
///
/// # Errors
/// Returns every invalid field.
pub fn parse_release(body: Object) -> Result<Option<Vec<Reference<EmployeeKind>>>, ValidationErrors> {
    let mut fields = Fields::new(body);
    let people = read_release(&mut fields);
    fields.finish(Some(people))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::ConnectorId;
    use candor_domain::time::Timestamp;
    use ulid::Ulid;

    const AT: Timestamp = Timestamp::from_millis(1_000);

    fn body(text: &str) -> Object {
        serde_json::from_str(text).unwrap()
    }

    fn flaws(problems: &ValidationErrors) -> Vec<(&str, Code)> {
        problems.as_slice().iter().map(|problem| (problem.field.as_str(), problem.code)).collect()
    }

    fn connector(rest: &str) -> Connector {
        let draft = Draft::parse(body(&format!(r#"{{"hris_source": "okta", {rest}}}"#))).unwrap();
        Connector::create(ConnectorId::from_ulid(Ulid(1)), draft, AT).state
    }

    #[test]
    fn hris_source_must_be_a_slug() {
        for good in ["a", "work-day_2", &"a".repeat(64)] {
            assert_eq!(slug(good), Ok(()), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a b", "manual", &"a".repeat(65)] {
            assert!(slug(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn mapping_path_must_be_a_scim_attribute() {
        let enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
        for good in ["userType", "name.middleName", "x-grade", &format!("{enterprise}:costCenter")] {
            assert_eq!(scim_path(good), Ok(()), "{good}");
        }
        let filter = r#"emails[type eq "work"].value"#;
        let long = "a".repeat(201);
        for bad in ["", " ", "a b", "1a", "a..b", "a.", "a.b.c", "x:title", "urn:a:", enterprise, filter, &long] {
            assert!(scim_path(bad).is_err(), "{bad}");
        }
        for taken in ["title", "password", "meta.version", "userName", "manager", "emails.value"] {
            let flaw = scim_path(taken).unwrap_err();
            assert_eq!(flaw.code, Code::InvalidFormat, "{taken}");
            assert!(flaw.message.contains("that can be mapped: "), "{}", flaw.message);
        }
    }

    #[test]
    fn wrong_brake_and_mapping_are_named() {
        let table = [
            (r#""brake": {"percent": 101, "at_least": 0}"#, vec!["brake.percent", "brake.at_least"]),
            (r#""brake": {"people": 1}"#, vec!["brake.people"]),
            (r#""custom_field_mappings": {"badge": 1, "grade": "a b"}"#, {
                vec!["custom_field_mappings.badge", "custom_field_mappings.grade"]
            }),
            (r#""custom_field_mappings": {"a": "userType", "b": "USERTYPE"}"#, vec!["custom_field_mappings"]),
        ];
        for (rest, wanted) in table {
            let text = format!(r#"{{"type": "scim", "hris_source": "okta", {rest}}}"#);
            let problems = Draft::parse(body(&text)).unwrap_err();
            let fields: Vec<_> = flaws(&problems).into_iter().map(|(field, _)| field).collect();
            assert_eq!(fields, wanted, "{rest}");
        }
        let csv = r#"{"type": "csv_feed", "hris_source": "acme", "custom_field_mappings": {"a": "userType"}}"#;
        let problems = Draft::parse(body(csv)).unwrap_err();
        assert_eq!(flaws(&problems), [("custom_field_mappings", Code::InvalidFormat)]);
    }

    #[test]
    fn patch_merges_and_ignores_figures() {
        let connector_before = connector(r#""type": "scim", "custom_field_mappings": {"badge": "nickName"}"#);
        assert_eq!(connector_before.brake, Brake::default());
        let text = r#"{"people": 7, "user_agent": null, "hris_source": "okta", "brake": {"percent": 50},
                       "custom_field_mappings": {"badge": null, "grade": "userType"}}"#;
        let patch = Patch::resolve(&Patch::parse(body(text)), &connector_before).unwrap();
        let connector_after = connector_before.update(&patch, AT).unwrap().state;
        assert_eq!(connector_after.brake, Brake { percent: 50, at_least: 20 });
        let grade = BTreeMap::from([("grade".to_owned(), "userType".to_owned())]);
        assert_eq!(connector_after.custom_field_mappings, grade);
        let unchanged_patch = Patch::resolve(
            &Patch::parse(body(&serde_json::to_string(&connector_after).unwrap())),
            &connector_after,
        )
        .unwrap();
        assert_eq!(
            connector_after.update(&unchanged_patch, AT),
            None,
            "a connector that is sent back changes nothing"
        );
        let refused_patch = Patch::resolve(
            &Patch::parse(body(r#"{"hris_source": "entra", "status": "paused"}"#)),
            &connector_after,
        );
        assert_eq!(
            flaws(&refused_patch.unwrap_err()),
            [("status", Code::ReadOnly), ("hris_source", Code::ReadOnly)]
        );
    }
}

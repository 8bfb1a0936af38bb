//! A varied organization in which every filter matches some rows, but not all.

use candor_domain::catalog::{Attribute, Department, Tone};
use candor_domain::id::{AttributeId, DepartmentId, EmployeeId};
use candor_domain::keyed::{KeyedMap, Metadata};
use candor_domain::observation::{Observation, Type, Visibility};
use candor_domain::params::Bounds;
use candor_domain::people::{Custom, CustomFields, Employee, Role, Status};
use candor_domain::time::{Date, Timestamp};
use candor_port_storage::{Row, Write};

use crate::fixtures::joins;
use crate::world::CaseContext;

/// Names whose order depends on the collation, such as by code point or without case.
pub(super) const NAMES: [&str; 12] =
    ["Zoe", "adam", "Adam", "Éva", "eva", "O'Neil", "von Berg", "Von berg", "a b", "a-b", "漢字", "👍 thumbs"];
/// Number of distinct timestamps, so small that many entries share one.
const INSTANTS: i64 = 6;

/// Resources of the organization as they are stored.
pub(super) struct Population {
    pub(super) people: Vec<Employee>,
    pub(super) departments: Vec<Department>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) observations: Vec<Observation>,
}

impl Population {
    /// Creates a tree with three reports per manager, a separate chain, and observations about all people.
    pub(super) async fn new(world: &CaseContext, people: usize, observations: usize) -> Self {
        let departments: Vec<_> = (0..12).map(|number| department(world, number)).collect();
        let attributes: Vec<_> = (0..12).map(|number| attribute(world, number)).collect();
        world
            .save(
                (departments.iter().cloned().map(|department| Write::put(&Row::new(department))))
                    .chain(attributes.iter().cloned().map(|attribute| Write::put(&Row::new(attribute))))
                    .collect(),
            )
            .await;
        let mut everyone: Vec<Employee> = Vec::new();
        for number in 0..people {
            let manager_id = match number {
                0 => None,
                _ if number % 10 == 9 => Some(everyone[number - 1].id),
                _ => Some(everyone[(number - 1) / 3].id),
            };
            everyone.push(Employee { manager_id, ..person(world, number, &departments) });
        }
        for batch in everyone.chunks(50) {
            world.save(batch.iter().cloned().map(joins).collect()).await;
        }
        let ids: Vec<_> = everyone.iter().map(|person| person.id).collect();
        let tags: Vec<_> = attributes.iter().map(|attribute| attribute.id).collect();
        let observations = (0..observations).map(|number| observation(world, number, &ids, &tags));
        let observations: Vec<_> = observations.collect();
        for batch in observations.chunks(100) {
            world.save(batch.iter().map(|batch| Write::put(&Row::new(batch.clone()))).collect()).await;
        }
        Self { people: everyone, departments, attributes, observations }
    }

    pub(super) fn is_below(&self, id: EmployeeId, manager: EmployeeId) -> bool {
        let manager_of = |id: EmployeeId| {
            self.people.iter().find(|person| person.id == id).and_then(|person| person.manager_id)
        };
        let mut next = manager_of(id);
        while let Some(it) = next {
            if it == manager {
                return true;
            }
            next = manager_of(it);
        }
        false
    }

    /// Returns the number of people below a manager.
    pub(super) fn size_below(&self, manager: EmployeeId) -> usize {
        self.people.iter().filter(|person| self.is_below(person.id, manager)).count()
    }
}

/// Returns one of [`INSTANTS`] timestamps.
pub(super) fn instant(world: &CaseContext) -> Timestamp {
    let number = i64::try_from(world.random.number_below(6)).unwrap_or_default() % INSTANTS;
    Timestamp::from_millis(1_700_000_000_000 + number * 1000)
}

/// Returns one of five days.
pub(super) fn day(world: &CaseContext) -> Date {
    Date::from_epoch_days(19_000 + i32::try_from(world.random.number_below(5)).unwrap_or_default())
}

/// Returns metadata with up to two keys of a few values.
pub(super) fn metadata(world: &CaseContext) -> Metadata {
    let values = [("cycle", ["2026-h1", "2026-h2"]), ("source", ["import", "form"])];
    let chosen_values = values.into_iter().filter(|_| world.random.chance(40));
    Metadata(
        chosen_values.map(|(key, values)| (key.to_owned(), (*world.random.pick(&values)).to_owned())).collect(),
    )
}

/// Returns an external id for half of the rows. `number` distinguishes the rows of a table.
pub(super) fn external_id(world: &CaseContext, number: usize) -> Option<String> {
    world.random.chance(50).then(|| format!("crm-{number}"))
}

/// Returns the digests of a filter by metadata; in most cases the filter is empty.
pub(super) fn metadata_filter(world: &CaseContext) -> Vec<[u8; 16]> {
    if world.random.chance(70) { vec![] } else { metadata(world).digests() }
}

/// Returns `true` if a value lies within inclusive bounds.
pub(super) fn is_within<T: Ord>(bounds: Bounds<T>, value: T) -> bool {
    bounds.gte.is_none_or(|from| value >= from) && bounds.lte.is_none_or(|to| value <= to)
}

/// Returns `true` if a row matches the filters by metadata and by external id.
pub(super) fn matches(
    (digests, external_id): (&[[u8; 16]], &Option<String>),
    metadata: &Metadata,
    own: &Option<String>,
) -> bool {
    let all = metadata.digests();
    digests.iter().all(|digest| all.contains(digest)) && (external_id.is_none() || external_id == own)
}

fn archive_time(world: &CaseContext) -> Option<Timestamp> {
    world.random.chance(30).then(|| instant(world))
}

fn department(world: &CaseContext, number: usize) -> Department {
    let name = format!("{} {number}", world.random.pick(&NAMES));
    let (created_at, updated_at, archived_at) = (instant(world), instant(world), archive_time(world));
    Department { name, created_at, updated_at, archived_at, ..world.make.department() }
}

fn attribute(world: &CaseContext, number: usize) -> Attribute {
    let name = format!("{} {number}", world.random.pick(&NAMES));
    let tone = *world.random.pick(&[Tone::Positive, Tone::Neutral, Tone::Constructive]);
    let category = (*world.random.pick(&["Craft", "craft", "Growth"])).to_owned();
    let (created_at, updated_at, archived_at) = (instant(world), instant(world), archive_time(world));
    Attribute { name, tone, category, created_at, updated_at, archived_at, ..world.make.attribute() }
}

fn person(world: &CaseContext, number: usize, departments: &[Department]) -> Employee {
    let CaseContext { random, make, .. } = world;
    let homes: Vec<DepartmentId> = departments.iter().take(4).map(|department| department.id).collect();
    let statuses = [Status::Active, Status::Active, Status::Active, Status::Deactivated, Status::PendingInvite];
    let mut custom = CustomFields::default();
    for (key, values) in [("grade", [1, 2, 3]), ("desk", [7, 8, 9])] {
        if random.chance(60) {
            let value = *random.pick(&values);
            let text = Custom::Text(value.to_string());
            let value = if random.chance(50) { Custom::Number(value.into()) } else { text };
            custom.0.insert(key.to_owned(), value);
        }
    }
    Employee {
        first_name: (*random.pick(&NAMES)).to_owned(),
        last_name: (*random.pick(&NAMES)).to_owned(),
        job_title: random.maybe(60, &["Engineer".to_owned(), "engineer".to_owned(), "Nurse".to_owned()]),
        role: *random.pick(&[Role::Employee, Role::Manager, Role::OrgAdmin]),
        status: *random.pick(&statuses),
        external_id: random.chance(50).then(|| format!("hr-{number}")),
        department_id: random.maybe(70, &homes),
        custom_fields: custom,
        created_at: instant(world),
        updated_at: instant(world),
        ..make.employee()
    }
}

fn observation(world: &CaseContext, number: usize, people: &[EmployeeId], tags: &[AttributeId]) -> Observation {
    let CaseContext { random, make, .. } = world;
    let mut attribute_ids: Vec<AttributeId> = Vec::new();
    // Tags have decreasing frequency, so that filters match many rows, few rows or none.
    for (number, tag) in tags.iter().take(10).enumerate() {
        if random.chance([80, 30, 10, 5, 2, 1, 1, 1, 1, 1][number]) {
            attribute_ids.insert(0, *tag);
        }
    }
    Observation {
        kind: *random.pick(&[Type::Strength, Type::Opportunity]),
        author_id: random.maybe(30, people),
        attribute_ids,
        observation_date: day(world),
        visibility: *random.pick(&[Visibility::Person, Visibility::Managers]),
        requester_id: random.maybe(20, people),
        created_at: instant(world),
        updated_at: instant(world),
        archived_at: archive_time(world),
        metadata: metadata(world),
        external_id: external_id(world, number),
        ..make.observation(*random.pick(people))
    }
}

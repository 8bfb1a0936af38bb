//! Filters of all lists, compared with the same filters applied in memory to all stored rows.

use candor_domain::audit::{self, Actor, ActorKind, AuditEntry};
use candor_domain::catalog::{Attribute, Department, Tone, attribute, department};
use candor_domain::id::{DepartmentId, EmployeeId};
use candor_domain::keyed::KeyedMap;
use candor_domain::observation::{self, Observation, Type};
use candor_domain::page::Sortable;
use candor_domain::params::{Archived, Bounds};
use candor_domain::people::{self, Custom, CustomFields, Employee, Role, StatusFilter};
use candor_domain::visibility::{RestrictedResource, Viewer};
use candor_port_storage::ChangeSet;
use candor_tables::flat::Stored;

use super::lists::{self, List};
use super::population::{Population, day, instant, is_within, matches, metadata_filter};
use crate::Case;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(observation_list_matches_random_filters),
        Case::new(observation_list_matches_filters_for_each_viewer),
        Case::new(observation_list_matches_for_small_and_large_subtrees),
        Case::new(observation_list_matches_for_common_and_rare_tags),
        Case::new(employee_list_matches_random_filters),
        Case::new(department_and_attribute_lists_match_random_filters),
        Case::new(audit_log_matches_random_filters),
    ]
}

/// Number of filter combinations per list.
const COMBINATIONS: usize = 60;
const LIMITS: [u16; 4] = [1, 4, 17, 100];

fn bounds<T: Ord + Copy>(world: &CaseContext, percent: usize, value: impl Fn(&CaseContext) -> T) -> Bounds<T> {
    let (a, b) = (value(world), value(world));
    let some = |value| world.random.chance(percent).then_some(value);
    Bounds { gte: some(a.min(b)), lte: some(a.max(b)) }
}

fn is_archived<T>(wanted: Archived, archived_at: Option<T>) -> bool {
    match wanted {
        Archived::No => archived_at.is_none(),
        Archived::Yes => archived_at.is_some(),
        Archived::All => true,
    }
}

const ARCHIVED: [Archived; 4] = [Archived::No, Archived::Yes, Archived::All, Archived::All];

/// Walks a list in one order and compares its entries with those of `all` that match. `number` selects the order,
/// so that successive numbers cover every order.
async fn check<T>(
    world: &CaseContext,
    number: usize,
    list: List<T>,
    all: &[T],
    wanted: impl Fn(&T) -> bool,
    what: &str,
) where
    T: Stored + Sortable + Clone + PartialEq + std::fmt::Debug,
{
    let sorts: Vec<_> = T::sorts().collect();
    let sort = sorts[number % sorts.len()].1;
    list.must_show(sort, *world.random.pick(&LIMITS), all, wanted, what).await;
}

pub(super) fn shows_observation(filter: &observation::Filter, it: &Observation, all: &Population) -> bool {
    let has_attribute =
        filter.attribute_ids.is_empty() || filter.attribute_ids.iter().any(|tag| it.attribute_ids.contains(tag));
    filter.employee_id.is_none_or(|id| it.employee_id == id)
        && filter.manager_id.is_none_or(|id| all.is_below(it.employee_id, id))
        && filter.kind.is_none_or(|kind| it.kind == kind)
        && is_archived(filter.archived, it.archived_at)
        && has_attribute
        && is_within(filter.observation_date, it.observation_date)
        && is_within(filter.created_at, it.created_at)
        && is_within(filter.updated_at, it.updated_at)
        && matches((&filter.metadata, &filter.external_id), &it.metadata, &it.external_id)
}

async fn observation_filter(world: &CaseContext, all: &Population, number: usize, filter: observation::Filter) {
    let list = lists::observations(world, filter.clone());
    check(
        world,
        number,
        list,
        &all.observations,
        |row| shows_observation(&filter, row, all),
        &format!("{filter:?}"),
    )
    .await;
}

async fn observation_list_matches_random_filters(world: CaseContext) {
    let all = Population::new(&world, 30, 300).await;
    let random = &world.random;
    let people: Vec<_> =
        all.people.iter().map(|person| person.id).chain([EmployeeId::from_bytes([0; 16])]).collect();
    let tags: Vec<_> = all.attributes.iter().map(|attribute| attribute.id).collect();
    for number in 0..COMBINATIONS {
        let filter = observation::Filter {
            employee_id: random.maybe(20, &people),
            manager_id: random.maybe(30, &people[..8]),
            kind: random.maybe(40, &[Type::Strength, Type::Opportunity]),
            archived: *random.pick(&ARCHIVED),
            attribute_ids: (0..random.number_below(4)).filter_map(|_| random.maybe(40, &tags)).collect(),
            observation_date: bounds(&world, 20, day),
            created_at: bounds(&world, 15, instant),
            updated_at: bounds(&world, 15, instant),
            metadata: metadata_filter(&world),
            external_id: random.chance(10).then(|| format!("crm-{}", random.number_below(300))),
        };
        observation_filter(&world, &all, number, filter).await;
    }
}

async fn observation_list_matches_filters_for_each_viewer(world: CaseContext) {
    let all = Population::new(&world, 12, 400).await;
    let random = &world.random;
    let people: Vec<_> = all.people.iter().map(|person| person.id).collect();
    for number in 0..COMBINATIONS * 2 {
        let filter = observation::Filter {
            employee_id: random.maybe(25, &people),
            manager_id: random.maybe(20, &people[..8]),
            kind: random.maybe(20, &[Type::Strength, Type::Opportunity]),
            archived: *random.pick(&ARCHIVED),
            attribute_ids: random.maybe(20, &all.attributes).map(|tag| tag.id).into_iter().collect(),
            metadata: metadata_filter(&world),
            external_id: random.chance(10).then(|| format!("crm-{}", random.number_below(400))),
            ..observation::Filter::default()
        };
        let person = *random.pick(&people);
        let viewer = Viewer::Person(person);
        let list = lists::observations_seen_by(&world, filter.clone(), viewer);
        let shows = |stored: &Observation| {
            stored.is_visible_to(viewer, all.is_below(stored.employee_id, person))
                && shows_observation(&filter, stored, &all)
        };
        check(&world, number, list, &all.observations, shows, &format!("{filter:?} {viewer:?}")).await;
    }
}

/// Lists of small and large subtrees, because a store may choose its plan by the number of people below the
/// manager.
async fn observation_list_matches_for_small_and_large_subtrees(world: CaseContext) {
    let all = Population::new(&world, 400, 600).await;
    let by_size = |least: usize, most: usize| {
        let fits = |employee: &&Employee| (least..=most).contains(&all.size_below(employee.id));
        all.people.iter().find(fits).map(|person| person.id)
    };
    let managers = [by_size(0, 0), by_size(1, 1), by_size(2, 20), by_size(30, 200), by_size(399, 399)];
    for manager_id in managers {
        assert!(manager_id.is_some(), "a subtree of every size");
        for archived in [Archived::No, Archived::All] {
            let filter = observation::Filter { manager_id, archived, ..observation::Filter::default() };
            for number in 0..Observation::sorts().count() {
                observation_filter(&world, &all, number, filter.clone()).await;
            }
            let kind = Some(Type::Strength);
            let tags = vec![all.attributes[1].id];
            observation_filter(&world, &all, 0, observation::Filter { kind, attribute_ids: tags, ..filter }).await;
        }
    }
}

async fn observation_list_matches_for_common_and_rare_tags(world: CaseContext) {
    let all = Population::new(&world, 10, 600).await;
    let tag = |number: usize| all.attributes[number].id;
    let none = candor_domain::id::AttributeId::from_bytes([0; 16]);
    let sets = [
        vec![tag(0)],
        vec![tag(3)],
        vec![tag(7)],
        vec![tag(11)],
        vec![none],
        vec![tag(0), tag(1), tag(2)],
        vec![tag(6), tag(7), none],
        vec![tag(1), tag(1)],
    ];
    for (number, attribute_ids) in sets.into_iter().enumerate() {
        for archived in [Archived::No, Archived::Yes, Archived::All] {
            let filter =
                observation::Filter { attribute_ids: attribute_ids.clone(), archived, ..Default::default() };
            observation_filter(&world, &all, number, filter.clone()).await;
            observation_filter(&world, &all, number + 1, filter).await;
        }
    }
}

fn shows_person(filter: &people::Filter, employee: &Employee) -> bool {
    let status = filter.status.statuses().contains(&employee.status);
    let digests = employee.custom_fields.digests();
    status
        && (filter.ids.is_empty() || filter.ids.contains(&employee.id))
        && filter.email.as_ref().is_none_or(|email| employee.email_key() == *email)
        && (filter.roles.is_empty() || filter.roles.contains(&employee.role))
        && filter.manager_id.is_none_or(|id| employee.manager_id == Some(id))
        && filter.department_id.is_none_or(|id| employee.department_id == Some(id))
        && filter.custom.iter().all(|value| digests.contains(&value.digest))
        && filter.external_id.is_none_or_equal(employee.external_id.as_ref())
        && filter.job_title.is_none_or_equal(employee.job_title.as_ref())
        && is_within(filter.updated_at, employee.updated_at)
}

/// Comparison of an optional filter with a value that may be absent.
trait FilterValue<T> {
    fn is_none_or_equal(&self, value: Option<&T>) -> bool;
}

impl<T: PartialEq> FilterValue<T> for Option<T> {
    fn is_none_or_equal(&self, value: Option<&T>) -> bool {
        self.is_none() || self.as_ref() == value
    }
}

fn custom(key: &str, value: u64) -> CustomFields {
    CustomFields([(key.to_owned(), Custom::Number(value.into()))].into())
}

async fn employee_list_matches_random_filters(world: CaseContext) {
    let all = Population::new(&world, 150, 0).await;
    let random = &world.random;
    let statuses = [
        StatusFilter::Active,
        StatusFilter::Deactivated,
        StatusFilter::PendingInvite,
        StatusFilter::All,
        StatusFilter::All,
    ];
    let managers: Vec<_> =
        all.people.iter().take(6).map(|person| person.id).chain([EmployeeId::from_bytes([0; 16])]).collect();
    let homes: Vec<_> = all
        .departments
        .iter()
        .map(|department| department.id)
        .chain([DepartmentId::from_bytes([0; 16])])
        .collect();
    let emails: Vec<_> = all.people.iter().map(Employee::email_key).chain(["x@example.com".to_owned()]).collect();
    for number in 0..COMBINATIONS * 2 {
        let fields = [
            random.maybe(30, &[1, 2, 3]).map(|value| custom("grade", value)),
            random.maybe(20, &[7, 8]).map(|value| custom("desk", value)),
        ];
        let mut ids: Vec<_> = all.people.iter().map(|person| person.id).filter(|_| random.chance(20)).collect();
        ids.truncate(if random.chance(25) { 100 } else { 0 });
        ids.sort_unstable();
        let filter = people::Filter {
            ids,
            email: random.maybe(10, &emails),
            roles: (0..random.number_below(3))
                .map(|_| *random.pick(&[Role::Employee, Role::Manager, Role::OrgAdmin]))
                .collect(),
            manager_id: random.maybe(25, &managers),
            department_id: random.maybe(25, &homes),
            status: *random.pick(&statuses),
            custom: fields.into_iter().flatten().flat_map(|field| field.filters()).collect(),
            external_id: random.chance(10).then(|| format!("hr-{}", random.number_below(150))),
            job_title: random.maybe(20, &["Engineer".to_owned(), "Nurse".to_owned(), "none".to_owned()]),
            updated_at: bounds(&world, 15, instant),
        };
        let list = lists::employees(&world, filter.clone());
        check(&world, number, list, &all.people, |row| shows_person(&filter, row), &format!("{filter:?}")).await;
    }
}

async fn department_and_attribute_lists_match_random_filters(world: CaseContext) {
    let all = Population::new(&world, 1, 0).await;
    let random = &world.random;
    let department_names: Vec<_> = all.departments.iter().map(Department::name_key).collect();
    let attribute_names: Vec<_> = all.attributes.iter().map(Attribute::name_key).collect();
    for number in 0..COMBINATIONS {
        let filter = department::Filter {
            name: random.maybe(20, &department_names),
            archived: *random.pick(&ARCHIVED),
            updated_at: bounds(&world, 20, instant),
        };
        let shows = |department: &Department| {
            filter.name.as_ref().is_none_or(|name| department.name_key() == *name)
                && is_archived(filter.archived, department.archived_at)
                && is_within(filter.updated_at, department.updated_at)
        };
        let list = lists::departments(&world, filter.clone());
        check(&world, number, list, &all.departments, shows, &format!("{filter:?}")).await;

        let filter = attribute::Filter {
            name: random.maybe(20, &attribute_names),
            category: random.maybe(40, &["Craft".to_owned(), "craft".to_owned(), "none".to_owned()]),
            tones: (0..random.number_below(3))
                .map(|_| *random.pick(&[Tone::Positive, Tone::Constructive]))
                .collect(),
            archived: *random.pick(&ARCHIVED),
            updated_at: bounds(&world, 20, instant),
        };
        let shows = |attribute: &Attribute| {
            filter.name.as_ref().is_none_or(|name| attribute.name_key() == *name)
                && filter.category.as_ref().is_none_or(|category| attribute.category == *category)
                && (filter.tones.is_empty() || filter.tones.contains(&attribute.tone))
                && is_archived(filter.archived, attribute.archived_at)
                && is_within(filter.updated_at, attribute.updated_at)
        };
        let list = lists::attributes(&world, filter.clone());
        check(&world, number, list, &all.attributes, shows, &format!("{filter:?}")).await;
    }
}

fn audit_entry(world: &CaseContext) -> AuditEntry {
    let random = &world.random;
    let kind = *random.pick(&[ActorKind::ApiKey, ActorKind::Employee, ActorKind::Connector, ActorKind::System]);
    let actor = Actor {
        kind,
        id: random.maybe(70, &["key_1".to_owned(), "key_2".to_owned()]),
        name: "Somebody".to_owned(),
    };
    let action = random.pick(&["employee.create", "employee.update", "observation.create"]);
    let target = random.pick(&["emp_1", "emp_2", "obs_1"]);
    AuditEntry { actor, occurred_at: instant(world), ..world.make.audit(action, target) }
}

async fn audit_log_matches_random_filters(world: CaseContext) {
    let random = &world.random;
    let entries: Vec<_> = (0..120).map(|_| audit_entry(&world)).collect();
    for batch in entries.chunks(30) {
        let change =
            ChangeSet { audit: batch[0].clone(), more_audit: batch[1..].to_vec(), ..world.make.change(vec![]) };
        world.commit(change).await.unwrap();
    }
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let (targets, actors) = (texts(&["emp_1", "obs_1", "obs_9"]), texts(&["key_1", "key_9"]));
    let actions = texts(&["employee.create", "employee.update", "none"]);
    for number in 0..COMBINATIONS {
        let filter = audit::Filter {
            target_id: random.maybe(40, &targets),
            actor_id: random.maybe(40, &actors),
            actions: (0..random.number_below(3)).map(|_| random.pick(&actions).clone()).collect(),
            occurred_at: bounds(&world, 30, instant),
        };
        let shows = |audit_entry: &AuditEntry| {
            filter.target_id.as_ref().is_none_or(|id| audit_entry.target.id == *id)
                && filter.actor_id.is_none_or_equal(audit_entry.actor.id.as_ref())
                && (filter.actions.is_empty() || filter.actions.contains(&audit_entry.action))
                && is_within(filter.occurred_at, audit_entry.occurred_at)
        };
        let list = lists::audit_log(&world, filter.clone());
        check(&world, number, list, &entries, shows, &format!("{filter:?}")).await;
    }
}

//! Lists of visible objectives, objectives that are due to start, organization admins, and notifications (§4.2,
//! decisions B5, C3, G).

use candor_domain::fields::StringEnum;
use candor_domain::id::{EmployeeId, ObjectiveId};
use candor_domain::notification::{self, MAX_READ_AT_ONCE, Notification};
use candor_domain::objective::{Confidence, ConfidenceFilter, Filter, Objective, Scope, Status};
use candor_domain::page::{Sort, SortBy, Sortable};
use candor_domain::params::Bounds;
use candor_domain::people::{self, Employee, Role};
use candor_domain::time::Date;
use candor_domain::visibility::{RestrictedResource, Viewer};
use candor_port_storage::{ChangeSet, CommitError, Row, StorageExt, Version, Versioned, Write};
use candor_tables::rows;

use super::lists;
use super::population::{Population, day, external_id, instant, is_within, matches, metadata, metadata_filter};
use crate::Case;
use crate::fixtures::joins;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(objective_list_matches_filters_and_visibility),
        Case::new(objective_list_is_walked_in_every_order),
        Case::new(due_objectives_are_found_in_every_tenant),
        Case::new(active_org_admins_are_found),
        Case::new(notification_is_saved_with_its_change_or_not_at_all),
        Case::new(notification_list_matches_filters_in_every_order),
        Case::new(read_all_marks_all_notifications_of_one_person),
        Case::new(read_all_marks_the_oldest_thousand),
        Case::new(objectives_and_notifications_belong_to_one_tenant),
    ]
}

const SCOPES: [&[Scope]; 6] = [
    &[Scope::Employee],
    &[Scope::Manager, Scope::Org],
    &[Scope::Manager],
    &[Scope::Org],
    &[Scope::Employee, Scope::Manager, Scope::Org],
    &[],
];
pub(super) const PARENTS: [ObjectiveId; 2] = [ObjectiveId::from_bytes([1; 16]), ObjectiveId::from_bytes([2; 16])];
const OPEN: [Status; 5] =
    [Status::Proposed, Status::Approved, Status::InProgress, Status::Completed, Status::Missed];

fn every_status() -> Vec<Status> {
    [&OPEN[..], &[Status::Archived]].concat()
}

pub(super) fn everything() -> Filter {
    Filter::of_everyone(&every_status())
}

async fn populate(world: &CaseContext, count: usize) -> (Population, Vec<Objective>) {
    let all = Population::new(world, 40, 0).await;
    let objectives: Vec<_> = (0..count)
        .map(|number| Objective {
            scope: *world.random.pick(SCOPES[4]),
            status: *world.random.pick(&every_status()),
            period_start: day(world),
            period_end: day(world),
            created_at: instant(world),
            updated_at: instant(world),
            submitted_at: world.random.chance(50).then(|| instant(world)),
            confidence: world.random.maybe(60, Confidence::ALL),
            last_check_in_at: world.random.chance(50).then(|| instant(world)),
            parent_id: world.random.maybe(40, &PARENTS),
            metadata: metadata(world),
            external_id: external_id(world, number),
            ..world.make.objective(world.random.pick(&all.people).id)
        })
        .collect();
    for batch in objectives.chunks(50) {
        world.save(batch.iter().map(|batch| Write::put(&Row::new(batch.clone()))).collect()).await;
    }
    (all, objectives)
}

fn shows(filter: &Filter, viewer: Viewer, objective: &Objective, all: &Population) -> bool {
    let is_report = viewer.person().is_some_and(|person| all.is_below(objective.owner_id, person));
    filter.scopes.contains(&objective.scope)
        && filter.statuses.contains(&objective.status)
        && (!filter.in_review || objective.submitted_at.is_some())
        && filter.owner_id.is_none_or(|id| objective.owner_id == id)
        && is_within(filter.period_start, objective.period_start)
        && is_within(filter.period_end, objective.period_end)
        && is_within(filter.updated_at, objective.updated_at)
        && (filter.confidences.is_empty() || filter.confidences.contains(&objective.confidence.into()))
        && is_within(filter.last_check_in_at, objective.checked_in_at())
        && filter.parent_id.is_none_or(|id| objective.parent_id == Some(id))
        && matches((&filter.metadata, &filter.external_id), &objective.metadata, &objective.external_id)
        && objective.is_visible_to(viewer, is_report)
}

fn bounds<T: Ord>(world: &CaseContext, a: T, b: T) -> Bounds<T> {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    let some = |value| world.random.chance(20).then_some(value);
    Bounds { gte: some(low), lte: some(high) }
}

async fn objective_list_matches_filters_and_visibility(world: CaseContext) {
    let (all, objectives) = populate(&world, 250).await;
    let random = &world.random;
    let people: Vec<_> =
        all.people.iter().map(|person| person.id).chain([EmployeeId::from_bytes([0; 16])]).collect();
    for number in 0..90 {
        let few: Vec<_> = every_status().into_iter().filter(|_| random.chance(40)).collect();
        let filter = Filter {
            scopes: random.pick(&SCOPES).to_vec(),
            owner_id: random.maybe(20, &people),
            statuses: random.pick(&[OPEN.to_vec(), every_status(), few]).clone(),
            in_review: random.chance(20),
            period_start: bounds(&world, day(&world), day(&world)),
            period_end: bounds(&world, day(&world), day(&world)),
            updated_at: bounds(&world, instant(&world), instant(&world)),
            confidences: ConfidenceFilter::ALL.iter().copied().filter(|_| random.chance(20)).collect(),
            last_check_in_at: bounds(&world, instant(&world), instant(&world)),
            parent_id: random.maybe(20, &PARENTS),
            metadata: metadata_filter(&world),
            external_id: random.chance(10).then(|| format!("crm-{}", random.number_below(250))),
        };
        // The first people have large subtrees; the last ones have no reports.
        let viewer = random.maybe(60, &people).map_or(Viewer::Everything, Viewer::Person);
        let list = lists::objectives(&world, filter.clone(), viewer);
        let sorts: Vec<_> = Objective::sorts().collect();
        let sort = sorts[number % sorts.len()].1;
        let limit = *random.pick(&[3, 20, 100]);
        let is_expected = |objective: &Objective| shows(&filter, viewer, objective, &all);
        list.must_show(sort, limit, &objectives, is_expected, &format!("{filter:?} {viewer:?}")).await;
    }
}

async fn objective_list_is_walked_in_every_order(world: CaseContext) {
    let (all, objectives) = populate(&world, 80).await;
    for viewer in [Viewer::Everything, Viewer::Person(all.people[0].id), Viewer::Person(all.people[2].id)] {
        let list = lists::objectives(&world, everything(), viewer);
        for (_, sort) in Objective::sorts() {
            for limit in [2, 7] {
                let is_expected = |objective: &Objective| shows(&everything(), viewer, objective, &all);
                list.must_show(sort, limit, &objectives, is_expected, &format!("{viewer:?}")).await;
            }
        }
    }
}

async fn due_objectives_are_found_in_every_tenant(world: CaseContext) {
    let today = Date::from_epoch_days(20_000);
    let mut expected_objectives = Vec::new();
    for it in [world.clone(), world.in_other_tenant(), world.test_environment()] {
        let owner = it.hire().await;
        for (days, status, held_back) in [
            (0, Status::Approved, false),
            (-1, Status::Approved, false),
            (-400, Status::Approved, false),
            (1, Status::Approved, false),
            (-1, Status::Approved, true),
            (-1, Status::Proposed, false),
            (-1, Status::InProgress, false),
            (-1, Status::Archived, false),
        ] {
            let period_start = Date::from_epoch_days(20_000 + days);
            let objective = Objective { period_start, status, held_back, ..it.make.objective(owner.id) };
            it.save(vec![Write::put(&Row::new(objective.clone()))]).await;
            if objective.starts_on().is_some_and(|day| day <= today) {
                expected_objectives.push((it.tenant, Versioned { value: objective, version: Version::FIRST }));
            }
        }
    }
    let place =
        |row: &(candor_domain::access::Tenant, Versioned<Objective>)| (row.1.value.period_start, row.1.value.id);
    let mut due_objectives = world.store.due(rows::objectives::STARTS_ON, today, 100).await.unwrap();
    assert!(due_objectives.is_sorted_by_key(|row| row.1.value.period_start), "the longest due first");
    due_objectives.sort_by_key(place);
    expected_objectives.sort_by_key(place);
    assert_eq!(due_objectives, expected_objectives);
    let first = world.store.due(rows::objectives::STARTS_ON, today, 2).await.unwrap();
    let oldest = Date::from_epoch_days(20_000 - 400);
    assert_eq!(first.iter().map(|row| row.1.value.period_start).collect::<Vec<_>>(), [oldest, oldest]);
    // A started objective is no longer due.
    let (tenant, seen) = first[0].clone();
    let active_objective = Objective { status: Status::InProgress, ..seen.value };
    let change = world.make.change(vec![Write::put(&Row::at_version(active_objective, seen.version))]);
    world.store.commit(tenant, change).await.unwrap();
    assert_eq!(
        world.store.due(rows::objectives::STARTS_ON, today, 100).await.unwrap().len(),
        expected_objectives.len() - 1
    );
}

async fn active_org_admins_are_found(world: CaseContext) {
    let mut admins = Vec::new();
    for role in [Role::OrgAdmin, Role::Manager, Role::Employee, Role::OrgAdmin] {
        for status in [people::Status::Active, people::Status::Deactivated, people::Status::PendingInvite] {
            let it = world.add_employee(Employee { role, status, ..world.make.employee() }).await;
            if role == Role::OrgAdmin && status == people::Status::Active {
                admins.push(it.id);
            }
        }
    }
    assert_eq!(org_admins(&world, 9).await, admins);
    assert_eq!(org_admins(&world, 1).await, admins[..1]);
    for other in [world.in_other_tenant(), world.test_environment()] {
        assert_eq!(org_admins(&other, 9).await, []);
    }
}

fn change_with_notices(world: &CaseContext, notices: Vec<Notification>, writes: Vec<Write>) -> ChangeSet {
    ChangeSet { notices, ..world.make.change(writes) }
}

async fn org_admins(world: &CaseContext, most: u16) -> Vec<EmployeeId> {
    let people = world.store.entries(world.tenant, rows::employees::org_admins(most)).await.unwrap();
    people.into_iter().map(|person| person.value.id).collect()
}

async fn notification_is_saved_with_its_change_or_not_at_all(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let person = world.hire().await;
    let full = Notification {
        kind: notification::Type::ObjectiveRejected,
        title: "'sent' back".to_owned(),
        body: "👍\n\"because\"".to_owned(),
        ..make.notification(person.id)
    };
    let other = make.notification(person.id);
    let stale = vec![Write::employee(&Row::at_version(person.clone(), Version(5)), None)];
    let result = world.commit(change_with_notices(&world, vec![full.clone()], stale)).await;
    assert!(matches!(result, Err(CommitError::Stale)), "{result:?}");
    assert_eq!(store.row::<Notification>(*tenant, full.id).await.unwrap(), None);
    world.commit(change_with_notices(&world, vec![full.clone(), other.clone()], vec![])).await.unwrap();
    for it in [full.clone(), other] {
        let stored_row = store.row::<Notification>(*tenant, it.id).await.unwrap();
        assert_eq!(stored_row, Some(Versioned { value: it, version: Version::FIRST }));
    }
    let read = full.read(make.tick()).unwrap();
    world.save(vec![Write::put(&Row::at_version(read.clone(), Version::FIRST))]).await;
    let full_row = store.row::<Notification>(*tenant, full.id).await.unwrap();
    assert_eq!(full_row, Some(Versioned { value: read, version: Version(2) }));
    let nobody = vec![make.notification(make.id())];
    let result = world.commit(change_with_notices(&world, nobody, vec![])).await;
    assert!(matches!(result, Err(CommitError::Missing)), "{result:?}");
}

async fn notification_list_matches_filters_in_every_order(world: CaseContext) {
    let people = [world.make.employee(), world.make.employee(), world.make.employee()];
    world.save(people.iter().cloned().map(joins).collect()).await;
    let all: Vec<_> = (0..60)
        .map(|_| Notification {
            created_at: instant(&world),
            read_at: world.random.chance(40).then(|| instant(&world)),
            ..world.make.notification(people[world.random.number_below(2)].id)
        })
        .collect();
    world.commit(change_with_notices(&world, all.clone(), vec![])).await.unwrap();
    for recipient_id in [None, Some(people[0].id), Some(people[1].id), Some(people[2].id)] {
        for unread in [None, Some(true), Some(false)] {
            let filter = notification::Filter { recipient_id, unread };
            let is_expected = |notification: &Notification| {
                recipient_id.is_none_or(|id| notification.recipient_id == id)
                    && unread.is_none_or(|unread| unread == notification.read_at.is_none())
            };
            let list = lists::notifications(&world, filter.clone());
            for (_, sort) in Notification::sorts() {
                list.must_show(sort, 7, &all, is_expected, &format!("{filter:?}")).await;
            }
        }
    }
}

async fn read_all_marks_all_notifications_of_one_person(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let (one, two) = (world.hire().await, world.hire().await);
    let first_time = make.tick();
    let read = Notification { read_at: Some(first_time), ..make.notification(one.id) };
    let all = vec![make.notification(one.id), make.notification(two.id), read.clone(), make.notification(one.id)];
    world.commit(change_with_notices(&world, all.clone(), vec![])).await.unwrap();
    let read_time = make.tick();
    let stale = vec![
        Write::NotificationsRead(one.id, read_time),
        Write::employee(&Row::at_version(one.clone(), Version(5)), None),
    ];
    assert!(matches!(world.commit(make.change(stale)).await, Err(CommitError::Stale)));
    let list = lists::notifications(&world, notification::Filter::default());
    let sort = Sort::ascending_by(SortBy::CreatedAt);
    assert_eq!(
        list.walk(sort, 9).await,
        crate::sort_entries(all.clone(), sort, list.id),
        "a stale change marks nothing"
    );
    world.save(vec![Write::NotificationsRead(one.id, read_time)]).await;
    let notices_after = all.into_iter().map(|notice| {
        let is_sent_to_one = notice.recipient_id == one.id;
        Notification { read_at: notice.read_at.or(is_sent_to_one.then_some(read_time)), ..notice }
    });
    let sorted_notices = crate::sort_entries(notices_after.collect(), sort, list.id);
    assert_eq!(list.walk(sort, 9).await, sorted_notices);
    let unread = notification::Filter { unread: Some(true), ..Default::default() };
    let unread_notices = lists::notifications(&world, unread).walk(sort, 9).await;
    assert_eq!(
        unread_notices.iter().map(|notice| notice.recipient_id).collect::<Vec<_>>(),
        [two.id],
        "marked ones are no longer unread"
    );
}

async fn read_all_marks_the_oldest_thousand(world: CaseContext) {
    let CaseContext { make, .. } = &world;
    let person = world.hire().await;
    let most = usize::from(MAX_READ_AT_ONCE);
    let filter = notification::Filter { recipient_id: Some(person.id), unread: Some(true) };
    let (unread, sort) = (lists::notifications(&world, filter), Sort::ascending_by(SortBy::CreatedAt));
    let all = (0..most + 3).map(|_| make.notification(person.id)).collect();
    let all = crate::sort_entries(all, sort, unread.id);
    for piece in all.chunks(100) {
        world.commit(change_with_notices(&world, piece.to_vec(), vec![])).await.unwrap();
    }
    for left in [&all[most..], &[]] {
        world.save(vec![Write::NotificationsRead(person.id, make.tick())]).await;
        assert_eq!(unread.walk(sort, 9).await, left);
    }
}

async fn objectives_and_notifications_belong_to_one_tenant(world: CaseContext) {
    let owner = world.hire().await;
    let (objective, notice) = (world.make.objective(owner.id), world.make.notification(owner.id));
    let writes = vec![Write::put(&Row::new(objective.clone()))];
    world.commit(change_with_notices(&world, vec![notice.clone()], writes)).await.unwrap();
    for other in [world.in_other_tenant(), world.test_environment()] {
        let (store, tenant) = (&other.store, other.tenant);
        assert_eq!(store.row::<Objective>(tenant, objective.id).await.unwrap(), None);
        assert_eq!(store.row::<Notification>(tenant, notice.id).await.unwrap(), None);
        let sort = Sort::ascending_by(SortBy::CreatedAt);
        for viewer in [Viewer::Everything, Viewer::Person(owner.id)] {
            assert_eq!(lists::objectives(&other, everything(), viewer).walk(sort, 9).await, []);
        }
        assert_eq!(lists::notifications(&other, notification::Filter::default()).walk(sort, 9).await, []);
        other.save(vec![Write::NotificationsRead(owner.id, other.make.tick())]).await;
        for write in [
            Write::put(&Row::at_version(objective.clone(), Version::FIRST)),
            Write::put(&Row::at_version(notice.clone(), Version::FIRST)),
            Write::put(&Row::new(other.make.objective(owner.id))),
        ] {
            let result = other.try_save(write).await;
            assert!(matches!(result, Err(CommitError::Stale | CommitError::Missing)), "{result:?}");
        }
    }
    let stored_row = world.store.row::<Notification>(world.tenant, notice.id).await.unwrap();
    assert_eq!(stored_row, Some(Versioned { value: notice, version: Version::FIRST }));
}

//! Links, issues and requests of identity providers.

use std::collections::BTreeMap;

use candor_domain::id::{ConnectorId, EmployeeId};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::people::{Employee, Status};
use candor_domain::time::Timestamp;
use candor_port_storage::provisioning::{PeoplePage, PeopleStart, VisiblePeople};
use candor_port_storage::{CommitError, Row, StorageExt, Unique, Version, Versioned, Write};
use candor_provisioning::Connector;
use candor_provisioning::connector::{
    BrakeCount, ConnectorFigures, IssueDraft, IssueFilter, IssueKind, KEPT_REQUESTS, LinkedPeople, Resolved,
    ScimLink, ScimRequest, SyncIssue,
};
use candor_provisioning::is_visible;
use candor_tables::rows::{employees, scim_requests, scim_users, sync_issues};

use crate::Case;
use crate::fixtures::joins;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(link_round_trips_and_is_found_by_its_keys),
        Case::new(taken_link_value_refuses_the_person_as_well),
        Case::new(provider_sees_its_own_and_unmanaged_people),
        Case::new(linked_people_are_counted_at_a_time_and_now),
        Case::new(brake_count_round_trips_and_has_a_version),
        Case::new(open_issue_is_unique_and_counts_occurrences),
        Case::new(request_log_keeps_the_newest),
        Case::new(figures_count_one_connector_of_one_tenant),
    ]
}

const PAGE: PageRequest = PageRequest { limit: 100, after: None };

/// Saves a connector in the tenant and returns its id.
async fn connector(world: &CaseContext) -> ConnectorId {
    let connector = world.make.connector();
    world.save(vec![Write::put(&Row::new(connector.clone()))]).await;
    connector.id
}

fn link(world: &CaseContext, id: EmployeeId, connector_id: ConnectorId) -> ScimLink {
    world.make.scim_link(id, connector_id)
}

/// Adds a person that the connector manages, with a link.
async fn add_linked_person(
    world: &CaseContext,
    connector: ConnectorId,
    change: impl FnOnce(&mut ScimLink),
) -> Employee {
    let person = Employee {
        connector_id: Some(connector),
        is_hris_managed: true,
        hris_source: "okta".to_owned(),
        ..world.make.employee()
    };
    let mut link = link(world, person.id, connector);
    change(&mut link);
    world.save(vec![joins(person.clone()), Write::put(&Row::new(link))]).await;
    person
}

async fn link_round_trips_and_is_found_by_its_keys(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let (connector, other) = (connector(&world).await, connector(&world).await);
    let person = world.hire().await;
    let removed_link = ScimLink {
        manager_ref: Some("Boss@Example.com".to_owned()),
        deactivated_at: Some(make.tick()),
        removed_at: Some(make.tick()),
        ..link(&world, person.id, connector)
    };
    world.save(vec![Write::put(&Row::new(removed_link.clone()))]).await;
    let stored_row = Some(Versioned { value: removed_link.clone(), version: Version::FIRST });
    assert_eq!(store.row::<ScimLink>(*tenant, person.id).await.unwrap(), stored_row);
    let by_name = |connector| {
        let key = ScimLink::user_name_key(connector, &removed_link.user_name.to_uppercase());
        store.id_by(*tenant, scim_users::BY_USER_NAME, key)
    };
    assert_eq!(by_name(connector).await.unwrap(), Some(person.id));
    assert_eq!(by_name(other).await.unwrap(), None);
    let by_external =
        |text: &str| store.id_by(*tenant, scim_users::BY_EXTERNAL_ID, ScimLink::external_key(connector, text));
    let external_id = removed_link.external_id.clone().unwrap();
    assert_eq!(by_external(&external_id).await.unwrap(), Some(person.id));
    assert_eq!(by_external(&external_id.to_uppercase()).await.unwrap(), None);
    let waiting = async |text: &str| {
        let key = ScimLink::manager_key(connector, text);
        let links = store.entries(*tenant, scim_users::waiting_for(vec![key], 10)).await.unwrap();
        links.into_iter().map(|row| row.value.id).collect::<Vec<_>>()
    };
    assert_eq!(waiting("boss@example.com").await, [person.id]);
    assert_eq!(waiting("x").await, []);
    // A later link of the person replaces the first one, also with another connector.
    let other_link = ScimLink { manager_ref: None, removed_at: None, ..link(&world, person.id, other) };
    world.save(vec![Write::put(&Row::at_version(other_link, Version::FIRST))]).await;
    assert_eq!(by_name(connector).await.unwrap(), None);
    assert_eq!(waiting("boss@example.com").await, []);
}

async fn taken_link_value_refuses_the_person_as_well(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let (connector, other) = (connector(&world).await, connector(&world).await);
    let holder = add_linked_person(&world, connector, |link| {
        link.user_name = "Ada".to_owned();
        link.external_id = Some("00u".to_owned());
        link.removed_at = Some(link.linked_at);
    })
    .await;
    let table = [
        ("ADA", "01u", connector, Some(Unique::ScimUserName)),
        ("Bob", "00u", connector, Some(Unique::ScimExternalId)),
        ("Bob", "00U", connector, None),
        ("ada", "00u", other, None),
    ];
    for (user_name, external_id, connector, taken) in table {
        let person = make.employee();
        let link = ScimLink {
            user_name: user_name.to_owned(),
            external_id: Some(external_id.to_owned()),
            ..link(&world, person.id, connector)
        };
        let change = || make.change(vec![joins(person.clone()), Write::put(&Row::new(link.clone()))]);
        for result in [store.check(*tenant, &change()).await, world.commit(change()).await] {
            let taken_unique = match &result {
                Err(CommitError::Taken(unique)) => Some(*unique),
                other => other.is_err().then_some(Unique::Id),
            };
            assert_eq!(taken_unique, taken, "{user_name} {external_id}: {result:?}");
        }
        let is_saved = store.row::<Employee>(*tenant, person.id).await.unwrap().is_some();
        assert_eq!(is_saved, taken.is_none(), "{user_name} {external_id}");
    }
    let nobody = link(&world, make.id(), connector);
    let result = world.try_save(Write::put(&Row::new(nobody))).await;
    assert!(matches!(result, Err(CommitError::Missing)), "a link of an unknown person: {result:?}");
    assert_eq!(store.row::<ScimLink>(*tenant, holder.id).await.unwrap().unwrap().version, Version::FIRST);
}

async fn provider_sees_its_own_and_unmanaged_people(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let (connector, other) = (connector(&world).await, connector(&world).await);
    let boss = world.hire().await;
    let mine = add_linked_person(&world, connector, |_| ()).await;
    add_linked_person(&world, connector, |link| link.removed_at = Some(link.linked_at)).await;
    add_linked_person(&world, other, |_| ()).await;
    let person_who_left =
        Employee { status: Status::Deactivated, deactivated_at: Some(make.tick()), ..make.employee() };
    let former_employee = world.add_employee(person_who_left).await;
    let report = world.hired_below(boss.id).await;
    let elsewhere = world.in_other_tenant();
    add_linked_person(&elsewhere, self::connector(&elsewhere).await, |_| ()).await;
    elsewhere.hire().await;
    let all = [boss.id, mine.id, former_employee.id, report.id];
    let query = VisiblePeople { connector, active: None, manager: None, start: PeopleStart::Skip(0), limit: 100 };
    let page = async |query: VisiblePeople| store.visible_people(*tenant, &query).await.unwrap();
    assert_eq!(page(query).await, PeoplePage { ids: all.to_vec(), total: Some(4) });
    let second = VisiblePeople { start: PeopleStart::Skip(1), limit: 2, ..query };
    assert_eq!(page(second).await, PeoplePage { ids: all[1..3].to_vec(), total: Some(4) });
    let none = VisiblePeople { limit: 0, ..query };
    assert_eq!(page(none).await, PeoplePage { ids: vec![], total: Some(4) });
    let query_beyond_end = VisiblePeople { start: PeopleStart::Skip(9), ..query };
    assert_eq!(page(query_beyond_end).await, PeoplePage { ids: vec![], total: Some(4) });
    let query_after = VisiblePeople { start: PeopleStart::After(mine.id), limit: 1, ..query };
    assert_eq!(page(query_after).await, PeoplePage { ids: vec![former_employee.id], total: None });
    let inactive = VisiblePeople { active: Some(false), ..query };
    assert_eq!(page(inactive).await, PeoplePage { ids: vec![former_employee.id], total: Some(1) });
    let active = VisiblePeople { active: Some(true), start: PeopleStart::After(boss.id), ..query };
    assert_eq!(page(active).await, PeoplePage { ids: vec![mine.id, report.id], total: None });
    let reports = VisiblePeople { manager: Some(boss.id), ..query };
    assert_eq!(page(reports).await, PeoplePage { ids: vec![report.id], total: Some(1) });
    // The query selects the people that the domain declares visible.
    let people = store.entries(*tenant, employees::managed_by(connector, None, 10)).await.unwrap();
    let people: Vec<_> = people
        .into_iter()
        .map(|row| row.value)
        .chain([boss.clone(), former_employee.clone(), report.clone()])
        .collect();
    let ids: Vec<_> = people.iter().map(|person| person.id).collect();
    let links = store.rows::<ScimLink>(*tenant, &ids).await.unwrap();
    let link = |id| links.iter().map(|row| &row.value).find(|link| link.id == id);
    let mut visible_people: Vec<_> =
        people.iter().filter(|person| is_visible(person, link(person.id), connector)).collect();
    visible_people.sort_by_key(|person| person.id);
    assert_eq!(visible_people.iter().map(|person| person.id).collect::<Vec<_>>(), all);
    assert!(people.len() > all.len(), "a removed link hides its person");
}

async fn linked_people_are_counted_at_a_time_and_now(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let (connector, other) = (connector(&world).await, connector(&world).await);
    let mut people = vec![];
    for _ in 0..6 {
        people.push(add_linked_person(&world, connector, |_| ()).await.id);
    }
    let start = make.tick();
    let end = async |id: EmployeeId, at: Timestamp| {
        let Versioned { value, version } = store.row::<ScimLink>(*tenant, id).await.unwrap().unwrap();
        world.save(vec![Write::put(&Row::at_version(ScimLink { removed_at: Some(at), ..value }, version))]).await;
    };
    end(people[2], make.tick()).await;
    end(people[3], start).await;
    add_linked_person(&world, connector, |_| ()).await;
    add_linked_person(&world, other, |_| ()).await;
    let people = store.linked_people(*tenant, connector, start).await.unwrap();
    assert_eq!(people, LinkedPeople { at_start: 5, now: 5 });
    let elsewhere = world.in_other_tenant().tenant;
    assert_eq!(store.linked_people(elsewhere, connector, start).await.unwrap(), LinkedPeople::default());
}

async fn brake_count_round_trips_and_has_a_version(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let mut count = BrakeCount::new(make.id());
    world.save(vec![Write::put(&Row::new(count.clone()))]).await;
    let twin = world.try_save(Write::put(&Row::new(count.clone()))).await;
    assert!(matches!(twin, Err(CommitError::Taken(_) | CommitError::Stale)), "{twin:?}");
    count.resumed_at = Some(make.tick());
    count.minutes = BTreeMap::from([(-1, 2), (29_000_000, u32::MAX)]);
    (count.people, count.counted_at) = (u32::MAX, Some(make.tick()));
    world.save(vec![Write::put(&Row::at_version(count.clone(), Version::FIRST))]).await;
    let stale = world.try_save(Write::put(&Row::at_version(count.clone(), Version::FIRST))).await;
    assert!(matches!(stale, Err(CommitError::Stale)), "{stale:?}");
    let stored_row = store.row::<BrakeCount>(*tenant, count.id).await.unwrap();
    assert_eq!(stored_row, Some(Versioned { value: count.clone(), version: Version(2) }));
    assert_eq!(store.row::<BrakeCount>(world.in_other_tenant().tenant, count.id).await.unwrap(), None);
}

fn issue(world: &CaseContext, connector: ConnectorId, kind: IssueKind) -> SyncIssue {
    let draft = IssueDraft {
        kind,
        user_name: Some("ada".to_owned()),
        external_id: None,
        employee_id: None,
        message: "Nobody matches.".to_owned(),
    };
    SyncIssue::open(world.make.id(), connector, draft, world.make.tick())
}

async fn open_issue_is_unique_and_counts_occurrences(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let connector = make.id();
    let (pending, cycle) =
        (issue(&world, connector, IssueKind::ManagerPending), issue(&world, connector, IssueKind::ReportingCycle));
    world.save(vec![Write::put(&Row::new(pending.clone())), Write::put(&Row::new(cycle.clone()))]).await;
    let twin = issue(&world, connector, IssueKind::ManagerPending);
    let result = world.try_save(Write::put(&Row::new(twin.clone()))).await;
    assert!(matches!(result, Err(CommitError::Taken(Unique::OpenIssue))), "{result:?}");
    let key = pending.open_key().unwrap();
    assert_eq!(store.id_by(*tenant, sync_issues::BY_OPEN_KEY, key).await.unwrap(), Some(pending.id));
    let occurrence_time = make.tick();
    assert!(store.repeat_issue(*tenant, pending.id, "Still nobody.", occurrence_time).await.unwrap());
    assert!(store.repeat_issue(*tenant, pending.id, "An older request.", EARLIER).await.unwrap());
    let expected_issue = SyncIssue {
        count: 3,
        message: "An older request.".to_owned(),
        occurred_at: occurrence_time,
        ..pending.clone()
    };
    let row = store.row::<SyncIssue>(*tenant, pending.id).await.unwrap();
    assert_eq!(row, Some(Versioned { value: expected_issue.clone(), version: Version(3) }));
    let resolved_issue = expected_issue.resolve(make.tick()).unwrap();
    world.save(vec![Write::put(&Row::at_version(resolved_issue.clone(), Version(3)))]).await;
    assert!(
        !store.repeat_issue(*tenant, pending.id, "Again.", occurrence_time).await.unwrap(),
        "the issue is resolved"
    );
    assert!(
        !store.repeat_issue(world.in_other_tenant().tenant, cycle.id, "Again.", occurrence_time).await.unwrap()
    );
    world.save(vec![Write::put(&Row::new(twin.clone()))]).await;
    let list = async |filter| {
        let sort = Sort::descending_by(SortBy::OccurredAt);
        let listing = sync_issues::list(connector, &filter, sort, &PAGE);
        let rows = store.entries(*tenant, listing).await.unwrap();
        rows.into_iter().map(|row| row.value).collect::<Vec<_>>()
    };
    let open = IssueFilter::default();
    assert_eq!(list(open).await, [twin.clone(), cycle.clone()]);
    assert_eq!(list(IssueFilter { resolved: Resolved::Yes, ..open }).await, std::slice::from_ref(&resolved_issue));
    let of_kind = IssueFilter { resolved: Resolved::All, kind: Some(IssueKind::ManagerPending) };
    assert_eq!(list(of_kind).await, [resolved_issue, twin]);
}

/// A time before all other times of these cases.
const EARLIER: Timestamp = Timestamp::from_millis(1_000);

fn request(world: &CaseContext, connector_id: ConnectorId) -> ScimRequest {
    ScimRequest {
        id: world.make.id(),
        connector_id,
        occurred_at: world.make.tick(),
        method: "PATCH".to_owned(),
        path: "/scim/v2/Users/emp_1".to_owned(),
        status: 409,
        scim_type: Some("uniqueness".to_owned()),
        duration_ms: 7,
        user_agent: None,
    }
}

async fn request_log_keeps_the_newest(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let [connector, other] = [make.id(), make.id()];
    let kept_count = usize::try_from(KEPT_REQUESTS).unwrap();
    let mut requests: Vec<_> = (0..kept_count + 3).map(|_| request(&world, connector)).collect();
    requests[0].user_agent = Some("Okta \"SCIM\" é".to_owned());
    requests[1].scim_type = None;
    let of_other = request(&world, other);
    store.log_requests(*tenant, other, std::slice::from_ref(&of_other)).await.unwrap();
    store.log_requests(*tenant, connector, &requests[..2]).await.unwrap();
    store.log_requests(*tenant, connector, &[]).await.unwrap();
    let list = async |connector| {
        let page = PageRequest { limit: 1_000, after: None };
        let listing = scim_requests::list(connector, Sort::ascending_by(SortBy::OccurredAt), &page);
        let rows = store.entries(*tenant, listing).await.unwrap();
        rows.into_iter().map(|row| row.value).collect::<Vec<_>>()
    };
    assert_eq!(list(connector).await, requests[..2]);
    // A batch may be sent again after its response was lost.
    store.log_requests(*tenant, connector, &requests[1..9]).await.unwrap();
    assert_eq!(list(connector).await, requests[..9]);
    store.log_requests(*tenant, connector, &requests[9..]).await.unwrap();
    assert_eq!(list(connector).await, requests[3..]);
    assert_eq!(list(other).await, [of_other]);
}

async fn figures_count_one_connector_of_one_tenant(world: CaseContext) {
    let CaseContext { make, store, tenant, .. } = &world;
    let (connector, idle) = (connector(&world).await, connector(&world).await);
    add_linked_person(&world, connector, |_| ()).await;
    let changed_at = make.tick();
    add_linked_person(&world, connector, |link| link.updated_at = changed_at).await;
    add_linked_person(&world, connector, |link| link.updated_at = EARLIER).await;
    let open = issue(&world, connector, IssueKind::ManagerPending);
    let closed_issue = issue(&world, connector, IssueKind::LastAdmin).resolve(make.tick()).unwrap();
    world.save(vec![Write::put(&Row::new(open)), Write::put(&Row::new(closed_issue))]).await;
    let requests = ["first", "newest"]
        .map(|agent| ScimRequest { user_agent: Some(agent.to_owned()), ..request(&world, connector) });
    store.log_requests(*tenant, connector, &requests).await.unwrap();
    let figures = store.connector_figures(*tenant, connector).await.unwrap();
    let expected_figures = ConnectorFigures {
        people: 3,
        open_issues: 1,
        last_change_at: Some(changed_at),
        last_request_at: Some(requests[1].occurred_at),
        user_agent: Some("newest".to_owned()),
    };
    assert_eq!(figures, expected_figures);
    assert_eq!(store.connector_figures(*tenant, idle).await.unwrap(), ConnectorFigures::default());
    let elsewhere = world.test_environment().tenant;
    assert_eq!(store.connector_figures(elsewhere, connector).await.unwrap(), ConnectorFigures::default());
    let connector_row = store.row::<Connector>(*tenant, connector).await.unwrap().unwrap();
    assert_eq!(connector_row.version, Version::FIRST, "figures do not change the connector");
}

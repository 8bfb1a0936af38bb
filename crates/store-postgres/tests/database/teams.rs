//! Lists that are filtered by the people below a manager, for large teams: number of statements and contents of
//! the pages.

use std::collections::HashSet;

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_domain::objective::{Family, Filter, Objective, Scope, Status};
use candor_domain::observation::{self, Observation};
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::params::{Archived, Params};
use candor_domain::people::{Employee, MAX_LINES_AT_ONCE};
use candor_domain::time::Date;
use candor_domain::visibility::Viewer;
use candor_port_storage::Storage;
use candor_port_storage::store::People;
use candor_port_storage::{CommitError, ReportingLineChange, Row, StorageExt, Version, Write};
use candor_store_postgres::PostgresStore;
use candor_store_testkit::fixtures::joins;
use candor_store_testkit::{Fixtures, Random, sort_entries, walk};
use candor_tables::rows;
use candor_test_postgres::TestDatabase;
use tracing::subscriber::set_default;

use crate::statements::SentStatements;
use crate::support;

/// Number of people who report to a lead, and so indirectly to the boss.
const INDIRECT: usize = 2_000;
const LEADS: usize = 20;
const OTHERS: usize = 600;

/// A boss with a team of thousands, and rows about every person.
struct Company {
    store: PostgresStore,
    make: Fixtures,
    random: Random,
    tenant: Tenant,
    boss: EmployeeId,
    leads: Vec<Employee>,
    team: HashSet<EmployeeId>,
    everybody: Vec<EmployeeId>,
}

impl Company {
    async fn new(database: &TestDatabase) -> Self {
        let store = support::store(database, None).await;
        let (make, random) = (Fixtures::new(1), Random::new(1));
        let tenant = make.tenant();
        let boss = make.employee();
        let employee_under = |manager: EmployeeId| Employee { manager_id: Some(manager), ..make.employee() };
        let leads: Vec<_> = (0..LEADS).map(|_| employee_under(boss.id)).collect();
        let members: Vec<_> = (0..INDIRECT).map(|number| employee_under(leads[number % LEADS].id)).collect();
        let others: Vec<_> = (0..OTHERS).map(|_| make.employee()).collect();
        let team = leads.iter().chain(&members).map(|person| person.id).collect();
        let people = || std::iter::once(&boss).chain(&leads).chain(&members).chain(&others);
        let (id, everybody, all) =
            (boss.id, people().map(|person| person.id).collect(), people().cloned().collect::<Vec<_>>());
        let company = Self { store, make, random, tenant, boss: id, leads, team, everybody };
        company.save(all.into_iter().map(joins).collect()).await;
        // Autovacuum would do this after a while.
        support::client(database.url()).await.batch_execute("ANALYZE").await.unwrap();
        company
    }

    async fn save(&self, writes: Vec<Write>) {
        for some in writes.chunks(500) {
            self.store.commit(self.tenant, self.make.change(some.to_vec())).await.unwrap();
        }
    }

    fn day(&self) -> Date {
        Date::from_epoch_days(20_000 + i32::try_from(self.random.number_below(40)).unwrap())
    }

    async fn objectives(&self, count: usize) -> Vec<Objective> {
        let one = |_| Objective {
            scope: *self.random.pick(&[Scope::Employee, Scope::Employee, Scope::Manager, Scope::Org]),
            status: *self.random.pick(&[Status::Proposed, Status::Approved, Status::Archived]),
            period_end: self.day(),
            ..self.make.objective(*self.random.pick(&self.everybody))
        };
        let objectives: Vec<_> = (0..count).map(one).collect();
        self.save(objectives.iter().map(|objective| Write::put(&Row::new(objective.clone()))).collect()).await;
        objectives
    }

    async fn observations(&self, count: usize) -> Vec<Observation> {
        let one = |_| {
            let now = self.make.tick();
            Observation {
                observation_date: self.day(),
                archived_at: self.random.chance(20).then_some(now),
                ..self.make.observation(*self.random.pick(&self.everybody))
            }
        };
        let observations: Vec<_> = (0..count).map(one).collect();
        self.save(observations.iter().map(|observation| Write::put(&Row::new(observation.clone()))).collect())
            .await;
        observations
    }

    async fn first_page(&self, family: Family) -> Vec<Objective> {
        let request = Params::new(vec![]).parse(|params| Filter::read(family, params)).unwrap();
        let page = PageRequest { limit: 50, after: None };
        let viewer = Viewer::Person(self.boss);
        self.store
            .page(self.tenant, rows::objectives::list(&request.filter, viewer, request.sort, &page))
            .await
            .unwrap()
            .items
    }
}

#[tokio::test]
async fn list_for_two_thousand_reports_takes_two_statements() {
    let Some(database) = support::database() else { return };
    let company = Company::new(&database).await;
    company.objectives(1_000).await;
    let statements = SentStatements::default();
    let _counting = set_default(statements.clone());
    // One statement counts, one reads. The first list of managers also opens a connection for slow reads, which
    // queries the language of the server's messages.
    let table = [(Family::Employees, 2), (Family::Employees, 2), (Family::Managers, 3), (Family::Managers, 2)];
    for (family, most) in table {
        assert_eq!(company.first_page(family).await.len(), 50);
        assert_eq!(statements.take().len(), most, "{family:?}");
    }
}

#[tokio::test]
async fn move_with_too_many_lines_is_refused() {
    let Some(database) = support::database() else { return };
    let company = Company::new(&database).await;
    let boss = company.store.row::<Employee>(company.tenant, company.boss).await.unwrap().unwrap();
    let mut managers_above = vec![company.make.employee()];
    for _ in 1..=MAX_LINES_AT_ONCE as usize / (company.team.len() + 1) {
        let manager_id = managers_above.last().map(|manager| manager.id);
        managers_above.push(Employee { manager_id, ..company.make.employee() });
    }
    company.save(managers_above.iter().cloned().map(joins).collect()).await;
    let result_of_move = async |manager: &Employee| {
        let state = Employee { manager_id: Some(manager.id), ..boss.value.clone() };
        let tree = company.store.read_reporting(company.tenant, boss.value.id, manager.id).await.unwrap().tree;
        let lines = ReportingLineChange { seen: Some(tree) };
        let write = Write::employee(&Row::at_version(state, boss.version), Some(lines));
        company.store.commit(company.tenant, company.make.change(vec![write])).await.map(drop)
    };
    let [.., highest_allowed, too_low] = managers_above.as_slice() else { panic!("two managers") };
    let refusal = result_of_move(too_low).await;
    assert!(matches!(refusal, Err(CommitError::TooWide)), "{refusal:?}");
    let below_before = company.store.people_below(company.tenant, managers_above[0].id).await.unwrap().len();
    assert_eq!(below_before, managers_above.len() - 1);
    result_of_move(highest_allowed).await.unwrap();
    let below_after = company.store.people_below(company.tenant, managers_above[0].id).await.unwrap().len();
    assert_eq!(below_after, below_before + 1 + company.team.len());
}

#[tokio::test]
async fn objective_walk_of_a_large_team_is_complete_and_ordered() {
    let Some(database) = support::database() else { return };
    let company = Company::new(&database).await;
    let objectives = company.objectives(900).await;
    let every: Vec<_> = [Status::Proposed, Status::Approved, Status::Archived].to_vec();
    for (family, statuses) in
        [(Family::Employees, None), (Family::Managers, None), (Family::Managers, Some(every))]
    {
        for (_, sort) in Objective::sorts() {
            let mut filter = Params::new(vec![]).parse(|params| Filter::read(family, params)).unwrap().filter;
            filter.statuses = statuses.clone().unwrap_or(filter.statuses);
            let is_expected = |objective: &&Objective| {
                family.scopes().contains(&objective.scope)
                    && filter.statuses.contains(&objective.status)
                    && (objective.scope == Scope::Org
                        || objective.owner_id == company.boss
                        || company.team.contains(&objective.owner_id))
            };
            let expected_objectives =
                sort_entries(objectives.iter().filter(is_expected).cloned().collect(), sort, |row| {
                    row.id.to_bytes()
                });
            let page = async |page: PageRequest| {
                let viewer = Viewer::Person(company.boss);
                company.store.page(company.tenant, rows::objectives::list(&filter, viewer, sort, &page)).await
            };
            assert_eq!(
                walk(sort, 100, |row| row.id.to_bytes(), page).await,
                expected_objectives,
                "{filter:?} {sort:?}"
            );
        }
    }
}

#[tokio::test]
async fn observation_walk_of_any_team_is_complete_and_ordered() {
    let Some(database) = support::database() else { return };
    let company = Company::new(&database).await;
    let observations = company.observations(900).await;
    let lead = company.leads[0].id;
    // Indirect reports follow the boss and the leads, and are given to the leads in turn: every `LEADS`-th reports
    // to this lead.
    let of_lead: HashSet<_> = company.everybody[1 + LEADS..][..INDIRECT].iter().step_by(LEADS).copied().collect();
    for (manager, team) in [(company.boss, &company.team), (lead, &of_lead)] {
        for archived in [Archived::No, Archived::All] {
            let filter = observation::Filter { manager_id: Some(manager), archived, ..Default::default() };
            for (_, sort) in Observation::sorts() {
                let is_expected = |observation: &&Observation| {
                    team.contains(&observation.employee_id)
                        && (archived == Archived::All || observation.archived_at.is_none())
                };
                let expected_observations =
                    sort_entries(observations.iter().filter(is_expected).cloned().collect(), sort, |row| {
                        row.id.to_bytes()
                    });
                let page = async |page: PageRequest| {
                    company
                        .store
                        .page(company.tenant, rows::observations::list(&filter, Viewer::Everything, sort, &page))
                        .await
                };
                assert_eq!(
                    walk(sort, 40, |row| row.id.to_bytes(), page).await,
                    expected_observations,
                    "{filter:?} {sort:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn team_change_is_visible_in_lists_at_once() {
    let Some(database) = support::database() else { return };
    let company = Company::new(&database).await;
    // Enough to fill a page, so that the store does not fall back to another plan.
    company.objectives(1_000).await;
    let latest = |owner: EmployeeId, days: i32| {
        let period_end = Date::from_epoch_days(30_000 + days);
        Objective { period_end, ..company.make.objective(owner) }
    };
    let first = async || company.first_page(Family::Employees).await.first().map(|row| row.id);
    let lead = &company.leads[0];
    let of_lead = latest(lead.id, 1);
    company.save(vec![Write::put(&Row::new(of_lead.clone()))]).await;
    assert_eq!(first().await, Some(of_lead.id));

    let new_employee = Employee { manager_id: Some(company.leads[1].id), ..company.make.employee() };
    let of_hired = latest(new_employee.id, 2);
    company.save(vec![joins(new_employee), Write::put(&Row::new(of_hired.clone()))]).await;
    assert_eq!(first().await, Some(of_hired.id));

    let of_other = latest(*company.everybody.last().unwrap(), 3);
    company.save(vec![Write::put(&Row::new(of_other.clone()))]).await;
    assert_eq!(first().await, Some(of_hired.id), "the newest objective is owned outside of the team");

    let lead_without_manager = Employee { manager_id: None, ..company.leads[1].clone() };
    company
        .save(vec![Write::employee(
            &Row::at_version(lead_without_manager, Version::FIRST),
            Some(ReportingLineChange { seen: None }),
        )])
        .await;
    assert_eq!(first().await, Some(of_lead.id), "the lead of the new employee has left the team");
}

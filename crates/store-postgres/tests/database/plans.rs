//! Plans of lists: the index that leads to the rows, and no sort of more rows than a page has.

use candor_domain::access::Tenant;
use candor_domain::observation::{self, Observation};
use candor_domain::page::{PageRequest, SortBy, Sortable};
use candor_domain::params::Archived;
use candor_domain::time::Date;
use candor_domain::visibility::Viewer;
use candor_port_storage::{Row, Storage, StorageExt, Write};
use candor_store_postgres::PostgresStore;
use candor_store_testkit::fixtures::joins;
use candor_store_testkit::{Fixtures, place};
use candor_tables::rows;
use candor_test_postgres::is_spread;
use tokio_postgres::Client;
use tracing::subscriber::set_default;

use crate::statements::SentStatements;
use crate::support;

/// Number of people with observations. One person thus has a twentieth of all rows.
const PEOPLE: usize = 20;
/// Number of observations about each person: several pages.
const OBSERVATIONS: usize = 200;
const PAGE: u16 = 50;

/// Planner settings of the service's sessions.
const PLANNING: &str = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; \
    SET max_parallel_workers_per_gather = 0; SET jit = off";

/// Returns the plan of a statement for any values.
async fn plan_of(statement: &str, client: &Client) -> String {
    let parameters = (1..).take_while(|number| statement.contains(&format!("${number}"))).map(|_| "NULL");
    let values = parameters.collect::<Vec<_>>().join(", ");
    client.batch_execute(&format!("DEALLOCATE ALL; PREPARE sent AS {statement}")).await.unwrap();
    let lines = client.query(&format!("EXPLAIN (COSTS OFF) EXECUTE sent ({values})"), &[]).await.unwrap();
    lines.iter().map(|line| line.get::<_, String>(0) + "\n").collect()
}

fn count_sorts(plan: &str) -> usize {
    plan.lines().filter(|line| line.trim_start().trim_start_matches("->").trim().ends_with("Sort")).count()
}

/// Creates people with observations of several days in turn, so that the rows of a person lie far apart.
async fn fill(store: &PostgresStore, tenant: Tenant, make: &Fixtures) -> Vec<Observation> {
    let people: Vec<_> = (0..PEOPLE).map(|_| make.employee()).collect();
    let observation = |number: usize| Observation {
        observation_date: Date::from_epoch_days(20_000 + i32::try_from(number / 50).unwrap()),
        ..make.observation(people[number % PEOPLE].id)
    };
    let observations: Vec<_> = (0..PEOPLE * OBSERVATIONS).map(observation).collect();
    let write = |row: &Observation| Write::put(&Row::new(row.clone()));
    let writes: Vec<_> = people.iter().cloned().map(joins).chain(observations.iter().map(write)).collect();
    for some in writes.chunks(500) {
        store.commit(tenant, make.change(some.to_vec())).await.unwrap();
    }
    observations
}

#[tokio::test]
async fn list_of_one_person_reads_the_index_of_the_person_in_order() {
    // Skipped on a cluster, which plans with the values of each statement.
    let Some(database) = support::database().filter(|_| !is_spread()) else { return };
    let (store, make) = (support::store(&database, None).await, Fixtures::new(1));
    let tenant = make.tenant();
    let person = fill(&store, tenant, &make).await[0].employee_id;
    let planner = support::client(database.url()).await;
    planner.batch_execute(PLANNING).await.unwrap();
    let statements = SentStatements::default();
    let _reading = set_default(statements.clone());
    let date_sorts = Observation::sorts().filter(|(_, sort)| sort.by == SortBy::ObservationDate);
    for analyze in ["", "ANALYZE"] {
        planner.batch_execute(analyze).await.unwrap();
        for ((word, sort), archived) in
            date_sorts.clone().flat_map(|sort| [(sort, Archived::No), (sort, Archived::All)])
        {
            let filter = observation::Filter { employee_id: Some(person), archived, ..Default::default() };
            let mut page = PageRequest { limit: PAGE, after: None };
            for _ in 0..2 {
                statements.take();
                let list = rows::observations::list(&filter, Viewer::Everything, sort, &page);
                let rows = store.page(tenant, list).await.unwrap();
                assert!(
                    rows.items.len() == usize::from(PAGE)
                        && rows.items.iter().all(|row| row.employee_id == person)
                );
                let sent_statements = statements.take();
                assert_eq!(sent_statements.len(), 1, "{sent_statements:?}");
                let plan = plan_of(&sent_statements[0], &planner).await;
                let what = format!("{word} {archived:?} {analyze}\n{}\n{plan}", sent_statements[0]);
                assert!(plan.contains("using observations_by_employee on"), "{what}");
                assert!(!plan.contains("Seq Scan") && !plan.contains("Bitmap"), "{what}");
                // Active and archived observations are two runs of at most a page each, which are then ordered together.
                assert!(count_sorts(&plan) <= usize::from(archived == Archived::All), "{what}");
                page.after = rows.items.last().map(|row| place(row, sort, row.id.to_bytes()));
            }
        }
    }
}

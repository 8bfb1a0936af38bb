//! Cost of a request for the databases of a cluster, against one server: processor time and statements of each
//! node. Rates of three servers on one machine would say nothing.

use super::*;
use crate::burst::burst_to;
use crate::cost::{self, Cost, Processes};
use crate::options::Options;
use crate::pgbench::create_database;
use crate::scratch::Scratch;
use crate::service::{Account, Candor, Service, wait_until};
use candor_test_postgres::Nodes;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::time::Duration;

/// The coordinator and two workers.
const NODES: usize = 3;
/// Upper bound for the processor time that a read takes in all nodes, as a multiple of the time on one server.
const MAX_READ_COST: f64 = 12.0;
/// Upper bound for the processor time that a create takes in all nodes, as a multiple of the time on one server.
const MAX_COMMIT_COST: f64 = 6.0;
/// Upper bound in percent for the additional cost of a request when the tenants are on two workers instead of one.
/// Two independent servers instead of one also change the cost, because all servers share this machine. That
/// change is not counted.
const MAX_APART: f64 = 10.0;
/// Upper bound for the statements per request at the worker without the tenant. Citus itself sends a few to each
/// node.
const MAX_ELSEWHERE: f64 = 0.1;
/// Number of concurrent clients for each node that gets requests. With fewer clients a statement costs more, on
/// one server as well. It is at most [`TENANTS`]: commits of one tenant wait for each other on a cluster, so each
/// client needs its own tenant.
const CLIENTS: usize = 8;
/// Tenants on each worker.
const TENANTS: usize = 8;
const SHARDS: &str = "16";
/// Maximum number of organizations created until each worker has [`TENANTS`] of them.
const MAX_TENANTS: usize = 100;
/// Observations of each tenant that are read.
const ROWS: usize = 50;
/// Number of requests whose statements are counted.
const COUNTED: usize = 2_000;
const PATIENCE: Duration = Duration::from_secs(60);
const ROW_SEEDS: u64 = 100;
const READ_SEEDS: u64 = 200;
const COMMIT_SEEDS: u64 = 1_000;
/// Difference between the seeds of two contenders, more than the number of rounds.
const SEEDS_APART: u64 = 100;

/// Settings of the nodes. `pg_stat_statements` is loaded, and counts only when told to: counting takes time.
const SETTINGS: [&str; 2] = ["shared_preload_libraries=citus,pg_stat_statements", "max_connections=200"];
/// SQL for the number of counted statements. Leaves out the queries of the count itself, and the statement that
/// Citus sends together with the `BEGIN` of a remote transaction.
const CALLS: &str = "(SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements \
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND query NOT LIKE '%assign_distributed_transaction_id%' AND query NOT LIKE '%pg_stat_statements%')";

/// Services on two plain servers and on a distributed database over three.
struct Setup {
    _nodes: Nodes,
    /// Connections to the distributed database, the coordinator's first.
    databases: Vec<Database>,
    servers: Vec<Processes>,
    /// Services on plain servers, with their people.
    plain: [(Service, Vec<Person>); 2],
    distributed: Service,
    /// People whose tenants are on each worker.
    workers: [Vec<Person>; 2],
}

/// Measures reads and creates on a cluster. Without Citus, prints the reason and returns no lines.
pub(crate) fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Line>> {
    let nodes = match Nodes::start_with(&SETTINGS)? {
        Ok(nodes) => nodes,
        Err(reason) => {
            println!("skipped: the cost of requests on a cluster: {reason}");
            return Ok(vec![]);
        }
    };
    println!("measuring: cluster");
    let setup = Setup::create(nodes, options, scratch)?;
    let commits = |_: &Service, people: &[Person]| Ok(Traffic::creates_about(people));
    let mut lines = setup.compare("GET one observation", MAX_READ_COST, READ_SEEDS, options, reads)?;
    lines.extend(setup.compare("Create, 8 tenants", MAX_COMMIT_COST, COMMIT_SEEDS, options, commits)?);
    Ok(lines)
}

impl Setup {
    fn create(nodes: Nodes, options: &Options, scratch: &Scratch) -> Result<Self> {
        let plain = [plain(&nodes, 0, options, scratch)?, plain(&nodes, 1, options, scratch)?];
        let urls = nodes.database("spread")?;
        let candor = Candor::new(&options.binary, &scratch.path().join("spread"), url_of_all(&urls))?.only_api();
        candor.execute(&["migrate", "--distribute", "--shards", SHARDS])?;
        let databases = urls.iter().map(|url| Database::connect(url)).collect::<Result<Vec<_>>>()?;
        databases[0].run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")?;
        let server = |database| Ok(Processes { service: None, server: Some(cost::server(database)?) });
        let servers = databases.iter().map(server).collect::<Result<Vec<_>>>()?;
        let distributed = candor.serve()?;
        let workers = create_tenants(&nodes, &candor, &distributed, &databases[0])?;
        let services = plain.iter().map(|(service, people)| (service, people));
        for (service, people) in services.chain(workers.iter().map(|people| (&distributed, people))) {
            let shape = Shape { connections: 4, time: PATIENCE, requests: ROWS * people.len(), seed: ROW_SEEDS };
            burst(service.address, &Traffic::creates_about(people), shape)?;
        }
        let setup = Self { _nodes: nodes, databases, servers, plain, distributed, workers };
        setup.track_statements("none")?;
        Ok(setup)
    }

    /// Compares requests of one kind: on one server, on two, with the tenants of one worker, and with those of
    /// both.
    fn compare(
        &self,
        what: &str,
        at_most: f64,
        seeds: u64,
        options: &Options,
        requests: impl Fn(&Service, &[Person]) -> Result<Traffic>,
    ) -> Result<Vec<Line>> {
        let both = self.workers.concat();
        let one_worker = requests(&self.distributed, &self.workers[0])?;
        let costs: [RefCell<Vec<Vec<f64>>>; 4] = Default::default();
        let plain = self.plain.iter().map(|(service, people)| Ok((service.address, requests(service, people)?)));
        let plain = plain.collect::<Result<Vec<_>>>()?;
        let on_cluster = |traffic: Traffic| vec![(self.distributed.address, traffic)];
        let services = [
            vec![plain[0].clone()],
            plain,
            on_cluster(one_worker.clone()),
            on_cluster(requests(&self.distributed, &both)?),
        ];
        let contenders: Vec<_> = (0..)
            .zip(services)
            .zip(&costs)
            .map(|((number, services), costs)| {
                let (nodes, first_seed) = (if number % 2 == 0 { 1 } else { 2 }, seeds + number * SEEDS_APART);
                self.contender(services, nodes, first_seed, costs)
            })
            .collect();
        let turns = (options.turn(), Turns::Plain);
        let comparison = Comparison::run(Store::Postgres, &contenders, options.rounds(), turns)?;
        drop(contenders);
        let statements = self.count_statements(&one_worker, seeds + 4 * SEEDS_APART)?;
        Ok(Costs { comparison, by_node: costs.map(RefCell::into_inner), statements }.lines(what, at_most))
    }

    /// Requests that `nodes` nodes answer. Every turn adds the cost of a request at each node to `costs`.
    fn contender<'a>(
        &'a self,
        services: Vec<(SocketAddr, Traffic)>,
        nodes: usize,
        first_seed: u64,
        costs: &'a RefCell<Vec<Vec<f64>>>,
    ) -> Contender<'a> {
        let usage = || self.servers.iter().map(|server| server.usage()).collect::<Result<Vec<_>>>();
        Box::new(move |time, round| {
            let before = usage()?;
            let sample = burst_to(&services, Shape::for_time(nodes * CLIENTS, time, first_seed + round))?;
            let requests = sample.micros.len() as f64;
            let usages = usage()?.into_iter().zip(before);
            let micros: Vec<f64> =
                usages.map(|(now, before)| (now - before).per_request(requests).micros).collect();
            let cost = Cost { micros: micros.iter().sum(), bytes: 0.0 };
            costs.borrow_mut().push(micros);
            Ok(Sample { cost: Some(cost), ..sample })
        })
    }

    /// Statements of each node for a request, while there are no other requests.
    fn count_statements(&self, traffic: &Traffic, seed: u64) -> Result<Vec<f64>> {
        self.track_statements("top")?;
        self.databases.iter().try_for_each(|database| database.run("SELECT pg_stat_statements_reset()"))?;
        let shape = Shape { connections: CLIENTS, time: PATIENCE, requests: COUNTED, seed };
        let sent = burst(self.distributed.address, traffic, shape)?.micros.len() as f64;
        let counted = self.databases.iter().map(|database| Ok(database.number(CALLS)? as f64 / sent)).collect();
        self.track_statements("none")?;
        counted
    }

    /// Sets which statements every node counts.
    fn track_statements(&self, which: &str) -> Result {
        for database in &self.databases {
            database.run(&format!("ALTER SYSTEM SET pg_stat_statements.track = '{which}'"))?;
            database.run("SELECT pg_reload_conf()")?;
            wait_until("a node has reloaded its settings", PATIENCE, || {
                Ok(database.text("current_setting('pg_stat_statements.track')")? == which)
            })?;
        }
        Ok(())
    }
}

/// Cost of requests of one kind: on one server, on two, with the tenants of one worker, and with those of both.
struct Costs {
    comparison: Comparison,
    /// Microseconds by contender, turn and node.
    by_node: [Vec<Vec<f64>>; 4],
    /// Statements of each node for a request to the tenants of one worker.
    statements: Vec<f64>,
}

impl Costs {
    fn lines(&self, what: &str, at_most: f64) -> Vec<Line> {
        let micros = |contender: usize| {
            self.comparison.samples[contender].iter().filter_map(|sample| sample.cost).map(|cost| cost.micros)
        };
        let ratio =
            |one: usize, other: usize| median(micros(one).zip(micros(other)).map(|(one, other)| one / other));
        let (apart, of_servers) = (ratio(3, 2), ratio(1, 0));
        // Skips the warm-up turn that each contender has before the first round.
        let cost = |contender: usize, nodes| median_by_node(&self.by_node[contender][1..], nodes);
        let line = |end, figures, value, at_most| {
            Line::new(format!("{what}: {end}"), Store::Postgres, figures, value, Limit::AtMost(at_most))
        };
        let elsewhere = self.statements.get(2).copied().unwrap_or(f64::NAN);
        vec![
            line(
                "databases of a cluster, by node",
                [cost(2, NODES), format!("one server {}", cost(0, 1))],
                (ratio(2, 0), "×"),
                at_most,
            ),
            line(
                "tenants on two workers instead of one",
                [
                    format!("{}, {apart:.2} × of one", cost(3, NODES)),
                    format!("two servers {}, {of_servers:.2} × of one", cost(1, 2)),
                ],
                (beyond(apart, of_servers) * 100.0, "% apart"),
                MAX_APART,
            ),
            line(
                "at the node without the tenant",
                [list(&self.statements, "statements"), String::new()],
                (elsewhere, "statements"),
                MAX_ELSEWHERE,
            ),
        ]
    }
}

/// Distance of a ratio from the range between 1 and another ratio, as a fraction.
fn beyond(ratio: f64, explained: f64) -> f64 {
    let (least, most) = (explained.min(1.0), explained.max(1.0));
    (ratio / most - 1.0).max(1.0 - ratio / least).max(0.0)
}

/// Starts a service on a plain database on the server of a node.
fn plain(nodes: &Nodes, number: usize, options: &Options, scratch: &Scratch) -> Result<(Service, Vec<Person>)> {
    let node = nodes.all.get(number).ok_or("a cluster without nodes")?;
    let folder = scratch.path().join(format!("alone-{number}"));
    let candor = Candor::new(&options.binary, &folder, create_database(&node.url(), "alone")?)?.only_api();
    candor.execute(&["migrate"])?;
    let service = candor.serve()?;
    let create = |_| service.api(&candor.create_account()?.key).create_person();
    let people = (0..TENANTS).map(create).collect::<Result<Vec<_>>>()?;
    Ok((service, people))
}

/// Creates organizations until each worker has enough. Returns a person of each.
fn create_tenants(
    nodes: &Nodes,
    candor: &Candor,
    service: &Service,
    coordinator: &Database,
) -> Result<[Vec<Person>; 2]> {
    let hosts: Vec<_> = nodes.all.iter().skip(1).map(|node| node.folder().display().to_string()).collect();
    let mut workers: [Vec<Person>; 2] = [vec![], vec![]];
    for _ in 0..MAX_TENANTS {
        let account = candor.create_account()?;
        let host = host(coordinator, &account)?;
        let worker = hosts.iter().position(|known| *known == host).ok_or("a tenant without a worker")?;
        workers[worker].push(service.api(&account.key).create_person()?);
        if workers.iter().all(|people| people.len() >= TENANTS) {
            workers.iter_mut().for_each(|people| people.truncate(TENANTS));
            break;
        }
    }
    Ok(workers)
}

/// Returns one URL that names all nodes, the coordinator first.
fn url_of_all(urls: &[String]) -> String {
    let host = |url: &String| Some(url.split_once('@')?.1.split_once('/')?.0.to_owned());
    let hosts = urls.iter().filter_map(host).collect::<Vec<_>>().join(",");
    let first = urls.first().map_or("", String::as_str);
    urls.first().and_then(host).map_or_else(String::new, |own| first.replacen(&own, &hosts, 1))
}

/// GETs of the observations of all people.
fn reads(service: &Service, people: &[Person]) -> Result<Traffic> {
    let mut places = vec![];
    for Person { key, .. } in people {
        let page = service.api(key).get("/v1/observations?limit=50")?;
        let ids =
            page["data"].as_array().into_iter().flatten().filter_map(|observation| observation["id"].as_str());
        places.extend(ids.map(|id| (key.clone(), format!("/v1/observations/{id}"))));
    }
    Ok(Traffic::read_any_with_keys(places))
}

/// Returns the node that holds the rows of a tenant.
fn host(coordinator: &Database, account: &Account) -> Result<String> {
    let tenant = Store::Postgres.bytes(account.tenant());
    coordinator.text(&format!(
        "(SELECT nodename FROM citus_shards WHERE shardid = \
         get_shard_id_for_distribution_column('events', {tenant}))"
    ))
}

/// Returns the median cost of a request at each node, over all turns of the measure.
fn median_by_node(turns: &[Vec<f64>], nodes: usize) -> String {
    let micros = (0..nodes).map(|node| median(turns.iter().filter_map(|turn| turn.get(node).copied())));
    list(&micros.collect::<Vec<f64>>(), "µs")
}

fn list(values: &[f64], unit: &str) -> String {
    let digits = if unit == "µs" { 0 } else { 2 };
    let values: Vec<_> = values.iter().map(|value| format!("{value:.digits$}")).collect();
    format!("{} {unit}", values.join(" + "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_of_a_shared_machine_does_not_count() {
        for (ratio, explained, percent) in
            [(1.16, 1.22, 0.0), (1.32, 1.2, 10.0), (1.1, 0.9, 10.0), (0.81, 0.9, 10.0), (0.95, 1.3, 5.0)]
        {
            assert!(((beyond(ratio, explained) * 100.0).round() - percent).abs() < f64::EPSILON, "{ratio}");
        }
    }
}

//! What a request costs the databases where tenants are spread over the nodes of a cluster, against one server: time on the
//! processors and statements of each node. Rates of three servers on one machine would say nothing.

use crate::Outcome;
use crate::admin::Admin;
use crate::burst::{Sample, Shape, Traffic, burst, burst_to};
use crate::cost::{self, Cost, Processes, Spent};
use crate::http::{get, post};
use crate::options::{Options, Store};
use crate::report::{Limit, Line};
use crate::rounds::{Contender, median, take_turns};
use crate::scratch::Scratch;
use crate::service::{Account, Candor, Service, pause};
use crate::traffic;
use candor_domain::access::Tenant;
use candor_domain::id::{EmployeeId, OrganizationId};
use candor_test_postgres::Nodes;
use serde_json::json;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The coordinator and two workers.
const NODES: usize = 3;
/// How many times as much of the processors a look-up and a commit may take as on one server.
const MOST_FOR_A_READ: f64 = 12.0;
const MOST_FOR_A_COMMIT: f64 = 6.0;
/// How much more or less a request may cost when the tenants are on two workers instead of one, in percent: beyond what it costs
/// on two servers that know nothing of each other instead of one, as twice the servers have to share one machine in both cases.
const MOST_APART: f64 = 10.0;
/// Statements of a node that does not hold the tenant, by request: what is left is the cluster's own upkeep.
const MOST_ELSEWHERE: f64 = 0.1;
/// For each node that is asked: fewer statements at a time on a connection cost more each, on one server as well. Commits of
/// one tenant wait for each other on a cluster, so that each client can have one of its own.
const CLIENTS: usize = 8;
/// On each worker.
const TENANTS: usize = 8;
const SHARDS: u8 = 16;
/// Organizations that are made until there are enough on each worker.
const MOST_TENANTS: usize = 100;
/// Observations of each tenant that are looked up.
const ROWS: usize = 50;
/// Requests whose statements are counted.
const COUNTED: usize = 2_000;
const PATIENCE: Duration = Duration::from_secs(60);
const SEEDS_OF_ROWS: u64 = 100;
const SEEDS_OF_READS: u64 = 200;
const SEEDS_OF_COMMITS: u64 = 1_000;
/// Rounds never come as far as the next contender's seeds.
const SEEDS_APART: u64 = 100;

/// Statements are counted only where they are looked at, since that costs something.
const SETTINGS: [&str; 2] = ["shared_preload_libraries=citus,pg_stat_statements", "max_connections=200"];
/// What begins a transaction on another node is one message of two statements.
const CALLS: &str = "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements \
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND query NOT LIKE '%assign_distributed_transaction_id%' AND query NOT LIKE '%pg_stat_statements%'";

/// Somebody who is written about, and the key of their organization.
type Somebody = (String, EmployeeId);

/// A database on one server and one that is spread over three, with a service on each.
struct Scene {
    _nodes: Nodes,
    /// Connections to the spread database, the coordinator's first.
    admins: Vec<Admin>,
    servers: Vec<Processes>,
    /// Two servers that have everything, and those on each.
    plain: [(Service, Vec<Somebody>); 2],
    spread: Service,
    /// Those who are on each worker.
    workers: [Vec<Somebody>; 2],
}

/// Skipped, after saying so, where the engine cannot be had.
pub(crate) fn run(options: &Options, scratch: &Scratch) -> Outcome<Vec<Line>> {
    let nodes = match Nodes::start_with(&SETTINGS)? {
        Ok(nodes) => nodes,
        Err(reason) => {
            println!("skipped: what requests cost on a cluster, for {reason}");
            return Ok(vec![]);
        }
    };
    println!("measuring: cluster");
    let scene = Scene::set(nodes, options, scratch)?;
    let mut lines = scene.compared("GET one observation", MOST_FOR_A_READ, SEEDS_OF_READS, options, reads)?;
    let commits = |_: &Service, of: &[Somebody]| Ok(traffic::creates_of(of.to_vec()));
    lines.extend(scene.compared("Create, 8 tenants", MOST_FOR_A_COMMIT, SEEDS_OF_COMMITS, options, commits)?);
    Ok(lines)
}

impl Scene {
    fn set(nodes: Nodes, options: &Options, scratch: &Scratch) -> Outcome<Self> {
        let folder = |name: &str| scratch.path().join(name);
        let plain = [alone(&nodes, 0, options, scratch)?, alone(&nodes, 1, options, scratch)?];
        let urls = nodes.database("spread")?;
        let spread = Candor::new(&options.binary, &folder("spread"), of_all(&urls))?.only_answering();
        spread.distributed(SHARDS)?;
        let admins = urls.iter().map(|it| Admin::connect(it)).collect::<Outcome<Vec<_>>>()?;
        admins.first().ok_or("no coordinator")?.run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")?;
        let server = |it| Ok(Processes { service: None, server: Some(cost::server(it)?) });
        let servers = admins.iter().map(server).collect::<Outcome<Vec<_>>>()?;
        let there = spread.serve()?;
        let hosts: Vec<_> = nodes.all.iter().skip(1).map(|it| it.folder().display().to_string()).collect();
        let mut workers: [Vec<Somebody>; 2] = [vec![], vec![]];
        for _ in 0..MOST_TENANTS {
            let account = spread.another_account()?;
            let host = host(&admins[0], &account)?;
            let at = hosts.iter().position(|it| *it == host).ok_or("a tenant that is nowhere")?;
            workers[at].push(somebody_of(&there, &account)?);
            if workers.iter().all(|it| it.len() >= TENANTS) {
                workers.iter_mut().for_each(|it| it.truncate(TENANTS));
                break;
            }
        }
        let apart = plain.iter().map(|(service, people)| (service, people));
        for (service, people) in apart.chain(workers.iter().map(|it| (&there, it))) {
            let shape = Shape { connections: 4, time: PATIENCE, requests: ROWS * people.len(), seed: SEEDS_OF_ROWS };
            burst(service.address, &traffic::creates_of(people.clone()), shape)?;
        }
        let it = Self { _nodes: nodes, admins, servers, plain, spread: there, workers };
        it.count("none")?;
        Ok(it)
    }

    /// Requests of one kind: on one server, on two at once, with the tenants of one worker, and with as many of each.
    fn compared(
        &self,
        what: &str,
        at_most: f64,
        seeds: u64,
        options: &Options,
        requests: impl Fn(&Service, &[Somebody]) -> Outcome<Rc<Traffic>>,
    ) -> Outcome<Vec<Line>> {
        let [first, second] = &self.workers;
        let both = [first.as_slice(), second.as_slice()].concat();
        let of_one = requests(&self.spread, first)?;
        let costs: [RefCell<Vec<Vec<f64>>>; 4] = Default::default();
        let alone = |(service, people): &(Service, Vec<Somebody>)| Ok((service.address, requests(service, people)?));
        let alone = self.plain.iter().map(alone).collect::<Outcome<Vec<_>>>()?;
        let spread = |traffic: &Rc<Traffic>| vec![(self.spread.address, Rc::clone(traffic))];
        let contenders = [
            self.contender(vec![alone[0].clone()], 1, seeds, &costs[0]),
            self.contender(alone, 2, seeds + SEEDS_APART, &costs[1]),
            self.contender(spread(&of_one), 1, seeds + 2 * SEEDS_APART, &costs[2]),
            self.contender(spread(&requests(&self.spread, &both)?), 2, seeds + 3 * SEEDS_APART, &costs[3]),
        ];
        let samples = take_turns(&contenders, options.rounds(), options.turn())?;
        drop(contenders);
        let statements = self.statements(&of_one, seeds + 4 * SEEDS_APART)?;
        Ok(Compared { samples, costs: costs.map(RefCell::into_inner), statements }.lines(what, at_most))
    }

    fn spent(&self) -> Outcome<Vec<Spent>> {
        self.servers.iter().map(|it| it.spent()).collect()
    }

    /// So many nodes are asked. Every turn leaves what each request of it cost each node.
    fn contender<'a>(
        &'a self,
        services: Vec<(SocketAddr, Rc<Traffic>)>,
        asked: usize,
        first: u64,
        costs: &'a RefCell<Vec<Vec<f64>>>,
    ) -> Contender<'a> {
        Box::new(move |time, round| {
            let before = self.spent()?;
            let sample = burst_to(&services, Shape::of_time(asked * CLIENTS, time, first + round))?;
            let requests = sample.micros.len() as f64;
            let spent = self.spent()?.into_iter().zip(before).map(|(now, before)| (now - before).by_each(requests));
            let nodes: Vec<f64> = spent.map(|it| it.micros).collect();
            let cost = Cost { micros: nodes.iter().sum(), bytes: 0.0 };
            costs.borrow_mut().push(nodes);
            Ok(Sample { cost: Some(cost), ..sample })
        })
    }

    /// How many statements each node gets for a request, while nothing else is asked of them.
    fn statements(&self, traffic: &Rc<Traffic>, seed: u64) -> Outcome<Vec<f64>> {
        self.count("top")?;
        self.admins.iter().try_for_each(|it| it.texts("SELECT pg_stat_statements_reset()").map(drop))?;
        let shape = Shape { connections: CLIENTS, time: PATIENCE, requests: COUNTED, seed };
        let sent = burst(self.spread.address, traffic, shape)?.micros.len() as f64;
        let counted = self.admins.iter().map(|it| Ok(it.number(CALLS)? as f64 / sent)).collect();
        self.count("none")?;
        counted
    }

    /// Lets every node count statements, or no longer.
    fn count(&self, which: &str) -> Outcome {
        for admin in &self.admins {
            admin.run(&format!("ALTER SYSTEM SET pg_stat_statements.track = '{which}'"))?;
            admin.run("SELECT pg_reload_conf()")?;
            let begun = Instant::now();
            while admin.texts("SHOW pg_stat_statements.track")? != [which] {
                if begun.elapsed() > PATIENCE {
                    return Err("a node does not take a setting".into());
                }
                pause();
            }
        }
        Ok(())
    }
}

/// What requests of one kind cost: on one server, on two, with the tenants of one worker, and with those of two.
struct Compared {
    samples: Vec<Vec<Sample>>,
    /// By node.
    costs: [Vec<Vec<f64>>; 4],
    /// Of each node for a request to the tenants of one worker.
    statements: Vec<f64>,
}

impl Compared {
    fn lines(&self, what: &str, at_most: f64) -> Vec<Line> {
        let micros = |at: usize| self.samples[at].iter().filter_map(|it| it.cost).map(|it| it.micros);
        let ratio = |one: usize, other: usize| median(micros(one).zip(micros(other)).map(|(one, other)| one / other));
        let line = |what: String, measured: String, against: String| Line {
            what,
            store: Some(Store::Postgres),
            measured,
            against,
            value: f64::NAN,
            unit: "×",
            limit: Limit::None,
        };
        let (apart, of_servers) = (ratio(3, 2), ratio(1, 0));
        let elsewhere = self.statements.get(2).copied().unwrap_or(f64::NAN);
        let cost = |of: usize, nodes| by_node(&self.costs[of][1..], nodes);
        let servers = format!("two servers {}, {of_servers:.2} × of one", cost(1, 2));
        vec![
            Line {
                value: ratio(2, 0),
                limit: Limit::AtMost(at_most),
                ..line(
                    format!("{what}: databases of a cluster, by node"),
                    cost(2, NODES),
                    format!("one server {}", cost(0, 1)),
                )
            },
            Line {
                value: beyond(apart, of_servers) * 100.0,
                unit: "% apart",
                limit: Limit::AtMost(MOST_APART),
                ..line(
                    format!("{what}: tenants on two workers instead of one"),
                    format!("{}, {apart:.2} × of one", cost(3, NODES)),
                    servers,
                )
            },
            Line {
                value: elsewhere,
                unit: "statements",
                limit: Limit::AtMost(MOST_ELSEWHERE),
                ..line(
                    format!("{what}: at the node without the tenant"),
                    listed(&self.statements, "statements"),
                    String::new(),
                )
            },
        ]
    }
}

/// How far a ratio is from what another one explains: anything from one to that.
fn beyond(it: f64, explained: f64) -> f64 {
    let (least, most) = (explained.min(1.0), explained.max(1.0));
    (it / most - 1.0).max(1.0 - it / least).max(0.0)
}

/// A service on a database of its own, on the server of a node; nothing in it is spread.
fn alone(nodes: &Nodes, number: usize, options: &Options, scratch: &Scratch) -> Outcome<(Service, Vec<Somebody>)> {
    let node = nodes.all.get(number).ok_or("a cluster without nodes")?;
    Admin::connect(&node.url())?.run("CREATE DATABASE alone")?;
    let (url, folder) = (node.url().replace("/postgres", "/alone"), scratch.path().join(format!("alone-{number}")));
    let candor = Candor::new(&options.binary, &folder, url)?.only_answering();
    candor.migrated()?;
    let service = candor.serve()?;
    let people =
        (0..TENANTS).map(|_| somebody_of(&service, &candor.another_account()?)).collect::<Outcome<Vec<_>>>()?;
    Ok((service, people))
}

/// One URL that names all nodes, the coordinator first.
fn of_all(urls: &[String]) -> String {
    let host = |url: &String| Some(url.split_once('@')?.1.split_once('/')?.0.to_owned());
    let hosts = urls.iter().filter_map(host).collect::<Vec<_>>().join(",");
    let first = urls.first().map_or("", String::as_str);
    urls.first().and_then(host).map_or_else(String::new, |own| first.replacen(&own, &hosts, 1))
}

/// The observations of everybody, one after the other.
fn reads(service: &Service, of: &[Somebody]) -> Outcome<Rc<Traffic>> {
    let mut places = vec![];
    for (key, _) in of {
        let page = get(service.address, "/v1/observations?limit=50", key)?;
        let ids = page["data"].as_array().ok_or("a page without data")?.iter().filter_map(|it| it["id"].as_str());
        places.extend(ids.map(|id| (key.clone(), format!("/v1/observations/{id}"))));
    }
    Ok(traffic::reads_of(places))
}

fn somebody_of(service: &Service, account: &Account) -> Outcome<Somebody> {
    let body = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Example"}).to_string();
    let (_, answer) = post(service.address, "/v1/employees", &account.key, "application/json", &body, 201)?;
    Ok((account.key.clone(), answer["id"].as_str().ok_or("nobody was made")?.parse()?))
}

/// Where a tenant's rows are.
fn host(coordinator: &Admin, account: &Account) -> Outcome<String> {
    let organization: OrganizationId = account.organization.parse()?;
    let id: String = Tenant::live(organization).to_bytes().iter().map(|it| format!("{it:02x}")).collect();
    let query = format!(
        "SELECT nodename FROM citus_shards WHERE shardid = get_shard_id_for_distribution_column('events', '{id}'::uuid)"
    );
    Ok(coordinator.texts(&query)?.pop().ok_or("a tenant that is nowhere")?)
}

/// What a request costs each node, in the middle of all turns.
fn by_node(turns: &[Vec<f64>], nodes: usize) -> String {
    let micros: Vec<f64> = (0..nodes).map(|node| median(turns.iter().filter_map(|it| it.get(node).copied()))).collect();
    listed(&micros, "µs")
}

fn listed(values: &[f64], unit: &str) -> String {
    let digits = if unit == "µs" { 0 } else { 2 };
    let values: Vec<_> = values.iter().map(|it| format!("{it:.digits$}")).collect();
    format!("{} {unit}", values.join(" + "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sharing_the_machine_explains_is_not_held_against_a_cluster() {
        let percent = |it: f64, explained: f64| (beyond(it, explained) * 100.0).round();
        assert!((percent(1.16, 1.22) - 0.0).abs() < f64::EPSILON);
        assert!((percent(1.32, 1.2) - 10.0).abs() < f64::EPSILON);
        assert!((percent(1.1, 0.9) - 10.0).abs() < f64::EPSILON);
        assert!((percent(0.81, 0.9) - 10.0).abs() < f64::EPSILON);
        assert!((percent(0.95, 1.3) - 5.0).abs() < f64::EPSILON);
    }
}

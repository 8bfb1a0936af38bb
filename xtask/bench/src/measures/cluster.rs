//! Cost of a create for the databases of a cluster, against one server: processor time of all nodes. Rates of
//! three servers on one machine would say nothing.

use super::*;
use crate::cost::{self, Processes};
use crate::instance::contender;
use crate::pgbench::create_database;
use crate::scratch::Scratch;
use crate::service::{Candor, Service};
use candor_test_postgres::Nodes;

/// Upper bound for the processor time that a create takes in all nodes, as a multiple of the time on one server.
const MAX_COST: f64 = 6.0;
/// Number of tenants and of concurrent clients. Commits of one tenant wait for each other on a cluster, and with
/// fewer clients a statement costs more, on one server as well.
const TENANTS: usize = 8;
const SHARDS: &str = "16";

/// Measures creates on a cluster. Without Citus, prints the reason and returns no lines.
pub(crate) fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Line>> {
    let nodes = match Nodes::start_with(&["max_connections=200"])? {
        Ok(nodes) => nodes,
        Err(reason) => {
            println!("skipped: the cost of requests on a cluster: {reason}");
            return Ok(vec![]);
        }
    };
    let coordinator = nodes.all.first().ok_or("a cluster without nodes")?;
    let plain = create_database(&coordinator.url(), "alone")?;
    let spread = nodes.create_database("spread")?;
    let setups = [
        (serve(options, scratch, "alone", plain.clone(), &["migrate"])?, processes(&[plain])?),
        (
            serve(
                options,
                scratch,
                "spread",
                url_of_all(&spread),
                &["migrate", "--distribute", "--shards", SHARDS],
            )?,
            processes(&spread)?,
        ),
    ];
    let [one, cluster] = &setups;
    let contenders = [cluster, one].map(|((service, people), processes)| {
        contender(service, processes, Traffic::creates_about(people), TENANTS, 0)
    });
    let comparison =
        Comparison::run(Store::Postgres, &contenders, options.rounds(), options.turn())?.with_label("one server");
    let cost = |sample: &Sample| sample.cost.unwrap_or(f64::NAN);
    let ratio = comparison.median_of_pairs(|cluster, one| cost(cluster) / cost(one));
    let what = format!("Create in {TENANTS} organizations: processor time of the databases of a cluster");
    Ok(vec![comparison.line(what, (ratio, "×"), Limit::AtMost(MAX_COST))])
}

/// Starts a service on an empty database and creates organizations. Returns a person of each.
fn serve(
    options: &Options,
    scratch: &Scratch,
    name: &str,
    url: String,
    migrate: &[&str],
) -> Result<(Service, Vec<Person>)> {
    let candor = Candor::new(&options.binary, &scratch.path().join(name), url)?.only_api();
    candor.execute(migrate)?;
    let service = candor.serve()?;
    let create = |_| service.api(&candor.create_account()?.key).create_person();
    let people = (0..TENANTS).map(create).collect::<Result<Vec<_>>>()?;
    Ok((service, people))
}

fn processes(urls: &[String]) -> Result<Processes> {
    Ok(Processes(urls.iter().map(|url| cost::server(&Database::connect(url)?)).collect::<Result<_>>()?))
}

/// Returns one URL that names all nodes, the coordinator first.
fn url_of_all(urls: &[String]) -> String {
    let host = |url: &String| Some(url.split_once('@')?.1.split_once('/')?.0.to_owned());
    let hosts = urls.iter().filter_map(host).collect::<Vec<_>>().join(",");
    let first = urls.first().map_or("", String::as_str);
    urls.first().and_then(host).map_or_else(String::new, |own| first.replacen(&own, &hosts, 1))
}

//! Cost of counting the quotas of keys on a server that instances share.

use super::*;
use candor_test_redis::TestRedis;

/// Upper bound for the delay of half of the answers, with the server on the same machine.
const MAX_DELAY_MILLIS: f64 = 1.0;

/// Compares a service that counts quotas itself with one on a shared server, both on one PostgreSQL database.
pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    if instance.store != Store::Postgres {
        return Ok(vec![]);
    }
    let Some(server) = TestRedis::start()? else { return Ok(vec![]) };
    let service = instance.with_rate_limiter(&server.url())?;
    let requests = Traffic::observation(&instance.api.key, data.size);
    let own = instance.contender(requests.clone(), 1, 0);
    let shared: Contender<'_> =
        Box::new(move |time, round| burst(service.address, &requests, Shape::for_time(1, time, round)));
    let comparison = data.compare_reads(instance, &[own, shared])?;
    let [own, shared] = [0, 1].map(|contender| figures(&comparison.samples[contender]));
    let later = comparison.median_of_pairs(|own, shared| shared.within(0.5) - own.within(0.5));
    Ok(vec![Line::new(
        "GET one observation, 1 client: shared limits",
        instance.store,
        [shared, format!("limits of its own {own}")],
        (later, "ms later at p50"),
        Limit::AtMost(MAX_DELAY_MILLIS),
    )])
}

fn figures(samples: &[Sample]) -> String {
    let millis = typical(samples, |sample| sample.within(0.5));
    format!("p50 {millis:.2} ms, {}", per_second(typical(samples, |sample| sample.rate)))
}

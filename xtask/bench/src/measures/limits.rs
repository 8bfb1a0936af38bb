//! What it costs to count the quotas of keys on a server that instances share.

use crate::Outcome;
use crate::burst::{Sample, Shape, burst};
use crate::options::{Options, Store};
use crate::report::{Limit, Line, per_second};
use crate::rounds::{Contender, median, take_warm_turns, typical};
use crate::stage::Stage;
use crate::traffic;
use candor_test_redis::TestRedis;

/// How many milliseconds later half of the answers may be, with the server on the same machine.
const LATER_AT_MOST: f64 = 1.0;

/// A service that counts by itself and one that asks a server take turns on the same database, so on PostgreSQL only.
pub(super) fn shared(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options).filter(|it| it.store == Store::Postgres) {
        let Some(server) = TestRedis::start()? else { break };
        let service = side.counting_on(&server.url())?;
        let requests = traffic::one_observation(&side.key, stage.size);
        let sharing = |time, round| burst(service.address, &requests, Shape::of_time(1, time, round));
        let contenders: [Contender<'_>; 2] = [side.contender(requests.clone(), 1), Box::new(sharing)];
        let samples = take_warm_turns(&contenders, options.rounds(), options.turn())?;
        let (alone, shared) = (&samples[0], &samples[1]);
        lines.push(Line {
            what: "GET one observation, 1 client: shared limits".to_owned(),
            store: Some(side.store),
            measured: figures(shared),
            against: format!("limits of its own {}", figures(alone)),
            value: median(shared.iter().zip(alone).map(|(shared, alone)| half(shared) - half(alone))),
            unit: "ms later at p50",
            limit: Limit::AtMost(LATER_AT_MOST),
        });
    }
    Ok(lines)
}

/// The time within which half of the requests was answered, in milliseconds.
fn half(sample: &Sample) -> f64 {
    sample.within(0.5)
}

fn figures(samples: &[Sample]) -> String {
    format!("p50 {:.2} ms, {}", typical(samples, half), per_second(typical(samples, |it| it.rate)))
}

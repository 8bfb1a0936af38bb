//! Deliveries of webhooks: how many, how soon, and what is in whose way.

mod bare;
mod pace;
mod queued;
mod scene;
mod soon;

pub(super) use queued::{creates, memory};
pub(super) use soon::{hanging, latency};

use crate::Outcome;
use crate::burst::Sample;
use crate::options::Options;
use crate::receiver::Receiver;
use crate::report::{Limit, Line, per_second};
use crate::rounds::{Contender, median, ratio, take_turns, typical};
use crate::stage::Stage;
use bare::Bare;
use scene::{NEVER, Scene, Subscription};
use std::cell::RefCell;
use std::time::{Duration, Instant};

const RATE_AT_LEAST: f64 = 0.4;
/// As many attempts as the service has under way for one receiver.
const AT_ONCE: usize = 32;
/// So many are sent in a turn for every second that it is meant to take.
const EACH_SECOND: u32 = 10_000;

/// A queue that is worked off, every attempt recorded, against the same requests without a queue.
pub(super) fn rate(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let scene = Scene::set(stage, side)?;
        let receiver = Receiver::start()?;
        let subscription = scene.subscribe(&receiver, NEVER)?;
        let bare = Bare::new(&receiver, scene.data.clone())?;
        let costs = RefCell::new(vec![]);
        let contenders: [Contender<'_>; 2] = [
            Box::new(|turn, _| {
                let (sample, cost) = worked_off(&scene, &receiver, &subscription, count(turn))?;
                costs.borrow_mut().push(cost);
                Ok(sample)
            }),
            Box::new(|turn, _| bare.rate(count(turn), AT_ONCE)),
        ];
        let samples = take_turns(&contenders, options.rounds(), options.turn())?;
        let rate = |samples: &[Sample]| per_second(typical(samples, |it| it.rate));
        let cost = median(costs.borrow().iter().copied());
        lines.push(Line {
            what: "Deliveries from the queue to one receiver, each recorded".to_owned(),
            store: Some(side.store),
            measured: format!("{}, {cost:.2} ms of processor time each", rate(&samples[0])),
            against: format!("{} by the sender alone", rate(&samples[1])),
            value: ratio(&samples[0], &samples[1]),
            unit: "×",
            limit: Limit::AtLeast(RATE_AT_LEAST),
        });
    }
    Ok(lines)
}

fn count(turn: Duration) -> u32 {
    EACH_SECOND * u32::try_from(turn.as_secs()).unwrap_or(1).max(1)
}

/// Fills the queue and waits until it is empty again: deliveries per second from the first arrival to the last record,
/// and what each cost the service, in milliseconds of processor time.
fn worked_off(scene: &Scene<'_>, receiver: &Receiver, to: &Subscription, count: u32) -> Outcome<(Sample, f64)> {
    receiver.count_anew();
    let service = &scene.side.service;
    let before = service.processor_time()?;
    scene.queue(to, count)?;
    scene::until("the queue is worked off", || receiver.count() >= count as usize)?;
    scene.until_empty(to)?;
    let ended = Instant::now();
    let took = ended - receiver.first().ok_or("nothing came")?;
    let cost = (service.processor_time()? - before).as_secs_f64() * 1000.0 / f64::from(count);
    Ok((Sample::of_rate(f64::from(count) / took.as_secs_f64()), cost))
}

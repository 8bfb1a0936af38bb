//! What a long queue costs: those who write, and memory.

use crate::Outcome;
use crate::burst::{Shape, burst};
use crate::options::Options;
use crate::receiver::Receiver;
use crate::report::{Limit, Line, grouped};
use crate::rounds::{Contender, ratio, take_turns};
use crate::stage::{CLIENTS, Side, Stage};
use crate::traffic;
use std::time::Duration;

use super::scene::{EVENTS_STORED, NEVER, Scene};
use crate::measures::reads::figures;

const QUEUED_FOR_CREATES: u32 = 100_000;
const CREATES_AT_LEAST: f64 = 0.9;

/// Creates while much is queued for a receiver that does not answer, against none of that.
pub(in crate::measures) fn creates(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let scene = Scene::set(stage, side)?;
        let receiver = Receiver::start()?;
        let subscription = scene.subscribe(&receiver, NEVER)?;
        receiver.hang(true);
        let traffic = traffic::create(&side.key, stage.size, side.attributes.clone());
        let creates = |time: Duration, seed| burst(side.service.address, &traffic, Shape::of_time(CLIENTS, time, seed));
        let contenders: [Contender<'_>; 2] = [
            Box::new(|time, round| {
                scene.queue(&subscription, QUEUED_FOR_CREATES)?;
                let sample = creates(time, 3_000 + round)?;
                scene.unqueue(&subscription)?;
                Ok(sample)
            }),
            Box::new(|time, round| creates(time, 4_000 + round)),
        ];
        let samples = take_turns(&contenders, options.rounds(), options.turn())?;
        lines.push(Line {
            what: format!("Create while {} deliveries are queued", grouped(QUEUED_FOR_CREATES.into())),
            store: Some(side.store),
            measured: figures(&samples[0]),
            against: figures(&samples[1]),
            value: ratio(&samples[0], &samples[1]),
            unit: "×",
            limit: Limit::AtLeast(CREATES_AT_LEAST),
        });
    }
    Ok(lines)
}

/// Subscriptions with a queue each.
const QUEUES: u32 = 10;
const MOST_MEGABYTES: f64 = 50.0;
/// Long enough for everything that the service does now and then with the queue.
const WATCHED: Duration = Duration::from_secs(20);
/// Few enough that requests need little memory.
const WATCHED_CLIENTS: usize = 4;
const MEGABYTE: f64 = 1_000_000.0;

/// The most memory in use while a million deliveries are queued, nine tenths of them for receivers that do not answer.
pub(in crate::measures) fn memory(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let scene = Scene::set(stage, side)?;
        let receivers = (0..QUEUES).map(|_| Receiver::start()).collect::<Outcome<Vec<_>>>()?;
        let subscriptions = receivers.iter().map(|it| scene.subscribe(it, NEVER)).collect::<Outcome<Vec<_>>>()?;
        receivers.iter().skip(1).for_each(|it| it.hang(true));
        let without = peak(stage, side, 5_000)?;
        subscriptions.iter().try_for_each(|it| scene.queue(it, EVENTS_STORED))?;
        let with = peak(stage, side, 6_000)?;
        subscriptions.iter().try_for_each(|it| scene.unqueue(it))?;
        lines.push(Line {
            what: format!("Memory more with {} queued deliveries", grouped((QUEUES * EVENTS_STORED).into())),
            store: Some(side.store),
            measured: format!("{with:.1} MB at most"),
            against: format!("{without:.1} MB at most without"),
            value: with - without,
            unit: "MB",
            limit: Limit::AtMost(MOST_MEGABYTES),
        });
    }
    Ok(lines)
}

/// The most memory that was in use under a few requests, in megabytes.
fn peak(stage: &Stage, side: &Side, seed: u64) -> Outcome<f64> {
    let traffic = traffic::create(&side.key, stage.size, side.attributes.clone());
    let shape = Shape::of_time(WATCHED_CLIENTS, WATCHED, seed);
    let peak = side.service.peak_bytes(|| burst(side.service.address, &traffic, shape))?;
    Ok(peak as f64 / MEGABYTE)
}

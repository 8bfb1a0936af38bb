//! Deliveries of webhooks: their rate and delay, and what delays them or is delayed by them.

mod pace;
mod queue;
mod sender;

use super::*;
use crate::data;
use crate::receiver::Arrival;
use candor_domain::id::DepartmentId;
use pace::{Pace, creates_at, delays};
use queue::{CREATED, DeliveryQueue, EVENTS, NEVER, Subscription, until};
use sender::{Post, SenderAlone};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const MIN_RATE: f64 = 0.4;
/// Number of concurrent attempts of the service for one receiver.
const CONCURRENCY: usize = 32;
/// Number of deliveries of a turn for each second of its length.
const DELIVERIES_PER_SECOND: u32 = 10_000;

/// Measures the rate at which a queue becomes empty, with every attempt recorded, against the same requests
/// without a queue.
pub(super) fn rate(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let queue = DeliveryQueue::prepare(data, instance)?;
    let what = "Deliveries from the queue to one receiver, each recorded";
    Ok(vec![delivery_rate(data, &queue, (json!(null), json!({})), what)?])
}

/// Measures the rate of deliveries to a subscription with a filter and custom headers.
fn delivery_rate(
    data: &DataSet<'_>,
    queue: &DeliveryQueue<'_>,
    added: (Value, Value),
    what: &str,
) -> Result<Line> {
    let (instance, receiver) = (queue.instance, Receiver::start()?);
    let subscription = queue.subscribe_with(&receiver, NEVER, added)?;
    let alone = SenderAlone::new(&receiver, queue.event_data.clone())?;
    let millis = RefCell::new(vec![]);
    let count = |turn: Duration| DELIVERIES_PER_SECOND * u32::try_from(turn.as_secs()).unwrap_or(1).max(1);
    let contenders: [Contender<'_>; 2] = [
        Box::new(|turn, _| {
            let (sample, cost) = deliver(queue, &receiver, &subscription, count(turn))?;
            millis.borrow_mut().push(cost);
            Ok(sample)
        }),
        Box::new(|turn, _| alone.rate(count(turn), CONCURRENCY)),
    ];
    let comparison = data.compare(instance, &contenders)?;
    let [ours, theirs] = [0, 1].map(|at| per_second(typical(&comparison.samples[at], |sample| sample.rate)));
    let millis = median(millis.borrow().iter().copied());
    let figures =
        [format!("{ours}, {millis:.2} ms of processor time each"), format!("{theirs} by the sender alone")];
    let value = (comparison.median_of_pairs(|one, other| one.rate / other.rate), "×");
    Ok(Line::new(what, instance.store, figures, value, Limit::AtLeast(MIN_RATE)))
}

/// Fills the queue and waits until it is empty. Returns the rate from the first arrival to the last record, and
/// the milliseconds of processor time of the service for a delivery.
fn deliver(
    queue: &DeliveryQueue<'_>,
    receiver: &Receiver,
    to: &Subscription,
    count: u32,
) -> Result<(Sample, f64)> {
    receiver.reset();
    let service = &queue.instance.service;
    let before = service.usage()?;
    queue.fill(to, count)?;
    until("every delivery has arrived", || Ok(receiver.count() >= count as usize))?;
    queue.wait_until_empty(to)?;
    let ended = Instant::now();
    let took = ended - receiver.first().ok_or("no delivery came")?;
    let millis = (service.usage()? - before).processor.as_secs_f64() * 1000.0 / f64::from(count);
    Ok((Sample::from_rate(f64::from(count) / took.as_secs_f64()), millis))
}

const EVENTS_PER_SECOND: u32 = 200;
/// Percentiles of the delay of a delivery: name, fraction, and the most milliseconds that a delivery may take
/// longer than a bare post.
const MAX_DELAYS: [(&str, f64, f64); 2] = [("p50", 0.5, 2.0), ("p99", 0.99, 6.0)];

/// Measures the time from the response to a create until its event arrives. The creator sends a bare post at that
/// moment for comparison.
pub(super) fn latency(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let queue = DeliveryQueue::prepare(data, instance)?;
    let receiver = Receiver::start()?;
    let subscription = queue.subscribe(&receiver, CREATED)?;
    let creates = instance.creates(data.size);
    let turn = |pace: Pace, is_delivered: bool| -> Result<Sample> {
        queue.set_active(&subscription, is_delivered)?;
        receiver.reset();
        receiver.start_recording();
        let post =
            || if is_delivered { Ok(None) } else { Post::new(&receiver, queue.event_data.clone()).map(Some) };
        let answered = creates_at(instance.service.address, &creates, pace, post)?;
        until("every delivery has arrived", || Ok(receiver.count() >= answered.len()))?;
        Ok(delays(&answered, &receiver.take_recorded(), pace))
    };
    let pace = |time, round: u64, kind: u64| Pace { per_second: EVENTS_PER_SECOND, time, seed: 10 * round + kind };
    let contenders: [Contender<'_>; 2] = [
        Box::new(|time, round| turn(pace(time, round, 1), true)),
        Box::new(|time, round| turn(pace(time, round, 2), false)),
    ];
    let comparison = data.compare(instance, &contenders)?;
    queue.set_active(&subscription, false)?;
    let line = |(name, part, at_most)| {
        let more = comparison.median_of_pairs(|ours, bare| ours.within(part) - bare.within(part));
        let what = format!("From commit to arrival, {name} beyond that of a bare post");
        comparison.line(what, (more, "ms"), Limit::AtMost(at_most))
    };
    Ok(MAX_DELAYS.map(line).to_vec())
}

/// Number of receivers of the same events. The last one hangs in half of the turns.
const RECEIVERS: usize = 10;
const SHARED_EVENTS_PER_SECOND: u32 = 30;
/// Length of a turn with a hanging receiver, above the timeout of a delivery.
const HANGING_TURN: Duration = Duration::from_secs(18);
const MAX_ROUNDS: usize = 3;
const MAX_HANGING_TAIL: f64 = 1.2;

/// Measures the delay of nine receivers while a tenth one hangs.
pub(super) fn hanging(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let queue = DeliveryQueue::prepare(data, instance)?;
    let receivers = (0..RECEIVERS).map(|_| Receiver::start()).collect::<Result<Vec<_>>>()?;
    let subscriptions =
        receivers.iter().map(|receiver| queue.subscribe(receiver, CREATED)).collect::<Result<Vec<_>>>()?;
    let creates = instance.creates(data.size);
    let turn = |time, seed, hangs| {
        let pace = Pace { per_second: SHARED_EVENTS_PER_SECOND, time, seed };
        let create = || creates_at(instance.service.address, &creates, pace, || Ok(None));
        let (answered, arrived) = deliver_to_others(&receivers, hangs, create)?;
        queue.empty(&subscriptions[RECEIVERS - 1])?;
        Ok(delays(&answered, &arrived, pace))
    };
    let contenders: [Contender<'_>; 2] = [
        Box::new(|time, round| turn(time, 10 * round + 3, true)),
        Box::new(|time, round| turn(time, 10 * round + 4, false)),
    ];
    let rounds = data.options.rounds().min(MAX_ROUNDS);
    let comparison = Comparison::run(instance.store, &contenders, rounds, (HANGING_TURN, Turns::Plain))?;
    subscriptions.iter().try_for_each(|subscription| queue.set_active(subscription, false))?;
    let what = "p99 to nine receivers while a tenth hangs, against all ten well";
    Ok(vec![comparison.tail(what, MAX_HANGING_TAIL)])
}

/// Creates resources and waits for their deliveries to all receivers but the last one. Returns the times of both.
fn deliver_to_others(
    receivers: &[Receiver],
    hangs: bool,
    create: impl FnOnce() -> Result<Vec<Arrival>>,
) -> Result<(Vec<Arrival>, Vec<Arrival>)> {
    let (last, others) = receivers.split_last().ok_or("no receivers")?;
    last.set_hanging(hangs);
    for receiver in others {
        receiver.reset();
        receiver.start_recording();
    }
    let answered = create()?;
    until("the other receivers have every delivery", || {
        Ok(others.iter().all(|receiver| receiver.count() >= answered.len()))
    })?;
    last.set_hanging(false);
    Ok((answered, others.iter().flat_map(Receiver::take_recorded).collect()))
}

const QUEUED_DURING_CREATES: u32 = 100_000;
const MIN_CREATE_SPEED: f64 = 0.9;

/// Measures creates while much is queued for a hanging receiver, against creates with an empty queue.
pub(super) fn creates(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let queue = DeliveryQueue::prepare(data, instance)?;
    let receiver = Receiver::start()?;
    let subscription = queue.subscribe(&receiver, NEVER)?;
    receiver.set_hanging(true);
    let traffic = instance.creates(data.size);
    let create = |time, seed| burst(instance.service.address, &traffic, Shape::for_time(CLIENTS, time, seed));
    let contenders: [Contender<'_>; 2] = [
        Box::new(|time, round| {
            queue.fill(&subscription, QUEUED_DURING_CREATES)?;
            let sample = create(time, 3_000 + round)?;
            queue.empty(&subscription)?;
            Ok(sample)
        }),
        Box::new(|time, round| create(time, 4_000 + round)),
    ];
    let what = format!("Create while {} deliveries are queued", grouped(QUEUED_DURING_CREATES.into()));
    Ok(vec![data.compare(instance, &contenders)?.speed(what, Limit::AtLeast(MIN_CREATE_SPEED))])
}

/// Number of departments in the filter, and of custom headers.
const FILTERS: u8 = 5;
/// Number of people that the creates are about. The filter names each of them.
const FILTERED_PEOPLE: u32 = 50;
const MAX_FILTER_COST: f64 = 1.1;

/// Measures creates whose event a filter permits by person, department and type, against creates with a plain
/// subscription. Both deliver their events. Then measures the rate of deliveries with custom headers.
pub(super) fn filters(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let queue = DeliveryQueue::prepare(data, instance)?;
    let receiver = Receiver::start()?;
    let people = FILTERED_PEOPLE.min(data.size.people);
    let added = filter_and_headers(instance, people)?;
    let filtered = queue.subscribe_with(&receiver, CREATED, added.clone())?;
    let plain = queue.subscribe(&receiver, CREATED)?;
    let traffic = Traffic::creates(&instance.api.key, people, &instance.attributes, 2);
    let turn = |own: &Subscription, other: &Subscription, time, seed| {
        queue.set_active(other, false)?;
        queue.set_active(own, true)?;
        receiver.reset();
        let sample = burst(instance.service.address, &traffic, Shape::for_time(CLIENTS, time, seed))?;
        until("a delivery has arrived", || Ok(receiver.count() > 0))?;
        queue.set_active(own, false)?;
        // Deliveries that still wait would burden the next turn.
        queue.empty(own)?;
        Ok(sample)
    };
    let contenders: [Contender<'_>; 2] = [
        Box::new(|time, round| turn(&filtered, &plain, time, 16_000 + round)),
        Box::new(|time, round| turn(&plain, &filtered, time, 17_000 + round)),
    ];
    let comparison = data.compare(instance, &contenders)?;
    let what = "Create with a subscription that has filters of each kind and five headers, against a plain one";
    let cost = comparison.cost(what, MAX_FILTER_COST);
    let what = "Deliveries of a subscription with filters and five headers, each recorded";
    Ok(vec![cost, delivery_rate(data, &queue, added, what)?])
}

/// Moves people to a new department. Returns a filter that permits observations about them, and custom headers.
fn filter_and_headers(instance: &Instance, people: u32) -> Result<(Value, Value)> {
    let department: DepartmentId =
        instance.api.create("/v1/departments", &json!({"name": "Filtered people"}))?.parse()?;
    let people: Vec<_> = (0..people).map(data::person).collect();
    for person in &people {
        let change = json!({"department_id": department});
        instance.api.send("PATCH", &format!("/v1/employees/{person}"), &change)?;
    }
    let absent = (1..FILTERS).map(|number| DepartmentId::from_bytes([number; 16]));
    let departments: Vec<_> = absent.chain([department]).collect();
    let filter = json!({"employee_id": people, "department_id": departments, "type": "strength"});
    let header = |number| (format!("x-key-{number}"), format!("value {number}"));
    let headers: BTreeMap<_, _> = (0..FILTERS).map(header).collect();
    Ok((filter, json!(headers)))
}

/// Number of subscriptions, each with a queue.
const QUEUES: u32 = 10;
const MAX_MEGABYTES: f64 = 50.0;
/// Length of the measurement, in which all periodic work of the service on the queue takes place.
const WATCHED: Duration = Duration::from_secs(20);
/// Number of clients whose requests need little memory.
const WATCHED_CLIENTS: usize = 4;

/// Measures the peak memory while a million deliveries are queued, nine tenths of them for hanging receivers.
pub(super) fn memory(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let queue = DeliveryQueue::prepare(data, instance)?;
    let receivers = (0..QUEUES).map(|_| Receiver::start()).collect::<Result<Vec<_>>>()?;
    let subscriptions =
        receivers.iter().map(|receiver| queue.subscribe(receiver, NEVER)).collect::<Result<Vec<_>>>()?;
    receivers.iter().skip(1).for_each(|receiver| receiver.set_hanging(true));
    let creates = instance.creates(data.size);
    let peak = |seed| -> Result<f64> {
        let shape = Shape::for_time(WATCHED_CLIENTS, WATCHED, seed);
        let (_, peak) = instance.service.peak_bytes_during(|| burst(instance.service.address, &creates, shape))?;
        Ok(peak as f64 / MEGABYTE)
    };
    let without = peak(5_000)?;
    subscriptions.iter().try_for_each(|subscription| queue.fill(subscription, EVENTS))?;
    let with = peak(6_000)?;
    subscriptions.iter().try_for_each(|subscription| queue.empty(subscription))?;
    Ok(vec![Line::new(
        format!("Memory more with {} queued deliveries", grouped((QUEUES * EVENTS).into())),
        instance.store,
        [format!("{with:.1} MB at most"), format!("{without:.1} MB at most without")],
        (with - without, "MB"),
        Limit::AtMost(MAX_MEGABYTES),
    )])
}

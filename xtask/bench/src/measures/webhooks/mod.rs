//! Deliveries of webhooks: their rate and delay, and creates beside a full queue.

mod queue;
mod sender;

use super::*;
use crate::service::wait_until;
use candor_test_load::{Connection, Random, WriteRequest};
use queue::{DeliveryQueue, PATIENCE, Subscription};
use sender::{Post, SenderAlone};
use std::collections::HashMap;
use std::net::TcpListener;
use tokio::runtime::Builder;
use tokio::time::interval;

const MIN_RATE: f64 = 0.4;
/// Number of concurrent attempts of the service for one receiver.
const CONCURRENCY: usize = 32;
/// Number of deliveries of a turn for each second of its length.
const DELIVERIES_PER_SECOND: u32 = 10_000;

/// Measures the rate at which a queue becomes empty, with every attempt recorded, against the same requests
/// without a queue.
pub(super) fn rate(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let (queue, receiver) = (DeliveryQueue::prepare(data, instance)?, Receiver::start()?);
    let subscription = queue.subscribe_to_filled(&receiver.url())?;
    let sender_rate = SenderAlone::new(receiver.url(), queue.event_data.clone())?;
    let count = |turn: Duration| DELIVERIES_PER_SECOND * u32::try_from(turn.as_secs()).unwrap_or(1).max(1);
    let contenders: [Contender<'_>; 2] = [
        Box::new(|turn, _| deliver(&queue, &receiver, &subscription, count(turn))),
        Box::new(|turn, _| sender_rate.rate(count(turn), CONCURRENCY)),
    ];
    let comparison = data.compare(instance, &contenders)?.with_label("the sender alone");
    let what = "Deliveries from the queue to one receiver, each recorded";
    Ok(vec![comparison.speed(what, Limit::AtLeast(MIN_RATE))])
}

/// Fills the queue and waits until it is empty. Returns the rate from the first arrival to the last record.
fn deliver(queue: &DeliveryQueue<'_>, receiver: &Receiver, to: &Subscription, count: u32) -> Result<Sample> {
    receiver.take();
    queue.fill(to, count)?;
    wait_until("every delivery has arrived", PATIENCE, || Ok(receiver.count() >= count as usize))?;
    queue.wait_until_empty(to)?;
    let end = Instant::now();
    let arrivals = receiver.take();
    let (_, first) = arrivals.first().ok_or("no delivery came")?;
    Ok(Sample::from_rate(f64::from(count) / (end - *first).as_secs_f64()))
}

/// Time from one create to the next.
const BEAT: Duration = Duration::from_millis(5);
/// Percentiles of the delay of a delivery: name, fraction, and the most milliseconds that a delivery may take
/// longer than a bare post.
const MAX_DELAYS: [(&str, f64, f64); 2] = [("p50", 0.5, 2.0), ("p99", 0.99, 6.0)];

/// Measures the time from the response to a create until its event arrives. For comparison, the subscription is
/// inactive in every other turn, and the creator sends a bare post when it gets the response.
pub(super) fn delay(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let (queue, receiver) = (DeliveryQueue::prepare(data, instance)?, Receiver::start()?);
    let subscription = queue.subscribe(&receiver.url())?;
    let turn = |time, seed, is_delivered: bool| -> Result<Sample> {
        queue.set_active(&subscription, is_delivered)?;
        receiver.take();
        let post =
            || if is_delivered { Ok(None) } else { Post::new(receiver.url(), queue.event_data.clone()).map(Some) };
        let response_time = create_for(instance, &instance.creates(data.size), (time, seed), post)?;
        wait_until("every delivery has arrived", PATIENCE, || Ok(receiver.count() >= response_time.len()))?;
        let delay = |(id, at): Arrival| Some(at.saturating_duration_since(*response_time.get(&id)?).as_micros());
        let micros = receiver.take().into_iter().filter_map(delay);
        Ok(Sample::new(micros.map(|micros| u32::try_from(micros).unwrap_or(u32::MAX)).collect(), time))
    };
    let contenders: [Contender<'_>; 2] = [
        Box::new(|time, round| turn(time, 18_000 + round, true)),
        Box::new(|time, round| turn(time, 19_000 + round, false)),
    ];
    let comparison = data.compare(instance, &contenders)?.with_label("bare post");
    queue.set_active(&subscription, false)?;
    let line = |(name, part, at_most)| {
        let more = comparison.median_of_pairs(|ours, bare| ours.millis_within(part) - bare.millis_within(part));
        let what = format!("From commit to arrival, {name} beyond that of a bare post");
        comparison.line(what, (more, "ms"), Limit::AtMost(at_most))
    };
    Ok(MAX_DELAYS.map(line).to_vec())
}

/// Sends creates at a steady pace. Returns the time of each response by the id of the resource. If there is a
/// `post`, it follows each response at once.
fn create_for(
    instance: &Instance,
    creates: &Traffic,
    (time, seed): (Duration, u64),
    post: impl FnOnce() -> Result<Option<Post>>,
) -> Result<HashMap<String, Instant>> {
    let (mut answered, mut request, mut random) = (HashMap::new(), vec![], Random::from_seed(seed));
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let post = post()?;
        let mut connection = Connection::open(instance.service.address).await?;
        let (started, mut beats) = (Instant::now(), interval(BEAT));
        while started.elapsed() < time {
            beats.tick().await;
            request.clear();
            creates.write(&mut random, &mut request);
            let (_, body) = connection.exchange(&request).await?;
            let now = Instant::now();
            let resource: Value = serde_json::from_slice(body)?;
            let id = resource["id"].as_str().ok_or_else(|| format!("the response has no id: {resource}"))?;
            if let Some(post) = &post {
                post.post_event_of(id).await?;
            }
            answered.insert(id.to_owned(), now);
        }
        Ok(answered)
    })
}

const QUEUED: u32 = 100_000;
const MIN_CREATE_SPEED: f64 = 0.9;

/// Measures creates while many deliveries are queued for a receiver that never answers, against creates with an
/// empty queue.
pub(super) fn creates(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let queue = DeliveryQueue::prepare(data, instance)?;
    // The system completes connections to this address. This program never reads from them.
    let silent = TcpListener::bind("127.0.0.1:0")?;
    let subscription = queue.subscribe_to_filled(&format!("http://{}/hooks", silent.local_addr()?))?;
    let traffic = instance.creates(data.size);
    let create = |time, seed| burst(instance.service.address, &traffic, Shape::for_time(CLIENTS, time, seed));
    let contenders: [Contender<'_>; 2] = [
        Box::new(|time, round| {
            queue.fill(&subscription, QUEUED)?;
            let sample = create(time, 3_000 + round)?;
            queue.empty(&subscription)?;
            Ok(sample)
        }),
        Box::new(|time, round| create(time, 4_000 + round)),
    ];
    let what = format!("Create while {} deliveries are queued", group_thousands(QUEUED.into()));
    let comparison = data.compare(instance, &contenders)?;
    Ok(vec![comparison.speed(what, Limit::AtLeast(MIN_CREATE_SPEED))])
}

//! Creates at a steady pace, and the delay of their deliveries.

use crate::http::Connection;
use crate::measures::*;
use crate::random::Random;
use crate::receiver::Arrival;
use serde_json::Value;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{Instant, sleep_until};

use super::sender::Post;

/// Number of connections, which send in turn.
const CONNECTIONS: u32 = 16;

#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) per_second: u32,
    pub(super) time: Duration,
    pub(super) seed: u64,
}

/// Sends creates. Returns the time of each response. If there is a `post`, it follows each response at once.
pub(super) fn creates_at(
    address: SocketAddr,
    traffic: &Traffic,
    pace: Pace,
    post: impl FnOnce() -> Result<Option<Post>>,
) -> Result<Vec<Arrival>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        let post = post()?.map(Rc::new);
        let started = Instant::now();
        let mut senders = JoinSet::new();
        for number in 0..CONNECTIONS {
            let connection = Connection::open(address).await?;
            let random = Random::seeded(pace.seed.wrapping_mul(7_000_003).wrapping_add(number.into()));
            let times = send_times(started, pace, number);
            senders.spawn_local(send(connection, traffic.clone(), random, times, post.clone()));
        }
        let mut answered = vec![];
        while let Some(sent) = senders.join_next().await {
            answered.extend(sent??);
        }
        Ok(answered)
    })
}

/// Returns the times at which a connection sends.
fn send_times(started: Instant, pace: Pace, number: u32) -> impl Iterator<Item = Instant> {
    let step = Duration::from_secs(1) / pace.per_second;
    let all = (number..).step_by(CONNECTIONS as usize).map(move |beat| started + step * beat);
    all.take_while(move |time| *time < started + pace.time)
}

async fn send(
    mut connection: Connection,
    traffic: Traffic,
    mut random: Random,
    times: impl Iterator<Item = Instant>,
    post: Option<Rc<Post>>,
) -> std::result::Result<Vec<Arrival>, String> {
    let mut answered = vec![];
    let mut request = Vec::with_capacity(2048);
    for time in times {
        sleep_until(time).await;
        request.clear();
        traffic.write(&mut random, &mut request);
        let (_, body) = connection.exchange(&request).await.map_err(|error| error.to_string())?;
        let now = std::time::Instant::now();
        let created: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let id = created["id"].as_str().ok_or_else(|| format!("the response has no id: {created}"))?.to_owned();
        if let Some(post) = &post {
            post.about(&id).await?;
        }
        answered.push((id, now));
    }
    Ok(answered)
}

/// Returns the delays of arrivals after the responses. An arrival before the response has no delay.
pub(super) fn delays(answered: &[Arrival], arrived: &[Arrival], pace: Pace) -> Sample {
    let answered: HashMap<_, _> = answered.iter().map(|(id, at)| (id, *at)).collect();
    let delay = |(id, at): &Arrival| Some(at.saturating_duration_since(*answered.get(id)?).as_micros());
    let micros = arrived.iter().filter_map(delay).map(|micros| u32::try_from(micros).unwrap_or(u32::MAX));
    Sample::new(micros.collect(), pace.time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_together_keep_the_pace() {
        let pace = Pace { per_second: 200, time: Duration::from_secs(1), seed: 0 };
        let started = Instant::now();
        let mut all: Vec<_> = (0..CONNECTIONS).flat_map(|number| send_times(started, pace, number)).collect();
        all.sort_unstable();
        assert_eq!(all.len(), 200);
        assert!(all.windows(2).all(|times| times[1] - times[0] == Duration::from_millis(5)));
    }

    #[test]
    fn delay_counts_from_the_response() {
        let at = std::time::Instant::now();
        let later = at + Duration::from_millis(3);
        let arrivals = |all: [(&str, std::time::Instant); 3]| all.map(|(id, at)| (id.to_owned(), at));
        let pace = Pace { per_second: 1, time: Duration::from_secs(2), seed: 0 };
        let answered = arrivals([("a", at), ("b", later), ("c", at)]);
        let arrived = arrivals([("a", later), ("b", at), ("x", at)]);
        assert_eq!(delays(&answered, &arrived, pace), Sample::new(vec![0, 3_000], pace.time));
    }
}

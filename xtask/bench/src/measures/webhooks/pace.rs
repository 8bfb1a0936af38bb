//! Creates at a steady pace, and how soon after each answer something came of it.

use crate::Outcome;
use crate::burst::Sample;
use crate::http::Connection;
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

use super::bare::Post;
use crate::burst::Traffic;

/// Connections that take turns.
const CONNECTIONS: u32 = 16;

/// How often, for how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) per_second: u32,
    pub(super) time: Duration,
    pub(super) seed: u64,
}

/// Sends creates, and answers when each was answered. On request every answer is followed by a post at once.
pub(super) fn creates(
    address: SocketAddr,
    traffic: &Rc<Traffic>,
    pace: Pace,
    post: impl FnOnce() -> Outcome<Option<Post>>,
) -> Outcome<Vec<Arrival>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        let post = post()?.map(Rc::new);
        let begun = Instant::now();
        let mut senders = JoinSet::new();
        for number in 0..CONNECTIONS {
            let connection = Connection::open(address).await?;
            let random = Random::seeded(pace.seed.wrapping_mul(7_000_003).wrapping_add(number.into()));
            let beats = beats(begun, pace, number);
            senders.spawn_local(one(connection, Rc::clone(traffic), random, beats, post.clone()));
        }
        let mut answered = vec![];
        while let Some(sent) = senders.join_next().await {
            answered.extend(sent??);
        }
        Ok(answered)
    })
}

/// When one of the connections is to send.
fn beats(begun: Instant, pace: Pace, number: u32) -> impl Iterator<Item = Instant> {
    let step = Duration::from_secs(1) / pace.per_second;
    let all = (number..).step_by(CONNECTIONS as usize).map(move |it| begun + step * it);
    all.take_while(move |it| *it < begun + pace.time)
}

async fn one(
    mut connection: Connection,
    traffic: Rc<Traffic>,
    mut random: Random,
    beats: impl Iterator<Item = Instant>,
    post: Option<Rc<Post>>,
) -> Result<Vec<Arrival>, String> {
    let mut answered = vec![];
    let mut request = Vec::with_capacity(2048);
    for beat in beats {
        sleep_until(beat).await;
        request.clear();
        traffic.write(&mut random, &mut request);
        let (_, body) = connection.exchange(&request).await.map_err(|it| it.to_string())?;
        let now = std::time::Instant::now();
        let created: Value = serde_json::from_slice(body).map_err(|it| it.to_string())?;
        let id = created["id"].as_str().ok_or_else(|| format!("nothing was created: {created}"))?.to_owned();
        if let Some(post) = &post {
            post.about(&id).await?;
        }
        answered.push((id, now));
    }
    Ok(answered)
}

/// How long after the answer each arrival was; what came before the answer came at once.
pub(super) fn delays(answered: &[Arrival], arrived: &[Arrival], pace: Pace) -> Sample {
    let answered: HashMap<_, _> = answered.iter().map(|(id, at)| (id, *at)).collect();
    let delay = |(id, at): &Arrival| Some(at.saturating_duration_since(*answered.get(id)?).as_micros());
    let mut micros: Vec<u32> =
        arrived.iter().filter_map(delay).map(|it| u32::try_from(it).unwrap_or(u32::MAX)).collect();
    micros.sort_unstable();
    Sample { rate: micros.len() as f64 / pace.time.as_secs_f64(), micros, cost: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_take_turns_at_the_pace_and_together_reach_it() {
        let pace = Pace { per_second: 200, time: Duration::from_secs(1), seed: 0 };
        let begun = Instant::now();
        let mut all: Vec<_> = (0..CONNECTIONS).flat_map(|it| beats(begun, pace, it)).collect();
        all.sort_unstable();
        assert_eq!(all.len(), 200);
        assert!(all.windows(2).all(|it| it[1] - it[0] == Duration::from_millis(5)));
    }

    #[test]
    fn a_delay_is_counted_from_the_answer() {
        let at = std::time::Instant::now();
        let name = |it: &str| it.to_owned();
        let later = at + Duration::from_millis(3);
        let pace = Pace { per_second: 1, time: Duration::from_secs(2), seed: 0 };
        let answered = [(name("a"), at), (name("b"), later), (name("c"), at)];
        let arrived = [(name("a"), later), (name("b"), at), (name("x"), at)];
        assert_eq!(delays(&answered, &arrived, pace), Sample { micros: vec![0, 3_000], ..Sample::of_rate(1.0) });
    }
}

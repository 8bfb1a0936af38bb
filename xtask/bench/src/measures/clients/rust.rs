//! The library for Rust, against `reqwest`.

use super::{Figures, median};
use crate::Result;
use crate::api::Api;
use candor_client::types::ListEventsQuery;
use candor_client::{Candor, FollowOptions};
use std::fmt::Write;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;

/// Number of rounds of requests, after one that does not count.
const ROUNDS: usize = 100;
/// Number of requests of each contender in a round.
const REQUESTS: usize = 10;
/// Time limit of requests, which the library has, too.
const TIMEOUT: Duration = Duration::from_secs(30);
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(300);
/// Number of people, each of which causes an event in the feed.
const PEOPLE: usize = 10_000;

pub(super) fn figures(api: &Api) -> Result<Figures> {
    // Fails without effect if the process has a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Candor::builder().api_key(&api.key).base_url(format!("http://{}", api.address)).build()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let rounds = runtime.block_on(rounds(api, &client))?;
    let typical = |of: fn(&[f64; 2]) -> f64| median(rounds.iter().map(of));
    Ok(Figures {
        micros: [typical(|times| times[0]), typical(|times| times[1])],
        ratio: typical(|times| times[1] / times[0]),
        events: runtime.block_on(events(api, &client))?,
    })
}

/// Microseconds of a request in each round, with bare HTTP and with the library.
async fn rounds(api: &Api, client: &Candor) -> Result<Vec<[f64; 2]>> {
    let http = reqwest::Client::builder().no_proxy().timeout(TIMEOUT).build()?;
    let (url, organization) = (format!("http://{}/v1/organization", api.address), client.organization());
    let micros = |begun: Instant| begun.elapsed().as_secs_f64() * 1e6 / REQUESTS as f64;
    let mut rounds = vec![];
    for number in 0..=ROUNDS {
        let mut times = [0.0; 2];
        for contender in [number % 2, 1 - number % 2] {
            let begun = Instant::now();
            for _ in 0..REQUESTS {
                if contender == 0 {
                    let answer = http.get(&url).bearer_auth(&api.key).send().await?.bytes().await?;
                    let _: serde_json::Value = serde_json::from_slice(&answer)?;
                } else {
                    organization.get().await?;
                }
            }
            times[contender] = micros(begun);
        }
        rounds.push(times);
    }
    Ok(rounds.split_off(1))
}

/// Events that the library reads in a second.
async fn events(api: &Api, client: &Candor) -> Result<f64> {
    let position = client.events().list(ListEventsQuery::new().since("now")).await?.next_cursor;
    let mut file = "email,first_name,last_name\n".to_owned();
    for row in 0..PEOPLE {
        writeln!(file, "follow{row}@example.com,P,{row}")?;
    }
    client.employees().upsert(file, None).timeout(UPLOAD_TIMEOUT).await?;
    let mut feed = client.events().follow(FollowOptions::new().cursor(position));
    let begun = Instant::now();
    for _ in 0..PEOPLE {
        feed.next().await.map_err(|error| format!("{}: {error}", api.address))?;
    }
    Ok(PEOPLE as f64 / begun.elapsed().as_secs_f64())
}

//! How soon a delivery arrives, and whether a receiver that hangs delays the others.

use crate::Outcome;
use crate::burst::Sample;
use crate::options::Options;
use crate::receiver::Receiver;
use crate::report::{Limit, Line};
use crate::rounds::{Contender, median, take_turns};
use crate::stage::Stage;
use crate::traffic;
use std::time::Duration;

use super::bare::Post;
use super::pace::{Pace, creates, delays};
use super::scene::{CREATED, Scene, Subscription, until};
use crate::measures::reads::figures;

const EVENTS_A_SECOND: u32 = 200;
/// How much later than a bare post, in milliseconds.
const P50_AT_MOST: f64 = 2.0;
const P99_AT_MOST: f64 = 6.0;

/// From the answer of a create to the arrival of its event, against posts that the creator makes at that moment.
pub(in crate::measures) fn latency(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let scene = Scene::set(stage, side)?;
        let receiver = Receiver::start()?;
        let subscription = scene.subscribe(&receiver, CREATED)?;
        let traffic = traffic::create(&side.key, stage.size, side.attributes.clone());
        let turn = |pace: Pace, delivered: bool| -> Outcome<Sample> {
            scene.activate(&subscription, delivered)?;
            receiver.count_anew();
            receiver.note();
            let post = || if delivered { Ok(None) } else { Post::new(&receiver, scene.data.clone()).map(Some) };
            let answered = creates(side.service.address, &traffic, pace, post)?;
            until("everything has arrived", || receiver.count() >= answered.len())?;
            Ok(delays(&answered, &receiver.noted(), pace))
        };
        let pace = |time, round: u64, kind: u64| Pace { per_second: EVENTS_A_SECOND, time, seed: 10 * round + kind };
        let contenders: [Contender<'_>; 2] = [
            Box::new(|time, round| turn(pace(time, round, 1), true)),
            Box::new(|time, round| turn(pace(time, round, 2), false)),
        ];
        let samples = take_turns(&contenders, options.rounds(), options.turn())?;
        scene.activate(&subscription, false)?;
        for (name, part, at_most) in [("p50", 0.5, P50_AT_MOST), ("p99", 0.99, P99_AT_MOST)] {
            let more = samples[0].iter().zip(&samples[1]).map(|(ours, bare)| ours.within(part) - bare.within(part));
            lines.push(Line {
                what: format!("From commit to arrival, {name} beyond that of a bare post"),
                store: Some(side.store),
                measured: figures(&samples[0]),
                against: figures(&samples[1]),
                value: median(more),
                unit: "ms",
                limit: Limit::AtMost(at_most),
            });
        }
    }
    Ok(lines)
}

/// Receivers of the same events.
const RECEIVERS: usize = 10;
const EVENTS_FOR_ALL: u32 = 30;
/// Longer than a receiver may take.
const HANGING_TURN: Duration = Duration::from_secs(18);
const MOST_ROUNDS: usize = 3;
const OTHERS_AT_MOST: f64 = 1.2;

/// Receivers of the same events, of which the last one may hang.
struct Party<'a> {
    scene: &'a Scene<'a>,
    receivers: Vec<Receiver>,
    subscriptions: Vec<Subscription>,
}

/// One of ten receivers does not answer: how much later is it for the nine others?
pub(in crate::measures) fn hanging(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let scene = Scene::set(stage, side)?;
        let receivers = (0..RECEIVERS).map(|_| Receiver::start()).collect::<Outcome<Vec<_>>>()?;
        let subscriptions = receivers.iter().map(|it| scene.subscribe(it, CREATED)).collect::<Outcome<Vec<_>>>()?;
        let party = Party { scene: &scene, receivers, subscriptions };
        let traffic = traffic::create(&side.key, stage.size, side.attributes.clone());
        let turn = |pace: Pace, hangs: bool| {
            party.turn(hangs, pace, || creates(side.service.address, &traffic, pace, || Ok(None)))
        };
        let pace = |time, round: u64, kind: u64| Pace { per_second: EVENTS_FOR_ALL, time, seed: 10 * round + kind };
        let contenders: [Contender<'_>; 2] = [
            Box::new(|time, round| turn(pace(time, round, 3), true)),
            Box::new(|time, round| turn(pace(time, round, 4), false)),
        ];
        let samples = take_turns(&contenders, options.rounds().min(MOST_ROUNDS), HANGING_TURN)?;
        party.subscriptions.iter().try_for_each(|it| scene.activate(it, false))?;
        let slower = samples[0].iter().zip(&samples[1]).map(|(with, without)| with.within(0.99) / without.within(0.99));
        lines.push(Line {
            what: "p99 to nine receivers while a tenth hangs, against all ten well".to_owned(),
            store: Some(side.store),
            measured: figures(&samples[0]),
            against: figures(&samples[1]),
            value: median(slower),
            unit: "×",
            limit: Limit::AtMost(OTHERS_AT_MOST),
        });
    }
    Ok(lines)
}

impl Party<'_> {
    /// Runs one turn: what comes to all but the last receiver.
    fn turn(
        &self,
        hangs: bool,
        pace: Pace,
        work: impl FnOnce() -> Outcome<Vec<(String, std::time::Instant)>>,
    ) -> Outcome<Sample> {
        let (Some((last, others)), Some(hanging)) = (self.receivers.split_last(), self.subscriptions.last()) else {
            return Err("nobody receives".into());
        };
        last.hang(hangs);
        for receiver in others {
            receiver.count_anew();
            receiver.note();
        }
        let answered = work()?;
        until("the others have everything", || others.iter().all(|it| it.count() >= answered.len()))?;
        last.hang(false);
        self.scene.unqueue(hanging)?;
        let arrived: Vec<_> = others.iter().flat_map(Receiver::noted).collect();
        Ok(delays(&answered, &arrived, pace))
    }
}

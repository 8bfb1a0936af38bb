//! An erasure ledger is applied to a restored backup, for every order of holds, releases, erasures, backup and
//! ledger.

mod orders;

use std::sync::Arc;
use std::time::Duration;

use candor_domain::access::Tenant;
use candor_domain::erasure::{Erasure, ErasureStatus};
use candor_domain::id::{EmployeeId, ErasureId, ObservationId, OrganizationId};
use candor_domain::observation::Observation;
use candor_domain::people::Employee;
use candor_port_clock::{ManualClock, SeededIds};
use candor_port_storage::copy::CopyTarget;
use candor_port_storage::{Storage, StorageExt};
use candor_service::context::vault::Vault;
use candor_service::runtime::erasure;
use candor_service::usecases::erasure_ledger::{self, Ledger, LedgerDifference, LedgerError};
use candor_service::usecases::{employees, erasures, observations, operator};
use candor_service::{RequestContext, ServiceSettings, Services};

use self::orders::{Order, State, Step, Who, orders};
use crate::copy::ends::{File, copied, empty_postgres, store, target_in};
use crate::support::{KEY, NOON, Receivers, body, call_of, member};

const DAY: i64 = 86_400;
/// Maximum number of runs of the worker between two steps.
const MOST_RUNS: usize = 50;

/// The two people of an order, and the observation that one wrote about the other.
struct Pair {
    order: Order,
    person: EmployeeId,
    witness: EmployeeId,
    observation: ObservationId,
    /// Erasures of the two people.
    erasures: Vec<(Who, ErasureId)>,
    state: State,
}

/// A service, and its only organization.
struct Office {
    services: Arc<Services>,
    clock: Arc<ManualClock>,
    context: RequestContext,
    tenant: Tenant,
}

impl Office {
    fn open(store: Arc<dyn Storage>, clock: &Arc<ManualClock>, organization: OrganizationId, seed: u64) -> Self {
        let services = services(store, clock, KEY, seed);
        let tenant = Tenant::live(organization);
        let context = call_of(&services, tenant);
        Self { services, clock: Arc::clone(clock), context, tenant }
    }

    async fn hire(&self, name: &str) -> EmployeeId {
        let person = serde_json::json!({
            "email": format!("{name}@example.com"), "first_name": name, "last_name": "Example",
        });
        let reply = employees::create(&self.context, body(&person.to_string())).await.unwrap();
        member(&reply, "id").parse().unwrap()
    }

    async fn pair(&self, number: usize, order: Order) -> Pair {
        let person = self.hire(&format!("person{number}")).await;
        let witness = self.hire(&format!("witness{number}")).await;
        let text = serde_json::json!({
            "employee_id": person, "author_id": witness, "type": "strength", "observation": "Seen.",
        });
        let reply = observations::create(&self.context, body(&text.to_string())).await.unwrap();
        let observation = member(&reply, "id").parse().unwrap();
        Pair { order, person, witness, observation, erasures: vec![], state: State::default() }
    }

    async fn erase(&self, person: EmployeeId) -> ErasureId {
        employees::deactivate(&self.context, person).await.unwrap();
        let reply = erasures::create(&self.context, person, body("{}")).await.unwrap();
        member(&reply, "id").parse().unwrap()
    }

    async fn take(&self, pair: &mut Pair, step: Step) {
        let context = &self.context;
        let id = |who| if who == Who::Person { pair.person } else { pair.witness };
        match step {
            Step::Hold(who) => {
                employees::hold::put(context, id(who), body(r#"{"reason":"Lawsuit"}"#)).await.unwrap();
            }
            Step::Release(who) => {
                employees::hold::delete(context, id(who)).await.unwrap();
            }
            Step::Erase(who) => pair.erasures.push((who, self.erase(id(who)).await)),
        }
        pair.state = pair.state.after(step);
    }

    /// Takes the first step of each pair, then the second step of each, and so on. If `runs_worker`, the worker runs
    /// two days after each of these rounds.
    async fn take_all(&self, pairs: &mut [Pair], steps: impl Fn(&Order) -> &[Step], runs_worker: bool) {
        for turn in 0..pairs.iter().map(|pair| steps(&pair.order).len()).max().unwrap_or_default() {
            self.clock.advance_seconds(60);
            for pair in &mut *pairs {
                if let Some(step) = steps(&pair.order).get(turn).copied() {
                    self.take(pair, step).await;
                }
            }
            if runs_worker {
                self.clock.advance_seconds(2 * DAY);
                self.work().await;
                pairs.iter_mut().for_each(|pair| pair.state = pair.state.worked());
            }
        }
    }

    /// Continues the erasures until none is due.
    async fn work(&self) {
        for _ in 0..MOST_RUNS {
            if !erasure::is_running(&self.services).await.unwrap() {
                return;
            }
            erasure::run_due(&self.services, || true).await.unwrap();
            self.clock.advance_seconds(11);
        }
        panic!("erasures are still running after {MOST_RUNS} runs");
    }

    /// Returns the ledger. Asserts that its text is parsed to an equal ledger.
    async fn ledger(&self) -> Ledger {
        let ledger = erasure_ledger::read(&self.services).await.unwrap();
        let text = erasure_ledger::to_text(&self.services, &ledger).unwrap();
        let read_ledger = erasure_ledger::parse(&text).unwrap();
        assert!(read_ledger.end.is_some());
        assert_eq!(Ledger { end: None, ..read_ledger.clone() }, ledger);
        read_ledger
    }

    /// Compares the stored data with the state that a pair should have.
    async fn check(&self, pair: &Pair, expected: State) {
        let store = &self.services.store;
        let person = store.row::<Employee>(self.tenant, pair.person).await.unwrap().unwrap().value;
        let witness = store.row::<Employee>(self.tenant, pair.witness).await.unwrap().unwrap().value;
        let observation = store.row::<Observation>(self.tenant, pair.observation).await.unwrap();
        let stored_state = State {
            is_person_held: person.hold.is_some(),
            is_witness_held: witness.hold.is_some(),
            is_person_erased: person.erased_at.is_some(),
            is_witness_erased: witness.erased_at.is_some(),
            is_observation_removed: observation.is_none(),
        };
        assert_eq!(stored_state, expected, "{:?}", pair.order);
        for (who, id) in &pair.erasures {
            let erasure = store.row::<Erasure>(self.tenant, *id).await.unwrap().unwrap().value;
            let waits = *who == Who::Person && !expected.is_observation_removed;
            let status = if waits { ErasureStatus::Running } else { ErasureStatus::Completed };
            assert_eq!((erasure.status, erasure.kept_by_hold), (status, waits.into()), "{who:?} {:?}", pair.order);
        }
    }
}

fn services(store: Arc<dyn Storage>, clock: &Arc<ManualClock>, key: &str, seed: u64) -> Arc<Services> {
    let settings = ServiceSettings {
        search_deadline: Duration::from_secs(60),
        ..ServiceSettings::with_public_url("http://localhost:8080".to_owned())
    };
    let (vault, ids) = (Vault::parse(key).unwrap(), Arc::new(SeededIds::new(seed)));
    Arc::new(Services::new(store, Arc::clone(clock) as _, ids, vault, Arc::new(Receivers), settings))
}

/// Backup or ledger: the one that is made later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Backup,
    Ledger,
}

/// A backup and a ledger of an organization with one pair for each order.
struct Backup {
    clock: Arc<ManualClock>,
    organization: OrganizationId,
    /// The pairs with their final states.
    pairs: Vec<Pair>,
    /// States of the pairs at the time of the backup.
    states: Vec<State>,
    ledger: Ledger,
    /// A person who was hired and erased between backup and ledger.
    hired_and_erased: EmployeeId,
}

async fn back_up(runs_worker: bool, last: Last, target: &dyn CopyTarget) -> Backup {
    let file = File::new();
    drop(file.target());
    let clock = Arc::new(ManualClock::starting_at(NOON));
    let store: Arc<dyn Storage> = Arc::new(file.store());
    let organization =
        operator::create_organization(&services(Arc::clone(&store), &clock, KEY, 6), "Acme").await.unwrap();
    let office = Office::open(store, &clock, organization, 7);
    let mut pairs = vec![];
    for (number, order) in orders().into_iter().enumerate() {
        pairs.push(office.pair(number, order).await);
    }
    office.take_all(&mut pairs, |order| &order.before, runs_worker).await;
    let first_ledger = office.ledger().await;
    if last == Last::Ledger {
        copied(&file.source(), target).await.unwrap();
    }
    let first_states: Vec<_> = pairs.iter().map(|pair| pair.state).collect();
    office.take_all(&mut pairs, |order| &order.after, runs_worker).await;
    let hired_and_erased = office.hire("late").await;
    office.erase(hired_and_erased).await;
    let (ledger, states) = match last {
        Last::Ledger => (office.ledger().await, first_states),
        Last::Backup => {
            copied(&file.source(), target).await.unwrap();
            (first_ledger, pairs.iter().map(|pair| pair.state).collect())
        }
    };
    Backup { clock, organization, pairs, states, ledger, hired_and_erased }
}

/// Applies the ledger to a restored backup. Asserts that each person is then held and erased as at the time of the
/// later one of backup and ledger.
async fn check_restored(backup: &Backup, restored: Arc<dyn Storage>, last: Last) {
    backup.clock.advance_seconds(60);
    let office = Office::open(restored, &backup.clock, backup.organization, 8);
    let outcome = erasure_ledger::apply(&office.services, &backup.ledger, &[]).await.unwrap();
    let unknown_people = if last == Last::Ledger { vec![backup.hired_and_erased] } else { vec![] };
    assert_eq!((&outcome.unknown_people, &outcome.refused), (&unknown_people, &vec![]));
    let is_released = |(pair, state): &(&Pair, &State)| {
        (state.is_person_held && !pair.state.is_person_held)
            || (state.is_witness_held && !pair.state.is_witness_held)
    };
    let release_count = backup.pairs.iter().zip(&backup.states).filter(is_released).count();
    assert_eq!(outcome.released.len(), release_count);
    office.work().await;
    for (pair, state) in backup.pairs.iter().zip(&backup.states) {
        let is_observation_removed = state.is_observation_removed;
        office.check(pair, State { is_observation_removed, ..pair.state }.worked()).await;
    }
    let difference = erasure_ledger::compare(&office.services, &backup.ledger).await.unwrap();
    assert_eq!(difference, LedgerDifference::default());
    let repetition = erasure_ledger::apply(&office.services, &backup.ledger, &[]).await.unwrap();
    assert_eq!((repetition.held, repetition.released, repetition.begun), (vec![], vec![], 0));
    office.work().await;
}

async fn check_on_sqlite(runs_worker: bool, last: Last) {
    let file = File::new();
    let backup = back_up(runs_worker, last, &file.target()).await;
    check_restored(&backup, Arc::new(file.store()), last).await;
}

#[tokio::test]
async fn ledger_is_applied_for_every_order_on_sqlite() {
    check_on_sqlite(true, Last::Ledger).await;
}

#[tokio::test]
async fn ledger_is_applied_while_erasures_run() {
    check_on_sqlite(false, Last::Ledger).await;
}

#[tokio::test]
async fn ledger_older_than_the_backup_changes_nothing() {
    check_on_sqlite(true, Last::Backup).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ledger_is_applied_for_every_order_on_postgres() {
    let Some(database) = empty_postgres() else { return };
    let backup = back_up(true, Last::Ledger, &target_in(&database).await).await;
    check_restored(&backup, Arc::new(store(&database).await), Last::Ledger).await;
}

#[tokio::test]
async fn foreign_or_forged_ledger_changes_nothing() {
    let file = File::new();
    let backup = back_up(false, Last::Ledger, &file.target()).await;
    let restored_store: Arc<dyn Storage> = Arc::new(file.store());
    let other_key = "k2:HxEbGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQAfHh0=";
    let other = services(Arc::clone(&restored_store), &backup.clock, other_key, 9);
    let failure = erasure_ledger::apply(&other, &backup.ledger, &[]).await.unwrap_err();
    assert!(matches!(failure, LedgerError::UnsealedHold(_)), "{failure}");
    let office = Office::open(restored_store, &backup.clock, backup.organization, 8);
    let person = backup.ledger.holds[0].employee_id;
    let text = erasure_ledger::to_text(&office.services, &backup.ledger).unwrap();
    for time in ["released_at", "held_at"] {
        let is_line = |line: &&str| line.contains(time) && line.contains(&person.to_string());
        let Some(line) = text.lines().find(is_line) else { continue };
        let forged_text =
            text.replace(line, &line.replace(&person.to_string(), &backup.hired_and_erased.to_string()));
        let ledger = erasure_ledger::parse(&forged_text).unwrap();
        let failure = erasure_ledger::apply(&office.services, &ledger, &[]).await.unwrap_err();
        assert!(matches!(failure, LedgerError::UnsealedHold(_)), "{time}: {failure}");
    }
    // Lines that are taken out leave a text whose lines all have their seals.
    let kept_lines: Vec<_> =
        text.lines().filter(|line| line.contains("header") || line.contains("\"end\"")).collect();
    let count = format!("\"count\":{}", text.lines().count() - 2);
    let cut_ledger = erasure_ledger::parse(&kept_lines.join("\n").replace(&count, "\"count\":0")).unwrap();
    for result in [
        erasure_ledger::apply(&office.services, &cut_ledger, &[]).await.map(drop),
        erasure_ledger::compare(&office.services, &cut_ledger).await.map(drop),
    ] {
        assert!(matches!(result, Err(LedgerError::UnsealedEnd)), "{result:?}");
    }
    let elsewhere = OrganizationId::from_bytes([9; 16]).to_string();
    let ledger = erasure_ledger::parse(&text.replace(&backup.organization.to_string(), &elsewhere)).unwrap();
    for result in [
        erasure_ledger::apply(&office.services, &ledger, &[]).await.map(drop),
        erasure_ledger::compare(&office.services, &ledger).await.map(drop),
    ] {
        assert!(matches!(result, Err(LedgerError::OtherDatabase)), "{result:?}");
    }
    for (pair, state) in backup.pairs.iter().zip(&backup.states) {
        let person = office.services.store.row::<Employee>(office.tenant, pair.person).await.unwrap().unwrap();
        assert_eq!(person.value.hold.is_some(), state.is_person_held);
    }
}

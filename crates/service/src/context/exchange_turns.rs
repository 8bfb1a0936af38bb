//! Turns of the requests that exchange the code of a sign-in at its provider. Visitors without a key cause them, so an
//! organization has few at once, and the browsers that have signed in before go first (decision B10).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use candor_domain::access::Tenant;
use candor_domain::id::{KeyId, OrganizationId};
use candor_fair_share::LargeWork;
use candor_fair_share::large_work::Turn;
use candor_sign_in::fetch_failure::FetchError;
use candor_sign_in::sign_in::{SignInError, SignInState};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::context::bounded_map::{BoundedMap, Bounds};

/// Maximum number of exchanges at the same time. Each holds up to 64 KiB while its provider sends.
const EXCHANGES: usize = 128;
/// Maximum number of exchanges of one organization at the same time: a provider that does not answer holds each for
/// ten seconds.
const EXCHANGES_OF_AN_ORGANIZATION: usize = 8;
/// Maximum number of exchanges of one organization and client address that have a turn or wait for it. Browsers that
/// have signed in to the organization do not count.
const EXCHANGES_OF_AN_ADDRESS: usize = 2;
/// Longest wait for a turn.
const PATIENCE: Duration = Duration::from_secs(5);
/// Number of entries above which places of addresses that have no exchange are removed.
const MOST_UNUSED: usize = 1024;
/// Bounds of the states that were used. A state that no longer fits is refused by the provider, because its code was
/// used.
const BOUNDS: Bounds = Bounds { all: 8 * 1024 * 1024, organization: 1024 * 1024 };
/// Size of a state that was used, in bytes, with its share of the maps.
const STATE_BYTES: usize = 128;

/// The client of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visitor {
    /// Client address, as quotas count it.
    pub address: [u8; 16],
    /// `true` if the browser has signed in to the organization before.
    pub is_known: bool,
}

/// Places of the exchanges of one address.
type Places = HashMap<(OrganizationId, [u8; 16]), Weak<Semaphore>>;

/// Limiter of exchanges.
pub(crate) struct ExchangeTurns {
    turns: LargeWork,
    places: Mutex<Places>,
    used_states: Mutex<BoundedMap<KeyId, ()>>,
    /// Longest wait for a turn.
    patience: Duration,
}

/// Permit for one exchange.
pub(crate) struct ExchangeTurn {
    _turn: Turn,
    _place: Option<OwnedSemaphorePermit>,
}

impl Default for ExchangeTurns {
    fn default() -> Self {
        Self {
            turns: LargeWork::with_share(EXCHANGES, EXCHANGES_OF_AN_ORGANIZATION),
            places: Mutex::default(),
            used_states: Mutex::new(BoundedMap::new(BOUNDS)),
            patience: PATIENCE,
        }
    }
}

impl ExchangeTurns {
    /// Uses up the state of a sign-in and waits for the turn of its exchange.
    ///
    /// # Errors
    /// [`SignInError::Expired`] if the state was used, [`SignInError::Exchange`] if no turn becomes free in time.
    pub(crate) async fn begin(&self, state: &SignInState, visitor: Visitor) -> Result<ExchangeTurn, SignInError> {
        if !self.use_up(state) {
            return Err(SignInError::Expired);
        }
        let turn = timeout(self.patience, self.turn(state.organization, visitor)).await;
        turn.ok().flatten().ok_or(SignInError::Exchange(FetchError::Timeout))
    }

    /// Returns `true` for the first use of a state.
    fn use_up(&self, state: &SignInState) -> bool {
        let mut used_states = self.used_states.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = used_states.get(state.session).is_none();
        if is_first {
            used_states.insert(state.session, state.organization, STATE_BYTES, ());
        }
        is_first
    }

    /// Waits for a turn. Browsers that have signed in go before all visitors that wait.
    async fn turn(&self, organization: OrganizationId, visitor: Visitor) -> Option<ExchangeTurn> {
        let tenant = Tenant::live(organization);
        if visitor.is_known {
            return Some(ExchangeTurn { _turn: self.turns.turn_to_continue(tenant).await.ok()?, _place: None });
        }
        let place = self.places_of((organization, visitor.address)).acquire_owned().await.ok()?;
        Some(ExchangeTurn { _turn: self.turns.turn(tenant).await.ok()?, _place: Some(place) })
    }

    fn places_of(&self, key: (OrganizationId, [u8; 16])) -> Arc<Semaphore> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = places.get(&key).and_then(Weak::upgrade) {
            return places;
        }
        if places.len() > MOST_UNUSED {
            places.retain(|_, places| places.strong_count() > 0);
        }
        let new_places = Arc::new(Semaphore::new(EXCHANGES_OF_AN_ADDRESS));
        places.insert(key, Arc::downgrade(&new_places));
        new_places
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use tokio::task::{JoinHandle, yield_now};
    use ulid::Ulid;

    use super::*;

    fn state(number: u128, organization: u128) -> SignInState {
        SignInState {
            session: KeyId::from_ulid(Ulid(number)),
            organization: OrganizationId::from_ulid(Ulid(organization)),
            browser: String::new(),
            nonce: String::new(),
            verifier: String::new(),
            start: String::new(),
            command_line: None,
            expires_at: 0,
        }
    }

    const fn visitor(address: u8, is_known: bool) -> Visitor {
        Visitor { address: [address; 16], is_known }
    }

    #[tokio::test]
    async fn state_has_one_exchange() {
        let turns = ExchangeTurns::default();
        let begin =
            async |number, organization| turns.begin(&state(number, organization), visitor(1, false)).await;
        assert!(begin(1, 1).await.is_ok());
        assert!(matches!(begin(1, 1).await, Err(SignInError::Expired)));
        assert!(begin(2, 1).await.is_ok() && begin(3, 2).await.is_ok());
    }

    /// Begins exchanges in tasks of their own, with the state of each in `order` once it has its turn. Each ends with a
    /// permit of its provider.
    struct Stage {
        turns: Arc<ExchangeTurns>,
        provider: Arc<Semaphore>,
        order: Arc<Mutex<Vec<u128>>>,
        tasks: Vec<JoinHandle<()>>,
    }

    impl Stage {
        fn begin(&mut self, number: u128, organization: u128, visitor: Visitor) {
            let (turns, provider, order) =
                (Arc::clone(&self.turns), Arc::clone(&self.provider), Arc::clone(&self.order));
            self.tasks.push(tokio::spawn(async move {
                let _turn = turns.begin(&state(number, organization), visitor).await.unwrap();
                order.lock().unwrap().push(number);
                provider.acquire().await.unwrap().forget();
            }));
        }

        /// Waits until this many exchanges have a turn, and this many wait for one.
        async fn settle(&self, begun: usize, waiting: usize) {
            while (self.order().len(), self.turns.turns.waiting_callers()) != (begun, waiting) {
                yield_now().await;
            }
        }

        fn order(&self) -> Vec<u128> {
            self.order.lock().unwrap().clone()
        }
    }

    #[tokio::test]
    async fn flood_of_visitors_delays_known_browsers_least() {
        let [known, new, other] = [1_001, 1_002, 1_003];
        let mut stage = Stage {
            turns: Arc::new(ExchangeTurns { patience: Duration::MAX, ..ExchangeTurns::default() }),
            provider: Arc::new(Semaphore::new(0)),
            order: Arc::default(),
            tasks: vec![],
        };
        let addresses = 40;
        for number in 0..400 {
            stage.begin(number, 1, visitor(u8::try_from(number % addresses).unwrap(), false));
        }
        // Of each address, two have a turn or wait for one.
        let most = usize::try_from(addresses).unwrap() * EXCHANGES_OF_AN_ADDRESS;
        stage.settle(EXCHANGES_OF_AN_ORGANIZATION, most - EXCHANGES_OF_AN_ORGANIZATION).await;
        stage.begin(new, 1, visitor(200, false));
        stage.begin(known, 1, visitor(0, true));
        stage.begin(other, 2, visitor(0, false));
        stage.settle(EXCHANGES_OF_AN_ORGANIZATION + 1, most - EXCHANGES_OF_AN_ORGANIZATION + 2).await;
        assert_eq!(stage.order()[EXCHANGES_OF_AN_ORGANIZATION..], [other], "another organization waits for none");
        stage.provider.add_permits(500);
        join_all(std::mem::take(&mut stage.tasks)).await.into_iter().for_each(|result| result.unwrap());
        let order = stage.order();
        let place = |number| order.iter().position(|other| *other == number).unwrap();
        assert_eq!((order.len(), place(known)), (403, EXCHANGES_OF_AN_ORGANIZATION + 1));
        assert!(place(new) <= most + 2, "{} exchanges go before one of a new address", place(new));
    }

    #[tokio::test]
    async fn exchange_without_a_turn_in_time_is_refused() {
        let turns = ExchangeTurns { patience: Duration::ZERO, ..ExchangeTurns::default() };
        let begin = async |number, address| turns.begin(&state(number, 1), visitor(address, false)).await;
        let _place = [begin(1, 1).await.unwrap(), begin(2, 1).await.unwrap()];
        let late = begin(3, 1).await;
        assert!(matches!(late, Err(SignInError::Exchange(FetchError::Timeout))));
        assert!(begin(4, 2).await.is_ok(), "another address");
    }

    #[tokio::test]
    async fn addresses_without_an_exchange_are_forgotten() {
        let turns = ExchangeTurns::default();
        for number in 0..5_000_u128 {
            let mut address = [0; 16];
            address[..4].copy_from_slice(&u32::try_from(number).unwrap().to_be_bytes());
            drop(turns.begin(&state(number, 1), Visitor { address, is_known: false }).await.unwrap());
        }
        assert!(turns.places.lock().unwrap().len() <= MOST_UNUSED + 1);
    }
}

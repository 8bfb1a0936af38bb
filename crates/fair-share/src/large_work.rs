//! Limiter for work on large rows and responses: a bounded number of concurrent pieces, with turns between
//! tenants.

use std::cell::Cell;
use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candor_domain::access::Tenant;
use candor_domain::id::OrganizationId;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use crate::turns::FairQueue;
use candor_port_storage::StorageError;

/// Number of bytes that an async thread handles at once, in a fraction of a millisecond. Larger data is
/// handled in pieces of this size, so that small requests run in between.
pub const PIECE_BYTES: usize = 64 * 1024;

/// Total size in bytes from which rows are large and are read separately from small ones.
pub const LARGE_BYTES: usize = 256 * 1024;

/// Total size of data that may wait for turns, in bytes. The waiting data of one organization may be as large as
/// the room that is still free. Its first piece may wait in any case.
const WAITING_BYTES: usize = 96 * 1024 * 1024;
/// Size that the data of one caller counts at most. The size is an estimate, and one wrong estimate must not take the room
/// of all organizations.
const MOST_OF_A_CALLER: usize = WAITING_BYTES / 4;

thread_local! {
    /// `true` while the thread polls a future that is polled during turns only.
    static IS_IN_TURN: Cell<bool> = const { Cell::new(false) };
}

/// Polls a future that is polled during turns only. Meanwhile [`is_polled_in_turn`] is `true` on this thread.
pub fn poll_in_turn<T>(poll: impl FnOnce() -> T) -> T {
    struct Reset;
    impl Drop for Reset {
        fn drop(&mut self) {
            IS_IN_TURN.set(false);
        }
    }
    IS_IN_TURN.set(true);
    let _reset = Reset;
    poll()
}

/// Returns `true` if the present future is polled during turns only. Between them it may wait for long, so it must hold
/// nothing that others wait for: a store does such work in a task of its own.
#[must_use]
pub fn is_polled_in_turn() -> bool {
    IS_IN_TURN.get()
}

/// Error of a caller whose organization lets too much data wait for turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too much data of the organization waits for its turn")]
pub struct TooMuchWaitsError;

/// Limiter of work on large rows and responses. Clones share the turns.
#[derive(Clone, Debug)]
pub struct LargeWork(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    free: usize,
    /// Maximum number of turns of one organization.
    share: usize,
    /// Number of turns of each organization that has some.
    held: HashMap<OrganizationId, usize>,
    /// Callers that wait for a turn. While a turn is free, the only waiting callers are those whose organizations
    /// use their whole share.
    waiting: FairQueue<oneshot::Sender<Turn>>,
    /// Size of the data that waits, in bytes: of all callers, and by organization.
    waiting_bytes: usize,
    waiting_bytes_by_owner: HashMap<OrganizationId, usize>,
}

impl State {
    /// Takes a turn for an organization and returns `true`, unless all turns are taken or the organization uses
    /// its whole share. No share limits the service's own work.
    fn take(&mut self, owner: Option<OrganizationId>) -> bool {
        let may_have = self.free > 0 && has_share_left(&self.held, self.share, owner);
        if may_have {
            self.free -= 1;
            owner.into_iter().for_each(|owner| *self.held.entry(owner).or_default() += 1);
        }
        may_have
    }

    fn release(&mut self, owner: Option<OrganizationId>) {
        self.free += 1;
        let Some(owner) = owner else { return };
        let count = self.held.get(&owner).map_or(0, |count| count.saturating_sub(1));
        if count == 0 {
            self.held.remove(&owner);
        } else {
            self.held.insert(owner, count);
        }
    }

    /// Counts data that waits, unless the organization lets too much wait.
    fn let_wait(&mut self, owner: Option<OrganizationId>, bytes: usize) -> Result<(), TooMuchWaitsError> {
        let Some(owner) = owner.filter(|_| bytes > 0) else { return Ok(()) };
        let waiting = self.waiting_bytes_by_owner.entry(owner).or_default();
        let free = WAITING_BYTES.saturating_sub(self.waiting_bytes);
        if *waiting > 0 && *waiting + bytes > free {
            return Err(TooMuchWaitsError);
        }
        *waiting += bytes;
        self.waiting_bytes += bytes;
        Ok(())
    }

    fn end_wait(&mut self, owner: Option<OrganizationId>, bytes: usize) {
        let Some(owner) = owner.filter(|_| bytes > 0) else { return };
        self.waiting_bytes = self.waiting_bytes.saturating_sub(bytes);
        let rest = self.waiting_bytes_by_owner.get(&owner).map_or(0, |waiting| waiting.saturating_sub(bytes));
        if rest == 0 {
            self.waiting_bytes_by_owner.remove(&owner);
        } else {
            self.waiting_bytes_by_owner.insert(owner, rest);
        }
    }

    /// Takes a free turn for the next waiting caller that may have one.
    fn take_for_next(&mut self) -> Option<(Option<OrganizationId>, oneshot::Sender<Turn>)> {
        if self.free == 0 {
            return None;
        }
        let (held, share) = (&self.held, self.share);
        let (owner, sender) = self.waiting.pop_if(|owner| has_share_left(held, share, owner))?;
        self.take(owner);
        Some((owner, sender))
    }
}

fn has_share_left(held: &HashMap<OrganizationId, usize>, share: usize, owner: Option<OrganizationId>) -> bool {
    owner.and_then(|owner| held.get(&owner)).is_none_or(|count| *count < share)
}

/// Permit for one piece of large work, with the organization that holds the permit. Dropping it gives the turn to the
/// next caller. `None` once the turn is given back.
#[derive(Debug)]
pub struct Turn(Option<(LargeWork, Option<OrganizationId>)>);

impl Default for LargeWork {
    /// Creates a limiter with turns for half of the processors; the other half always answers small requests.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::with_turns(processors / 2)
    }
}

impl LargeWork {
    /// Creates a limiter of this many concurrent turns, at least one. One organization may have all of them at
    /// once, so use this for work of milliseconds: a turn for another organization then comes soon.
    #[must_use]
    pub fn with_turns(turns: usize) -> Self {
        Self::with_share(turns, turns)
    }

    /// Creates a limiter of this many concurrent turns, of which one organization has at most `share`. Both
    /// numbers are at least one. For work that takes seconds.
    #[must_use]
    pub fn with_share(turns: usize, share: usize) -> Self {
        Self(Arc::new(Mutex::new(State {
            free: turns.max(1),
            share: share.max(1),
            held: HashMap::new(),
            waiting: FairQueue::default(),
            waiting_bytes: 0,
            waiting_bytes_by_owner: HashMap::new(),
        })))
    }

    /// Waits for a turn of the tenant. Without a tenant, the work counts as the service's own.
    ///
    /// # Errors
    /// [`StorageError::Failed`], which does not happen: a turn that is given up goes to the next caller.
    pub async fn turn(&self, tenant: impl Into<Option<Tenant>>) -> Result<Turn, StorageError> {
        self.take_turn(tenant.into(), 0, FairQueue::push).await.map_err(|_| given_up())
    }

    /// Waits for a turn to continue work that has begun, before all work of the organization that has not. So work
    /// that has begun ends soon, and does not keep what it has taken, such as a connection, from others.
    ///
    /// # Errors
    /// As [`Self::turn`].
    pub async fn turn_to_continue(&self, tenant: impl Into<Option<Tenant>>) -> Result<Turn, StorageError> {
        self.take_turn(tenant.into(), 0, FairQueue::push_ahead).await.map_err(|_| given_up())
    }

    /// Waits for a turn of the tenant with data of this size, which stays in memory meanwhile.
    ///
    /// # Errors
    /// [`TooMuchWaitsError`] if data of the organization already waits, and with this data it exceeds the free room.
    pub async fn turn_with(
        &self,
        tenant: impl Into<Option<Tenant>>,
        bytes: usize,
    ) -> Result<Turn, TooMuchWaitsError> {
        self.take_turn(tenant.into(), bytes, FairQueue::push).await
    }

    async fn take_turn(
        &self,
        tenant: Option<Tenant>,
        bytes: usize,
        queue: fn(&mut FairQueue<oneshot::Sender<Turn>>, Option<Tenant>, oneshot::Sender<Turn>),
    ) -> Result<Turn, TooMuchWaitsError> {
        let owner = tenant.map(|tenant| tenant.organization);
        let bytes = bytes.min(MOST_OF_A_CALLER);
        let (turn_receiver, _wait) = {
            let mut state = self.lock();
            if state.take(owner) {
                return Ok(Turn(Some((self.clone(), owner))));
            }
            state.let_wait(owner, bytes)?;
            let (give, given) = oneshot::channel();
            queue(&mut state.waiting, tenant, give);
            (given, Wait { work: self.clone(), owner, bytes })
        };
        turn_receiver.await.map_err(|_| TooMuchWaitsError)
    }

    /// Returns the number of callers that wait for a turn.
    #[must_use]
    pub fn waiting_callers(&self) -> usize {
        self.lock().waiting.iter().filter(|sender| !sender.is_closed()).count()
    }

    /// Returns `true` if a caller waits for a turn.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        !self.lock().waiting.is_empty()
    }

    /// Runs a piece of work on a blocking thread when the tenant's turn comes. Once started, the work is
    /// completed even if its caller is gone.
    ///
    /// # Errors
    /// [`StorageError::Failed`] if the work panics.
    pub async fn run<T: Send + 'static>(
        &self,
        tenant: impl Into<Option<Tenant>>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, StorageError> {
        let turn = self.turn(tenant).await?;
        let work = move || {
            let _turn = turn;
            work()
        };
        spawn_blocking(work).await.map_err(|error| StorageError::Failed(error.to_string()))
    }

    /// Runs work in pieces on a blocking thread, each in a turn of the tenant. The work passes its progress to the
    /// function that it gets. After every `piece` units of progress, the thread gives its turn to the next caller and
    /// waits for another turn. The caller bounds the number of such works, because each keeps its thread while it
    /// waits.
    ///
    /// # Errors
    /// [`StorageError::Failed`] if the work panics.
    pub async fn run_in_pieces<T: Send + 'static>(
        &self,
        tenant: impl Into<Option<Tenant>>,
        piece: usize,
        work: impl FnOnce(&mut dyn FnMut(usize)) -> T + Send + 'static,
    ) -> Result<T, StorageError> {
        let tenant = tenant.into();
        let (this, runtime) = (self.clone(), Handle::current());
        let mut turn = Some(self.turn(tenant).await?);
        let mut units = 0;
        let in_pieces = move || {
            work(&mut |progress| {
                units += progress;
                if units >= piece {
                    units = 0;
                    turn = runtime.block_on(this.exchange(tenant, turn.take()));
                }
            })
        };
        spawn_blocking(in_pieces).await.map_err(|error| StorageError::Failed(error.to_string()))
    }

    /// Gives a turn back and waits for another one, behind all callers that wait now.
    async fn exchange(&self, tenant: Option<Tenant>, mut turn: Option<Turn>) -> Option<Turn> {
        let mut next_turn = pin!(self.turn(tenant));
        let wait = poll_fn(|context| {
            let poll_result = next_turn.as_mut().poll(context);
            // The first poll has queued this caller: a caller who comes later must not be served first.
            turn = None;
            poll_result
        });
        wait.await.ok()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn given_up() -> StorageError {
    StorageError::Failed("no turn for large work became free".to_owned())
}

/// Data that waits for a turn, until its caller has the turn or is gone.
#[derive(Debug)]
struct Wait {
    work: LargeWork,
    owner: Option<OrganizationId>,
    bytes: usize,
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.work.lock().end_wait(self.owner, self.bytes);
    }
}

impl Drop for Turn {
    /// Gives the turn to the next caller that still waits and may have it.
    fn drop(&mut self) {
        let Some((work, owner)) = self.0.take() else { return };
        work.lock().release(owner);
        loop {
            let next_caller = work.lock().take_for_next();
            let Some((owner, sender)) = next_caller else { return };
            let Err(mut unused) = sender.send(Self(Some((work.clone(), owner)))) else { return };
            // The waiting caller is gone. `None` keeps this `drop` from running for the returned turn as well.
            unused.0 = None;
            work.lock().release(owner);
        }
    }
}

#[cfg(test)]
mod tests;

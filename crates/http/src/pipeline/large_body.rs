//! Keeps large bodies away from the HTTP workers. A worker that reads or decides about one would block the small
//! requests of all other tenants.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use candor_domain::access::Tenant;
use candor_fair_share::LargeWork;
use candor_fair_share::large_work::{PIECE_BYTES, poll_in_turn};
use candor_port_storage::StorageError;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tracing::{Instrument, Span};

use crate::response::error_response::ErrorResponse;

/// Returns `true` if a body of this size is large, so that the work on it waits for a turn of its tenant.
pub(crate) const fn is_large(bytes: usize) -> bool {
    bytes > PIECE_BYTES
}

/// Reads a body of this size: a large one on a blocking thread, when the tenant's turn comes.
pub(crate) async fn read<T: Send + 'static>(
    work: &LargeWork,
    tenant: Option<Tenant>,
    bytes: usize,
    read: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ErrorResponse> {
    if is_large(bytes) { work.run(tenant, read).await.map_err(unavailable) } else { Ok(read()) }
}

/// Runs a use case with a large body. The use case is polled on blocking threads, and only during turns of its tenant:
/// while it waits, it holds neither a thread nor a turn. So however many use cases wait, threads remain for those that
/// have a turn. The store works for it in tasks of their own, so it holds no connection and no place meanwhile. A use case
/// that has begun continues before others of the organization begin. The use case must not wait for turns of the same
/// limiter. Like a use case on a worker, it is dropped when the client is gone.
pub(crate) async fn run<T: Send + 'static>(
    work: &LargeWork,
    tenant: Option<Tenant>,
    use_case: impl Future<Output = T> + Send + 'static,
) -> Result<T, ErrorResponse> {
    let mut use_case = Box::pin(use_case.instrument(Span::current()));
    let signal = Arc::new(Signal::default());
    let mut turn = work.turn(tenant).await.map_err(unavailable)?;
    loop {
        let waker = Waker::from(Arc::clone(&signal));
        let poll = move || {
            let _turn = turn;
            let poll_result = poll_in_turn(|| use_case.as_mut().poll(&mut Context::from_waker(&waker)));
            (poll_result, use_case)
        };
        match spawn_blocking(poll).await {
            Ok((Poll::Ready(done), _)) => return Ok(done),
            Ok((Poll::Pending, waiting)) => use_case = waiting,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => return Err(ErrorResponse::defect(error.to_string())),
            },
        }
        signal.0.notified().await;
        turn = work.turn_to_continue(tenant).await.map_err(unavailable)?;
    }
}

/// Remembers that a use case can continue, even if it was woken before [`run`] begins to wait.
#[derive(Default)]
struct Signal(Notify);

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.0.notify_one();
    }
}

fn unavailable(error: StorageError) -> ErrorResponse {
    candor_service::Error::from(error).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use futures_util::future::join_all;
    use tokio::sync::{Semaphore, mpsc, oneshot};

    #[tokio::test]
    async fn waiting_use_case_holds_no_turn() {
        let work = LargeWork::with_turns(1);
        let (told, waits) = oneshot::channel();
        let (response, answered) = oneshot::channel();
        let use_case = async move {
            let _ = told.send(());
            answered.await
        };
        let running = run(&work, None, use_case);
        let other = async {
            waits.await.unwrap();
            let turn = work.turn(None).await.unwrap();
            assert!(work.turn(None).now_or_never().is_none(), "there is only one turn");
            drop(turn);
            response.send(1).unwrap();
        };
        let (done, ()) = futures_util::future::join(running, other).await;
        assert_eq!(done.ok(), Some(Ok(1)));
    }

    #[test]
    fn more_use_cases_wait_than_there_are_threads() {
        let threads = tokio::runtime::Builder::new_current_thread().max_blocking_threads(2).build().unwrap();
        let work = LargeWork::with_turns(1);
        let finish_order = threads.block_on(async {
            let (begun, mut begins) = mpsc::channel(20);
            let open = Arc::new(Semaphore::new(0));
            let use_case = || {
                let (begun, open) = (begun.clone(), Arc::clone(&open));
                run(&work, None, async move {
                    begun.send(()).await.unwrap();
                    open.acquire().await.unwrap().forget();
                })
            };
            let running = join_all((0..20).map(|_| use_case()));
            let other = async {
                for _ in 0..20 {
                    begins.recv().await.unwrap();
                }
                assert_eq!(work.run(None, || 7).await.unwrap(), 7, "a thread is free for other work");
                open.add_permits(20);
            };
            futures_util::future::join(running, other).await.0
        });
        assert_eq!(finish_order.iter().filter(|done| done.is_ok()).count(), 20);
    }

    #[tokio::test]
    async fn begun_use_case_continues_before_new_ones() {
        let work = LargeWork::with_turns(1);
        let (order, mut noted) = mpsc::unbounded_channel();
        let (told, begun) = oneshot::channel();
        let (response, answered) = oneshot::channel::<()>();
        let note = order.clone();
        let first = run(&work, None, async move {
            let _ = told.send(());
            let _ = answered.await;
            let _ = note.send("continues");
        });
        let others = async {
            begun.await.unwrap();
            let turn = work.turn(None).await.unwrap();
            let use_case = || {
                let note = order.clone();
                run(&work, None, async move { note.send("begins").unwrap() })
            };
            let wait_for = async |callers| {
                while work.waiting_callers() < callers {
                    tokio::task::yield_now().await;
                }
            };
            let release = async {
                wait_for(2).await;
                response.send(()).unwrap();
                wait_for(3).await;
                drop(turn);
            };
            futures_util::future::join(join_all([use_case(), use_case()]), release).await
        };
        futures_util::future::join(first, others).await.0.unwrap();
        let order: Vec<_> = std::iter::from_fn(|| noted.try_recv().ok()).collect();
        assert_eq!(order, ["continues", "begins", "begins"]);
    }

    #[tokio::test]
    async fn use_case_ends_with_its_caller() {
        let work = LargeWork::with_turns(1);
        let (told, begun) = oneshot::channel();
        let (kept, ended) = oneshot::channel::<()>();
        let use_case = async move {
            let _sender = kept;
            let _ = told.send(());
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = run(&work, None, use_case) => panic!("it never ends"),
            begun = begun => begun.unwrap(),
        }
        assert!(ended.await.is_err(), "the use case is dropped");
    }
}

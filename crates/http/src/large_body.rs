//! Keeps large bodies away from the HTTP workers. A worker that reads or decides about one would block the small
//! requests of all other tenants.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use candor_domain::access::Tenant;
use candor_fair_share::LargeWork;
use candor_fair_share::large_work::{PIECE_BYTES, Turn};
use candor_port_storage::StorageError;
use futures_util::future::{AbortHandle, Abortable};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tracing::{Instrument, Span};

use crate::error_response::ErrorResponse;

/// Returns `true` for a body whose work takes turns with other tenants.
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

/// Runs a use case with a large body on a blocking thread. It holds a turn of its tenant while it computes, and
/// none while it waits. It must not wait for turns of the same limiter. It ends when its caller is gone, as a use case on a worker does.
pub(crate) async fn run<T: Send + 'static, F: Future<Output = T>>(
    work: &LargeWork,
    tenant: Option<Tenant>,
    begin: impl FnOnce() -> F + Send + 'static,
) -> Result<T, ErrorResponse> {
    let first = work.turn(tenant).await.map_err(unavailable)?;
    let (work, worker, span) = (work.clone(), Handle::current(), Span::current());
    let (handle, registration) = AbortHandle::new_pair();
    let _end = EndOnDrop(handle);
    let task = spawn_blocking(move || {
        worker.block_on(Abortable::new(in_turns(&work, tenant, first, begin), registration).instrument(span))
    });
    match task.await {
        Ok(Ok(done)) => done.map_err(unavailable),
        Ok(Err(_)) => Err(ErrorResponse::defect("large work ended before its caller".to_owned())),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(ErrorResponse::defect(error.to_string())),
        },
    }
}

/// Ends work when it is dropped.
struct EndOnDrop(AbortHandle);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn unavailable(error: StorageError) -> ErrorResponse {
    candor_service::Error::from(error).into()
}

/// Polls a future only during turns.
async fn in_turns<F: Future>(
    work: &LargeWork,
    tenant: Option<Tenant>,
    first: Turn,
    begin: impl FnOnce() -> F,
) -> Result<F::Output, StorageError> {
    let mut turn = first;
    let mut future = pin!(begin());
    loop {
        let polled = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
        drop(turn);
        if let Poll::Ready(done) = polled {
            return Ok(done);
        }
        // The future has registered the waker of this task, which continues below.
        let mut is_woken = false;
        poll_fn(|_| if std::mem::replace(&mut is_woken, true) { Poll::Ready(()) } else { Poll::Pending }).await;
        turn = work.turn(tenant).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn waiting_use_case_holds_no_turn() {
        let work = LargeWork::with_turns(1);
        let (told, waits) = oneshot::channel();
        let (answer, answered) = oneshot::channel();
        let begin = move || async move {
            let _ = told.send(());
            answered.await
        };
        let running = run(&work, None, begin);
        let other = async {
            waits.await.unwrap();
            let turn = work.turn(None).await.unwrap();
            assert!(work.turn(None).now_or_never().is_none(), "there is only one turn");
            drop(turn);
            answer.send(1).unwrap();
        };
        let (done, ()) = futures_util::future::join(running, other).await;
        assert_eq!(done.ok(), Some(Ok(1)));
    }

    #[tokio::test]
    async fn use_case_ends_with_its_caller() {
        let work = LargeWork::with_turns(1);
        let (told, begun) = oneshot::channel();
        let (kept, ended) = oneshot::channel::<()>();
        let begin = move || async move {
            let _kept = kept;
            let _ = told.send(());
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = run(&work, None, begin) => panic!("it never ends"),
            begun = begun => begun.unwrap(),
        }
        assert!(ended.await.is_err(), "the use case is dropped");
    }
}

//! The end of a stream that its client does not bring about.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::{
    sync::watch,
    task::AbortHandle,
    time::{self, Instant},
};

use super::{End, Reply, Stream};
use crate::{
    limits,
    service::{
        deadline::{self, Deadline},
        failure::Failure,
        phase::Phase,
        retire::Retire,
    },
};

/// A stream that ends at its deadline, with the drain, or when its client lets it stand still: also
/// while nobody polls it, because the client does not read.
#[derive(Debug)]
pub(super) struct Watched {
    shared: Arc<Mutex<Shared>>,
    warden: AbortHandle,
}

/// When a stream has to end.
#[derive(Debug)]
pub(super) struct Bounds {
    pub(super) deadline: Option<Deadline>,
    pub(super) life: watch::Receiver<Phase>,
    /// How long the client may let it stand still.
    pub(super) idle: Duration,
    /// Ends the connection if the client does not even take the end.
    pub(super) retire: Retire,
}

#[derive(Debug)]
struct Shared {
    state: State,
    /// Since when nothing can happen until the client sends or reads; `None` while boards are solved.
    still_since: Option<Instant>,
    waker: Option<Waker>,
}

#[derive(Debug)]
enum State {
    /// In a box: it is moved out under the lock.
    Open(Box<Stream>),
    /// Boards and searches are given back at once, even if the client keeps the call open.
    Ended(Option<Failure>),
}

impl Watched {
    pub(super) fn new(stream: Stream, bounds: Bounds) -> Self {
        let shared = Arc::new(Mutex::new(Shared {
            state: State::Open(Box::new(stream)),
            still_since: Some(Instant::now()),
            waker: None,
        }));
        let warden = tokio::spawn(watch(Arc::clone(&shared), bounds)).abort_handle();
        Watched { shared, warden }
    }

    pub(super) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Reply, End>>> {
        let mut shared = lock(&self.shared);
        let polled = match &mut shared.state {
            State::Open(stream) => stream.poll_next(cx),
            State::Ended(failure) => {
                let failure = failure.take();
                return Poll::Ready(failure.map(|failure| Err(End::Failure(failure))));
            }
        };
        match polled {
            Poll::Pending => shared.pause(cx),
            // From now on it is the client's turn to take the reply and to ask for the next.
            Poll::Ready(Some(Ok(_))) => shared.still_since = Some(Instant::now()),
            Poll::Ready(_) => {
                let ended = shared.end(None);
                drop(shared);
                drop(ended);
            }
        }
        polled
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.warden.abort();
        // Now, and not when the runtime comes to drop the warden.
        let ended = lock(&self.shared).end(None);
        drop(ended);
    }
}

impl Shared {
    fn pause(&mut self, cx: &Context<'_>) {
        let State::Open(stream) = &self.state else {
            return;
        };
        if stream.is_solving() {
            self.still_since = None;
        } else {
            self.still_since.get_or_insert_with(Instant::now);
        }
        if !self
            .waker
            .as_ref()
            .is_some_and(|waker| waker.will_wake(cx.waker()))
        {
            self.waker = Some(cx.waker().clone());
        }
    }

    /// Returns the stream, to be dropped without the lock.
    fn end(&mut self, failure: Option<Failure>) -> Option<Box<Stream>> {
        match &self.state {
            State::Open(_) => match mem::replace(&mut self.state, State::Ended(failure)) {
                State::Open(stream) => Some(stream),
                State::Ended(_) => None,
            },
            State::Ended(_) => None,
        }
    }

    /// How long the client may still take.
    fn patience(&self, idle: Duration) -> Duration {
        self.still_since
            .map_or(idle, |since| idle.saturating_sub(since.elapsed()))
    }
}

/// Waits for whatever ends the stream first. Aborted when the call is gone.
async fn watch(shared: Arc<Mutex<Shared>>, bounds: Bounds) {
    let Bounds {
        deadline,
        life,
        idle,
        retire,
    } = bounds;
    let stood_still = async {
        loop {
            let patience = lock(&shared).patience(idle);
            if patience.is_zero() {
                return Failure::Idle { max: idle };
            }
            time::sleep(patience).await;
        }
    };
    let failure = tokio::select! {
        failure = deadline::end(deadline, life) => failure,
        failure = stood_still => failure,
    };
    let (ended, waker) = {
        let mut shared = lock(&shared);
        (shared.end(Some(failure)), shared.waker.take())
    };
    drop(ended);
    if let Some(waker) = waker {
        waker.wake();
    }
    // A client that reads has its status by then, and this task was aborted.
    time::sleep(limits::LINGER).await;
    retire.ask();
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    // A stream that panicked is not polled again.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

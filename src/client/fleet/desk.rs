//! Where the parts of a job meet: the feed that brings boards, the streams that send them, and the
//! outcomes that hand them out.

use std::{
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, Semaphore, watch},
    time::Instant,
};

use super::{
    bounds::BYTES_PER_PLACE,
    ledger::{Ledger, Next, NotSent, Parcel, Piece},
    unanswered::{Failure, Reason},
};
use crate::client::{Closed, request::Texts, response::Response};

/// The ledger, shared, and who waits for it.
#[derive(Debug)]
pub(in crate::client) struct Desk {
    ledger: Mutex<Ledger>,
    /// Boards wait to be sent.
    work: Notify,
    /// Outcomes can be handed out, or none will come.
    ready: Notify,
    /// Places for boards that are taken in.
    room: Semaphore,
    places: usize,
    settled: watch::Sender<bool>,
    service: watch::Sender<Service>,
    /// Servers, as they were given, that have not refused the job.
    servers: AtomicUsize,
}

/// Whether there is anyone to send boards to.
#[derive(Clone, Debug)]
struct Service {
    /// Streams that are open.
    open: usize,
    /// Since when there is none.
    shut_since: Instant,
    last_failure: Option<Failure>,
}

impl Desk {
    pub(super) fn new(places: usize, attempts: u32, servers: usize) -> Desk {
        let service = Service {
            open: 0,
            shut_since: Instant::now(),
            last_failure: None,
        };
        Desk {
            ledger: Mutex::new(Ledger::new(attempts)),
            work: Notify::new(),
            ready: Notify::new(),
            room: Semaphore::new(places),
            places,
            settled: watch::Sender::new(false),
            service: watch::Sender::new(service),
            servers: AtomicUsize::new(servers),
        }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the ledger and wakes who waits for what came of it.
    fn change<T>(&self, change: impl FnOnce(&mut Ledger) -> T) -> T {
        let (done, settled) = {
            let mut ledger = self.ledger();
            (change(&mut ledger), ledger.is_settled())
        };
        self.ready.notify_one();
        if settled {
            self.settled
                .send_if_modified(|known| !std::mem::replace(known, true));
        }
        done
    }

    /// Takes in the boards of a message of so many bytes, once there is room for them.
    pub(in crate::client) async fn add(&self, texts: Texts, bytes: usize) -> Result<(), Closed> {
        let places = texts.left().max(bytes / BYTES_PER_PLACE).min(self.places);
        let places = u32::try_from(places).unwrap_or(u32::MAX);
        let room = self.room.acquire_many(places).await;
        room.map_err(|_| Closed)?.forget();
        let added = self.ledger().add(texts, places);
        self.work.notify_one();
        if added { Ok(()) } else { Err(Closed) }
    }

    /// No more boards will be taken in.
    pub(in crate::client) fn close(&self) {
        self.change(Ledger::close);
    }

    /// The next boards to send, once there are any. Nothing is lost if this is dropped.
    pub(super) async fn take(&self) -> Parcel {
        let mut notified = pin!(self.work.notified());
        loop {
            // Before the look at the ledger, so that what comes between the two is not missed.
            notified.as_mut().enable();
            if let Some(parcel) = self.ledger().take() {
                return parcel;
            }
            notified.as_mut().await;
            notified.set(self.work.notified());
        }
    }

    pub(super) fn answered(&self, number: u64, response: Response) -> Result<(), NotSent> {
        self.change(|ledger| ledger.answered(number, response))
    }

    /// Takes back what a stream has not answered. `charge` says what to do with the first, which
    /// is the one that the stream was at.
    pub(super) fn give_back(&self, numbers: impl Iterator<Item = u64>, charge: Option<&Charge>) {
        let mut charge = charge;
        for number in numbers {
            self.change(|ledger| match charge.take() {
                None => ledger.give_back(number),
                Some(Charge::Attempt(failure)) => ledger.give_back_charged(number, failure),
                Some(Charge::Refusal(reason)) => ledger.give_up(number, reason),
            });
            self.work.notify_one();
        }
    }

    /// Ends the job: what is unanswered remains so.
    pub(super) fn end(&self, reason: Reason) {
        self.change(|ledger| ledger.end(reason));
        self.room.close();
    }

    /// Nobody wants outcomes any more.
    pub(super) fn abandon(&self) {
        self.room.close();
    }

    /// Why the job has ended early, if it has.
    pub(super) fn over(&self) -> Option<Arc<Reason>> {
        self.ledger().over().cloned()
    }

    /// The next outcomes, in the order of the boards; `None` when each board has had its own.
    pub(super) async fn next(&self) -> Option<Piece> {
        loop {
            match self.ledger().next() {
                Next::Piece(piece, places) => {
                    self.room.add_permits(usize::try_from(places).unwrap_or(0));
                    return Some(piece);
                }
                Next::End => return None,
                Next::Wait => {}
            }
            // Of what came since the look at the ledger, a permit is kept.
            self.ready.notified().await;
        }
    }

    /// Resolves when every outcome is known.
    pub(super) async fn settled(&self) {
        // Cannot fail: its sender is in `self`.
        drop(self.settled.subscribe().wait_for(|&settled| settled).await);
    }

    /// A stream is open from now on until the guard is dropped.
    pub(super) fn opened(self: &Arc<Self>) -> OpenStream {
        self.service.send_modify(|service| service.open += 1);
        OpenStream(Arc::clone(self))
    }

    /// A server could not be reached, or a stream broke.
    pub(super) fn failed(&self, failure: Failure) {
        self.service
            .send_modify(|service| service.last_failure = Some(failure));
    }

    /// A server refuses the job. When all have, it is over.
    pub(super) fn refused(&self, failure: Failure) {
        if self.servers.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.end(Reason::AllRefused(failure));
        }
    }

    /// Resolves when no stream was open for this long, and something has failed.
    pub(super) async fn out_of_service(&self, patience: Duration) -> Reason {
        let mut changes = self.service.subscribe();
        loop {
            let service = changes.borrow_and_update().clone();
            let gone = async {
                if service.open > 0 || service.last_failure.is_none() {
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep_until(service.shut_since + patience).await;
            };
            tokio::select! {
                () = gone => {
                    return Reason::NoServer { patience, failure: service.last_failure };
                }
                _ = changes.changed() => {}
            }
        }
    }
}

/// What the parcel that a stream was at has to bear for the end of the stream.
#[derive(Clone, Debug)]
pub(super) enum Charge {
    Attempt(Failure),
    Refusal(Arc<Reason>),
}

/// A stream that is open.
#[derive(Debug)]
pub(super) struct OpenStream(Arc<Desk>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.service.send_modify(|service| {
            service.open -= 1;
            service.shut_since = Instant::now();
        });
    }
}

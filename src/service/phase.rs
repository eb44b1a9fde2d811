//! How far the life of the server has come, and the calls that are still open in it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::{Notify, watch};

/// The phases of a server's life, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Calls are taken.
    Serving,
    /// Calls in flight are finished, new ones refused.
    Draining,
    /// The grace time is over: calls in flight end too.
    Stopping,
}

/// Resolves when the life has come to `phase`.
pub async fn reached(mut life: watch::Receiver<Phase>, phase: Phase) {
    // A life that was dropped is over, whatever phase it was in.
    let _ = life.wait_for(|&now| now >= phase).await;
}

/// The phase, and the count of open calls that a drain waits for.
#[derive(Clone, Debug)]
pub struct Life {
    phase: watch::Sender<Phase>,
    open: Arc<Open>,
}

#[derive(Debug, Default)]
struct Open {
    calls: AtomicUsize,
    ended: Notify,
}

/// One open call, for as long as it lives.
#[derive(Debug)]
pub(super) struct OpenCall(Arc<Open>);

impl Life {
    /// A life that begins with serving.
    pub fn new() -> Self {
        Life {
            phase: watch::Sender::new(Phase::Serving),
            open: Arc::default(),
        }
    }

    /// Goes on to `phase`.
    pub fn enter(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// The phase as it changes.
    pub fn watch(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// Waits until no call is open.
    pub async fn idle(&self) {
        loop {
            let ended = self.open.ended.notified();
            if self.open.calls.load(Ordering::Acquire) == 0 {
                return;
            }
            ended.await;
        }
    }

    /// Opens a call, or not, if the server is no longer serving.
    pub(super) fn open(&self) -> Option<OpenCall> {
        // Counted before the phase is read: a drain that sees no call cannot miss this one.
        self.open.calls.fetch_add(1, Ordering::AcqRel);
        let call = OpenCall(Arc::clone(&self.open));
        (*self.phase.borrow() == Phase::Serving).then_some(call)
    }
}

impl Default for Life {
    fn default() -> Self {
        Life::new()
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        if self.0.calls.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.ended.notify_waiters();
        }
    }
}

//! Calls and connections as numbers: how many, how they ended, how long they took.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use tonic::Code;

use super::{call::Ended, method::Method};
use crate::service::histogram::Histogram;

/// The codes of gRPC, by their numbers.
const CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// The name of a code.
pub(super) fn code_name(code: Code) -> &'static str {
    CODES.get(code as usize).copied().unwrap_or("UNKNOWN")
}

/// The counts of all connections.
#[derive(Debug)]
pub(in crate::server) struct Requests {
    methods: [OfMethod; Method::COUNT],
    /// Few keys: the reasons that `service::status` knows, and those of connections.
    refused: Mutex<BTreeMap<String, u64>>,
    connections_opened: AtomicU64,
    connections_closed: AtomicU64,
}

#[derive(Debug, Default)]
struct OfMethod {
    begun: AtomicU64,
    ended: [AtomicU64; CODES.len()],
    durations: Histogram,
}

/// An open connection; it is closed when this is dropped.
#[derive(Debug)]
pub(in crate::server) struct CountedConnection(Arc<Requests>);

impl Requests {
    pub(in crate::server) fn new() -> Self {
        Requests {
            methods: Default::default(),
            refused: Mutex::default(),
            connections_opened: AtomicU64::new(0),
            connections_closed: AtomicU64::new(0),
        }
    }

    pub(super) fn begun(&self, method: Method) {
        self.of(method).begun.fetch_add(1, Relaxed);
    }

    pub(super) fn ended(&self, call: &Ended<'_>) {
        let of_method = self.of(call.method);
        of_method.ended[call.code as usize % CODES.len()].fetch_add(1, Relaxed);
        let nanos = u64::try_from(call.time.as_nanos()).unwrap_or(u64::MAX);
        of_method.durations.record(nanos);
    }

    /// Counts a call or a connection that was refused, or ended without its answer.
    pub(super) fn refused(&self, reason: &str) {
        let mut refused = self.lock();
        if let Some(count) = refused.get_mut(reason) {
            *count += 1;
        } else {
            refused.insert(reason.to_owned(), 1);
        }
    }

    /// Connections since the start, and those that are open.
    pub(super) fn connections(&self) -> (u64, u64) {
        // In this order, or one that ends meanwhile would be closed before it was opened.
        let closed = self.connections_closed.load(Relaxed);
        let opened = self.connections_opened.load(Relaxed);
        (opened, opened.saturating_sub(closed))
    }

    /// Ended calls of a method by code: codes that occurred, and OK.
    pub(super) fn codes(&self, method: Method) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = CODES.iter().zip(&self.of(method).ended);
        counts
            .map(|(&code, calls)| (code, calls.load(Relaxed)))
            .filter(|&(code, calls)| calls > 0 || code == "OK")
    }

    pub(super) fn in_flight(&self, method: Method) -> u64 {
        let of_method = self.of(method);
        let ended: u64 = of_method
            .ended
            .iter()
            .map(|calls| calls.load(Relaxed))
            .sum();
        of_method.begun.load(Relaxed).saturating_sub(ended)
    }

    pub(super) fn durations(&self, method: Method) -> &Histogram {
        &self.of(method).durations
    }

    pub(super) fn refusals(&self) -> BTreeMap<String, u64> {
        self.lock().clone()
    }

    fn of(&self, method: Method) -> &OfMethod {
        &self.methods[method.place()]
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        // Nothing panics under the lock.
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CountedConnection {
    pub(super) fn new(requests: Arc<Requests>) -> Self {
        requests.connections_opened.fetch_add(1, Relaxed);
        CountedConnection(requests)
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        self.0.connections_closed.fetch_add(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_names_of_grpc() {
        let debug = |code: Code| format!("{code:?}").to_uppercase();
        for number in 0..CODES.len() {
            let code = Code::from(i32::try_from(number).unwrap());
            assert_eq!(code_name(code).replace('_', ""), debug(code));
        }
    }
}

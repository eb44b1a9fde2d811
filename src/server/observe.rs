//! Seeing inside: metrics for Prometheus, traces by OTLP, access logs, request ids.
//!
//! ```text
//! connection --> call: begins, ends --> requests: counts by method and code
//!                                  +--> access: a line
//!                                  +--> traces: a span
//! service::tally, requests, the queue, /proc --> metrics: text --> listener, when Prometheus asks
//! ```
//!
//! The service counts into plain numbers ([`service::tally`](crate::service::tally)); what they are
//! called outside is known here only.

mod access;
mod call;
mod listener;
mod method;
mod metrics;
mod process;
mod request_id;
mod requests;
mod traces;

use std::{net::SocketAddr, sync::Arc};

pub use self::access::AccessLog;
pub(super) use self::request_id::HEADER as REQUEST_ID;
pub(super) use self::{
    call::{Watch, WatchedCall},
    listener::MetricsListener,
    metrics::Sources,
    requests::{CountedConnection, Requests},
    traces::Traces,
};

/// What of a server can be seen from outside.
#[derive(Clone, Debug, Default)]
pub struct Observe {
    /// Where Prometheus finds the metrics. Default: nowhere, and then nothing is counted.
    pub metrics_listen: Option<SocketAddr>,
    /// Which calls the access log has. Default: streams.
    pub access_log: AccessLog,
    /// Where the spans of calls are sent. Default: nowhere.
    pub traces: Option<TracesTo>,
}

/// Where traces go.
#[derive(Clone, Debug)]
pub struct TracesTo {
    /// The collector, `http://HOST:PORT`.
    pub endpoint: String,
    /// The share of calls to trace, of those whose caller has not decided.
    pub sample: f64,
}

/// Who is told of a call; shared by all connections.
#[derive(Debug)]
pub(super) struct Observers {
    pub(super) access_log: AccessLog,
    pub(super) requests: Option<Arc<Requests>>,
    pub(super) traces: Option<Traces>,
}

impl Observers {
    /// Counts a connection, which is open until what is returned is dropped.
    pub(super) fn connection(&self) -> Option<CountedConnection> {
        self.requests.clone().map(CountedConnection::new)
    }

    /// Counts a connection that was turned away.
    pub(super) fn turned_away(&self) {
        if let Some(requests) = &self.requests {
            requests.refused("TOO_MANY_CONNECTIONS");
        }
    }
}

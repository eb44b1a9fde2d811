//! A call as its connection sees it, whatever service it is for: from its headers to the last of its answer.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use hyper::{HeaderMap, Request, Response};
use opentelemetry::Context;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use super::{Observers, method::Method, request_id};
use crate::service::{record::Record, status};

/// Who is told of the calls of a connection.
#[derive(Debug)]
pub(in crate::server) struct Watch {
    observers: Arc<Observers>,
    peer: SocketAddr,
}

/// A call that is open. When it is dropped everybody is told how it ended.
///
/// It is kept small: with the answer it is part of, it is moved about.
#[derive(Debug)]
pub(in crate::server) struct WatchedCall {
    watch: Arc<Watch>,
    method: Method,
    begun: Instant,
    record: Record,
    /// The caller's trace, if calls are traced.
    parent: Option<Box<Context>>,
    /// How it ended; until that is known, it was given up by its caller.
    code: Code,
}

/// A call that is over.
#[derive(Debug)]
pub(super) struct Ended<'a> {
    pub(super) method: Method,
    pub(super) code: Code,
    pub(super) time: Duration,
    pub(super) peer: SocketAddr,
    pub(super) record: &'a Record,
}

impl Watch {
    pub(in crate::server) fn new(observers: Arc<Observers>, peer: SocketAddr) -> Self {
        Watch { observers, peer }
    }

    /// Begins to watch a call.
    pub(in crate::server) fn begin<B>(self: &Arc<Self>, request: &Request<B>) -> WatchedCall {
        let method = Method::of(request.uri().path());
        let Observers {
            requests, traces, ..
        } = &*self.observers;
        if let Some(requests) = requests {
            requests.begun(method);
        }
        let headers = request.headers();
        let parent = traces.as_ref().map(|traces| traces.parent(headers));
        WatchedCall {
            watch: Arc::clone(self),
            method,
            begun: Instant::now(),
            record: Record::new(request_id::request_id(headers)),
            parent: parent.map(Box::new),
            code: Code::Cancelled,
        }
    }
}

impl WatchedCall {
    /// What the service is to keep of the call.
    pub(in crate::server) fn record(&self) -> Record {
        self.record.clone()
    }

    /// Looks at the head of the answer, and puts the request id there.
    pub(in crate::server) fn answered<B>(&mut self, response: &mut Response<B>) {
        let id = self.record.request_id().clone();
        // A status that is known before the first message stands in the headers.
        if response.headers().contains_key(Status::GRPC_STATUS) {
            self.ended(response.headers());
        } else if !response.status().is_success() {
            self.code = Code::Unknown;
        }
        response.headers_mut().insert(request_id::HEADER, id);
    }

    /// Looks at the status of the call, where it stands at last.
    pub(in crate::server) fn ended(&mut self, headers: &HeaderMap) {
        let code = headers.get(Status::GRPC_STATUS);
        self.code = code.map_or(Code::Unknown, |code| Code::from_bytes(code.as_bytes()));
        if self.code != Code::Ok
            && let Some(requests) = &self.watch.observers.requests
            && let Some(info) =
                Status::from_header_map(headers).and_then(|status| status.get_details_error_info())
            // Reasons of our own are few.
            && info.domain == status::DOMAIN
        {
            requests.refused(&info.reason);
        }
    }
}

impl Drop for WatchedCall {
    fn drop(&mut self) {
        let Watch { observers, peer } = &*self.watch;
        let ended = Ended {
            method: self.method,
            code: self.code,
            time: self.begun.elapsed(),
            peer: *peer,
            record: &self.record,
        };
        if let Some(requests) = &observers.requests {
            requests.ended(&ended);
        }
        if let (Some(traces), Some(parent)) = (&observers.traces, &self.parent) {
            traces.span(&ended, parent);
        }
        observers.access_log.write(&ended);
    }
}

//! The calls of one connection: counted, so that one without any is known, and refused when their
//! headers are too long or lack a token. Those of the solver go straight to it, all others through tonic's routes.

use std::{
    convert::Infallible,
    error::Error,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use hyper::{
    Request, Response,
    body::{Body as HttpBody, Bytes, Frame, SizeHint},
    http::uri::{Authority, PathAndQuery},
};
use tokio::time::{self, Instant};
use tonic::{Status, body::Body, codegen::Service as _, service::Routes};

use super::{
    auth::Access,
    observe::{Watch, WatchedCall},
};
use crate::service::{
    endpoint::{Caller, Endpoint, Method},
    failure::Failure,
    retire::Retire,
    status,
};

/// What a connection shares with its calls.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    solver: Endpoint,
    routes: Routes,
    header_bytes_max: u32,
    access: Access,
    retire: Retire,
    open: Arc<Mutex<Open>>,
    watch: Arc<Watch>,
}

#[derive(Debug)]
struct Open {
    calls: usize,
    /// When the last call ended.
    ended: Instant,
}

impl Calls {
    pub(super) fn new(
        solver: Endpoint,
        routes: Routes,
        header_bytes_max: u32,
        access: Access,
        watch: Watch,
    ) -> Self {
        let open = Open {
            calls: 0,
            ended: Instant::now(),
        };
        Calls {
            solver,
            routes,
            header_bytes_max,
            access,
            retire: Retire::default(),
            open: Arc::new(Mutex::new(open)),
            watch: Arc::new(watch),
        }
    }

    /// Resolves when no call was open for so long.
    pub(super) async fn idle(&self, max: Duration) {
        loop {
            let left = {
                let open = lock(&self.open);
                if open.calls == 0 {
                    max.saturating_sub(open.ended.elapsed())
                } else {
                    max
                }
            };
            if left.is_zero() {
                return;
            }
            time::sleep(left).await;
        }
    }

    /// Resolves when a call asks for the end of the connection.
    pub(super) async fn retired(&self) {
        self.retire.asked().await;
    }

    /// Answers one call.
    pub(super) async fn answer<B>(
        mut self,
        request: Request<B>,
    ) -> Result<Response<Answer>, Infallible>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>> + Send,
    {
        let call = OpenCall::new(self.open);
        let mut watched = self.watch.begin(&request);
        let mut response = match admit(&request, self.header_bytes_max, &self.access) {
            Ok(()) => match Method::at(request.uri().path()) {
                Some(method) => {
                    let caller = Caller {
                        record: watched.record(),
                        retire: self.retire,
                    };
                    self.solver.answer(method, caller, request).await
                }
                None => self.routes.call(request).await?,
            },
            Err(failure) => status::status(&failure).into_http(),
        };
        watched.answered(&mut response);
        Ok(response.map(|body| Answer {
            body,
            watched,
            _call: call,
        }))
    }
}

/// What a call is refused for before anything of it but its headers is read.
fn admit<B>(request: &Request<B>, max: u32, access: &Access) -> Result<(), Failure> {
    let bytes = header_bytes(request);
    if bytes > usize::try_from(max).unwrap_or(usize::MAX) {
        return Err(Failure::Headers { bytes, max });
    }
    access.check(request.uri().path(), request.headers())
}

/// The size of a header list, as HTTP/2 defines it.
fn header_bytes<B>(request: &Request<B>) -> usize {
    const EACH: usize = 32;
    let uri = request.uri();
    let pseudo = [
        (":method", Some(request.method().as_str())),
        (":scheme", uri.scheme_str()),
        (":authority", uri.authority().map(Authority::as_str)),
        (":path", uri.path_and_query().map(PathAndQuery::as_str)),
    ];
    let pseudo = pseudo
        .iter()
        .filter_map(|(name, value)| value.map(|value| name.len() + value.len() + EACH));
    let others = request
        .headers()
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + EACH);
    pseudo.sum::<usize>() + others.sum::<usize>()
}

/// The body of an answer; its call is open until it was sent.
#[derive(Debug)]
pub(super) struct Answer {
    body: Body,
    watched: WatchedCall,
    _call: OpenCall,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(trailers) = frame.trailers_ref()
        {
            self.watched.ended(trailers);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[derive(Debug)]
struct OpenCall(Arc<Mutex<Open>>);

impl OpenCall {
    fn new(open: Arc<Mutex<Open>>) -> Self {
        lock(&open).calls += 1;
        OpenCall(open)
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let mut open = lock(&self.0);
        open.calls -= 1;
        open.ended = Instant::now();
    }
}

fn lock(open: &Mutex<Open>) -> MutexGuard<'_, Open> {
    // Nothing panics under the lock.
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

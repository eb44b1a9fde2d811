//! Messages that tonic does not read because they are too long or cannot be decompressed.
//!
//! tonic answers them before the service is called, with codes of its own and texts that name no flag.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use tonic::{
    Status,
    body::Body,
    codegen::{BoxFuture, Service, http},
    server::NamedService,
};

use super::status;

/// The solver's routes, whose answers to messages that are not read say what to do.
#[derive(Clone, Debug)]
pub struct Unread<S> {
    routes: S,
    message_bytes_max: usize,
}

impl<S> Unread<S> {
    /// Explains the refusals of `routes`.
    pub fn new(routes: S, message_bytes_max: usize) -> Self {
        Unread {
            routes,
            message_bytes_max,
        }
    }
}

impl<S: NamedService> NamedService for Unread<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<Body>> for Unread<S>
where
    S: Service<
            http::Request<Body>,
            Response = http::Response<Body>,
            Error = Infallible,
            Future = BoxFuture<http::Response<Body>, Infallible>,
        >,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Explained;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.routes.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Explained {
        Explained {
            answer: self.routes.call(request),
            message_bytes_max: self.message_bytes_max,
        }
    }
}

/// An answer on its way.
pub struct Explained {
    answer: BoxFuture<http::Response<Body>, Infallible>,
    message_bytes_max: usize,
}

impl Future for Explained {
    type Output = Result<http::Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let max = self.message_bytes_max;
        self.answer.as_mut().poll(cx).map_ok(|response| {
            // A call that failed before its first reply has its status here; a stream whose later
            // message is not read explains that itself.
            let failed = response.extensions().get::<Status>();
            let explained = failed.and_then(|failed| status::unread(failed, max));
            explained.map_or(response, Status::into_http)
        })
    }
}

impl std::fmt::Debug for Explained {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explained").finish_non_exhaustive()
    }
}

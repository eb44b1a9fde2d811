//! gRPC-Web: calls from the pages of browsers.
//!
//! ```text
//! request --> of a page? -- no --> calls
//!                 | yes
//!               CORS --> translation --> calls
//! ```
//!
//! Both stand outside of all that may refuse a call: a browser shows a page no answer without the headers
//! of CORS, and asks for them (preflight) without a token.

pub(super) mod keepalive;
mod origin;

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http_body_util::Either;
use hyper::{
    Method, Request, Response, StatusCode, Version,
    body::Incoming,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue},
    server::conn::http1,
};
use hyper_util::rt::TokioTimer;
use tonic::{
    body::Body,
    codegen::{BoxFuture, Service},
    service::LayerExt as _,
};
use tonic_web::GrpcWebLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};

pub use self::origin::{Origin, OriginError};
use super::{
    ConnectionLimits,
    calls::{Answer, Calls},
    observe::REQUEST_ID,
};
use crate::limits;

/// How browsers are served.
#[derive(Clone, Debug)]
pub(super) struct Web {
    cors: CorsLayer,
    http1: http1::Builder,
}

impl Web {
    /// Serves the pages of these origins; without any, none.
    pub(super) fn new(origins: &[Origin], of: ConnectionLimits) -> Option<Arc<Web>> {
        if origins.is_empty() {
            return None;
        }
        Some(Arc::new(Web {
            cors: cors(origins),
            http1: http1(of),
        }))
    }

    /// HTTP/1 of a connection that has begun it.
    pub(super) fn http1(&self) -> &http1::Builder {
        &self.http1
    }

    async fn answer(
        &self,
        calls: Calls,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Infallible> {
        let translated = GrpcWebLayer::new().named_layer(Translated(calls));
        self.cors.named_layer(translated).call(request).await
    }
}

type Answered = Result<Response<Either<Answer, Body>>, Infallible>;

/// Answers a request, as gRPC or as gRPC-Web. What is of no page passes neither of the layers.
pub(super) fn answer(
    web: Option<&Arc<Web>>,
    calls: &Calls,
    request: Request<Incoming>,
) -> Pin<Box<impl Future<Output = Answered> + use<>>> {
    let way = web.map_or(Way::Call, |web| way(web, &request));
    let calls = calls.clone();
    // In a box: it is some thousand bytes, and hyper moves what it is given a dozen times.
    Box::pin(async move {
        match way {
            Way::Call => Ok(calls.answer(request).await?.map(Either::Left)),
            // In one of its own, or every call had the room for it.
            Way::Page(web) => {
                let response = Box::pin(web.answer(calls, request)).await?;
                Ok(response.map(Either::Right))
            }
            Way::Foreign => {
                let mut response = Response::new(Either::Right(Body::empty()));
                *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
                Ok(response)
            }
        }
    })
}

/// Which way a request goes.
enum Way {
    Call,
    Page(Arc<Web>),
    /// Neither gRPC nor gRPC-Web. tonic takes it for gRPC over HTTP/2, and browsers let the pages of any
    /// origin send what says that it is plain text.
    Foreign,
}

fn way<B>(web: &Arc<Web>, request: &Request<B>) -> Way {
    /// What is translated; nothing may stand behind it.
    const WEB: [&[u8]; 4] = [
        b"application/grpc-web",
        b"application/grpc-web+proto",
        b"application/grpc-web-text",
        b"application/grpc-web-text+proto",
    ];
    let content_type = request.headers().get(CONTENT_TYPE);
    let content_type = content_type.map_or(&b""[..], HeaderValue::as_bytes);
    if request.version() != Version::HTTP_2
        || request.method() == Method::OPTIONS
        || WEB.contains(&content_type)
    {
        Way::Page(Arc::clone(web))
    } else if content_type.starts_with(b"application/grpc") && !content_type.starts_with(WEB[0]) {
        Way::Call
    } else {
        Way::Foreign
    }
}

/// What the layers have to do with calls.
#[derive(Clone, Debug)]
struct Translated(Calls);

impl Service<Request<Body>> for Translated {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.0.clone().answer(request))
    }
}

/// What browsers let the pages of these origins send and read. No cookies: who may call is told by a token.
fn cors(origins: &[Origin]) -> CorsLayer {
    let header = HeaderName::from_static;
    let named: Option<Vec<_>> = origins.iter().map(Origin::name).collect();
    CorsLayer::new()
        .allow_origin(named.map_or_else(AllowOrigin::any, AllowOrigin::list))
        .allow_methods([Method::POST])
        .allow_headers([
            CONTENT_TYPE,
            AUTHORIZATION,
            REQUEST_ID,
            header("x-grpc-web"),
            header("x-user-agent"),
            header("grpc-timeout"),
            header("traceparent"),
            header("tracestate"),
        ])
        .expose_headers([
            header("grpc-status"),
            header("grpc-message"),
            header("grpc-status-details-bin"),
            REQUEST_ID,
        ])
        .max_age(limits::PREFLIGHT_AGE)
}

/// HTTP/1 with the bounds of HTTP/2, as far as it has such things.
fn http1(of: ConnectionLimits) -> http1::Builder {
    let header_bytes = of
        .header_bytes_max
        .saturating_add(limits::HEADER_BYTES_SLACK);
    let header_bytes = usize::try_from(header_bytes).unwrap_or(usize::MAX);
    let mut http1 = http1::Builder::new();
    http1
        .timer(TokioTimer::new())
        // It runs between calls too: a shorter one would be the bound on idle connections.
        .header_read_timeout(of.idle.min(limits::TIME_MAX))
        .max_header_size(header_bytes)
        .max_buf_size(header_bytes);
    http1
}

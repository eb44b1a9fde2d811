//! Where Prometheus asks: HTTP on an address of its own, with one page.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc};

use hyper::{
    Method as HttpMethod, Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time,
};

use super::metrics::{Metrics, Sources};
use crate::limits;

/// A bound address.
#[derive(Debug)]
pub(in crate::server) struct MetricsListener(TcpListener);

impl MetricsListener {
    pub(in crate::server) async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let metrics_address = listener.local_addr()?;
        tracing::info!(%metrics_address, "metrics at /metrics");
        Ok(MetricsListener(listener))
    }

    /// Answers whoever asks, until it is dropped.
    pub(in crate::server) async fn serve(self, sources: Sources) {
        let metrics = Arc::new(Metrics::new(sources));
        let mut scrapes = JoinSet::new();
        loop {
            tokio::select! {
                Some(_) = scrapes.join_next() => {}
                accepted = self.0.accept(), if scrapes.len() < limits::SCRAPES_MAX => match accepted {
                    Ok((stream, _)) => {
                        scrapes.spawn(answer(stream, Arc::clone(&metrics)));
                    }
                    Err(error) => super::super::accept::pause_after(&error).await,
                },
            }
        }
    }
}

/// One connection, one answer: nobody asks often enough to keep it open.
async fn answer(stream: TcpStream, metrics: Arc<Metrics>) {
    let service = service_fn(|request| {
        let response = respond(&request, &metrics);
        async { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    match time::timeout(limits::SCRAPE_TIME_MAX, connection).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a scrape of the metrics failed"),
        Err(_) => tracing::debug!("a scrape of the metrics took too long"),
    }
}

fn respond(request: &Request<Incoming>, metrics: &Metrics) -> Response<String> {
    if request.uri().path() != "/metrics" {
        return plain(StatusCode::NOT_FOUND, "the metrics are at /metrics\n");
    }
    if request.method() != HttpMethod::GET {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "GET is all there is\n");
    }
    let mut response = Response::new(metrics.text());
    let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, text);
    response
}

fn plain(status: StatusCode, text: &str) -> Response<String> {
    let mut response = Response::new(text.to_owned());
    *response.status_mut() = status;
    response
}

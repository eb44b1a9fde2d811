//! Accepts connections and keeps them, so that a drain can end every one.

use std::{io, pin::pin, time::Duration};

use hyper::server::conn::http2;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time,
};
use tonic::service::Routes;

use super::Http2;
use crate::{
    limits,
    service::phase::{self, Phase},
};

/// The open connections. Dropping them ends them, and with them their calls and searches.
#[derive(Debug)]
pub(super) struct Connections {
    routes: Routes,
    http2: Http2,
    life: watch::Receiver<Phase>,
    tasks: JoinSet<()>,
}

impl Connections {
    pub(super) fn new(routes: Routes, http2: Http2, life: watch::Receiver<Phase>) -> Self {
        Connections {
            routes,
            http2: http2.in_range(),
            life,
            tasks: JoinSet::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Accepts until `shutdown` resolves, then closes the listener.
    pub(super) async fn accept(
        &mut self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) {
        let mut shutdown = pin!(shutdown);
        loop {
            let full = self.tasks.len() >= limits::CONNECTIONS_MAX;
            tokio::select! {
                biased;
                () = &mut shutdown => return,
                Some(_) = self.tasks.join_next() => {}
                accepted = listener.accept(), if !full => match accepted {
                    Ok((stream, _)) => self.open(stream),
                    Err(error) => pause_after(&error).await,
                },
            }
        }
    }

    /// Waits until every connection has closed.
    pub(super) async fn closed(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    fn open(&mut self, stream: TcpStream) {
        let (routes, life) = (self.routes.clone(), self.life.clone());
        self.tasks
            .spawn(connection(stream, routes, http2(self.http2), life));
    }
}

/// Serves one connection. In a drain the client is told to open no more calls (GOAWAY), and the
/// connection closes after its last one.
async fn connection(
    stream: TcpStream,
    routes: Routes,
    http2: http2::Builder<TokioExecutor>,
    life: watch::Receiver<Phase>,
) {
    // A reply must not wait for the client's next acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let service = TowerToHyperService::new(routes);
    let mut connection = pin!(http2.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = phase::reached(life, Phase::Draining) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended in an error");
    }
}

fn http2(sizes: Http2) -> http2::Builder<TokioExecutor> {
    let mut http2 = http2::Builder::new(TokioExecutor::new());
    http2
        .timer(TokioTimer::new())
        .initial_stream_window_size(sizes.stream_window)
        .initial_connection_window_size(sizes.connection_window)
        .max_frame_size(sizes.frame_bytes)
        .max_concurrent_streams(limits::CONNECTION_CALLS_MAX)
        .max_header_list_size(limits::HEADER_BYTES_MAX)
        .max_send_buf_size(limits::SEND_BUFFER_BYTES_MAX)
        .max_pending_accept_reset_streams(limits::PENDING_RESETS_MAX)
        .keep_alive_interval(limits::KEEPALIVE_INTERVAL)
        .keep_alive_timeout(limits::KEEPALIVE_TIMEOUT);
    http2
}

/// A client that hung up before it was accepted is no reason to wait; a system out of
/// descriptors is, or accepting would spin.
async fn pause_after(error: &io::Error) {
    const PAUSE: Duration = Duration::from_millis(50);
    match error.kind() {
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset => {}
        _ => {
            tracing::warn!(%error, "cannot accept connections; trying again");
            time::sleep(PAUSE).await;
        }
    }
}

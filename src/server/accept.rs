//! Accepts connections and keeps them, so that a drain can end every one.

use std::{io, mem, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time,
};
use tonic::service::Routes;

use super::{
    ConnectionLimits, Http2,
    calls::Calls,
    connection,
    observe::{Observers, Watch},
    turn_away::turn_away,
};
use crate::{limits, service::phase::Phase};

/// The open connections. Dropping them ends them, and with them their calls and searches.
#[derive(Debug)]
pub(super) struct Connections {
    routes: Routes,
    http2: Http2,
    life: watch::Receiver<Phase>,
    tasks: JoinSet<()>,
    /// Connections beyond the bound, until they have been told so.
    turned_away: JoinSet<()>,
    is_full: bool,
    limits: ConnectionLimits,
    observers: Arc<Observers>,
}

impl Connections {
    pub(super) fn new(
        routes: Routes,
        limits: ConnectionLimits,
        http2: Http2,
        life: watch::Receiver<Phase>,
        observers: Arc<Observers>,
    ) -> Self {
        Connections {
            routes,
            http2: http2.in_range(),
            life,
            tasks: JoinSet::new(),
            turned_away: JoinSet::new(),
            is_full: false,
            limits,
            observers,
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
            tokio::select! {
                biased;
                () = &mut shutdown => return,
                Some(_) = self.tasks.join_next() => {}
                Some(_) = self.turned_away.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => self.open(stream, peer),
                    Err(error) => pause_after(&error).await,
                },
            }
        }
    }

    /// Ends every connection now.
    pub(super) async fn cut_off(&mut self) {
        self.tasks.shutdown().await;
    }

    /// Waits until every connection has closed.
    pub(super) async fn closed(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    fn open(&mut self, stream: TcpStream, peer: SocketAddr) {
        let max = self.limits.connections_max;
        if self.tasks.len() < max {
            self.is_full = false;
            let life = self.life.clone();
            let http2 = http2(self.limits, self.http2);
            let counted = self.observers.connection();
            let watch = Watch::new(Arc::clone(&self.observers), peer);
            let calls = Calls::new(self.routes.clone(), self.limits.header_bytes_max, watch);
            let serving = connection::serve(stream, calls, http2, self.limits, life);
            self.tasks.spawn(async move {
                serving.await;
                drop(counted);
            });
        } else {
            self.observers.turned_away();
            // Once, and not for each of a flood.
            if !mem::replace(&mut self.is_full, true) {
                tracing::warn!(connections = max, "turning connections away");
            }
            if self.turned_away.len() < limits::TURNED_AWAY_MAX {
                self.turned_away.spawn(turn_away(stream, max));
            }
        }
    }
}

fn http2(of: ConnectionLimits, sizes: Http2) -> http2::Builder<TokioExecutor> {
    let header_bytes = of
        .header_bytes_max
        .saturating_add(limits::HEADER_BYTES_SLACK);
    let mut http2 = http2::Builder::new(TokioExecutor::new());
    http2
        .timer(TokioTimer::new())
        .initial_stream_window_size(sizes.stream_window)
        .initial_connection_window_size(sizes.connection_window)
        .max_frame_size(sizes.frame_bytes)
        .max_concurrent_streams(of.calls_max)
        .max_header_list_size(header_bytes)
        .max_send_buf_size(limits::SEND_BUFFER_BYTES_MAX)
        .max_pending_accept_reset_streams(limits::PENDING_RESETS_MAX)
        .keep_alive_interval(of.keepalive_interval)
        .keep_alive_timeout(of.keepalive_timeout);
    http2
}

/// A client that hung up before it was accepted is no reason to wait; a system out of
/// descriptors is, or accepting would spin.
pub(super) async fn pause_after(error: &io::Error) {
    const PAUSE: Duration = Duration::from_millis(50);
    match error.kind() {
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset => {}
        _ => {
            tracing::warn!(%error, "cannot accept connections; trying again");
            time::sleep(PAUSE).await;
        }
    }
}

//! Accepts connections and keeps them, so that a drain can end every one.

use std::{io, mem, net::SocketAddr, pin::pin, time::Duration};

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time,
};

use super::{ConnectionLimits, Http2, connection, tls::handshake::Tls, turn_away};
use crate::limits;

/// The open connections. Dropping them ends them, and with them their calls and searches.
#[derive(Debug)]
pub(super) struct Connections {
    setup: connection::Setup,
    tls: Option<Tls>,
    tasks: JoinSet<()>,
    /// Connections beyond the bound, until they have been told so.
    turned_away: JoinSet<()>,
    is_full: bool,
}

impl Connections {
    pub(super) fn new(setup: connection::Setup, tls: Option<Tls>) -> Self {
        Connections {
            setup,
            tls,
            tasks: JoinSet::new(),
            turned_away: JoinSet::new(),
            is_full: false,
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
        let max = self.setup.limits.connections_max;
        if self.tasks.len() < max {
            self.is_full = false;
            let (tls, setup) = (self.tls.clone(), self.setup.clone());
            let counted = self.setup.observers.connection();
            self.tasks.spawn(async move {
                connection::open(stream, peer, tls, setup).await;
                drop(counted);
            });
        } else {
            self.setup.observers.turned_away();
            // Once, and not for each of a flood.
            if !mem::replace(&mut self.is_full, true) {
                tracing::warn!(connections = max, "turning connections away");
            }
            // Under TLS it would take a handshake to say so, the dearest thing that a stranger can ask for.
            if self.tls.is_none() && self.turned_away.len() < limits::TURNED_AWAY_MAX {
                self.turned_away.spawn(turn_away::too_many(stream, max));
            }
        }
    }
}

/// HTTP/2 of every connection.
pub(super) fn http2(of: ConnectionLimits, sizes: Http2) -> http2::Builder<TokioExecutor> {
    let sizes = sizes.in_range();
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
        .keep_alive_interval(of.keepalive_interval.min(limits::TIME_MAX))
        .keep_alive_timeout(of.keepalive_timeout.min(limits::TIME_MAX));
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

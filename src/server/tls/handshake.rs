//! How a connection begins TLS.

use std::{
    fmt, io, mem,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{net::TcpStream, time::Instant};
use tokio_rustls::{TlsAcceptor, rustls::ServerConfig, server::TlsStream};

use crate::server::{reload::Live, turn_away};

/// Failed handshakes are reported once in this time, with how many were not: strangers must not be able
/// to fill a log.
const REPORT_PAUSE: Duration = Duration::from_secs(1);

/// The TLS of a server. Clones share it.
#[derive(Clone)]
pub(in crate::server) struct Tls {
    config: Live<ServerConfig>,
    reports: Arc<Mutex<Reports>>,
}

#[derive(Default)]
struct Reports {
    next: Option<Instant>,
    unsaid: u64,
}

impl Tls {
    pub(in crate::server) fn new(config: Live<ServerConfig>) -> Self {
        Tls {
            config,
            reports: Arc::default(),
        }
    }

    /// Agrees with a client on keys. Failures are reported in the log.
    pub(in crate::server) async fn accept(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
    ) -> io::Result<TlsStream<TcpStream>> {
        const PLAIN: &[u8] = b"PRI";
        let mut first = [0; PLAIN.len()];
        if stream.peek(&mut first).await? == PLAIN.len() && first == PLAIN {
            turn_away::plain(stream).await;
            let error = io::Error::other("the client speaks HTTP/2 without TLS");
            self.report(peer, &error);
            return Err(error);
        }
        let acceptor = TlsAcceptor::from(self.config.now());
        match acceptor.accept(stream).into_fallible().await {
            Ok(stream) => Ok(stream),
            Err((error, stream)) => {
                // Who connects and says nothing only looks whether the port is open.
                if error.kind() != io::ErrorKind::UnexpectedEof {
                    self.report(peer, &error);
                    // The client has been sent an alert that says why.
                    turn_away::close(stream).await;
                }
                Err(error)
            }
        }
    }

    fn report(&self, peer: SocketAddr, error: &io::Error) {
        let now = Instant::now();
        let unsaid = {
            // Nothing panics under the lock.
            let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
            if reports.next.is_some_and(|next| now < next) {
                reports.unsaid += 1;
                return;
            }
            reports.next = Some(now + REPORT_PAUSE);
            mem::take(&mut reports.unsaid)
        };
        tracing::warn!(%peer, %error, unsaid, "a TLS handshake failed");
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

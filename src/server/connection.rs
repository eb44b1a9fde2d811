//! One connection, from its first byte to its last.

use std::{
    hash::{BuildHasher as _, RandomState},
    io,
    pin::pin,
    time::Duration,
};

use hyper::{server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{net::TcpStream, sync::watch, time};
use tonic::service::Routes;

use super::{
    ConnectionLimits,
    calls::Calls,
    linger::{Lent, linger},
};
use crate::service::phase::{self, Phase};

/// What every HTTP/2 client says first.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Why a connection is told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Draining,
    Idle,
    Age,
    /// A call that is over is still not read.
    Unread,
}

/// Serves a connection until its client ends it or is told to open no more calls (GOAWAY). Then it
/// closes after its last call, which has until the end of the drain, or else until that of the grace
/// time.
pub(super) async fn serve(
    stream: TcpStream,
    routes: Routes,
    http2: http2::Builder<TokioExecutor>,
    limits: ConnectionLimits,
    life: watch::Receiver<Phase>,
) {
    // A reply must not wait for the client's next acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let begun = time::timeout(limits.handshake_timeout, preface(&stream));
    tokio::select! {
        begun = begun => if !matches!(begun, Ok(Ok(()))) {
            tracing::debug!(timeout = ?limits.handshake_timeout, "a connection never began HTTP/2");
            return;
        },
        () = phase::reached(life.clone(), Phase::Draining) => return,
    }
    let calls = Calls::new(limits.header_bytes_max);
    let service = service_fn(|request| calls.clone().answer(routes.clone(), request));
    let (stream, returned) = Lent::new(stream);
    let ended = {
        let mut connection = pin!(http2.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            biased;
            ended = connection.as_mut() => ended,
            why = told(&calls, limits, life) => {
                tracing::debug!(?why, "a connection is told to end");
                connection.as_mut().graceful_shutdown();
                if why == Why::Draining {
                    connection.await
                } else if let Ok(ended) = time::timeout(limits.age_grace, connection).await {
                    ended
                } else {
                    tracing::debug!(?why, "cut off a connection that did not close");
                    return;
                }
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended in an error");
    } else if let Ok(stream) = returned.await {
        // Whoever neither reads nor hangs up by then has had his time.
        let _ = time::timeout(limits.age_grace, linger(stream)).await;
    }
}

/// Waits until HTTP/2 can begin, or what came is something else, which hyper refuses. hyper itself
/// waits for a client's first bytes as long as it takes.
async fn preface(stream: &TcpStream) -> io::Result<()> {
    // Bytes that are looked at stay where they are, so more of them cannot be waited for. Few clients
    // send less than all at once.
    const PAUSE: Duration = Duration::from_millis(20);
    let mut seen = [0; PREFACE.len()];
    loop {
        let len = stream.peek(&mut seen).await?;
        let begins = PREFACE.starts_with(seen.get(..len).unwrap_or_default());
        match len {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ if begins && len < PREFACE.len() => time::sleep(PAUSE).await,
            _ => return Ok(()),
        }
    }
}

/// Resolves when the connection has to end.
async fn told(calls: &Calls, limits: ConnectionLimits, life: watch::Receiver<Phase>) -> Why {
    let too_old = async {
        match limits.age {
            Some(age) => time::sleep(jittered(age)).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = phase::reached(life, Phase::Draining) => Why::Draining,
        () = calls.idle(limits.idle) => Why::Idle,
        () = too_old => Why::Age,
        () = calls.retired() => Why::Unread,
    }
}

/// A tenth more or less by chance. Connections that were opened together, as after a restart, would
/// all come back together.
fn jittered(age: Duration) -> Duration {
    // The keys of hash maps are random: no generator is needed for a number now and then.
    let random = RandomState::new().hash_one(0);
    let permille = u32::try_from(random % 201).unwrap_or(100) + 900;
    (age / 1_000).saturating_mul(permille)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_differ_by_a_tenth_at_most() {
        let age = Duration::from_hours(10);
        let ages: Vec<Duration> = (0..100).map(|_| jittered(age)).collect();
        let tenth = Duration::from_hours(9)..=Duration::from_hours(11);
        assert!(ages.iter().all(|age| tenth.contains(age)), "{ages:?}");
        assert!(ages.iter().any(|other| *other != ages[0]), "{ages:?}");
    }
}

//! One connection, from its first byte to its last.

use std::{
    hash::{BuildHasher as _, RandomState},
    io,
    net::SocketAddr,
    pin::pin,
    sync::Arc,
    time::Duration,
};

use hyper::{server::conn::http2, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::graceful::GracefulConnection,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::watch,
    time,
};
use tonic::service::Routes;

use super::{
    ConnectionLimits,
    auth::Access,
    calls::Calls,
    linger::{Lent, linger},
    observe::{Observers, Watch},
    prefaced::Prefaced,
    tls::handshake::Tls,
    web::{self, Web, keepalive},
};
use crate::service::{
    endpoint::Endpoint,
    phase::{self, Phase},
};

/// What all connections have in common.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) solver: Endpoint,
    pub(super) routes: Routes,
    pub(super) access: Access,
    pub(super) http2: http2::Builder<TokioExecutor>,
    /// Also HTTP/1, if browsers are served.
    pub(super) web: Option<Arc<Web>>,
    pub(super) limits: ConnectionLimits,
    pub(super) life: watch::Receiver<Phase>,
    pub(super) observers: Arc<Observers>,
}

/// Why a connection is told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Draining,
    Idle,
    Age,
    /// A call that is over is still not read.
    Unread,
}

/// Serves a new connection from its handshake on.
pub(super) async fn open(stream: TcpStream, peer: SocketAddr, tls: Option<Tls>, setup: Setup) {
    // A reply must not wait for the client's next acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    if setup.web.is_some()
        && let Err(error) = keepalive::by_kernel(&stream, setup.limits)
    {
        tracing::debug!(%error, "cannot set the keepalive of TCP");
    }
    // Twice the same: a byte without TLS passes nothing that knows of TLS.
    if let Some(tls) = tls {
        let handshake = async { Prefaced::new(tls.accept(stream, peer).await?).await };
        if let Some(stream) = begun(handshake, &setup).await {
            serve(stream, peer, setup).await;
        }
    } else if let Some(stream) = begun(Prefaced::new(stream), &setup).await {
        serve(stream, peer, setup).await;
    }
}

/// The stream of a connection that began HTTP/2 in time.
async fn begun<S>(
    handshake: impl Future<Output = io::Result<Prefaced<S>>>,
    setup: &Setup,
) -> Option<Prefaced<S>> {
    let timeout = setup.limits.handshake_timeout;
    tokio::select! {
        begun = time::timeout(timeout, handshake) => match begun {
            Ok(Ok(stream)) => return Some(stream),
            Ok(Err(error)) => tracing::debug!(%error, "a connection never began HTTP/2"),
            Err(_) => tracing::debug!(?timeout, "a connection never began HTTP/2"),
        },
        () = phase::reached(setup.life.clone(), Phase::Draining) => {}
    }
    None
}

/// Serves a connection until its client ends it or is told to open no more calls (GOAWAY, or with
/// HTTP/1 `connection: close`). Then it closes after its last call, which has until the end of the drain,
/// or else until that of the grace time.
async fn serve<S>(stream: Prefaced<S>, peer: SocketAddr, setup: Setup)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Setup {
        solver,
        routes,
        access,
        http2,
        web,
        limits,
        life,
        observers,
    } = setup;
    let watch = Watch::new(observers, peer);
    let calls = Calls::new(solver, routes, limits.header_bytes_max, access, watch);
    let service = service_fn(|request| web::answer(web.as_ref(), &calls, request));
    let http1 = web.as_deref().filter(|_| !stream.is_http2());
    let (stream, returned) = Lent::new(stream);
    let stream = TokioIo::new(stream);
    let told = told(&calls, limits, life);
    let ended = match http1 {
        None => ended(http2.serve_connection(stream, service), told, limits).await,
        Some(web) => {
            let connection = web.http1().serve_connection(stream, service);
            ended(connection, told, limits).await
        }
    };
    match ended {
        None => {}
        Some(Err(error)) => tracing::debug!(%error, "a connection ended in an error"),
        Some(Ok(())) => {
            if let Ok(stream) = returned.await {
                // Whoever neither reads nor hangs up by then has had his time.
                let _ = time::timeout(limits.age_grace, linger(stream)).await;
            }
        }
    }
}

/// The end of a connection; `None` if it was cut off.
async fn ended<C: GracefulConnection>(
    connection: C,
    told: impl Future<Output = Why>,
    limits: ConnectionLimits,
) -> Option<Result<(), C::Error>> {
    let mut connection = pin!(connection);
    let why = tokio::select! {
        biased;
        ended = connection.as_mut() => return Some(ended),
        why = told => why,
    };
    tracing::debug!(?why, "a connection is told to end");
    connection.as_mut().graceful_shutdown();
    if why == Why::Draining {
        return Some(connection.await);
    }
    let ended = time::timeout(limits.age_grace, connection).await.ok();
    if ended.is_none() {
        tracing::debug!(?why, "cut off a connection that did not close");
    }
    ended
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

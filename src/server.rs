//! Connections, health, reflection, and the way from the first call to the last.

mod accept;
mod calls;
mod config;
mod connection;
mod connection_limits;
mod linger;
mod routes;
pub mod signals;
pub mod telemetry;
mod turn_away;

use std::io;

use tokio::{net::TcpListener, time};

use self::{accept::Connections, routes::Health};
pub use self::{
    config::{Config, Http2},
    connection_limits::ConnectionLimits,
};
use crate::{
    limits,
    service::{
        SolverService,
        phase::{Life, Phase},
        pool::Pool,
        queue::Queue,
    },
};

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The system refused a solver thread, or the CPU lacks the level asked for.
    #[error("cannot start the solver threads")]
    Threads(#[source] io::Error),
    /// The descriptors compiled into the program are not usable.
    #[error("cannot set up reflection")]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// Serves on `listener` until `shutdown` resolves, then drains: no new connections, health says
/// `NOT_SERVING`, calls in flight have `config.grace` to finish, and whoever does not read his
/// answers even then is cut off. Dropping the future ends everything at once.
///
/// # Errors
///
/// The server cannot start. Once it serves, nothing ends it but `shutdown`.
pub async fn serve(
    listener: TcpListener,
    config: Config,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    let health = Health::not_serving().await;
    let queue = Queue::new(config.queued_calls_max, config.queued_jobs_max);
    let pool = Pool::start(config.workers, config.cpu_level, queue).map_err(ServeError::Threads)?;
    let life = Life::new();
    let service = SolverService::new(config.settings(), pool, life.clone());
    let routes = routes::routes(service, &health)?;

    let mut connections = Connections::new(routes, config.connection, config.http2, life.watch());
    health.set_serving(true).await;
    connections.accept(listener, shutdown).await;

    tracing::info!(grace = ?config.grace, connections = connections.len(), "draining");
    health.set_serving(false).await;
    life.enter(Phase::Draining);
    if time::timeout(config.grace, life.idle()).await.is_err() {
        tracing::warn!(grace = ?config.grace, "calls were still open when the grace time ended");
    }
    // Calls that are still open get UNAVAILABLE, if they read; watchers of health get their end.
    life.enter(Phase::Stopping);
    health.forget().await;
    if time::timeout(limits::LINGER, connections.closed())
        .await
        .is_err()
    {
        tracing::warn!(
            connections = connections.len(),
            "cut off connections that did not close"
        );
    }
    Ok(())
}

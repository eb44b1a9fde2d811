//! Connections, health, reflection, and the way from the first call to the last.

mod accept;
pub mod auth;
mod calls;
mod config;
mod connection;
mod connection_limits;
mod linger;
mod observe;
mod prefaced;
pub mod reload;
mod routes;
pub mod signals;
pub mod telemetry;
pub mod tls;
mod turn_away;
mod web;

use std::{io, net::SocketAddr, sync::Arc, time::Instant};

use tokio::{net::TcpListener, task::JoinSet, time};

use self::{
    accept::Connections,
    connection::Setup,
    observe::{MetricsListener, Observers, Requests, Sources, Traces},
    routes::Health,
    tls::handshake::Tls,
    web::Web,
};
pub use self::{
    config::{Config, Http2},
    connection_limits::ConnectionLimits,
    observe::{AccessLog, Observe, TracesTo},
    web::{Origin, OriginError},
};
use crate::{
    limits,
    service::{
        SolverService,
        endpoint::Endpoint,
        phase::{Life, Phase},
        pool::Pool,
        queue::Queue,
        tally::Tally,
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
    /// The address for metrics cannot be bound.
    #[error("cannot listen on {0} for metrics")]
    Metrics(SocketAddr, #[source] io::Error),
    /// What sends the traces cannot be set up.
    #[error("cannot set up traces")]
    Traces(#[from] opentelemetry_otlp::ExporterBuildError),
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
    let tally = config
        .observe
        .metrics_listen
        .map(|_| Arc::new(Tally::default()));
    let queue = Queue::new(config.queued_calls_max, config.queued_jobs_max, tally);
    let queue = Arc::new(queue);
    let pool = Pool::start(config.workers, config.cpu_level, Arc::clone(&queue))
        .map_err(ServeError::Threads)?;
    // Ends with this future, so that the drain can be watched to its end.
    let mut metrics = JoinSet::new();
    let observers = observe(&config, queue, &mut metrics).await?;
    let life = Life::new();
    let service = SolverService::new(config.settings(), pool, life.clone());
    let setup = Setup {
        solver: Endpoint::new(service),
        routes: routes::routes(&health, config.compression, config.reflection)?,
        access: config.access,
        http2: accept::http2(config.connection, config.http2),
        web: Web::new(&config.web_origins, config.connection),
        limits: config.connection,
        life: life.watch(),
        observers: Arc::clone(&observers),
    };
    let mut connections = Connections::new(setup, config.tls.map(Tls::new));
    health.set_serving(true).await;
    connections.accept(listener, shutdown).await;

    tracing::info!(grace = ?config.grace, connections = connections.len(), "draining");
    let drain_begun = Instant::now();
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
    if let Some(traces) = &observers.traces {
        connections.cut_off().await;
        let left = config.grace.saturating_sub(drain_begun.elapsed());
        traces.finish(left.min(limits::TRACES_LAST)).await;
    }
    Ok(())
}

/// Sets up what is to be seen of the server.
async fn observe(
    config: &Config,
    queue: Arc<Queue>,
    metrics: &mut JoinSet<()>,
) -> Result<Arc<Observers>, ServeError> {
    let mut requests = None;
    if let Some(address) = config.observe.metrics_listen {
        let listener = MetricsListener::bind(address)
            .await
            .map_err(|error| ServeError::Metrics(address, error))?;
        let counts = Arc::clone(requests.insert(Arc::new(Requests::new())));
        metrics.spawn(listener.serve(Sources {
            requests: counts,
            queue,
            workers: config.workers.get(),
            cpu_level: config.cpu_level,
        }));
    }
    let traces = config.observe.traces.as_ref().map(Traces::start);
    Ok(Arc::new(Observers {
        access_log: config.observe.access_log,
        requests,
        traces: traces.transpose()?,
    }))
}

//! What can be seen of a server, as flags.

use std::net::SocketAddr;

use clap::Args;

use crate::server::{AccessLog, Observe, TracesTo};

/// Metrics, traces and the access log.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Seeing inside")]
pub struct ObserveArgs {
    /// Address at which Prometheus finds the metrics, under /metrics; port 0 takes a free one [default: nowhere]
    #[arg(long, env = "SUDOKU_METRICS_LISTEN", value_name = "ADDRESS")]
    pub metrics_listen: Option<SocketAddr>,

    /// Which calls have a line in the log, on the target `sudoku_solver::access`
    #[arg(long, env = "SUDOKU_ACCESS_LOG", default_value = "streams", value_enum)]
    pub access_log: AccessLog,

    /// OpenTelemetry collector that the traces of calls go to by OTLP over gRPC, as in `http://127.0.0.1:4317` [default: nowhere]
    #[arg(long, env = "SUDOKU_OTLP_ENDPOINT", value_name = "URL", value_parser = endpoint)]
    pub otlp_endpoint: Option<String>,

    /// Share of calls to trace where the caller has not decided, 0 to 1
    #[arg(long, env = "SUDOKU_OTLP_SAMPLE", value_name = "SHARE", default_value = "0.01", value_parser = share)]
    pub otlp_sample: f64,
}

impl ObserveArgs {
    /// Puts them where the server looks for them.
    pub(super) fn observe(&self) -> Observe {
        Observe {
            metrics_listen: self.metrics_listen,
            access_log: self.access_log,
            traces: self.otlp_endpoint.clone().map(|endpoint| TracesTo {
                endpoint,
                sample: self.otlp_sample,
            }),
        }
    }
}

/// Reads the address of a collector.
fn endpoint(url: &str) -> Result<String, String> {
    let uri: tonic::transport::Uri = url.parse().map_err(|_| "it is no URL")?;
    match (uri.scheme_str(), uri.authority()) {
        (Some("http"), Some(_)) => Ok(url.to_owned()),
        _ => Err("it must be http://HOST:PORT; TLS to a collector is not spoken".to_owned()),
    }
}

/// Reads a share of all.
fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "it is no number")?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err("it must be 0 to 1".to_owned())
    }
}

//! Logs on stderr, as text for people or JSON for collectors; which ones, by `RUST_LOG`.

use std::io;

use tracing_subscriber::{EnvFilter, util::TryInitError};

/// The form of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One object a line.
    Json,
}

/// Why logs could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// `RUST_LOG` is not a filter.
    #[error("RUST_LOG")]
    Filter(#[from] tracing_subscriber::filter::FromEnvError),
    /// Logs were set up before.
    #[error("logs are set up already")]
    Twice(#[from] TryInitError),
}

/// Sends the events of this process to stderr, from level info unless `RUST_LOG` says otherwise.
///
/// # Errors
///
/// `RUST_LOG` cannot be read, or logs are set up already.
pub fn init(format: LogFormat) -> Result<(), TelemetryError> {
    let filter = EnvFilter::builder()
        .with_default_directive(tracing::Level::INFO.into())
        .from_env()?;
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr);
    match format {
        LogFormat::Text => {
            let colours = io::IsTerminal::is_terminal(&io::stderr());
            tracing_subscriber::util::SubscriberInitExt::try_init(logs.with_ansi(colours).finish())
        }
        LogFormat::Json => {
            tracing_subscriber::util::SubscriberInitExt::try_init(logs.json().finish())
        }
    }?;
    Ok(())
}

//! TLS of the server as flags.

use std::path::PathBuf;

use clap::Args;
use humantime::Duration;

use crate::{cli::Misconfigured, limits, server::tls::TlsFiles};

/// TLS, and when the files of secrets are read again.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "TLS")]
pub struct TlsArgs {
    /// PEM file with the certificate of the server, and those between it and its authority
    #[arg(long, env = "SUDOKU_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,

    /// PEM file with its key
    #[arg(long, env = "SUDOKU_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,

    /// PEM file with the authorities of clients: who has no certificate of theirs is not let in
    #[arg(long, env = "SUDOKU_TLS_CLIENT_CA", value_name = "FILE")]
    pub tls_client_ca: Option<PathBuf>,

    /// How often certificates and tokens are looked at for changes; SIGHUP has them read at once
    #[arg(long, env = "SUDOKU_RELOAD_INTERVAL", value_name = "TIME",
        default_value_t = limits::RELOAD_INTERVAL.into())]
    pub reload_interval: Duration,
}

impl TlsArgs {
    /// The files of a server with TLS, and whether it is to offer HTTP/1.
    pub(super) fn files(&self, http1: bool) -> Result<Option<TlsFiles>, Misconfigured> {
        let text = match (&self.tls_cert, &self.tls_key, &self.tls_client_ca) {
            (Some(cert), Some(key), client_ca) => {
                return Ok(Some(TlsFiles {
                    cert: cert.clone(),
                    key: key.clone(),
                    client_ca: client_ca.clone(),
                    http1,
                }));
            }
            (None, None, None) => return Ok(None),
            (Some(_), None, _) => "--tls-cert needs --tls-key, the key of the certificate",
            (None, Some(_), _) => "--tls-key needs --tls-cert, the certificate of the key",
            (None, None, Some(_)) => "--tls-client-ca needs --tls-cert and --tls-key",
        };
        Err(Misconfigured(text.to_owned()))
    }
}

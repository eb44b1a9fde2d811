//! How `solve`, `bench` and `health` trust a server and prove who they are: flags, and a token.

use std::{
    env, fs,
    net::IpAddr,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Args;
use tonic::codegen::http::Uri;

use super::{Misconfigured, say};
use crate::{
    client::{Security, SecurityError},
    server::auth::token_lines,
};

/// The environment variable with the token to send.
const TOKEN_VARIABLE: &str = "SUDOKU_TOKEN";

/// How a server is trusted, and this client known to it, by TLS.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Security of the client")]
pub(super) struct TlsArgs {
    /// PEM file with the authorities of servers to trust [default: those of the system]
    #[arg(long = "tls-ca", value_name = "FILE")]
    ca: Option<PathBuf>,

    /// PEM file with the certificate to show to the server; needs --tls-key
    #[arg(long = "tls-cert", value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,

    /// PEM file with its key
    #[arg(long = "tls-key", value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
}

/// What a connection to a server is secured with.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Security of the client")]
pub(super) struct SecurityArgs {
    #[command(flatten)]
    tls: TlsArgs,

    /// File with the token to send, the first if there are several. Or `SUDOKU_TOKEN` holds it
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl TlsArgs {
    /// The first flag that was given.
    fn flag(&self) -> Option<&'static str> {
        let flags = [("--tls-ca", &self.ca), ("--tls-cert", &self.cert)];
        let given = flags.iter().find(|(_, value)| value.is_some());
        given.map(|(flag, _)| *flag)
    }

    /// What they say, for the servers at `urls`. What would be of no use there is an error.
    pub(super) fn read(&self, urls: &[impl AsRef<str>]) -> anyhow::Result<Security> {
        let mut security = Security::default();
        if let Some(path) = &self.ca {
            security = good(security.trust(&read(path)?), path)?;
        }
        if let (Some(cert), Some(key)) = (&self.cert, &self.key) {
            let (certificate, secret) = (read(cert)?, read(key)?);
            let identity = security.identity(&certificate, &secret);
            let path = match identity {
                Err(SecurityError::NoKey) => key,
                _ => cert,
            };
            security = good(identity, path)?;
        }
        let plain = urls.iter().map(AsRef::as_ref).find(|url| !is_tls(url));
        if let (Some(flag), Some(url)) = (self.flag(), plain) {
            let text =
                format!("{flag} is of no use without TLS: {url} does not begin with https://");
            return Err(Misconfigured(text).into());
        }
        Ok(security)
    }
}

impl SecurityArgs {
    /// The first flag that was given.
    pub(super) fn flag(&self) -> Option<&'static str> {
        let token = self.token_file.as_ref().map(|_| "--token-file");
        self.tls.flag().or(token)
    }

    /// What they say, for the servers at `urls`. What would be of no use there is an error, what is
    /// dangerous there is warned of.
    pub(super) fn read(&self, urls: &[impl AsRef<str>]) -> anyhow::Result<Security> {
        let mut security = self.tls.read(urls)?;
        if let Some(path) = &self.token_file {
            let text = read(path)?;
            let (_, token) = token_lines(&text)
                .next()
                .with_context(|| format!("{} holds no token", path.display()))?;
            security = good(security.token(&String::from_utf8_lossy(token)), path)?;
        } else if let Some(token) = env::var_os(TOKEN_VARIABLE) {
            let token = token.to_string_lossy();
            security = security.token(token.trim()).context(TOKEN_VARIABLE)?;
        }
        let is_seen = |url: &&str| !is_tls(url) && !is_this_machine(url);
        for url in urls.iter().map(AsRef::as_ref).filter(is_seen) {
            if security.has_token() {
                say(&format!(
                    "warning: the token goes to {url} unencrypted, for everyone on the way to read; use https://"
                ));
            }
        }
        Ok(security)
    }
}

fn is_tls(url: &str) -> bool {
    url.starts_with("https://")
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn good<T>(read: Result<T, SecurityError>, path: &Path) -> anyhow::Result<T> {
    read.with_context(|| format!("cannot use {}", path.display()))
}

fn is_this_machine(url: &str) -> bool {
    let Ok(url) = url.parse::<Uri>() else {
        return false;
    };
    let host = url.host().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

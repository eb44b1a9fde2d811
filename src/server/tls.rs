//! TLS of connections: what certificates and keys in PEM files make of them.

pub(super) mod handshake;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls_pki_types::{
    CertificateDer, PrivateKeyDer,
    pem::{self, PemObject as _},
};
use tokio_rustls::rustls::{
    self, RootCertStore, ServerConfig,
    crypto::ring,
    server::{VerifierBuilderError, WebPkiClientVerifier},
};

use super::reload::{self, Files, Unreadable};

/// The protocol that gRPC speaks, as TLS names it.
const ALPN_H2: &[u8] = b"h2";

/// The one that browsers fall back to.
const ALPN_HTTP1: &[u8] = b"http/1.1";

/// Where certificates and keys are, as PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate of the server, and those between it and its authority.
    pub cert: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The authorities whose clients are let in. Without any, clients need no certificate.
    pub client_ca: Option<PathBuf>,
    /// Whether HTTP/1 is offered as well, as [gRPC-Web](super::Config::web_origins) may need it.
    pub http1: bool,
}

/// What is wrong with certificates or keys.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// A file is no PEM.
    #[error("{path} is no PEM file: {cause}", path = .path.display())]
    Pem {
        /// Which.
        path: PathBuf,
        /// Why not.
        cause: pem::Error,
    },
    /// A file does not hold what it should.
    #[error("{path} holds no {what} in PEM", path = .path.display())]
    Missing {
        /// Which.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
    },
    /// The certificate and the key are of no use together.
    #[error("{cert} and {key} do not serve together: {cause}", cert = .cert.display(), key = .key.display())]
    Pair {
        /// The file of the certificate.
        cert: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// Why not.
        cause: rustls::Error,
    },
    /// An authority is none.
    #[error("{path} holds an authority that cannot be used: {cause}", path = .path.display())]
    Authority {
        /// Which file.
        path: PathBuf,
        /// Why not.
        cause: rustls::Error,
    },
    /// The check of clients cannot be set up.
    #[error("cannot check clients by {path}: {cause}", path = .path.display())]
    Verifier {
        /// The file of the authorities.
        path: PathBuf,
        /// Why not.
        cause: VerifierBuilderError,
    },
}

impl Files for TlsFiles {
    type Value = ServerConfig;
    type Error = TlsError;

    const NAME: &'static str = "certificates";

    fn paths(&self) -> Vec<&Path> {
        let both = [self.cert.as_path(), self.key.as_path()];
        both.into_iter().chain(self.client_ca.as_deref()).collect()
    }

    fn read(&self) -> Result<ServerConfig, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let pair = |cause| TlsError::Pair {
            cert: self.cert.clone(),
            key: self.key.clone(),
            cause,
        };
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(pair)?;
        let builder = match &self.client_ca {
            Some(path) => {
                let roots = Arc::new(authorities(path)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider)
                    .build()
                    .map_err(|cause| TlsError::Verifier {
                        path: path.clone(),
                        cause,
                    })?;
                builder.with_client_cert_verifier(verifier)
            }
            None => builder.with_no_client_auth(),
        };
        let mut config = builder
            .with_single_cert(certificates(&self.cert)?, key(&self.key)?)
            .map_err(pair)?;
        config.alpn_protocols = vec![ALPN_H2.to_vec()];
        if self.http1 {
            config.alpn_protocols.push(ALPN_HTTP1.to_vec());
        }
        Ok(config)
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let pem = reload::read(path)?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|cause| TlsError::Pem {
            path: path.to_owned(),
            cause,
        })?;
    if certificates.is_empty() {
        return Err(missing(path, "certificate"));
    }
    Ok(certificates)
}

fn key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let pem = reload::read(path)?;
    PrivateKeyDer::from_pem_slice(&pem).map_err(|cause| match cause {
        pem::Error::NoItemsFound => missing(path, "private key"),
        cause => TlsError::Pem {
            path: path.to_owned(),
            cause,
        },
    })
}

fn authorities(path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots
            .add(certificate)
            .map_err(|cause| TlsError::Authority {
                path: path.to_owned(),
                cause,
            })?;
    }
    Ok(roots)
}

fn missing(path: &Path, what: &'static str) -> TlsError {
    TlsError::Missing {
        path: path.to_owned(),
        what,
    }
}

//! Which servers a client trusts, and how it proves who it is.

use std::fmt;

use rustls_pki_types::{
    CertificateDer, PrivateKeyDer,
    pem::{self, PemObject as _},
};
use tonic::{
    metadata::{Ascii, MetadataValue},
    transport::{Certificate, ClientTlsConfig, Identity},
};

/// What a connection is secured with. The default trusts the authorities of the system where the URL
/// begins with `https://`, and sends neither a certificate nor a token.
#[derive(Clone, Debug, Default)]
pub struct Security {
    authorities: Option<Certificate>,
    identity: Option<Pair>,
    token: Option<MetadataValue<Ascii>>,
}

#[derive(Clone)]
struct Pair(Identity);

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // It holds a key.
        f.debug_struct("Pair").finish_non_exhaustive()
    }
}

/// What is wrong with a certificate, a key or a token. It holds none of them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecurityError {
    /// A text is no PEM.
    #[error("it is no PEM: {0}")]
    Pem(pem::Error),
    /// There is no certificate where one should be.
    #[error("it holds no certificate in PEM")]
    NoCertificate,
    /// There is no key where one should be.
    #[error("it holds no private key in PEM")]
    NoKey,
    /// A token cannot be sent in a header.
    #[error("a token is made of letters, digits and signs of ASCII, without spaces")]
    Token,
}

impl Security {
    /// Trusts the servers of these authorities, in PEM, and no others.
    ///
    /// # Errors
    ///
    /// It holds no certificate.
    pub fn trust(mut self, authorities: &[u8]) -> Result<Self, SecurityError> {
        check_certificates(authorities)?;
        self.authorities = Some(Certificate::from_pem(authorities));
        Ok(self)
    }

    /// Shows a certificate to servers that ask for one; it and its key in PEM.
    ///
    /// # Errors
    ///
    /// One of them is missing.
    pub fn identity(mut self, certificate: &[u8], key: &[u8]) -> Result<Self, SecurityError> {
        check_certificates(certificate)?;
        check_key(key)?;
        self.identity = Some(Pair(Identity::from_pem(certificate, key)));
        Ok(self)
    }

    /// Sends a token with every call.
    ///
    /// # Errors
    ///
    /// It cannot be sent in a header.
    pub fn token(mut self, token: &str) -> Result<Self, SecurityError> {
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SecurityError::Token);
        }
        let bearer = format!("Bearer {token}");
        let mut value: MetadataValue<Ascii> = bearer.parse().map_err(|_| SecurityError::Token)?;
        // So that it is neither shown by Debug nor kept in HTTP/2's table of headers.
        value.set_sensitive(true);
        self.token = Some(value);
        Ok(self)
    }

    pub(crate) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    pub(super) fn bearer(&self) -> Option<MetadataValue<Ascii>> {
        self.token.clone()
    }

    pub(super) fn tls(&self) -> ClientTlsConfig {
        let config = ClientTlsConfig::new();
        let config = match &self.authorities {
            Some(authorities) => config.ca_certificate(authorities.clone()),
            None => config.with_native_roots(),
        };
        match &self.identity {
            Some(Pair(identity)) => config.identity(identity.clone()),
            None => config,
        }
    }
}

/// tonic would take a text without any certificate, and then trust nobody.
fn check_certificates(pem: &[u8]) -> Result<(), SecurityError> {
    let mut found = false;
    for certificate in CertificateDer::pem_slice_iter(pem) {
        certificate.map_err(SecurityError::Pem)?;
        found = true;
    }
    if found {
        Ok(())
    } else {
        Err(SecurityError::NoCertificate)
    }
}

fn check_key(pem: &[u8]) -> Result<(), SecurityError> {
    match PrivateKeyDer::from_pem_slice(pem) {
        Ok(_) => Ok(()),
        Err(pem::Error::NoItemsFound) => Err(SecurityError::NoKey),
        Err(error) => Err(SecurityError::Pem(error)),
    }
}

//! Authorities and certificates, made anew by each test.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// Whom a server or a client trusts.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub pem: String,
}

/// A certificate and its key, as PEM.
#[derive(Debug)]
pub struct Pair {
    pub cert: String,
    pub key: String,
}

impl Authority {
    pub fn new() -> Authority {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(DnType::CommonName, "an authority of a test");
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Authority {
            issuer: Issuer::new(params, key),
            pem,
        }
    }

    /// A certificate for 127.0.0.1, of a server or a client.
    pub fn certify(&self) -> Pair {
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let params = CertificateParams::new(names).unwrap();
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.issuer).unwrap();
        Pair {
            cert: cert.pem(),
            key: key.serialize_pem(),
        }
    }
}

/// A folder of one test, empty at first.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    #[track_caller]
    pub fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file at once, as one that is read meanwhile must be, and returns its path.
    #[track_caller]
    pub fn write(&self, name: &str, content: &str) -> String {
        let (new, path) = (self.path(".new"), self.path(name));
        fs::write(&new, content).unwrap();
        fs::rename(&new, &path).unwrap();
        path
    }

    /// Writes a pair as `tls.crt` and `tls.key`, and returns the flags of a server that has it.
    #[track_caller]
    pub fn write_pair(&self, pair: &Pair) -> Vec<String> {
        let (cert, key) = (
            self.write("tls.crt", &pair.cert),
            self.write("tls.key", &pair.key),
        );
        vec!["--tls-cert".to_owned(), cert, "--tls-key".to_owned(), key]
    }
}

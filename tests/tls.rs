//! TLS of the real binary: who is let in, what the others hear, and certificates that change.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;

use std::{
    fs,
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::symlink,
    path::Path,
    process::Command,
    sync::Arc,
};

use binary::{
    Run,
    boards::{GRID, UNIQUE},
    certificates::{Authority, Folder, Pair},
    file,
    peers::peers,
    run,
    served::Served,
    solve,
};
use sudoku_solver::client::{BatchSettings, Client, ConnectSettings, Security};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName},
};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A server with TLS, and the authority that certified it.
struct Secured {
    served: Served,
    folder: Folder,
    /// The file of the authority.
    ca: String,
}

impl Secured {
    #[track_caller]
    fn start(name: &str, more: &[&str]) -> Secured {
        let folder = Folder::new(name);
        let authority = Authority::new();
        let ca = folder.write("ca.crt", &authority.pem);
        let mut args = folder.write_pair(&authority.certify());
        args.extend(more.iter().map(|arg| (*arg).to_owned()));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        Secured {
            served: Served::with(&args),
            folder,
            ca,
        }
    }

    fn url(&self) -> String {
        format!("https://{}", self.served.address)
    }

    /// One board, by a client with these flags.
    #[track_caller]
    fn solve(&self, args: &[&str]) -> Run {
        solve(&[&["--server", &self.url()], args].concat(), UNIQUE)
    }

    /// Replaces certificate and key.
    #[track_caller]
    fn renew(&self, pair: &Pair) {
        self.folder.write_pair(pair);
    }
}

#[track_caller]
fn assert_solved(run: &Run) {
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), format!("{GRID}\n").as_str()),
        "{}",
        run.stderr
    );
}

/// The board has no answer, and these words say why. It is listed only if it was read before every server
/// had refused.
#[track_caller]
fn assert_unanswered(run: &Run, texts: &[&str]) {
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(!run.stdout.contains(GRID), "{}", run.stdout);
    for text in texts {
        assert!(run.stderr.contains(text), "{text}: {}", run.stderr);
    }
}

#[test]
fn who_trusts_the_authority_is_served() {
    let server = Secured::start("trust", &[]);
    assert_solved(&server.solve(&["--tls-ca", &server.ca]));
}

#[test]
fn who_trusts_another_hears_so_and_so_does_the_log() {
    let server = Secured::start("mistrust", &[]);
    let other = server.folder.write("other.crt", &Authority::new().pem);
    let url = server.url();
    let refused = server.solve(&["--tls-ca", &other]);
    assert_unanswered(&refused, &["every server refused", &url, "certificate"]);
    let line = server.served.line_with("a TLS handshake failed");
    assert!(
        line.contains("WARN") && line.contains("127.0.0.1"),
        "{line}"
    );
    assert_solved(&server.solve(&["--tls-ca", &server.ca]));
}

#[test]
fn plain_text_to_a_port_of_tls_is_told_so() {
    let server = Secured::start("plain-to-tls", &[]);
    let mut stream = TcpStream::connect(&server.served.address).unwrap();
    stream.write_all(PREFACE).unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("this port speaks TLS only"), "{said:?}");
    server.served.line_with("without TLS");
}

#[test]
fn mutual_tls_lets_in_who_has_a_certificate_of_the_authority() {
    let folder = Folder::new("mutual");
    let (clients, strangers) = (Authority::new(), Authority::new());
    let client_ca = folder.write("clients.crt", &clients.pem);
    let server = Secured::start("mutual-server", &["--tls-client-ca", &client_ca]);
    let identity = |name: &str, pair: &Pair| {
        let cert = folder.write(&format!("{name}.crt"), &pair.cert);
        let key = folder.write(&format!("{name}.key"), &pair.key);
        (cert, key)
    };
    let (cert, key) = identity("client", &clients.certify());
    let trusted = ["--tls-ca", server.ca.as_str()];
    let with = |cert: &str, key: &str| {
        let shown = ["--tls-cert", cert, "--tls-key", key, "--retry-for", "1s"];
        server.solve(&[&trusted[..], &shown].concat())
    };
    assert_solved(&with(&cert, &key));

    // Where TLS tells only after the handshake, it is tried again.
    let bare = server.solve(&[&trusted[..], &["--retry-for", "1s"]].concat());
    assert_unanswered(&bare, &["certificate"]);
    server.served.line_with("a TLS handshake failed");
    let (cert, key) = identity("stranger", &strangers.certify());
    assert_unanswered(&with(&cert, &key), &[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hangup_has_certificates_read_and_connections_go_on() {
    let server = Secured::start("renewed", &["--reload-interval", "1h"]);
    let old = fs::read(&server.ca).unwrap();
    let security = Security::default().trust(&old).unwrap();
    let settings = ConnectSettings::default();
    let client = Client::connect_secured(&server.url(), settings, &security)
        .await
        .unwrap();

    let authority = Authority::new();
    let new = server.folder.write("new-ca.crt", &authority.pem);
    server.renew(&authority.certify());
    assert_solved(&server.solve(&["--tls-ca", &server.ca]));
    server.served.signal("HUP");
    server.served.line_with("read again");
    assert_solved(&server.solve(&["--tls-ca", &new]));
    assert_unanswered(&server.solve(&["--tls-ca", &server.ca]), &["certificate"]);

    let mut answers = client
        .solve_all([UNIQUE], BatchSettings::default())
        .await
        .unwrap();
    assert!(answers.next().await.unwrap().is_some());
}

/// As Kubernetes renews what it mounts: the path stays, a symbolic link on the way leads elsewhere.
#[test]
fn a_link_that_leads_elsewhere_is_noticed() {
    let folder = Folder::new("mounted");
    let (old, new) = (Authority::new(), Authority::new());
    for (name, authority) in [("old", &old), ("new", &new)] {
        fs::create_dir(folder.path(name)).unwrap();
        let pair = authority.certify();
        folder.write(&format!("{name}/tls.crt"), &pair.cert);
        folder.write(&format!("{name}/tls.key"), &pair.key);
    }
    let link = |target: &str| {
        symlink(target, folder.path("..tmp")).unwrap();
        fs::rename(folder.path("..tmp"), folder.path("..data")).unwrap();
    };
    link("old");
    for name in ["tls.crt", "tls.key"] {
        symlink(Path::new("..data").join(name), folder.path(name)).unwrap();
    }
    let served = Served::with(&[
        "--tls-cert",
        &folder.path("tls.crt"),
        "--tls-key",
        &folder.path("tls.key"),
        "--reload-interval",
        "20ms",
    ]);
    link("new");
    served.line_with("read again");
    let ca = folder.write("ca.crt", &new.pem);
    let url = format!("https://{}", served.address);
    assert_solved(&solve(&["--server", &url, "--tls-ca", &ca], UNIQUE));
}

#[test]
fn a_bad_pair_leaves_the_old_one_in_force() {
    let server = Secured::start("bad-renewal", &["--reload-interval", "20ms"]);
    // The key of another certificate, then none at all, then a good pair again.
    server
        .folder
        .write("tls.key", &Authority::new().certify().key);
    let line = server.served.line_with("stays in force");
    assert!(line.contains("ERROR") && line.contains("tls.key"), "{line}");
    assert_solved(&server.solve(&["--tls-ca", &server.ca]));

    fs::remove_file(server.folder.path("tls.crt")).unwrap();
    server.served.line_with("cannot read");
    assert_solved(&server.solve(&["--tls-ca", &server.ca]));

    let authority = Authority::new();
    let ca = server.folder.write("ca.crt", &authority.pem);
    server.renew(&authority.certify());
    server.served.line_with("read again");
    assert_solved(&server.solve(&["--tls-ca", &ca]));
}

/// Reads until the server has closed the connection.
#[track_caller]
fn assert_closed(stream: &mut TcpStream) {
    match stream.read_to_end(&mut Vec::new()) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handshake_that_is_never_finished_ends_in_time() {
    let server = Secured::start("slow", &["--handshake-timeout", "100ms"]);
    for begin in [&b""[..], &[22, 3, 1]] {
        let mut stream = TcpStream::connect(&server.served.address).unwrap();
        stream.write_all(begin).unwrap();
        assert_closed(&mut stream);
    }
    // TLS and then silence, or half of what HTTP/2 begins with.
    for begin in [&b""[..], &PREFACE[..10]] {
        let mut stream = tls_stream(&server).await;
        stream.write_all(begin).await.unwrap();
        stream.flush().await.unwrap();
        // The server closes without a word.
        assert!(!matches!(stream.read(&mut [0]).await, Ok(1..)));
    }
    assert_solved(&server.solve(&["--tls-ca", &server.ca]));
}

/// A connection with TLS and nothing more.
async fn tls_stream(server: &Secured) -> tokio_rustls::client::TlsStream<tokio::net::TcpStream> {
    use rustls_pki_types::{CertificateDer, pem::PemObject as _};
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(&server.ca).unwrap())
        .unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let stream = tokio::net::TcpStream::connect(&server.served.address)
        .await
        .unwrap();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream);
    let stream = stream.await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    stream
}

#[test]
fn a_handshake_takes_the_place_of_a_connection() {
    let server = Secured::start("full", &["--connections-max", "1"]);
    let silent = TcpStream::connect(&server.served.address).unwrap();
    let mut second = TcpStream::connect(&server.served.address).unwrap();
    assert_closed(&mut second);
    server.served.line_with("turning connections away");
    drop(silent);
    // Its place is free as soon as the server has seen it go.
    while server.solve(&["--tls-ca", &server.ca]).code != Some(0) {}
}

#[test]
fn secrets_that_cannot_be_used_end_the_start() {
    let folder = Folder::new("unusable");
    let authority = Authority::new();
    let pair = authority.certify();
    let cert = folder.write("good.crt", &pair.cert);
    let key = folder.write("good.key", &pair.key);
    let other = folder.write("other.key", &authority.certify().key);
    let text = folder.write("text", "good morning\n");
    let none = folder.path("none");
    let cases: &[(&[&str], &[&str])] = &[
        (&["--tls-cert", &cert], &["--tls-cert needs --tls-key"]),
        (&["--tls-key", &key], &["--tls-key needs --tls-cert"]),
        (&["--tls-client-ca", &cert], &["--tls-client-ca needs"]),
        (
            &["--tls-cert", &none, "--tls-key", &key],
            &["cannot read", &none],
        ),
        (
            &["--tls-cert", &text, "--tls-key", &key],
            &[&text, "holds no certificate"],
        ),
        (
            &["--tls-cert", &cert, "--tls-key", &cert],
            &[&cert, "holds no private key"],
        ),
        (
            &["--tls-cert", &cert, "--tls-key", &other],
            &[&cert, &other, "do not serve together"],
        ),
        (
            &[
                "--tls-cert",
                &cert,
                "--tls-key",
                &key,
                "--tls-client-ca",
                &text,
            ],
            &[&text, "holds no certificate"],
        ),
    ];
    for (args, texts) in cases {
        let served = run(
            binary::binary()
                .args(["serve", "--listen", "127.0.0.1:0"])
                .args(*args),
            "",
        );
        served.assert_failed(2, texts);
    }
}

#[test]
fn flags_of_the_client_that_are_wrong_are_refused() {
    let folder = Folder::new("client-flags");
    let pair = Authority::new().certify();
    let cert = folder.write("good.crt", &pair.cert);
    let text = folder.write("text", "good morning\n");
    let server = ["--server", "https://127.0.0.1:1"];
    let cases: &[(&[&str], i32, &[&str])] = &[
        (
            &["--server", "http://127.0.0.1:1", "--tls-ca", &cert],
            2,
            &["--tls-ca", "https://"],
        ),
        (&["--tls-ca", &cert], 2, &["--tls-ca needs --server"]),
        (
            &[server[0], server[1], "--tls-ca", &text],
            1,
            &[&text, "no certificate"],
        ),
        (
            &[
                server[0],
                server[1],
                "--tls-cert",
                &cert,
                "--tls-key",
                &cert,
            ],
            1,
            &[&cert, "no private key"],
        ),
        (
            &[server[0], server[1], "--tls-ca", "no/such/file"],
            1,
            &["cannot read no/such/file"],
        ),
    ];
    for (args, code, texts) in cases {
        solve(args, UNIQUE).assert_failed(*code, texts);
    }
}

#[test]
fn the_bench_speaks_tls_to_its_own_server() {
    let folder = Folder::new("bench");
    let authority = Authority::new();
    let ca = folder.write("ca.crt", &authority.pem);
    let pair = folder.write_pair(&authority.certify());
    let boards = file("bench-tls.txt", format!("{UNIQUE}\n").repeat(300));
    let mut command = binary::binary();
    command
        .env("SUDOKU_TLS_CERT", &pair[1])
        .env("SUDOKU_TLS_KEY", &pair[3])
        .args(["bench", "--seconds", "0", "--output", "json"])
        .arg(boards);
    let measured = run(command.args(["--tls-ca", &ca]), "");
    assert_eq!(measured.code, Some(0), "{}", measured.stderr);
    assert!(measured.stdout.contains("rpc"), "{}", measured.stdout);
}

#[test]
fn grpcurl_is_served_by_tls() {
    let Some(peers) = peers() else { return };
    let server = Secured::start("grpcurl", &[]);
    let mut grpcurl = Command::new(peers.join("python/bin/grpcurl"));
    grpcurl
        .args(["-cacert", &server.ca, "-d"])
        .arg(format!(r#"{{"board": "{UNIQUE}"}}"#))
        .args([&server.served.address, "sudoku.v1.SudokuSolver/Solve"]);
    let answered = run(&mut grpcurl, "");
    assert!(answered.stdout.contains(GRID), "{}", answered.stderr);
}

//! gRPC-Web of the real binary, as browsers speak it: HTTP/1 by hand, and what they ask before.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed unwrap is a failed test"
)]

mod binary;

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::Arc,
    thread,
    time::Duration,
};

use binary::{
    binary,
    boards::{GRID, MALFORMED, UNIQUE},
    certificates::{Authority, Folder},
    file,
    logged::Logged,
    run,
    served::Served,
    solve,
    web::{self, APP, Answer, BINARY, Browser, TEXT, board_message, call, preflight},
};
use http_body_util::Full;
use hyper::{
    Method, Request, StatusCode, Version,
    client::conn::http2,
    header::{AUTHORIZATION, HeaderValue},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message as _;
use sudoku_solver::wire::pb::{SolveBatchRequest, SolveBatchResponse, SolveOptions, SolveRequest};
use tokio::task;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName},
};
use tonic::Code;

const OTHER: &str = "http://127.0.0.1:8080";
const HEALTH: &str = "/grpc.health.v1.Health";

/// A server for the pages of [`APP`] and of [`OTHER`].
#[track_caller]
fn served(args: &[&str]) -> Served {
    let origins = format!("{APP},{OTHER}");
    Served::with(&[&["--web-origin", &origins], args].concat())
}

#[tokio::test]
async fn pages_of_named_origins_may_call() {
    let served = served(&[]);
    let mut browser = Browser::at(&served.address).await;
    for origin in [APP, OTHER] {
        let answer = browser.ask(preflight(origin)).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.header("access-control-allow-origin"), origin);
        assert_eq!(answer.header("access-control-allow-methods"), "POST");
        assert_eq!(answer.header("access-control-max-age"), "7200");
        assert!(answer.header("vary").contains("origin"));
        let allowed = answer.header("access-control-allow-headers");
        for name in [
            "content-type",
            "authorization",
            "x-grpc-web",
            "x-request-id",
        ] {
            assert!(allowed.contains(name), "{allowed}");
        }
    }
    for stranger in ["https://app.example:8443", "http://app.example", "null"] {
        let answer = browser.ask(preflight(stranger)).await;
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
}

#[tokio::test]
async fn everyones_pages_may_call_if_told_so() {
    let served = Served::with(&["--web-origin", "*"]);
    let mut browser = Browser::at(&served.address).await;
    let answer = browser.ask(preflight("https://stranger.example")).await;
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    let answer = browser.solve(UNIQUE).await;
    answer.assert_solved(GRID);
    answer.assert_readable_by("*");
}

#[tokio::test]
async fn a_board_is_solved_in_both_encodings_of_http1() {
    let served = served(&[]);
    let mut browser = Browser::at(&served.address).await;
    for content_type in [BINARY, "application/grpc-web", TEXT] {
        let mut request = call(web::SOLVE, content_type, &board_message(UNIQUE));
        let id = HeaderValue::from_static("of-the-page");
        request.headers_mut().insert("x-request-id", id);
        let answer = browser.ask(request).await;
        answer.assert_solved(GRID);
        answer.assert_readable_by(APP);
        assert_eq!(answer.header("x-request-id"), "of-the-page");
    }
}

#[tokio::test]
async fn a_board_is_solved_by_http2() {
    let served = served(&[]);
    let stream = tokio::net::TcpStream::connect(&served.address).await;
    let stream = TokioIo::new(stream.unwrap());
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream)
        .await
        .unwrap();
    tokio::spawn(connection);
    let mut ask = async |content_type: &str| {
        let mut request = call(web::SOLVE, content_type, &board_message(UNIQUE));
        request.headers_mut().remove("host");
        *request.uri_mut() = format!("{}{}", served.url(), web::SOLVE).parse().unwrap();
        sender.ready().await.unwrap();
        let response = sender.send_request(request).await.unwrap();
        assert_eq!(response.version(), Version::HTTP_2);
        Answer::read(response).await
    };
    let answer = ask(BINARY).await;
    answer.assert_solved(GRID);
    answer.assert_readable_by(APP);
    // gRPC itself goes on beside it.
    assert_eq!(ask("application/grpc+proto").await.status, StatusCode::OK);
    // A browser lets pages of any origin send text without asking the server.
    for foreign in ["text/plain", "", "application/grpc-web+proto;charset=utf-8"] {
        let answer = ask(foreign).await;
        assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert!(answer.body.is_empty(), "{foreign}");
    }
}

#[tokio::test]
async fn a_batch_is_one_message_and_many_answers() {
    let served = served(&["--reply-bytes-max", "1000"]);
    let mut browser = Browser::at(&served.address).await;
    let message = SolveBatchRequest {
        boards: vec![UNIQUE.to_owned(); 1000],
        options: None,
    };
    let path = "/sudoku.v1.SudokuSolver/SolveBatch";
    let answer = browser
        .ask(call(path, BINARY, &message.encode_to_vec()))
        .await;
    assert_eq!(answer.code(), Code::Ok);
    let frames = answer.frames();
    assert!(frames.len() > 10, "{}", frames.len());
    let replies = frames.iter().filter(|(is_status, _)| !is_status);
    let results =
        replies.flat_map(|(_, reply)| SolveBatchResponse::decode(*reply).unwrap().results);
    assert!(results.clone().all(|result| result.solutions == [GRID]));
    assert_eq!(results.count(), 1000);
}

#[tokio::test]
async fn refusals_can_be_read_by_the_page() {
    let tokens = file("web-tokens", "a-token-of-pages\n");
    let served = served(&[
        "--token-file",
        tokens.to_str().unwrap(),
        "--message-bytes-max",
        "200",
    ]);
    let mut browser = Browser::at(&served.address).await;
    // It has no token; no browser sends one with it.
    let answer = browser.ask(preflight(APP)).await;
    assert_eq!(answer.header("access-control-allow-origin"), APP);

    let with = |mut request: Request<_>, name: &'static str, value: &str| {
        let value = HeaderValue::from_str(value).unwrap();
        request.headers_mut().insert(name, value);
        request
    };
    let token = |request| with(request, AUTHORIZATION.as_str(), "Bearer a-token-of-pages");
    let long = board_message(&".".repeat(300));
    let refusals = [
        (
            web::solve(UNIQUE),
            Code::Unauthenticated,
            "asks for a token",
        ),
        (
            token(web::solve(MALFORMED)),
            Code::InvalidArgument,
            "board: ",
        ),
        (
            token(call(web::SOLVE, BINARY, &long)),
            Code::ResourceExhausted,
            "--message-bytes-max",
        ),
        (
            token(call(web::SOLVE, TEXT, &long)),
            Code::ResourceExhausted,
            "--message-bytes-max",
        ),
        (
            with(token(web::solve(UNIQUE)), "x-long", &"x".repeat(20 << 10)),
            Code::ResourceExhausted,
            "--header-bytes-max",
        ),
        (
            with(token(web::solve(UNIQUE)), "grpc-timeout", "soon"),
            Code::InvalidArgument,
            "grpc-timeout",
        ),
        (
            token(call("/sudoku.v1.SudokuSolver/Guess", BINARY, &[])),
            Code::Unimplemented,
            "",
        ),
    ];
    for (request, code, text) in refusals {
        let answer = browser.ask(request).await;
        assert_eq!((answer.status, answer.code()), (StatusCode::OK, code));
        answer.assert_readable_by(APP);
        let message = answer.header("grpc-message").replace("%20", " ");
        assert!(message.contains(text), "{text}: {message}");
    }
    browser
        .ask(token(web::solve(UNIQUE)))
        .await
        .assert_solved(GRID);
}

#[tokio::test]
async fn what_is_no_call_of_a_page_is_refused() {
    let served = served(&[]);
    let refused = [
        // Headers far beyond what is read.
        (
            with_header(&"x".repeat(40 << 10)),
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        ),
        (
            call(web::SOLVE, "application/grpc", &[]),
            StatusCode::BAD_REQUEST,
        ),
        (get("/"), StatusCode::BAD_REQUEST),
    ];
    for (request, status) in refused {
        let mut browser = Browser::at(&served.address).await;
        assert_eq!(browser.ask(request).await.status, status);
    }
}

fn with_header(value: &str) -> Request<Full<hyper::body::Bytes>> {
    let mut request = web::solve(UNIQUE);
    let value = HeaderValue::from_str(value).unwrap();
    request.headers_mut().insert("x-long", value);
    request
}

fn get(path: &str) -> Request<Full<hyper::body::Bytes>> {
    let request = Request::builder().method(Method::GET).uri(path);
    request
        .header("host", "server")
        .body(Full::default())
        .unwrap()
}

#[test]
fn without_the_flag_http1_is_not_spoken() {
    let served = Served::start();
    let mut stream = TcpStream::connect(&served.address).unwrap();
    write!(
        stream,
        "OPTIONS {} HTTP/1.1\r\nhost: server\r\n\r\n",
        web::SOLVE
    )
    .unwrap();
    let mut said = Vec::new();
    // It may have been reset.
    drop(stream.read_to_end(&mut said));
    assert!(!said.starts_with(b"HTTP/1"), "{said:?}");
}

#[tokio::test]
async fn calls_of_pages_are_in_the_log_and_those_given_up_are_stopped() {
    let args = ["--web-origin", APP, "--access-log", "all", "--workers", "1"];
    let logged = Logged::start(&[&args[..], &["--metrics-listen", "127.0.0.1:0"]].concat());
    let mut browser = Browser::at(&logged.address).await;
    browser.ask(preflight(APP)).await;
    browser.solve(UNIQUE).await.assert_solved(GRID);
    let line = logged.access();
    assert_eq!(line["method"], "sudoku.v1.SudokuSolver/Solve");
    assert_eq!((&line["code"], &line["boards"]), (&"OK".into(), &1.into()));
    browser.solve(MALFORMED).await;
    assert_eq!(logged.access()["code"], "INVALID_ARGUMENT");

    // The tab is closed while the server searches.
    let mut stream = TcpStream::connect(&logged.address).unwrap();
    let call = web::solve_by_hand(&many_solutions(binary::boards::LONG));
    stream.write_all(&call).unwrap();
    let is_searching = || logged.scrape().contains("sudoku_solver_threads_busy 1");
    eventually("the search begins", is_searching);
    drop(stream);
    assert_eq!(logged.access()["code"], "CANCELLED");
    browser.solve(UNIQUE).await.assert_solved(GRID);
}

/// A board with as much search or as many solutions as may be asked for.
fn many_solutions(board: &str) -> Vec<u8> {
    let request = SolveRequest {
        board: board.to_owned(),
        options: Some(SolveOptions {
            solution_limit: Some(10_000),
            node_limit: Some(u32::MAX),
        }),
    };
    request.encode_to_vec()
}

/// Waits for what no message tells of.
#[track_caller]
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    const PAUSE: Duration = Duration::from_millis(20);
    const TRIES: usize = 1_500;
    for _ in 0..TRIES {
        if is_so() {
            return;
        }
        thread::sleep(PAUSE);
    }
    panic!("it never came: {what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drain_ends_idle_connections_and_finishes_calls() {
    let mut served = served(&["--grace", "1h"]);
    let mut idle = Browser::at(&served.address).await;
    idle.solve(UNIQUE).await.assert_solved(GRID);
    let mut watching = Browser::at(&served.address).await;
    let path = format!("{HEALTH}/Watch");
    let watched = watching.send(call(&path, BINARY, &[])).await;

    let ended = task::spawn_blocking(move || served.end());
    idle.ended().await;
    let answer = Answer::read(watched).await;
    let frames = answer.frames();
    assert!(frames.len() > 1, "{frames:?}");
    answer.code();
    watching.ended().await;
    let log = ended.await.unwrap();
    assert!(!log.iter().any(|line| line.contains("cut off")), "{log:?}");
}

#[tokio::test]
async fn connections_without_a_call_end() {
    let served = served(&["--connection-idle", "2s"]);
    let mut browser = Browser::at(&served.address).await;
    browser.solve(UNIQUE).await.assert_solved(GRID);
    browser.ended().await;
    // A head that never ends is no call.
    let mut stream = TcpStream::connect(&served.address).unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\nhost").unwrap();
    let mut said = Vec::new();
    drop(stream.read_to_end(&mut said));
}

/// HTTP/1 has no pings. The second-last column of a socket says which timer runs: 2 is that of keepalive.
#[tokio::test]
async fn silent_clients_are_asked_by_the_kernel() {
    let Ok(sockets) = fs::exists("/proc/net/tcp") else {
        return;
    };
    assert!(sockets);
    let served = served(&[]);
    let mut browser = Browser::at(&served.address).await;
    browser.solve(UNIQUE).await.assert_solved(GRID);
    let port: u16 = served.address.rsplit(':').next().unwrap().parse().unwrap();
    let local = format!("0100007F:{port:04X}");
    let sockets = fs::read_to_string("/proc/net/tcp").unwrap();
    let timer = sockets.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        (fields[1] == local && fields[3] == "01").then(|| fields[5].to_owned())
    });
    assert!(timer.as_ref().unwrap().starts_with("02:"), "{timer:?}");
}

/// The kernel does not ask while answers are on their way.
#[test]
fn clients_that_do_not_read_are_cut_off() {
    let served = served(&["--keepalive-interval", "1s", "--keepalive-timeout", "1s"]);
    let mut stream = TcpStream::connect(&served.address).unwrap();
    let call = web::solve_by_hand(&many_solutions(&".".repeat(81)));
    // More answers than the kernels hold for both.
    for _ in 0..40 {
        stream.write_all(&call).unwrap();
    }
    // Once the server has let go, sending fails.
    eventually("the end of the connection", || {
        stream.write_all(b"P").is_err()
    });
}

/// A connection of TLS that offers this protocol, if the server takes it.
async fn tls(
    served: &Served,
    authority: &Authority,
    alpn: &str,
) -> Option<TlsStream<tokio::net::TcpStream>> {
    use rustls_pki_types::{CertificateDer, pem::PemObject as _};
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_slice(authority.pem.as_bytes());
    roots.add(certificate.unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.into()];
    let stream = tokio::net::TcpStream::connect(&served.address).await;
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    connector.connect(name, stream.unwrap()).await.ok()
}

#[tokio::test]
async fn tls_offers_http1_to_browsers_only() {
    let folder = Folder::new("web-tls");
    let authority = Authority::new();
    let pair = folder.write_pair(&authority.certify());
    let pair: Vec<&str> = pair.iter().map(String::as_str).collect();
    let served = served(&pair);
    let stream = tls(&served, &authority, "http/1.1").await.unwrap();
    let mut browser = Browser::over(stream).await;
    browser.solve(UNIQUE).await.assert_solved(GRID);
    let ca = folder.write("ca.crt", &authority.pem);
    let url = format!("https://{}", served.address);
    let by_http2 = solve(&["--server", &url, "--tls-ca", &ca], UNIQUE);
    assert_eq!(by_http2.stdout, format!("{GRID}\n"), "{}", by_http2.stderr);

    let without = Served::with(&pair);
    assert!(tls(&without, &authority, "http/1.1").await.is_none());
    assert!(tls(&without, &authority, "h2").await.is_some());
}

#[test]
fn what_is_no_origin_ends_the_start() {
    for (origins, text) in [
        ("app.example", "SCHEME://HOST"),
        ("null", "SCHEME://HOST"),
        ("https://app.example/", "would send is https://app.example"),
        (
            "https://app.example/page",
            "would send is https://app.example",
        ),
        ("http://app.example:80", "would send is http://app.example"),
        ("https://app.example,", "SCHEME://HOST"),
    ] {
        let start = run(binary().args(["serve", "--web-origin", origins]), "");
        start.assert_failed(2, &["--web-origin", text]);
    }
}

#[test]
fn origins_of_a_file_are_a_text_or_a_list() {
    for (content, printed) in [
        (
            "web-origin = \"https://a.example\"",
            "[\"https://a.example\"]",
        ),
        (
            "web-origin = [\"https://a.example\", \"http://b\"]",
            "[\"https://a.example\", \"http://b\"]",
        ),
    ] {
        let path = file("web-origins.toml", content);
        let mut serve = binary();
        serve
            .args(["serve", "--print-config", "--config"])
            .arg(path);
        let stdout = run(&mut serve, "").stdout;
        let line = format!("web-origin = {printed} # file, line 1");
        assert!(stdout.contains(&line), "{stdout}");
    }
}

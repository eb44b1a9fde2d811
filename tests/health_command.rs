//! `sudoku-solver health`, as probes run it: what counts is its exit status.

mod binary;

use std::net::TcpListener;

use binary::{
    Run, binary,
    boards::UNIQUE,
    certificates::{Authority, Folder},
    fleet::nobody,
    run,
    served::Served,
};
use sudoku_solver::client::{BatchSettings, Client};

#[track_caller]
fn health(server: &str, args: &[&str]) -> Run {
    run(binary().args(["health", "--server", server]).args(args), "")
}

#[track_caller]
fn assert_serving(run: &Run) {
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), "serving\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_server_that_takes_calls_is_healthy() {
    let served = Served::start();
    assert_serving(&health(&served.address, &[]));
    assert_serving(&health(&served.url(), &[]));
}

#[test]
fn nobody_is_not() {
    let address = nobody();
    health(&address, &[]).assert_failed(1, &["cannot connect", &address]);
}

#[test]
fn who_does_not_answer_is_not() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let asked = health(&address, &["--timeout", "50ms"]);
    asked.assert_failed(1, &["has not answered in 50ms", &address]);
}

/// A drain that a stream holds open: whether it is told so or turned away, the status is 1.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_drains_is_not() {
    let served = Served::start();
    let client = Client::connect(&served.url()).await.unwrap();
    let settings = BatchSettings::default();
    let (mut feed, mut answers) = client.solve_batch(settings).await.unwrap();
    feed.push(UNIQUE);
    feed.flush().await.unwrap();
    assert!(answers.next().await.unwrap().is_some());
    assert!(client.is_serving().await.unwrap());
    served.signal("TERM");
    served.line_with("shutting down");
    // Which it says a moment before health hears of it.
    while client.is_serving().await.unwrap_or(false) {}
    health(&served.address, &[]).assert_failed(1, &[&served.address]);
    feed.finish().await.unwrap();
    assert!(answers.next().await.unwrap().is_none());
    drop((answers, client));
    assert!(served.terminated().success());
}

#[test]
fn over_tls_it_needs_the_authority_and_never_a_token() {
    let folder = Folder::new("health-tls");
    let authority = Authority::new();
    let ca = folder.write("ca.pem", &authority.pem);
    let tokens = folder.write("tokens", "let-me-in\n");
    let mut args = folder.write_pair(&authority.certify());
    args.extend(["--token-file".to_owned(), tokens]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let served = Served::with(&args);
    let url = format!("https://{}", served.address);
    assert_serving(&health(&url, &["--tls-ca", &ca]));
    let other = folder.write("other.pem", &Authority::new().pem);
    health(&url, &["--tls-ca", &other]).assert_failed(1, &[&url, "certificate"]);
}

#[test]
fn a_wrong_command_line_is_told_apart() {
    let url = "http://127.0.0.1:1";
    for args in [
        ["--timeout", "soon"],
        ["--server", "ftp://127.0.0.1"],
        ["--server", "127.0.0.1:99999"],
        ["--token-file", "tokens"],
    ] {
        let mut command = binary();
        let asked = run(command.arg("health").args(args), "");
        assert_eq!(
            (asked.code, asked.stdout.as_str()),
            (Some(2), ""),
            "{asked:?}"
        );
    }
    let folder = Folder::new("health-usage");
    let ca = folder.write("ca.pem", &Authority::new().pem);
    health(url, &["--tls-ca", &ca]).assert_failed(2, &["https://"]);
}

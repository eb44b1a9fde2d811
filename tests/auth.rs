//! Tokens of the real binary: who may call, what the others hear, and what is never logged.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;

use binary::{
    binary,
    boards::{GRID, UNIQUE},
    certificates::{Authority, Folder},
    peers::peers,
    run,
    served::Served,
    solve,
};
use sudoku_solver::wire::pb::{
    SolveBatchRequest, SolveRequest, sudoku_solver_client::SudokuSolverClient,
};
use tonic::{
    Code, Request, Status,
    metadata::MetadataValue,
    transport::{Channel, Endpoint},
};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest,
};
use tonic_types::StatusExt as _;

const FIRST: &str = "first-token-0123456789";
const SECOND: &str = "second.token~+/=";
const OF_ENVIRONMENT: &str = "token-of-the-environment";

/// A server that knows three tokens.
#[track_caller]
fn served(name: &str, args: &[&str]) -> (Served, Folder) {
    let folder = Folder::new(name);
    let text = format!("# of the tests\n{FIRST}\n\n  {SECOND}  \n");
    let file = folder.write("tokens", &text);
    let served = Served::run(
        binary()
            .args(["serve", "--listen", "127.0.0.1:0", "--token-file", &file])
            .args(args)
            .env("SUDOKU_TOKENS", format!("{OF_ENVIRONMENT}, another")),
    );
    (served, folder)
}

async fn channel(served: &Served) -> Channel {
    let endpoint = Endpoint::from_shared(served.url()).unwrap();
    endpoint.connect().await.unwrap()
}

fn call<T>(message: T, authorization: Option<&str>) -> Request<T> {
    let mut request = Request::new(message);
    if let Some(value) = authorization {
        let value = MetadataValue::try_from(value).unwrap();
        request.metadata_mut().insert("authorization", value);
    }
    request
}

fn board() -> SolveRequest {
    SolveRequest {
        board: UNIQUE.to_owned(),
        options: None,
    }
}

async fn solve_with(channel: &Channel, authorization: Option<&str>) -> Result<(), Status> {
    let mut client = SudokuSolverClient::new(channel.clone());
    client.solve(call(board(), authorization)).await.map(drop)
}

async fn batch_with(channel: &Channel, authorization: Option<&str>) -> Result<(), Status> {
    let mut client = SudokuSolverClient::new(channel.clone());
    let boards = SolveBatchRequest {
        boards: vec![UNIQUE.to_owned()],
        options: None,
    };
    let call = call(tokio_stream::iter([boards]), authorization);
    let mut replies = client.solve_batch(call).await?.into_inner();
    replies.message().await.map(drop)
}

async fn reflect_with(channel: &Channel, authorization: Option<&str>) -> Result<(), Status> {
    let mut client = ServerReflectionClient::new(channel.clone());
    let list = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let call = call(tokio_stream::iter([list]), authorization);
    let mut replies = client.server_reflection_info(call).await?.into_inner();
    replies.message().await.map(drop)
}

#[track_caller]
fn assert_refused(answer: Result<(), Status>, reason: &str) {
    let status = answer.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated, "{status:?}");
    let info = status.get_details_error_info().unwrap();
    assert_eq!(
        (info.reason.as_str(), info.domain.as_str()),
        (reason, "sudoku.v1")
    );
    let text = status.message();
    assert!(text.contains("authorization: Bearer TOKEN"), "{text}");
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

#[tokio::test(flavor = "multi_thread")]
async fn each_token_lets_in_and_nothing_else_does() {
    let (served, _folder) = served("tokens", &[]);
    let channel = channel(&served).await;
    for token in [FIRST, SECOND, OF_ENVIRONMENT, "another"] {
        let value = bearer(token);
        solve_with(&channel, Some(&value)).await.unwrap();
        batch_with(&channel, Some(&value)).await.unwrap();
        reflect_with(&channel, Some(&value)).await.unwrap();
    }
    // The name of the scheme is the same however it is written.
    let value = format!("bearer {FIRST}");
    solve_with(&channel, Some(&value)).await.unwrap();

    let missing = [
        None,
        Some(""),
        Some(FIRST),
        Some("Basic Zmlyc3Q="),
        Some("Bearer"),
    ];
    for value in missing {
        assert_refused(solve_with(&channel, value).await, "TOKEN_MISSING");
        assert_refused(batch_with(&channel, value).await, "TOKEN_MISSING");
        assert_refused(reflect_with(&channel, value).await, "TOKEN_MISSING");
    }
    let short = &FIRST[..FIRST.len() - 1];
    let long = format!("{FIRST}0");
    for token in [short, &long, "# of the tests", "no", &"x".repeat(4000)] {
        let value = bearer(token);
        assert_refused(solve_with(&channel, Some(&value)).await, "TOKEN_WRONG");
        assert_refused(batch_with(&channel, Some(&value)).await, "TOKEN_WRONG");
        assert_refused(reflect_with(&channel, Some(&value)).await, "TOKEN_WRONG");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn health_needs_no_token() {
    let (served, _folder) = served("health", &["--reflection", "false"]);
    let mut health = HealthClient::new(channel(&served).await);
    let service = || HealthCheckRequest {
        service: "sudoku.v1.SudokuSolver".to_owned(),
    };
    let checked = health.check(service()).await.unwrap().into_inner();
    assert_eq!(checked.status(), ServingStatus::Serving);
    let mut watch = health.watch(service()).await.unwrap().into_inner();
    let first = watch.message().await.unwrap().unwrap();
    assert_eq!(first.status(), ServingStatus::Serving);
}

#[tokio::test(flavor = "multi_thread")]
async fn reflection_can_be_turned_off() {
    let served = Served::with(&["--reflection", "false"]);
    let channel = channel(&served).await;
    let status = reflect_with(&channel, None).await.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented);
    solve_with(&channel, None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_can_be_changed_and_bad_ones_leave_the_old_in_force() {
    let (served, folder) = served("changed", &["--reload-interval", "20ms"]);
    let channel = channel(&served).await;
    folder.write("tokens", "third\n");
    served.line_with("read again");
    solve_with(&channel, Some("Bearer third")).await.unwrap();
    let old = bearer(FIRST);
    assert_refused(solve_with(&channel, Some(&old)).await, "TOKEN_WRONG");

    for (bad, said) in [("# nobody\n", "holds no token"), ("a b\n", "line 1")] {
        folder.write("tokens", bad);
        let line = served.line_with("stays in force");
        assert!(line.contains(said), "{line}");
        solve_with(&channel, Some("Bearer third")).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_token_is_ever_logged() {
    let folder = Folder::new("logged");
    let file = folder.write("tokens", FIRST);
    let mut served = Served::run(
        binary()
            .args(["serve", "--listen", "127.0.0.1:0", "--token-file", &file])
            .env("SUDOKU_TOKENS", SECOND)
            .env("RUST_LOG", "trace"),
    );
    let channel = channel(&served).await;
    let wrong = "wrong-token-of-someone";
    solve_with(&channel, Some(&bearer(FIRST))).await.unwrap();
    batch_with(&channel, Some(&bearer(SECOND))).await.unwrap();
    solve_with(&channel, Some(&bearer(wrong)))
        .await
        .unwrap_err();
    drop(channel);
    let lines = [served.early.clone(), served.end()].concat();
    assert!(lines.len() > 20, "{lines:?}");
    for line in &lines {
        for token in [FIRST, SECOND, wrong] {
            assert!(!line.contains(token), "{line}");
        }
    }
}

#[test]
fn tokens_that_cannot_be_used_end_the_start() {
    let folder = Folder::new("unusable-tokens");
    let cases = [
        ("", "holds no token"),
        ("# nobody\n", "holds no token"),
        ("good\nnot good\n", "line 2: a token is made of"),
        ("größer\n", "line 1: a token is made of"),
        (&"many\n".repeat(257), "257 tokens; at most 256"),
    ];
    for (text, said) in cases {
        let file = folder.write("tokens", text);
        assert_unusable(&["--token-file", &file], None, &[said]);
    }
    assert_unusable(
        &["--token-file", "no/such/file"],
        None,
        &["cannot read no/such/file"],
    );
    for (tokens, said) in [
        ("", "holds no token"),
        ("größer", "SUDOKU_TOKENS: a token is"),
    ] {
        assert_unusable(&[], Some(tokens), &["SUDOKU_TOKENS", said]);
    }
}

#[track_caller]
fn assert_unusable(args: &[&str], tokens: Option<&str>, texts: &[&str]) {
    let mut serve = binary();
    serve.args(["serve", "--listen", "127.0.0.1:0"]).args(args);
    serve.envs(tokens.map(|tokens| ("SUDOKU_TOKENS", tokens)));
    run(&mut serve, "").assert_failed(2, texts);
}

#[test]
fn the_command_line_sends_its_token() {
    let (served, folder) = served("sent", &[]);
    let url = served.url();
    let file = folder.write("mine", &format!("# of the server\n{SECOND}\n"));
    let by_file = solve(&["--server", &url, "--token-file", &file], UNIQUE);
    assert_eq!(by_file.stdout, format!("{GRID}\n"), "{}", by_file.stderr);
    assert!(!by_file.stderr.contains("warning"), "{}", by_file.stderr);

    let by_environment = |token: &str| {
        let mut command = binary();
        command.args(["solve", "--server", &url]);
        run(command.env("SUDOKU_TOKEN", token), UNIQUE)
    };
    let right = by_environment(FIRST);
    assert_eq!(right.stdout, format!("{GRID}\n"), "{}", right.stderr);
    for (run, said) in [
        (by_environment("wrong-token"), "none of this server's"),
        (solve(&["--server", &url], UNIQUE), "asks for a token"),
    ] {
        assert_eq!(run.code, Some(3));
        assert!(!run.stdout.contains(GRID), "{}", run.stdout);
        assert!(
            run.stderr.contains("Unauthenticated") && run.stderr.contains(said),
            "{}",
            run.stderr
        );
        assert!(!run.stderr.contains("wrong-token"), "{}", run.stderr);
    }
}

#[test]
fn a_token_on_its_way_unencrypted_is_warned_of() {
    let folder = Folder::new("unencrypted");
    let file = folder.write("mine", FIRST);
    let (served, _folder) = served("unencrypted-server", &[]);
    // It leads here, and does not look so.
    let url = format!(
        "http://0.0.0.0{}",
        served.address.trim_start_matches("127.0.0.1")
    );
    let run = solve(&["--server", &url, "--token-file", &file], UNIQUE);
    assert!(
        run.stderr.starts_with("warning: the token goes to "),
        "{}",
        run.stderr
    );
    assert_eq!(run.stdout, format!("{GRID}\n"), "{}", run.stderr);
}

#[test]
fn a_server_that_strangers_can_reach_says_so() {
    let folder = Folder::new("exposed");
    let tokens = folder.write("tokens", FIRST);
    let authority = Authority::new();
    let ca = folder.write("ca.crt", &authority.pem);
    let pair = folder.write_pair(&authority.certify());
    let secure: Vec<&str> = pair.iter().map(String::as_str).collect();
    let mutual = [&secure[..], &["--tls-client-ca", &ca]].concat();
    let token = ["--token-file", tokens.as_str()];
    let (no_tls, no_tokens) = ("WITHOUT TLS", "WITHOUT TOKENS");
    let cases: &[(&str, Vec<&str>, &[&str])] = &[
        ("0.0.0.0:0", vec![], &[no_tls, no_tokens]),
        ("[::]:0", vec![], &[no_tls, no_tokens]),
        ("0.0.0.0:0", token.to_vec(), &[no_tls]),
        ("0.0.0.0:0", secure.clone(), &[no_tokens]),
        ("0.0.0.0:0", mutual, &[]),
        ("0.0.0.0:0", [&secure[..], &token].concat(), &[]),
        ("127.0.0.1:0", vec![], &[]),
        ("[::1]:0", vec![], &[]),
    ];
    for (listen, args, expected) in cases {
        let served = Served::run(binary().args(["serve", "--listen", listen]).args(args));
        let warnings: Vec<&String> = served
            .early
            .iter()
            .filter(|line| line.contains("WARN"))
            .collect();
        assert_eq!(
            warnings.len(),
            expected.len(),
            "{listen} {args:?}: {warnings:?}"
        );
        for (line, text) in warnings.iter().zip(*expected) {
            assert!(
                line.contains(text) && line.contains(&served.address),
                "{line}"
            );
            assert!(line.contains("--tls-"), "{line}");
        }
    }
}

#[test]
fn grpcurl_sends_a_token() {
    let Some(peers) = peers() else { return };
    let (served, _folder) = served("grpcurl-token", &[]);
    let mut grpcurl = std::process::Command::new(peers.join("python/bin/grpcurl"));
    grpcurl
        .args([
            "-plaintext",
            "-H",
            &format!("authorization: Bearer {FIRST}"),
            "-d",
        ])
        .arg(format!(r#"{{"board": "{UNIQUE}"}}"#))
        .args([&served.address, "sudoku.v1.SudokuSolver/Solve"]);
    let answered = run(&mut grpcurl, "");
    assert!(answered.stdout.contains(GRID), "{}", answered.stderr);
}

//! Every status code that the service sends, with the details that programs read.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use std::time::Duration;

use common::{
    server::{Batch, Client, TestServer, message, options, request, solve_batch},
    texts::{MALFORMED, UNIQUE},
};
use sudoku_solver::{
    limits,
    wire::pb::{SolveBatchRequest, SolveOptions},
};
use tonic::{Code, Request, Status, metadata::MetadataValue};
use tonic_types::StatusExt as _;

#[track_caller]
fn assert_info(status: &Status, code: Code, reason: &str) {
    assert_eq!(status.code(), code, "{status:?}");
    let info = status.get_details_error_info().unwrap();
    assert_eq!(
        (info.reason.as_str(), info.domain.as_str()),
        (reason, "sudoku.v1")
    );
}

#[track_caller]
fn assert_violation(status: &Status, field: &str, texts: &[&str]) {
    let violations = status.get_details_bad_request().unwrap().field_violations;
    assert_eq!(violations.len(), 1);
    assert_eq!(violations[0].field, field);
    for text in texts {
        assert!(violations[0].description.contains(text), "{violations:?}");
        assert!(status.message().contains(text), "{status:?}");
    }
}

async fn refused(client: &mut Client, board: &str, options: Option<SolveOptions>) -> Status {
    client.solve(request(board, options)).await.unwrap_err()
}

#[tokio::test]
async fn a_malformed_board_is_named_by_position_and_character() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let status = refused(&mut client, MALFORMED, None).await;
    assert_info(&status, Code::InvalidArgument, "MALFORMED_BOARD");
    assert_violation(&status, "board", &["41", "'!'"]);
    let info = status.get_details_error_info().unwrap();
    assert_eq!(
        (
            info.metadata["position"].as_str(),
            info.metadata["found"].as_str()
        ),
        ("41", "!")
    );

    let status = refused(&mut client, "", None).await;
    assert_info(&status, Code::InvalidArgument, "MALFORMED_BOARD");
    assert_violation(&status, "board", &[]);
}

#[tokio::test]
async fn options_are_checked_at_their_bounds() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    for good in [
        options(Some(1), Some(1)),
        options(Some(10_000), Some(u32::MAX)),
    ] {
        client.solve(request(UNIQUE, good)).await.unwrap();
    }
    for bad in [0, 10_001, u32::MAX] {
        let status = refused(&mut client, UNIQUE, options(Some(bad), None)).await;
        assert_info(&status, Code::InvalidArgument, "OPTIONS_OUT_OF_RANGE");
        assert_violation(
            &status,
            "options.solution_limit",
            &[&bad.to_string(), "10000"],
        );
    }
    let status = refused(&mut client, UNIQUE, options(None, Some(0))).await;
    assert_info(&status, Code::InvalidArgument, "OPTIONS_OUT_OF_RANGE");
    assert_violation(&status, "options.node_limit", &["at least 1"]);
}

#[tokio::test]
async fn bad_options_end_a_stream_after_its_answers() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let mut batch = Batch::open(&mut client).await.unwrap();
    batch.send(message(&[UNIQUE; 300], None)).await;
    batch.send(message(&[UNIQUE], options(Some(0), None))).await;
    assert_eq!(batch.results(300).await.unwrap().len(), 300);
    let status = batch.reply().await.unwrap_err();
    assert_info(&status, Code::InvalidArgument, "OPTIONS_OUT_OF_RANGE");
    assert!(status.message().contains("message 2"), "{status:?}");
    assert_eq!(
        status.get_details_error_info().unwrap().metadata["message"],
        "2"
    );
    assert_violation(&status, "options.solution_limit", &["0"]);
}

#[tokio::test]
async fn boards_in_a_message_are_limited() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let most = SolveBatchRequest {
        boards: vec![String::new(); limits::MESSAGE_BOARDS_MAX],
        options: None,
    };
    let mut more = most.clone();
    more.boards.push(String::new());
    let results = solve_batch(&mut client, vec![most]).await.unwrap();
    assert_eq!(results.len(), limits::MESSAGE_BOARDS_MAX);
    let status = solve_batch(&mut client, vec![more]).await.unwrap_err();
    assert_info(&status, Code::InvalidArgument, "TOO_MANY_BOARDS_IN_MESSAGE");
    assert_violation(&status, "boards", &["message 1", "49153", "49152"]);
}

#[tokio::test]
async fn a_timeout_that_cannot_be_read_is_refused() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    for bad in ["soon", "1", "123456789S", "-1S"] {
        let mut call = Request::new(request(UNIQUE, None));
        call.metadata_mut()
            .insert("grpc-timeout", MetadataValue::try_from(bad).unwrap());
        let status = client.solve(call).await.unwrap_err();
        assert_info(&status, Code::InvalidArgument, "MALFORMED_TIMEOUT");
    }
    let mut call = Request::new(request(UNIQUE, None));
    call.set_timeout(Duration::from_hours(1));
    client.solve(call).await.unwrap();
}

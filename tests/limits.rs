//! Every limit of the real binary, set by its flag, at its bound and one past it, with a text that names the
//! flag. What clients are told of the sizes of HTTP/2 is in `cli`.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;
mod common;

use std::{net::SocketAddr, time::Duration};

use binary::served::Served;
use common::{
    raw::{
        ACK, DATA, END_STREAM, GOAWAY, HEADERS, PING, RST_STREAM, Raw, SOLVE, SOLVE_BATCH, frame,
        grpc,
    },
    server::{
        Bare, Batch, Client, bare_client, channel, longest, message, narrow_client, options,
        request, solve_batch,
    },
    texts::{EMPTY, LONG, UNIQUE},
};
use prost::Message as _;
use sudoku_solver::{
    limits,
    wire::pb::{
        SolveBatchResponse, SolveRequest, SolveResponse, SolveStatus,
        sudoku_solver_client::SudokuSolverClient,
    },
};
use tokio::time::sleep;
use tokio_stream::StreamExt as _;
use tonic::{Code, Request, Status, client::Grpc, codegen::http::uri::PathAndQuery};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use tonic_prost::ProstCodec;
use tonic_types::StatusExt as _;

const SHORT: Duration = Duration::from_millis(50);

/// A server with one solver thread and these flags.
struct Limited {
    _served: Served,
    address: SocketAddr,
}

impl Limited {
    #[track_caller]
    fn to(flags: &[&str]) -> Limited {
        let served = Served::with(&[&["--workers", "1"], flags].concat());
        let address = served.address.parse().unwrap();
        Limited {
            _served: served,
            address,
        }
    }

    async fn client(&self) -> Client {
        Client::new(channel(self.address).await)
    }

    async fn narrow_client(&self) -> Client {
        narrow_client(self.address).await
    }

    async fn bare_client(&self) -> SudokuSolverClient<Bare> {
        bare_client(self.address).await
    }
}

#[track_caller]
fn assert_refused(status: &Status, code: Code, reason: &str, texts: &[&str]) {
    assert_eq!(status.code(), code, "{status:?}");
    let info = status.get_details_error_info().unwrap();
    assert_eq!(
        (info.reason.as_str(), info.domain.as_str()),
        (reason, "sudoku.v1")
    );
    for text in texts {
        assert!(status.message().contains(text), "{text}: {status:?}");
    }
}

#[track_caller]
fn assert_retry(status: &Status) {
    let delay = status.get_details_retry_info().unwrap().retry_delay;
    assert_eq!(delay, Some(limits::RETRY_DELAY), "{status:?}");
}

/// A request of exactly so many bytes: spaces after a board are nothing.
fn padded(bytes: usize) -> SolveRequest {
    let mut sent = request(UNIQUE, None);
    while sent.encoded_len() < bytes {
        sent.board.push(' ');
    }
    assert_eq!(sent.encoded_len(), bytes);
    sent
}

#[tokio::test]
async fn message_bytes() {
    let server = Limited::to(&["--message-bytes-max=1000"]);
    let mut client = server.client().await;
    let texts = ["1000", "1001", "--message-bytes-max"];
    client.solve(padded(1000)).await.unwrap();
    let status = client.solve(padded(1001)).await.unwrap_err();
    assert_refused(&status, Code::ResourceExhausted, "MESSAGE_TOO_LONG", &texts);

    // A board and an empty board take as many bytes as the bound, or one more.
    let fitting = message(&[UNIQUE.to_owned(), " ".repeat(1000 - 83 - 3)], None);
    let long = message(&[UNIQUE.to_owned(), " ".repeat(1001 - 83 - 3)], None);
    assert_eq!((fitting.encoded_len(), long.encoded_len()), (1000, 1001));
    let mut batch = Batch::open(&mut client).await.unwrap();
    batch.send(fitting).await;
    assert_eq!(batch.results(2).await.unwrap().len(), 2);
    batch.send(long).await;
    let status = batch.reply().await.unwrap_err();
    assert_refused(&status, Code::ResourceExhausted, "MESSAGE_TOO_LONG", &texts);
}

#[tokio::test]
async fn boards_of_a_message() {
    let server = Limited::to(&["--message-boards-max=3"]);
    let mut client = server.client().await;
    let three = solve_batch(&mut client, vec![message(&[UNIQUE; 3], None)]).await;
    assert_eq!(three.unwrap().len(), 3);
    let status = solve_batch(&mut client, vec![message(&[UNIQUE; 4], None)])
        .await
        .unwrap_err();
    let texts = ["4 boards", "at most 3", "--message-boards-max"];
    assert_refused(
        &status,
        Code::InvalidArgument,
        "TOO_MANY_BOARDS_IN_MESSAGE",
        &texts,
    );
}

#[tokio::test]
async fn bytes_of_a_reply() {
    let server = Limited::to(&["--reply-bytes-max=2000"]);
    let mut client = server.client().await;
    // Many short results and, between them, one that is longer than a reply may be.
    let messages = vec![
        message(&[UNIQUE; 100], None),
        message(&[EMPTY], options(Some(100), None)),
        message(&[UNIQUE; 100], None),
    ];
    let call = client.solve_batch(tokio_stream::iter(messages));
    let mut replies = call.await.unwrap().into_inner();
    let mut results = 0;
    let mut long = 0;
    while let Some(reply) = replies.message().await.unwrap() {
        let SolveBatchResponse { results: here, .. } = &reply;
        results += here.len();
        long += usize::from(here.len() == 1 && reply.encoded_len() > 2000);
        assert!(here.len() == 1 || reply.encoded_len() <= 2000, "{reply:?}");
    }
    assert_eq!((results, long), (201, 1));
}

#[tokio::test]
async fn solutions_asked_for() {
    let server = Limited::to(&["--solutions-max=1"]);
    let mut client = server.client().await;
    // Who asks for nothing in particular gets what there is.
    for good in [None, options(Some(1), None)] {
        let response = client.solve(request(UNIQUE, good)).await.unwrap();
        let result = response.into_inner().result.unwrap();
        assert_eq!(result.status(), SolveStatus::Solved);
    }
    let two = options(Some(2), None);
    let texts = ["solution_limit is 2", "1 to 1", "--solutions-max"];
    for status in [
        client.solve(request(UNIQUE, two)).await.unwrap_err(),
        solve_batch(&mut client, vec![message(&[UNIQUE], two)])
            .await
            .unwrap_err(),
    ] {
        assert_refused(
            &status,
            Code::InvalidArgument,
            "OPTIONS_OUT_OF_RANGE",
            &texts,
        );
    }
}

#[tokio::test]
async fn bytes_of_headers() {
    let server = Limited::to(&["--header-bytes-max=4000"]);
    let mut client = server.bare_client().await;
    let padded = |bytes: usize| {
        let mut call = Request::new(request(UNIQUE, None));
        let value = "a".repeat(bytes).parse().unwrap();
        call.metadata_mut().insert("padding", value);
        call
    };
    let status = client.solve(padded(4000)).await.unwrap_err();
    assert_refused(
        &status,
        Code::ResourceExhausted,
        "HEADERS_TOO_LONG",
        &["at most 4000", "--header-bytes-max"],
    );
    // How many bytes the other headers have is said by the refusal.
    let bytes = status
        .message()
        .split(' ')
        .find_map(|word| word.parse::<usize>().ok());
    let others = bytes.unwrap() - 4000;
    client.solve(padded(4000 - others)).await.unwrap();
    let status = client.solve(padded(4001 - others)).await.unwrap_err();
    assert_refused(
        &status,
        Code::ResourceExhausted,
        "HEADERS_TOO_LONG",
        &["4001 bytes"],
    );
    // Far more is not read at all, and costs nobody else's call anything.
    let status = client.solve(padded(100_000)).await.unwrap_err();
    assert_ne!(status.code(), Code::Ok);
    let mut client = server.client().await;
    client.solve(request(UNIQUE, None)).await.unwrap();
}

const REFUSED_STREAM: u32 = 7;

#[tokio::test]
async fn calls_of_a_connection() {
    let server = Limited::to(&["--connection-calls-max=2"]);
    // A client that keeps to the bound waits until a call ends.
    let mut client = server.client().await;
    let first = Batch::open(&mut client).await.unwrap();
    let mut second = Batch::open(&mut client).await.unwrap();
    let mut third = tokio::spawn(async move { client.solve(request(UNIQUE, None)).await });
    let answered = async {
        for _ in 0..10 {
            second.send(message(&[UNIQUE], None)).await;
            second.results(1).await.unwrap();
        }
    };
    tokio::select! {
        early = &mut third => unreachable!("a third call was let in: {early:?}"),
        () = answered => {}
    }
    first.finish().await.unwrap();
    third.await.unwrap().unwrap();
    second.finish().await.unwrap();
    // One that does not has its third call refused, and that one only.
    let mut raw = Raw::connect(server.address).await;
    for stream in [1, 3, 5] {
        raw.open(stream, SOLVE_BATCH).await;
    }
    let refused = raw.next(RST_STREAM).await.unwrap();
    assert_eq!((refused.stream, refused.reason()), (5, REFUSED_STREAM));
    let boards = message(&[UNIQUE], None).encode_to_vec();
    raw.send(&frame(DATA, END_STREAM, 1, &grpc(&boards))).await;
    assert_eq!(raw.next(DATA).await.unwrap().stream, 1);
}

#[tokio::test]
async fn connections() {
    let server = Limited::to(&["--connections-max=1"]);
    let mut first = server.client().await;
    first.solve(request(UNIQUE, None)).await.unwrap();
    let mut second = Raw::connect(server.address).await;
    let goaway = second.next(GOAWAY).await.unwrap();
    let text = String::from_utf8(goaway.payload[8..].to_vec()).unwrap();
    assert!(text.contains("1 connections are open"), "{text}");
    assert!(text.contains("--connections-max"), "{text}");
    second.ended().await;
    // What a client of gRPC makes of it; CANCELLED if it hears so before it has sent the call.
    let status = server
        .bare_client()
        .await
        .solve(request(UNIQUE, None))
        .await;
    let code = status.unwrap_err().code();
    assert!(
        [
            Code::ResourceExhausted,
            Code::Unavailable,
            Code::Unknown,
            Code::Cancelled
        ]
        .contains(&code),
        "{code:?}"
    );
    first.solve(request(UNIQUE, None)).await.unwrap();
    drop(first);
    // The place is free once the server has seen that.
    loop {
        let mut next = Raw::connect(server.address).await;
        next.open(1, SOLVE_BATCH).await;
        next.send(&frame(DATA, END_STREAM, 1, &[])).await;
        if next.next(HEADERS).await.is_some() {
            break;
        }
    }
}

#[tokio::test]
async fn time_of_a_call() {
    let server = Limited::to(&["--deadline-max=200ms"]);
    let mut client = server.client().await;
    client.solve(request(UNIQUE, None)).await.unwrap();
    let timed = |timeout: &'static str| {
        let mut call = Request::new(request(LONG, longest()));
        call.metadata_mut()
            .insert("grpc-timeout", timeout.parse().unwrap());
        call
    };
    let texts = ["200ms", "--deadline-max"];
    let max = (Code::DeadlineExceeded, "DEADLINE_MAX_PASSED");
    // No deadline, and one that is later than the server's.
    let mut bare = server.bare_client().await;
    for call in [Request::new(request(LONG, longest())), timed("1H")] {
        let status = bare.solve(call).await.unwrap_err();
        assert_refused(&status, max.0, max.1, &texts);
    }
    let status = bare.solve(timed("20m")).await.unwrap_err();
    assert_refused(&status, max.0, "DEADLINE_PASSED", &[]);
    // A stream, with nothing to do and with too much.
    for boards in [vec![], vec![LONG]] {
        let mut batch = Batch::open(&mut client).await.unwrap();
        batch.send(message(&boards, longest())).await;
        assert_refused(&batch.reply().await.unwrap_err(), max.0, max.1, &texts);
    }
}

/// The refusal of a call of `Solve` that has sent this and does not say that it is all.
async fn unfinished(server: &Limited, sent: &[&str]) -> Status {
    let sent: Vec<SolveRequest> = sent.iter().map(|board| request(board, None)).collect();
    let requests = tokio_stream::iter(sent).chain(tokio_stream::pending());
    let mut client = Grpc::new(channel(server.address).await);
    client.ready().await.unwrap();
    let path = PathAndQuery::from_static(SOLVE);
    let codec = ProstCodec::<SolveRequest, SolveResponse>::default();
    let answer = client.client_streaming(Request::new(requests), path, codec);
    // Without its bound the call would wait for ever, and the test with it.
    let refused = tokio::time::timeout(600 * SHORT, answer).await;
    refused.unwrap().unwrap_err()
}

#[tokio::test]
async fn a_call_whose_board_does_not_come() {
    let idle = (
        "--stream-idle=200ms",
        "MESSAGE_LATE",
        ["200ms", "--stream-idle"],
    );
    let max = (
        "--deadline-max=200ms",
        "DEADLINE_MAX_PASSED",
        ["200ms", "--deadline-max"],
    );
    for (flag, reason, texts) in [idle, max] {
        let server = Limited::to(&[flag]);
        for sent in [&[][..], &[UNIQUE]] {
            let status = unfinished(&server, sent).await;
            assert_refused(&status, Code::DeadlineExceeded, reason, &texts);
        }
        // One whose board is here may take as long as it takes to solve.
        let mut bare = server.bare_client().await;
        let solving = bare.solve(request(LONG, longest()));
        let long = tokio::time::timeout(16 * SHORT, solving).await;
        assert_eq!(long.is_err(), flag == idle.0, "{long:?}");
    }
}

#[tokio::test]
async fn bytes_of_a_message_to_health() {
    let server = Limited::to(&[]);
    let mut health = HealthClient::new(channel(server.address).await);
    // Two bytes of a number and one of a key stand before the name.
    let longest = limits::HEALTH_BYTES_MAX - 3;
    for (bytes, code) in [(longest, Code::NotFound), (longest + 1, Code::OutOfRange)] {
        let service = "x".repeat(bytes);
        let asked = health.check(HealthCheckRequest { service }).await;
        assert_eq!(asked.unwrap_err().code(), code);
    }
}

#[tokio::test]
async fn a_stream_whose_client_does_nothing() {
    let server = Limited::to(&["--stream-idle=200ms"]);
    let mut client = server.client().await;
    let texts = ["200ms", "--stream-idle"];
    let mut silent = Batch::open(&mut client).await.unwrap();
    let status = silent.reply().await.unwrap_err();
    assert_refused(&status, Code::DeadlineExceeded, "STREAM_IDLE", &texts);
    // One that was active is ended as well, after its answers.
    let mut batch = Batch::open(&mut client).await.unwrap();
    batch.send(message(&[UNIQUE], None)).await;
    batch.results(1).await.unwrap();
    let status = batch.reply().await.unwrap_err();
    assert_refused(&status, Code::DeadlineExceeded, "STREAM_IDLE", &texts);
    // One that waits for the server is not, however long that takes.
    let mut waiting = Batch::open(&mut client).await.unwrap();
    waiting.send(message(&[LONG], longest())).await;
    let long = tokio::time::timeout(16 * SHORT, waiting.reply()).await;
    assert!(long.is_err(), "{long:?}");
}

#[tokio::test]
async fn a_stream_whose_client_does_not_read() {
    let server = Limited::to(&[
        "--stream-idle=200ms",
        "--streams-max=1",
        "--connection-age-grace=50ms",
    ]);
    let mut unread = server.narrow_client().await;
    let batch = Batch::open(&mut unread).await.unwrap();
    let boards = message(&[EMPTY; 64], options(Some(10_000), None));
    batch.send(boards).await;
    // Its place is taken until its connection is cut, as it takes not even the end of its stream.
    let mut client = server.client().await;
    let mut refused = 0;
    loop {
        match Batch::open(&mut client).await {
            Ok(batch) => break drop(batch.finish().await.unwrap()),
            Err(status) => assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}"),
        }
        refused += 1;
        sleep(SHORT).await;
    }
    assert!(refused > 0);
    drop(batch);
}

#[tokio::test]
async fn a_connection_without_calls() {
    let server = Limited::to(&["--connection-idle=200ms"]);
    let mut client = server.client().await;
    let mut batch = Batch::open(&mut client).await.unwrap();
    let mut idle = Raw::connect(server.address).await;
    assert!(idle.next(GOAWAY).await.is_some());
    idle.ended().await;
    // One with a call stays, and by now it has had one for longer than that.
    for _ in 0..3 {
        sleep(4 * SHORT).await;
        batch.send(message(&[UNIQUE], None)).await;
        batch.results(1).await.unwrap();
    }
}

#[tokio::test]
async fn a_connection_that_is_old() {
    let server = Limited::to(&["--connection-age=50ms", "--connection-age-grace=1h"]);
    // Its call is finished, and then it ends.
    let mut raw = Raw::connect(server.address).await;
    raw.open(1, SOLVE_BATCH).await;
    assert!(raw.next(GOAWAY).await.is_some());
    let boards = message(&[UNIQUE], None).encode_to_vec();
    raw.send(&frame(DATA, END_STREAM, 1, &grpc(&boards))).await;
    assert_eq!(raw.next(DATA).await.unwrap().stream, 1);
    raw.ended().await;

    // What the client still has to say, as that it has read the answer, is no error that would cost it the
    // answer.
    for _ in 0..10 {
        raw.send(&frame(PING, 0, 0, &[0; 8])).await;
        sleep(SHORT / 10).await;
    }

    // A call that goes on for ever has the grace time.
    let server = Limited::to(&["--connection-age=50ms", "--connection-age-grace=50ms"]);
    let mut raw = Raw::connect(server.address).await;
    raw.open(1, SOLVE_BATCH).await;
    raw.ended().await;
}

#[tokio::test]
async fn a_connection_that_does_not_begin() {
    let server = Limited::to(&["--handshake-timeout=200ms"]);
    let mut begun = Raw::connect(server.address).await;
    for beginning in [&b""[..], &common::raw::PREFACE[..10]] {
        let mut raw = Raw::silent(server.address).await;
        raw.send(beginning).await;
        raw.ended().await;
    }
    // Whoever speaks something else is told at once, whatever the time.
    let server = Limited::to(&["--handshake-timeout=1h"]);
    let mut raw = Raw::silent(server.address).await;
    raw.send(b"GET / HTTP/1.1\r\n\r\n").await;
    raw.ended().await;
    // Half now and half a little later is as good as all at once.
    let mut raw = Raw::silent(server.address).await;
    let (first, rest) = common::raw::PREFACE.split_at(10);
    raw.send(first).await;
    sleep(SHORT).await;
    raw.send(rest).await;
    raw.send(&frame(common::raw::SETTINGS, 0, 0, &[])).await;
    for raw in [&mut raw, &mut begun] {
        raw.open(1, SOLVE_BATCH).await;
        assert!(raw.next(HEADERS).await.is_some());
    }
}

#[tokio::test]
async fn a_connection_that_does_not_say_that_it_is_alive() {
    let server = Limited::to(&["--keepalive-interval=50ms", "--keepalive-timeout=500ms"]);
    let mut dead = Raw::connect(server.address).await;
    dead.open(1, SOLVE_BATCH).await;
    let mut alive = Raw::connect(server.address).await;
    alive.open(1, SOLVE_BATCH).await;
    for _ in 0..5 {
        let ping = alive.next(PING).await.unwrap();
        alive.send(&frame(PING, ACK, 0, &ping.payload)).await;
    }
    // Read, and not answered.
    while dead.frame().await.is_some() {}
    let boards = message(&[UNIQUE], None).encode_to_vec();
    alive
        .send(&frame(DATA, END_STREAM, 1, &grpc(&boards)))
        .await;
    assert!(alive.next(DATA).await.is_some());
}

#[tokio::test]
async fn jobs_that_wait() {
    // Streams wait for room: nobody is refused.
    let server = Limited::to(&["--queued-jobs-max=1"]);
    let client = server.client().await;
    let mut streams = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let mut client = client.clone();
        streams.spawn(async move {
            solve_batch(&mut client, vec![message(&[UNIQUE; 2000], None)]).await
        });
    }
    while let Some(results) = streams.join_next().await {
        assert_eq!(results.unwrap().unwrap().len(), 2000);
    }
}

#[tokio::test]
async fn calls_that_wait() {
    let server = Limited::to(&["--queued-calls-max=2"]);
    let client = server.client().await;
    // The thread takes up to 32 that wait together, two wait, the others are refused: the refusals
    // are what arrives.
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..32 + 2 + 2 {
        let mut client = client.clone();
        calls.spawn(async move { client.solve(request(LONG, longest())).await });
    }
    for _ in 0..2 {
        let status = calls.join_next().await.unwrap().unwrap().unwrap_err();
        let texts = ["2 calls wait", "--queued-calls-max"];
        assert_refused(&status, Code::ResourceExhausted, "TOO_MANY_CALLS", &texts);
        assert_retry(&status);
    }
    // Calls that go away make room, on a solver thread: an easy board would not need one.
    calls.shutdown().await;
    let mut client = client.clone();
    while let Err(status) = client.solve(request(LONG, options(None, Some(100)))).await {
        assert_eq!(status.code(), Code::ResourceExhausted);
    }
}

#[tokio::test]
async fn streams() {
    let server = Limited::to(&["--streams-max=2"]);
    let mut client = server.client().await;
    let first = Batch::open(&mut client).await.unwrap();
    let _second = Batch::open(&mut client).await.unwrap();
    let status = Batch::open(&mut client).await.unwrap_err();
    let texts = ["2 streams are open", "--streams-max"];
    assert_refused(&status, Code::ResourceExhausted, "TOO_MANY_STREAMS", &texts);
    assert_retry(&status);
    first.finish().await.unwrap();
    let third = Batch::open(&mut client).await.unwrap();
    third.finish().await.unwrap();
}

#[tokio::test]
async fn boards_of_a_stream() {
    // With a window of one board a job begins when the one before it is answered, so no reply holds the
    // results of two; they would where the window has room for both.
    for window in ["--window-boards=1", "--window-boards=4096"] {
        let server = Limited::to(&[window]);
        let mut client = server.narrow_client().await;
        let mut batch = Batch::open(&mut client).await.unwrap();
        batch.send(message(&vec![UNIQUE; 8192], None)).await;
        batch.half_close();
        let (mut results, mut most) = (0, 0);
        while let Some(reply) = batch.reply().await.unwrap() {
            results += reply.len();
            most = most.max(reply.len());
        }
        assert_eq!(results, 8192);
        if window == "--window-boards=1" {
            assert!(most <= limits::JOB_BOARDS_MAX, "{most} results at once");
        }
    }
}

#[tokio::test]
async fn bytes_of_a_frame() {
    const FRAME_SIZE_ERROR: u32 = 6;
    let server = Limited::to(&["--frame-bytes=20000"]);
    let frame_of = |bytes: usize| {
        let sent = padded(bytes - 5).encode_to_vec();
        frame(DATA, END_STREAM, 1, &grpc(&sent))
    };
    let mut raw = Raw::connect(server.address).await;
    raw.open(1, SOLVE).await;
    raw.send(&frame_of(20_000)).await;
    // Read, and no board.
    assert!(raw.next(HEADERS).await.unwrap().ends_stream());
    let mut raw = Raw::connect(server.address).await;
    raw.open(1, SOLVE).await;
    raw.send(&frame_of(20_001)).await;
    let goaway = raw.next(GOAWAY).await.unwrap();
    assert_eq!(goaway.reason(), FRAME_SIZE_ERROR);
}

//! The batch client as a library: order, window, ends good and bad.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::{
    server::TestServer,
    texts::{UNIQUE, UNIQUE_SOLUTION},
};
use sudoku_solver::client::{BatchSettings, Client, Closed, ConnectSettings, Error, Status};
use tonic::Code;

/// A server, and a client of it.
async fn start() -> (TestServer, Client) {
    let server = TestServer::start().await;
    let client = Client::connect(&format!("http://{}", server.address))
        .await
        .unwrap();
    (server, client)
}

/// Texts that are all different, every third one a board.
fn texts(count: usize) -> Vec<String> {
    let text = |n| {
        if n % 3 == 0 {
            format!("{UNIQUE} # {n}")
        } else {
            format!("number {n}")
        }
    };
    (0..count).map(text).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_text_gets_its_own_answer_whatever_the_window_and_the_messages() {
    let (_server, client) = start().await;
    for (boards_per_message, boards_in_flight) in [
        (256, 8192),
        (1, 1),
        (7, 10),
        (1000, 3),
        (0, 0),
        (usize::MAX, usize::MAX),
    ] {
        let settings = BatchSettings {
            boards_per_message,
            boards_in_flight,
            ..BatchSettings::default()
        };
        let texts = texts(1000);
        let mut answers = client.solve_all(texts.clone(), settings).await.unwrap();
        for (index, text) in texts.iter().enumerate() {
            let answer = answers.next().await.unwrap().unwrap();
            assert_eq!((answer.index, answer.board), (index as u64, text.as_str()));
            let expected = if index % 3 == 0 {
                Status::Unique
            } else {
                Status::Malformed
            };
            assert_eq!(answer.status, expected, "{text}");
        }
        assert_eq!(answers.next().await.unwrap(), None);
        assert_eq!(answers.next().await.unwrap(), None, "the end is the end");
    }
}

#[tokio::test]
async fn a_connection_may_have_any_settings() {
    let server = TestServer::start().await;
    let url = format!("http://{}", server.address);
    for bytes in [0, 20_000, 1 << 20, u32::MAX] {
        let settings = ConnectSettings {
            stream_window_bytes: bytes,
            connection_window_bytes: bytes,
            frame_bytes: bytes,
            ..ConnectSettings::default()
        };
        let client = Client::connect_with(&url, settings).await.unwrap();
        let texts = vec![UNIQUE; 3000];
        let mut answers = client
            .solve_all(texts, BatchSettings::default())
            .await
            .unwrap();
        let mut answered = 0;
        while answers.next().await.unwrap().is_some() {
            answered += 1;
        }
        assert_eq!(answered, 3000, "{settings:?}");
    }
}

#[tokio::test]
async fn no_boards_are_a_batch_as_well() {
    let (_server, client) = start().await;
    let none: [&str; 0] = [];
    let mut answers = client
        .solve_all(none, BatchSettings::default())
        .await
        .unwrap();
    assert_eq!(answers.next().await.unwrap(), None);
}

#[tokio::test]
async fn what_was_flushed_is_answered_before_the_end() {
    let (_server, client) = start().await;
    let (mut feed, mut answers) = client.solve_batch(BatchSettings::default()).await.unwrap();
    for _ in 0..3 {
        assert!(!feed.push(UNIQUE), "one board is no full message");
        feed.flush().await.unwrap();
        let answer = answers.next().await.unwrap().unwrap();
        assert_eq!(answer.solutions[0].to_string(), UNIQUE_SOLUTION);
    }
    feed.push(UNIQUE);
    feed.finish().await.unwrap();
    assert!(answers.next().await.unwrap().is_some(), "finishing flushes");
    assert_eq!(answers.next().await.unwrap(), None);
}

#[tokio::test]
async fn a_feed_is_freed_when_nobody_wants_answers() {
    let (_server, client) = start().await;
    let settings = BatchSettings {
        boards_in_flight: 1,
        ..BatchSettings::default()
    };
    let (mut feed, answers) = client.solve_batch(settings).await.unwrap();
    feed.push(UNIQUE);
    feed.push(UNIQUE);
    // The second board finds the window full and waits: for room, or for this.
    let (flushed, ()) = tokio::join!(feed.flush(), async { drop(answers) });
    assert_eq!(flushed, Err(Closed));
}

#[tokio::test]
async fn a_feed_that_is_dropped_ends_the_batch() {
    let (_server, client) = start().await;
    let (mut feed, mut answers) = client.solve_batch(BatchSettings::default()).await.unwrap();
    feed.push(UNIQUE);
    feed.flush().await.unwrap();
    feed.push(UNIQUE);
    drop(feed);
    assert!(answers.next().await.unwrap().is_some());
    assert_eq!(
        answers.next().await.unwrap(),
        None,
        "what was not flushed was given up"
    );
}

#[tokio::test]
async fn what_the_server_refuses_is_told() {
    let (_server, client) = start().await;
    let settings = BatchSettings {
        solution_limit: Some(0),
        ..BatchSettings::default()
    };
    let mut answers = client.solve_all([UNIQUE], settings).await.unwrap();
    let error = answers.next().await.unwrap_err();
    let Error::Rpc {
        answered: 0,
        code: Code::InvalidArgument,
        message,
    } = &error
    else {
        unreachable!("{error:?}");
    };
    assert!(message.contains("solution_limit"), "{message}");
    assert!(error.to_string().contains(message), "{error}");
}

#[tokio::test]
async fn a_server_is_needed() {
    assert!(matches!(
        Client::connect("not a url").await,
        Err(Error::Url { .. })
    ));
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let url = format!("http://{nobody}");
    let error = Client::connect(&url).await.unwrap_err();
    assert!(matches!(error, Error::Connect { .. }), "{error:?}");
    assert!(error.to_string().contains(&url));
}

//! `SolveBatch` over a real connection: every board one result, in the order sent.

mod common;

use common::{
    server::{Batch, TestServer, message, options, solve_batch},
    texts::{CLASHING, EMPTY, MALFORMED, UNIQUE, UNIQUE_SOLUTION, UNSOLVABLE},
};
use prost::Message as _;
use sudoku_solver::wire::pb::{SolveBatchRequest, SolveResult, SolveStatus};

const MIXED: [(&str, SolveStatus); 5] = [
    (UNIQUE, SolveStatus::Unique),
    (MALFORMED, SolveStatus::Malformed),
    (EMPTY, SolveStatus::Multiple),
    (CLASHING, SolveStatus::ClashingGivens),
    (UNSOLVABLE, SolveStatus::Unsolvable),
];

fn mixed(count: usize) -> (Vec<&'static str>, Vec<SolveStatus>) {
    MIXED.iter().copied().cycle().take(count).unzip()
}

fn statuses(results: &[SolveResult]) -> Vec<SolveStatus> {
    results.iter().map(SolveResult::status).collect()
}

/// Results without their times, which differ from run to run.
fn timeless(results: Vec<SolveResult>) -> Vec<SolveResult> {
    results
        .into_iter()
        .map(|result| SolveResult {
            solve_time: None,
            ..result
        })
        .collect()
}

#[tokio::test]
async fn every_board_gets_one_result_in_order() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    // Messages of sizes around those of a job, and an empty one.
    for sizes in [
        vec![1],
        vec![1; 40],
        vec![256, 0, 257],
        vec![1000, 1, 3],
        vec![5000],
    ] {
        let (boards, expected) = mixed(sizes.iter().sum());
        let mut left = boards.as_slice();
        let messages = sizes.iter().map(|&size| {
            let (now, later) = left.split_at(size);
            left = later;
            message(now, None)
        });
        let messages = messages.collect();
        let results = solve_batch(&mut client, messages).await.unwrap();
        assert_eq!(statuses(&results), expected, "{sizes:?}");
    }
}

#[tokio::test]
async fn a_malformed_board_is_a_result_that_says_where() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let boards = [UNIQUE, MALFORMED, "", UNIQUE];
    let results = solve_batch(&mut client, vec![message(&boards, None)])
        .await
        .unwrap();
    let malformed = results[1].malformed.as_ref().unwrap();
    assert_eq!(
        (malformed.position, malformed.found.as_str()),
        (Some(41), "!")
    );
    assert!(
        malformed.reason.contains("41") && malformed.reason.contains('!'),
        "{malformed:?}"
    );
    let empty = results[2].malformed.as_ref().unwrap();
    assert_eq!((empty.position, empty.found.as_str()), (None, ""));
    assert_eq!(results[0].solutions, results[3].solutions);
    assert!(results.iter().all(|result| result.solve_time.is_some()));
}

#[tokio::test]
async fn each_message_has_its_own_options() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let limits = [None, Some(1), Some(7), Some(2)];
    let messages = limits.map(|limit| message(&[EMPTY, UNIQUE], options(limit, None)));
    let results = solve_batch(&mut client, messages.to_vec()).await.unwrap();
    let counts: Vec<u32> = results.iter().map(|result| result.solution_count).collect();
    assert_eq!(counts, [2, 1, 1, 1, 7, 1, 2, 1]);
    assert_eq!(results[2].status(), SolveStatus::Solved);
    assert_eq!(results[5].status(), SolveStatus::Unique);
}

#[tokio::test]
async fn an_empty_stream_ends_well() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    assert_eq!(solve_batch(&mut client, vec![]).await.unwrap(), []);
    let nothing = SolveBatchRequest::default();
    assert_eq!(
        solve_batch(&mut client, vec![nothing; 3]).await.unwrap(),
        []
    );
}

#[tokio::test]
async fn headers_come_before_the_first_message_and_a_lone_board_does_not_wait() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    // Resolves only because headers are here, though nothing was sent.
    let mut batch = Batch::open(&mut client).await.unwrap();
    for _ in 0..3 {
        batch.send(message(&[UNIQUE], None)).await;
        let results = batch.results(1).await.unwrap();
        assert_eq!(results[0].solutions, [UNIQUE_SOLUTION]);
    }
    // And none of it has closed the stream.
    batch.send(message(&[EMPTY, MALFORMED], None)).await;
    let results = batch.results(2).await.unwrap();
    assert_eq!(
        statuses(&results),
        [SolveStatus::Multiple, SolveStatus::Malformed]
    );
    assert_eq!(batch.finish().await.unwrap(), []);
}

#[tokio::test]
async fn a_half_closed_stream_gets_all_its_answers() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let mut batch = Batch::open(&mut client).await.unwrap();
    let (boards, expected) = mixed(700);
    batch.send(message(&boards, None)).await;
    batch.half_close();
    assert_eq!(statuses(&batch.finish().await.unwrap()), expected);
}

#[tokio::test]
async fn replies_stay_small_whatever_is_asked_for() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let boards = vec![EMPTY; 120];
    let mut batch = Batch::open(&mut client).await.unwrap();
    batch
        .send(message(&boards, options(Some(10_000), None)))
        .await;
    batch.half_close();
    let (mut results, mut first) = (0, None);
    while let Some(reply) = batch.replies.message().await.unwrap() {
        assert!(
            reply.encoded_len() <= 1 << 20,
            "{} bytes",
            reply.encoded_len()
        );
        results += reply.results.len();
        for result in reply.results {
            assert_eq!(result.solution_count, 10_000);
            let first = first.get_or_insert_with(|| result.solutions.clone());
            assert!(
                *first == result.solutions,
                "the same board, other solutions"
            );
        }
    }
    assert_eq!(results, boards.len());

    // Small results in great number are cut, too.
    let (boards, expected) = mixed(30_000);
    let mut batch = Batch::open(&mut client).await.unwrap();
    batch.send(message(&boards, None)).await;
    batch.half_close();
    let mut got = Vec::new();
    while let Some(reply) = batch.replies.message().await.unwrap() {
        assert!(
            reply.encoded_len() <= 1 << 20,
            "{} bytes",
            reply.encoded_len()
        );
        got.extend(statuses(&reply.results));
    }
    assert!(got == expected);
}

#[tokio::test]
async fn answers_do_not_depend_on_what_else_is_in_flight() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let (boards, _) = mixed(600);
    let request = message(&boards, options(Some(5), None));
    let alone = timeless(
        solve_batch(&mut client, vec![request.clone()])
            .await
            .unwrap(),
    );
    let noise: Vec<_> = (0..4)
        .map(|stream| {
            let mut client = client.clone();
            let request = message(&vec![EMPTY; 400], options(Some(50 * (stream + 1)), None));
            tokio::spawn(async move { solve_batch(&mut client, vec![request]).await.unwrap() })
        })
        .collect();
    for _ in 0..5 {
        let together = solve_batch(&mut client, vec![request.clone()])
            .await
            .unwrap();
        assert!(timeless(together) == alone);
    }
    // One board a message, the same again.
    let singly = boards
        .iter()
        .map(|board| message(&[board], options(Some(5), None)))
        .collect();
    assert!(timeless(solve_batch(&mut client, singly).await.unwrap()) == alone);
    for stream in noise {
        stream.await.unwrap();
    }
}

#[tokio::test]
async fn a_client_that_never_reads_is_not_read_from_for_ever() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let batch = Batch::open(&mut client).await.unwrap();
    let requests = batch.requests.clone().unwrap();
    let boards = vec![UNIQUE; 4096];
    let mut taken: usize = 0;
    // Flow control stops the sender: the server's window, and what lies in buffers between.
    let blocked = loop {
        let send = requests.send(message(&boards, options(Some(1), None)));
        match tokio::time::timeout(std::time::Duration::from_secs(2), send).await {
            Ok(accepted) => accepted.unwrap(),
            Err(_) => break true,
        }
        taken += boards.len();
        if taken > 1_000_000 {
            break false;
        }
    };
    assert!(
        blocked,
        "{taken} boards were taken from a client that never reads"
    );
    // Others are served meanwhile, and the client gets everything once it does read.
    let mut other = server.client().await;
    let results = solve_batch(&mut other, vec![message(&boards, None)])
        .await
        .unwrap();
    assert_eq!(results.len(), boards.len());
    drop(requests);
    let results = batch.finish().await.unwrap();
    assert_eq!(results.len() % boards.len(), 0);
    assert!(results.len() >= taken, "{} of {taken}", results.len());
}

//! `Solve` over a real connection: every status, as an answer and not as an error.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::{
    server::{Client, TestServer, options, request},
    texts::{CLASHING, EMPTY, UNIQUE, UNIQUE_SOLUTION, UNSOLVABLE},
};
use sudoku_solver::wire::pb::{Clash, SolveOptions, SolveResult, SolveStatus, UnitKind};

async fn solve(client: &mut Client, board: &str, options: Option<SolveOptions>) -> SolveResult {
    let response = client.solve(request(board, options)).await.unwrap();
    response.into_inner().result.unwrap()
}

#[tokio::test]
async fn a_unique_board_gets_its_solution() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let result = solve(&mut client, UNIQUE, None).await;
    assert_eq!(result.status(), SolveStatus::Unique);
    assert_eq!(result.solutions, [UNIQUE_SOLUTION]);
    assert_eq!(result.solution_count, 1);
    assert!(result.nodes >= 1);
    let time = result.solve_time.unwrap();
    assert!(time.seconds == 0 && time.nanos > 0, "{time:?}");
    assert!(result.clashes.is_empty() && result.malformed.is_none());
}

#[tokio::test]
async fn limits_say_how_far_to_search() {
    let server = TestServer::start().await;
    let mut client = server.client().await;

    let both = solve(&mut client, EMPTY, None).await;
    assert_eq!(
        (both.status(), both.solution_count),
        (SolveStatus::Multiple, 2)
    );
    assert_eq!(both.solutions.len(), 2);
    assert_ne!(both.solutions[0], both.solutions[1]);

    let any = solve(&mut client, UNIQUE, options(Some(1), None)).await;
    assert_eq!((any.status(), any.solution_count), (SolveStatus::Solved, 1));
    assert_eq!(any.solutions, [UNIQUE_SOLUTION]);

    let most = solve(&mut client, EMPTY, options(Some(10_000), None)).await;
    assert_eq!(
        (most.status(), most.solution_count),
        (SolveStatus::Multiple, 10_000)
    );
    assert_eq!(most.solutions.len(), 10_000);
    assert_eq!(
        most.solutions[..2],
        both.solutions,
        "a higher limit only adds solutions"
    );

    let undecided = solve(&mut client, EMPTY, options(None, Some(1))).await;
    assert_eq!(undecided.status(), SolveStatus::Undecided);
    assert_eq!(undecided.solution_count, 0);
}

#[tokio::test]
async fn boards_without_solution_are_answers() {
    let server = TestServer::start().await;
    let mut client = server.client().await;

    let none = solve(&mut client, UNSOLVABLE, None).await;
    assert_eq!(
        (none.status(), none.solution_count),
        (SolveStatus::Unsolvable, 0)
    );
    assert!(none.solutions.is_empty() && none.clashes.is_empty());

    let clashing = solve(&mut client, CLASHING, None).await;
    assert_eq!(clashing.status(), SolveStatus::ClashingGivens);
    let clash = |unit: UnitKind, unit_number, cells: &[u32]| Clash {
        unit: unit.into(),
        unit_number,
        digit: 5,
        cells: cells.to_vec(),
    };
    let expected = [
        clash(UnitKind::Row, 1, &[0, 1]),
        clash(UnitKind::Box, 1, &[0, 1]),
    ];
    assert_eq!(clashing.clashes, expected);
    assert_eq!((clashing.solution_count, clashing.nodes), (0, 0));
}

#[tokio::test]
async fn boards_come_as_people_write_them() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let lines: Vec<&str> = (0..9).map(|row| &UNIQUE[9 * row..9 * row + 9]).collect();
    for text in [
        lines.join("\n"),
        lines.join("\r\n"),
        UNIQUE.replace('.', "_"),
    ] {
        let result = solve(&mut client, &text, None).await;
        assert_eq!(result.solutions, [UNIQUE_SOLUTION], "{text}");
    }
}

#[tokio::test]
async fn calls_in_flight_together_get_their_own_answers() {
    let server = TestServer::start().await;
    let client = server.client().await;
    let calls: Vec<_> = (0..64)
        .map(|call| {
            let mut client = client.clone();
            tokio::spawn(async move {
                let (board, status) = match call % 3 {
                    0 => (UNIQUE, SolveStatus::Unique),
                    1 => (EMPTY, SolveStatus::Multiple),
                    _ => (UNSOLVABLE, SolveStatus::Unsolvable),
                };
                assert_eq!(solve(&mut client, board, None).await.status(), status);
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
}

//! What must hold of any input whatever, for the fuzz targets and for the replay of their corpora.

use std::{collections::VecDeque, io::Cursor, sync::OnceLock};

use prost::Message as _;
use sudoku_solver::{
    batch::{Engine, Level, Task, Tasks},
    board::{
        Board,
        text::{file::BoardTexts, parse},
    },
    solver::{CancelFlag, Options, Solver, Verdict, answers::Answers},
    wire::{
        self,
        batch_request::BatchRequest,
        pb::{SolveBatchRequest, SolveRequest},
    },
};

#[path = "../tests/common/oracle.rs"]
#[allow(
    dead_code,
    clippy::allow_attributes,
    reason = "one of two is enough here"
)]
mod oracle;

/// A text is one board or refused; what is read, written plainly, is read again as the same.
pub(crate) fn board_text(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(board) = parse(text)
    {
        assert_eq!(parse(&board.to_string()), Ok(board), "{text:?}");
    }
    // The same as a file of boards: it ends, and no text in it is longer than what may be.
    let mut texts = BoardTexts::new(Cursor::new(data));
    let mut count = 0;
    while let Ok(Some(_)) = texts.next_text() {
        count += 1;
        assert!(count <= data.len(), "more boards than bytes");
    }
}

/// Bytes are a message or refused, by the service's own decoder as by the generated one; one that is
/// read is the same after it was written.
pub(crate) fn message(data: &[u8]) {
    decoded_alike(data);
    if let Ok(request) = SolveBatchRequest::decode(data) {
        let written = request.encode_to_vec();
        assert_eq!(
            SolveBatchRequest::decode(written.as_slice()),
            Ok(request.clone())
        );
        let options = wire::options(request.options.as_ref(), Options::default(), 10_000);
        if let Ok(options) = options {
            assert!((1..=10_000).contains(&options.solution_limit) && options.node_limit > 0);
        }
        request
            .boards
            .iter()
            .for_each(|text| board_text(text.as_bytes()));
    }
    if let Ok(request) = SolveRequest::decode(data) {
        let written = request.encode_to_vec();
        assert_eq!(
            SolveRequest::decode(written.as_slice()),
            Ok(request.clone())
        );
        board_text(request.board.as_bytes());
    }
}

fn decoded_alike(data: &[u8]) {
    let generated = SolveBatchRequest::decode(data);
    let own = BatchRequest::decode(&mut &*data, usize::MAX);
    assert_eq!(own.as_ref().err(), generated.as_ref().err());
    let (Ok(mut own), Ok(generated)) = (own, generated) else {
        return;
    };
    assert_eq!(own.options, generated.options);
    assert_eq!(own.boards.sent(), generated.boards.len());
    let (mut boards, mut malformed) = (Vec::new(), Vec::new());
    own.boards.take(usize::MAX, &mut boards, |place, error| {
        malformed.push((place, error));
    });
    let (mut boards, mut malformed) = (boards.into_iter(), malformed.into_iter());
    for (place, text) in generated.boards.iter().enumerate() {
        match parse(text) {
            Ok(board) => assert_eq!(boards.next(), Some(board), "{text:?}"),
            Err(error) => assert_eq!(malformed.next(), Some((place, error)), "{text:?}"),
        }
    }
    assert_eq!((boards.next(), malformed.next()), (None, None));
}

/// Boards have the same outcome and the same solutions in both engines, and as many as there are.
pub(crate) fn engines(data: &[u8]) {
    let Some((&first, cells)) = data.split_first() else {
        return;
    };
    let options = Options {
        solution_limit: u32::from(first % 4) + 1,
        node_limit: if first & 16 == 0 {
            10_000
        } else {
            u32::from(first) + 1
        },
    };
    let boards: Vec<Board> = cells
        .chunks(Board::CELLS)
        .take(64)
        .filter_map(board)
        .collect();
    let mut alone = Vec::new();
    for board in &boards {
        let mut solutions = Vec::new();
        let outcome = Solver::new().solve(board, options, &CancelFlag::new(), &mut solutions);
        let decided = outcome.verdict != Verdict::Undecided;
        if decided && outcome.nodes < 1_000 {
            let limit = usize::try_from(options.solution_limit).unwrap_or(usize::MAX);
            let count = oracle::fewest_candidates_first(board, limit).len();
            assert_eq!(solutions.len(), count, "{board}");
        }
        alone.push((outcome, solutions));
    }
    for level in Level::EVERY
        .into_iter()
        .filter(|level| level.is_available())
    {
        let Some(mut engine) = Engine::new(level) else {
            continue;
        };
        let mut once = Once {
            waiting: [Work {
                boards: boards.clone(),
                options,
            }]
            .into(),
            answers: None,
        };
        engine.run(&mut once);
        let answers = once.answers.unwrap_or_default();
        for (index, (outcome, solutions)) in alone.iter().enumerate() {
            let together = answers
                .get(index)
                .map(|(answer, solutions)| (answer.outcome, solutions));
            let alone = Some((*outcome, solutions.as_slice()));
            assert_eq!(
                together,
                alone,
                "{level}, {options:?}: {:?}",
                boards.get(index)
            );
        }
    }
}

/// A byte a cell: most keep the digit of a grid, many blank it, few put another in its place. Random
/// digits would clash in all boards but a few.
fn board(bytes: &[u8]) -> Option<Board> {
    static GRID: OnceLock<Option<Board>> = OnceLock::new();
    let grid = GRID.get_or_init(|| {
        parse("534678912672195348198342567859761423426853791713924856961537284287419635345286179")
            .ok()
    });
    let mut values = *grid.as_ref()?.values();
    for (value, byte) in values.iter_mut().zip(bytes) {
        match byte {
            0..0x50 => {}
            0x50..0xf8 => *value = 0,
            0xf8.. => *value = byte % 9 + 1,
        }
    }
    Board::new(values)
}

struct Work {
    boards: Vec<Board>,
    options: Options,
}

impl Task for Work {
    fn boards(&self) -> &[Board] {
        &self.boards
    }

    fn options(&self) -> Options {
        self.options
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

struct Once {
    waiting: VecDeque<Work>,
    answers: Option<Answers>,
}

impl Tasks for Once {
    type Task = Work;

    fn next(&mut self) -> Option<Work> {
        self.waiting.pop_front()
    }

    fn done(&mut self, _: Work, answers: Answers) {
        self.answers = Some(answers);
    }
}

//! `SolveBatchResponse` as the server writes it: results straight from the engine's answers into the
//! send buffer.
//!
//! The bytes are those of the generated type, which is itself used for what is rare: malformed boards
//! and clashing givens.

use std::{ops::Range, sync::Arc};

use prost::{
    bytes::BufMut,
    encoding::{self, WireType},
};

use super::{clashes_bytes_max, malformed, malformed_bytes_max, pb, result, status};
use crate::{
    board::{Board, text::MalformedBoard},
    solver::{
        Outcome, Verdict,
        answers::{Answer, Answers},
    },
};

/// The results of consecutive boards, those that are malformed in their places.
#[derive(Debug, Default)]
pub struct Results {
    boards: Vec<Board>,
    answers: Answers,
    malformed: Vec<(usize, MalformedBoard)>,
}

/// A message of results: pieces of those of jobs, shared with other messages where a job's results
/// do not fit into one.
#[derive(Debug, Default)]
pub struct BatchReply {
    /// The place of the first result in the stream.
    pub first_index: u64,
    pieces: Vec<(Arc<Results>, Range<usize>)>,
    bytes_max: usize,
}

/// One result.
#[derive(Clone, Copy, Debug)]
enum Found<'a> {
    Answer(&'a Board, &'a Answer, &'a [Board]),
    Malformed(&'a MalformedBoard),
}

/// Bytes of a message before its results, or a few more.
const HEAD_BYTES_MAX: usize = 16;

/// Bytes of a status, with tag.
const STATUS_BYTES: usize = 2;

/// Bytes of a solution, with tag and length.
const SOLUTION_BYTES: usize = 2 + Board::CELLS;

/// Bytes of a result without solutions, with tag and length, or a few more.
const NUMBERS_BYTES_MAX: usize = 64;

impl Results {
    /// The answers to `boards`, and the malformed ones with their places among all, ascending. `None`
    /// if an answer is missing.
    pub fn new(
        boards: Vec<Board>,
        answers: Answers,
        malformed: Vec<(usize, MalformedBoard)>,
    ) -> Option<Results> {
        let whole = answers.answers.len() == boards.len()
            && (0..boards.len()).all(|board| answers.get(board).is_some());
        whole.then_some(Results {
            boards,
            answers,
            malformed,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.boards.len() + self.malformed.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The results from `start` on.
    fn from(&self, start: usize) -> impl Iterator<Item = Found<'_>> {
        let passed = self.malformed.partition_point(|&(place, _)| place < start);
        let mut malformed = self.malformed[passed..].iter().peekable();
        let mut board = start - passed;
        (start..).map_while(move |place| {
            if let Some((_, error)) = malformed.next_if(|&&(at, _)| at == place) {
                return Some(Found::Malformed(error));
            }
            let (answer, solutions) = self.answers.get(board)?;
            let found = Found::Answer(self.boards.get(board)?, answer, solutions);
            board += 1;
            Some(found)
        })
    }
}

impl BatchReply {
    /// A message without results.
    pub fn new(first_index: u64) -> Self {
        BatchReply {
            first_index,
            pieces: Vec::new(),
            bytes_max: HEAD_BYTES_MAX,
        }
    }

    /// Adds results from `start` on while the message surely stays within `bytes_max` bytes; the
    /// first of all always fits. Returns how many were added.
    pub fn add(&mut self, results: &Arc<Results>, start: usize, bytes_max: usize) -> usize {
        let mut end = start;
        for found in results.from(start) {
            let after = self.bytes_max + found.bytes_max();
            if after > bytes_max && (end > start || !self.pieces.is_empty()) {
                break;
            }
            self.bytes_max = after;
            end += 1;
        }
        if end > start {
            self.pieces.push((Arc::clone(results), start..end));
        }
        end - start
    }

    /// How many results it holds.
    pub fn len(&self) -> usize {
        self.pieces.iter().map(|(_, places)| places.len()).sum()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Its size in bytes, or more.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Writes the message.
    pub fn encode(&self, buf: &mut impl BufMut) {
        if self.first_index != 0 {
            encoding::uint64::encode(1, &self.first_index, buf);
        }
        for (results, places) in &self.pieces {
            for found in results.from(places.start).take(places.len()) {
                found.encode(buf);
            }
        }
    }
}

impl Found<'_> {
    fn bytes_max(self) -> usize {
        NUMBERS_BYTES_MAX
            + match self {
                Found::Malformed(error) => malformed_bytes_max(error),
                Found::Answer(_, answer, _) if is_clashing(answer) => clashes_bytes_max(),
                Found::Answer(.., solutions) => solutions.len() * SOLUTION_BYTES,
            }
    }

    fn encode(self, buf: &mut impl BufMut) {
        match self {
            Found::Malformed(error) => encode_generated(&malformed(error), buf),
            Found::Answer(board, answer, solutions) if is_clashing(answer) => {
                encode_generated(&result(board, answer, solutions), buf);
            }
            Found::Answer(_, answer, solutions) => encode_answer(answer, solutions, buf),
        }
    }
}

fn is_clashing(answer: &Answer) -> bool {
    answer.outcome.verdict == Verdict::ClashingGivens
}

const RESULTS: u8 = 2;

fn encode_generated(result: &pb::SolveResult, buf: &mut impl BufMut) {
    encoding::message::encode(RESULTS.into(), result, buf);
}

/// Writes a result without clashes. Like the generated code it leaves out what is 0, but for the
/// status, which never is, and the time, which is a message of its own.
fn encode_answer(answer: &Answer, solutions: &[Board], buf: &mut impl BufMut) {
    let Outcome {
        verdict,
        solution_count,
        nodes,
    } = answer.outcome;
    let (solution_count, nodes) = (u64::from(solution_count), u64::from(nodes));
    let time = super::duration(answer.solve_nanos);
    // Neither is negative.
    let (seconds, nanos) = (
        time.seconds.unsigned_abs(),
        time.nanos.unsigned_abs().into(),
    );

    let time_len = field_len(seconds) + field_len(nanos);
    let numbers_len = field_len(solution_count) + 2 + time_len + field_len(nodes);
    let len = STATUS_BYTES + solutions.len() * SOLUTION_BYTES + numbers_len;

    let mut piece = Piece::default();
    piece.delimited(RESULTS, len);
    piece.field(1, i32::from(status(verdict)).unsigned_abs().into());
    if let [solution] = solutions {
        piece.solution(solution);
    } else {
        for solution in solutions {
            piece.solution(solution);
            piece.flush(buf);
        }
    }
    piece.field(3, solution_count);
    piece.delimited(4, time_len);
    piece.field(1, seconds);
    piece.field(2, nanos);
    piece.field(5, nodes);
    piece.flush(buf);
}

/// The bytes of a number with its tag.
fn field_len(number: u64) -> usize {
    if number == 0 {
        0
    } else {
        1 + encoding::encoded_len_varint(number)
    }
}

/// A result with one solution, or a part of another: the send buffer looks for room at every write,
/// so that single bytes had better be gathered first.
struct Piece {
    bytes: [u8; NUMBERS_BYTES_MAX + SOLUTION_BYTES],
    len: usize,
}

impl Default for Piece {
    fn default() -> Self {
        Piece {
            bytes: [0; NUMBERS_BYTES_MAX + SOLUTION_BYTES],
            len: 0,
        }
    }
}

impl Piece {
    fn field(&mut self, tag: u8, number: u64) {
        if number != 0 {
            self.number(tag << 3 | WireType::Varint as u8, number);
        }
    }

    /// Begins a message of `len` bytes.
    fn delimited(&mut self, tag: u8, len: usize) {
        self.number(tag << 3 | WireType::LengthDelimited as u8, len as u64);
    }

    fn solution(&mut self, solution: &Board) {
        self.delimited(2, Board::CELLS);
        self.bytes(solution.to_ascii());
    }

    /// Writes a key, which takes one byte for tags up to 15, and a number, which mostly takes one too.
    #[inline]
    fn number(&mut self, key: u8, mut number: u64) {
        const CONTINUED: u8 = 0x80;
        let mut before = key;
        loop {
            let low = number.to_le_bytes()[0];
            number >>= 7;
            if number == 0 {
                self.bytes([before, low]);
                return;
            }
            self.bytes([before]);
            before = low | CONTINUED;
        }
    }

    #[inline]
    fn bytes<const N: usize>(&mut self, bytes: [u8; N]) {
        let rest = self.bytes.get_mut(self.len..);
        if let Some(place) = rest.and_then(|rest| rest.first_chunk_mut()) {
            *place = bytes;
            self.len += N;
        }
    }

    fn flush(&mut self, buf: &mut impl BufMut) {
        buf.put_slice(self.bytes.get(..self.len).unwrap_or_default());
        self.len = 0;
    }
}

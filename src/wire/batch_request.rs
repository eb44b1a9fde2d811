//! `SolveBatchRequest` as the server reads it: boards straight from the receive buffer, with no
//! `String` for any.
//!
//! It is the generated type's equal on every sequence of bytes: what is rare here (any text but 81
//! plain cells, options, unknown fields, errors) goes through the code that generated types use.

use std::{collections::VecDeque, mem};

use prost::{
    DecodeError,
    bytes::Buf,
    encoding::{self, DecodeContext, WireType},
};

use super::pb;
use crate::board::{
    Board,
    text::{self, MalformedBoard, parse_plain},
};

/// A message of `SolveBatch`.
#[derive(Clone, Debug, Default)]
pub struct BatchRequest {
    /// How far to search.
    pub options: Option<pb::SolveOptions>,
    /// The boards.
    pub boards: Texts,
}

/// The boards of a message, in order, to be taken from the front.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    plain: Vec<Board>,
    plain_taken: usize,
    /// Apart, so that a message of plain boards is small: it is moved several times on its way.
    others: Option<Box<Others>>,
    sent: usize,
    kept: usize,
    taken: usize,
}

/// The texts that take more than a glance. They wait as bytes: reading them may take long, so it is
/// done for a job at a time, and an answer to an empty text takes a hundred times the memory of its
/// two bytes.
#[derive(Clone, Debug, Default)]
struct Others {
    joined: String,
    /// Each text's place among all boards, and where it ends in `joined`.
    places: VecDeque<(usize, usize)>,
    bytes_taken: usize,
}

impl BatchRequest {
    /// Reads a message. Boards past `boards_max` are counted and not kept.
    ///
    /// # Errors
    ///
    /// Whatever is an error to the generated type, with the same words.
    pub fn decode(buf: &mut impl Buf, boards_max: usize) -> Result<Self, DecodeError> {
        const NAME: &str = "SolveBatchRequest";
        let mut request = BatchRequest::default();
        let mut text = String::new();
        while buf.has_remaining() {
            if let Some(board) = plain_field(buf.chunk()) {
                if request.boards.sent == 0 {
                    request.boards.reserve(buf.remaining(), boards_max);
                }
                buf.advance(PLAIN_FIELD_BYTES);
                request.boards.push_plain(board, boards_max);
                continue;
            }
            let (tag, wire_type) = encoding::decode_key(buf)?;
            let context = DecodeContext::default();
            match tag {
                1 => {
                    encoding::string::merge(wire_type, &mut text, buf, context)
                        .map_err(|error| at(error, NAME, "boards"))?;
                    request.boards.push_other(&text, boards_max);
                }
                2 => {
                    let options = request.options.get_or_insert_default();
                    encoding::message::merge(wire_type, options, buf, context)
                        .map_err(|error| at(error, NAME, "options"))?;
                }
                _ => encoding::skip_field(wire_type, tag, buf, context)?,
            }
        }
        Ok(request)
    }
}

/// Tag, length and cells of a plain board.
const PLAIN_FIELD_BYTES: usize = 2 + Board::CELLS;

/// The board of a field with 81 plain cells that lies in one piece, as nearly all do.
#[inline]
fn plain_field(bytes: &[u8]) -> Option<Board> {
    const KEY: u8 = 1 << 3 | WireType::LengthDelimited as u8;
    let (&[key, length], text) = bytes.split_first_chunk()?;
    if key != KEY || usize::from(length) != Board::CELLS {
        return None;
    }
    parse_plain(text.get(..Board::CELLS)?)
}

fn at(mut error: DecodeError, message: &'static str, field: &'static str) -> DecodeError {
    error.push(message, field);
    error
}

impl Texts {
    /// How many were sent, kept or not.
    pub fn sent(&self) -> usize {
        self.sent
    }

    /// Whether all that were kept are taken.
    pub fn is_empty(&self) -> bool {
        self.taken == self.kept
    }

    /// Takes up to `most` texts, in order: boards are put behind those in `boards`, texts that are
    /// none are handed to `malformed` with their place among these. Returns how many were taken.
    pub fn take(
        &mut self,
        most: usize,
        boards: &mut Vec<Board>,
        mut malformed: impl FnMut(usize, MalformedBoard),
    ) -> usize {
        let begin = self.taken;
        let end = self.kept.min(begin.saturating_add(most));
        while self.taken < end {
            let other = self.others.as_ref().and_then(|others| others.place());
            let run = other.map_or(end, |place| place.min(end)) - self.taken;
            if run > 0 {
                let plain = self.plain_taken..self.plain_taken + run;
                boards.extend_from_slice(self.plain.get(plain).unwrap_or_default());
                self.plain_taken += run;
                self.taken += run;
            } else {
                let text = self.others.as_mut().and_then(|others| others.take());
                match text::parse(text.unwrap_or_default()) {
                    Ok(board) => boards.push(board),
                    Err(error) => malformed(self.taken - begin, error),
                }
                self.taken += 1;
            }
        }
        end - begin
    }

    /// Makes room for as many boards as `bytes` hold if all are plain.
    fn reserve(&mut self, bytes: usize, boards_max: usize) {
        self.plain
            .reserve_exact((bytes / PLAIN_FIELD_BYTES).min(boards_max));
    }

    #[inline]
    fn push_plain(&mut self, board: Board, boards_max: usize) {
        self.sent += 1;
        if self.kept < boards_max {
            self.kept += 1;
            self.plain.push(board);
        }
    }

    fn push_other(&mut self, text: &str, boards_max: usize) {
        self.sent += 1;
        if self.kept < boards_max {
            let others = self.others.get_or_insert_default();
            others.joined.push_str(text);
            others.places.push_back((self.kept, others.joined.len()));
            self.kept += 1;
        }
    }
}

impl Others {
    /// Where the next one stands among all boards.
    fn place(&self) -> Option<usize> {
        self.places.front().map(|&(place, _)| place)
    }

    /// The next one.
    fn take(&mut self) -> Option<&str> {
        let (_, end) = self.places.pop_front()?;
        let begin = mem::replace(&mut self.bytes_taken, end);
        self.joined.get(begin..end)
    }
}

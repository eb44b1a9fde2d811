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
            if request.options.is_none()
                && let Some((options, bytes)) = plain_options(buf.chunk())
            {
                buf.advance(bytes);
                request.options = Some(options);
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

/// The options of a field that lies in one piece and has numbers of up to four bytes, as nearly all do, and
/// the bytes of the field. Through the generated code they cost as much as the board of a small message.
#[inline]
fn plain_options(bytes: &[u8]) -> Option<(pb::SolveOptions, usize)> {
    const KEY: u8 = 2 << 3 | WireType::LengthDelimited as u8;
    const SOLUTION_LIMIT: u8 = 1 << 3 | WireType::Varint as u8;
    const NODE_LIMIT: u8 = 2 << 3 | WireType::Varint as u8;
    let (&[key, length], rest) = bytes.split_first_chunk()?;
    if key != KEY || length >= CONTINUED {
        return None;
    }
    let mut fields = rest.get(..length.into())?;
    let mut options = pb::SolveOptions::default();
    while let Some((&key, after)) = fields.split_first() {
        let field = match key {
            SOLUTION_LIMIT => &mut options.solution_limit,
            NODE_LIMIT => &mut options.node_limit,
            _ => return None,
        };
        let (number, after) = plain_number(after)?;
        *field = Some(number);
        fields = after;
    }
    Some((options, 2 + usize::from(length)))
}

/// Set in every byte of a number but the last.
const CONTINUED: u8 = 0x80;

/// A number of up to four bytes, and what is behind it.
#[inline]
fn plain_number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let end = bytes.iter().take(4).position(|&byte| byte < CONTINUED)?;
    let (digits, rest) = bytes.split_at_checked(end + 1)?;
    let number = digits.iter().rev().fold(0, |number, &digit| {
        number << 7 | u32::from(digit & !CONTINUED)
    });
    Some((number, rest))
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
        if begin == 0 && boards.is_empty() && self.is_job(most) {
            // As it is: a message is as often as not a job.
            *boards = mem::take(&mut self.plain);
            self.taken = self.kept;
            return self.kept;
        }
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

    /// Whether the boards can go on as they are, up to `most`. Memory counts as well as boards: one that has
    /// much more than its boards must not wait where boards are counted.
    fn is_job(&self, most: usize) -> bool {
        self.others.is_none() && self.plain.capacity() <= most
    }

    /// Makes room for as many boards as `bytes` hold if all are plain.
    fn reserve(&mut self, bytes: usize, boards_max: usize) {
        let boards = (bytes / PLAIN_FIELD_BYTES).min(boards_max);
        if self.plain.is_empty() {
            self.plain = Vec::with_capacity(boards);
        }
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

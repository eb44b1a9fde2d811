//! `SolveBatchRequest` as the server reads it: boards straight from the receive buffer, with no
//! `String` for any.
//!
//! It is the generated type's equal on every sequence of bytes: what is rare here (any text but 81
//! plain cells, options, unknown fields, errors) goes through the code that generated types use.

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
    /// The texts that take more than a glance, each with its place among all. They wait as bytes:
    /// reading them may take long, so it is done for a job at a time, and an answer to an empty
    /// text takes a hundred times the memory of its two bytes.
    others: Vec<Other>,
    joined: String,
    sent: usize,
    kept: usize,
    taken: Taken,
}

#[derive(Clone, Copy, Debug)]
struct Other {
    place: usize,
    /// Where the text ends in `joined`; it begins where the one before it ends.
    end: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    texts: usize,
    plain: usize,
    others: usize,
    bytes: usize,
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
            let (tag, wire_type) = encoding::decode_key(buf)?;
            let context = DecodeContext::default();
            match tag {
                1 => {
                    if request.boards.sent == 0 {
                        request.boards.reserve(buf.remaining(), boards_max);
                    }
                    if wire_type == WireType::LengthDelimited
                        && let Some(board) = plain_board(buf.chunk())
                    {
                        buf.advance(1 + Board::CELLS);
                        request.boards.push_plain(board, boards_max);
                    } else {
                        encoding::string::merge(wire_type, &mut text, buf, context)
                            .map_err(|error| at(error, NAME, "boards"))?;
                        request.boards.push_other(&text, boards_max);
                    }
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

/// The board of a field whose length and 81 plain cells lie in one piece, as nearly all do.
#[inline]
fn plain_board(field: &[u8]) -> Option<Board> {
    let (&length, text) = field.split_first()?;
    if usize::from(length) != Board::CELLS {
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
        self.taken.texts == self.kept
    }

    /// Takes up to `most` texts, in order: boards are put behind those in `boards`, texts that are
    /// none are handed to `malformed` with their place among these. Returns how many were taken.
    pub fn take(
        &mut self,
        most: usize,
        boards: &mut Vec<Board>,
        mut malformed: impl FnMut(usize, MalformedBoard),
    ) -> usize {
        let begin = self.taken.texts;
        let end = self.kept.min(begin.saturating_add(most));
        while self.taken.texts < end {
            let other = self.others.get(self.taken.others).copied();
            let until = other.map_or(end, |other| other.place.min(end));
            let run = until - self.taken.texts;
            if run > 0 {
                let plain = self.taken.plain..self.taken.plain + run;
                boards.extend_from_slice(self.plain.get(plain).unwrap_or_default());
                self.taken.plain += run;
                self.taken.texts = until;
            } else if let Some(Other { place, end }) = other {
                let text = self.joined.get(self.taken.bytes..end).unwrap_or_default();
                match text::parse(text) {
                    Ok(board) => boards.push(board),
                    Err(error) => malformed(place - begin, error),
                }
                self.taken.bytes = end;
                self.taken.others += 1;
                self.taken.texts += 1;
            }
        }
        end - begin
    }

    /// Makes room for as many boards as `bytes` hold if all are plain.
    fn reserve(&mut self, bytes: usize, boards_max: usize) {
        const FIELD: usize = 2 + Board::CELLS;
        self.plain
            .reserve_exact((bytes / FIELD + 1).min(boards_max));
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
            self.joined.push_str(text);
            self.others.push(Other {
                place: self.kept,
                end: self.joined.len(),
            });
            self.kept += 1;
        }
    }
}

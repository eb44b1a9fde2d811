//! Requests, encoded while their boards come in. Each text is kept in the encoded message only, and is
//! read from there again when its answer is here.

use prost::{
    bytes::{Bytes, BytesMut},
    encoding::{WireType, encode_key, encode_varint, message},
};

use super::fields::{self, Value};
use crate::wire::pb::SolveOptions;

/// The tags of `SolveBatchRequest`.
const BOARDS: u32 = 1;
const OPTIONS: u32 = 2;

/// Bytes of a message of 256 boards in a line each.
const BYTES_HINT: usize = 22 << 10;

/// A `SolveBatchRequest` that is being filled.
#[derive(Debug)]
pub(super) struct Request {
    encoded: BytesMut,
    boards: usize,
}

impl Request {
    /// An empty request; `last_bytes` is how large the one before it came to be.
    pub(super) fn new(last_bytes: Option<usize>) -> Request {
        Request {
            encoded: BytesMut::with_capacity(last_bytes.unwrap_or(BYTES_HINT)),
            boards: 0,
        }
    }

    pub(super) fn push(&mut self, board: &str) {
        encode_key(BOARDS, WireType::LengthDelimited, &mut self.encoded);
        encode_varint(board.len() as u64, &mut self.encoded);
        self.encoded.extend_from_slice(board.as_bytes());
        self.boards += 1;
    }

    pub(super) fn boards(&self) -> usize {
        self.boards
    }

    pub(super) fn bytes(&self) -> usize {
        self.encoded.len()
    }

    /// The message as it goes over the wire, and its boards.
    pub(super) fn finish(mut self, options: &SolveOptions) -> (Bytes, Texts) {
        message::encode(OPTIONS, options, &mut self.encoded);
        let encoded = self.encoded.freeze();
        let texts = Texts {
            encoded: encoded.clone(),
            taken: 0,
            left: self.boards,
        };
        (encoded, texts)
    }
}

/// The boards of a request that has been sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    encoded: Bytes,
    /// Bytes that have been taken.
    taken: usize,
    left: usize,
}

impl Texts {
    pub(super) fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// How many have not been taken.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// What has not been taken as a message of its own: the options come after the boards, so the
    /// end of a message is one.
    pub(super) fn message(&self) -> Bytes {
        self.encoded.slice(self.taken.min(self.encoded.len())..)
    }

    /// Takes the next texts out, together.
    pub(super) fn split(&mut self, boards: usize) -> Texts {
        let front = Texts {
            left: boards.min(self.left),
            ..self.clone()
        };
        for _ in 0..front.left {
            self.next();
        }
        front
    }

    /// Takes the next text out.
    pub(super) fn next(&mut self) -> Option<&str> {
        let left = self.left.checked_sub(1)?;
        let mut rest = self.encoded.get(self.taken..)?;
        let before = rest.len();
        let (BOARDS, Value::Bytes(text)) = fields::next(&mut rest)? else {
            return None;
        };
        self.taken += before - rest.len();
        self.left = left;
        str::from_utf8(text).ok()
    }
}

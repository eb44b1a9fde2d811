//! Responses, read where they were received: one look over the message when it arrives, each
//! result when its turn comes.

use prost::bytes::Bytes;

use super::fields::{self, Value};

/// The tags of `SolveBatchResponse`.
const FIRST_INDEX: u32 = 1;
const RESULTS: u32 = 2;

/// What is left of a `SolveBatchResponse`.
#[derive(Clone, Debug, Default)]
pub(super) struct Response {
    encoded: Bytes,
    first_index: u64,
    /// Bytes that have been taken.
    taken: usize,
    left: usize,
}

impl Response {
    /// Reads the frame of the message, not yet the results in it; `None` if it is no message of
    /// the contract.
    pub(super) fn decode(encoded: Bytes) -> Option<Response> {
        let (mut first_index, mut left) = (0, 0);
        let mut rest = encoded.as_ref();
        while !rest.is_empty() {
            match fields::next(&mut rest)? {
                // Fields may come in any order, and the last value of a number counts.
                (FIRST_INDEX, Value::Number(index)) => first_index = index,
                (RESULTS, Value::Bytes(_)) => left += 1,
                (FIRST_INDEX | RESULTS, _) => return None,
                _ => {}
            }
        }
        Some(Response {
            encoded,
            first_index,
            taken: 0,
            left,
        })
    }

    pub(super) fn first_index(&self) -> u64 {
        self.first_index
    }

    /// How many results have not been taken.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Takes the next results out, together.
    pub(super) fn split(&mut self, results: usize) -> Response {
        if results >= self.left {
            return std::mem::take(self);
        }
        let front = Response {
            left: results,
            ..self.clone()
        };
        for _ in 0..results {
            self.next();
        }
        front
    }

    /// Takes the next result out, still encoded.
    pub(super) fn next(&mut self) -> Option<&[u8]> {
        let mut rest = self.encoded.get(self.taken..)?;
        while !rest.is_empty() {
            let field = fields::next(&mut rest)?;
            self.taken = self.encoded.len() - rest.len();
            if let (RESULTS, Value::Bytes(result)) = field {
                self.left = self.left.saturating_sub(1);
                return Some(result);
            }
        }
        None
    }
}

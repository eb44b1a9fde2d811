//! Messages as the transport takes and gives them: encoded before and only copied into its buffer here,
//! decoded after and not copied at all.

use prost::bytes::{Buf as _, BufMut as _, Bytes};
use tonic::{
    Status,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
};

use super::response::Response;

/// The codec of `SolveBatch`.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchCodec;

impl Codec for BatchCodec {
    type Encode = Bytes;
    type Decode = Response;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for BatchCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, request: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.reserve(request.len());
        buffer.put_slice(&request);
        Ok(())
    }
}

impl Decoder for BatchCodec {
    type Item = Response;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Response>, Status> {
        // Splits the received bytes off: no copy.
        let encoded = buffer.copy_to_bytes(buffer.remaining());
        Response::decode(encoded)
            .map(Some)
            .ok_or_else(|| Status::internal("a response is no message of the contract"))
    }
}
